"""Changes of secrets as requests ask for them, and what becomes of a secret by one."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import TypeVar

from keybearer.domain.errors import InvalidError
from keybearer.domain.secrets.questions import SecretsAt
from keybearer.domain.secrets.text import checked_value
from keybearer.store.records import Metadata, Secret, SecretDetails
from keybearer.store.tags import Tag

__all__ = [
    "ChangedSecret",
    "NewSecret",
    "OnMissing",
    "Run",
    "changed_secret",
    "require_new_name",
    "runs_of",
    "secret_of_change",
]

_T = TypeVar("_T")
_RUN_MAX = 100
"""Secrets that a batch opens at a time: of a thousand with values of 1 MiB each, the memory would hold all."""


class OnMissing(StrEnum):
    """What a batch update does with a key that doesn't exist."""

    FAIL = "failOnNotFound"
    UPSERT = "upsert"
    IGNORE = "ignore"


@dataclass(frozen=True, slots=True)
class NewSecret:
    """A secret to be created."""

    key: str
    value: str = field(repr=False)
    comment: str = field(default="", repr=False)
    skip_multiline_encoding: bool | None = None
    tag_ids: tuple[str, ...] = ()
    metadata: tuple[Metadata, ...] = field(default=(), repr=False)
    reminder_note: str | None = field(default=None, repr=False)
    reminder_repeat_days: int | None = None
    is_literal: bool = False


@dataclass(frozen=True, slots=True)
class ChangedSecret:
    """What changes of a secret; None leaves a field as it is, an empty note or interval takes it away.

    `at` overrides the folder of the request. `is_literal` says of a value that it holds no references; nobody says it
    by a request.
    """

    key: str
    value: str | None = field(default=None, repr=False)
    new_key: str | None = None
    comment: str | None = field(default=None, repr=False)
    skip_multiline_encoding: bool | None = None
    tag_ids: tuple[str, ...] | None = None
    metadata: tuple[Metadata, ...] | None = field(default=None, repr=False)
    reminder_note: str | None = field(default=None, repr=False)
    reminder_repeat_days: int | None = None
    reminder_recipients: tuple[str, ...] | None = None
    at: SecretsAt | None = None
    is_literal: bool = False


Run = Sequence[tuple[SecretsAt, ChangedSecret]]
"""Changes of different secrets, each with its folder."""


def runs_of(changes: Sequence[tuple[SecretsAt, ChangedSecret]]) -> Iterable[Run]:
    """Part the changes into runs that can be stored at once and lead to what one after the other would."""
    run: list[tuple[SecretsAt, ChangedSecret]] = []
    touched: set[tuple[SecretsAt, str]] = set()
    for at, change in changes:
        is_rename = change.new_key is not None
        if run and (is_rename or (at, change.key) in touched or len(run) >= _RUN_MAX):
            yield run
            run, touched = [], set()
        run.append((at, change))
        touched.add((at, change.key))
        if is_rename:
            yield run
            run, touched = [], set()
    if run:
        yield run


def changed_secret(old: Secret, change: ChangedSecret, tags: Mapping[str, Tag]) -> Secret:
    """Return the next version of a secret, its key and time as they were; `tags` are all it may name, by id.

    Raises:
        SchemaViolationError: the value has a form that is not allowed.
        InvalidError: the value is the mask of a hidden one.
    """
    return replace(
        old,
        version=old.version + 1,
        value=old.value if change.value is None else checked_value(change.value),
        details=_details(old.details, change),
        skip_multiline_encoding=_either(change.skip_multiline_encoding, old.skip_multiline_encoding),
        tags=(
            old.tags
            if change.tag_ids is None
            else tuple(tags[tag_id] for tag_id in dict.fromkeys(change.tag_ids))
        ),
    )


def secret_of_change(change: ChangedSecret) -> NewSecret:
    """Return the secret that a change of one that doesn't exist makes."""
    return NewSecret(
        change.new_key or change.key,
        change.value or "",
        change.comment or "",
        change.skip_multiline_encoding,
        change.tag_ids or (),
        change.metadata or (),
        change.reminder_note or None,
        change.reminder_repeat_days or None,
        change.is_literal,
    )


def require_new_name(change: ChangedSecret) -> None:
    """Let pass a change that renames to something, or not at all.

    Raises:
        InvalidError: the new name is empty.
    """
    if change.new_key is not None and not change.new_key.strip():
        raise InvalidError("New secret name cannot be empty")


def _details(old: SecretDetails, change: ChangedSecret) -> SecretDetails:
    return SecretDetails(
        comment=old.comment if change.comment is None else change.comment,
        metadata=old.metadata if change.metadata is None else change.metadata,
        reminder_note=_either(change.reminder_note, old.reminder_note) or None,
        reminder_repeat_days=_either(change.reminder_repeat_days, old.reminder_repeat_days) or None,
        reminder_recipients=(
            old.reminder_recipients if change.reminder_recipients is None else change.reminder_recipients
        ),
        # It goes with the value.
        is_literal=old.is_literal if change.value is None else change.is_literal,
    )


def _either(new: _T | None, old: _T | None) -> _T | None:
    return old if new is None else new
