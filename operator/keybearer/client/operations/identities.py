"""Machine identities (wire.md section 1.4)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

from keybearer.client.actors import Identity
from keybearer.client.decoding import decode
from keybearer.client.lenient import from_wire
from keybearer.client.messages import Request, Response, fill, json_body
from keybearer.client.operation import Operation, Repeat
from keybearer.wire import identities as wire
from keybearer.wire.roles import OrganizationRoleSlug

__all__ = ["CreateIdentity", "DeleteIdentity", "GetIdentity", "ListIdentities", "UpdateIdentity"]

_ALL = "/api/v1/identities"
_ONE = "/api/v1/identities/{}"


@from_wire
@dataclass(frozen=True, slots=True)
class _IdentitiesAnswer:
    """`{identities}`."""

    identities: tuple[Identity, ...]


@from_wire
@dataclass(frozen=True, slots=True)
class _IdentityAnswer:
    """`{identity}`."""

    identity: Identity


@dataclass(frozen=True, slots=True)
class ListIdentities(Operation[list[Identity]]):
    """List the machine identities of the organization."""

    repeat: ClassVar[Repeat] = Repeat.FREELY

    def request(self) -> Request:
        """Return what to send."""
        return Request("GET", _ALL)

    def read(self, response: Response) -> list[Identity]:
        """Return the identities in the service's order."""
        return list(decode(response, _IdentitiesAnswer).identities)


class _One(Operation[Identity]):
    __slots__ = ()

    def read(self, response: Response) -> Identity:
        """Return the identity."""
        return decode(response, _IdentityAnswer).identity


@dataclass(frozen=True, slots=True)
class GetIdentity(_One):
    """Return an identity by its id; `NotFound` where there is none."""

    repeat: ClassVar[Repeat] = Repeat.FREELY

    identity_id: str

    def request(self) -> Request:
        """Return what to send."""
        return Request("GET", fill(_ONE, self.identity_id))


@dataclass(frozen=True, slots=True)
class CreateIdentity(_One):
    """Create a machine identity, and return it; it can't log in before a method is attached.

    Attributes:
        role: in the organization; `no-access` suits an identity that only reads projects.
    """

    name: str
    organization_id: str = field(kw_only=True)
    role: OrganizationRoleSlug = field(default="no-access", kw_only=True)

    def request(self) -> Request:
        """Return what to send."""
        body = json_body(
            lambda: wire.CreateIdentity(name=self.name, organization_id=self.organization_id, role=self.role)
        )
        return Request("POST", _ALL, body=body)


@dataclass(frozen=True, slots=True)
class UpdateIdentity(_One):
    """Change an identity, and return it; what isn't given stays."""

    identity_id: str
    name: str | None = field(default=None, kw_only=True)
    role: OrganizationRoleSlug | None = field(default=None, kw_only=True)

    def request(self) -> Request:
        """Return what to send."""
        body = json_body(lambda: wire.UpdateIdentity(name=self.name, role=self.role))
        return Request("PATCH", fill(_ONE, self.identity_id), body=body)


@dataclass(frozen=True, slots=True)
class DeleteIdentity(_One):
    """Delete an identity, whose tokens end with it, and return what it was."""

    identity_id: str

    def request(self) -> Request:
        """Return what to send."""
        return Request("DELETE", fill(_ONE, self.identity_id))
