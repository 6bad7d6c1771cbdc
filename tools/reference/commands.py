"""The page of commands, from the command line itself."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import Literal, get_args, get_origin

import typer
from typer.core import TyperArgument, TyperCommand, TyperGroup, TyperOption

from keybearer.cli.examples import EXAMPLES, PLUGIN_EXAMPLES
from keybearer.cli.kubectl.main import app as plugin
from keybearer.cli.main import app
from tools.reference.markdown import NOTE, anchor, cell, code, table

__all__ = ["Command", "commands", "commands_page"]

_EXAMPLES: Mapping[str, Sequence[str]] = {
    **{f"keybearer {name}": examples for name, examples in EXAMPLES.items()},
    **{f"kubectl keybearer {name}": examples for name, examples in PLUGIN_EXAMPLES.items()},
}
_WORDS: Mapping[object, str] = {Path: "path", int: "number", float: "number", str: "text"}


@dataclass(frozen=True, slots=True)
class Command:
    """A command by its whole name."""

    name: str
    command: TyperCommand | TyperGroup


def commands() -> list[Command]:
    """Return every command that does something, in the order of its help."""
    roots = {"keybearer": app, "kubectl keybearer": plugin}
    return [one for name, root in roots.items() for one in _below(typer.main.get_command(root), name)]


def _below(command: object, name: str) -> Iterator[Command]:
    if isinstance(command, TyperGroup):
        if command.invoke_without_command:
            yield Command(name, command)
        for part, inner in command.commands.items():
            yield from _below(inner, f"{name} {part}")
    elif isinstance(command, TyperCommand):
        yield Command(name, command)
    else:
        raise TypeError(f"{name} is neither a command nor a group of commands")


def commands_page() -> str:
    """Return the page."""
    known = commands()
    rows = [(f"[{code(one.name)}]({anchor(one.name)})", cell(_help(one).split("\n\n")[0])) for one in known]
    return "\n".join(
        (
            "# Commands\n",
            NOTE + "\n",
            (
                "[The command line](../cli.md) says how the commands work together, and has their exit statuses and their environment. "
                "All take `--help`; `keybearer --version` prints the version. Those of `kubectl keybearer` are the plugin's.\n"
            ),
            table(("command", "does"), rows),
            *(_render(one) for one in known),
        )
    )


def _help(one: Command) -> str:
    return inspect.cleandoc(one.command.help or "").partition("\f")[0]


def _render(one: Command) -> str:
    arguments = [part for part in one.command.params if isinstance(part, TyperArgument)]
    options = [part for part in one.command.params if isinstance(part, TyperOption) and not part.hidden]
    usage = " ".join([one.name, *(["[OPTIONS]"] if options else []), *(_written(part) for part in arguments)])
    parts = [f"## {one.name}\n", f"    {usage}\n"]
    parts += [f"{cell(text)}\n" for text in _help(one).split("\n\n")]
    if any(part.help for part in arguments):
        parts.append(
            table(("argument", "is"), [(code(_plain(part)), cell(part.help or "")) for part in arguments])
        )
    if options:
        parts.append(
            table(
                ("option", "takes", "default", "does"),
                [(_names(part), _takes(part), _default(part), _does(part)) for part in options],
            )
        )
    examples = _EXAMPLES.get(one.name, ())
    if examples:
        lines = [line for example in examples for line in example.splitlines()]
        parts.append(
            "\n".join(
                (
                    "Example:\n" if len(examples) == 1 else "Examples:\n",
                    *(f"    {line}" for line in lines),
                    "",
                )
            )
        )
    return "\n".join(parts)


def _plain(part: TyperArgument) -> str:
    return part.metavar or (part.name or "").upper()


def _written(part: TyperArgument) -> str:
    name = _plain(part) + ("..." if part.nargs == -1 and "..." not in _plain(part) else "")
    return name if part.required or name.startswith("[") else f"[{name}]"


def _names(part: TyperOption) -> str:
    said = ", ".join(code(name) for name in sorted(part.opts, key=lambda name: (len(name) < 3, name)))
    if part.secondary_opts:
        said += " / " + ", ".join(code(name) for name in part.secondary_opts)
    return said + (" **(required)**" if part.required else "")


def _takes(part: TyperOption) -> str:
    if part.is_flag or part.count:
        return ""
    return _word(part) + (", repeatable" if part.multiple else "")


def _word(part: TyperOption) -> str:
    kind: object = part.type_descriptor.annotation
    choices = get_args(kind)
    while choices and not _is_literal(kind):
        kind = choices[0]
        choices = get_args(kind)
    if choices:
        return ", ".join(code(choice) for choice in choices)
    if isinstance(kind, type) and issubclass(kind, Enum):
        return ", ".join(code(choice.value) for choice in kind)
    low, high = part.min, part.max
    said = _WORDS.get(kind, part.metavar or "text")
    if low is None and high is None:
        return said
    return f"{said}, {low} or more" if high is None else f"{said}, {low} to {high}"


def _is_literal(kind: object) -> bool:
    origin: object = get_origin(kind)
    return origin is Literal


def _default(part: TyperOption) -> str:
    value = part.default
    if value is None or callable(value) or value in ((), [], "") or part.required:
        return ""
    if isinstance(value, bool):
        return "" if not value and not part.secondary_opts else code(_flag(part, chosen=value))
    return code(getattr(value, "value", value))


def _flag(part: TyperOption, *, chosen: bool) -> str:
    return (part.opts if chosen else part.secondary_opts or part.opts)[0]


def _does(part: TyperOption) -> str:
    said = cell(part.help or "")
    named = [part.envvar] if isinstance(part.envvar, str) else list(part.envvar or ())
    missing = [name for name in named if not re.search(rf"\b{name}\b", said)]
    if not missing:
        return said
    return f"{said} Instead of it: {', '.join(code(name) for name in missing)}.".strip()
