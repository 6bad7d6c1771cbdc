"""What docs/operations.md says of backup and restore, and docs/service.md of the first start, works so."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from contract.client.house import nothing_shown
from support.canary import Canary
from support.command_line import PROGRAM, CommandLine
from support.service_fixtures import ServiceProcess, start_service
from tools.local.waiting import PATIENCE_SECONDS

pytestmark = pytest.mark.deep

DOCS = Path(__file__).parents[3] / "docs"
FIRST, LATER = "cnry-before-the-backup", "cnry-after-it"
SECRET = ("DATABASE_URL", "--project", "my-shop", "--env", "dev")


def blocks(page: str, chapter: str) -> list[str]:
    """Return the indented blocks of a chapter, also those within a list; fenced ones are manifests."""
    text = re.sub(r"^```.*?^```\n", "", (DOCS / page).read_text(), flags=re.MULTILINE | re.DOTALL)
    (found,) = re.findall(rf"^## {chapter}\n(.*?)(?=^## |\Z)", text, re.MULTILINE | re.DOTALL)
    return [
        re.sub(r"^ +", "", block, flags=re.MULTILINE)
        for block in re.findall(r"(?:^ {4,}\S.*\n)+", found, re.MULTILINE)
    ]


class Shell:
    """Runs what the pages say in a folder where `data` is the service's."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.line = CommandLine(folder)

    def __call__(self, script: str) -> str:
        """Run it, and return what it shows."""
        path = os.pathsep.join((str(PROGRAM.parent), str(Path(sys.executable).parent), os.environ["PATH"]))  # noqa: TID251 - for the programs of the pages
        done = subprocess.run(
            ["sh", "-ec", script],
            capture_output=True,
            text=True,
            timeout=PATIENCE_SECONDS,
            check=False,
            cwd=self.folder,
            stdin=subprocess.DEVNULL,
            env={**self.line.environment, "PATH": path},
        )
        assert done.returncode == 0, f"{script}: {done.stderr}"
        nothing_shown(done.stdout + done.stderr)
        return done.stdout

    def set(self, value: str) -> None:
        """Give the secret another value."""
        done = self.line.here("secrets", "set", *SECRET, stdin=value)
        assert done.status == 0, done.stderr

    def get(self) -> str:
        """Return the secret's value."""
        done = self.line.here("secrets", "get", *SECRET, "--plain")
        assert done.status == 0, done.stderr
        return done.stdout.rstrip("\n")


@pytest.fixture
def served(tmp_path: Path, canary: Canary) -> Iterator[ServiceProcess]:
    service = start_service(tmp_path / "data")
    canary.watch("log of keybearer serve", service.log.read_text)
    yield service
    service.stop()


def test_a_backup_is_restored_as_the_pages_say(served: ServiceProcess, tmp_path: Path) -> None:
    shell = Shell(tmp_path)
    start, first_steps = blocks("service.md", "From nothing to the first secret")
    assert start.split()[:3] == ["keybearer", "serve", "--data-dir"]
    shell(first_steps)
    assert shell.get() == "postgres://db"
    shell.set(FIRST)
    backup, *_ = blocks("operations.md", "Back up")
    shell(backup)
    shell.set(LATER)
    served.stop()
    shutil.rmtree(tmp_path / "data")
    (tmp_path / "data").mkdir(mode=0o700)

    restore, _in_a_cluster, _on_postgresql, look, *_from_the_cron_job = blocks("operations.md", "Restore")
    shell(restore)
    restored = start_service(tmp_path / "data")
    try:
        login = json.loads(shell.line.login_file.read_text())
        shell.line.login_file.write_text(json.dumps({**login, "url": restored.url}))
        shell(look)
        assert shell.get() == FIRST
    finally:
        restored.stop()
