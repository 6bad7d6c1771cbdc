from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ed25519
from hypothesis import given
from hypothesis import strategies as st

from keybearer.base.certificate_terms import (
    ExtendedKeyUsage,
    KeyAlgorithm,
    KeyUsage,
    NameType,
    SignatureAlgorithm,
)
from keybearer.pki.certificates import (
    Certificate,
    Pointers,
    certificate_of,
    parse_certificate,
    parse_certificates,
    serial_text,
    text_of_certificates,
)
from keybearer.pki.errors import (
    MalformedError,
    OutlivesIssuerError,
    PkiError,
    TemplateError,
    UnsupportedAlgorithmError,
)
from keybearer.pki.issuance import Issuer, Template, default_key_usages, new_serial_number, self_sign
from keybearer.pki.names import Subject, alternative_name
from keybearer.pki.pem import written
from support.x509_house import NOW, certified, dns, key_of, root, template

_KEY = KeyAlgorithm.EC_P256


class TestWhatIsIssued:
    def test_all_of_the_template_stands_in_the_certificate(self) -> None:
        top = root()
        pointers = Pointers(("http://a/crl", "http://b/crl"), ("http://a/ca",), ("http://a/ocsp",))
        made_of = Template(
            subject=Subject.of("www", organization="Example"),
            not_before=NOW,
            not_after=NOW + timedelta(days=3),
            serial_number=0x1F,
            alternative_names=dns("www.example.com"),
            key_usages=frozenset(KeyUsage) - {KeyUsage.KEY_CERT_SIGN},
            extended_key_usages=tuple(ExtendedKeyUsage),
            pointers=pointers,
        )

        issued = top.issuer.issue(made_of, key_of(_KEY).public_key)
        read = parse_certificate(issued.pem)

        assert read.der == issued.der
        assert (read.subject, read.issuer) == (made_of.subject, top.certificate.subject)
        assert (read.not_before, read.not_after) == (made_of.not_before, made_of.not_after)
        assert (read.serial_number, read.serial, issued.serial) == (0x1F, "1f", "1f")
        assert read.alternative_names == made_of.alternative_names
        assert read.key_usages == made_of.key_usages
        assert read.extended_key_usages == made_of.extended_key_usages
        assert read.public_key == key_of(_KEY).public_key
        assert read.pointers == pointers
        assert (read.is_ca, read.path_length) == (False, None)
        assert read.signature_algorithm is SignatureAlgorithm.ECDSA_SHA256
        assert read.subject_key_identifier == key_of(_KEY).public_key.identifier
        assert read.authority_key_identifier == top.certificate.subject_key_identifier
        assert not read.is_self_issued

    def test_what_isnt_asked_for_isnt_there(self) -> None:
        made_of = template(names=dns("a.example.com"), key_usages=frozenset(), extended_key_usages=())

        read = root().issue(made_of, key_of(_KEY))

        assert read.key_usages is None
        assert read.extended_key_usages == ()
        assert read.pointers == Pointers()

    @pytest.mark.parametrize(
        ("algorithm", "asked", "signed"),
        [
            (KeyAlgorithm.RSA_2048, None, SignatureAlgorithm.RSA_SHA256),
            (KeyAlgorithm.RSA_2048, SignatureAlgorithm.RSA_SHA512, SignatureAlgorithm.RSA_SHA512),
            (KeyAlgorithm.EC_P256, None, SignatureAlgorithm.ECDSA_SHA256),
            (KeyAlgorithm.EC_P256, SignatureAlgorithm.ECDSA_SHA384, SignatureAlgorithm.ECDSA_SHA384),
            (KeyAlgorithm.EC_P384, None, SignatureAlgorithm.ECDSA_SHA384),
            (KeyAlgorithm.EC_P521, None, SignatureAlgorithm.ECDSA_SHA512),
        ],
    )
    def test_the_signature_fits_the_issuers_key_unless_another_is_asked_for(
        self, algorithm: KeyAlgorithm, asked: SignatureAlgorithm | None, signed: SignatureAlgorithm
    ) -> None:
        made_of = Template(Subject.of("x"), NOW, NOW + timedelta(days=1), 7, signature_algorithm=asked)

        assert root(algorithm).issue(made_of, key_of(_KEY)).signature_algorithm is signed

    def test_a_signature_that_the_issuers_key_cant_make_is_refused(self) -> None:
        made_of = Template(
            Subject.of("x"),
            NOW,
            NOW + timedelta(days=1),
            7,
            signature_algorithm=SignatureAlgorithm.RSA_SHA256,
        )

        with pytest.raises(UnsupportedAlgorithmError, match="EC_prime256v1 key can't sign with RSA-SHA256"):
            root().issue(made_of, key_of(_KEY))

    def test_a_renewal_with_the_same_key_differs_in_serial_number_and_time(self) -> None:
        top = root()
        first = certified(top)

        second = certified(top, not_before=NOW + timedelta(days=60), not_after=NOW + timedelta(days=150))

        assert second.public_key == first.public_key
        assert second.subject_key_identifier == first.subject_key_identifier
        assert second.serial_number != first.serial_number

    def test_instants_of_another_zone_are_the_same_instants_and_parts_of_seconds_are_cut_off(self) -> None:
        zone = timezone(timedelta(hours=9))
        begins = datetime(2026, 3, 2, 3, 0, 0, 999_999, tzinfo=zone)
        made_of = template(
            names=dns("a.example.com"), not_before=begins, not_after=begins + timedelta(hours=1)
        )

        read = root().issue(made_of, key_of(_KEY))

        assert read.not_before == datetime(2026, 3, 1, 18, 0, 0, tzinfo=UTC)
        assert read.not_after == datetime(2026, 3, 1, 19, 0, 0, tzinfo=UTC)

    def test_a_lifetime_beyond_2049_is_written_as_it_must(self) -> None:
        long = root(not_after=datetime(2126, 1, 1, tzinfo=UTC))

        assert long.certificate.not_after == datetime(2126, 1, 1, tzinfo=UTC)

    @pytest.mark.parametrize(
        ("changes", "says"),
        [
            ({"not_after": NOW - timedelta(days=1)}, "end before it begins"),
            ({"subject": Subject()}, "name nobody"),
            ({"subject": Subject.of("a" * 65)}, "1 to 64 characters"),
            ({"is_ca": True}, "go together"),
            ({"key_usages": frozenset({KeyUsage.KEY_CERT_SIGN})}, "go together"),
            ({"path_length": 0}, "only an authority has a path length"),
            ({"key_usages": frozenset({KeyUsage.ENCIPHER_ONLY})}, "need the key usage key_agreement"),
        ],
        ids=lambda value: value if isinstance(value, str) else "",
    )
    def test_what_contradicts_itself_isnt_signed(self, changes: dict[str, object], says: str) -> None:
        with pytest.raises(TemplateError, match=says):
            root().issue(template(**changes), key_of(_KEY))  # type: ignore[arg-type]

    def test_no_certificate_begins_before_1950(self) -> None:
        with pytest.raises(TemplateError, match="from 1950"):
            self_sign(template(not_before=datetime(1949, 1, 1, tzinfo=UTC)), key_of(_KEY))

    def test_a_certificate_never_outlives_its_issuer(self) -> None:
        top = root(not_after=NOW + timedelta(days=30))
        top.issue(template(not_after=NOW + timedelta(days=30)), key_of(_KEY))

        with pytest.raises(
            OutlivesIssuerError, match=r"issuer O=.*|issuer CN=Root.* is only until 2026-03-31T12:00:00Z"
        ):
            top.issue(template(not_after=NOW + timedelta(days=30, seconds=1)), key_of(_KEY))

    def test_authorities_follow_one_another_as_far_as_path_lengths_allow(self) -> None:
        second = root(path_length=2).below("Second", path_length=1)
        third = second.below("Third", path_length=0)

        assert (third.certificate.is_ca, third.certificate.path_length) == (True, 0)
        with pytest.raises(TemplateError, match="may not sign authorities: its path length is 0"):
            third.below("Fourth", path_length=0)
        with pytest.raises(TemplateError, match=r"must be less than that of .*, which is 1"):
            second.below("Third", path_length=1)
        with pytest.raises(TemplateError, match="must be less"):
            second.below("Third", path_length=None)

    def test_an_issuer_is_an_authority_with_its_own_key(self) -> None:
        top = root()
        leaf = certified(top)

        with pytest.raises(PkiError, match="isn't that of the certificate"):
            Issuer(top.certificate, key_of(_KEY))
        with pytest.raises(PkiError, match="isn't one that may sign"):
            Issuer(leaf, key_of(_KEY))

    def test_the_issuers_name_is_taken_octet_for_octet_from_a_certificate_of_elsewhere(self) -> None:
        key = key_of(_KEY, "elsewhere")
        name = x509.Name(
            [
                x509.NameAttribute(
                    x509.NameOID.ORGANIZATION_NAME, "Old", x509.name._ASN1Type.PrintableString
                ),
                x509.NameAttribute(x509.NameOID.COMMON_NAME, "T61", x509.name._ASN1Type.T61String),
            ]
        )
        made = (
            x509.CertificateBuilder(name, name, key.key.public_key(), 5, NOW.replace(tzinfo=None))
            .not_valid_after(NOW + timedelta(days=100))
            .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
            .sign(key.key, hashes.SHA256())
        )
        issuer = Issuer(certificate_of(made.public_bytes(serialization.Encoding.DER)), key)

        issued = x509.load_der_x509_certificate(
            issuer.issue(template(not_before=NOW), key_of(_KEY).public_key).der
        )

        assert issued.issuer.public_bytes() == made.subject.public_bytes()

    def test_self_signed_means_that_it_names_and_signs_itself(self) -> None:
        key = key_of(_KEY)

        read = certificate_of(self_sign(template(names=dns("a.example.com")), key).der)

        assert read.is_self_issued
        assert read.authority_key_identifier == read.subject_key_identifier
        assert read.public_key == key.public_key

    def test_serial_numbers_have_159_random_bits(self) -> None:
        numbers = {new_serial_number() for _ in range(1000)}

        assert len(numbers) == 1000
        assert 150 < max(number.bit_length() for number in numbers) <= 159

    def test_a_serial_number_is_shown_in_whole_octets(self) -> None:
        assert [serial_text(number) for number in (0, 1, 255, 256, 2**159 - 1)] == [
            "00",
            "01",
            "ff",
            "0100",
            "7f" + "ff" * 19,
        ]

    def test_only_rsa_keys_encipher_keys_by_default(self) -> None:
        assert KeyUsage.KEY_ENCIPHERMENT in default_key_usages(KeyAlgorithm.RSA_2048)
        assert default_key_usages(KeyAlgorithm.EC_P384) == {KeyUsage.DIGITAL_SIGNATURE}
        assert default_key_usages(KeyAlgorithm.ML_DSA_44) == {KeyUsage.DIGITAL_SIGNATURE}


class TestReading:
    def test_a_chain_is_read_in_its_order(self) -> None:
        below = root().below()
        chain = (certified(below), *below.chain)

        assert parse_certificates(text_of_certificates(chain)) == chain

    def test_a_key_without_a_word_leaves_the_rest_readable(self) -> None:
        key = ed25519.Ed25519PrivateKey.generate()
        name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "elsewhere")])
        made = x509.CertificateBuilder(name, name, key.public_key(), 5).not_valid_before(NOW)
        der = (
            made.not_valid_after(NOW + timedelta(days=1))
            .sign(key, None)
            .public_bytes(serialization.Encoding.DER)
        )

        read = certificate_of(der)

        assert (read.public_key, read.signature_algorithm) == (None, None)
        assert read.subject.common_name == "elsewhere"

    @pytest.mark.parametrize(
        ("text", "says"),
        [
            ("", "isn't PEM"),
            (written("CERTIFICATE REQUEST", b"x"), "this one is of kind CERTIFICATE REQUEST"),
            (written("TRUSTED CERTIFICATE", b"x"), "this one is of kind TRUSTED CERTIFICATE"),
            (written("CERTIFICATE", b"x"), "isn't valid X.509"),
            (written("CERTIFICATE", b"x") * 2, "holds 2 blocks; 1 may be there"),
        ],
    )
    def test_text_that_is_no_certificate_is_refused_in_words(self, text: str, says: str) -> None:
        with pytest.raises(MalformedError, match=says):
            parse_certificate(text)

    def test_a_chain_has_an_end(self) -> None:
        with pytest.raises(MalformedError, match="holds 17 blocks; 16 may be there"):
            parse_certificates(certified(root()).pem * 17)

    @given(st.lists(st.tuples(st.integers(0, 2000), st.integers(0, 255)), min_size=1, max_size=8))
    def test_changed_bytes_raise_only_our_errors(self, changes: list[tuple[int, int]]) -> None:
        der = bytearray(_SAMPLE.der)
        for place, byte in changes:
            der[place % len(der)] = byte

        try:
            read = certificate_of(bytes(der))
        except PkiError:
            return
        assert read.pem

    @pytest.mark.parametrize("first", [0x80, 0x00])
    def test_a_serial_number_that_is_not_positive_is_refused(self, first: int) -> None:
        made_of = replace(template(), serial_number=0x7F)
        der = root().issuer.issue(made_of, key_of(_KEY).public_key).der

        with pytest.raises(MalformedError, match="isn't positive"):
            certificate_of(der.replace(b"\x02\x01\x7f", bytes([2, 1, first]), 1))

    @given(st.binary(max_size=1000))
    def test_any_bytes_raise_only_our_errors(self, data: bytes) -> None:
        with pytest.raises(PkiError):
            certificate_of(data)


def _sample() -> Certificate:
    made_of = template(
        Subject.of("x", organization="O", country="CH", domain_components=["com"]),
        names=(
            *dns("a.example.com"),
            alternative_name(NameType.UPN, "u@example.com"),
            alternative_name(NameType.IP_ADDRESS, "10.0.0.1"),
        ),
        pointers=Pointers(("http://a/crl",), ("http://a/ca",), ("http://a/ocsp",)),
    )
    return root().issue(made_of, key_of(_KEY))


_SAMPLE = _sample()
