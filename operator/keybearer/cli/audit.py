"""`keybearer audit`: what was done, by whom; and whether anybody edited the log."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from keybearer.cli.audit_verifying import verify
from keybearer.cli.connecting import connected, project_id_of
from keybearer.cli.instants import since_of
from keybearer.cli.output import Output, OutputFormat, print_found

if TYPE_CHECKING:
    from keybearer.client import AuditLog

__all__ = ["audit"]

audit = typer.Typer(invoke_without_command=True, rich_markup_mode=None)
audit.command("verify")(verify)


@audit.callback()
def show(
    context: typer.Context,
    project: Annotated[
        str | None,
        typer.Option("--project", "-p", envvar="KEYBEARER_PROJECT", help="Only of this project: slug or id."),
    ] = None,
    event: Annotated[
        list[str] | None, typer.Option(help="Only of this kind, such as create-secret; repeatable.")
    ] = None,
    actor: Annotated[str | None, typer.Option(help="Id of the identity or user who did it.")] = None,
    since: Annotated[
        str | None, typer.Option(help="From here on: 30m, 24h, or 2026-01-02T03:04:05Z.")
    ] = None,
    limit: Annotated[int, typer.Option(help="How many lines; the latest come first.", min=1, max=1000)] = 50,
    output: Output = OutputFormat.TABLE,
) -> None:
    """Show what was done, by whom and from where. Never shows values: none are recorded."""
    if context.invoked_subcommand is not None:
        return
    with connected() as client:
        found = client.audit_logs.list(
            project_id=None if project is None else project_id_of(client, project),
            event_types=tuple(event or ()),
            actor=actor,
            start=None if since is None else since_of(since),
            limit=limit,
        )
    print_found(
        output,
        found,
        ("WHEN", "WHO", "WHAT", "ON", "FROM"),
        [(line.created_at, _who(line), line.event.type, _subject(line), line.ip_address) for line in found],
    )


def _who(line: AuditLog) -> str:
    names = line.actor.metadata
    return str(names.get("name") or names.get("username") or line.actor.type)


def _subject(line: AuditLog) -> str:
    return " ".join(
        f"{name}={_short(value)}"
        for name, value in line.event.metadata.items()
        if value not in (None, "", [])
    )


def _short(value: object) -> str:
    return ",".join(map(str, value)) if isinstance(value, list) else str(value)
