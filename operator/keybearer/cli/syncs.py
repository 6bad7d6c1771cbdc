"""`keybearer syncs`: what pushes the secrets of a folder to a remote."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from keybearer.cli.connecting import EnvironmentName, FolderPath, ProjectName, connected, in_project
from keybearer.cli.failures import nothing_to_change
from keybearer.cli.nouns import Noun
from keybearer.cli.on_demand import new_group
from keybearer.cli.output import Output, OutputFormat, Yes, print_fields, print_found, require_confirmed
from keybearer.cli.sync_finding import Which, connection_id_of, named_sync, one_sync
from keybearer.cli.sync_jobs import import_secrets, remove_pushed, run_sync
from keybearer.cli.sync_owners import show_owner, transfer_sync
from keybearer.cli.wire_fields import fields_of, rows_of

if TYPE_CHECKING:
    from pydantic import JsonValue

    from keybearer.client import SecretSync

__all__ = ["syncs"]

syncs = new_group("Push the secrets of folders to remotes.")
SYNC: Noun[SecretSync] = Noun(
    "sync",
    ("NAME", "FROM", "TO", "AUTO", "STATUS", "LAST SYNCED", "ID"),
    lambda one: (
        one.name,
        _source(one),
        f"{one.destination} ({one.connection.name})",
        "yes" if one.is_auto_sync_enabled else "no",
        _standing(one),
        one.last_synced_at or "never",
        one.id,
    ),
)

Config = Annotated[
    list[str] | None,
    typer.Option(
        metavar="NAME=TEXT",
        help="Place within the remote, in the service's spelling: NAME=TEXT, or NAME:=JSON if it isn't text; "
        "repeatable.",
    ),
]
Option = Annotated[
    list[str] | None,
    typer.Option(metavar="NAME=TEXT", help="Other syncOptions of the destination, as --config; repeatable."),
]
First = Annotated[
    Literal["overwrite-destination", "import-prioritize-source", "import-prioritize-destination"] | None,
    typer.Option(
        "--first",
        metavar="BEHAVIOR",
        help="What the first run does with existing secrets there: overwrite-destination (default), "
        "import-prioritize-source or import-prioritize-destination.",
    ),
]
KeySchema = Annotated[
    str | None, typer.Option(help="Names of keys there, such as APP_{{secretKey}}.", metavar="SCHEMA")
]
Keep = Annotated[
    bool | None,
    typer.Option("--keep/--no-keep", help="Keep secrets there that are removed here. Default: remove them."),
]
Auto = Annotated[
    bool | None, typer.Option("--auto/--no-auto", help="Push each change automatically (default).")
]


@syncs.command("list")
def list_syncs(
    project: ProjectName,
    destination: Annotated[str | None, typer.Option(help="Only syncs to this destination.")] = None,
    output: Output = OutputFormat.TABLE,
) -> None:
    """List the syncs of a project."""
    with in_project(project) as (client, project_id):
        SYNC.print_list(output, client.secret_syncs.list(project_id=project_id, destination=destination))


@syncs.command("get")
def get_sync(sync: Which, project: ProjectName, output: Output = OutputFormat.TABLE) -> None:
    """Show a sync.

    Shows what it reads, where it writes, and how its last runs ended.
    """
    with one_sync(sync, project) as (_, found):
        print_fields(output, found, _fields_of_sync(found))


@syncs.command("options")
def list_options(output: Output = OutputFormat.TABLE) -> None:
    """List the destinations that are offered.

    Also lists the app that each needs.
    """
    with connected() as client:
        found = client.secret_syncs.options()
    rows = [
        (one.destination, one.name, one.connection, "yes" if one.can_import_secrets else "no")
        for one in found
    ]
    print_found(output, found, ("DESTINATION", "NAME", "CONNECTION", "IMPORTS"), rows)


@syncs.command("secrets")
def list_secrets(sync: Which, project: ProjectName, output: Output = OutputFormat.TABLE) -> None:
    """List the state of each secret of a sync at its destination.

    The destination has the present value of a secret that is synced, but not of one that is pending or failed. A
    secret that is removing was pushed, and is no longer in the folder. Others wrote what is foreign. Shows no values.
    """
    with one_sync(sync, project) as (client, found):
        listed = client.secret_syncs.list_secrets(found.id, destination=found.destination)
    rows = [(one.name, one.secret_key or "", one.state, one.message or "") for one in listed]
    print_found(output, listed, ("NAME", "KEY", "STATE", "MESSAGE"), rows)


@syncs.command("create")
def create_sync(
    name: Annotated[str, typer.Argument(help="Lower-case letters, digits and hyphens.")],
    project: ProjectName,
    environment: EnvironmentName,
    destination: Annotated[str, typer.Option("--to", help="The destination; syncs options lists all.")],
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
    """Create a sync that pushes a folder's secrets to a remote.

    It pushes at once, and then after each change, unless --no-auto.
    """
    place = fields_of("--config", config)
    options = _options(first or "overwrite-destination", key_schema, keep, option)
    with in_project(project) as (client, project_id):
        made = client.secret_syncs.create(
            name,
            destination=destination,
            project_id=project_id,
            connection_id=connection_id_of(client, project_id, destination, connection),
            environment=environment,
            secret_path=path,
            destination_config=place,
            sync_options=options,
            description=description,
            is_auto_sync_enabled=auto is not False,
        )
    SYNC.print_made(output, made)


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

    Options that aren't given stay, also fields of --config and --option. NAME:=null removes a field.
    """
    place = fields_of("--config", config)
    options = _options(first, key_schema, keep, option)
    plain = (name, description, environment, path, connection, auto)
    if not (place or options) and all(given is None for given in plain):
        raise nothing_to_change("keybearer syncs update --help lists what can be.")
    with in_project(project) as (client, project_id):
        found = named_sync(client, sync, project_id)
        changed = client.secret_syncs.update(
            found.id,
            destination=found.destination,
            name=name,
            description=description,
            connection_id=None
            if connection is None
            else connection_id_of(client, project_id, found.destination, connection),
            environment=environment,
            secret_path=path,
            is_auto_sync_enabled=auto,
            sync_options=_changed(found.sync_options, options),
            destination_config=_changed(found.destination_config, place),
        )
    SYNC.print_done(output, changed, "is changed")


@syncs.command("delete")
def delete_sync(
    sync: Which,
    project: ProjectName,
    remove_secrets: Annotated[
        bool,
        typer.Option(
            "--remove-secrets", help="Also remove them from the destination. The sync is deleted after that."
        ),
    ] = False,
    yes: Yes = False,
    output: Output = OutputFormat.TABLE,
) -> None:
    """Delete a sync.

    Secrets that it pushed stay at the destination, unless --remove-secrets.
    """
    what = ", and what it pushed," if remove_secrets else ""
    require_confirmed(f"Delete sync {sync}{what} of {project}?", yes=yes)
    with one_sync(sync, project) as (client, found):
        deleted = client.secret_syncs.delete(
            found.id, destination=found.destination, remove_secrets=remove_secrets
        )
    done = "goes once its secrets are removed from the destination" if remove_secrets else "is deleted"
    SYNC.print_done(output, deleted, done)


syncs.command("run")(run_sync)
syncs.command("import")(import_secrets)
syncs.command("remove")(remove_pushed)
syncs.command("owner")(show_owner)
syncs.command("transfer")(transfer_sync)


def _options(
    first: str | None, key_schema: str | None, keep: bool | None, option: list[str] | None
) -> dict[str, JsonValue]:
    named = {"initialSyncBehavior": first, "keySchema": key_schema, "disableSecretDeletion": keep}
    given = {name: value for name, value in named.items() if value is not None}
    return {**given, **fields_of("--option", option)}


def _changed(present: Mapping[str, JsonValue], given: Mapping[str, JsonValue]) -> dict[str, JsonValue] | None:
    """Return the whole of what a change is sent as; None for no change."""
    if not given:
        return None
    return {name: value for name, value in {**present, **given}.items() if value is not None}


def _fields_of_sync(sync: SecretSync) -> list[tuple[str, str]]:
    return [
        ("name", sync.name),
        ("from", _source(sync)),
        ("to", sync.destination),
        ("connection", sync.connection.name),
        *rows_of(sync.destination_config),
        *rows_of(sync.sync_options),
        ("auto sync", "yes" if sync.is_auto_sync_enabled else "no"),
        ("sync", _ended(sync.sync_status, sync.last_synced_at, sync.last_sync_message)),
        ("import", _ended(sync.import_status, sync.last_imported_at, sync.last_import_message)),
        ("remove", _ended(sync.remove_status, sync.last_removed_at, sync.last_remove_message)),
        ("description", sync.description),
        ("created", sync.created_at),
        ("updated", sync.updated_at),
        ("id", sync.id),
    ]


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
