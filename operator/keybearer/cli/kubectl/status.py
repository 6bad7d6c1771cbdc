"""`kubectl keybearer status`: how all objects of ours stand, those in trouble first."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import asdict
from datetime import UTC, datetime
from functools import partial
from typing import TYPE_CHECKING, Annotated

import orjson
import typer

from keybearer.base.clock import format_instant
from keybearer.cli.failures import CommandError, ExitStatus
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
from keybearer.cli.kubectl.targets import Target, targets_of
from keybearer.cli.output import (
    Cell,
    Output,
    OutputFormat,
    Styled,
    clear_terminal,
    note,
    print_exactly,
    print_found,
    printable,
)

if TYPE_CHECKING:
    from keybearer.kube.resources import JsonObject

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
        bool, typer.Option("--exit-code", help="End with status 8 if something isn't ready.")
    ] = False,
    watch: Annotated[
        bool,
        typer.Option("--watch", "-w", help="Follow changes until Ctrl-C. In a pipe, each change is a line."),
    ] = False,
) -> None:
    """Show the state of SecretSyncs, AppConnections and CertificateProfiles.

    Objects in trouble come first. LAST SYNC is when an object was last in sync, and NEXT is when the operator acts
    again. JSON also has the kstatus of each object, as Flux and Argo CD see it.
    """
    targets = targets_of(words or [])
    place = Place(kubeconfig, context, namespace)
    if watch:
        if exit_code:
            raise CommandError("--watch and --exit-code exclude each other", ExitStatus.USAGE)
        _watch(place, targets, output, everywhere=everywhere)
        return

    async def look(cluster: Cluster) -> tuple[str, list[Standing]]:
        bodies = await bodies_of(cluster, targets, everywhere=everywhere)
        return cluster.namespace, _sorted(bodies)

    where, found = run(place, look)
    if not found:
        note(_nothing(where, everywhere=everywhere))
    _print(found, output, everywhere=everywhere)
    if exit_code and any(one.health is not Health.CURRENT for one in found):
        raise typer.Exit(ExitStatus.NOT_AS_WANTED)


def _nothing(namespace: str, *, everywhere: bool) -> str:
    return f"No objects of Keybearer in {'any namespace' if everywhere else f'namespace {namespace}'}."


def _sorted(bodies: Iterable[JsonObject]) -> list[Standing]:
    found = [standing_of(body) for body in bodies]
    return sorted(found, key=lambda one: (one.urgency, one.namespace, one.kind, one.name))


def _watch(place: Place, targets: Sequence[Target], output: OutputFormat, *, everywhere: bool) -> None:
    """Follow the objects until Ctrl-C: on a terminal the table again and again, else a line for each change."""
    is_drawn = sys.stdout.isatty() and output is OutputFormat.TABLE
    told: dict[tuple[str, str, str], Standing] = {}

    def show(namespace: str, bodies: list[JsonObject], trouble: str | None) -> None:
        found = _sorted(bodies)
        if is_drawn:
            clear_terminal()
            if not found:
                note(_nothing(namespace, everywhere=everywhere))
            _print(found, output, everywhere=everywhere)
            note(f"{trouble or 'Changes are shown as they come.'} Ctrl-C ends this.")
            return
        for line in _changed(told, found, output):
            print_exactly(line + "\n")
        if trouble:
            note(trouble)

    async def follow(cluster: Cluster) -> None:
        from keybearer.cli.kubectl.watching import follow_objects

        await follow_objects(cluster, targets, partial(show, cluster.namespace), everywhere=everywhere)

    with suppress(KeyboardInterrupt):
        run(place, follow)


def _changed(
    told: dict[tuple[str, str, str], Standing], found: Sequence[Standing], output: OutputFormat
) -> Iterator[str]:
    """Yield a line for each object that is new, has another state than in its last line, or is gone.

    Args:
        told: the state in the last line of each object; updated.
        found: the present states.
        output: for people a sentence, for programs JSON.
    """
    now = format_instant(datetime.now(UTC))
    there = {(one.kind, one.namespace, one.name): one for one in found}
    for place in [place for place in told if place not in there]:
        yield _line(now, told.pop(place), output, is_gone=True)
    for place, one in there.items():
        if place not in told or _condition(told[place]) != _condition(one):
            told[place] = one
            yield _line(now, one, output, is_gone=False)


def _condition(one: Standing) -> tuple[str, str, str, Health]:
    return one.ready, one.reason, one.message, one.health


def _line(now: str, one: Standing, output: OutputFormat, *, is_gone: bool) -> str:
    if output is OutputFormat.JSON:
        return orjson.dumps({"at": now, "is_gone": is_gone, **asdict(one)}).decode()
    how = "gone" if is_gone else f"{one.ready or '-'} {one.reason}: {_one_line(one.message)}"
    return printable(f"{now} {one.kind} {one.namespace}/{one.name} {how}")


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
        is_current = one.health is Health.CURRENT
        if one.message and (one.missing_workloads or not is_current):
            where = f"{one.namespace}/" if everywhere else ""
            colour = "yellow" if is_current else _COLOURS[one.health]
            yield Styled(f"\n{one.kind} {where}{one.name}: {one.message}", colour)


def _one_line(text: str) -> str:
    return " ".join(text.split())


def _ago(instant: datetime | None, now: datetime) -> str:
    return "-" if instant is None else short_duration(now - instant)
