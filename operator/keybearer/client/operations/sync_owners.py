"""Whose rights secret syncs have, and the syncs of an owner; additions of Keybearer to the interface."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

from keybearer.client.decoding import decode
from keybearer.client.lenient import from_wire
from keybearer.client.messages import Request, Response, fill, json_body, query_of
from keybearer.client.operation import Operation, Repeat
from keybearer.client.syncs import SecretSync, SyncOwner
from keybearer.wire.base import WireModel

__all__ = ["ChangeSyncOwner", "GetSyncOwner", "ListOwnedSyncs"]

_ALL = "/api/v1/secret-syncs"
_OWNER = f"{_ALL}/{{}}/{{}}/owner"


@from_wire
@dataclass(frozen=True, slots=True)
class _SyncsAnswer:
    """`{secretSyncs}`."""

    secret_syncs: tuple[SecretSync, ...]


@from_wire
@dataclass(frozen=True, slots=True)
class _OwnerAnswer:
    """`{owner}`."""

    owner: SyncOwner


class _Owner(WireModel):
    owner_id: str


@dataclass(frozen=True, slots=True)
class ListOwnedSyncs(Operation[list[SecretSync]]):
    """List the syncs that act for somebody, of those that one may see; a service that isn't Keybearer answers 404.

    Attributes:
        owner_id: an identity or a user.
        project_id: only those of this project.
    """

    repeat: ClassVar[Repeat] = Repeat.FREELY

    owner_id: str
    project_id: str | None = field(default=None, kw_only=True)

    def request(self) -> Request:
        """Return what to send."""
        query = query_of({"ownerId": self.owner_id, "projectId": self.project_id})
        return Request("GET", f"{_ALL}/owned", query=query)

    def read(self, response: Response) -> list[SecretSync]:
        """Return the syncs by project and name."""
        return list(decode(response, _SyncsAnswer).secret_syncs)


class _OwnerOf(Operation[SyncOwner]):
    __slots__ = ()

    def read(self, response: Response) -> SyncOwner:
        """Return the owner."""
        return decode(response, _OwnerAnswer).owner


@dataclass(frozen=True, slots=True)
class GetSyncOwner(_OwnerOf):
    """Return whose rights a sync has; a service that isn't Keybearer answers 404."""

    repeat: ClassVar[Repeat] = Repeat.FREELY

    sync_id: str
    destination: str = field(kw_only=True)

    def request(self) -> Request:
        """Return what to send."""
        return Request("GET", fill(_OWNER, self.destination, self.sync_id))


@dataclass(frozen=True, slots=True)
class ChangeSyncOwner(_OwnerOf):
    """Have a sync act for another owner, and return that; a service that isn't Keybearer answers 404.

    Attributes:
        owner_id: an identity or a user that may read all that the sync pushes; who is no admin of the organization
            names only themselves.
    """

    sync_id: str
    destination: str = field(kw_only=True)
    owner_id: str = field(kw_only=True)

    def request(self) -> Request:
        """Return what to send."""
        path = fill(_OWNER, self.destination, self.sync_id)
        return Request("PATCH", path, body=json_body(lambda: _Owner(owner_id=self.owner_id)))
