"""What the commands of one kind of thing share: the lines of its list, how one is found, and what is said of it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

from keybearer.cli.failures import CommandError, not_found
from keybearer.cli.output import OutputFormat, print_done, print_found

__all__ = ["Noun"]


class _Identified(Protocol):
    """What the service knows by an id."""

    @property
    def id(self) -> str:
        """Its id."""


T = TypeVar("T", bound=_Identified)


@dataclass(frozen=True, slots=True)
class Noun(Generic[T]):
    """A kind of thing that commands list, make, change and delete.

    Attributes:
        name: as sentences have it, such as `policy`.
        columns: headings of its list.
        row: returns a line of the list; the first text of it is the name that people use.
    """

    name: str
    columns: Sequence[str]
    row: Callable[[T], Sequence[str]]

    def print_list(self, output: OutputFormat, found: Sequence[T]) -> None:
        """Print what was found: people get a table, programs all of it."""
        print_found(output, found, self.columns, map(self.row, found))

    def print_done(self, output: OutputFormat, one: T, what: str) -> None:
        """Tell what became of one, such as `is deleted`: people get a sentence, programs the one itself."""
        print_done(output, one, f"{self.name.capitalize()} {self.row(one)[0]} {what}.")

    def print_made(self, output: OutputFormat, made: T) -> None:
        """Tell that one is made, and its id."""
        self.print_done(output, made, f"is made; its id is {made.id}")

    def named(self, wanted: str, listed: Iterable[T]) -> T:
        """Return the one of that name or id.

        Raises:
            CommandError: there is none in the list.
        """
        for one in listed:
            if wanted in (one.id, self.row(one)[0]):
                return one
        raise self.missing(wanted)

    def missing(self, wanted: str) -> CommandError:
        """Return the error that there is none of that name."""
        plural = f"{self.name[:-1]}ies" if self.name.endswith("y") else f"{self.name}s"
        return not_found(f"there is no {self.name} {wanted}", f"List them: keybearer {plural} list")
