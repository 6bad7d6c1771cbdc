"""`keybearer connections`: credentials for remotes, that secret syncs push with."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from keybearer.cli.connecting import connected, project_id_of
from keybearer.cli.failures import misused, not_found, nothing_to_change
from keybearer.cli.nouns import Noun
from keybearer.cli.on_demand import new_group
from keybearer.cli.output import (
    Output,
    OutputFormat,
    Yes,
    print_done,
    print_fields,
    print_found,
    require_confirmed,
)
from keybearer.cli.sync_owners import announce_stopping
from keybearer.cli.wire_fields import credentials_of, rows_of
from keybearer.wire.vocabulary import canonical_app

if TYPE_CHECKING:
    from collections.abc import Sequence

    from keybearer.client import AllowedUse, AppConnection, Keybearer, RotationTerms

__all__ = ["connections"]

connections = new_group("Credentials for remotes, that secret syncs push with.")
CONNECTION: Noun[AppConnection] = Noun(
    "connection",
    ("NAME", "APP", "METHOD", "ROTATION", "UPDATED", "ID"),
    lambda one: (one.name, one.app, one.method, _rotation(one), one.updated_at, one.id),
)

Which = Annotated[str, typer.Argument(help="Name or id of the connection.", metavar="CONNECTION")]
OfProject = Annotated[
    str | None,
    typer.Option("--project", "-p", envvar="KEYBEARER_PROJECT", help="Slug or id of its project."),
]
OfOrganization = Annotated[
    bool,
    typer.Option("--organization", help="Of the organization, for all its projects; as without --project."),
]
CredentialsFile = Annotated[
    Path | None,
    typer.Option(
        help="File with the credentials, a JSON object in the service's spelling; - is standard input.",
        allow_dash=True,
    ),
]
Every = Annotated[
    int | None, typer.Option("--rotate-every", help="Days after which credentials are replaced.", min=1)
]
At = Annotated[
    str | None,
    typer.Option("--rotate-at", help="When on that day: HH:MM in UTC; 00:00 by default.", metavar="HH:MM"),
]


@connections.command("list")
def list_connections(
    project: OfProject = None,
    organization: OfOrganization = False,
    app: Annotated[str | None, typer.Option(help="Only those to this app, such as aws.")] = None,
    output: Output = OutputFormat.TABLE,
) -> None:
    """List connections.

    Lists those of a project, or of the organization.
    """
    with _of_owner(project, organization=organization) as (client, project_id):
        CONNECTION.print_list(output, client.app_connections.list(app=app, project_id=project_id))


@connections.command("get")
def get_connection(
    connection: Which,
    project: OfProject = None,
    organization: OfOrganization = False,
    output: Output = OutputFormat.TABLE,
) -> None:
    """Show a connection.

    Shows only credentials that aren't secret.
    """
    with _one(connection, project, organization=organization) as (client, found):
        allowed = _allowed(client, found)
    message = found.rotation.last_rotation_message if found.rotation else None
    rows = [
        ("name", found.name),
        ("app", found.app),
        ("method", found.method),
        *rows_of(found.credentials),
        ("description", found.description),
        ("project", found.project.slug if found.project else "of the organization"),
        *_allowed_rows(allowed, of_organization=found.project is None),
        ("rotation", _rotation(found)),
        *([("last rotation", message)] if message else ()),
        ("version", str(found.version)),
        ("created", found.created_at),
        ("updated", found.updated_at),
        ("id", found.id),
    ]
    print_fields(output, found, rows)


@connections.command("options")
def list_options(output: Output = OutputFormat.TABLE) -> None:
    """List the apps that connections can be made to.

    Also lists the methods of each app.
    """
    with connected() as client:
        found = client.app_connections.options()
    rows = [(one.app, one.name, ", ".join(one.methods)) for one in found]
    print_found(output, found, ("APP", "NAME", "METHODS"), rows)


@connections.command("create")
def create_connection(
    name: Annotated[str, typer.Argument(help="Lower-case letters, digits and hyphens.")],
    app: Annotated[str, typer.Option(help="The app, such as aws; connections options lists all.")],
    method: Annotated[
        str | None,
        typer.Option(help="Method of the credentials; not needed if the app has only one."),
    ] = None,
    credentials_file: CredentialsFile = None,
    description: Annotated[str | None, typer.Option(help="What it is for.")] = None,
    rotate_every: Every = None,
    rotate_at: At = None,
    project: OfProject = None,
    organization: OfOrganization = False,
    output: Output = OutputFormat.TABLE,
) -> None:
    """Make a connection.

    The service tries the credentials first. They are a JSON object in the service's spelling. They come from a file,
    KEYBEARER_APP_CREDENTIALS or a prompt without echo, never from an argument, which others could see.
    """
    rotation = _terms(rotate_every, rotate_at)
    credentials = credentials_of(credentials_file)
    with _of_owner(project, organization=organization) as (client, project_id):
        made = client.app_connections.create(
            name,
            app=app,
            method=method or _only_method(client, app),
            credentials=credentials,
            description=description,
            project_id=project_id,
            is_auto_rotation_enabled=None if rotation is None else True,
            rotation=rotation,
        )
    print_done(output, made, f"Connection {made.name} to {made.app} is made; its id is {made.id}.")


@connections.command("update")
def update_connection(
    connection: Which,
    name: Annotated[str | None, typer.Option(help="Another name.")] = None,
    description: Annotated[str | None, typer.Option(help="What it is for; '' for nothing.")] = None,
    credentials_file: CredentialsFile = None,
    new_credentials: Annotated[
        bool,
        typer.Option("--new-credentials", help="Ask for other credentials, as create does without a file."),
    ] = False,
    rotate_every: Every = None,
    rotate_at: At = None,
    no_rotation: Annotated[bool, typer.Option("--no-rotation", help="Stop the automatic rotation.")] = False,
    project: OfProject = None,
    organization: OfOrganization = False,
    output: Output = OutputFormat.TABLE,
) -> None:
    """Change a connection.

    Options that aren't given change nothing.
    """
    takes_credentials = new_credentials or credentials_file is not None
    plain = (name, description, rotate_every)
    if all(given is None for given in plain) and not (takes_credentials or no_rotation):
        raise nothing_to_change(
            "Say --name, --description, --credentials-file, --new-credentials, --rotate-every or --no-rotation."
        )
    if no_rotation and rotate_every is not None:
        raise misused("--rotate-every and --no-rotation exclude each other")
    rotation = _terms(rotate_every, rotate_at)
    credentials = credentials_of(credentials_file) if takes_credentials else None
    with _one(connection, project, organization=organization) as (client, found):
        changed = client.app_connections.update(
            found.id,
            app=found.app,
            name=name,
            description=description,
            credentials=credentials,
            is_auto_rotation_enabled=False if no_rotation else None if rotation is None else True,
            rotation=rotation,
        )
    CONNECTION.print_done(output, changed, "is changed")


@connections.command("allow")
def allow_use(
    connection: Which,
    to: Annotated[
        list[str] | None,
        typer.Option(
            "--to", help="Slug or id of a project that may use it from now on; repeatable.", metavar="PROJECT"
        ),
    ] = None,
    not_to: Annotated[
        list[str] | None,
        typer.Option(
            "--not-to", help="Of a project that may no longer use it; repeatable.", metavar="PROJECT"
        ),
    ] = None,
    any_project: Annotated[
        bool,
        typer.Option("--any-project", help="Name no projects: admins of the organization use it in each."),
    ] = False,
    place: Annotated[
        list[str] | None,
        typer.Option(
            "--place",
            help="Place that syncs may write to; * matches within a name, ** any depth; repeatable.",
            metavar="PATTERN",
        ),
    ] = None,
    not_place: Annotated[
        list[str] | None,
        typer.Option("--not-place", help="Pattern to remove from the list; repeatable.", metavar="PATTERN"),
    ] = None,
    any_place: Annotated[bool, typer.Option("--any-place", help="Let syncs write to every place.")] = False,
    project: OfProject = None,
    organization: OfOrganization = False,
    output: Output = OutputFormat.TABLE,
) -> None:
    """Say which projects may use a connection, and for which places.

    The first --to limits a connection of the organization to that project, and the first --place to that place.
    Syncs that are no longer allowed stop at their next run; those that you may see are named. Quote patterns, or the
    shell reads them.
    """
    if any_project and (to or not_to):
        raise misused("--any-project excludes --to and --not-to")
    if any_place and (place or not_place):
        raise misused("--any-place excludes --place and --not-place")
    if not (to or not_to or any_project or place or not_place or any_place):
        raise nothing_to_change("Say --to, --not-to, --any-project, --place, --not-place or --any-place.")
    with _one(connection, project, organization=organization) as (client, found):
        present = client.app_connections.get_allowed_use(found.id, app=found.app)
        added, removed = ([project_id_of(client, one) for one in given or ()] for given in (to, not_to))
        changed = client.app_connections.change_allowed_use(
            found.id,
            app=found.app,
            project_ids=_listed(present.project_ids, added, removed),
            any_project=any_project,
            places=_listed(present.places, place or (), not_place or ()),
            any_place=any_place,
        )
    print_fields(output, changed, _allowed_rows(changed, of_organization=found.project is None))
    announce_stopping(changed.stopping_syncs)


@connections.command("delete")
def delete_connection(
    connection: Which,
    project: OfProject = None,
    organization: OfOrganization = False,
    yes: Yes = False,
    output: Output = OutputFormat.TABLE,
) -> None:
    """Delete a connection that no sync uses any more."""
    require_confirmed(f"Delete connection {connection}?", yes=yes)
    with _one(connection, project, organization=organization) as (client, found):
        deleted = client.app_connections.delete(found.id, app=found.app)
    CONNECTION.print_done(output, deleted, "is deleted")


@connections.command("rotate")
def rotate_connection(
    connection: Which,
    project: OfProject = None,
    organization: OfOrganization = False,
    output: Output = OutputFormat.TABLE,
) -> None:
    """Rotate a connection's credentials.

    Only if its app can do that. The old credentials end.
    """
    with _one(connection, project, organization=organization) as (client, found):
        rotated = client.app_connections.rotate_credentials(found.id, app=found.app)
    CONNECTION.print_done(output, rotated, "has new credentials")


@contextmanager
def _of_owner(project: str | None, *, organization: bool) -> Iterator[tuple[Keybearer, str | None]]:
    """Yield a client as `connected` does, and the id of the project; None for the organization."""
    with connected() as client:
        yield client, None if project is None or organization else project_id_of(client, project)


@contextmanager
def _one(
    wanted: str, project: str | None, *, organization: bool
) -> Iterator[tuple[Keybearer, AppConnection]]:
    """Yield a client as `connected` does, and the connection of that id or name.

    Raises:
        CommandError: the project, or the organization, has none.
    """
    with _of_owner(project, organization=organization) as (client, project_id):
        for one in client.app_connections.list(project_id=project_id):
            if wanted in (one.id, one.name):
                yield client, one
                return
        where = "the organization itself" if project_id is None else "the project"
        option = "--organization" if project_id is None else "--project PROJECT"
        raise not_found(
            f"{where} has no connection {wanted}",
            f"List its connections: keybearer connections list {option}",
        )


def _only_method(client: Keybearer, app: str) -> str:
    apps = {canonical_app(one.app)[0]: one.methods for one in client.app_connections.options()}
    methods = apps.get(canonical_app(app)[0])
    if methods is None:
        raise not_found(
            f"no connection can be made to {app}",
            f"Choose one of these as --app: {', '.join(sorted(apps))}",
        )
    if len(methods) != 1:
        raise misused(
            f"{app} takes credentials in several ways",
            f"Choose one of these as --method: {', '.join(methods)}",
        )
    return methods[0]


def _terms(days: int | None, at: str | None) -> RotationTerms | None:
    from keybearer.client import RotationTerms

    if days is None:
        if at is not None:
            raise misused("--rotate-at needs --rotate-every")
        return None
    clock = re.fullmatch(r"([01][0-9]|2[0-3]):([0-5][0-9])", at or "00:00")
    if clock is None:
        raise misused(f"--rotate-at {at!r} is no HH:MM")
    return RotationTerms(interval_days=days, hours=int(clock[1]), minutes=int(clock[2]))


def _rotation(one: AppConnection) -> str:
    if one.rotation is None or not one.is_auto_rotation_enabled:
        return "off"
    told = f"{one.rotation.rotation_status}; " if one.rotation.rotation_status else ""
    return f"{told}next {one.rotation.next_rotation_at}" if one.rotation.next_rotation_at else f"{told}on"


def _allowed(client: Keybearer, one: AppConnection) -> AllowedUse | None:
    """Return what the connection allows; None of a service that isn't Keybearer."""
    from keybearer.client import NotFound

    try:
        return client.app_connections.get_allowed_use(one.id, app=one.app)
    except NotFound:
        return None


def _allowed_rows(allowed: AllowedUse | None, *, of_organization: bool) -> list[tuple[str, str]]:
    if allowed is None:
        return []
    projects = (
        "admins of the organization, in each"
        if allowed.project_ids is None
        else ", ".join(allowed.project_ids)
    )
    rows = [("used in projects", projects or "none")] if of_organization else []
    return [*rows, ("places", "all" if allowed.places is None else ", ".join(allowed.places) or "none")]


def _listed(present: Sequence[str] | None, added: Sequence[str], removed: Sequence[str]) -> list[str] | None:
    """Return the list after the change; None if nothing of it changes."""
    if not added and (not removed or present is None):
        return None
    return [one for one in dict.fromkeys((*(present or ()), *added)) if one not in removed]
