"""People, and the organization they belong to (wire.md section 1.4)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

from keybearer.client.actors import Organization, User
from keybearer.client.decoding import decode
from keybearer.client.lenient import from_wire
from keybearer.client.messages import Request, Response, fill, json_body
from keybearer.client.operation import Operation, Repeat
from keybearer.wire import users as wire
from keybearer.wire.roles import OrganizationRoleSlug

__all__ = [
    "ChangePassword",
    "CreateUser",
    "DeleteUser",
    "GetMe",
    "GetOrganization",
    "GetUser",
    "ListOrganizations",
    "ListUsers",
    "UpdateUser",
]

_ALL = "/api/v1/users"
_ONE = "/api/v1/users/{}"


@from_wire
@dataclass(frozen=True, slots=True)
class _OrganizationAnswer:
    """`{organization}`."""

    organization: Organization


@from_wire
@dataclass(frozen=True, slots=True)
class _OrganizationsAnswer:
    """`{organizations}`."""

    organizations: tuple[Organization, ...]


@from_wire
@dataclass(frozen=True, slots=True)
class _UserAnswer:
    """`{user}`."""

    user: User


@from_wire
@dataclass(frozen=True, slots=True)
class _UsersAnswer:
    """`{users}`."""

    users: tuple[User, ...]


@dataclass(frozen=True, slots=True)
class ListOrganizations(Operation[list[Organization]]):
    """List the organizations of who asks."""

    repeat: ClassVar[Repeat] = Repeat.FREELY

    def request(self) -> Request:
        """Return what to send."""
        return Request("GET", "/api/v1/organization")

    def read(self, response: Response) -> list[Organization]:
        """Return the organizations."""
        return list(decode(response, _OrganizationsAnswer).organizations)


@dataclass(frozen=True, slots=True)
class GetOrganization(Operation[Organization]):
    """Return an organization by its id; `NotFound` where there is none."""

    repeat: ClassVar[Repeat] = Repeat.FREELY

    organization_id: str

    def request(self) -> Request:
        """Return what to send."""
        return Request("GET", fill("/api/v1/organization/{}", self.organization_id))

    def read(self, response: Response) -> Organization:
        """Return the organization."""
        return decode(response, _OrganizationAnswer).organization


@dataclass(frozen=True, slots=True)
class ListUsers(Operation[list[User]]):
    """List the users of the organization."""

    repeat: ClassVar[Repeat] = Repeat.FREELY

    def request(self) -> Request:
        """Return what to send."""
        return Request("GET", _ALL)

    def read(self, response: Response) -> list[User]:
        """Return the users in the service's order."""
        return list(decode(response, _UsersAnswer).users)


class _One(Operation[User]):
    __slots__ = ()

    def read(self, response: Response) -> User:
        """Return the user."""
        return decode(response, _UserAnswer).user


@dataclass(frozen=True, slots=True)
class GetMe(_One):
    """Return the user who asks; `PermissionDenied` for a machine identity."""

    repeat: ClassVar[Repeat] = Repeat.FREELY

    def request(self) -> Request:
        """Return what to send."""
        return Request("GET", "/api/v1/user")


@dataclass(frozen=True, slots=True)
class GetUser(_One):
    """Return a user by the id; `NotFound` where there is none."""

    repeat: ClassVar[Repeat] = Repeat.FREELY

    user_id: str

    def request(self) -> Request:
        """Return what to send."""
        return Request("GET", fill(_ONE, self.user_id))


@dataclass(frozen=True, slots=True)
class CreateUser(_One):
    """Create a user, and return it.

    Attributes:
        password: 12 to 256 characters.
        role: in the organization.
    """

    email: str
    password: str = field(repr=False)
    role: OrganizationRoleSlug = field(default="member", kw_only=True)
    first_name: str | None = field(default=None, kw_only=True)
    last_name: str | None = field(default=None, kw_only=True)

    def request(self) -> Request:
        """Return what to send."""
        body = json_body(
            lambda: wire.CreateUser(
                email=self.email,
                password=self.password,
                role=self.role,
                first_name=self.first_name,
                last_name=self.last_name,
            )
        )
        return Request("POST", _ALL, body=body)

    def confidential(self) -> tuple[str, ...]:
        """Return the password."""
        return (self.password,)


@dataclass(frozen=True, slots=True)
class UpdateUser(_One):
    """Change a user, and return it; what isn't given stays. A new password ends the user's sessions."""

    user_id: str
    role: OrganizationRoleSlug | None = field(default=None, kw_only=True)
    first_name: str | None = field(default=None, kw_only=True)
    last_name: str | None = field(default=None, kw_only=True)
    password: str | None = field(default=None, repr=False, kw_only=True)

    def request(self) -> Request:
        """Return what to send."""
        body = json_body(
            lambda: wire.UpdateUser(
                role=self.role,
                first_name=self.first_name,
                last_name=self.last_name,
                password=self.password,
            )
        )
        return Request("PATCH", fill(_ONE, self.user_id), body=body)

    def confidential(self) -> tuple[str, ...]:
        """Return the password."""
        return () if self.password is None else (self.password,)


@dataclass(frozen=True, slots=True)
class DeleteUser(_One):
    """Delete a user with the personal secrets, and return what it was."""

    user_id: str

    def request(self) -> Request:
        """Return what to send."""
        return Request("DELETE", fill(_ONE, self.user_id))


@dataclass(frozen=True, slots=True)
class ChangePassword(Operation[None]):
    """Give the user who asks another password; all sessions end."""

    current_password: str = field(repr=False)
    new_password: str = field(repr=False)

    def request(self) -> Request:
        """Return what to send."""
        body = json_body(
            lambda: wire.ChangePassword(
                current_password=self.current_password, new_password=self.new_password
            )
        )
        return Request("POST", "/api/v1/user/password", body=body)

    def read(self, response: Response) -> None:
        """Return nothing: the status says it all."""

    def confidential(self) -> tuple[str, ...]:
        """Return both passwords."""
        return (self.current_password, self.new_password)
