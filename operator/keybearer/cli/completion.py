"""`keybearer completion`: a script with which a shell completes commands and options.

The script asks this program, at each Tab, through a variable of the environment (`COMPLETE_VARIABLE`).
"""

from __future__ import annotations

import os
from contextlib import redirect_stdout
from enum import StrEnum
from io import StringIO
from typing import Annotated

import typer

__all__ = ["COMPLETE_VARIABLE", "Shell", "completion", "prepare_completion"]

COMPLETE_VARIABLE = "_KEYBEARER_COMPLETE"
"""As typer derives it from the name of the program."""


class Shell(StrEnum):
    """A shell that a script can be printed for."""

    BASH = "bash"
    ZSH = "zsh"
    FISH = "fish"
    POWERSHELL = "powershell"


def prepare_completion() -> None:
    """Make the shells known to typer if one of them asks for completion now; typer does so for options of its own."""
    if COMPLETE_VARIABLE in os.environ:
        _make_shells_known()


def completion(
    context: typer.Context,
    shell: Annotated[Shell, typer.Argument(help="The shell that you use.", metavar="SHELL")],
) -> None:
    """Print a script that lets a shell complete commands, options and their words.

    SHELL is bash (4.4 or newer), zsh, fish or powershell. Load the script in each session, or save it where the
    shell looks for such scripts.
    """
    from typer.completion import shell_complete

    _make_shells_known()
    program = context.find_root().command
    with redirect_stdout(StringIO()) as printed:
        # typer's own protocol: it prints the script for a shell that asks for the source.
        shell_complete(program, {}, "keybearer", COMPLETE_VARIABLE, f"source_{shell.value}")
    # zsh looks for #compdef in the first line of a file, which is empty in what typer prints.
    typer.echo(printed.getvalue().strip())


def _make_shells_known() -> None:
    from typer.main import get_install_completion_arguments

    # Its result is the two options of typer that ours replaces; on the way it registers the shells.
    get_install_completion_arguments()
