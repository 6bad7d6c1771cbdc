"""The corpus of foreign manifests: what is given, what it becomes, and what is said about it.

Each folder of `tests/corpus/migrate` holds `given.yaml`, `becomes.yaml` and `report.txt`. A first line
`# keybearer migrate ...` gives options. After a change that is meant,
`PYTHONPATH=tests:. python -m support.migration` writes the last two anew; read the difference before you commit it.
"""

from __future__ import annotations

import argparse
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from keybearer.migrate.conversion import Migration, Outcome, Reading, convert, read_text
from keybearer.migrate.manifests import render_manifests
from keybearer.migrate.settings import Settings, read_issuers, read_places

__all__ = ["MigrationCase", "migrate_text", "migration_cases", "report_of", "settings_of"]

_CORPUS = Path(__file__).resolve().parents[1] / "corpus" / "migrate"
_COMMAND = "# keybearer migrate "


@dataclass(frozen=True, slots=True)
class MigrationCase:
    """A folder of the corpus."""

    folder: Path

    @property
    def name(self) -> str:
        """What is given."""
        return self.folder.name

    @property
    def given(self) -> str:
        """The foreign manifests."""
        return (self.folder / "given.yaml").read_text(encoding="utf-8")

    @property
    def settings(self) -> Settings:
        """What the first line says."""
        first = self.given.partition("\n")[0]
        return settings_of(shlex.split(first.removeprefix(_COMMAND)) if first.startswith(_COMMAND) else [])

    def migrated(self) -> Migration:
        """Convert what is given."""
        return migrate_text(self.given, self.settings)

    def expected(self) -> tuple[str, str]:
        """Return the manifests and the report that are written down."""
        return tuple(
            (self.folder / name).read_text(encoding="utf-8") for name in ("becomes.yaml", "report.txt")
        )  # type: ignore[return-value] # two names

    def write(self) -> None:
        """Write down what comes out now."""
        migration = self.migrated()
        (self.folder / "becomes.yaml").write_text(
            render_manifests(list(migration.manifests)), encoding="utf-8"
        )
        (self.folder / "report.txt").write_text(report_of(migration), encoding="utf-8")


def migration_cases() -> Iterator[MigrationCase]:
    """Yield the folders of the corpus."""
    for folder in sorted(_CORPUS.iterdir()):
        yield MigrationCase(folder)


def settings_of(options: list[str]) -> Settings:
    """Return what options of the command line say."""
    parser = argparse.ArgumentParser()
    for name in ("--map-store", "--map-secret", "--map-issuer"):
        parser.add_argument(name, action="append", default=[])
    parser.add_argument("--identity", default="keybearer-identity")
    parser.add_argument("--no-adopt", action="store_true")
    parser.add_argument("--connections", action="store_true")
    given = parser.parse_args(options)
    return Settings(
        stores=read_places("--map-store", given.map_store),
        secrets=read_places("--map-secret", given.map_secret),
        issuers=read_issuers("--map-issuer", given.map_issuer),
        identity=given.identity,
        adopt=not given.no_adopt,
        connections=given.connections,
    )


def migrate_text(text: str, settings: Settings, file: str = "given.yaml") -> Migration:
    """Convert one file."""
    reading = Reading()
    read_text(reading, text, file)
    return convert(reading, settings)


def report_of(migration: Migration) -> str:
    """Return verdicts and findings as lines."""
    lines = [line for one in migration.outcomes for line in _lines(one)]
    for one in migration.folders:
        lines.append(f"folder {one.place}: {', '.join(one.names) or '(all)'}")
        lines += [f"        $ {command}" for command in one.commands]
    lines += [f"{one.file} can't be read: {one.why}" for one in migration.unreadable]
    return "\n".join([*lines, f"passed over: {migration.passed_over}", ""])


def _lines(one: Outcome) -> Iterator[str]:
    becomes = ", ".join(map(str, one.written)) or "-"
    yield f"{one.origin}: {one.verdict} -> {becomes}"
    for finding in one.findings:
        yield f"    {finding.effect} {finding.field or '(all)'}: {finding.why} | {finding.remedy}".rstrip(
            " |"
        )
        yield from (f"        $ {command}" for command in finding.commands)


if __name__ == "__main__":
    for case in migration_cases():
        case.write()
