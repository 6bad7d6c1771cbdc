"""Each command shows examples in its help, and the program takes every one of them."""

from __future__ import annotations

import os
from collections.abc import Iterator
from unittest import mock

import pytest
import typer
from typer.core import TyperCommand, TyperGroup

from keybearer.cli.examples import EXAMPLES, PLUGIN_EXAMPLES
from keybearer.cli.kubectl.main import app as plugin
from keybearer.cli.main import app
from support.parsed_commands import parse


def commands(group: object, *path: str) -> Iterator[tuple[str, TyperCommand | TyperGroup]]:
    """Return all that do something, by the words after the program's name."""
    assert isinstance(group, TyperCommand | TyperGroup)
    if not isinstance(group, TyperGroup):
        yield " ".join(path), group
        return
    if path and group.invoke_without_command:
        yield " ".join(path), group
    for name, below in group.commands.items():
        yield from commands(below, *path, name)


PROGRAMS = [
    pytest.param(app, EXAMPLES, id="keybearer"),
    pytest.param(plugin, PLUGIN_EXAMPLES, id="kubectl keybearer"),
]


@pytest.fixture(autouse=True)
def no_settings() -> Iterator[None]:
    """Nothing of the tester's environment stands in for an option that an example leaves out."""
    with mock.patch.dict(os.environ):  # noqa: TID251 - it is emptied
        for name in [name for name in os.environ if name.startswith(("KEYBEARER_", "KUBECONFIG"))]:  # noqa: TID251
            del os.environ[name]  # noqa: TID251
        yield


@pytest.mark.parametrize(("program", "examples"), PROGRAMS)
def test_every_command_has_examples_in_its_help(
    program: typer.Typer, examples: dict[str, tuple[str, ...]]
) -> None:
    found = dict(commands(typer.main.get_command(program)))
    assert sorted(found) == sorted(examples)
    for name, command in found.items():
        shown = command.epilog or ""
        assert all(line in shown for one in examples[name] for line in one.splitlines()), name


@pytest.mark.parametrize(("program", "examples"), PROGRAMS)
def test_the_program_takes_every_example_as_it_is(
    program: typer.Typer, examples: dict[str, tuple[str, ...]]
) -> None:
    found = dict(commands(typer.main.get_command(program)))
    for name, shown in examples.items():
        for example in shown:
            parsed = parse(example)
            assert (parsed.name, type(parsed)) == (found[name].name, type(found[name])), example


def test_an_example_that_the_program_refuses_is_noticed() -> None:
    for wrong in ("keybearer secrets lst", "keybearer secrets list", "keybearer crds --no-such"):
        with pytest.raises(typer.TyperException):
            parse(wrong)
