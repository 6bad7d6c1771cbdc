"""What is told of a migration: tables for people, one JSON document for programs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from rich.cells import cell_len, set_cell_size
from rich.console import Console
from rich.text import Text

from keybearer.cli.output import PIPE_WIDTH, print_json, printable
from keybearer.migrate.findings import Effect, Verdict

if TYPE_CHECKING:
    from pydantic import JsonValue

    from keybearer.migrate.contents import FolderToFill
    from keybearer.migrate.conversion import Migration, Outcome
    from keybearer.migrate.manifests import Manifest
    from keybearer.migrate.settings import UnusedMapping

__all__ = ["print_migration_json", "print_migration_tables"]

_WORDS = {Verdict.WHOLE: "whole", Verdict.PART: "in part", Verdict.NOT: "not"}
_NAMED_MAX = 5
_SECRETS_MAX = 20


def print_migration_tables(migration: Migration, *, err: bool) -> None:
    """Print a row for each object, then what of its fields is not as it was, then what is to do."""
    console = Console(highlight=False, markup=False, emoji=False, stderr=err)
    if not console.is_terminal:
        console.width = PIPE_WIDTH
    _print_objects(migration, console)
    for one in migration.outcomes:
        told = [finding for finding in one.findings if finding.effect is not Effect.STEP]
        if told:
            console.print()
            _print(console, str(one.origin), 0, style="bold")
        for finding in told:
            _print(console, f"{finding.field or 'all of it'} {finding.effect}: {finding.why}", 2)
            _print(console, finding.remedy, 4)
    _print_folders(migration, console)
    _print_steps(migration, console)
    console.print()
    for unreadable in migration.unreadable:
        _print(console, f"{unreadable.file}: {unreadable.why}", 0)
    for unused in migration.unused:
        _print(console, _told_unused(unused), 0)
    _print(console, _summary(migration), 0)


def _print_objects(migration: Migration, console: Console) -> None:
    """Print the rows; unlike a table's, their last cells are not filled up with blanks, so that diffs stay clean."""
    rows = [("OBJECT", "CARRIED", "BECOMES")]
    rows += [
        (str(one.origin), _WORDS[one.verdict], ", ".join(map(str, one.written)) or "-")
        for one in migration.outcomes
    ]
    first, second = (max(cell_len(row[column]) for row in rows) for column in (0, 1))
    for number, (name, verdict, becomes) in enumerate(rows):
        text = f"{set_cell_size(name, first)}  {set_cell_size(verdict, second)}  {becomes}"
        _print(console, text, 0, style="" if number else "bold")


def _print_folders(migration: Migration, console: Console) -> None:
    if migration.folders:
        console.print()
        _print(console, "Fill these folders of the service first", 0, style="bold")
    for one in migration.folders:
        more = len(one.names) - _SECRETS_MAX
        listed = ", ".join(one.names[:_SECRETS_MAX]) + (f" and {more} more" if more > 0 else "")
        _print(console, f"{one.place}: {listed or 'all secrets that objects read there'}", 2)
        _print_commands(one.commands, console)


def _print_commands(commands: Iterable[str], console: Console) -> None:
    for command in commands:  # one line each, however long, so that it can be copied
        console.print(Text(f"      {printable(command)}"), soft_wrap=True)


def _print_steps(migration: Migration, console: Console) -> None:
    steps: dict[tuple[str, str, tuple[str, ...]], list[str]] = {}
    found = [
        (one.origin, finding)
        for one in migration.outcomes
        for finding in one.findings
        if finding.effect is Effect.STEP
    ]
    for origin, finding in sorted(found, key=lambda step: step[1].comes_last):
        steps.setdefault((finding.why, finding.remedy, finding.commands), []).append(
            f"{origin} {finding.field}".rstrip()
        )
    if steps:
        console.print()
        _print(console, "Before it works", 0, style="bold")
    for (why, remedy, commands), objects in steps.items():
        _print(console, f"{_several(objects)}: {why}", 2)
        _print(console, remedy, 4)
        _print_commands(commands, console)


def _print(console: Console, text: str, indent: int, *, style: str = "") -> None:
    """Print a text, folded to the terminal, without blanks at the ends of lines."""
    if text:
        for line in Text(printable(text)).wrap(console, max(console.width - indent, 20)):
            console.print(Text(" " * indent + line.plain.rstrip(), style=style), soft_wrap=True)


def _told_unused(unused: UnusedMapping) -> str:
    named = ", ".join(unused.asked[:_NAMED_MAX]) + (", ..." if len(unused.asked) > _NAMED_MAX else "")
    known = f"what was read names {named}" if named else "what was read names nothing that it could stand for"
    return f"warning: {unused.option} {unused.name}=... matches nothing: {known}"


def _several(objects: list[str]) -> str:
    first, *others = dict.fromkeys(objects)
    return f"{first} and {len(others)} more" if others else first


def _summary(migration: Migration) -> str:
    counts = Counter(one.verdict for one in migration.outcomes)
    told = ", ".join(f"{counts[verdict]} {word}" for verdict, word in _WORDS.items())
    count = migration.passed_over
    others = f"; {count} other{'s were' if count > 1 else ' was'} passed over" if count else ""
    plural = "" if len(migration.outcomes) == 1 else "s"
    return f"{len(migration.outcomes)} object{plural}: {told}{others}"


def print_migration_json(migration: Migration, files: Mapping[str, str] | None) -> None:
    """Print everything as one JSON document.

    Args:
        migration: what came of it.
        files: names of the files by what they hold; None where nothing was written, and manifests are printed.
    """
    counts = Counter(one.verdict for one in migration.outcomes)
    print_json(
        {
            "summary": {
                "objects": len(migration.outcomes),
                **{verdict.value: counts[verdict] for verdict in Verdict},
                "passedOver": migration.passed_over,
                "unreadable": len(migration.unreadable),
            },
            "objects": [_object(one) for one in migration.outcomes],
            "folders": [_folder(one) for one in migration.folders],
            "manifests": [_manifest(one, files) for one in migration.manifests],
            "unreadable": [{"file": one.file, "why": one.why} for one in migration.unreadable],
            "unusedMappings": [{"option": one.option, "name": one.name} for one in migration.unused],
        }
    )


def _object(one: Outcome) -> JsonValue:
    origin = one.origin
    return {
        "file": origin.file,
        "document": origin.document,
        "apiVersion": origin.api_version,
        "kind": origin.kind,
        "namespace": origin.namespace,
        "name": origin.name,
        "project": one.project.value,
        "verdict": one.verdict.value,
        "becomes": [
            {"kind": made.kind, "namespace": made.namespace, "name": made.name} for made in one.written
        ],
        "findings": [
            {
                "field": finding.field,
                "effect": finding.effect.value,
                "why": finding.why,
                "remedy": finding.remedy,
                "commands": list(finding.commands),
            }
            for finding in one.findings
        ],
    }


def _folder(one: FolderToFill) -> JsonValue:
    return {
        "projectSlug": one.place.project_slug,
        "environment": one.place.environment,
        "path": one.place.path,
        "secrets": list(one.names),
        "commands": list(one.commands),
    }


def _manifest(one: Manifest, files: Mapping[str, str] | None) -> JsonValue:
    told: dict[str, JsonValue] = {"kind": one.kind, "namespace": one.namespace, "name": one.name}
    if files is None:
        told["manifest"] = dict(one.body)
    else:
        told["file"] = files[str(one)]
    return told
