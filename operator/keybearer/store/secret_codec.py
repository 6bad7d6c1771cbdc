"""What of a secret is sealed, and what its envelopes are bound to."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import orjson

from keybearer.store.records import Metadata, SecretDetails
from keybearer.store.sealing.envelope import (
    Ciphertext,
    KeyName,
    Plaintext,
    SealingKey,
    associate,
    key_name_of,
)

__all__ = ["Sealed", "open_details", "open_value", "reseal", "seal_details", "seal_value"]

_NOTHING = SecretDetails()


@dataclass(frozen=True, slots=True)
class Sealed:
    """The record that an envelope belongs to."""

    project_id: str
    secret_id: str
    version: int

    def bound(self, purpose: str) -> bytes:
        """Return the associated data of one of its envelopes."""
        return associate(purpose, self.project_id, self.secret_id, self.version)


def reseal(
    keys: Mapping[KeyName, SealingKey],
    key: SealingKey,
    sealed: Sealed,
    value: bytes,
    details: bytes | None,
) -> tuple[Ciphertext, Ciphertext | None]:
    """Return the two envelopes of a secret, sealed with another key for the same record.

    Raises:
        UnsealError: one was changed, or belongs to another record.
    """

    def anew(envelope: bytes, purpose: str) -> Ciphertext:
        identity = sealed.bound(purpose)
        return key.seal(keys[key_name_of(envelope)].open(Ciphertext(envelope), identity), identity)

    return anew(value, "secret value"), None if details is None else anew(details, "secret details")


def seal_value(key: SealingKey, sealed: Sealed, value: str) -> Ciphertext:
    """Return the envelope of a secret's value."""
    return key.seal(Plaintext(value.encode()), sealed.bound("secret value"))


def open_value(keys: Mapping[KeyName, SealingKey], sealed: Sealed, envelope: bytes) -> str:
    """Return the value.

    Raises:
        UnsealError: the envelope was changed, or belongs to another record.
    """
    key = keys[key_name_of(envelope)]
    return key.open(Ciphertext(envelope), sealed.bound("secret value")).decode()


def seal_details(key: SealingKey, sealed: Sealed, details: SecretDetails) -> Ciphertext | None:
    """Return the envelope of what the secret carries beside its value, None for nothing."""
    if details == _NOTHING:
        return None
    document = {
        "comment": details.comment,
        "metadata": [[item.key, item.value, item.is_encrypted] for item in details.metadata],
        "reminder_note": details.reminder_note,
        "reminder_repeat_days": details.reminder_repeat_days,
        "reminder_recipients": details.reminder_recipients,
        "is_literal": details.is_literal,
    }
    return key.seal(Plaintext(orjson.dumps(document)), sealed.bound("secret details"))


def open_details(keys: Mapping[KeyName, SealingKey], sealed: Sealed, envelope: bytes | None) -> SecretDetails:
    """Return what the secret carries beside its value.

    Raises:
        UnsealError: the envelope was changed, or belongs to another record.
    """
    if envelope is None:
        return _NOTHING
    key = keys[key_name_of(envelope)]
    document = orjson.loads(key.open(Ciphertext(envelope), sealed.bound("secret details")))
    return SecretDetails(
        comment=document["comment"],
        metadata=tuple(Metadata(*item) for item in document["metadata"]),
        reminder_note=document["reminder_note"],
        reminder_repeat_days=document["reminder_repeat_days"],
        # Earlier versions had neither.
        reminder_recipients=tuple(document.get("reminder_recipients", ())),
        is_literal=document.get("is_literal", False),
    )
