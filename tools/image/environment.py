"""The virtual environment that the image runs: its interpreter, its commands, and what of it is loaded."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

__all__ = ["Environment", "InspectionError", "inspect"]

_DEADLINE_SECONDS = 300
# Runs under the environment's own interpreter. Alembic runs the environment of migrations itself.
_LOOK = """
import importlib, importlib.metadata, json, os, pkgutil, platform, sys
import keybearer
for module in pkgutil.walk_packages(keybearer.__path__, "keybearer."):
    if not module.name.endswith((".__main__", ".migrations.env")):
        importlib.import_module(module.name)
commands = [
    one.name
    for one in importlib.metadata.distribution("keybearer").entry_points
    if one.group == "console_scripts"
]
json.dump(
    {
        "commands": commands,
        "loaded": [one.__file__ for one in [*sys.modules.values()] if getattr(one, "__file__", None)],
        "standard_library": os.path.dirname(os.__file__),
        "version": platform.python_version(),
    },
    sys.stdout,
)
"""


class InspectionError(Exception):
    """Something of Keybearer can't be imported; the output above says what."""


@dataclass(frozen=True, slots=True)
class Environment:
    """What there is to know of it.

    Attributes:
        directory: of the environment.
        commands: names of Keybearer's own programs in its `bin`.
        loaded: files of all modules that are loaded when everything of Keybearer is.
        standard_library: the directory that Python's own modules are in.
        version: of Python.
    """

    directory: Path
    commands: frozenset[str]
    loaded: frozenset[Path]
    standard_library: Path
    version: str

    @property
    def interpreter(self) -> Path:
        """What its programs are run by."""
        return self.directory / "bin" / "python"


def inspect(directory: Path) -> Environment:
    """Look into the environment, by its own interpreter.

    Raises:
        InspectionError: a module of Keybearer can't be imported there.
    """
    done = subprocess.run(
        [directory / "bin" / "python", "-I", "-c", _LOOK],
        stdout=subprocess.PIPE,
        text=True,
        timeout=_DEADLINE_SECONDS,
        check=False,
    )
    if done.returncode != 0:
        raise InspectionError(
            f"not everything of Keybearer can be imported in {directory}: does the lock hold all of it?"
        )
    found = json.loads(done.stdout)
    return Environment(
        directory=directory,
        commands=frozenset(_texts(found["commands"])),
        loaded=frozenset(map(Path, _texts(found["loaded"]))),
        standard_library=Path(found["standard_library"]),
        version=str(found["version"]),
    )


def _texts(values: Iterable[object]) -> list[str]:
    return [str(value) for value in values]
