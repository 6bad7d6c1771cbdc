"""What of a secret is sealed, and what its envelopes are bound to."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import orjson

from keybearer.store.records import Metadata, SecretDetails
from keybearer.store.sealing.envelope import (
    BARE,
    BOUND,
    AlteredDatabaseError,
    Ciphertext,
    KeyName,
    Plaintext,
    SealingKey,
    UnsealError,
    associate,
    format_of,
    key_name_of,
)

__all__ = ["Sealed", "open_details", "open_value", "reseal", "seal_details", "seal_value"]

_NOTHING = SecretDetails()
_VALUE, _DETAILS = "secret value", "secret details"


class Sealed(NamedTuple):
    """The record that an envelope belongs to: a version of a secret, with its key and folder at that time."""

    project_id: str
    secret_id: str
    version: int
    folder_id: str
    key: str

    def bound(self, purpose: str, form: int) -> bytes:
        """Return the associated data of one of its envelopes."""
        if form == BARE:
            return associate(purpose, self.project_id, self.secret_id, self.version)
        project_id, secret_id, number, folder_id, key = self
        version = str(number)
        # The same text as `associate` returns, but faster: a list opens thousands.
        return (
            f"{len(purpose)}:{purpose},{len(project_id)}:{project_id},{len(secret_id)}:{secret_id},"
            f"{len(version)}:{version},{len(folder_id)}:{folder_id},{len(key)}:{key}"
        ).encode()


def reseal(
    keys: Mapping[KeyName, SealingKey],
    key: SealingKey,
    sealed: Sealed,
    value: bytes,
    details: bytes | None,
    *,
    now: Sealed | None = None,
) -> tuple[Ciphertext, Ciphertext | None]:
    """Return the two envelopes of a secret, sealed with another key for the same record, or for the record `now`.

    Raises:
        UnsealError: one was changed, or belongs to another record.
    """
    to = now or sealed

    def anew(envelope: bytes, purpose: str) -> Ciphertext:
        return _sealed(key, to, _opened(keys, sealed, envelope, purpose), purpose)

    return anew(value, _VALUE), None if details is None else anew(details, _DETAILS)


def seal_value(key: SealingKey, sealed: Sealed, value: str) -> Ciphertext:
    """Return the envelope of a secret's value."""
    return _sealed(key, sealed, Plaintext(value.encode()), _VALUE)


def open_value(keys: Mapping[KeyName, SealingKey], sealed: Sealed, envelope: bytes) -> str:
    """Return the value.

    Raises:
        UnsealError: the envelope was changed, or belongs to another record.
    """
    return _opened(keys, sealed, envelope, _VALUE).decode()


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
    return _sealed(key, sealed, Plaintext(orjson.dumps(document)), _DETAILS)


def open_details(keys: Mapping[KeyName, SealingKey], sealed: Sealed, envelope: bytes | None) -> SecretDetails:
    """Return what the secret carries beside its value.

    Raises:
        UnsealError: the envelope was changed, or belongs to another record.
    """
    if envelope is None:
        return _NOTHING
    document = orjson.loads(_opened(keys, sealed, envelope, _DETAILS))
    return SecretDetails(
        comment=document["comment"],
        metadata=tuple(Metadata(*item) for item in document["metadata"]),
        reminder_note=document["reminder_note"],
        reminder_repeat_days=document["reminder_repeat_days"],
        # Earlier versions had neither.
        reminder_recipients=tuple(document.get("reminder_recipients", ())),
        is_literal=document.get("is_literal", False),
    )


def _sealed(key: SealingKey, sealed: Sealed, text: Plaintext, purpose: str) -> Ciphertext:
    # Replicas of an earlier version may still read a project whose key isn't strict, and know only this format.
    form = BOUND if key.is_strict else BARE
    return key.seal(text, sealed.bound(purpose, form), form)


def _opened(keys: Mapping[KeyName, SealingKey], sealed: Sealed, envelope: bytes, purpose: str) -> Plaintext:
    key, form = keys[key_name_of(envelope)], format_of(envelope)
    if form == BARE and key.is_strict:
        raise AlteredDatabaseError(
            f"Version {sealed.version} of secret {sealed.secret_id} was changed in the database without the "
            "service, which refuses it. Restore a backup"
        )
    try:
        return key.open(Ciphertext(envelope), sealed.bound(purpose, form))
    except UnsealError as error:
        raise UnsealError(f"version {sealed.version} of secret {sealed.secret_id}: {error}") from error
