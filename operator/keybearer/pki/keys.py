"""Keys: made, read, written and recognized.

Making an RSA key takes from 30 ms to a second, signing with RSA-4096 a few milliseconds: not on an event loop.
Keys on NIST's curves and ML-DSA keys are made in well under a millisecond.
"""

from __future__ import annotations

import hashlib
from functools import cache

from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, mldsa, rsa
from cryptography.hazmat.primitives.asymmetric.types import (
    CertificateIssuerPrivateKeyTypes,
    CertificatePublicKeyTypes,
)
from cryptography.x509 import SubjectKeyIdentifier

from keybearer.base.certificate_terms import KeyAlgorithm, SignatureAlgorithm
from keybearer.pki.errors import MalformedError, UnsupportedAlgorithmError
from keybearer.pki.pem import written

__all__ = [
    "PrivateKey",
    "PublicKey",
    "default_signature_algorithm",
    "generate_private_key",
    "is_supported",
    "load_private_key",
    "load_public_key",
    "require_supported",
    "signature_hash",
]

_PRIVATE = (
    rsa.RSAPrivateKey,
    ec.EllipticCurvePrivateKey,
    mldsa.MLDSA44PrivateKey,
    mldsa.MLDSA65PrivateKey,
    mldsa.MLDSA87PrivateKey,
)
_MlDsa = type[mldsa.MLDSA44PrivateKey] | type[mldsa.MLDSA65PrivateKey] | type[mldsa.MLDSA87PrivateKey]
_RSA_SIZES = {2048: KeyAlgorithm.RSA_2048, 3072: KeyAlgorithm.RSA_3072, 4096: KeyAlgorithm.RSA_4096}
_CURVES: dict[str, KeyAlgorithm] = {
    "secp256r1": KeyAlgorithm.EC_P256,
    "secp384r1": KeyAlgorithm.EC_P384,
    "secp521r1": KeyAlgorithm.EC_P521,
}
_ML_DSA: dict[KeyAlgorithm, _MlDsa] = {
    KeyAlgorithm.ML_DSA_44: mldsa.MLDSA44PrivateKey,
    KeyAlgorithm.ML_DSA_65: mldsa.MLDSA65PrivateKey,
    KeyAlgorithm.ML_DSA_87: mldsa.MLDSA87PrivateKey,
}
_ML_DSA_PUBLIC: tuple[tuple[type, KeyAlgorithm], ...] = (
    (mldsa.MLDSA44PublicKey, KeyAlgorithm.ML_DSA_44),
    (mldsa.MLDSA65PublicKey, KeyAlgorithm.ML_DSA_65),
    (mldsa.MLDSA87PublicKey, KeyAlgorithm.ML_DSA_87),
)
_PUBLIC_EXPONENT = 65537
_MAX_EXPONENT = 2**31 - 1
"""What other software reads; a signature takes the longer to check the greater the exponent is."""
_MAX_KEY_BYTES = 32 * 1024
_HASHES: dict[str, hashes.HashAlgorithm] = {
    "SHA256": hashes.SHA256(),
    "SHA384": hashes.SHA384(),
    "SHA512": hashes.SHA512(),
}


class PublicKey:
    """A public key of a kind we know. Equal where it is the same key."""

    __slots__ = ("_der", "_key", "algorithm")

    def __init__(self, key: CertificatePublicKeyTypes) -> None:
        """Take a key of `cryptography`; other packages get theirs from a request, a certificate or a private key.

        Raises:
            UnsupportedAlgorithmError: no word of `KeyAlgorithm` names such a key.
        """
        self.algorithm = _algorithm_of(key)
        self._key = key
        self._der: bytes | None = None

    @property
    def key(self) -> CertificatePublicKeyTypes:
        """The key of `cryptography`, for this package alone."""
        return self._key

    @property
    def der(self) -> bytes:
        """The SubjectPublicKeyInfo."""
        if self._der is None:
            self._der = self._key.public_bytes(
                serialization.Encoding.DER, serialization.PublicFormat.SubjectPublicKeyInfo
            )
        return self._der

    @property
    def fingerprint(self) -> str:
        """SHA-256 of the SubjectPublicKeyInfo, in lower-case hex."""
        return hashlib.sha256(self.der).hexdigest()

    @property
    def identifier(self) -> bytes:
        """The key identifier of RFC 5280 section 4.2.1.2, method 1."""
        return SubjectKeyIdentifier.from_public_key(self._key).digest

    def pem(self) -> str:
        """Return it as text."""
        return written("PUBLIC KEY", self.der)

    def __eq__(self, other: object) -> bool:
        return self.der == other.der if isinstance(other, PublicKey) else NotImplemented

    def __hash__(self) -> int:
        return hash(self.der)

    def __repr__(self) -> str:
        return f"PublicKey({self.algorithm.value}, {self.fingerprint[:16]})"


class PrivateKey:
    """A private key of a kind we know. Nothing of it shows but by `pem` and `der`."""

    __slots__ = ("_key", "_public")

    def __init__(self, key: CertificateIssuerPrivateKeyTypes) -> None:
        """Take a key of `cryptography`; other packages have `generate_private_key` and `load_private_key`.

        Raises:
            UnsupportedAlgorithmError: no word of `KeyAlgorithm` names such a key.
        """
        self._key = key
        self._public = PublicKey(key.public_key())

    @property
    def key(self) -> CertificateIssuerPrivateKeyTypes:
        """The key of `cryptography`, for this package alone."""
        return self._key

    @property
    def algorithm(self) -> KeyAlgorithm:
        """Its kind and size."""
        return self._public.algorithm

    @property
    def public_key(self) -> PublicKey:
        """Its other half."""
        return self._public

    def der(self) -> bytes:
        """Return it as PKCS#8, unencrypted."""
        return self._key.private_bytes(
            serialization.Encoding.DER, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
        )

    def pem(self) -> str:
        """Return it as the text of PKCS#8, unencrypted."""
        return written("PRIVATE KEY", self.der())

    def __repr__(self) -> str:
        return f"PrivateKey({self.algorithm.value})"


def generate_private_key(algorithm: KeyAlgorithm) -> PrivateKey:
    """Return a fresh key.

    Raises:
        UnsupportedAlgorithmError: keys of this kind can't be made here.
    """
    require_supported(algorithm)
    match algorithm:
        case KeyAlgorithm.RSA_2048 | KeyAlgorithm.RSA_3072 | KeyAlgorithm.RSA_4096:
            bits = next(bits for bits, named in _RSA_SIZES.items() if named is algorithm)
            return PrivateKey(rsa.generate_private_key(_PUBLIC_EXPONENT, bits))
        case KeyAlgorithm.EC_P256:
            return PrivateKey(ec.generate_private_key(ec.SECP256R1()))
        case KeyAlgorithm.EC_P384:
            return PrivateKey(ec.generate_private_key(ec.SECP384R1()))
        case KeyAlgorithm.EC_P521:
            return PrivateKey(ec.generate_private_key(ec.SECP521R1()))
        case _:
            return PrivateKey(_ML_DSA[algorithm].generate())


def load_private_key(data: str | bytes) -> PrivateKey:
    """Return the key that is written there: PEM or DER; PKCS#8, PKCS#1 or SEC 1; not encrypted.

    Raises:
        MalformedError: there is no such key.
        UnsupportedAlgorithmError: it is of a kind that isn't used here.
    """
    packed = data.encode() if isinstance(data, str) else data
    if len(packed) > _MAX_KEY_BYTES:
        raise MalformedError(f"a private key has at most {_MAX_KEY_BYTES} bytes")
    load = (
        serialization.load_pem_private_key if b"-----BEGIN" in packed else serialization.load_der_private_key
    )
    # What the library says may hold parts of the input, so none of it is passed on.
    try:
        # Its check of RSA keys tests for primes, which takes up to a second; ours below takes microseconds.
        key = load(packed, None, unsafe_skip_rsa_key_validation=True)
    except TypeError:
        raise MalformedError("the private key is encrypted; it must be given unencrypted") from None
    except UnsupportedAlgorithm:
        raise UnsupportedAlgorithmError("the private key is of a kind that isn't supported") from None
    except ValueError:
        raise MalformedError(
            "that is no private key: PKCS#8, PKCS#1 or SEC 1 is read, as PEM or DER"
        ) from None
    if not isinstance(key, _PRIVATE):
        raise UnsupportedAlgorithmError("the private key isn't RSA, ML-DSA or on one of NIST's curves")
    loaded = PrivateKey(key)
    if isinstance(key, rsa.RSAPrivateKey) and not _is_consistent(key.private_numbers()):
        raise MalformedError("the numbers of the RSA key don't belong together")
    return loaded


def load_public_key(der: bytes) -> PublicKey:
    """Return the key of a SubjectPublicKeyInfo.

    Raises:
        MalformedError: there is no such key.
        UnsupportedAlgorithmError: it is of a kind that isn't used here.
    """
    try:
        return PublicKey(serialization.load_der_public_key(der))  # type: ignore[arg-type]
    except UnsupportedAlgorithm as error:
        raise UnsupportedAlgorithmError("the public key is of a kind that isn't supported") from error
    except ValueError as error:
        raise MalformedError("that is no public key") from error


def require_supported(algorithm: KeyAlgorithm) -> None:
    """Raise UnsupportedAlgorithmError where keys of this kind can't be made."""
    if not is_supported(algorithm):
        raise UnsupportedAlgorithmError(f"{algorithm.value} keys aren't supported by this build")


@cache
def is_supported(algorithm: KeyAlgorithm) -> bool:
    """Return whether keys of this kind can be made: SLH-DSA can't, ML-DSA where the linked library has it."""
    if algorithm.is_rsa or algorithm.is_elliptic:
        return True
    made = _ML_DSA.get(algorithm)
    if made is None:
        return False
    try:
        made.generate()
    except UnsupportedAlgorithm:
        return False
    return True


def default_signature_algorithm(algorithm: KeyAlgorithm) -> SignatureAlgorithm:
    """Return how a key of this kind signs unless told otherwise: with the hash that is as strong as it is."""
    match algorithm:
        case KeyAlgorithm.RSA_2048 | KeyAlgorithm.RSA_3072 | KeyAlgorithm.RSA_4096:
            return SignatureAlgorithm.RSA_SHA256
        case KeyAlgorithm.EC_P256:
            return SignatureAlgorithm.ECDSA_SHA256
        case KeyAlgorithm.EC_P384:
            return SignatureAlgorithm.ECDSA_SHA384
        case KeyAlgorithm.EC_P521:
            return SignatureAlgorithm.ECDSA_SHA512
        case _:
            return SignatureAlgorithm(algorithm.value)


def signature_hash(
    algorithm: KeyAlgorithm, signature: SignatureAlgorithm | None
) -> hashes.HashAlgorithm | None:
    """Return the hash with which a key of that kind makes such a signature; None where it brings its own.

    Raises:
        UnsupportedAlgorithmError: such a key makes no such signature.
    """
    signature = signature or default_signature_algorithm(algorithm)
    family, _, digest = signature.value.partition("-")
    if (algorithm.is_rsa and family == "RSA") or (algorithm.is_elliptic and family == "ECDSA"):
        return _HASHES[digest]
    if signature.value != algorithm.value:
        raise UnsupportedAlgorithmError(f"an {algorithm.value} key can't sign with {signature.value}")
    return None


def _is_consistent(numbers: rsa.RSAPrivateNumbers) -> bool:
    """Return whether the parts of an RSA key follow from one another (RFC 8017 section 3.2).

    That its factors are prime isn't looked at: where they aren't, its own signatures don't verify.
    """
    p, q, d = numbers.p, numbers.q, numbers.d
    public = numbers.public_numbers
    return (
        min(p, q) > 2
        and p * q == public.n
        and 1 < d < public.n
        and public.e * d % (p - 1) == 1
        and public.e * d % (q - 1) == 1
        and numbers.dmp1 == d % (p - 1)
        and numbers.dmq1 == d % (q - 1)
        and numbers.iqmp < p
        and numbers.iqmp * q % p == 1
    )


def _algorithm_of(key: object) -> KeyAlgorithm:
    if isinstance(key, ec.EllipticCurvePublicKey):
        curve = _CURVES.get(key.curve.name)
        if curve is None:
            raise UnsupportedAlgorithmError(
                f"keys on the curve {key.curve.name} aren't supported; use P-256, P-384 or P-521"
            )
        return curve
    if isinstance(key, rsa.RSAPublicKey):
        size = _RSA_SIZES.get(key.key_size)
        if size is None:
            raise UnsupportedAlgorithmError(
                f"an RSA key has 2048, 3072 or 4096 bits, this one has {key.key_size}"
            )
        if not _PUBLIC_EXPONENT <= key.public_numbers().e <= _MAX_EXPONENT:
            raise UnsupportedAlgorithmError(
                "the public exponent of an RSA key is 65537 (FIPS 186-5), or a little more"
            )
        return size
    for kind, algorithm in _ML_DSA_PUBLIC:
        if isinstance(key, kind):
            return algorithm
    raise UnsupportedAlgorithmError(
        f"keys of kind {type(key).__name__.removesuffix('PublicKey')} aren't supported"
    )
