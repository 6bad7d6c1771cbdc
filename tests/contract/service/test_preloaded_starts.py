"""What tests fork from a process with the modules loaded behaves as the program does."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from support.command_line import PROGRAM
from support.preloaded import can_preload, run_preloaded
from support.service_fixtures import ServiceProcess, Starter
from tools.local.waiting import PATIENCE_SECONDS, eventually

pytestmark = [
    pytest.mark.deep,
    pytest.mark.skipif(not can_preload(), reason="this system always starts the program"),
]


@pytest.fixture
def both(start: Starter, tmp_path: Path) -> Iterator[tuple[ServiceProcess, ServiceProcess]]:
    """Yield a service that was started by its program, and one that was forked."""
    program, forked = start(tmp_path / "program", anew=True), start(tmp_path / "forked")
    yield program, forked
    for one in (program, forked):
        one.kill()


def test_they_lead_a_session_and_hold_what_the_program_holds(
    both: tuple[ServiceProcess, ServiceProcess],
) -> None:
    for one in both:
        pid = one.process.pid
        assert (os.getpgid(pid), os.getsid(pid)) == (pid, pid)
    program, forked = both
    # Looked at while they begin to work: a file may be open for a moment, and whoever starts a thread blocks all
    # signals meanwhile.
    eventually(
        lambda: _open_files(forked) == _open_files(program),
        awaited="the same open files in both",
        told=lambda: f"{_open_files(forked)} and {_open_files(program)}",
    )
    eventually(
        lambda: _signals(forked) == _signals(program),
        awaited="the same signals in both",
        told=lambda: f"{_signals(forked)} and {_signals(program)}",
    )


def test_they_end_as_it_does(start: Starter, tmp_path: Path) -> None:
    program, forked = (
        _ends(start, tmp_path / name, anew=name == "program") for name in ("program", "forked")
    )
    assert forked == program
    assert program[1:] == (0, -signal.SIGKILL)
    assert "in use by another keybearer serve" in program[0]


def test_of_several_started_at_once_each_is_the_one_that_was_asked_for(
    start: Starter, tmp_path: Path
) -> None:
    # The first of all makes the process that forks: those at once must share it for answers to be mixed up.
    start(tmp_path / "before").kill()
    folders = [tmp_path / f"{number}" for number in range(4)]
    with ThreadPoolExecutor() as threads:
        running = list(threads.map(start, folders))
    for one, folder in zip(running, folders, strict=True):
        assert str(folder / "lock") in _targets(one)
        assert one.stop() == 0


@pytest.mark.parametrize(
    ("arguments", "given"),
    [
        pytest.param(("version",), None, id="a command"),
        pytest.param(
            ("login", "--client-id=x", "--client-secret-file=-"), "cnry-secret\n", id="standard input"
        ),
        pytest.param(
            ("login", "--client-id=x", "--client-secret-file=-"), None, id="nothing on standard input"
        ),
        pytest.param(("secrets", "list", "--project=p", "--env=dev"), None, id="a service that is not there"),
        pytest.param(("operator", "--lease-name=x"), None, id="an operator without a cluster"),
    ],
)
def test_a_command_says_what_the_program_says(
    tmp_path: Path, arguments: tuple[str, ...], given: str | None
) -> None:
    variables = {
        "HOME": str(tmp_path),
        "KEYBEARER_URL": "http://127.0.0.1:1",
        "KEYBEARER_TOKEN": "cnry-token",
    }
    forked = run_preloaded([PROGRAM, *arguments], variables, given, within=PATIENCE_SECONDS)
    program = subprocess.run(
        [PROGRAM, *arguments], input=given or "", capture_output=True, text=True, env=variables, check=False
    )
    assert (forked.returncode, forked.stdout, forked.stderr) == (
        program.returncode,
        program.stdout,
        program.stderr,
    )


def _ends(start: Starter, folder: Path, *, anew: bool) -> tuple[str, int, int]:
    """Return what a refused start says, and the status of a service that is stopped and of one that is killed."""
    stopped = start(folder, anew=anew)
    with pytest.raises(RuntimeError, match="ended with 2") as refused:
        start(folder, anew=anew)
    said = str(refused.value).splitlines()[-1].replace(str(folder), "FOLDER")
    status = stopped.stop()
    killed = start(folder, anew=anew)
    killed.kill()
    return said, status, killed.process.wait(0)


def _open_files(running: ServiceProcess) -> set[str]:
    """Return what it has open: files by their names, of others the kind; connections come and go."""
    here = str(running.data_dir)
    kinds = [target.replace(here, "DATA").partition(":[")[0] for target in _targets(running)]
    return {*kinds, f"{kinds.count('pipe')} pipes"}


def _targets(running: ServiceProcess) -> list[str]:
    """Return what its open files are, but for those that it closes meanwhile."""
    targets = []
    for file in Path(f"/proc/{running.process.pid}/fd").iterdir():
        with contextlib.suppress(FileNotFoundError):
            targets.append(str(file.readlink()))
    return targets


def _signals(running: ServiceProcess) -> list[str]:
    """Return which signals it blocks, ignores and catches."""
    status = Path(f"/proc/{running.process.pid}/status").read_text()
    return [line for line in status.splitlines() if line.startswith(("SigBlk", "SigIgn", "SigCgt"))]
