"""Keystores: a key with its chain, or certificates that are trusted, in the forms that Java and Windows read.

Salts make every store different. Nothing here opens one: how long that takes is up to who wrote it. PKCS#12 derives
its keys slowly on purpose: writing a store takes 5 ms, a legacy one 20 ms.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.serialization import KeySerializationEncryption, PrivateFormat, pkcs12

from keybearer.pki.certificates import Certificate, load_certificates
from keybearer.pki.errors import KeystoreError
from keybearer.pki.jks import JksEntry, write_jks
from keybearer.pki.keys import PrivateKey

__all__ = ["Keystore", "Pkcs12Encryption", "jks_of", "pkcs12_of"]

_ROUNDS = 10_000
"""What Java's own tools use. Who can read the store can mostly read its password, too."""


class Pkcs12Encryption(StrEnum):
    """How a PKCS#12 store is encrypted."""

    MODERN = "modern"
    """AES-256 with PBKDF2, sealed by HMAC with SHA-256: Java 8u301 and later, OpenSSL 1.1 and later, Windows 2019."""
    LEGACY = "legacy"
    """Triple DES, sealed by HMAC with SHA-1: everything that is older."""


@dataclass(frozen=True, slots=True)
class Keystore:
    """What a store holds.

    Attributes:
        alias: the name of its entry; of several trusted certificates the others have numbers behind it.
        certificates: with a key its chain, the leaf first; without one those that are trusted. At least one.
        key: None in a store of trusted certificates.
    """

    alias: str
    certificates: tuple[Certificate, ...]
    key: PrivateKey | None = None

    def aliases(self) -> Iterator[str]:
        """Yield the names of trusted certificates: x, x-1, x-2."""
        for place in range(len(self.certificates)):
            yield self.alias if place == 0 else f"{self.alias}-{place}"


def pkcs12_of(
    store: Keystore, password: str, encryption: Pkcs12Encryption = Pkcs12Encryption.MODERN
) -> bytes:
    """Return the store as PKCS#12 (RFC 7292).

    Raises:
        KeystoreError: the password is empty, or the key is of a kind that can't be kept so.
    """
    how = _encryption(password, encryption)
    loaded = load_certificates(store.certificates)
    try:
        if store.key is None:
            return pkcs12.serialize_java_truststore(
                [
                    pkcs12.PKCS12Certificate(one, alias.encode())
                    for one, alias in zip(loaded, store.aliases(), strict=True)
                ],
                how,
            )
        return pkcs12.serialize_key_and_certificates(
            store.alias.encode(),
            store.key.key,  # type: ignore[arg-type]
            loaded[0],
            loaded[1:],
            how,
        )
    except (TypeError, ValueError) as error:
        raise KeystoreError(f"no PKCS#12 store can be made of this: {error}") from error


def jks_of(store: Keystore, password: str, created_at: datetime) -> bytes:
    """Return the store as Java key store.

    Args:
        store: what it holds.
        password: of the store and its key.
        created_at: shown by Java's tools.

    Raises:
        KeystoreError: the password is empty.
    """
    chain = tuple(one.der for one in store.certificates)
    if store.key is not None:
        entries = [JksEntry(store.alias, chain, store.key.der())]
    else:
        entries = [JksEntry(alias, (der,)) for der, alias in zip(chain, store.aliases(), strict=True)]
    return write_jks(entries, password, created_at)


def _encryption(password: str, encryption: Pkcs12Encryption) -> KeySerializationEncryption:
    if not password:
        raise KeystoreError("a keystore needs a password")
    builder = PrivateFormat.PKCS12.encryption_builder().kdf_rounds(_ROUNDS)
    match encryption:
        case Pkcs12Encryption.MODERN:
            builder = builder.key_cert_algorithm(pkcs12.PBES.PBESv2SHA256AndAES256CBC).hmac_hash(
                hashes.SHA256()
            )
        case Pkcs12Encryption.LEGACY:
            builder = builder.key_cert_algorithm(pkcs12.PBES.PBESv1SHA1And3KeyTripleDESCBC).hmac_hash(
                hashes.SHA1()  # noqa: S303 - what can't read AES can't read SHA-256 either
            )
    return builder.build(password.encode())
