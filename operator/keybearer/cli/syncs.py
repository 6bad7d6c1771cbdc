"""`keybearer syncs`: what pushes the secrets of a folder to a remote."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import timedelta
from functools import partial
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from keybearer.cli.connecting import (
    EnvironmentName,
    FolderPath,
    ProjectName,
    connected,
    is_id,
    project_id_of,
)
from keybearer.cli.failures import CommandError, ExitStatus
from keybearer.cli.following import Job, follow, require_succeeded
from keybearer.cli.output import (
    Output,
    OutputFormat,
    Yes,
    print_done,
    print_found,
    print_json,
    require_confirmed,
    spinner,
)
from keybearer.cli.wire_fields import fields_of, rows_of
from keybearer.cli.words import FirstSync, Preference

if TYPE_CHECKING:
    from pydantic import JsonValue

    from keybearer.client import Keybearer, SecretSync

__all__ = ["syncs"]

syncs = typer.Typer(
    help="Push the secrets of folders to remotes.", no_args_is_help=True, rich_markup_mode=None
)

Which = Annotated[str, typer.Argument(help="Name or id of the sync.", metavar="SYNC")]
Config = Annotated[
    list[str] | None,
    typer.Option(
        metavar="NAME=TEXT",
        help="Where within the remote, in the service's spelling: NAME=TEXT, or NAME:=JSON for what is no text; "
        "repeatable.",
    ),
]
Option = Annotated[
    list[str] | None,
    typer.Option(
        metavar="NAME=TEXT", help="What else the destination takes as syncOptions; as --config; repeatable."
    ),
]
First = Annotated[
    FirstSync | None,
    typer.Option(
        "--first",
        metavar="BEHAVIOR",
        help="What the first run does with what is there: overwrite-destination (default), "
        "import-prioritize-source or import-prioritize-destination.",
    ),
]
KeySchema = Annotated[
    str | None, typer.Option(help="How keys are called there, such as APP_{{secretKey}}.", metavar="SCHEMA")
]
Keep = Annotated[
    bool | None,
    typer.Option("--keep/--no-keep", help="Leave there what is removed here; removed by default."),
]
Auto = Annotated[
    bool | None, typer.Option("--auto/--no-auto", help="Push each change by itself; so by default.")
]
Wait = Annotated[bool, typer.Option("--wait", help="Until it has ended; the exit status tells how.")]
Timeout = Annotated[int, typer.Option(help="Seconds to wait at most.", min=1)]
_PATIENCE_SECONDS = 600


@syncs.command("list")
def list_syncs(
    project: ProjectName,
    destination: Annotated[str | None, typer.Option(help="Only those to this one.")] = None,
    output: Output = OutputFormat.TABLE,
) -> None:
    """List the syncs of a project."""
    with connected() as client:
        found = client.secret_syncs.list(project_id=project_id_of(client, project), destination=destination)
    print_found(
        output,
        found,
        ("NAME", "FROM", "TO", "AUTO", "STATUS", "LAST SYNCED", "ID"),
        [
            (
                one.name,
                _source(one),
                f"{one.destination} ({one.connection.name})",
                "yes" if one.is_auto_sync_enabled else "no",
                _standing(one),
                one.last_synced_at or "never",
                one.id,
            )
            for one in found
        ],
    )


@syncs.command("get")
def get_sync(sync: Which, project: ProjectName, output: Output = OutputFormat.TABLE) -> None:
    """Show a sync.

    What it reads, where it writes, and how its last runs ended.
    """
    with connected() as client:
        found = _named(client, sync, project_id_of(client, project))
    print_found(
        output,
        found,
        ("FIELD", "CONTENT"),
        [
            ("name", found.name),
            ("from", _source(found)),
            ("to", found.destination),
            ("connection", found.connection.name),
            *rows_of(found.destination_config),
            *rows_of(found.sync_options),
            ("auto sync", "yes" if found.is_auto_sync_enabled else "no"),
            ("sync", _ended(found.sync_status, found.last_synced_at, found.last_sync_message)),
            ("import", _ended(found.import_status, found.last_imported_at, found.last_import_message)),
            ("remove", _ended(found.remove_status, found.last_removed_at, found.last_remove_message)),
            ("description", found.description),
            ("created", found.created_at),
            ("updated", found.updated_at),
            ("id", found.id),
        ],
    )


@syncs.command("options")
def list_options(output: Output = OutputFormat.TABLE) -> None:
    """List the destinations that are offered.

    And the app of the connections that each takes.
    """
    with connected() as client:
        found = client.secret_syncs.options()
    print_found(
        output,
        found,
        ("DESTINATION", "NAME", "CONNECTION", "IMPORTS"),
        [
            (one.destination, one.name, one.connection, "yes" if one.can_import_secrets else "no")
            for one in found
        ],
    )


@syncs.command("create")
def create_sync(
    name: Annotated[str, typer.Argument(help="Lower-case letters, digits and hyphens.")],
    project: ProjectName,
    environment: EnvironmentName,
    destination: Annotated[str, typer.Option("--to", help="Where to; syncs options lists destinations.")],
    connection: Annotated[str, typer.Option(help="Name or id of the connection to push with.")],
    path: FolderPath = "/",
    config: Config = None,
    first: First = None,
    key_schema: KeySchema = None,
    keep: Keep = None,
    option: Option = None,
    auto: Auto = None,
    description: Annotated[str | None, typer.Option(help="What it is for.")] = None,
    output: Output = OutputFormat.TABLE,
) -> None:
    """Have a folder's secrets pushed to a remote.

    Unless --no-auto, the first time at once, and then after each change.
    """
    place = fields_of("--config", config)
    options = _options(
        {"initialSyncBehavior": FirstSync.OVERWRITE_DESTINATION.value}, first, key_schema, keep, option
    )
    with connected() as client:
        project_id = project_id_of(client, project)
        made = client.secret_syncs.create(
            name,
            destination=destination,
            project_id=project_id,
            connection_id=_connection_id(client, project_id, destination, connection),
            environment=environment,
            secret_path=path,
            destination_config=place,
            sync_options=options,
            description=description,
            is_auto_sync_enabled=auto is not False,
        )
    print_done(output, made, f"Sync {made.name} is made; its id is {made.id}.")


@syncs.command("update")
def update_sync(
    sync: Which,
    project: ProjectName,
    name: Annotated[str | None, typer.Option(help="Another name.")] = None,
    description: Annotated[str | None, typer.Option(help="What it is for; '' for nothing.")] = None,
    environment: Annotated[
        str | None, typer.Option("--env", "-e", help="Slug of another environment.")
    ] = None,
    path: Annotated[str | None, typer.Option(help="Another folder.")] = None,
    connection: Annotated[str | None, typer.Option(help="Name or id of another connection.")] = None,
    config: Config = None,
    first: First = None,
    key_schema: KeySchema = None,
    keep: Keep = None,
    option: Option = None,
    auto: Auto = None,
    output: Output = OutputFormat.TABLE,
) -> None:
    """Change a sync.

    What isn't given stays, fields of --config and --option too; NAME:=null takes one away.
    """
    place = fields_of("--config", config)
    options = _options({}, first, key_schema, keep, option)
    plain = (name, description, environment, path, connection, auto)
    if not (place or options) and all(given is None for given in plain):
        raise CommandError(
            "nothing to change was given",
            ExitStatus.USAGE,
            "keybearer syncs update --help lists what can be.",
        )
    with connected() as client:
        project_id = project_id_of(client, project)
        found = _named(client, sync, project_id)
        changed = client.secret_syncs.update(
            found.id,
            destination=found.destination,
            name=name,
            description=description,
            connection_id=None
            if connection is None
            else _connection_id(client, project_id, found.destination, connection),
            environment=environment,
            secret_path=path,
            is_auto_sync_enabled=auto,
            sync_options=_changed(found.sync_options, options),
            destination_config=_changed(found.destination_config, place),
        )
    print_done(output, changed, f"Sync {changed.name} is changed.")


@syncs.command("delete")
def delete_sync(
    sync: Which,
    project: ProjectName,
    remove_secrets: Annotated[
        bool,
        typer.Option(
            "--remove-secrets", help="Also from the destination; then the sync goes when that is done."
        ),
    ] = False,
    yes: Yes = False,
    output: Output = OutputFormat.TABLE,
) -> None:
    """Delete a sync.

    What it pushed stays at the destination, unless --remove-secrets.
    """
    what = ", and what it pushed," if remove_secrets else ""
    require_confirmed(f"Delete sync {sync}{what} of {project}?", yes=yes)
    with connected() as client:
        found = _named(client, sync, project_id_of(client, project))
        deleted = client.secret_syncs.delete(
            found.id, destination=found.destination, remove_secrets=remove_secrets
        )
    done = "goes once its secrets are removed from the destination" if remove_secrets else "is deleted"
    print_done(output, deleted, f"Sync {deleted.name} {done}.")


@syncs.command("run")
def run_sync(
    sync: Which,
    project: ProjectName,
    wait: Wait = False,
    timeout: Timeout = _PATIENCE_SECONDS,
    output: Output = OutputFormat.TABLE,
) -> None:
    """Push a sync's secrets now."""
    with connected() as client:
        found = _named(client, sync, project_id_of(client, project))
        told = client.secret_syncs.sync(found.id, destination=found.destination)
        _conclude(client, told, Job.SYNC, timeout if wait else None, output)


@syncs.command("import")
def import_secrets(
    sync: Which,
    project: ProjectName,
    prefer: Annotated[
        Preference,
        typer.Option(help="Whose value stays where the folder and the destination both have a key."),
    ] = Preference.SOURCE,
    wait: Wait = False,
    timeout: Timeout = _PATIENCE_SECONDS,
    output: Output = OutputFormat.TABLE,
) -> None:
    """Bring what the destination holds into the folder."""
    behavior: Literal["prioritize-source", "prioritize-destination"] = (
        "prioritize-source" if prefer is Preference.SOURCE else "prioritize-destination"
    )
    with connected() as client:
        found = _named(client, sync, project_id_of(client, project))
        told = client.secret_syncs.import_secrets(found.id, destination=found.destination, behavior=behavior)
        _conclude(client, told, Job.IMPORT, timeout if wait else None, output)


@syncs.command("remove")
def remove_secrets(
    sync: Which,
    project: ProjectName,
    wait: Wait = False,
    timeout: Timeout = _PATIENCE_SECONDS,
    yes: Yes = False,
    output: Output = OutputFormat.TABLE,
) -> None:
    """Remove a sync's secrets from the destination.

    The sync stays.
    """
    require_confirmed(f"Remove what sync {sync} of {project} pushed from its destination?", yes=yes)
    with connected() as client:
        found = _named(client, sync, project_id_of(client, project))
        told = client.secret_syncs.remove_secrets(found.id, destination=found.destination)
        _conclude(client, told, Job.REMOVE, timeout if wait else None, output)


def _conclude(
    client: Keybearer, sync: SecretSync, job: Job, patience_seconds: int | None, output: OutputFormat
) -> None:
    """Tell what a sync was told to do, or how that ended; None for no waiting."""
    if patience_seconds is None:
        print_done(output, sync, f"Sync {sync.name}: {job} is {job.status_of(sync)}.")
        return
    read: Callable[[], SecretSync] = partial(client.secret_syncs.get, sync.id, destination=sync.destination)
    with spinner() as tell:
        ended = follow(sync, job, read, tell, patience=timedelta(seconds=patience_seconds))
    if output is OutputFormat.JSON:
        print_json(ended)
    require_succeeded(ended, job)
    if output is not OutputFormat.JSON:
        print_done(output, ended, f"Sync {ended.name}: {job} succeeded.")


def _named(client: Keybearer, wanted: str, project_id: str) -> SecretSync:
    for one in client.secret_syncs.list(project_id=project_id):
        if wanted in (one.id, one.name):
            return one
    raise CommandError(
        f"the project has no sync {wanted}", ExitStatus.NOT_FOUND, "List them: keybearer syncs list"
    )


def _connection_id(client: Keybearer, project_id: str, destination: str, wanted: str) -> str:
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


def _options(
    default: Mapping[str, JsonValue],
    first: FirstSync | None,
    key_schema: str | None,
    keep: bool | None,
    option: list[str] | None,
) -> dict[str, JsonValue]:
    named = {
        "initialSyncBehavior": None if first is None else first.value,
        "keySchema": key_schema,
        "disableSecretDeletion": keep,
    }
    given = {name: value for name, value in named.items() if value is not None}
    return {**default, **given, **fields_of("--option", option)}


def _changed(present: Mapping[str, JsonValue], given: Mapping[str, JsonValue]) -> dict[str, JsonValue] | None:
    """Return the whole of what a change is sent as; None for no change."""
    if not given:
        return None
    return {name: value for name, value in {**present, **given}.items() if value is not None}


def _source(sync: SecretSync) -> str:
    if sync.environment is None or sync.folder is None:
        return "a folder that is gone"
    return f"{sync.environment.slug}:{sync.folder.path}"


def _standing(sync: SecretSync) -> str:
    if sync.remove_status is not None and sync.remove_status != "succeeded":
        return f"removal {sync.remove_status}"
    if sync.import_status in ("pending", "running"):
        return f"import {sync.import_status}"
    return sync.sync_status or "never run"


def _ended(status: str | None, at: str | None, message: str | None) -> str:
    parts = [status or "never", *([f"last at {at}"] if at else ()), *([message] if message else ())]
    return "; ".join(parts)
