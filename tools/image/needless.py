"""What of Python and of its libraries nothing loads at run time."""

from __future__ import annotations

import fnmatch
from collections.abc import Callable, Collection
from pathlib import Path

from tools.image.environment import Environment

__all__ = ["wanted_of_environment", "wanted_of_python"]

# Sources in other languages and declarations for type checkers, which wheels carry beside what was built from them.
_SUFFIXES = frozenset({".a", ".c", ".cpp", ".h", ".pxd", ".pxi", ".pyi", ".pyx"})
_ANYWHERE = frozenset({"__pycache__", "test", "tests"})
_OF_PYTHON = (
    "config-*",  # for programs that embed Python
    "dist-packages",
    "distutils",  # gone from Python 3.12 on
    "ensurepip",
    "idlelib",
    "lib2to3",
    "pydoc_data",
    "site-packages",  # pip, where Python brings it
    "sitecustomize.py",  # a hook of the distribution's own
    "tkinter",
    "turtle.py",
    "turtledemo",
)
# They would bring libraries of terminals, windows and old databases.
_EXTENSIONS = (
    "_ctypes_test.*",
    "_curses*",
    "_dbm.*",
    "_gdbm.*",
    "_test*",
    "_tkinter.*",
    "nis.*",
    "ossaudiodev.*",
    "readline.*",
    "xx*",
)
# Classes for each kind and each call of Kubernetes, generated twice: 73 MB. The client loads them by name when they
# are asked for, and our requests are made without them (docs/decisions/0002).
_GENERATED = tuple(
    f"*/kubernetes/{client}/{part}/*.py" for client in ("client", "aio/client") for part in ("api", "models")
)


def wanted_of_environment(environment: Environment) -> Callable[[Path], bool]:
    """Say of each path in the environment whether something loads or starts it."""
    programs = {*environment.commands, "python", "python3", f"python{_minor(environment.version)}"}

    def wanted(path: Path) -> bool:
        if path.parent == environment.directory / "bin":
            return path.name in programs
        if path.parent == environment.directory:
            return path.name not in {"include", "share"}
        return _is_of_use(path) and (path in environment.loaded or not _matches(str(path), _GENERATED))

    return wanted


def wanted_of_python(standard_library: Path) -> Callable[[Path], bool]:
    """Say of each path in the standard library whether something loads it.

    Args:
        standard_library: its directory.
    """

    def wanted(path: Path) -> bool:
        if path.parent == standard_library:
            return _is_of_use(path) and not _matches(path.name, _OF_PYTHON)
        if path.parent == standard_library / "lib-dynload":
            return not _matches(path.name, _EXTENSIONS)
        return _is_of_use(path)

    return wanted


def _is_of_use(path: Path) -> bool:
    return path.name not in _ANYWHERE and path.suffix not in _SUFFIXES


def _matches(text: str, patterns: Collection[str]) -> bool:
    return any(fnmatch.fnmatchcase(text, pattern) for pattern in patterns)


def _minor(version: str) -> str:
    return ".".join(version.split(".")[:2])
