"""What is said about an object that was read: what became of its fields, and a verdict."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

from keybearer.migrate.contents import Contents

__all__ = ["HARMLESS", "Effect", "Finding", "NotCarriedError", "Notes", "Verdict", "judge"]

_TEXT_MAX = 500
"""Of a sentence: what is quoted comes from manifests of others."""


class Effect(StrEnum):
    """What became of a field."""

    LEFT_OUT = "left out"
    """What it asked for is not done."""
    CHANGED = "changed"
    """It is done in another way, or to another measure."""
    ASSUMED = "assumed"
    """A value was chosen that the manifests don't tell; somebody has to look."""
    STEP = "to do"
    """It is carried, but something outside the manifest must be done before it works."""
    NOTED = "noted"
    """It is not carried, and nothing is lost by that: the new object does what the old one did."""


HARMLESS = frozenset({Effect.STEP, Effect.NOTED})
"""What takes nothing away from an object that is carried."""


class Verdict(StrEnum):
    """How much of an object was carried over."""

    WHOLE = "whole"
    PART = "part"
    NOT = "not"


@dataclass(frozen=True, slots=True)
class Finding:
    """What became of one field.

    Attributes:
        field: its path in the manifest that was read; empty for the object as a whole.
        effect: what became of it.
        why: one sentence, for people; never holds a value of a secret.
        remedy: what to do about it; may be empty.
        commands: lines for a shell that do it, in this order, quoted; may be empty.
        comes_last: a step that is taken after all others, because programs lose something until the end.
    """

    field: str
    effect: Effect
    why: str
    remedy: str = ""
    commands: tuple[str, ...] = ()
    comes_last: bool = False


class NotCarriedError(Exception):
    """Nothing of an object can be carried over; `finding` says why."""

    def __init__(self, field: str, why: str, remedy: str = "") -> None:
        super().__init__(why)
        self.finding = Finding(field, Effect.LEFT_OUT, _clip(why), _clip(remedy))


class Notes:
    """Collects the findings of one object, each once, and what folders must hold for it."""

    def __init__(self) -> None:
        self._found: dict[Finding, None] = {}
        self._contents: dict[Contents, None] = {}

    def left_out(self, field: str, why: str, remedy: str = "") -> None:
        """Note that a field is not carried."""
        self.add(Finding(field, Effect.LEFT_OUT, _clip(why), _clip(remedy)))

    def changed(self, field: str, why: str, remedy: str = "") -> None:
        """Note that a field is carried in another way."""
        self.add(Finding(field, Effect.CHANGED, _clip(why), _clip(remedy)))

    def assumed(self, field: str, why: str, remedy: str = "") -> None:
        """Note that a value was chosen."""
        self.add(Finding(field, Effect.ASSUMED, _clip(why), _clip(remedy)))

    def step(self, field: str, why: str, remedy: str = "", commands: Iterable[str] = ()) -> None:
        """Note what has to be done elsewhere, and the commands that do it."""
        self.add(Finding(field, Effect.STEP, _clip(why), _clip(remedy), tuple(commands)))

    def last_step(self, why: str, remedy: str, *commands: str) -> None:
        """Note what has to be done after all other steps, and the commands that do it."""
        self.add(Finding("", Effect.STEP, _clip(why), _clip(remedy), commands, comes_last=True))

    def noted(self, field: str, why: str, remedy: str = "") -> None:
        """Note that a field is not carried, and that nothing is lost by it."""
        self.add(Finding(field, Effect.NOTED, _clip(why), _clip(remedy)))

    def reads(self, contents: Contents) -> None:
        """Note what the object reads from a folder that somebody has to fill."""
        self._contents[contents] = None

    def add(self, finding: Finding) -> None:
        """Note a finding."""
        self._found[finding] = None

    @property
    def findings(self) -> tuple[Finding, ...]:
        """All of them, in the order they were found."""
        return tuple(self._found)

    @property
    def contents(self) -> tuple[Contents, ...]:
        """What the object reads from folders that somebody has to fill."""
        return tuple(self._contents)


def judge(findings: Iterable[Finding], *, carried: bool) -> Verdict:
    """Return the verdict over an object.

    Args:
        findings: about it.
        carried: whether anything of it was.
    """
    if not carried:
        return Verdict.NOT
    return Verdict.WHOLE if all(one.effect in HARMLESS for one in findings) else Verdict.PART


def _clip(text: str) -> str:
    return text if len(text) <= _TEXT_MAX else text[: _TEXT_MAX - 1] + "…"
