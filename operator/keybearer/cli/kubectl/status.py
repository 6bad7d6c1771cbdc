"""`kubectl keybearer status`: how all objects of ours stand, those in trouble first."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from typing import Annotated

import typer

from keybearer.cli.failures import ExitStatus
from keybearer.cli.kubectl.cluster import (
    AllNamespaces,
    Cluster,
    Context,
    Kubeconfig,
    Namespace,
    Place,
    Words,
    bodies_of,
    run,
)
from keybearer.cli.kubectl.standing import Health, Standing, short_duration, standing_of
from keybearer.cli.kubectl.targets import targets_of
from keybearer.cli.output import Cell, Output, OutputFormat, Styled, note, print_found, printable

__all__ = ["status"]

_COLOURS = {
    Health.FAILED: "red",
    Health.IN_PROGRESS: "yellow",
    Health.TERMINATING: "magenta",
    Health.CURRENT: "green",
}


def status(
    words: Words = None,
    namespace: Namespace = None,
    everywhere: AllNamespaces = False,
    kubeconfig: Kubeconfig = None,
    context: Context = None,
    output: Output = OutputFormat.TABLE,
    exit_code: Annotated[
        bool, typer.Option("--exit-code", help="End with status 8 where something isn't ready.")
    ] = False,
) -> None:
    """Show how SecretSyncs, AppConnections and CertificateProfiles stand.

    Those in trouble come first. LAST SYNC is when one was last known to be in step, NEXT when something is done by
    itself; JSON says as well what kstatus makes of each, as Flux and Argo CD do.
    """
    targets = targets_of(words or [])

    async def look(cluster: Cluster) -> tuple[str, list[Standing]]:
        bodies = await bodies_of(cluster, targets, everywhere=everywhere)
        return cluster.namespace, [standing_of(body) for body in bodies]

    where, found = run(Place(kubeconfig, context, namespace), look)
    found.sort(key=lambda one: (one.urgency, one.namespace, one.kind, one.name))
    if not found:
        note("Nothing of ours in any namespace." if everywhere else f"Nothing of ours in namespace {where}.")
    _print(found, output, everywhere=everywhere)
    if exit_code and any(one.health is not Health.CURRENT for one in found):
        raise typer.Exit(ExitStatus.NOT_AS_WANTED)


def _print(found: Sequence[Standing], output: OutputFormat, *, everywhere: bool) -> None:
    if not found and output is OutputFormat.TABLE:
        return
    # On a terminal a column of messages would be folded to ribbons: they stand below there.
    below = sys.stdout.isatty()
    columns = ["KIND", "NAME", "READY", "REASON", "AGE", "LAST SYNC", "NEXT"]
    columns = [*(["NAMESPACE"] if everywhere else []), *columns, *([] if below else ["MESSAGE"])]
    now = datetime.now(UTC)
    rows = [_row(one, now, everywhere=everywhere, with_message=not below) for one in found]
    print_found(output, [asdict(one) for one in found], columns, rows)
    if below and output is OutputFormat.TABLE:
        for line in _messages(found, everywhere=everywhere):
            typer.secho(printable(line.text), fg=line.style)


def _row(one: Standing, now: datetime, *, everywhere: bool, with_message: bool) -> list[Cell]:
    colour = _COLOURS[one.health]
    due = one.next_sync
    then = one.next_hint if due is None else "now" if due <= now else f"in {short_duration(due - now)}"
    row: list[Cell] = [
        *([one.namespace] if everywhere else []),
        one.kind,
        one.name,
        Styled(one.ready or "-", colour),
        Styled(one.reason, colour),
        _ago(one.created, now),
        _ago(one.last_sync, now),
        then or "-",
    ]
    return [*row, _one_line(one.message)] if with_message else row


def _messages(found: Sequence[Standing], *, everywhere: bool) -> Iterator[Styled]:
    for one in found:
        if one.health is not Health.CURRENT and one.message:
            where = f"{one.namespace}/" if everywhere else ""
            yield Styled(f"\n{one.kind} {where}{one.name}: {one.message}", _COLOURS[one.health])


def _one_line(text: str) -> str:
    return " ".join(text.split())


def _ago(instant: datetime | None, now: datetime) -> str:
    return "-" if instant is None else short_duration(now - instant)
