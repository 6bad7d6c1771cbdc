"""Secrets written: create, update and delete (interface.md section 4.8; wire.md section 2.4)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from keybearer.client.errors import InvalidArgument
from keybearer.client.messages import Request, Response, fill, json_body
from keybearer.client.models import AnySecretType, Secret, SecretMetadata, SecretType
from keybearer.client.operation import Operation
from keybearer.client.operations.place import ONE_SECRET, Place
from keybearer.wire import secrets as wire
from keybearer.wire.limits import HIDDEN_VALUE

__all__ = ["CreateSecret", "DeleteSecret", "UpdateSecret", "refuse_mask", "wire_metadata"]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Content(Place):
    secret_comment: str | None = field(default=None, repr=False)
    skip_multiline_encoding: bool | None = None
    tag_ids: tuple[str, ...] | None = None
    secret_reminder_note: str | None = field(default=None, repr=False)
    secret_reminder_repeat_days: int | None = None
    type: AnySecretType = SecretType.SHARED

    def private_texts(self, value: str | None, metadata: Iterable[SecretMetadata]) -> tuple[str, ...]:
        texts = (value, self.secret_comment, self.secret_reminder_note, *(item.value for item in metadata))
        return tuple(filter(None, texts))


@dataclass(frozen=True, slots=True)
class CreateSecret(_Content, Operation[Secret]):
    """Create a secret, and return it; `BadRequest` where one of that name exists.

    Attributes:
        metadata: keys and values beside the secret.
        skip_multiline_encoding: with references in a value of several lines, write it as one line.
        tag_ids: the tags that it carries.
        secret_reminder_repeat_days: 1 to 365.
    """

    secret_name: str
    secret_value: str = field(repr=False)
    metadata: tuple[SecretMetadata, ...] = field(default=(), kw_only=True)

    def __post_init__(self) -> None:
        refuse_mask(self.secret_name, self.secret_value)

    def request(self) -> Request:
        """Return what to send."""
        body = json_body(
            lambda: wire.CreateSecret(
                project_id=self.project_id,
                environment=self.environment,
                secret_path=self.secret_path,
                type=SecretType(self.type),
                secret_value=self.secret_value,
                secret_comment=self.secret_comment or "",
                skip_multiline_encoding=self.skip_multiline_encoding,
                tag_ids=list(self.tag_ids or ()),
                secret_metadata=wire_metadata(self.metadata),
                secret_reminder_note=self.secret_reminder_note,
                secret_reminder_repeat_days=self.secret_reminder_repeat_days,
            )
        )
        return Request("POST", fill(ONE_SECRET, self.secret_name), body=body)

    def read(self, response: Response) -> Secret:
        """Return the created secret."""
        return self.read_one(response)

    def confidential(self) -> tuple[str, ...]:
        """Return the value and what is written beside it."""
        return self.private_texts(self.secret_value, self.metadata)


@dataclass(frozen=True, slots=True)
class UpdateSecret(_Content, Operation[Secret]):
    """Change a secret's value, its name, or both, and return it; what isn't given stays.

    Tags and metadata that are given replace all there were. The answer repeats the value that was given;
    without one it has none (wire.md section 2.4).
    """

    secret_name: str
    secret_value: str | None = field(default=None, repr=False, kw_only=True)
    new_secret_name: str | None = field(default=None, kw_only=True)
    new_metadata: tuple[SecretMetadata, ...] | None = field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        if self.secret_value is None and self.new_secret_name is None:
            raise InvalidArgument(f"update of {self.secret_name!r}: give secret_value or new_secret_name")
        if self.new_secret_name == "":
            raise InvalidArgument(f"update of {self.secret_name!r}: new_secret_name can't be empty")
        refuse_mask(self.secret_name, self.secret_value)

    def request(self) -> Request:
        """Return what to send."""
        body = json_body(
            lambda: wire.UpdateSecret(
                project_id=self.project_id,
                environment=self.environment,
                secret_path=self.secret_path,
                type=SecretType(self.type),
                secret_value=self.secret_value,
                new_secret_name=self.new_secret_name,
                secret_comment=self.secret_comment,
                skip_multiline_encoding=self.skip_multiline_encoding,
                tag_ids=None if self.tag_ids is None else list(self.tag_ids),
                secret_metadata=None if self.new_metadata is None else wire_metadata(self.new_metadata),
                secret_reminder_note=self.secret_reminder_note,
                secret_reminder_repeat_days=self.secret_reminder_repeat_days,
            )
        )
        return Request("PATCH", fill(ONE_SECRET, self.secret_name), body=body)

    def read(self, response: Response) -> Secret:
        """Return the secret as the service answers it."""
        return self.read_one(response)

    def confidential(self) -> tuple[str, ...]:
        """Return the value and what is written beside it."""
        return self.private_texts(self.secret_value, self.new_metadata or ())


@dataclass(frozen=True, slots=True)
class DeleteSecret(Place, Operation[Secret]):
    """Delete a secret, and return what it was; `NotFound` where there is none."""

    secret_name: str
    type: AnySecretType = field(default=SecretType.SHARED, kw_only=True)

    def request(self) -> Request:
        """Return what to send: a DELETE with a body (wire.md section 0)."""
        body = json_body(
            lambda: wire.DeleteSecret(
                project_id=self.project_id,
                environment=self.environment,
                secret_path=self.secret_path,
                type=SecretType(self.type),
            )
        )
        return Request("DELETE", fill(ONE_SECRET, self.secret_name), body=body)

    def read(self, response: Response) -> Secret:
        """Return the deleted secret."""
        return self.read_one(response)


def wire_metadata(items: Iterable[SecretMetadata]) -> list[wire.SecretMetadata]:
    """Return metadata as it is sent."""
    return [
        wire.SecretMetadata(key=item.key, value=item.value, is_encrypted=bool(item.is_encrypted))
        for item in items
    ]


def refuse_mask(name: str, value: str | None) -> None:
    """Raise InvalidArgument if the value is the mask that stands in place of a hidden one."""
    # A masked secret read and written back would destroy the value (wire.md section 2.8).
    if value == HIDDEN_VALUE:
        raise InvalidArgument(f"{name!r}: the value given is the mask of a hidden value, not a value")
