from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from keybearer.base.certificate_terms import KeyAlgorithm, NameType
from keybearer.pki.errors import TemplateError
from keybearer.pki.names import AlternativeName, Subject, SubjectAttribute, alternative_name
from support.rows import each_row
from support.x509_house import key_of, root, template

_DNS, _IP, _EMAIL, _URI, _UPN = (
    NameType.DNS_NAME,
    NameType.IP_ADDRESS,
    NameType.EMAIL,
    NameType.URI,
    NameType.UPN,
)


@each_row(
    ("kind", "value", "signed"),
    [
        (_DNS, "www.example.com", "www.example.com"),
        (_DNS, "WWW.Example.COM", "www.example.com"),
        (_DNS, "*.example.com", "*.example.com"),
        (_DNS, "localhost", "localhost"),
        (_DNS, "_sip._tcp.example.com", "_sip._tcp.example.com"),
        (_DNS, "xn--bcher-kva.example", "xn--bcher-kva.example"),
        (_DNS, "1.example.com", "1.example.com"),
        (_DNS, "a" * 63 + ".example.com", "a" * 63 + ".example.com"),
        (_IP, "10.0.0.1", "10.0.0.1"),
        (_IP, "2001:DB8:0:0::1", "2001:db8::1"),
        (_EMAIL, "Ops.Team+x@Example.COM", "Ops.Team+x@example.com"),
        (_URI, "spiffe://trust.example.com/ns/web", "spiffe://trust.example.com/ns/web"),
        (_URI, "https://[2001:db8::1]:8443/a?b=c#d", "https://[2001:db8::1]:8443/a?b=c#d"),
        (
            _URI,
            "urn:uuid:f81d4fae-7dec-11d0-a765-00a0c91e6bf6",
            "urn:uuid:f81d4fae-7dec-11d0-a765-00a0c91e6bf6",
        ),
        (_UPN, "jürg@example.com", "jürg@example.com"),
    ],
)
def test_a_name_is_signed_in_one_form(kind: NameType, value: str, signed: str) -> None:
    name = alternative_name(kind, value)

    assert name == AlternativeName(kind, signed)
    issued = root().issue(template(Subject(), names=[name]), key_of(KeyAlgorithm.EC_P256))
    assert [alternative_name(one.type, one.value) for one in issued.alternative_names] == [name]


@each_row(
    ("kind", "value", "says"),
    [
        (_DNS, "", "1 to 255 characters, this one has 0"),
        (_DNS, "a" * 256, "this one has 256"),
        (_DNS, "a" * 64 + ".example.com", "isn't a host name"),
        (_DNS, ".".join(["a" * 60] * 4) + ".aaaaaaaaaaa", "isn't a host name"),
        (_DNS, "bücher.example", "names in other scripts are written as xn--"),
        (_DNS, "a..b", "isn't a host name"),
        (_DNS, "example.com.", "isn't a host name"),
        (_DNS, "-a.example.com", "isn't a host name"),
        (_DNS, "a b", "isn't a host name"),
        (_DNS, "a\n", "isn't a host name"),
        (_DNS, "*", "isn't a host name"),
        (_DNS, "w*.example.com", "isn't a host name"),
        (_DNS, "*.*.example.com", "isn't a host name"),
        (_DNS, "a.*.example.com", "isn't a host name"),
        (_DNS, "10.0.0.1", "its last label is a number"),
        (_DNS, "https://example.com", "isn't a host name"),
        (_IP, "10.0.0.0/8", "is no IPv4 or IPv6 address"),
        (_IP, "010.0.0.1", "is no IPv4 or IPv6 address"),
        (_IP, "fe80::1%eth0", "names a zone"),
        (_IP, "example.com", "is no IPv4 or IPv6 address"),
        (_EMAIL, "example.com", "isn't of the form name@host"),
        (_EMAIL, "jürg@example.com", "in ASCII"),
        (_EMAIL, "a@b@example.com", "isn't of the form"),
        (_EMAIL, "a@example.com\r\nbcc: b", "isn't of the form"),
        (_URI, "/relative", "isn't absolute"),
        (_URI, "www.example.com", "isn't absolute"),
        (_URI, "https://example.com/a b", "must be percent-encoded"),
        (_URI, "https://example.com/ü", "must be percent-encoded"),
        (_UPN, "a\0b", "can't be printed"),
    ],
)
def test_what_is_no_such_name_is_refused_in_words(kind: NameType, value: str, says: str) -> None:
    with pytest.raises(TemplateError, match=says):
        alternative_name(kind, value)


@given(st.sampled_from(NameType), st.text(max_size=300))
def test_any_text_is_a_name_that_can_be_signed_or_is_refused(kind: NameType, value: str) -> None:
    try:
        name = alternative_name(kind, value)
    except TemplateError:
        return
    issued = root().issue(template(Subject(), names=[name]), key_of(KeyAlgorithm.EC_P256))
    assert [alternative_name(one.type, one.value) for one in issued.alternative_names] == [name]


@given(st.text(max_size=70))
def test_any_text_is_a_common_name_that_can_be_signed_or_is_refused(value: str) -> None:
    try:
        issued = root().issue(template(Subject.of(value)), key_of(KeyAlgorithm.EC_P256))
    except TemplateError:
        return
    assert issued.subject.common_name == value


class TestSubjects:
    def test_fields_stand_in_the_order_of_directories(self) -> None:
        subject = Subject.of(
            "www",
            organization="O",
            organizational_unit="U",
            country="CH",
            state="S",
            locality="L",
            domain_components=("com", "example"),
        )

        assert [one.field for one in subject.attributes] == [
            "domain_component",
            "domain_component",
            "country",
            "state",
            "locality",
            "organization",
            "organizational_unit",
            "common_name",
        ]
        assert str(subject) == "CN=www,OU=U,O=O,L=L,ST=S,C=CH,DC=example,DC=com"

    def test_empty_fields_are_left_out(self) -> None:
        assert Subject.of("", organization="", country=None) == Subject()

    def test_values_are_written_so_that_they_cannot_be_mistaken(self) -> None:
        subject = Subject.of(' a,b+c"d\\e<f>;', organization="#x ", locality=" ")

        assert str(subject) == r"CN=\ a\,b\+c\"d\\e\<f\>\;,O=\#x\ ,L=\ "

    def test_fields_without_a_word_are_told_apart(self) -> None:
        subject = Subject(
            (
                SubjectAttribute("email_address", "a@example.com"),
                SubjectAttribute("common_name", "x"),
                SubjectAttribute("1.2.3.4", "y"),
            )
        )

        assert subject.unruled_fields == ("email_address", "1.2.3.4")
        issued = root().issue(template(subject), key_of(KeyAlgorithm.EC_P256))
        assert issued.subject == subject

    def test_the_last_common_name_is_the_common_name(self) -> None:
        subject = Subject((SubjectAttribute("common_name", "a"), SubjectAttribute("common_name", "b")))

        assert (subject.common_name, subject.values("common_name")) == ("b", ("a", "b"))
        assert Subject().common_name is None
