"""Programs of a release: with a deadline, and ended with all that they started when we end."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from tools.controlplane.process import kill_group, spawn
from tools.release.errors import ReleaseError

__all__ = ["run"]

_DEADLINE_SECONDS = 900.0
_FAILURE_LINES = 40
# The files that they write get plain modes, whatever the user's own are.
_WITH_PLAIN_MODES = ("-c", 'umask 022 && exec "$@"', "sh")
_NAMED_WORDS = 3


def run(
    command: Sequence[str],
    environment: Mapping[str, str],
    directory: Path,
    *,
    within: float = _DEADLINE_SECONDS,
) -> str:
    """What the program printed to its standard output.

    Args:
        command: a program of `PATH` and its arguments.
        environment: all of its variables.
        directory: where it runs.
        within: seconds, after which it is killed.

    Raises:
        ReleaseError: its status was not 0, or it took too long; the text ends with what it said.
    """
    name = " ".join(command[:_NAMED_WORDS])
    shell = shutil.which("sh")
    if shell is None:
        raise ReleaseError("there is no sh on the PATH")
    with tempfile.TemporaryFile() as output, tempfile.TemporaryFile() as errors:
        child = spawn(
            [shell, *_WITH_PLAIN_MODES, *command],
            output=output,
            errors=errors,
            environment=environment,
            directory=directory,
        )
        try:
            status = child.wait(within)
        except subprocess.TimeoutExpired as error:
            kill_group(child)
            raise ReleaseError(f"{name}: not done within {within:g} s") from error
        except BaseException:
            kill_group(child)
            raise
        output.seek(0)
        errors.seek(0)
        said = output.read().decode(errors="replace")
        told = errors.read().decode(errors="replace")
    if status != 0:
        tail = "\n".join((said + told).splitlines()[-_FAILURE_LINES:])
        raise ReleaseError(f"{name}: status {status}:\n{tail}")
    return said
