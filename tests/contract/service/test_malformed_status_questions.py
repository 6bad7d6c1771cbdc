"""Questions of OCSP that are none, or hold what nobody expects: answered in its own words, never a failure."""

from __future__ import annotations

import base64
from urllib.parse import quote

import pytest
from cryptography import x509
from cryptography.hazmat.primitives.hashes import SHA1
from cryptography.hazmat.primitives.serialization import Encoding
from cryptography.x509 import ocsp
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from support.pki_house import PKI, pki_of
from support.service_fixtures import Service

_STATUS = ocsp.OCSPResponseStatus


class Asked:
    """An authority, and a good question about its own certificate."""

    def __init__(self, service: Service) -> None:
        pki = pki_of(service)
        authority = pki.authority()
        shown = pki.call("GET", f"/ca/internal/{authority['id']}/certificate")["certificate"]
        own = x509.load_pem_x509_certificate(shown.encode())
        builder = ocsp.OCSPRequestBuilder().add_certificate(own, own, SHA1())  # noqa: S303 - as clients do
        self.good = (
            builder.add_extension(x509.OCSPNonce(b"n" * 32), critical=False)
            .build()
            .public_bytes(Encoding.DER)
        )
        self.path = f"{PKI}/ocsp/{authority['configuration']['activeCaCertId']}"
        self.client = service.client()

    def both(self, der: bytes) -> list[ocsp.OCSPResponse]:
        """Return the answers by POST and by GET; each is one of OCSP."""
        answers = [
            self.client.post(self.path, content=der),
            self.client.get(f"{self.path}/{quote(base64.b64encode(der).decode(), safe='')}"),
        ]
        for answer in answers:
            assert answer.status_code == 200, answer.text
            assert answer.headers["content-type"] == "application/ocsp-response"
        return [ocsp.load_der_ocsp_response(answer.content) for answer in answers]


@pytest.fixture(scope="module")
def kept() -> dict[str, Asked]:
    return {}


@pytest.fixture
def asked(service: Service, kept: dict[str, Asked]) -> Asked:
    """Return one authority for each service."""
    if service.url not in kept:
        kept[service.url] = Asked(service)
    return kept[service.url]


_BOUNDED = settings(
    max_examples=100,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)


@_BOUNDED
@given(
    changes=st.lists(st.tuples(st.integers(0, 400), st.integers(0, 255)), max_size=4),
    cut=st.integers(0, 60),
    more=st.binary(max_size=20),
)
def test_a_question_that_was_changed_is_answered_or_refused(
    asked: Asked, changes: list[tuple[int, int]], cut: int, more: bytes
) -> None:
    mutated = bytearray(asked.good)
    for at, value in changes:
        mutated[at % len(mutated)] = value
    for answer in asked.both(bytes(mutated[: len(mutated) - cut]) + more):
        assert answer.response_status in (
            _STATUS.SUCCESSFUL,
            _STATUS.MALFORMED_REQUEST,
            _STATUS.UNAUTHORIZED,
        )


@_BOUNDED
@given(
    der=st.one_of(
        st.binary(min_size=1, max_size=2500),
        st.builds(lambda depth: b"\x30\x80" * depth, st.integers(1, 1200)),
        st.builds(lambda length: b"\x30\x84" + length.to_bytes(4, "big"), st.integers(0, 2**32 - 1)),
    )
)
def test_what_is_no_question_is_refused(asked: Asked, der: bytes) -> None:
    assert {answer.response_status for answer in asked.both(der)} == {_STATUS.MALFORMED_REQUEST}


@_BOUNDED
@given(path=st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=200))
def test_no_path_breaks_the_service(asked: Asked, path: str) -> None:
    answer = asked.client.get(f"{asked.path}/{quote(path, safe='')}")
    assert answer.status_code < 500


@pytest.mark.parametrize("number", [-(2**159), -1, 0, 1, 2**159, 2**160, 2**700])
def test_a_number_that_was_never_given_is_unknown_or_no_question(asked: Asked, number: int) -> None:
    for answer in asked.both(_questions(_about(asked.good, number))):
        if answer.response_status is _STATUS.SUCCESSFUL:
            assert answer.certificate_status is ocsp.OCSPCertStatus.UNKNOWN
            assert answer.serial_number == number
        else:
            assert answer.response_status is _STATUS.MALFORMED_REQUEST


def test_a_question_whose_base64_ends_with_a_slash_is_read_whole(asked: Asked) -> None:
    der = _questions(_about(asked.good, 2**158 - 1))
    packed = base64.b64encode(der).decode()
    assert packed.endswith("/")
    plain = ocsp.load_der_ocsp_response(asked.client.get(f"{asked.path}/{packed}").content)
    answers = [*asked.both(der), plain]
    assert {one.response_status for one in answers} == {_STATUS.SUCCESSFUL}
    assert {one.certificate_status for one in answers} == {ocsp.OCSPCertStatus.UNKNOWN}


def test_a_question_about_two_certificates_is_refused(asked: Asked) -> None:
    own = _about(asked.good, ocsp.load_der_ocsp_request(asked.good).serial_number)
    assert {one.certificate_status for one in asked.both(_questions(own))} == {ocsp.OCSPCertStatus.GOOD}
    twice = _questions(own, own)
    assert {answer.response_status for answer in asked.both(twice)} == {_STATUS.MALFORMED_REQUEST}


def _about(good: bytes, number: int) -> bytes:
    """Return the request within a question that names the same issuer, and this number (RFC 6960 section 4.1.1)."""
    read = ocsp.load_der_ocsp_request(good)
    sha1 = _tagged(0x30, bytes.fromhex("06052b0e03021a") + b"\x05\x00")
    hashes = _tagged(0x04, read.issuer_name_hash) + _tagged(0x04, read.issuer_key_hash)
    octets = number.to_bytes(number.bit_length() // 8 + 1, "big", signed=True)
    return _tagged(0x30, _tagged(0x30, sha1 + hashes + _tagged(0x02, octets)))


def _questions(*requests: bytes) -> bytes:
    return _tagged(0x30, _tagged(0x30, _tagged(0x30, b"".join(requests))))


def _tagged(tag: int, content: bytes) -> bytes:
    length = len(content)
    size = bytes([length]) if length < 128 else bytes([0x81, length])
    return bytes([tag]) + size + content
