"""Which projects may use app connections, and for which places; additions of Keybearer to the interface."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import ClassVar

from keybearer.client.connections import AllowedUse, StoppingSync
from keybearer.client.decoding import decode
from keybearer.client.lenient import Several, from_wire
from keybearer.client.messages import Request, Response, fill, json_body
from keybearer.client.operation import Operation, Repeat
from keybearer.client.operations.app_connection_place import ONE_CONNECTION
from keybearer.wire.base import WireModel

__all__ = ["ChangeAllowedUse", "GetAllowedUse"]

_ALLOWED_USE = f"{ONE_CONNECTION}/allowed-use"


@from_wire
@dataclass(frozen=True, slots=True)
class _Answer:
    """`{allowedUse}`, after a change with `stoppingSyncs`."""

    allowed_use: AllowedUse
    stopping_syncs: Several[StoppingSync] = ()


class _Written(WireModel):
    project_ids: list[str] | None = None
    places: list[str] | None = None


class _AllowedUseOf(Operation[AllowedUse]):
    __slots__ = ()

    def read(self, response: Response) -> AllowedUse:
        """Return what the connection allows."""
        answer = decode(response, _Answer)
        return replace(answer.allowed_use, stopping_syncs=answer.stopping_syncs)


@dataclass(frozen=True, slots=True)
class GetAllowedUse(_AllowedUseOf):
    """Return which projects may use a connection, and for which places.

    A service that isn't Keybearer answers 404.
    """

    repeat: ClassVar[Repeat] = Repeat.FREELY

    connection_id: str
    app: str = field(kw_only=True)

    def request(self) -> Request:
        """Return what to send."""
        return Request("GET", fill(_ALLOWED_USE, self.app, self.connection_id))


@dataclass(frozen=True, slots=True)
class ChangeAllowedUse(_AllowedUseOf):
    """Change what a connection allows, and return that; what isn't given stays.

    Attributes:
        project_ids: all the projects that may use a connection of the organization.
        any_project: whether that list goes: then every project may, but only by admins of the organization.
        places: patterns of all the places that syncs may write to; `*` is within a name, `**` any depth.
        any_place: whether that list goes.
    """

    connection_id: str
    app: str = field(kw_only=True)
    project_ids: Sequence[str] | None = field(default=None, kw_only=True)
    any_project: bool = field(default=False, kw_only=True)
    places: Sequence[str] | None = field(default=None, kw_only=True)
    any_place: bool = field(default=False, kw_only=True)

    def request(self) -> Request:
        """Return what to send."""
        changes: dict[str, list[str] | None] = {}
        for name, given, goes in (
            ("project_ids", self.project_ids, self.any_project),
            ("places", self.places, self.any_place),
        ):
            if goes or given is not None:
                changes[name] = None if given is None or goes else list(given)
        body = json_body(lambda: _Written(**changes), nulls=True)
        return Request("PATCH", fill(_ALLOWED_USE, self.app, self.connection_id), body=body)
