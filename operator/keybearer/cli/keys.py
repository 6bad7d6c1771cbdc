"""`keybearer keys`: how keys stand, and their rotation; on a live service, or on a data directory that none uses."""

from __future__ import annotations

import os
import time
from collections.abc import Awaitable, Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeVar

import typer

from keybearer.cli.connecting import connected, project_id_of
from keybearer.cli.failures import not_found
from keybearer.cli.output import Output, OutputFormat, note, print_json, print_table
from keybearer.cli.own_credentials import OwnCredential

if TYPE_CHECKING:
    from keybearer.client import Keybearer
    from keybearer.domain.key_rotation import KeyRotation
    from keybearer.wire.keys import KeyStatusModel

__all__ = ["keys"]

keys = typer.Typer(
    help="Rotate the service's keys, and show how they stand.", no_args_is_help=True, rich_markup_mode=None
)
T = TypeVar("T")
_POLL_SECONDS = 0.5

DataDir = Annotated[
    Path | None,
    typer.Option(
        help="Work on this data directory (SQLite) while no service runs on it, in place of asking the service."
    ),
]
Wait = Annotated[bool, typer.Option("--wait/--no-wait", help="Return when the rotation is over.")]


@keys.command("status")
def status(data_dir: DataDir = None, output: Output = OutputFormat.TABLE) -> None:
    """Show the root keys in use, and rotations in progress.

    Also says which root keys you can remove.
    """
    if data_dir is None:
        with connected() as client:
            found = client.keys.status()
    else:
        found = _offline(data_dir, _status_of)
    if output is OutputFormat.JSON:
        print_json(found.model_dump(mode="json", by_alias=True))
        return
    print_table(
        ("ROOT KEY", "STATE", "SINCE", "WRAPS", "HELD"),
        [
            (
                root.id,
                root.state,
                str(root.retired_at or root.activated_at),
                str(root.wraps),
                "yes" if root.id in found.held_root_key_ids else "no",
            )
            for root in found.root_keys
        ],
    )
    _tell(found)


@keys.command("rotate-root")
def rotate_root(data_dir: DataDir = None, wait: Wait = True) -> None:
    """Wrap the data keys with a new root key.

    A service that made its root key itself makes the next one too. Otherwise put the new key in front of the old one
    where each process finds it, first.
    """
    if data_dir is not None:
        root_id = _offline(data_dir, _rotate_root)
        note(f"Root key {root_id} wraps; the others in {data_dir / 'root.key'} may be removed.")
        return
    with connected() as client:
        root_id = client.keys.rotate_root()
        note(f"Root key {root_id} wraps from now on.")
        if wait:
            found = _awaited(client, lambda found: all(root.state != "retiring" for root in found.root_keys))
            _tell(found)


@keys.command("rotate-data")
def rotate_data(
    project: Annotated[
        str | None,
        typer.Option(
            "--project",
            "-p",
            help="Slug or id of the project, with --data-dir its id. Default: all projects, and auth "
            "methods.",
        ),
    ] = None,
    data_dir: DataDir = None,
    wait: Wait = True,
) -> None:
    """Give projects a new data key.

    Stored data is encrypted again with the new key.
    """
    if data_dir is not None:
        count = _offline(data_dir, lambda rotation: _rotate_data(rotation, project))
        if project is not None and count == 0:
            raise not_found(f"there is no project with ID {project}", "Name it by its id, not its slug.")
        note(f"Data keys of {count} projects are rotated.")
        return
    with connected() as client:
        begun = client.keys.rotate_data(
            project_id=None if project is None else project_id_of(client, project)
        )
        note(f"New data keys of {len(begun)} projects seal from now on.")
        if wait:
            _awaited(client, partial(_is_over, set(begun), with_credentials=project is None))
            note("What was stored is sealed anew.")


def _is_over(projects: set[str], found: KeyStatusModel, *, with_credentials: bool) -> bool:
    if with_credentials and found.credential_rotation is not None:
        return False
    return not projects & {rotation.project_id for rotation in found.rotations}


def _awaited(client: Keybearer, is_over: Callable[[KeyStatusModel], bool]) -> KeyStatusModel:
    while True:
        found = client.keys.status()
        if is_over(found):
            return found
        time.sleep(_POLL_SECONDS)


def _tell(found: KeyStatusModel) -> None:
    states = {root.id: root.state for root in found.root_keys}
    if found.first_root_key_id not in states:
        note(
            f"Root key {found.first_root_key_id} is to wrap; {found.lacking_processes} of {found.processes} "
            "processes don't hold it yet."
        )
    for root_id in found.held_root_key_ids:
        if states.get(root_id) == "retired":
            note(f"Root key {root_id} may be removed; backups from before its end still need it.")
    for root in found.root_keys:
        if root.wraps and root.id not in found.held_root_key_ids:
            note(f"Root key {root.id} is needed and was not found: put it back.")
    for rotation in found.rotations:
        note(f"Project {rotation.project_id}: {rotation.resealed} values are sealed anew.")
    if found.credential_rotation is not None:
        note(f"Auth methods: {found.credential_rotation.remaining} credentials are still to be sealed anew.")


def _offline(data_dir: Path, work: Callable[[KeyRotation], Awaitable[T]]) -> T:
    """Return what the work on the database of a data directory gives; the lock keeps services away meanwhile."""
    import asyncio

    from keybearer.base.clock import SystemClock
    from keybearer.base.errors import ConfigurationError
    from keybearer.domain.key_rotation import KeyRotation
    from keybearer.domain.server_keys import RootKeySource, unlock
    from keybearer.store.data_directory import DataDirectory
    from keybearer.store.database import Database
    from keybearer.store.engines import sqlite_url

    file = data_dir / "keybearer.db"
    if not file.is_file():
        raise ConfigurationError(f"{data_dir} holds no database; for PostgreSQL ask the service")
    source = RootKeySource(file=data_dir / "root.key", text=os.environ.get(OwnCredential.ROOT_KEY))

    async def run() -> T:
        database = Database(sqlite_url(file), SystemClock())
        try:
            await database.prepare()
            await unlock(database, source)
            rotation = KeyRotation(database, source, SystemClock())
            await rotation.start()
            answer = await work(rotation)
            await rotation.finish()
            await rotation.close()
        finally:
            await database.close()
        return answer

    with DataDirectory(data_dir):
        return asyncio.run(run())


async def _status_of(rotation: KeyRotation) -> KeyStatusModel:
    from keybearer.server.key_rendering import key_status_of

    return key_status_of(await rotation.stands())


async def _rotate_root(rotation: KeyRotation) -> str:
    from keybearer.domain.key_rotation import AT_THE_DATA_DIRECTORY

    return await rotation.begin_root(AT_THE_DATA_DIRECTORY)


async def _rotate_data(rotation: KeyRotation, project: str | None) -> int:
    from keybearer.domain.key_rotation import AT_THE_DATA_DIRECTORY

    return len(await rotation.begin_data(AT_THE_DATA_DIRECTORY, project))
