"""Commands that are imported and made when they are asked for: to make all of them takes longer than most run."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, MutableMapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import TypeVar

import typer
from typer.core import TyperCommand, TyperGroup

from keybearer.cli.examples import show_examples
from keybearer.cli.loading import collector_at_rest

__all__ = ["CommandPlace", "OnDemand", "command_path", "new_app", "new_group"]

_T = TypeVar("_T")


def new_app(name: str, *, purpose: str | None = None, cls: type[TyperGroup] | None = None) -> typer.Typer:
    """Return an application as all of ours are.

    Args:
        name: as it is called.
        purpose: what its help begins with; nothing when None.
        cls: of the group that runs its commands.
    """
    return typer.Typer(
        name=name,
        cls=cls,
        help=purpose,
        context_settings={"help_option_names": ["-h", "--help"]},
        no_args_is_help=True,
        pretty_exceptions_show_locals=False,  # locals hold values
        add_completion=False,
        rich_markup_mode=None,  # plain help cuts no option names on narrow terminals
    )


def new_group(purpose: str) -> typer.Typer:
    """Return a group of commands; its help begins with the purpose."""
    return typer.Typer(help=purpose, no_args_is_help=True, rich_markup_mode=None)


def command_path(group: TyperGroup, name: str | None, given: Sequence[str]) -> Iterator[str]:
    """Yield the names of the command that runs, from its group down.

    Args:
        group: has the commands.
        name: of its command that was asked for; None if there was none.
        given: the words after that.
    """
    words = iter(given)
    while name is not None and name in group.commands:
        yield name
        below = group.commands[name]
        if not isinstance(below, TyperGroup):
            return
        group, name = below, next(words, None)


@dataclass(frozen=True, slots=True)
class CommandPlace:
    """Where a command or a group of commands is written, and what is said of it besides.

    Attributes:
        module: that holds it, below `keybearer.cli`.
        attribute: its name there, by default the module's: a function, or a `typer.Typer` with a group's commands.
        short_help: what lists of commands say; the first sentence of its documentation when None.
        no_args_is_help: whether it explains itself where nothing was given.
        interspersed: whether options may follow what is no option.
    """

    module: str
    attribute: str = ""
    short_help: str | None = None
    no_args_is_help: bool = False
    interspersed: bool = True

    def made(self, name: str) -> TyperCommand | TyperGroup:
        """Return the command under this name.

        Raises:
            AttributeError, ImportError: it isn't there.
        """
        holder = new_app(name)
        with collector_at_rest():
            attribute = self.attribute or self.module
            found = getattr(import_module(f"keybearer.cli.{self.module}"), attribute)
            if isinstance(found, typer.Typer):
                holder.add_typer(found, name=name)
            else:
                holder.command(
                    name,
                    short_help=self.short_help,
                    no_args_is_help=self.no_args_is_help,
                    context_settings={"allow_interspersed_args": self.interspersed},
                )(found)
            command = typer.main.get_group(holder).commands[name]
        if not isinstance(command, TyperCommand | TyperGroup):
            raise TypeError(f"{self.module}.{attribute} is neither a command nor a group of commands")
        show_examples(command, name)
        return command


class OnDemand(MutableMapping[str, _T]):
    """Values that are made when they are first asked for. They may be changed because typer's groups have it so.

    Args:
        makers: of each, in the order in which they are listed.
    """

    def __init__(self, makers: Mapping[str, Callable[[], _T]]) -> None:
        self._makers = dict(makers)
        self._made: dict[str, _T] = {}

    def __getitem__(self, name: str) -> _T:
        """Return the value, made if need be.

        Raises:
            KeyError: there is none of this name; never for another reason, which would pass for that.
        """
        if name not in self._made:
            make = self._makers[name]
            try:
                self._made[name] = make()
            except KeyError as error:
                raise RuntimeError(f"{name} can't be made") from error
        return self._made[name]

    def __setitem__(self, name: str, value: _T) -> None:
        """Take a value that is made already."""
        self._makers[name] = lambda: value
        self._made.pop(name, None)

    def __delitem__(self, name: str) -> None:
        """Forget it."""
        del self._makers[name]
        self._made.pop(name, None)

    def __contains__(self, name: object) -> bool:
        """Return whether there is one; nothing is made for that."""
        return name in self._makers

    def __iter__(self) -> Iterator[str]:
        """Return the names; nothing is made for that."""
        return iter(self._makers)

    def __len__(self) -> int:
        """Return how many there are."""
        return len(self._makers)
