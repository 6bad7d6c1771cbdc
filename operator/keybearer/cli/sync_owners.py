"""`keybearer syncs owner` and `transfer`, and what becomes of somebody's syncs when that somebody goes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from keybearer.cli.connecting import ProjectName, in_project, is_id
from keybearer.cli.failures import misused
from keybearer.cli.identity_finding import actor_id_of
from keybearer.cli.output import Output, OutputFormat, note, print_done, print_fields, require_confirmed
from keybearer.cli.sync_finding import Which, named_sync, one_sync

if TYPE_CHECKING:
    from keybearer.client import Keybearer, SecretSync, StoppingSync

__all__ = ["Heir", "announce_stopping", "part_from_syncs", "show_owner", "transfer_sync"]

_NAMED_MAX = 20
"""How many syncs are named; the list of them all is `keybearer syncs list`."""

Heir = Annotated[
    str | None,
    typer.Option(
        "--transfer-syncs-to",
        metavar="WHO",
        help="Email of a person, or name or id of an identity, that first becomes the owner of these syncs.",
    ),
]


def show_owner(sync: Which, project: ProjectName, output: Output = OutputFormat.TABLE) -> None:
    """Show whose rights a sync has.

    Also says what is missing if the owner may no longer read everything that the sync pushes.
    """
    with one_sync(sync, project) as (client, found):
        owner = client.secret_syncs.get_owner(found.id, destination=found.destination)
    rows = [
        ("name", owner.name or "(gone)"),
        ("kind", owner.kind or ""),
        ("id", owner.id or "(unknown)"),
        ("reads the source", "yes" if owner.can_read_source else f"no; {owner.message or ''}"),
    ]
    print_fields(output, owner, rows)


def transfer_sync(
    sync: Which,
    project: ProjectName,
    to: Annotated[
        str,
        typer.Option(
            metavar="WHO",
            help="Email of a person of the project, name or id of an identity, or id of a user.",
        ),
    ],
    output: Output = OutputFormat.TABLE,
) -> None:
    """Give a sync another owner.

    The owner must be able to read all that the sync pushes. Only admins of the organization name somebody else than
    themselves.
    """
    with in_project(project) as (client, project_id):
        found = named_sync(client, sync, project_id)
        owner = client.secret_syncs.change_owner(
            found.id, destination=found.destination, owner_id=actor_id_of(client, to, project_id)
        )
    print_done(output, owner, f"Sync {found.name} acts for {owner.name or owner.id}.")


def part_from_syncs(
    client: Keybearer,
    owner_id: str,
    who: str,
    heir: str | None,
    question: str,
    *,
    yes: bool,
    project_id: str | None = None,
) -> None:
    """Say which syncs stop when their owner goes, or whose they become; ask, and hand them over.

    Args:
        client: of the service.
        owner_id: who goes.
        who: as sentences call that one.
        heir: who is to own the syncs; without an heir they stay as they are.
        question: that is asked first.
        yes: don't ask.
        project_id: the owner leaves this project; None for the organization.

    Raises:
        CommandError: nobody has the heir's email, the heir is who goes, or there is nobody to ask.
        ClientError: the heir can't own one of them; those before it are the heir's.
    """
    owned = _syncs_of(client, owner_id, project_id)
    _announce(owned, who, heir)
    require_confirmed(question, yes=yes)
    if heir is not None and owned:
        _hand_over(client, owned, owner_id, heir, project_id)


def _syncs_of(client: Keybearer, owner_id: str, project_id: str | None) -> list[SecretSync]:
    """Return the syncs that stop; a service that knows no owners of syncs has none that do."""
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


def _announce(owned: Sequence[SecretSync], who: str, heir: str | None) -> None:
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


def _hand_over(
    client: Keybearer, owned: Sequence[SecretSync], owner_id: str, heir: str, project_id: str | None
) -> None:
    from keybearer.client import ClientError

    heir_id = actor_id_of(client, heir, project_id)
    if heir_id == owner_id:
        raise misused(
            f"{heir} is about to be removed, and can't own the syncs",
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
