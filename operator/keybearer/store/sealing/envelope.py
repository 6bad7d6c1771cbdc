"""The bytes of one sealed text: AES-256-GCM, the name of its key in front, the row's identity bound in.

Layout: format (1 byte) | key id (16) | key version (4, big endian) | nonce (12) | ciphertext and tag.
The header is authenticated together with the identity of the record that holds the envelope, so that an
envelope moved to another row, or renamed to another key, doesn't open.

In format 1, a secret is bound to project, id and version. In format 2, it is bound to its key and folder too. A data
key that is wrapped in format 2 is strict: all rows of its project are under marks (see `tally`). The header is
authenticated, so nobody can turn one format into the other.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
import struct
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import NewType
from uuid import UUID

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from keybearer.base.errors import KeybearerError

__all__ = [
    "BARE",
    "BOUND",
    "HEADER_BYTES",
    "KEY_BYTES",
    "MARK_BYTES",
    "AlteredDatabaseError",
    "Ciphertext",
    "KeyName",
    "Plaintext",
    "SealingKey",
    "UnsealError",
    "WrappedKey",
    "associate",
    "format_of",
    "key_id_of",
    "key_name",
    "key_name_of",
    "new_key_material",
]

KeyName = NewType("KeyName", bytes)
"""Which key sealed an envelope: id (16 bytes) and version (4), as the envelope holds them."""
Plaintext = NewType("Plaintext", bytes)
Ciphertext = NewType("Ciphertext", bytes)
WrappedKey = NewType("WrappedKey", bytes)

KEY_BYTES = 32
MARK_BYTES = 32
BARE, BOUND = 1, 2
"""Formats 1 and 2: without and with a binding to the place, key and folder."""
_FORMATS = frozenset({BARE, BOUND})
_MARKS = b"keybearer marks of rows"
_VERSION = struct.Struct(">I")
HEADER_BYTES = 21
_NONCE_BYTES = 12
_TAG_BYTES = 16


class UnsealError(KeybearerError):
    """A sealed text doesn't open: another key, another record, or damaged bytes."""


class AlteredDatabaseError(UnsealError):
    """Rows were edited, moved, put back or removed without the service, which refuses them.

    Clients see the text: it names only ids, and says what to do.
    """


def key_name(key_id: UUID, version: int) -> KeyName:
    """Return the name of a key."""
    return KeyName(key_id.bytes + _VERSION.pack(version))


def key_id_of(name: KeyName) -> UUID:
    """Return the id in the name of a key."""
    return UUID(bytes=name[:16])


def new_key_material() -> bytes:
    """Return fresh random bytes for one AES-256 key."""
    return secrets.token_bytes(KEY_BYTES)


def associate(purpose: str, *parts: str | int) -> bytes:
    """Return associated data that names one record: each part with its length, so none can run together."""
    texts = [purpose, *map(str, parts)]
    return ",".join([f"{len(text)}:{text}" for text in texts]).encode()


def key_name_of(envelope: bytes) -> KeyName:
    """Return the name of the key that sealed this envelope.

    Raises:
        UnsealError: the bytes are no envelope of a known format.
    """
    if len(envelope) < HEADER_BYTES + _NONCE_BYTES + _TAG_BYTES:
        raise UnsealError("a sealed text is shorter than its header; the database is damaged")
    if envelope[0] not in _FORMATS:
        raise UnsealError(f"a sealed text has the unknown format {envelope[0]}; a newer version wrote it")
    return KeyName(envelope[1:HEADER_BYTES])


def format_of(envelope: bytes) -> int:
    """Return the format of an envelope, whose first byte it is."""
    return envelope[0]


@dataclass(frozen=True, slots=True)
class SealingKey:
    """One AES-256 key that is ready for use.

    Nonces are random: a key may seal 2**32 texts before it should be rotated (NIST SP 800-38D section 8.3).

    Attributes:
        name: the name of the key in its envelopes.
        is_strict: for a data key: its project is under marks, and it opens secrets only in the format `BOUND`.
    """

    name: KeyName
    _material: bytes = field(repr=False)
    is_strict: bool = False
    _cipher: AESGCM = field(init=False, repr=False, compare=False)
    _marking: hashlib.blake2b = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_cipher", AESGCM(self._material))
        derived = hmac.digest(self._material, _MARKS, "sha256")
        object.__setattr__(self, "_marking", hashlib.blake2b(key=derived, digest_size=MARK_BYTES))

    @property
    def material(self) -> bytes:
        """The raw key, for wrapping it under another."""
        return self._material

    def marks(self, texts: Iterable[bytes]) -> list[int]:
        """Return the mark of each text: its MAC of 256 bits, as a number.

        The MAC is keyed BLAKE2b (RFC 7693). Its key is derived from this one, and used for nothing else.
        """
        marks: list[int] = []
        copy, number = self._marking.copy, int.from_bytes
        for text in texts:
            keyed = copy()
            keyed.update(text)
            marks.append(number(keyed.digest()))
        return marks

    def seal(self, plaintext: Plaintext, identity: bytes, form: int = BARE) -> Ciphertext:
        """Return an envelope that only opens with this key and for the same identity (see `associate`)."""
        header = bytes([form]) + self.name
        nonce = secrets.token_bytes(_NONCE_BYTES)
        return Ciphertext(header + nonce + self._cipher.encrypt(nonce, plaintext, header + identity))

    def open(self, envelope: Ciphertext, identity: bytes) -> Plaintext:
        """Return what was sealed for this identity.

        Raises:
            UnsealError: the envelope belongs to another key or record, or was changed.
        """
        name = key_name_of(envelope)
        if name != self.name:
            raise UnsealError(f"a sealed text names key {key_id_of(name)}, not the one given")
        header, rest = envelope[:HEADER_BYTES], envelope[HEADER_BYTES:]
        try:
            opened = self._cipher.decrypt(rest[:_NONCE_BYTES], rest[_NONCE_BYTES:], header + identity)
        except InvalidTag as error:
            raise UnsealError("a sealed text doesn't open for the record that holds it") from error
        return Plaintext(opened)

    def wrap(self, key: SealingKey, identity: bytes) -> WrappedKey:
        """Return the other key sealed under this one."""
        return WrappedKey(self.seal(Plaintext(key.material), identity, BOUND if key.is_strict else BARE))

    def unwrap(self, wrapped: WrappedKey, name: KeyName, identity: bytes) -> SealingKey:
        """Return the key of that name which this one wrapped.

        Raises:
            UnsealError: another key wrapped it, or it was wrapped for another record.
        """
        return SealingKey(name, self.open(Ciphertext(wrapped), identity), format_of(wrapped) == BOUND)
