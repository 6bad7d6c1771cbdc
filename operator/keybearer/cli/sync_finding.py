"""Which sync a command means, and the connection of a new one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from keybearer.cli.connecting import is_id
from keybearer.cli.failures import CommandError, ExitStatus

if TYPE_CHECKING:
    from keybearer.client import Keybearer, SecretSync

__all__ = ["Which", "connection_id_of", "named_sync"]

Which = Annotated[str, typer.Argument(help="Name or id of the sync.", metavar="SYNC")]


def named_sync(client: Keybearer, wanted: str, project_id: str) -> SecretSync:
    """Return the sync of that id or name.

    Raises:
        CommandError: the project has none.
    """
    for one in client.secret_syncs.list(project_id=project_id):
        if wanted in (one.id, one.name):
            return one
    raise CommandError(
        f"the project has no sync {wanted}", ExitStatus.NOT_FOUND, "List them: keybearer syncs list"
    )


def connection_id_of(client: Keybearer, project_id: str, destination: str, wanted: str) -> str:
    """Return the id of the connection of that id or name, which the project may use for the destination.

    Raises:
        CommandError: there is no such destination or connection.
    """
    if is_id(wanted):
        return wanted
    apps = {one.destination: one.connection for one in client.secret_syncs.options()}
    if destination not in apps:
        raise CommandError(
            f"there is no destination {destination}",
            ExitStatus.NOT_FOUND,
            "List them: keybearer syncs options",
        )
    app = apps[destination]
    for one in client.app_connections.available(app=app, project_id=project_id):
        if one.name == wanted:
            return one.id
    raise CommandError(
        f"there is no connection {wanted} to {app} that the project may use",
        ExitStatus.NOT_FOUND,
        f"Make one: keybearer connections create {wanted} --app {app}",
    )
