"""What the chart's CronJob runs for PostgreSQL, run against one: the dump is kept, and restored as the page says."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from support.chart_values import ROWS
from support.command_line import CommandLine
from tools.chart.rendering import Manifest, only, pods_of, render
from tools.local.postgres import PostgresServer
from tools.local.waiting import PATIENCE_SECONDS

_PLACES = ("/var/lib/keybearer-dump", "/var/lib/keybearer-backups", "/etc/keybearer/database")
_ADD = """
INSERT INTO organizations (id, name, slug, names_revision, created_at) VALUES ('o', 'Of the backup', 'o', 0, 0)
"""
_NAMES = "SELECT name FROM organizations"


@pytest.fixture
def pod(tmp_path: Path) -> _Pod:
    rendered = only(pods_of(render(ROWS["backups of PostgreSQL, in closed networks"])), "Pod", "-backup")
    return _Pod(rendered, tmp_path)


class _Pod:
    """The pod of a backup, whose volumes are directories of this machine."""

    def __init__(self, rendered: Manifest, directory: Path) -> None:
        self._rendered = rendered
        self.places = {place: directory / place.rpartition("/")[2] for place in _PLACES}
        for one in self.places.values():
            one.mkdir()
        self._line = CommandLine(directory)

    def dump(self, programs: Path, url: str) -> subprocess.CompletedProcess[str]:
        """What the first container does, with that URL in its Secret."""
        (self.places["/etc/keybearer/database"] / "url").write_text(url)
        (script,) = self._here("initContainers")
        command = [*self._rendered.texts("spec", "initContainers", 0, "command"), script]
        return subprocess.run(
            command,
            capture_output=True,
            text=True,
            timeout=PATIENCE_SECONDS,
            check=False,
            env={"PATH": f"{programs}:/usr/bin:/bin"},
        )

    def keep(self) -> tuple[int, str]:
        """What the second one does: its status, and what it said."""
        answer = self._line.here(*self._here("containers"))
        return answer.status, answer.stderr

    def backups(self) -> list[Path]:
        """All that are kept."""
        return sorted(self.places["/var/lib/keybearer-backups"].glob("*/*"))

    def _here(self, containers: str) -> list[str]:
        found = self._rendered.texts("spec", containers, 0, "args")
        for place, directory in self.places.items():
            found = [one.replace(place, str(directory)) for one in found]
        return found


def test_a_dump_is_kept_and_restored_into_an_empty_database(pod: _Pod, postgres: PostgresServer) -> None:
    name = postgres.create()
    postgres.execute(name, _ADD)
    dumped = pod.dump(postgres.programs, postgres.url(name))
    assert dumped.returncode == 0, dumped.stderr
    assert pod.keep()[0] == 0
    (backup,) = pod.backups()
    assert backup.stat().st_mode & 0o777 == 0o600
    postgres.execute(name, "UPDATE organizations SET name = 'Of later'")
    restored = postgres.create(empty=True)
    postgres.load(restored, backup)
    assert postgres.execute(restored, _NAMES).split("\n")[0] == "Of the backup"


def test_a_dump_that_fails_says_why_and_never_the_password(pod: _Pod, postgres: PostgresServer) -> None:
    password = "cnry-password"
    dumped = pod.dump(postgres.programs, postgres.url("no_such_database", user="nobody", password=password))
    assert dumped.returncode != 0
    assert "no_such_database" in dumped.stderr or "nobody" in dumped.stderr
    assert password not in dumped.stderr


def test_a_dump_that_is_cut_off_spoils_no_good_one(pod: _Pod, postgres: PostgresServer) -> None:
    name = postgres.create()
    assert pod.dump(postgres.programs, postgres.url(name)).returncode == 0
    assert pod.keep()[0] == 0
    (kept,) = pod.backups()
    kept.rename(kept.with_name("keybearer-20260101T000000Z.sql"))  # as if of another second
    good = [(one, one.read_bytes()) for one in pod.backups()]
    dump = pod.places["/var/lib/keybearer-dump"] / "dump.sql"
    dump.write_bytes(dump.read_bytes()[:-2000])
    status, said = pod.keep()
    assert (status, "is cut off" in said) == (2, True)
    assert [(one, one.read_bytes()) for one in pod.backups()] == good
