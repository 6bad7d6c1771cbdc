"""Users, organizations and the setting up of an instance on the wire (wire.md section 1.4)."""

from __future__ import annotations

from typing import Annotated, Self

from pydantic import BeforeValidator, ConfigDict, Field, StringConstraints, model_validator

from keybearer.wire.auth import GivenPassword, fold_email
from keybearer.wire.base import Confidential, WireInstant, WireModel
from keybearer.wire.bodies import BodyModel, Zero
from keybearer.wire.identities import MembershipRole
from keybearer.wire.limits import PASSWORD_MAX, PASSWORD_MIN
from keybearer.wire.roles import OrganizationRoleSlug, ProjectRoleSlug

__all__ = [
    "AddUsersToProject",
    "AdminIdentity",
    "BootstrapInstance",
    "BootstrappedInstance",
    "ChangePassword",
    "CreateUser",
    "IdentityCredentials",
    "MemberUser",
    "NamedUser",
    "Organization",
    "OrganizationAnswer",
    "OrganizationList",
    "RemoveUsersFromProject",
    "SubOrganizationList",
    "UpdateUser",
    "User",
    "UserAnswer",
    "UserList",
    "UserMembership",
    "UserMembershipAnswer",
    "UserMembershipList",
]


_WHITE = r"\x00-\x20\x7f-\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000\ufeff"
"""Spelt out: what `\\s` means differs between those who read the description."""
_EMAIL = rf"^[^@{_WHITE}]+@[^@{_WHITE}]+$"
_Email = Annotated[
    str,
    BeforeValidator(fold_email),
    Field(min_length=3, max_length=254, pattern=_EMAIL, json_schema_extra={"pattern": _EMAIL}),
]
_Bounded = Annotated[str, Field(min_length=PASSWORD_MIN, max_length=PASSWORD_MAX)]
_NewPassword = Annotated[_Bounded, Field(repr=False)]
_PersonName = Annotated[str, StringConstraints(strip_whitespace=True, max_length=64)]
_Usernames = Annotated[list[_Email], Field(max_length=100)]


class Organization(WireModel):
    """An organization."""

    id: str
    name: str
    slug: str
    created_at: WireInstant


class OrganizationAnswer(WireModel):
    """`{organization}`."""

    organization: Organization


class OrganizationList(WireModel):
    """`{organizations}`."""

    organizations: list[Organization]


class SubOrganizationList(WireModel):
    """`{organizations, totalCount}` of organizations below the caller's; there are none."""

    organizations: list[Organization]
    total_count: int


class MemberUser(WireModel):
    """A user as a project shows it; the username is the email."""

    id: str
    email: str
    username: str
    first_name: str | None
    last_name: str | None


class User(MemberUser):
    """A user; `role` is the role in the organization."""

    org_id: str
    role: str
    created_at: WireInstant
    updated_at: WireInstant


class UserAnswer(WireModel):
    """`{user}`."""

    user: User


class UserList(WireModel):
    """`{users, totalCount}`."""

    users: list[User]
    total_count: int


class CreateUser(BodyModel):
    """POST /api/v1/users."""

    email: _Email
    password: _NewPassword
    role: OrganizationRoleSlug = "member"
    first_name: _PersonName | None = None
    last_name: _PersonName | None = None


class UpdateUser(BodyModel):
    """PATCH /api/v1/users/{id}: what is absent stays; a new password ends the user's sessions."""

    role: OrganizationRoleSlug | None = None
    first_name: Annotated[_PersonName, Zero.COUNTS] | None = None
    last_name: Annotated[_PersonName, Zero.COUNTS] | None = None
    password: Annotated[_Bounded | None, Field(repr=False), Zero.COUNTS] = None


class ChangePassword(BodyModel):
    """POST /api/v1/user/password."""

    current_password: GivenPassword
    new_password: _NewPassword


class BootstrapInstance(BodyModel):
    """POST /api/v1/admin/bootstrap; `organization` is its name."""

    email: _Email
    password: _NewPassword
    organization: Annotated[
        str, StringConstraints(strip_whitespace=True, min_length=1, max_length=64, pattern=r"\S")
    ]


class IdentityCredentials(WireModel):
    """What the first admin identity calls the service with."""

    token: Confidential


class AdminIdentity(WireModel):
    """The first admin identity; its token is shown this once."""

    id: str
    name: str
    credentials: IdentityCredentials


class BootstrappedInstance(WireModel):
    """Answer of the setting up."""

    message: str
    organization: Organization
    user: User
    identity: AdminIdentity


class _NamedUsers(BodyModel):
    """Users by email, under either of its names."""

    model_config = ConfigDict(
        json_schema_extra={
            "anyOf": [
                {"properties": {name: {"minItems": 1, "items": {"minLength": 1}}}, "required": [name]}
                for name in ("emails", "usernames")
            ]
        }
    )

    emails: _Usernames = Field(default_factory=list)
    usernames: _Usernames = Field(default_factory=list)

    @model_validator(mode="after")
    def _name_somebody(self) -> Self:
        if not self.emails and not self.usernames:
            msg = "emails or usernames must name at least one user"
            raise ValueError(msg)
        return self


def _member() -> list[ProjectRoleSlug]:
    return ["member"]


class AddUsersToProject(_NamedUsers):
    """POST /api/v1/projects/{id}/memberships and /api/v2/workspace/{id}/memberships."""

    role_slugs: Annotated[list[ProjectRoleSlug], Field(min_length=1, max_length=10)] = Field(
        default_factory=_member
    )


class NamedUser(BodyModel):
    """POST /api/v1/workspace/{id}/memberships/details."""

    username: _Email


class RemoveUsersFromProject(_NamedUsers):
    """DELETE /api/v1/projects/{id}/memberships, with a JSON body."""


class UserMembership(WireModel):
    """A user's roles in a project."""

    id: str
    user_id: str
    project_id: str
    roles: list[MembershipRole]
    user: MemberUser
    created_at: WireInstant
    updated_at: WireInstant


class UserMembershipAnswer(WireModel):
    """`{membership}`."""

    membership: UserMembership


class UserMembershipList(WireModel):
    """`{memberships}`."""

    memberships: list[UserMembership]
