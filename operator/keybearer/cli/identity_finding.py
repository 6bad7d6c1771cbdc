"""Which machine identity or person a command means: by name, client id, email or id."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterable
from typing import TYPE_CHECKING, Annotated

import typer

from keybearer.cli.connecting import is_id
from keybearer.cli.failures import CommandError, ExitStatus, not_found

if TYPE_CHECKING:
    from keybearer.client import Identity, Keybearer, User, UserMembership

__all__ = [
    "WhichIdentity",
    "actor_id_of",
    "identity_id_of",
    "membership_of",
    "organization_id_of",
    "patch_of_identity_id",
    "user_of",
]

WhichIdentity = Annotated[
    str, typer.Argument(help="Name, client id or id of the identity.", metavar="IDENTITY")
]


def identity_id_of(client: Keybearer, wanted: str) -> str:
    """Return the id of an identity that is named by name, client id or id.

    What looks like an id is never taken for a name: whoever may create identities could call one by the id of
    another, and get the rights that are meant for that one. An id that the organization's list doesn't have is
    returned as it is: it may be a person's, and the service says what is wrong with it. So is an id where the list
    can't be read.

    Raises:
        CommandError: no identity has the name, or several have.
        ClientError: the service refuses the list, which a name needs.
    """
    from keybearer.client import NotFound, PermissionDenied

    try:
        listed = client.identities.list()
    except (NotFound, PermissionDenied):  # some services have no such list
        if is_id(wanted):
            return wanted
        raise
    if is_id(wanted):
        if any(one.id == wanted for one in listed):
            return wanted
        return _by_client_id(client, listed, wanted) or wanted
    found = [one for one in listed if one.name == wanted]
    if len(found) > 1:
        told = ", ".join(f"{one.id} (role {one.role}, created {one.created_at})" for one in found)
        raise CommandError(
            f"{len(found)} identities are called {wanted}", ExitStatus.REFUSED, f"Name one by its id: {told}"
        )
    if found:
        return found[0].id
    raise not_found(f"there is no identity {wanted}", "List the identities: keybearer identities list")


def patch_of_identity_id(identity_id: str, *, namespace: str = "NAMESPACE", secret: str = "SECRET") -> str:
    """Return the command that puts an id into the key identityId of an identity Secret."""
    patch = json.dumps({"stringData": {"identityId": identity_id}}, separators=(",", ":"))
    return f"kubectl -n {namespace} patch secret {secret} --type=merge -p {shlex.quote(patch)}"


def user_of(client: Keybearer, email: str) -> User:
    """Return the person with this email.

    Raises:
        CommandError: nobody has it.
    """
    for one in client.users.list():
        if one.email == email.strip().lower():
            return one
    raise not_found(f"nobody has the email {email!r}", "List people: keybearer users list")


def membership_of(client: Keybearer, project_id: str, email: str) -> UserMembership:
    """Return the membership of the person with this email.

    Raises:
        CommandError: nobody of the project has it.
    """
    for one in client.memberships.list_users(project_id=project_id):
        if one.user.email == email.strip().lower():
            return one
    raise not_found(
        f"nobody of the project has the email {email!r}", "List who is in it: keybearer members list"
    )


def actor_id_of(client: Keybearer, who: str, project_id: str | None) -> str:
    """Return the id of somebody named by email, or as `identity_id_of` takes it; with a project, of its members.

    Raises:
        CommandError: nobody there has the email, or no identity or several have the name.
    """
    if "@" not in who:
        return identity_id_of(client, who)
    return user_of(client, who).id if project_id is None else membership_of(client, project_id, who).user.id


def organization_id_of(client: Keybearer) -> str:
    """Return the id of the organization of whoever asks.

    Raises:
        CommandError: there is none.
    """
    found = client.organizations.list()
    if not found:
        raise CommandError("you belong to no organization", ExitStatus.DENIED)
    return found[0].id


def _by_client_id(client: Keybearer, listed: Iterable[Identity], wanted: str) -> str | None:
    """Return the id of the identity that logs in with this client id; each one is asked for its own."""
    from keybearer.client import NotFound, PermissionDenied

    for one in listed:
        try:
            if client.identities.universal_auth.get(one.id).client_id == wanted:
                return one.id
        except (NotFound, PermissionDenied):
            continue  # it logs in in another way, or how it does is not for this user to know
    return None
