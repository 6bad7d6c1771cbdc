"""Signing requests that are none, or hold what nobody expects: refused over HTTP, never a failure of the service."""

from __future__ import annotations

import base64
import textwrap
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa
from cryptography.x509.oid import NameOID
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from keybearer.base.certificate_terms import KeyAlgorithm
from keybearer.pki.keys import generate_private_key
from support.issuing_house import ALL, IssuingHouse, csr_of
from support.rows import each_row
from support.service_fixtures import Service

_CORPUS = sorted((Path(__file__).resolve().parents[2] / "corpus/signing_requests/accepted").glob("*.pem"))
_REASONED = {
    "authority": "is denied",
    "every_extension": "extended key usages that can't be signed",
    "names_without_words": "alternative names of kinds that can't be signed",
}
"""What the policy or wire.md has no word for, and so is told rather than dropped."""
_KEY = generate_private_key(KeyAlgorithm.EC_P256)
_GOOD = csr_of("a.example.com", common_name="a", key=_KEY)
_DER = base64.b64decode("".join(_GOOD.splitlines()[1:-1]))


@pytest.fixture(scope="module")
def houses() -> dict[str, IssuingHouse]:
    return {}


@pytest.fixture
def house(service: Service, houses: dict[str, IssuingHouse]) -> IssuingHouse:
    """Return one house for each service: thousands of requests are sent to it."""
    if service.url not in houses:
        houses[service.url] = IssuingHouse.build(service)
    return houses[service.url]


def _pem(der: bytes, label: str = "CERTIFICATE REQUEST") -> str:
    packed = "\n".join(textwrap.wrap(base64.b64encode(der).decode(), 64))
    return f"-----BEGIN {label}-----\n{packed}\n-----END {label}-----\n"


def _mutated(changes: list[tuple[int, int]], cut: int) -> bytes:
    mutated = bytearray(_DER)
    for at, value in changes:
        mutated[at % len(mutated)] = value
    return bytes(mutated[: len(mutated) - cut])


_CHANGES = st.lists(st.tuples(st.integers(0, 600), st.integers(0, 255)), max_size=4)
_MALFORMED = st.one_of(
    st.text(max_size=400),
    st.builds(_pem, st.binary(max_size=600)),
    st.builds(_pem, st.builds(_mutated, _CHANGES, st.integers(0, 60))),
    st.builds(
        _pem, st.just(_DER), st.sampled_from(["CERTIFICATE", "PUBLIC KEY", "NEW CERTIFICATE REQUEST", ""])
    ),
    st.builds(lambda depth: _pem(b"\x30\x80" * depth), st.integers(1, 1400)),
    st.builds(lambda times: _GOOD * times, st.integers(2, 6)),
)


@settings(
    max_examples=80,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(csr=_MALFORMED)
def test_no_signing_request_breaks_the_service(house: IssuingHouse, csr: str) -> None:
    body = {"profileId": house.profile_id, "csr": csr, "attributes": {"ttl": "1h"}}
    answer = house.client.post(ALL, json=body)
    # What was changed in places that nobody signs may still be a good request; an empty text counts as none.
    assert answer.status_code in (200, 400, 422)


def _built(
    key: ec.EllipticCurvePrivateKey | ed25519.Ed25519PrivateKey | rsa.RSAPrivateKey,
    *extensions: x509.ExtensionType,
) -> str:
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "a")])
    builder = x509.CertificateSigningRequestBuilder(subject)
    for extension in extensions:
        builder = builder.add_extension(extension, critical=False)
    digest = None if isinstance(key, ed25519.Ed25519PrivateKey) else hashes.SHA256()
    return builder.sign(key, digest).public_bytes(serialization.Encoding.PEM).decode()


def _names(*names: x509.GeneralName) -> x509.SubjectAlternativeName:
    return x509.SubjectAlternativeName(names)


_EC = ec.generate_private_key(ec.SECP256R1())


@each_row(
    ("csr", "words"),
    [
        pytest.param(
            _built(ed25519.Ed25519PrivateKey.generate()), "Ed25519", id="a kind of key without a word"
        ),
        pytest.param(
            _built(rsa.generate_private_key(65537, 1024)),  # noqa: S505 - it is to be refused
            "2048",
            id="a short RSA key",
        ),
        pytest.param(_built(ec.generate_private_key(ec.SECP256K1())), "P-256", id="another curve"),
        pytest.param(
            _built(_EC, _names(x509.RegisteredID(x509.ObjectIdentifier("1.2.3")))),
            "kinds that can't",
            id="an odd name",
        ),
        pytest.param(
            _built(_EC, x509.ExtendedKeyUsage([x509.ObjectIdentifier("1.2.3.4")])),
            "1.2.3.4",
            id="an odd usage",
        ),
        pytest.param(_built(_EC, _names(x509.DNSName("a b"))), "isn't a host name", id="no host"),
    ],
)
def test_what_cannot_be_signed_is_told(house: IssuingHouse, csr: str, words: str) -> None:
    assert words in house.issue({"ttl": "1h"}, csr=csr, status=400)["message"]


@pytest.mark.parametrize(("length", "status"), [(4096, 400), (4097, 422)])
def test_the_length_of_a_signing_request_is_bounded(house: IssuingHouse, length: int, status: int) -> None:
    body = {"profileId": house.profile_id, "csr": "x" * length, "attributes": {"ttl": "1h"}}
    house.client.json("POST", ALL, json=body, status=status)


@each_row("csr", _CORPUS, ids=lambda path: path.stem)
def test_what_a_real_tool_asks_for_is_issued_or_told_why_not(house: IssuingHouse, csr: Path) -> None:
    given = csr.read_text(encoding="utf-8")
    attributes = {"ttl": "1d"}
    if csr.stem in _REASONED:
        assert _REASONED[csr.stem] in house.issue(attributes, csr=given, status=400)["message"]
        return
    issued = house.issue(attributes, csr=given)["certificate"]
    asked = x509.load_pem_x509_csr(given[given.index("-----BEGIN") :].encode())
    made = x509.load_pem_x509_certificate(issued["certificate"].encode())
    assert made.public_key() == asked.public_key()
