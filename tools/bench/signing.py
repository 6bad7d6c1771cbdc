"""The floor of issuance: certificates built and signed by `cryptography` alone, one after the other, in one process.

`python -m tools.bench.signing SECONDS` is a program of its own, so that it shares no processor time with the harness.
Each certificate is for an EC P-256 key that is there already, says what those of the rows say, and is signed with a
key of the same kind. Nothing is asked for over HTTP, checked, or kept. It prints its result as JSON.
"""

from __future__ import annotations

import asyncio
import os
import sys
import time
from dataclasses import asdict, dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

import orjson
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from tools.bench.errors import BenchError

__all__ = ["HOST", "Signer", "SigningResult", "bare_signing", "main", "signing_request"]

HOST = "www.example.com"
_ROOT = Path(__file__).parents[2]
_LIFETIME = timedelta(days=30)


@dataclass(frozen=True, slots=True)
class SigningResult:
    """What one process did.

    Attributes:
        signed: certificates.
        seconds: that it took.
        cpu_seconds: of it.
    """

    signed: int
    seconds: float
    cpu_seconds: float

    @property
    def per_second(self) -> float:
        """Return the rate."""
        return self.signed / self.seconds


def signing_request() -> str:
    """Return a request for a fresh EC P-256 key and one name, as PEM."""
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, HOST)])
    builder = x509.CertificateSigningRequestBuilder(name).add_extension(
        x509.SubjectAlternativeName([x509.DNSName(HOST)]), critical=False
    )
    request = builder.sign(ec.generate_private_key(ec.SECP256R1()), hashes.SHA256())
    return request.public_bytes(serialization.Encoding.PEM).decode()


async def bare_signing(seconds: float) -> SigningResult:
    """Return what a process of its own did in that time.

    Raises:
        BenchError: it failed; what it says about that stands above.
    """
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "tools.bench.signing", str(seconds)),
        stdout=asyncio.subprocess.PIPE,
        env={"PATH": os.defpath, "PYTHONPATH": str(_ROOT)},
    )
    printed, _ = await process.communicate()
    if process.returncode != 0:
        msg = f"bare signing ended with status {process.returncode}; what it says about that stands above"
        raise BenchError(msg)
    return SigningResult(**orjson.loads(printed))


class Signer:
    """Signs one certificate after the other."""

    def __init__(self) -> None:
        self._key = ec.generate_private_key(ec.SECP256R1())
        self._leaf_key = ec.generate_private_key(ec.SECP256R1()).public_key()
        self._issuer = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "Bench")])
        self._subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, HOST)])
        self._usage = x509.KeyUsage(
            digital_signature=True,
            content_commitment=False,
            key_encipherment=False,
            data_encipherment=False,
            key_agreement=False,
            key_cert_sign=False,
            crl_sign=False,
            encipher_only=False,
            decipher_only=False,
        )

    def sign(self) -> bytes:
        """Return a new certificate."""
        now = datetime.now(UTC)
        public = self._key.public_key()
        builder = (
            x509.CertificateBuilder(self._issuer, self._subject, self._leaf_key)
            .serial_number(x509.random_serial_number())
            .not_valid_before(now)
            .not_valid_after(now + _LIFETIME)
            .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
            .add_extension(self._usage, critical=True)
            .add_extension(x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH]), critical=False)
            .add_extension(x509.SubjectAlternativeName([x509.DNSName(HOST)]), critical=False)
            .add_extension(x509.SubjectKeyIdentifier.from_public_key(self._leaf_key), critical=False)
            .add_extension(x509.AuthorityKeyIdentifier.from_issuer_public_key(public), critical=False)
        )
        return builder.sign(self._key, hashes.SHA256()).public_bytes(serialization.Encoding.PEM)


def main() -> None:
    """Print the result of one run, as JSON."""
    lasts = float(sys.argv[1])
    signer, signed = Signer(), 0
    signer.sign()
    cpu_before, started = time.process_time(), time.perf_counter()
    while time.perf_counter() - started < lasts:
        signer.sign()
        signed += 1
    result = SigningResult(signed, time.perf_counter() - started, time.process_time() - cpu_before)
    print(orjson.dumps(asdict(result)).decode())


if __name__ == "__main__":
    main()
