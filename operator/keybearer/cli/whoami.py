"""`keybearer whoami`: which service commands talk to, as whom, and until when."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from keybearer.base.token_claims import claims_of, end_of
from keybearer.cli.connecting import address_of, connected, current_login
from keybearer.cli.output import Output, OutputFormat, note, print_fields

if TYPE_CHECKING:
    from pydantic import JsonValue

    from keybearer.client import Keybearer, Project

__all__ = ["whoami"]


@dataclass(frozen=True, slots=True)
class _Membership:
    """A project that the login may see. `roles` is None if the login may not list the members of the project."""

    slug: str
    roles: tuple[str, ...] | None


@dataclass(frozen=True, slots=True)
class _Login:
    """Who asks.

    Attributes:
        kind: `user` or `machine identity`.
        name: the email of a user; None if the service doesn't let an identity read its own name.
        organization: None if the service doesn't let the login read it.
        organization_role: None together with `name`.
        expires_at: when the token ends, in UTC; None if it has no end.
    """

    url: str
    kind: str
    id: str
    name: str | None
    organization: str | None
    organization_role: str | None
    projects: tuple[_Membership, ...]
    expires_at: datetime | None


def whoami(output: Output = OutputFormat.TABLE) -> None:
    """Show which service you use, who you are there, and when your token ends.

    Names the kind of login (user or machine identity), the organization, and your roles in each project that you may
    see. Fails with status 3 if the token is not valid any more.
    """
    with connected() as client:
        client.auth.check()
        found = _login(client, address_of(current_login().url))
    rows = [
        ("service", found.url),
        (found.kind, found.name or "(the service doesn't let this identity read its own name)"),
        ("id", found.id),
        ("organization", found.organization or "(not visible to you)"),
        ("role there", found.organization_role or "(not visible to you)"),
        *((f"project {one.slug}", _roles(one)) for one in found.projects),
        ("token ends", _end(found.expires_at)),
    ]
    print_fields(output, found, rows)
    if not found.projects and output is OutputFormat.TABLE:
        note("You are a member of no project.")


def _login(client: Keybearer, url: str) -> _Login:
    from keybearer.client import NotFound, PermissionDenied

    claims = _claims(client.auth.access_token or "")
    try:
        user = client.users.me()
    except (PermissionDenied, NotFound):
        kind, own_id = "machine identity", str(claims.get("identityId", ""))
        try:
            identity = client.identities.get(own_id) if own_id else None
        except (PermissionDenied, NotFound):
            identity = None
        name = None if identity is None else identity.name
        role = None if identity is None else identity.role
    else:
        kind, own_id, name, role = "user", user.id, user.email or user.username, user.role
    try:
        organizations = client.organizations.list()
    except (PermissionDenied, NotFound):
        organizations = []
    return _Login(
        url=url,
        kind=kind,
        id=own_id,
        name=name,
        organization=organizations[0].name if organizations else None,
        organization_role=role,
        projects=tuple(
            _Membership(project.slug, _own_roles(client, project, own_id))
            for project in client.projects.list()
        ),
        expires_at=end_of(claims),
    )


def _own_roles(client: Keybearer, project: Project, own_id: str) -> tuple[str, ...] | None:
    from keybearer.client import PermissionDenied

    try:
        machines = client.memberships.list_identities(project_id=project.id)
        people = client.memberships.list_users(project_id=project.id)
    except PermissionDenied:
        return None
    own = [one.roles for one in machines if one.identity_id == own_id]
    own += [one.roles for one in people if one.user.id == own_id]
    return tuple(role.role for roles in own for role in roles)


def _claims(token: str) -> Mapping[str, JsonValue]:
    """Return what a token says of itself; nothing for one that isn't a JSON Web Token."""
    try:
        return claims_of(token)
    except ValueError:
        return {}


def _roles(one: _Membership) -> str:
    if one.roles is None:
        return "(you may not list its members)"
    return ", ".join(one.roles) or "(by your role in the organization)"


def _end(instant: datetime | None) -> str:
    return "never" if instant is None else instant.isoformat(timespec="seconds")
