"""Compiles what the image holds: at run time its files can't be written, and compiling takes seconds."""

from __future__ import annotations

import compileall
import py_compile
from pathlib import Path

__all__ = ["CompilationError", "compile_tree"]


class CompilationError(Exception):
    """A module can't be compiled; the output above says which."""


def compile_tree(root: Path, directory: Path) -> None:
    """Every module under the directory has bytecode beside it that names it by its path in the image.

    The bytecode isn't compared with the source when it is loaded: neither changes, and dates of files say nothing.

    Args:
        root: where the image's root file system lies.
        directory: in it.

    Raises:
        CompilationError: a module has no valid syntax.
    """
    done = compileall.compile_dir(
        directory,
        maxlevels=30,
        quiet=1,
        workers=0,
        stripdir=str(root),
        prependdir="/",
        invalidation_mode=py_compile.PycInvalidationMode.UNCHECKED_HASH,
    )
    if not done:
        raise CompilationError(f"modules under {directory} can't be compiled")
