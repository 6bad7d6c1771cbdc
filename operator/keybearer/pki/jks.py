"""Java key stores: the format of `sun.security.provider.JavaKeyStore`, version 2.

Written here, since no live library does: the format has not changed since 1998, and takes a hundred lines. Its way to
protect keys (SHA-1 and exclusive or) is weak. It is for readers that know no other; where the file is kept has to
protect it.
"""

from __future__ import annotations

import hashlib
import secrets
import struct
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime

from keybearer.pki.der import NULL, OCTET_STRING, SEQUENCE, element
from keybearer.pki.errors import KeystoreError

__all__ = ["JksEntry", "write_jks"]

_MAGIC, _VERSION = 0xFEEDFEED, 2
_KEY, _TRUSTED = 1, 2
_SALT_BYTES = 20
_PROTECTED_BY_SUN = bytes.fromhex("060a2b060104012a02110101")
"""The object identifier 1.3.6.1.4.1.42.2.17.1.1 as DER."""
_ALGORITHM = element(SEQUENCE, _PROTECTED_BY_SUN + element(NULL, b""))


@dataclass(frozen=True, slots=True)
class JksEntry:
    """One entry.

    Attributes:
        alias: its name; Java knows it in lower case.
        certificates: as DER, the leaf first; of a trusted one exactly one.
        key: as PKCS#8; None: the entry is a certificate that is trusted.
    """

    alias: str
    certificates: tuple[bytes, ...]
    key: bytes | None = field(default=None, repr=False)


def write_jks(entries: Sequence[JksEntry], password: str, created_at: datetime) -> bytes:
    """Return the store; its keys have the password of the store, as Java expects.

    Raises:
        KeystoreError: the password is empty.
    """
    secret = _password_bytes(password)
    parts = [struct.pack(">III", _MAGIC, _VERSION, len(entries))]
    stamp = struct.pack(">q", int(created_at.timestamp() * 1000))
    for entry in entries:
        head = struct.pack(">I", _TRUSTED if entry.key is None else _KEY) + _utf(entry.alias.lower()) + stamp
        certificates = [_utf("X.509") + _sized(one) for one in entry.certificates]
        if entry.key is None:
            parts += [head, *certificates]
        else:
            protected = element(SEQUENCE, _ALGORITHM + element(OCTET_STRING, _protect(entry.key, secret)))
            parts += [head, _sized(protected), struct.pack(">I", len(certificates)), *certificates]
    content = b"".join(parts)
    return content + _seal(content, secret)


def _protect(key: bytes, secret: bytes) -> bytes:
    salt = secrets.token_bytes(_SALT_BYTES)
    return salt + _crossed(key, secret, salt) + _sha1(secret + key)


def _crossed(data: bytes, secret: bytes, salt: bytes) -> bytes:
    stream = b""
    block = salt
    while len(stream) < len(data):
        block = _sha1(secret + block)
        stream += block
    return bytes(one ^ other for one, other in zip(data, stream, strict=False))


def _seal(content: bytes, secret: bytes) -> bytes:
    return _sha1(secret + b"Mighty Aphrodite" + content)


def _sha1(data: bytes) -> bytes:
    return hashlib.sha1(data, usedforsecurity=False).digest()


def _password_bytes(password: str) -> bytes:
    if not password:
        raise KeystoreError("a keystore needs a password")
    return password.encode("utf-16-be")


def _sized(data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + data


def _utf(text: str) -> bytes:
    packed = text.encode()
    return struct.pack(">H", len(packed)) + packed
