from __future__ import annotations

from datetime import timedelta

import pytest

from keybearer.base.certificate_terms import ExtendedKeyUsage, KeyAlgorithm, KeyUsage, NameType
from keybearer.pki.certificates import Certificate
from keybearer.pki.comparison import Asked, Aspect, differences
from keybearer.pki.names import AlternativeName, Subject
from support.rows import each_row
from support.x509_house import NOW, dns, key_of, root, template

_KEY = KeyAlgorithm.EC_P256
_SUBJECT = Subject.of("www.example.com", organization="Example", country="CH")
_NAMES = dns("www.example.com", "example.com")
_USAGES = frozenset({KeyUsage.DIGITAL_SIGNATURE, KeyUsage.KEY_AGREEMENT})
_EXTENDED = (ExtendedKeyUsage.SERVER_AUTH, ExtendedKeyUsage.CLIENT_AUTH)


def issued(**changes: object) -> Certificate:
    made = {
        "subject": _SUBJECT,
        "names": _NAMES,
        "key_usages": _USAGES,
        "extended_key_usages": _EXTENDED,
        "not_before": NOW,
        "not_after": NOW + timedelta(days=30),
        **changes,
    }
    return root().issue(template(**made), key_of(_KEY))  # type: ignore[arg-type]


def asked(**changes: object) -> Asked:
    wanted = {
        "public_key": key_of(_KEY).public_key,
        "subject": _SUBJECT,
        "alternative_names": _NAMES,
        "key_usages": _USAGES,
        "extended_key_usages": frozenset(_EXTENDED),
        "is_ca": False,
        "lifetime": timedelta(days=30),
        **changes,
    }
    return Asked(**wanted)  # type: ignore[arg-type]


def test_a_certificate_that_is_as_asked_for_has_no_differences() -> None:
    assert differences(asked(), issued()) == ()


def test_what_was_left_to_the_issuer_is_not_compared() -> None:
    nothing = Asked(is_ca=None)

    authority = {"is_ca": True, "key_usages": frozenset({KeyUsage.KEY_CERT_SIGN})}
    assert differences(nothing, issued(**authority)) == ()


@each_row(
    ("wanted", "made", "aspect", "texts"),
    [
        (
            {"public_key": key_of(_KEY, "another").public_key},
            {},
            Aspect.PUBLIC_KEY,
            ["it is for another public key"],
        ),
        (
            {},
            {"subject": Subject.of("www.example.com", organization="Exemplar", country="CH")},
            Aspect.SUBJECT,
            ["its subject lacks organization 'Example'"],
        ),
        (
            {"subject": Subject.of("www.example.com", domain_components=["a", "a"])},
            {"subject": Subject.of("www.example.com", domain_components=["a"])},
            Aspect.SUBJECT,
            ["its subject lacks domain_component 'a'"],
        ),
        (
            {},
            {"names": dns("www.example.com")},
            Aspect.NAMES,
            ["it lacks the dns_name example.com"],
        ),
        (
            {},
            {"names": (*_NAMES, *dns("evil.example.org"))},
            Aspect.NAMES,
            ["it names the dns_name evil.example.org, which wasn't asked for"],
        ),
        (
            {"alternative_names": ()},
            {"names": (AlternativeName(NameType.EMAIL, "ops@example.com"),)},
            Aspect.NAMES,
            ["it names the email ops@example.com, which wasn't asked for"],
        ),
        (
            {},
            {"key_usages": frozenset({KeyUsage.DIGITAL_SIGNATURE, KeyUsage.CRL_SIGN})},
            Aspect.USAGES,
            ["it lacks the key usage key_agreement", "it has the key usage crl_sign, which wasn't asked for"],
        ),
        (
            {"extended_key_usages": frozenset({ExtendedKeyUsage.CLIENT_AUTH})},
            {"extended_key_usages": (ExtendedKeyUsage.SERVER_AUTH,)},
            Aspect.USAGES,
            [
                "it lacks the extended key usage client_auth",
                "it has the extended key usage server_auth, which wasn't asked for",
            ],
        ),
        (
            {"key_usages": None},
            {"is_ca": True, "key_usages": frozenset({KeyUsage.KEY_CERT_SIGN})},
            Aspect.AUTHORITY,
            ["it may sign certificates itself"],
        ),
        ({"is_ca": True}, {}, Aspect.AUTHORITY, ["it may not sign certificates itself"]),
        (
            {"lifetime": timedelta(days=90)},
            {},
            Aspect.DURATION,
            ["it is valid for 30d instead of 90d"],
        ),
        (
            {"lifetime": timedelta(hours=36)},
            {},
            Aspect.DURATION,
            ["it is valid for 30d instead of 1d 12h"],
        ),
    ],
)
def test_each_difference_is_named_in_words(
    wanted: dict[str, object], made: dict[str, object], aspect: Aspect, texts: list[str]
) -> None:
    found = differences(asked(**wanted), issued(**made))

    assert [one.text for one in found] == texts
    assert {one.aspect for one in found} == {aspect}


def test_attributes_that_the_issuer_filled_in_are_no_difference() -> None:
    assert differences(asked(subject=Subject.of("www.example.com")), issued()) == ()


def test_the_common_name_among_the_names_is_no_difference() -> None:
    assert differences(asked(alternative_names=dns("example.com")), issued()) == ()


def test_names_are_compared_by_what_they_mean() -> None:
    wanted = (
        AlternativeName(NameType.DNS_NAME, "WWW.Example.com"),
        AlternativeName(NameType.IP_ADDRESS, "2001:DB8:0::1"),
    )
    made = (*dns("www.example.com"), AlternativeName(NameType.IP_ADDRESS, "2001:db8::1"))

    assert differences(asked(alternative_names=wanted), issued(names=made)) == ()


@pytest.mark.parametrize(
    ("off", "differs"),
    [
        (timedelta(minutes=-1), False),
        (timedelta(minutes=-1, seconds=-1), True),
        (timedelta(minutes=5), False),
        (timedelta(hours=1), False),
        (timedelta(hours=1, seconds=1), True),
    ],
)
def test_issuers_may_round_a_lifetime_and_let_it_begin_earlier(off: timedelta, *, differs: bool) -> None:
    made = issued(not_after=NOW + timedelta(days=30) + off)

    assert bool(differences(asked(), made)) is differs


def test_all_differences_are_told_at_once() -> None:
    found = differences(
        asked(alternative_names=dns("a.example.com"), lifetime=timedelta(days=1)),
        issued(names=dns("b.example.com")),
    )

    assert [one.aspect for one in found] == [Aspect.NAMES, Aspect.NAMES, Aspect.DURATION]
