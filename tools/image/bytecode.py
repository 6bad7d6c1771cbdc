"""Compiles what the image holds: at run time its files can't be written, and compiling takes seconds."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

__all__ = ["CompilationError", "compile_tree"]

_DEADLINE_SECONDS = 600.0
# What a process compiles depends, in a bit here and there, on what it has compiled before (marshal marks what is used
# twice in the whole process): the same files in the same order, whatever the number of processors.
_FILES_EACH = 200


class CompilationError(Exception):
    """A module can't be compiled; the text says which."""


def compile_tree(root: Path, directory: Path) -> None:
    """Every module under the directory has bytecode beside it that names it by its path in the image.

    The bytecode isn't compared with the source when it is loaded: neither changes, and dates of files say nothing.

    Args:
        root: where the image's root file system lies.
        directory: in it.

    Raises:
        CompilationError: a module has no valid syntax.
    """
    files = sorted(map(str, directory.rglob("*.py")))
    parts = [files[start : start + _FILES_EACH] for start in range(0, len(files), _FILES_EACH)]
    with ThreadPoolExecutor(os.cpu_count()) as threads:
        faults = [fault for fault in threads.map(partial(_compile, root), parts) if fault]
    if faults:
        told = "\n".join(faults)
        raise CompilationError(f"modules under {directory} can't be compiled:\n{told}")


def _compile(root: Path, files: Sequence[str]) -> str:
    """Compile them in a process of their own; return what is wrong, or nothing."""
    done = subprocess.run(
        [
            *(sys.executable, "-I", "-m", "compileall", "-q", "-f"),
            *("-s", str(root), "-p", "/", "--invalidation-mode", "unchecked-hash", "-i", "-"),
        ],
        input="\n".join(files),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        timeout=_DEADLINE_SECONDS,
        check=False,
    )
    return done.stdout if done.returncode else ""
