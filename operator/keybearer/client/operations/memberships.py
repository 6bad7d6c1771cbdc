"""Who may do what in a project, by role: machine identities and users (wire.md section 1.4)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

from keybearer.client.actors import IdentityMembership, UserMembership
from keybearer.client.decoding import decode
from keybearer.client.lenient import from_wire
from keybearer.client.messages import Request, Response, fill, json_body
from keybearer.client.operation import Operation, Repeat
from keybearer.wire import identities as wire
from keybearer.wire import users as users_wire
from keybearer.wire.roles import ProjectRoleSlug

__all__ = [
    "ListIdentityMemberships",
    "ListUserMemberships",
    "PutIdentityMembership",
    "PutUserMemberships",
    "RemoveIdentityMembership",
    "RemoveUserMembership",
    "UpdateUserMembership",
]

_IDENTITIES = "/api/v1/projects/{}/memberships/identities"
_IDENTITY = f"{_IDENTITIES}/{{}}"
_USERS = "/api/v1/projects/{}/memberships"
_USER = f"{_USERS}/{{}}"


@from_wire
@dataclass(frozen=True, slots=True)
class _IdentityMembershipAnswer:
    """`{identityMembership}`."""

    identity_membership: IdentityMembership


@from_wire
@dataclass(frozen=True, slots=True)
class _IdentityMembershipsAnswer:
    """`{identityMemberships}`."""

    identity_memberships: tuple[IdentityMembership, ...]


@from_wire
@dataclass(frozen=True, slots=True)
class _UserMembershipAnswer:
    """`{membership}`."""

    membership: UserMembership


@from_wire
@dataclass(frozen=True, slots=True)
class _UserMembershipsAnswer:
    """`{memberships}`."""

    memberships: tuple[UserMembership, ...]


@dataclass(frozen=True, slots=True)
class ListIdentityMemberships(Operation[list[IdentityMembership]]):
    """List the machine identities of a project, with their roles."""

    repeat: ClassVar[Repeat] = Repeat.FREELY

    project_id: str = field(kw_only=True)

    def request(self) -> Request:
        """Return what to send."""
        return Request("GET", fill(_IDENTITIES, self.project_id))

    def read(self, response: Response) -> list[IdentityMembership]:
        """Return the memberships in the service's order."""
        return list(decode(response, _IdentityMembershipsAnswer).identity_memberships)


@dataclass(frozen=True, slots=True)
class PutIdentityMembership(Operation[IdentityMembership]):
    """Give a machine identity exactly these roles in a project, and return the membership."""

    identity_id: str
    project_id: str = field(kw_only=True)
    roles: tuple[ProjectRoleSlug, ...] = field(kw_only=True)

    def request(self) -> Request:
        """Return what to send."""
        body = json_body(lambda: _roles(self.roles))
        return Request("POST", fill(_IDENTITY, self.project_id, self.identity_id), body=body)

    def read(self, response: Response) -> IdentityMembership:
        """Return the membership."""
        return decode(response, _IdentityMembershipAnswer).identity_membership


@dataclass(frozen=True, slots=True)
class RemoveIdentityMembership(Operation[IdentityMembership]):
    """Take a machine identity out of a project, and return what its membership was."""

    identity_id: str
    project_id: str = field(kw_only=True)

    def request(self) -> Request:
        """Return what to send."""
        return Request("DELETE", fill(_IDENTITY, self.project_id, self.identity_id))

    def read(self, response: Response) -> IdentityMembership:
        """Return what the membership was."""
        return decode(response, _IdentityMembershipAnswer).identity_membership


@dataclass(frozen=True, slots=True)
class ListUserMemberships(Operation[list[UserMembership]]):
    """List the users of a project, with their roles."""

    repeat: ClassVar[Repeat] = Repeat.FREELY

    project_id: str = field(kw_only=True)

    def request(self) -> Request:
        """Return what to send."""
        return Request("GET", fill(_USERS, self.project_id))

    def read(self, response: Response) -> list[UserMembership]:
        """Return the memberships in the service's order."""
        return list(decode(response, _UserMembershipsAnswer).memberships)


@dataclass(frozen=True, slots=True)
class PutUserMemberships(Operation[list[UserMembership]]):
    """Give users, named by email, exactly these roles in a project, and return the memberships."""

    emails: tuple[str, ...]
    project_id: str = field(kw_only=True)
    roles: tuple[ProjectRoleSlug, ...] = field(default=("member",), kw_only=True)

    def request(self) -> Request:
        """Return what to send."""
        body = json_body(
            lambda: users_wire.AddUsersToProject(emails=list(self.emails), role_slugs=list(self.roles))
        )
        return Request("POST", fill(_USERS, self.project_id), body=body)

    def read(self, response: Response) -> list[UserMembership]:
        """Return the memberships."""
        return list(decode(response, _UserMembershipsAnswer).memberships)


@dataclass(frozen=True, slots=True)
class UpdateUserMembership(Operation[UserMembership]):
    """Give a user exactly these roles in a project, and return the membership."""

    membership_id: str
    project_id: str = field(kw_only=True)
    roles: tuple[ProjectRoleSlug, ...] = field(kw_only=True)

    def request(self) -> Request:
        """Return what to send."""
        body = json_body(lambda: _roles(self.roles))
        return Request("PATCH", fill(_USER, self.project_id, self.membership_id), body=body)

    def read(self, response: Response) -> UserMembership:
        """Return the membership."""
        return decode(response, _UserMembershipAnswer).membership


@dataclass(frozen=True, slots=True)
class RemoveUserMembership(Operation[UserMembership]):
    """Take a user out of a project, and return what the membership was."""

    membership_id: str
    project_id: str = field(kw_only=True)

    def request(self) -> Request:
        """Return what to send."""
        return Request("DELETE", fill(_USER, self.project_id, self.membership_id))

    def read(self, response: Response) -> UserMembership:
        """Return what the membership was."""
        return decode(response, _UserMembershipAnswer).membership


def _roles(slugs: tuple[ProjectRoleSlug, ...]) -> wire.PutMembership:
    return wire.PutMembership(roles=[wire.GivenRole(role=slug) for slug in slugs])
