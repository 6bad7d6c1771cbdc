from __future__ import annotations

import base64
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from hypothesis import given
from hypothesis import strategies as st

from keybearer.base.certificate_terms import (
    ExtendedKeyUsage,
    KeyAlgorithm,
    KeyUsage,
    NameType,
    SignatureAlgorithm,
)
from keybearer.pki.certificates import certificate_of
from keybearer.pki.der import SEQUENCE, element
from keybearer.pki.errors import MalformedError, PkiError, TemplateError, UnsupportedAlgorithmError
from keybearer.pki.issuance import default_key_usages
from keybearer.pki.keys import PublicKey, is_supported
from keybearer.pki.names import AlternativeName, Subject, SubjectAttribute, alternative_name
from keybearer.pki.pem import written
from keybearer.pki.signing_requests import (
    MAX_REQUEST_CHARACTERS,
    SigningRequest,
    build_signing_request,
    parse_signing_request,
)
from support.rows import each_row
from support.x509_house import dns, key_of, root, template
from support.x509_shapes import ALGORITHMS, NAMES, SUBJECTS

_CORPUS = Path(__file__).resolve().parents[2] / "corpus" / "signing_requests"
_ACCEPTED = sorted((_CORPUS / "accepted").glob("*.pem"))
_REFUSED = sorted((_CORPUS / "refused").glob("*.pem"))
_LABEL = "CERTIFICATE REQUEST"


_SOME = _CORPUS / "accepted" / "every_extension.pem"
SAN, KEY_USAGE, EXTENDED, CONSTRAINTS = "2.5.29.17", "2.5.29.15", "2.5.29.37", "2.5.29.19"
_EXTENSION_VALUES = [
    b"",
    b"\x30\x00",
    b"\x03\x01\x00",
    b"\x03\x02\x00\x00",
    b"\x30\x03\x01\x01\xff",
    b"\x30\x06\x01\x01\xff\x02\x01\xff",
    b"\x30\x05\x82\x03\xff\xfe\xfd",
    b"\x30\x05\x87\x03\x01\x02\x03",
    b"\x30\x12\xa0\x10\x06\x0a\x2b\x06\x01\x04\x01\x82\x37\x14\x02\x03\xa0\x02\x05\x00",
    b"\x30\x04\x06\x02\x2a\x03",
    b"\x30\x02\x88\x00",
    b"\xa0\x80" * 90,
]
"""Of names, usages and constraints: empty, cut off, negative, no text, addresses of three octets, nested."""


def signed(content: bytes) -> str:
    """Return the text of a request of that content, signed with the key of the tests."""
    key = key_of(KeyAlgorithm.EC_P256).key
    assert isinstance(key, ec.EllipticCurvePrivateKey)
    signature = key.sign(content, ec.ECDSA(hashes.SHA256()))
    algorithm = bytes.fromhex("300a06082a8648ce3d040302")
    return written(_LABEL, element(SEQUENCE, content + algorithm + element(0x03, b"\0" + signature)))


def corpus(name: str) -> SigningRequest:
    return parse_signing_request((_CORPUS / "accepted" / f"{name}.pem").read_text(encoding="utf-8"))


def a_request() -> SigningRequest:
    key = key_of(KeyAlgorithm.EC_P256)
    usages = default_key_usages(key.algorithm)
    return parse_signing_request(
        build_signing_request(key, SUBJECTS["every field"], alternative_names=NAMES["all"], key_usages=usages)
    )


class TestRequestsOfOpenssl:
    """The first line of each file says how it was made."""

    @each_row("path", _ACCEPTED, ids=lambda path: path.stem)
    def test_each_is_read_and_certified_for_its_own_key(self, path: Path) -> None:
        request = parse_signing_request(path.read_text(encoding="utf-8"))
        subject = request.subject if request.subject.attributes else Subject()
        made_of = template(subject, names=request.alternative_names)

        issued = certificate_of(root().issuer.issue(made_of, request.public_key).der)

        assert issued.public_key == request.public_key
        assert issued.subject == request.subject
        assert issued.alternative_names == request.alternative_names

    @each_row("path", _REFUSED, ids=lambda path: path.stem)
    def test_a_key_or_signature_that_is_too_weak_or_unknown_is_refused_in_words(self, path: Path) -> None:
        with pytest.raises(UnsupportedAlgorithmError, match=r"supported|bits|FIPS|SHA-1"):
            parse_signing_request(path.read_text(encoding="utf-8"))

    def test_the_corpus_is_there(self) -> None:
        assert len(_ACCEPTED) >= 15
        assert len(_REFUSED) >= 8

    def test_every_extension_that_has_words_is_read_and_the_others_are_named(self) -> None:
        request = corpus("every_extension")

        assert request.alternative_names == (
            *dns("a.example.com", "*.b.example.com"),
            alternative_name(NameType.IP_ADDRESS, "10.0.0.1"),
            alternative_name(NameType.IP_ADDRESS, "2001:db8::1"),
            alternative_name(NameType.URI, "spiffe://trust.example.com/web"),
            alternative_name(NameType.EMAIL, "ops@example.com"),
            alternative_name(NameType.UPN, "user@example.com"),
        )
        assert request.key_usages == frozenset(
            {
                KeyUsage.DIGITAL_SIGNATURE,
                KeyUsage.KEY_ENCIPHERMENT,
                KeyUsage.KEY_AGREEMENT,
                KeyUsage.DECIPHER_ONLY,
            }
        )
        assert request.extended_key_usages == (ExtendedKeyUsage.SERVER_AUTH, ExtendedKeyUsage.CLIENT_AUTH)
        assert request.other_usages == ("1.3.6.1.5.5.8.2.2",)
        assert request.is_ca is False
        assert set(request.other_extensions) == {
            "2.5.29.14",
            "1.3.6.1.5.5.7.1.24",
            "2.5.29.32",
            "2.16.840.1.113730.1.13",
        }

    def test_an_authority_is_told_from_a_leaf_that_says_nothing(self) -> None:
        authority, leaf = corpus("authority"), corpus("p256")

        assert (authority.is_ca, authority.path_length) == (True, 2)
        assert authority.key_usages == frozenset({KeyUsage.KEY_CERT_SIGN, KeyUsage.CRL_SIGN})
        assert (leaf.is_ca, leaf.path_length, leaf.key_usages) == (None, None, None)

    def test_names_without_words_are_named_by_their_kind(self) -> None:
        request = corpus("names_without_words")

        assert request.alternative_names == dns("a.example.com")
        assert request.other_names == ("directory name", "registered id")

    def test_attributes_of_a_subject_keep_their_order_and_those_that_policies_rule_are_told_apart(
        self,
    ) -> None:
        subject = corpus("rich_subject").subject

        assert subject.values("domain_component") == ("com", "example")
        assert subject.values("organization") == ("One", "Two")
        assert (subject.first("state"), subject.common_name) == ("Zürich", "Jürg")
        assert subject.unruled_fields == (
            "email_address",
            "serial_number",
            "user_id",
            "street_address",
            "postal_code",
            "given_name",
            "surname",
            "title",
        )

    def test_a_part_of_several_attributes_is_flattened(self) -> None:
        assert corpus("multi_valued_rdn").subject == Subject.of(
            "x", country="CH", organization="One", organizational_unit="Two"
        )


class TestOwnRequests:
    @each_row("algorithm", ALGORITHMS, ids=str)
    @each_row("names", NAMES)
    def test_what_is_asked_for_is_read_again(self, algorithm: KeyAlgorithm, names: str) -> None:
        key = key_of(algorithm)
        usages = default_key_usages(algorithm)
        extended = (ExtendedKeyUsage.SERVER_AUTH, ExtendedKeyUsage.CLIENT_AUTH)

        for subject in SUBJECTS.values():
            request = parse_signing_request(
                build_signing_request(
                    key,
                    subject,
                    alternative_names=NAMES[names],
                    key_usages=usages,
                    extended_key_usages=extended,
                )
            )

            assert request.public_key == key.public_key
            assert request.subject == subject
            assert request.alternative_names == NAMES[names]
            assert (request.key_usages, request.extended_key_usages) == (usages, extended)

    def test_an_authority_is_asked_for(self) -> None:
        key = key_of(KeyAlgorithm.EC_P256)
        text = build_signing_request(key, Subject.of("Sub"), is_ca=True, path_length=1)

        request = parse_signing_request(text)

        assert (request.is_ca, request.path_length) == (True, 1)
        assert request.pem == text

    def test_a_post_quantum_key_asks_too(self) -> None:
        if not is_supported(KeyAlgorithm.ML_DSA_65):
            pytest.skip("the linked library has no ML-DSA")
        key = key_of(KeyAlgorithm.ML_DSA_65)

        request = parse_signing_request(build_signing_request(key, Subject.of("x")))

        assert request.public_key == key.public_key

    def test_a_key_signs_only_as_it_can(self) -> None:
        with pytest.raises(UnsupportedAlgorithmError, match="EC_prime256v1 key can't sign with RSA-SHA256"):
            build_signing_request(
                key_of(KeyAlgorithm.EC_P256),
                Subject.of("x"),
                signature_algorithm=SignatureAlgorithm.RSA_SHA256,
            )

    @pytest.mark.parametrize(
        ("subject", "says"),
        [
            (Subject.of("x" * 65), "common_name of a subject has 1 to 64 characters, this one has 65"),
            (Subject.of(country="Switzerland"), "isn't a code of two letters"),
            (Subject.of("a\0b"), "can't be printed"),
            (Subject.of(domain_components=["zürich"]), "other than ASCII"),
            (Subject.of(domain_components=["a"] * 65), "more than 64 attributes"),
            (Subject((SubjectAttribute("no field", "x"),)), "can't be written"),
        ],
        ids=lambda value: value if isinstance(value, str) else "",
    )
    def test_a_subject_that_cannot_be_written_is_refused(self, subject: Subject, says: str) -> None:
        with pytest.raises(TemplateError, match=says):
            build_signing_request(key_of(KeyAlgorithm.EC_P256), subject)


class TestMalformedRequests:
    @each_row(
        ("text", "says"),
        [
            ("", "isn't PEM"),
            ("hello", "isn't PEM"),
            (written("CERTIFICATE", b"\x30\x00"), "this one is of kind CERTIFICATE"),
            (written("PRIVATE KEY", b"\x30\x00"), "this one is of kind PRIVATE KEY"),
            (written(_LABEL, b""), "isn't valid PKCS#10"),
            (written(_LABEL, b"\x30\x00"), "isn't valid PKCS#10"),
            (written(_LABEL, b"\x30\x00") * 2, "holds 2 blocks; 1 may be there"),
            (f"-----BEGIN {_LABEL}-----\nMII\n-----END {_LABEL}-----", "base64 .* is damaged"),
            (f"-----BEGIN {_LABEL}-----\nMIIB\n", "isn't PEM"),
            (f"-----BEGIN {_LABEL}-----\nMIIB\n-----END CERTIFICATE-----", "isn't PEM"),
            (
                f"-----BEGIN {_LABEL}-----\nProc-Type: 4,ENCRYPTED\n\nMIIB\n-----END {_LABEL}-----",
                "isn't PEM",
            ),
            ("x" * (MAX_REQUEST_CHARACTERS + 1), f"more than {MAX_REQUEST_CHARACTERS} characters"),
            ("-----BEGIN " * 5000, "isn't PEM"),
            (written(_LABEL, b"\x30\x80" * 20000), "isn't valid PKCS#10"),
            (written(_LABEL, b"\x30\x83\xff\xff\xff" * 5000), "isn't valid PKCS#10"),
        ],
    )
    def test_text_that_is_no_request_is_refused_in_words(self, text: str, says: str) -> None:
        with pytest.raises(MalformedError, match=says):
            parse_signing_request(text)

    def test_a_signature_of_another_key_is_refused(self) -> None:
        der = bytearray(a_request().der)
        der[-1] ^= 1

        with pytest.raises(
            MalformedError, match="signature of the certificate signing request isn't of the key"
        ):
            parse_signing_request(written(_LABEL, bytes(der)))

    def test_a_name_that_was_changed_after_signing_is_refused(self) -> None:
        der = a_request().der.replace(b"www.example.com", b"xxx.example.com")

        with pytest.raises(MalformedError, match="isn't of the key"):
            parse_signing_request(written(_LABEL, der))

    @pytest.mark.parametrize(
        ("field", "value", "says"),
        [
            (x509.NameOID.COMMON_NAME, "x" * 65, "common_name of a subject has 1 to 64 characters"),
            (x509.NameOID.COUNTRY_NAME, "Switzerland", "isn't a code of two letters"),
        ],
    )
    def test_a_subject_that_no_certificate_may_have_is_read_and_refused_when_it_would_be_signed(
        self, field: x509.ObjectIdentifier, value: str, says: str
    ) -> None:
        name = x509.Name([x509.NameAttribute(field, value, _validate=False)])
        builder = x509.CertificateSigningRequestBuilder().subject_name(name)
        made = builder.sign(key_of(KeyAlgorithm.EC_P256).key, hashes.SHA256())

        request = parse_signing_request(written(_LABEL, made.public_bytes(serialization.Encoding.DER)))

        assert [one.value for one in request.subject.attributes] == [value]
        with pytest.raises(TemplateError, match=says):
            root().issue(template(request.subject), key_of(KeyAlgorithm.EC_P256))

    def test_more_names_than_a_certificate_may_have_are_refused(self) -> None:
        names = dns(*(f"n{number}.example.com" for number in range(101)))
        text = build_signing_request(key_of(KeyAlgorithm.EC_P256), Subject(), alternative_names=names)

        with pytest.raises(MalformedError, match="more than 100 subject alternative names"):
            parse_signing_request(text)

    @given(
        st.sampled_from(_ACCEPTED),
        st.lists(st.tuples(st.integers(0, 2000), st.integers(0, 255)), min_size=1, max_size=8),
    )
    def test_requests_with_changed_bytes_raise_only_our_errors(
        self, path: Path, changes: list[tuple[int, int]]
    ) -> None:
        der = bytearray(parse_signing_request(path.read_text(encoding="utf-8")).der)
        for place, byte in changes:
            der[place % len(der)] = byte

        self.refused_or_read(written(_LABEL, bytes(der)))

    @given(st.sampled_from(_ACCEPTED), st.integers(0, 2000), st.binary(max_size=64))
    def test_truncated_and_lengthened_requests_raise_only_our_errors(
        self, path: Path, length: int, more: bytes
    ) -> None:
        der = parse_signing_request(path.read_text(encoding="utf-8")).der

        self.refused_or_read(written(_LABEL, der[: length % len(der)] + more))

    @given(st.binary(max_size=2048))
    def test_any_bytes_raise_only_our_errors(self, data: bytes) -> None:
        self.refused_or_read(written(_LABEL, data))

    @given(st.text(max_size=2048))
    def test_any_text_raises_only_our_errors(self, text: str) -> None:
        self.refused_or_read(text)

    @given(st.text(alphabet="-BEGINCRTFAUQS \n\r=+/aA0", max_size=2048))
    def test_text_like_pem_raises_only_our_errors(self, text: str) -> None:
        self.refused_or_read(f"-----BEGIN {_LABEL}-----\n{text}\n-----END {_LABEL}-----")

    @given(st.data())
    def test_parts_of_two_requests_put_together_raise_only_our_errors(self, data: st.DataObject) -> None:
        first, second = (
            parse_signing_request(data.draw(st.sampled_from(_ACCEPTED)).read_text(encoding="utf-8")).der
            for _ in range(2)
        )
        cut = data.draw(st.integers(0, len(first)))
        resume = data.draw(st.integers(0, len(second)))

        self.refused_or_read(written(_LABEL, first[:cut] + second[resume:]))

    @given(
        st.sampled_from([_SOME, *_ACCEPTED]),
        st.lists(st.tuples(st.integers(0, 2000), st.integers(0, 255)), min_size=1, max_size=8),
    )
    def test_what_is_damaged_before_it_is_signed_raises_only_our_errors(
        self, path: Path, changes: list[tuple[int, int]]
    ) -> None:
        der = parse_signing_request(path.read_text(encoding="utf-8")).der
        content = bytearray(x509.load_der_x509_csr(der).tbs_certrequest_bytes)
        key_info = key_of(KeyAlgorithm.EC_P256).public_key.der
        there = x509.load_der_x509_csr(der).public_key()
        at = content.find(PublicKey(there).der)
        for place, byte in changes:
            content[place % len(content)] = byte
        if at >= 0:
            # With a key that we have, so that the signature is good and the rest is looked at.
            content[at : at + len(key_info)] = key_info

        self.refused_or_read(signed(bytes(content)))

    @given(
        st.sampled_from([SAN, KEY_USAGE, EXTENDED, CONSTRAINTS, "1.2.3.4", "2.5.29.30", "2.5.29.31"]),
        st.binary(max_size=200) | st.sampled_from(_EXTENSION_VALUES),
    )
    def test_extensions_of_any_content_raise_only_our_errors(self, identifier: str, content: bytes) -> None:
        key = key_of(KeyAlgorithm.EC_P256)
        builder = x509.CertificateSigningRequestBuilder(x509.Name([])).add_extension(
            x509.UnrecognizedExtension(x509.ObjectIdentifier(identifier), content), critical=False
        )
        made = builder.sign(key.key, hashes.SHA256())

        self.refused_or_read(written(_LABEL, made.public_bytes(serialization.Encoding.DER)))

    @staticmethod
    def refused_or_read(text: str) -> None:
        try:
            request = parse_signing_request(text)
        except PkiError:
            return
        assert base64.b64decode("".join(request.pem.splitlines()[1:-1])) == request.der
        assert all(isinstance(name, AlternativeName) for name in request.alternative_names)
