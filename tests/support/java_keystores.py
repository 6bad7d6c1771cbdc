"""Reads Java key stores, for tests: by itself, so that it shares no mistake with what writes them.

Held against a store that Java's own tool wrote (`tests/corpus/keystores`).
"""

from __future__ import annotations

import hashlib
import io
import struct

from keybearer.pki.jks import JksEntry

__all__ = ["read_jks"]


def read_jks(store: bytes, password: str) -> tuple[JksEntry, ...]:
    """Return the entries of a store whose keys have its own password."""
    secret = b"".join(struct.pack(">H", ord(character)) for character in password)
    digest = hashlib.sha1(usedforsecurity=False)
    for part in (secret, b"Mighty Aphrodite", store[:-20]):
        digest.update(part)
    assert digest.digest() == store[-20:], "another password, or changed"

    stream = io.BytesIO(store[:-20])
    magic, version, count = struct.unpack(">III", stream.read(12))
    assert (magic, version) == (0xFEEDFEED, 2)
    entries = []
    for _ in range(count):
        (tag,) = struct.unpack(">I", stream.read(4))
        alias = _text(stream)
        stream.read(8)
        if tag == 2:
            entries.append(JksEntry(alias, (_certificate(stream),)))
            continue
        assert tag == 1
        key = _opened(_sized(stream), secret)
        (length,) = struct.unpack(">I", stream.read(4))
        entries.append(JksEntry(alias, tuple(_certificate(stream) for _ in range(length)), key))
    assert stream.read() == b""
    return tuple(entries)


def _text(stream: io.BytesIO) -> str:
    (size,) = struct.unpack(">H", stream.read(2))
    return stream.read(size).decode()


def _sized(stream: io.BytesIO) -> bytes:
    (size,) = struct.unpack(">I", stream.read(4))
    return stream.read(size)


def _certificate(stream: io.BytesIO) -> bytes:
    assert _text(stream) == "X.509"
    return _sized(stream)


def _opened(envelope: bytes, secret: bytes) -> bytes:
    """Return the key in an EncryptedPrivateKeyInfo: what follows the algorithm and the head of its octets."""
    algorithm = bytes.fromhex("300e060a2b060104012a021101010500")
    octets = envelope[envelope.index(algorithm) + len(algorithm) :]
    assert octets[0] == 0x04
    octets = octets[2:] if octets[1] < 0x80 else octets[2 + (octets[1] & 0x7F) :]
    salt, hidden, check = octets[:20], octets[20:-20], octets[-20:]
    key = bytearray()
    block = salt
    for start in range(0, len(hidden), 20):
        block = hashlib.sha1(secret + block, usedforsecurity=False).digest()
        key += bytes(one ^ other for one, other in zip(hidden[start : start + 20], block, strict=False))
    assert hashlib.sha1(secret + key, usedforsecurity=False).digest() == check
    return bytes(key)
