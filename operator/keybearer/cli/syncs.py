"""`keybearer syncs`: what pushes the secrets of a folder to a remote."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated

import typer

from keybearer.cli.connecting import EnvironmentName, FolderPath, ProjectName, connected, project_id_of
from keybearer.cli.failures import CommandError, ExitStatus
from keybearer.cli.output import Output, OutputFormat, Yes, print_done, print_found, require_confirmed
from keybearer.cli.sync_finding import Which, connection_id_of, named_sync
from keybearer.cli.sync_jobs import import_secrets, remove_pushed, run_sync
from keybearer.cli.sync_owners import show_owner, transfer_sync
from keybearer.cli.sync_rows import COLUMNS, fields_of_sync, row_of
from keybearer.cli.wire_fields import fields_of
from keybearer.cli.words import FirstSync

if TYPE_CHECKING:
    from pydantic import JsonValue

__all__ = ["syncs"]

syncs = typer.Typer(
    help="Push the secrets of folders to remotes.", no_args_is_help=True, rich_markup_mode=None
)

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


@syncs.command("list")
def list_syncs(
    project: ProjectName,
    destination: Annotated[str | None, typer.Option(help="Only those to this one.")] = None,
    output: Output = OutputFormat.TABLE,
) -> None:
    """List the syncs of a project."""
    with connected() as client:
        found = client.secret_syncs.list(project_id=project_id_of(client, project), destination=destination)
    print_found(output, found, COLUMNS, [row_of(one) for one in found])


@syncs.command("get")
def get_sync(sync: Which, project: ProjectName, output: Output = OutputFormat.TABLE) -> None:
    """Show a sync.

    What it reads, where it writes, and how its last runs ended.
    """
    with connected() as client:
        found = named_sync(client, sync, project_id_of(client, project))
    print_found(output, found, ("FIELD", "CONTENT"), fields_of_sync(found))


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


@syncs.command("secrets")
def list_secrets(sync: Which, project: ProjectName, output: Output = OutputFormat.TABLE) -> None:
    """List how each secret of a sync stands at its destination.

    One that is synced is there as the folder has it now; one that is pending or failed isn't. One that is removing
    was pushed, and is no longer in the folder. What is foreign came from elsewhere. No values are shown.
    """
    with connected() as client:
        found = named_sync(client, sync, project_id_of(client, project))
        listed = client.secret_syncs.list_secrets(found.id, destination=found.destination)
    print_found(
        output,
        listed,
        ("NAME", "KEY", "STATE", "MESSAGE"),
        [(one.name, one.secret_key or "", one.state, one.message or "") for one in listed],
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
            connection_id=connection_id_of(client, project_id, destination, connection),
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
        found = named_sync(client, sync, project_id_of(client, project))
        deleted = client.secret_syncs.delete(
            found.id, destination=found.destination, remove_secrets=remove_secrets
        )
    done = "goes once its secrets are removed from the destination" if remove_secrets else "is deleted"
    print_done(output, deleted, f"Sync {deleted.name} {done}.")


syncs.command("run")(run_sync)
syncs.command("import")(import_secrets)
syncs.command("remove")(remove_pushed)
syncs.command("owner")(show_owner)
syncs.command("transfer")(transfer_sync)


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
