"""Secrets on the wire: v3 raw and v4 differ only in the names of the project parameter (wire.md 2)."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

from pydantic import AliasChoices, BeforeValidator, Field, JsonValue, WithJsonSchema

from keybearer.wire.base import WHOLE, Confidential, Flag, QueryFlag, WireInstant, WireModel
from keybearer.wire.bodies import BodyModel, Zero
from keybearer.wire.limits import (
    BATCH_MAX_ITEMS,
    ENVIRONMENT_SLUG_MAX,
    FOLDER_PATH_MAX,
    METADATA_MAX_ITEMS,
    REMINDER_NOTE_MAX,
    REMINDER_RECIPIENT_MAX,
    REMINDER_RECIPIENTS_MAX,
    SECRET_COMMENT_MAX,
    SECRET_NAME_MAX,
    TAGS_MAX_ITEMS,
)
from keybearer.wire.secret_names import NAME_PATTERN, NEW_NAME_PATTERN
from keybearer.wire.secret_type import SecretType

__all__ = [
    "BatchCreateSecrets",
    "BatchDeleteSecrets",
    "BatchMode",
    "BatchUpdateSecrets",
    "ChangedSecretItem",
    "CreateSecret",
    "CreateSecretV4",
    "DeleteSecret",
    "DeleteSecretV4",
    "GetSecretByIdQuery",
    "GetSecretQuery",
    "GetSecretV4Query",
    "ImportBlock",
    "ListSecretsQuery",
    "ListSecretsV4Query",
    "NewSecretItem",
    "NewSecretName",
    "RemovedSecretItem",
    "Secret",
    "SecretAnswer",
    "SecretList",
    "SecretMetadata",
    "SecretName",
    "SecretTag",
    "SecretsAnswer",
    "UpdateSecret",
    "UpdateSecretV4",
]


def _read_type(given: object) -> object:
    # The published .NET client writes the number of its enumeration, or its capitalised name (wire.md 2.4).
    if isinstance(given, bool):
        return given
    if isinstance(given, int):
        return {0: "shared", 1: "personal"}.get(given, given)
    return given.lower() if isinstance(given, str) else given


AnySecretType = Annotated[SecretType, BeforeValidator(_read_type)]

_NAME = {"type": "string", "minLength": 1, "maxLength": SECRET_NAME_MAX}
SecretName = Annotated[str, WithJsonSchema({**_NAME, "pattern": NAME_PATTERN})]
"""What a secret may be called; the service itself judges it, with the published texts."""
NewSecretName = Annotated[str, WithJsonSchema({**_NAME, "pattern": NEW_NAME_PATTERN})]
"""What a new secret may be called."""


_ReminderDays = Annotated[int, Field(ge=1, le=365), WHOLE]
_ReminderNote = Annotated[str, Field(max_length=REMINDER_NOTE_MAX)]
# Of a change: an empty text is a value and an empty comment, a new name is never empty, and a reminder is taken away.
_ChangedValue = Annotated[str | None, Field(repr=False), Zero.COUNTS]
_ChangedName = Annotated[NewSecretName | None, Zero.COUNTS]
_ChangedComment = Annotated[str, Field(max_length=SECRET_COMMENT_MAX), Zero.COUNTS]
_ChangedReminderDays = Annotated[_ReminderDays, Zero.CLEARS]
_ChangedReminderNote = Annotated[_ReminderNote, Zero.CLEARS]


class SecretMetadata(WireModel):
    """A key and a value beside a secret."""

    key: Annotated[str, Field(min_length=1, max_length=255)]
    value: Annotated[str, Field(max_length=1020)] = ""
    is_encrypted: Flag = False


class SecretTag(WireModel):
    """A tag of the project that a secret carries."""

    id: str
    slug: str
    color: str | None = None
    name: str


class Secret(WireModel):
    """A secret as every route answers it (wire.md section 2.1). Instants in UTC; `version` counts from 1.

    `user` is the owner of a personal one.
    """

    id: str
    legacy_id: Annotated[str, Field(alias="_id")]
    workspace: str
    project_id: str | None = None
    environment: str
    version: int
    type: SecretType
    secret_key: str
    secret_value: Confidential
    secret_comment: str
    created_at: WireInstant
    updated_at: WireInstant
    secret_value_hidden: bool = False
    secret_path: str | None = None
    skip_multiline_encoding: bool | None = None
    secret_reminder_note: str | None = None
    secret_reminder_repeat_days: int | None = None
    secret_reminder_recipients: list[str] = Field(default_factory=list)
    secret_metadata: list[SecretMetadata] = Field(default_factory=list)
    tags: list[SecretTag] = Field(default_factory=list)
    is_rotated_secret: bool = False
    user: str | None = None


class ImportBlock(WireModel):
    """What one import of the folder brings, in the order of position."""

    secret_path: str
    environment: str
    folder_id: str | None = None
    secrets: list[Secret]


class SecretList(WireModel):
    """Answer of a list, sorted by key then path; `imports` is never null."""

    secrets: list[Secret]
    imports: list[ImportBlock] = Field(default_factory=list)


class SecretAnswer(WireModel):
    """Answer of get, create, update and delete."""

    secret: Secret


class _SecretBody(BodyModel):
    """The project is named by `projectId` (v4), or by one of the older names (v3)."""

    project_id: str | None = None
    workspace_id: str | None = None
    project_slug: str | None = None
    workspace_slug: str | None = None
    environment: Annotated[str, Field(min_length=1, max_length=ENVIRONMENT_SLUG_MAX)]
    secret_path: Annotated[str, Field(max_length=FOLDER_PATH_MAX)] = "/"
    type: AnySecretType = SecretType.SHARED


class CreateSecret(_SecretBody):
    """POST .../{secretName}. White space around the value is trimmed but for one trailing newline."""

    secret_value: Confidential
    secret_comment: Annotated[str, Field(max_length=SECRET_COMMENT_MAX)] = ""
    skip_multiline_encoding: Flag | None = None
    tag_ids: Annotated[list[str], Field(max_length=TAGS_MAX_ITEMS)] = Field(default_factory=list)
    secret_metadata: Annotated[list[SecretMetadata], Field(max_length=METADATA_MAX_ITEMS)] = Field(
        default_factory=list
    )
    metadata: JsonValue = None
    secret_reminder_repeat_days: _ReminderDays | None = None
    secret_reminder_note: _ReminderNote | None = None


class UpdateSecret(_SecretBody):
    """PATCH .../{secretName}: what is absent stays; tags and metadata given replace all.

    A reminder's note or interval that is null goes.
    """

    secret_value: _ChangedValue = None
    new_secret_name: _ChangedName = None
    secret_comment: _ChangedComment | None = None
    skip_multiline_encoding: Flag | None = None
    tag_ids: Annotated[list[str], Field(max_length=TAGS_MAX_ITEMS)] | None = None
    secret_metadata: Annotated[list[SecretMetadata], Field(max_length=METADATA_MAX_ITEMS)] | None = None
    metadata: JsonValue = None
    secret_reminder_repeat_days: _ChangedReminderDays | None = None
    secret_reminder_note: _ChangedReminderNote | None = None
    secret_reminder_recipients: (
        Annotated[
            list[Annotated[str, Field(max_length=REMINDER_RECIPIENT_MAX)]],
            Field(max_length=REMINDER_RECIPIENTS_MAX),
        ]
        | None
    ) = None


class DeleteSecret(_SecretBody):
    """DELETE .../{secretName}, with a JSON body."""


class CreateSecretV4(CreateSecret):
    """POST /api/v4/secrets/{secretName}: the project by its id."""

    project_id: Annotated[str, Field(min_length=1)]


class UpdateSecretV4(UpdateSecret):
    """PATCH /api/v4/secrets/{secretName}: the project by its id."""

    project_id: Annotated[str, Field(min_length=1)]


class DeleteSecretV4(DeleteSecret):
    """DELETE /api/v4/secrets/{secretName}: the project by its id."""

    project_id: Annotated[str, Field(min_length=1)]


class SecretsAnswer(WireModel):
    """Answer of a batch."""

    secrets: list[Secret]


class NewSecretItem(BodyModel):
    """One secret of a batch that creates."""

    secret_key: NewSecretName
    secret_value: Confidential
    secret_comment: Annotated[str, Field(max_length=SECRET_COMMENT_MAX)] = ""
    skip_multiline_encoding: Flag | None = None
    tag_ids: Annotated[list[str], Field(max_length=TAGS_MAX_ITEMS)] = Field(default_factory=list)
    secret_metadata: Annotated[list[SecretMetadata], Field(max_length=METADATA_MAX_ITEMS)] = Field(
        default_factory=list
    )
    metadata: JsonValue = None


class ChangedSecretItem(BodyModel):
    """One secret of a batch that updates; `secretPath` overrides that of the batch."""

    secret_key: SecretName
    secret_path: Annotated[str, Field(max_length=FOLDER_PATH_MAX)] | None = None
    secret_value: _ChangedValue = None
    new_secret_name: _ChangedName = None
    secret_comment: _ChangedComment | None = None
    skip_multiline_encoding: Flag | None = None
    tag_ids: Annotated[list[str], Field(max_length=TAGS_MAX_ITEMS)] | None = None
    secret_metadata: Annotated[list[SecretMetadata], Field(max_length=METADATA_MAX_ITEMS)] | None = None
    metadata: JsonValue = None
    secret_reminder_repeat_days: _ChangedReminderDays | None = None
    secret_reminder_note: _ChangedReminderNote | None = None
    secret_reminder_recipients: (
        Annotated[
            list[Annotated[str, Field(max_length=REMINDER_RECIPIENT_MAX)]],
            Field(max_length=REMINDER_RECIPIENTS_MAX),
        ]
        | None
    ) = None


class RemovedSecretItem(BodyModel):
    """One secret of a batch that deletes."""

    secret_key: SecretName
    type: AnySecretType = SecretType.SHARED


class BatchMode(StrEnum):
    """What a batch update does with a key that doesn't exist."""

    FAIL_ON_NOT_FOUND = "failOnNotFound"
    UPSERT = "upsert"
    IGNORE = "ignore"


class BatchCreateSecrets(_SecretBody):
    """POST .../batch: all or none."""

    secrets: Annotated[list[NewSecretItem], Field(min_length=1, max_length=BATCH_MAX_ITEMS)]


class BatchUpdateSecrets(_SecretBody):
    """PATCH .../batch: all or none."""

    mode: BatchMode = BatchMode.FAIL_ON_NOT_FOUND
    secrets: Annotated[list[ChangedSecretItem], Field(min_length=1, max_length=BATCH_MAX_ITEMS)]


class BatchDeleteSecrets(_SecretBody):
    """DELETE .../batch, with a JSON body: all or none."""

    secrets: Annotated[list[RemovedSecretItem], Field(min_length=1, max_length=BATCH_MAX_ITEMS)]


class _ReadQuery(WireModel):
    """What lists and single reads share. Absent flags have the defaults of wire.md section 2.2."""

    project_id: str | None = None
    workspace_id: str | None = None
    workspace_slug: str | None = None
    project_slug: str | None = None
    environment: str | None = None
    secret_path: Annotated[str, Field(max_length=FOLDER_PATH_MAX)] = "/"
    view_secret_value: QueryFlag = True
    expand_secret_references: QueryFlag = True
    include_imports: Annotated[
        QueryFlag, Field(validation_alias=AliasChoices("includeImports", "include_imports"))
    ] = True


class ListSecretsQuery(_ReadQuery):
    """Query of GET /api/v3/secrets/raw; `tagSlugs` are parted by commas.

    `metadataFilter` is `key=a,value=b|key=c`, at most ten pairs, all of which must hold. A user gets personal
    overrides without asking: published command lines expect them here.
    """

    recursive: QueryFlag = False
    include_personal_overrides: QueryFlag = True
    tag_slugs: Annotated[str, Field(max_length=4096)] = ""
    metadata_filter: Annotated[str, Field(max_length=16384)] = ""


class ListSecretsV4Query(ListSecretsQuery):
    """Query of GET /api/v4/secrets."""

    project_id: Annotated[str, Field(min_length=1)]
    environment: Annotated[str, Field(min_length=1, max_length=ENVIRONMENT_SLUG_MAX)]
    include_personal_overrides: QueryFlag = False


class GetSecretQuery(_ReadQuery):
    """Query of GET /api/v3/secrets/raw/{secretName}."""

    version: Annotated[int, Field(ge=1, le=2**31 - 1)] | None = None
    type: AnySecretType = SecretType.SHARED


class GetSecretV4Query(GetSecretQuery):
    """Query of GET /api/v4/secrets/{secretName}."""

    project_id: Annotated[str, Field(min_length=1)]
    environment: Annotated[str, Field(min_length=1, max_length=ENVIRONMENT_SLUG_MAX)]


class GetSecretByIdQuery(WireModel):
    """Query of GET .../id/{id}."""

    view_secret_value: QueryFlag = True
    expand_secret_references: QueryFlag = True
