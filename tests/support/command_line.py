"""The command line as people use it: a process of its own, with a home of its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import termios
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from typer.testing import CliRunner

from keybearer.cli.main import app
from support.preloaded import can_preload, run_preloaded
from tools.local.waiting import PATIENCE_SECONDS, eventually

__all__ = ["PROGRAM", "Answer", "CommandLine", "at_a_terminal", "in_conversation"]

PROGRAM = Path(sys.executable).with_name("keybearer")


@dataclass(frozen=True)
class Answer:
    """What a command said, and how it ended."""

    status: int
    stdout: str = field(repr=False)
    stderr: str

    @property
    def json(self) -> Any:  # noqa: ANN401 - whatever a command prints
        """Return what it printed as JSON."""
        return json.loads(self.stdout)


@dataclass(frozen=True)
class CommandLine:
    """Runs `keybearer` with nothing of the tester's own environment but what programs need to start.

    Attributes:
        home: of its user.
        variables: of its environment, besides.
        program: what is run instead, and its first words.
    """

    home: Path
    variables: dict[str, str] = field(default_factory=dict)
    program: tuple[str, ...] = (str(PROGRAM),)

    @property
    def environment(self) -> dict[str, str]:
        """What its processes see."""
        own = {"PATH": os.environ["PATH"], "HOME": str(self.home)}  # noqa: TID251 - programs are found by it
        return {**own, "XDG_CONFIG_HOME": str(self.home / "config"), "COLUMNS": "80", **self.variables}

    @property
    def login_file(self) -> Path:
        """Where the token is kept."""
        return self.home / "config" / "keybearer" / "login.json"

    def __call__(self, *arguments: str, stdin: str | None = None, **variables: str) -> Answer:
        """Run a command to its end; `keybearer` itself in a process that need not load it."""
        command, environment = [*self.program, *arguments], {**self.environment, **variables}
        if self.program == (str(PROGRAM),) and can_preload():
            done = run_preloaded(command, environment, stdin, within=PATIENCE_SECONDS)
        else:
            done = subprocess.run(
                command,
                input=stdin,
                stdin=subprocess.DEVNULL if stdin is None else None,
                capture_output=True,
                text=True,
                timeout=PATIENCE_SECONDS,
                check=False,
                env=environment,
            )
        return Answer(done.returncode, done.stdout, done.stderr)

    def here(self, *arguments: str, stdin: str | None = None, **variables: str) -> Answer:
        """Run a command to its end within this process, which takes no time to load it; faults of it are raised."""
        foreign = dict.fromkeys(os.environ)  # noqa: TID251 - none of them is for it
        done = CliRunner().invoke(
            app,
            arguments,
            input=stdin,
            env={**foreign, **self.environment, **variables},
            catch_exceptions=False,
            prog_name="keybearer",
        )
        return Answer(done.exit_code, done.stdout, done.stderr)

    def start(self, *arguments: str, **variables: str) -> subprocess.Popen[str]:
        """Start a command; the caller ends it."""
        return subprocess.Popen(
            # A shell has the programs that it starts in the background ignore Ctrl-C, and so would the command.
            ["env", "--default-signal=INT", *self.program, *arguments],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env={**self.environment, **variables},
        )


def at_a_terminal(
    command: Sequence[str],
    environment: Mapping[str, str],
    *,
    prompt: str,
    typed: str,
    folder: Path | None = None,
) -> tuple[int, str]:
    """Run a command at a terminal of its own, answer its hidden prompt, and return status and all that was shown.

    Raises:
        AssertionError: it ended without the prompt.
    """
    return in_conversation(command, environment, [(prompt, typed, True)], folder=folder)


def in_conversation(
    command: Sequence[str],
    environment: Mapping[str, str],
    answers: Sequence[tuple[str, str, bool]],
    *,
    folder: Path | None = None,
) -> tuple[int, str]:
    """Run a command at a terminal of its own, answer its prompts, and return status and all that was shown.

    Args:
        command: the program and its arguments.
        environment: all of its variables.
        answers: part of each prompt in order, what is typed, and whether the prompt is hidden.
        folder: where it runs; ours when None.

    Raises:
        AssertionError: it ended without one of the prompts.
    """
    leader, follower = os.openpty()
    process = subprocess.Popen(
        command,
        stdin=follower,
        stdout=follower,
        stderr=follower,
        cwd=folder,
        env=dict(environment),
        start_new_session=True,
    )
    os.close(follower)
    shown = ""
    try:
        for prompt, typed, hidden in answers:
            said = _shown(leader, until=prompt)
            shown += said
            assert prompt in said, shown
            if hidden:
                # What is typed before the echo is off would show.
                eventually(
                    lambda: not termios.tcgetattr(leader)[3] & termios.ECHO, awaited="a terminal without echo"
                )
            os.write(leader, f"{typed}\n".encode())
        shown += _shown(leader)
        return process.wait(PATIENCE_SECONDS), shown
    finally:
        process.kill()
        process.wait()
        os.close(leader)


def _shown(terminal: int, until: str | None = None) -> str:
    """Return what a terminal shows, up to a text or to the end of those who write to it."""
    seen = b""
    while until is None or until.encode() not in seen:
        try:
            piece = os.read(terminal, 1024)
        except OSError:  # how Linux tells that nobody has the other end any more
            break
        if not piece:
            break
        seen += piece
    return seen.decode()
