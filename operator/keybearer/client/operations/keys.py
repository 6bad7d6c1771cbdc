"""Rotation of the service's keys: an addition of Keybearer, for admins of the organization."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

from keybearer.client.decoding import decode
from keybearer.client.messages import Request, Response, json_body
from keybearer.client.operation import Operation, Repeat
from keybearer.wire.keys import KeyStatusModel, RotateDataKeys, RotatedDataKeys, RotatedRootKey

__all__ = ["GetKeyStatus", "RotateDataKey", "RotateRootKey"]

_STATUS = "/api/v1/admin/keys"


@dataclass(frozen=True, slots=True)
class GetKeyStatus(Operation[KeyStatusModel]):
    """Return how the keys of the service stand: ids, states and counts."""

    repeat: ClassVar[Repeat] = Repeat.FREELY

    def request(self) -> Request:
        """Return what to send."""
        return Request("GET", _STATUS)

    def read(self, response: Response) -> KeyStatusModel:
        """Return the status."""
        return decode(response, KeyStatusModel)


@dataclass(frozen=True, slots=True)
class RotateRootKey(Operation[str]):
    """Have the root key that stands first wrap from now on, and return its id."""

    def request(self) -> Request:
        """Return what to send."""
        return Request("POST", f"{_STATUS}/rotate-root")

    def read(self, response: Response) -> str:
        """Return the id."""
        return decode(response, RotatedRootKey).root_key_id


@dataclass(frozen=True, slots=True)
class RotateDataKey(Operation[list[str]]):
    """Begin to rotate the data key of a project, or of all, and return the ids of those projects."""

    project_id: str | None = field(default=None, kw_only=True)

    def request(self) -> Request:
        """Return what to send."""
        body = json_body(lambda: RotateDataKeys(project_id=self.project_id))
        return Request("POST", f"{_STATUS}/rotate-data", body=body)

    def read(self, response: Response) -> list[str]:
        """Return the ids."""
        return decode(response, RotatedDataKeys).project_ids
