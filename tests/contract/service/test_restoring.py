"""A service whose database is of before: backed up and restored as the page on operations says."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from support.databases import OwnDatabase
from support.service_fixtures import ProjectSecrets, Starter
from tools.local.postgres import PostgresServer
from tools.local.waiting import PATIENCE_SECONDS

pytestmark = [pytest.mark.deep, pytest.mark.every_database]

_PROGRAM = Path(sys.executable).with_name("keybearer")

Restore = Callable[[], None]


def _keybearer(command: str, *arguments: str | Path) -> None:
    done = subprocess.run(
        [_PROGRAM, command, *arguments], check=False, capture_output=True, text=True, timeout=PATIENCE_SECONDS
    )
    assert done.returncode == 0, done.stderr


def _backed_up(own: OwnDatabase, data: Path, saved: Path) -> Restore:
    """Back the database up; return what restores it."""
    if own.server is None:
        _keybearer("backup", "--data-dir", data, "--output", saved)
        return lambda: _keybearer("restore", "--data-dir", data, "--input", saved, "--force")
    server, name = own.server, own.name
    server.dump(name, saved)
    return lambda: _replaced(server, name, saved)


def _replaced(server: PostgresServer, name: str, saved: Path) -> None:
    server.drop(name)
    server.execute("postgres", f"CREATE DATABASE {name} TEMPLATE template0")
    server.load(name, saved)


@pytest.mark.parametrize("changes", [1, 3])
def test_what_was_listed_since_the_backup_does_not_pass_for_the_newest(
    start: Starter, own_database: OwnDatabase, tmp_path: Path, changes: int
) -> None:
    data = tmp_path / "data"
    running = start(data)
    project = running.create_project()
    secrets = ProjectSecrets(running.admin_client(), project)
    secrets.create("KEY", "cnry-at-the-backup")
    restore = _backed_up(own_database, data, tmp_path / "backup")
    tags = set()
    for number in range(changes):
        secrets.update("KEY", secretValue=f"cnry-lost-{number}")
        tags.add(secrets.client.get("/api/v4/secrets", params=secrets.at()).headers["etag"])
    assert running.stop() == 0

    restore()

    running = start(data)
    try:
        secrets = ProjectSecrets(running.admin_client(), project)
        assert secrets.values() == {"KEY": "cnry-at-the-backup"}
        # As many changes as were lost: whoever counted them would be where the lost ones had led.
        for number in range(changes):
            secrets.update("KEY", secretValue=f"cnry-new-{number}")
            answer = secrets.client.get(
                "/api/v4/secrets", params=secrets.at(), headers={"If-None-Match": ", ".join(tags)}
            )
            assert answer.status_code == 200
            assert answer.json()["secrets"][0]["secretValue"] == f"cnry-new-{number}"
            assert answer.headers["etag"] not in tags
    finally:
        running.stop()
