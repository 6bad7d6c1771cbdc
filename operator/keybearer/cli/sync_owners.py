"""`keybearer syncs owner` and `transfer`, and what becomes of somebody's syncs when that somebody goes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer

from keybearer.cli.connecting import ProjectName, connected, is_id, project_id_of
from keybearer.cli.failures import CommandError, ExitStatus
from keybearer.cli.output import Output, OutputFormat, note, print_done, print_found
from keybearer.cli.sync_finding import Which, named_sync

if TYPE_CHECKING:
    from keybearer.client import Keybearer, SecretSync, StoppingSync

__all__ = [
    "Heir",
    "announce_stopping",
    "announce_syncs",
    "hand_over",
    "show_owner",
    "syncs_of",
    "transfer_sync",
]

_NAMED_MAX = 20
"""How many syncs are named; the list of them all is `keybearer syncs list`."""

Heir = Annotated[
    str | None,
    typer.Option(
        "--transfer-syncs-to",
        metavar="WHO",
        help="Email of a person, or id of an identity, that first becomes the owner of the syncs that would stop.",
    ),
]


def show_owner(sync: Which, project: ProjectName, output: Output = OutputFormat.TABLE) -> None:
    """Show whose rights a sync has.

    And what is missing if the owner may no longer read all that the sync pushes.
    """
    with connected() as client:
        found = named_sync(client, sync, project_id_of(client, project))
        owner = client.secret_syncs.get_owner(found.id, destination=found.destination)
    print_found(
        output,
        asdict(owner),
        ("FIELD", "CONTENT"),
        [
            ("name", owner.name or "(gone)"),
            ("kind", owner.kind or ""),
            ("id", owner.id or "(unknown)"),
            ("reads the source", "yes" if owner.can_read_source else f"no; {owner.message or ''}"),
        ],
    )


def transfer_sync(
    sync: Which,
    project: ProjectName,
    to: Annotated[
        str,
        typer.Option(metavar="WHO", help="Email of a person of the project, or id of an identity or a user."),
    ],
    output: Output = OutputFormat.TABLE,
) -> None:
    """Have a sync act for another owner.

    The owner must be able to read all that the sync pushes. Only admins of the organization name somebody else than
    themselves.
    """
    with connected() as client:
        project_id = project_id_of(client, project)
        found = named_sync(client, sync, project_id)
        owner = client.secret_syncs.change_owner(
            found.id, destination=found.destination, owner_id=_id_of(client, to, project_id)
        )
    print_done(output, asdict(owner), f"Sync {found.name} acts for {owner.name or owner.id}.")


def syncs_of(client: Keybearer, owner_id: str, *, project_id: str | None = None) -> list[SecretSync]:
    """Return the syncs that stop when the owner leaves the project, or the organization.

    A service that knows no owners of syncs has none that stop.
    """
    from keybearer.client import NotFound

    if not is_id(owner_id):
        return []
    try:
        return client.secret_syncs.list_owned(owner_id, project_id=project_id)
    except NotFound:
        return []


def _named(syncs: Sequence[SecretSync | StoppingSync]) -> str:
    """Return the names of syncs with their projects; of many, the first and how many more there are."""
    names = ", ".join(f"{one.name} (project {one.project_id})" for one in syncs[:_NAMED_MAX])
    return f"{names} and {len(syncs) - _NAMED_MAX} more" if len(syncs) > _NAMED_MAX else names


def announce_syncs(owned: Sequence[SecretSync], who: str, heir: str | None) -> None:
    """Say on stderr which syncs stop, or go to the heir."""
    if not owned:
        return
    names = _named(owned)
    syncs = f"{len(owned)} {'sync' if len(owned) == 1 else 'syncs'}"
    if heir is None:
        note(
            f"{who} owns {syncs}, which will stop: {names}. What was pushed stays. "
            "--transfer-syncs-to WHO gives them another owner first."
        )
    else:
        note(f"{who} owns {syncs}, which {heir} will own: {names}.")


def announce_stopping(syncs: Sequence[StoppingSync]) -> None:
    """Say on stderr which syncs stop by what was changed."""
    if syncs:
        counted = "1 sync stops at its" if len(syncs) == 1 else f"{len(syncs)} syncs stop at their"
        note(f"{counted} next run: {_named(syncs)}. What was pushed stays.")


def hand_over(
    client: Keybearer,
    owned: Sequence[SecretSync],
    owner_id: str,
    heir: str | None,
    *,
    project_id: str | None = None,
) -> None:
    """Make the heir the owner of these syncs; without an heir they stay as they are.

    Raises:
        CommandError: nobody has the heir's email, or the heir is who goes.
        ClientError: the heir can't own one of them; those before it are the heir's.
    """
    if heir is None or not owned:
        return
    from keybearer.client import ClientError

    heir_id = _id_of(client, heir, project_id)
    if heir_id == owner_id:
        raise CommandError(
            f"{heir} is about to be removed, and can't own the syncs",
            ExitStatus.USAGE,
            "Name somebody who stays: --transfer-syncs-to WHO",
        )
    for done, sync in enumerate(owned):
        try:
            client.secret_syncs.change_owner(sync.id, destination=sync.destination, owner_id=heir_id)
        except ClientError:
            note(
                f"Sync {sync.name} of project {sync.project_id} can't be transferred; {done} of {len(owned)} were. "
                "Nobody was removed."
            )
            raise
    note(f"{heir} owns {len(owned)} more {'sync' if len(owned) == 1 else 'syncs'}.")


def _id_of(client: Keybearer, who: str, project_id: str | None) -> str:
    """Return the id of somebody named by email or id; of a member where a project is given."""
    if "@" not in who:
        return who
    email = who.strip().lower()
    if project_id is None:
        found = [user.id for user in client.users.list() if user.email == email]
    else:
        members = client.memberships.list_users(project_id=project_id)
        found = [one.user.id for one in members if one.user.email == email]
    if not found:
        where = "" if project_id is None else " in the project"
        raise CommandError(
            f"nobody{where} has the email {who!r}",
            ExitStatus.NOT_FOUND,
            "List people: keybearer " + ("users list" if project_id is None else "members list"),
        )
    return found[0]
