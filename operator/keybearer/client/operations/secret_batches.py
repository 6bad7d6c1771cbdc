"""Several secrets of one folder written at once: all or none (wire.md section 2.5)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from keybearer.client.decoding import decode
from keybearer.client.lenient import from_wire
from keybearer.client.messages import Request, Response, json_body
from keybearer.client.models import AnySecretType, Secret, SecretMetadata, SecretType
from keybearer.client.operation import Operation
from keybearer.client.operations.place import Place
from keybearer.client.operations.secret_writes import refuse_mask, wire_metadata
from keybearer.wire import secrets as wire

__all__ = [
    "ChangedSecret",
    "CreateSecrets",
    "DeleteSecrets",
    "NewSecret",
    "SecretBatchAnswer",
    "UpdateSecrets",
]

_BATCH = "/api/v4/secrets/batch"


@from_wire
@dataclass(frozen=True, slots=True)
class SecretBatchAnswer:
    """`{secrets}`."""

    secrets: tuple[Secret, ...]


@dataclass(frozen=True, slots=True)
class NewSecret:
    """One secret of a batch that creates."""

    secret_name: str
    secret_value: str = field(repr=False)
    secret_comment: str = field(default="", repr=False)
    skip_multiline_encoding: bool | None = None
    metadata: tuple[SecretMetadata, ...] = ()
    tag_ids: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        refuse_mask(self.secret_name, self.secret_value)


@dataclass(frozen=True, slots=True)
class ChangedSecret:
    """One secret of a batch that updates; what isn't given stays."""

    secret_name: str
    secret_value: str | None = field(default=None, repr=False)
    new_secret_name: str | None = None
    secret_comment: str | None = field(default=None, repr=False)
    skip_multiline_encoding: bool | None = None
    new_metadata: tuple[SecretMetadata, ...] | None = None
    tag_ids: tuple[str, ...] | None = None

    def __post_init__(self) -> None:
        refuse_mask(self.secret_name, self.secret_value)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Batch(Place, Operation[list[Secret]]):
    """What all batches share.

    Attributes:
        type: `personal` for a user's own values, which exist on top of shared secrets.
    """

    type: AnySecretType = SecretType.SHARED

    def read(self, response: Response) -> list[Secret]:
        """Return the secrets in the order in which they were given."""
        return [self.settle(secret) for secret in decode(response, SecretBatchAnswer).secrets]


@dataclass(frozen=True, slots=True)
class CreateSecrets(_Batch):
    """Create up to 1000 secrets in a folder, all or none, and return them."""

    secrets: tuple[NewSecret, ...]

    def request(self) -> Request:
        """Return what to send."""
        body = json_body(
            lambda: wire.BatchCreateSecrets(
                project_id=self.project_id,
                environment=self.environment,
                secret_path=self.secret_path,
                type=SecretType(self.type),
                secrets=[
                    wire.NewSecretItem(
                        secret_key=new.secret_name,
                        secret_value=new.secret_value,
                        secret_comment=new.secret_comment,
                        skip_multiline_encoding=new.skip_multiline_encoding,
                        tag_ids=list(new.tag_ids),
                        secret_metadata=wire_metadata(new.metadata),
                    )
                    for new in self.secrets
                ],
            )
        )
        return Request("POST", _BATCH, body=body)

    def confidential(self) -> tuple[str, ...]:
        """Return the values and what is written beside them."""
        texts = (
            text
            for new in self.secrets
            for text in (new.secret_value, new.secret_comment, *(item.value for item in new.metadata))
        )
        return tuple(filter(None, texts))


@dataclass(frozen=True, slots=True)
class UpdateSecrets(_Batch):
    """Change up to 1000 secrets of a folder, all or none, and return them.

    Attributes:
        mode: what becomes of a name that doesn't exist: `failOnNotFound`, `upsert` creates it, `ignore` leaves
            it out.
    """

    secrets: tuple[ChangedSecret, ...]
    mode: Literal["failOnNotFound", "upsert", "ignore"] = field(default="failOnNotFound", kw_only=True)

    def request(self) -> Request:
        """Return what to send."""
        body = json_body(
            lambda: wire.BatchUpdateSecrets(
                project_id=self.project_id,
                environment=self.environment,
                secret_path=self.secret_path,
                type=SecretType(self.type),
                mode=wire.BatchMode(self.mode),
                secrets=[_changed_item(changed) for changed in self.secrets],
            )
        )
        return Request("PATCH", _BATCH, body=body)

    def confidential(self) -> tuple[str, ...]:
        """Return the values and what is written beside them."""
        texts = (
            text
            for changed in self.secrets
            for text in (
                changed.secret_value,
                changed.secret_comment,
                *(item.value for item in changed.new_metadata or ()),
            )
        )
        return tuple(filter(None, texts))


@dataclass(frozen=True, slots=True)
class DeleteSecrets(_Batch):
    """Delete up to 1000 secrets of a folder, all or none, and return what they were."""

    secret_names: tuple[str, ...]

    def request(self) -> Request:
        """Return what to send: a DELETE with a body (wire.md section 0)."""
        body = json_body(
            lambda: wire.BatchDeleteSecrets(
                project_id=self.project_id,
                environment=self.environment,
                secret_path=self.secret_path,
                type=SecretType(self.type),
                secrets=[
                    wire.RemovedSecretItem(secret_key=name, type=SecretType(self.type))
                    for name in self.secret_names
                ],
            )
        )
        return Request("DELETE", _BATCH, body=body)


def _changed_item(changed: ChangedSecret) -> wire.ChangedSecretItem:
    metadata = changed.new_metadata
    return wire.ChangedSecretItem(
        secret_key=changed.secret_name,
        secret_value=changed.secret_value,
        new_secret_name=changed.new_secret_name,
        secret_comment=changed.secret_comment,
        skip_multiline_encoding=changed.skip_multiline_encoding,
        tag_ids=None if changed.tag_ids is None else list(changed.tag_ids),
        secret_metadata=None if metadata is None else wire_metadata(metadata),
    )
