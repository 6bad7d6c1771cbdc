"""Commands as texts show them, read by the real parser of the program, which runs nothing."""

from __future__ import annotations

import shlex
from contextlib import ExitStack
from typing import Any

import typer
from typer.core import TyperGroup

from keybearer.cli.kubectl.main import app as plugin
from keybearer.cli.main import app

__all__ = ["parse", "words_of"]

_ENDS = ("|", ">", ">>", "&&", ";", ")")
"""Words after which a shell goes on with something else."""
_ROOTS = {"keybearer": app, "kubectl keybearer": plugin}


def words_of(text: str) -> list[str]:
    """Return the words of the command of ours in a line of a shell or at the end of a sentence.

    Raises:
        AssertionError: it has none.
    """
    # Of `source <(keybearer ...)`, what is within.
    words = shlex.split(text.replace("\\\n", " ").replace("<(", "<( ").replace(")", " )"))
    assert "keybearer" in words, text
    first = words.index("keybearer")
    if first and words[first - 1] == "kubectl":
        first -= 1
    command: list[str] = []
    for word in words[first:]:
        if word in _ENDS:
            break
        command.append(word)
    return command


def parse(text: str) -> Any:  # noqa: ANN401 - typer's own command
    """Return the command that runs where people type the text.

    Raises:
        typer.TyperException: the program would refuse the words.
        AssertionError: it is a group, which only explains itself.
    """
    words = words_of(text)
    name = "kubectl keybearer" if words[0] == "kubectl" else "keybearer"
    command: Any = typer.main.get_command(_ROOTS[name])
    given = words[len(name.split()) :]
    with ExitStack() as contexts:
        context = None
        while True:
            context = contexts.enter_context(command.make_context(name, given, parent=context))
            if not isinstance(command, TyperGroup):
                return command
            rest = [*context._protected_args, *context.args]
            if not rest and command.invoke_without_command:
                return command
            assert rest, f"{text}: names a group, no command"
            word, below, given = command.resolve_command(context, rest)
            assert below is not None, f"{text}: no command {rest[0]}"
            name, command = word or rest[0], below
