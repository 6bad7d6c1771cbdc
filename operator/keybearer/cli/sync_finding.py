"""Which sync a command means, and the connection of a new one."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated

import typer

from keybearer.cli.connecting import in_project, is_id
from keybearer.cli.failures import not_found
from keybearer.wire.vocabulary import canonical_destination

if TYPE_CHECKING:
    from keybearer.client import Keybearer, SecretSync

__all__ = ["Which", "connection_id_of", "named_sync", "one_sync"]

Which = Annotated[str, typer.Argument(help="Name or id of the sync.", metavar="SYNC")]


@contextmanager
def one_sync(wanted: str, project: str) -> Iterator[tuple[Keybearer, SecretSync]]:
    """Yield a client as `connected` does, and the sync of that id or name.

    Raises:
        CommandError: the project has none.
    """
    with in_project(project) as (client, project_id):
        yield client, named_sync(client, wanted, project_id)


def named_sync(client: Keybearer, wanted: str, project_id: str) -> SecretSync:
    """Return the sync of that id or name.

    Raises:
        CommandError: the project has none.
    """
    for one in client.secret_syncs.list(project_id=project_id):
        if wanted in (one.id, one.name):
            return one
    raise not_found(f"the project has no sync {wanted}", "List them: keybearer syncs list")


def connection_id_of(client: Keybearer, project_id: str, destination: str, wanted: str) -> str:
    """Return the id of the connection of that id or name, which the project may use for the destination.

    The destination may have its published name, such as `aws-secrets-manager`, or the interface's.

    Raises:
        CommandError: there is no such destination or connection.
    """
    if is_id(wanted):
        return wanted
    apps = {
        canonical_destination(one.destination)[0]: one.connection for one in client.secret_syncs.options()
    }
    app = apps.get(canonical_destination(destination)[0])
    if app is None:
        raise not_found(f"there is no destination {destination}", "List them: keybearer syncs options")
    for one in client.app_connections.available(app=app, project_id=project_id):
        if one.name == wanted:
            return one.id
    raise not_found(
        f"there is no connection {wanted} to {app} that the project may use",
        f"Make one: keybearer connections create {wanted} --app {app}",
    )
