from __future__ import annotations

import base64
from datetime import timedelta
from urllib.parse import quote

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.hazmat.primitives.asymmetric.padding import PKCS1v15
from cryptography.x509 import ocsp
from hypothesis import given
from hypothesis import strategies as st

from keybearer.base.certificate_terms import KeyAlgorithm, KeyUsage, RevocationReason
from keybearer.pki.certificates import Certificate, certificate_of, load_certificates
from keybearer.pki.errors import MalformedError, PkiError, TemplateError
from keybearer.pki.issuance import Issuer, self_sign
from keybearer.pki.names import Subject
from keybearer.pki.ocsp import (
    MAX_QUESTION_BYTES,
    OcspFailure,
    OcspQuestion,
    Standing,
    ocsp_answer,
    ocsp_failure,
    parse_ocsp_path,
    parse_ocsp_question,
)
from keybearer.pki.revocation_lists import Revocation, build_revocation_list, revocation_list_text
from support.rows import each_row
from support.x509_house import NOW, Authority, certified, key_of, root, template
from support.x509_lint import violations_of_answer, violations_of_list
from support.x509_shapes import ALGORITHMS

_WEEK = timedelta(days=7)
_HASHES = [hashes.SHA1(), hashes.SHA256(), hashes.SHA384(), hashes.SHA512()]  # noqa: S303 - as clients do


def listed(by: Authority, *revocations: Revocation, number: int = 1) -> x509.CertificateRevocationList:
    der = build_revocation_list(
        by.issuer, revocations, number=number, this_update=NOW, next_update=NOW + _WEEK
    )
    return x509.load_der_x509_crl(der)


class TestLists:
    @pytest.mark.parametrize("algorithm", ALGORITHMS, ids=str)
    def test_a_list_is_signed_by_the_authority_and_passes_the_linter(self, algorithm: KeyAlgorithm) -> None:
        by = root(algorithm)
        revocations = [Revocation(7, NOW, reason) for reason in RevocationReason]

        der = build_revocation_list(
            by.issuer, revocations, number=9, this_update=NOW, next_update=NOW + _WEEK
        )

        read = x509.load_der_x509_crl(der)
        assert read.is_signature_valid(by.issuer.own.public_key())  # type: ignore[arg-type]
        assert read.issuer == by.issuer.own.subject
        assert violations_of_list(der) == []

    def test_a_list_says_when_it_was_made_when_it_ends_and_its_number(self) -> None:
        read = listed(root(), number=2**70)

        assert (read.last_update_utc, read.next_update_utc) == (NOW, NOW + _WEEK)
        assert read.extensions.get_extension_for_class(x509.CRLNumber).value.crl_number == 2**70
        identifier = read.extensions.get_extension_for_class(x509.AuthorityKeyIdentifier).value
        assert identifier.key_identifier == root().certificate.subject_key_identifier

    @pytest.mark.parametrize(
        "reason", [one for one in RevocationReason if one is not RevocationReason.UNSPECIFIED]
    )
    def test_a_revoked_certificate_is_listed_with_its_reason(self, reason: RevocationReason) -> None:
        entry = listed(root(), Revocation(7, NOW - timedelta(days=1), reason))[0]

        written = entry.extensions.get_extension_for_class(x509.CRLReason).value.reason.name
        assert written.replace("aa_", "a_a_").upper() == reason.value
        assert (entry.serial_number, entry.revocation_date_utc) == (7, NOW - timedelta(days=1))

    def test_no_reason_is_written_where_none_is_specified(self) -> None:
        assert len(listed(root(), Revocation(7, NOW))[0].extensions) == 0

    def test_an_empty_list_is_a_list(self) -> None:
        assert len(listed(root())) == 0

    def test_a_long_list_is_made(self) -> None:
        revocations = [Revocation(number, NOW) for number in range(1, 20_001)]

        assert len(listed(root(), *revocations)) == 20_000

    def test_a_list_as_text_is_read_again(self) -> None:
        der = build_revocation_list(root().issuer, [], number=1, this_update=NOW, next_update=NOW + _WEEK)

        read = x509.load_pem_x509_crl(revocation_list_text(der).encode())
        assert read.public_bytes(serialization.Encoding.DER) == der

    @pytest.mark.parametrize(
        ("number", "lasts", "says"),
        [
            (1, timedelta(), "end before it begins"),
            (-1, _WEEK, "can't have the number -1"),
            (2**159, _WEEK, "can't have the number"),
        ],
    )
    def test_a_list_that_cannot_be_is_refused(self, number: int, lasts: timedelta, says: str) -> None:
        with pytest.raises(TemplateError, match=says):
            build_revocation_list(root().issuer, [], number=number, this_update=NOW, next_update=NOW + lasts)

    def test_an_authority_without_the_usage_signs_no_list(self) -> None:
        key = key_of(KeyAlgorithm.EC_P256, "no lists")
        made_of = template(
            Subject.of("no lists"),
            is_ca=True,
            key_usages=frozenset({KeyUsage.KEY_CERT_SIGN}),
            extended_key_usages=(),
        )
        issuer = Issuer(certificate_of(self_sign(made_of, key).der), key)

        with pytest.raises(PkiError, match="lacks the key usage crl_sign"):
            build_revocation_list(issuer, [], number=1, this_update=NOW, next_update=NOW + _WEEK)


def question_der(
    leaf: Certificate,
    issuer: Certificate,
    digest: hashes.HashAlgorithm | None = None,
    nonce: bytes | None = None,
) -> bytes:
    certificate, signer = load_certificates([leaf, issuer])
    builder = ocsp.OCSPRequestBuilder().add_certificate(certificate, signer, digest or hashes.SHA256())
    if nonce is not None:
        builder = builder.add_extension(x509.OCSPNonce(nonce), critical=False)
    return builder.build().public_bytes(serialization.Encoding.DER)


def answered(
    by: Authority, question: OcspQuestion, standing: Standing | Revocation
) -> tuple[bytes, ocsp.OCSPResponse]:
    der = ocsp_answer(by.issuer, question, standing, this_update=NOW, next_update=NOW + timedelta(hours=1))
    return der, ocsp.load_der_ocsp_response(der)


class TestAnswers:
    @each_row("digest", _HASHES, ids=lambda one: one.name)
    @each_row(
        ("standing", "says"),
        [
            (Standing.GOOD, ocsp.OCSPCertStatus.GOOD),
            (Standing.UNKNOWN, ocsp.OCSPCertStatus.UNKNOWN),
            (Revocation(7, NOW - _WEEK, RevocationReason.SUPERSEDED), ocsp.OCSPCertStatus.REVOKED),
        ],
    )
    def test_an_answer_tells_the_standing_and_is_about_the_question(
        self, digest: hashes.HashAlgorithm, standing: Standing | Revocation, says: ocsp.OCSPCertStatus
    ) -> None:
        by = root()
        leaf = certified(by)
        question = parse_ocsp_question(question_der(leaf, by.certificate, digest))

        der, answer = answered(by, question, standing)

        assert answer.certificate_status is says
        assert answer.serial_number == leaf.serial_number == question.serial_number
        assert (answer.issuer_name_hash, answer.issuer_key_hash) == (
            question.issuer_name_hash,
            question.issuer_key_hash,
        )
        assert (answer.this_update_utc, answer.next_update_utc) == (NOW, NOW + timedelta(hours=1))
        assert violations_of_answer(der) == []
        if isinstance(standing, Revocation):
            assert answer.revocation_time_utc == NOW - _WEEK
            assert answer.revocation_reason is x509.ReasonFlags.superseded

    @pytest.mark.parametrize("algorithm", ALGORITHMS, ids=str)
    def test_an_answer_is_signed_by_the_authority_itself(self, algorithm: KeyAlgorithm) -> None:
        by = root(algorithm)
        question = parse_ocsp_question(question_der(certified(by), by.certificate))

        _, answer = answered(by, question, Standing.GOOD)

        key, digest = by.issuer.own.public_key(), answer.signature_hash_algorithm
        assert digest is not None
        if isinstance(key, rsa.RSAPublicKey):
            key.verify(answer.signature, answer.tbs_response_bytes, PKCS1v15(), digest)
        else:
            assert isinstance(key, ec.EllipticCurvePublicKey)
            key.verify(answer.signature, answer.tbs_response_bytes, ec.ECDSA(digest))

    @pytest.mark.parametrize("nonce", [b"\x01", b"n" * 32, b"n" * 128])
    def test_a_nonce_comes_back(self, nonce: bytes) -> None:
        by = root()
        question = parse_ocsp_question(question_der(certified(by), by.certificate, nonce=nonce))

        _, answer = answered(by, question, Standing.GOOD)

        assert answer.extensions.get_extension_for_class(x509.OCSPNonce).value.nonce == nonce

    def test_without_a_nonce_there_is_none_in_the_answer(self) -> None:
        by = root()
        question = parse_ocsp_question(question_der(certified(by), by.certificate))

        _, answer = answered(by, question, Standing.GOOD)

        assert question.nonce is None
        assert len(answer.extensions) == 0

    def test_a_question_is_about_the_issuer_that_it_names(self) -> None:
        by, other = root(), root(name="Other")
        question = parse_ocsp_question(question_der(certified(by), by.certificate))

        assert question.is_about(by.issuer)
        assert not question.is_about(other.issuer)

    def test_a_question_may_be_about_an_issuer_that_another_one_signed(self) -> None:
        above = root()
        below = above.below()
        question = parse_ocsp_question(question_der(certified(below), below.certificate))

        assert question.is_about(below.issuer)
        assert not question.is_about(above.issuer)

    @pytest.mark.parametrize("failure", OcspFailure)
    def test_a_failure_is_told_without_a_signature(self, failure: OcspFailure) -> None:
        assert ocsp.load_der_ocsp_response(ocsp_failure(failure)).response_status is failure.value


class TestQuestions:
    @pytest.mark.parametrize(
        "written",
        [
            lambda der: base64.b64encode(der).decode(),
            lambda der: quote(base64.b64encode(der).decode(), safe=""),
            lambda der: base64.urlsafe_b64encode(der).decode(),
            lambda der: base64.b64encode(der).decode().rstrip("="),
        ],
        ids=["plain", "percent-encoded", "with the alphabet of URLs", "without padding"],
    )
    def test_a_question_in_a_path_is_read_however_clients_write_it(self, written: object) -> None:
        by = root()
        der = question_der(certified(by), by.certificate, nonce=b"\xff" * 30)
        assert callable(written)

        assert parse_ocsp_path(written(der)) == parse_ocsp_question(der)

    @pytest.mark.parametrize("nonce", [b"", b"n" * 129])
    def test_a_nonce_of_another_size_is_refused(self, nonce: bytes) -> None:
        by = root()

        with pytest.raises(MalformedError, match="has 1 to 128 bytes"):
            parse_ocsp_question(question_der(certified(by), by.certificate, nonce=nonce))

    @pytest.mark.parametrize("path", ["", "%", "a b", "é", "AAAA", "%ff", "A" * (2 * MAX_QUESTION_BYTES + 1)])
    def test_a_path_that_is_no_question_is_refused(self, path: str) -> None:
        with pytest.raises(MalformedError):
            parse_ocsp_path(path)

    def test_a_long_question_is_refused(self) -> None:
        with pytest.raises(MalformedError, match="at most 2048 bytes"):
            parse_ocsp_question(b"\x30" * 2049)

    @given(st.lists(st.tuples(st.integers(0, 200), st.integers(0, 255)), min_size=1, max_size=6))
    def test_changed_bytes_raise_only_our_errors(self, changes: list[tuple[int, int]]) -> None:
        der = bytearray(_QUESTION)
        for place, byte in changes:
            der[place % len(der)] = byte
        try:
            question = parse_ocsp_question(bytes(der))
        except PkiError:
            return
        assert question.serial_number is not None

    @given(st.binary(max_size=500))
    def test_any_bytes_raise_only_our_errors(self, data: bytes) -> None:
        with pytest.raises(MalformedError):
            parse_ocsp_question(data)

    @given(st.text(max_size=200))
    def test_any_path_raises_only_our_errors(self, path: str) -> None:
        with pytest.raises(MalformedError):
            parse_ocsp_path(path)


def _some_question() -> bytes:
    by = root()
    return question_der(certified(by), by.certificate, nonce=b"n" * 32)


_QUESTION = _some_question()
