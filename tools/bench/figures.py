"""What a run found: figures beside their bars, as the table prints them and `build/bench.json` keeps them."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Annotated, Literal

import orjson
from pydantic import BeforeValidator, TypeAdapter

__all__ = [
    "Bar",
    "Figure",
    "MaybeNever",
    "Others",
    "RowResult",
    "Run",
    "Subject",
    "Unit",
    "load_run",
    "quantity",
    "save_run",
]


def _never(value: object) -> object:
    return math.inf if value is None else value


MaybeNever = Annotated[float, BeforeValidator(_never)]
"""Infinite when it never came, which JSON writes as null."""

Unit = Literal["s", "ms", "MiB", "count", "per sync", "per second"]

Subject = Literal["operator", "service"]
"""What a run measured; each has a file and a place on the page of its own."""


@dataclass(frozen=True, slots=True)
class Others:
    """The same measured with the two others once, on another machine: context, not a comparison of runs."""

    external_secrets: str = ""
    infisical: str = ""


@dataclass(frozen=True, slots=True)
class Bar:
    """What we want to reach.

    Attributes:
        text: as the design words it.
        limit: the largest figure that reaches it, or the smallest where `at_least`; of the ratio where `of_ratio`.
    """

    text: str
    limit: float
    of_ratio: bool = False
    at_least: bool = False


@dataclass(frozen=True, slots=True)
class Figure:
    """One line of the table.

    Attributes:
        ours: in `unit`; infinite when what was measured never came.
        floor: what ours is divided by for the ratio, in the same unit.
        floor_name: what the floor is, where it isn't the one that the page speaks of.
        peak_mib: memory of the measured program at its peak meanwhile.
    """

    what: str
    unit: Unit
    ours: MaybeNever
    floor: float | None = None
    floor_name: str = ""
    bar: Bar | None = None
    others: Others = field(default_factory=Others)
    peak_mib: float | None = None

    @property
    def ratio(self) -> float | None:
        """Ours divided by the floor, where there is one."""
        return self.ours / self.floor if self.floor else None

    @property
    def reached(self) -> bool | None:
        """Whether the bar is reached; None without a bar, or when its ratio could not be measured."""
        if self.bar is None:
            return None
        judged = self.ratio if self.bar.of_ratio else self.ours
        if judged is None:
            return None
        return judged >= self.bar.limit if self.bar.at_least else judged <= self.bar.limit


@dataclass(frozen=True, slots=True)
class RowResult:
    """What one row found.

    Attributes:
        notes: sentences that a reader of the figures needs: spreads, sizes, counts by kind.
    """

    name: str
    title: str
    figures: tuple[Figure, ...]
    notes: tuple[str, ...] = ()

    def figure(self, what: str) -> Figure | None:
        """Return the figure of that name."""
        return next((figure for figure in self.figures if figure.what == what), None)


@dataclass(frozen=True, slots=True)
class Run:
    """One run of the benchmarks on one machine.

    Attributes:
        machine: what it ran on, in words.
        settings: sizes and lengths.
        comparable: whether the sizes were those that the bars were set for.
    """

    started_at: str
    machine: Mapping[str, str]
    settings: Mapping[str, str]
    comparable: bool
    rows: tuple[RowResult, ...]
    subject: Subject = "operator"


def quantity(value: float | None, unit: Unit) -> str:
    """Return the value as people read it, with three significant digits or all of a count or rate."""
    if value is None:
        return ""
    if math.isinf(value):
        return "never"
    suffix = {"s": " s", "ms": " ms", "MiB": " MiB", "count": "", "per sync": "", "per second": "/s"}[unit]
    if unit in {"count", "per second"}:
        return f"{value:,.0f}{suffix}"
    digits = 0 if abs(value) >= 100 else 1 if abs(value) >= 10 else 2
    return f"{value:,.{digits}f}{suffix}"


def save_run(run: Run, path: Path) -> None:
    """The file holds the run, with ratios and verdicts; an infinite figure is null."""
    document = asdict(run)
    for row, result in zip(document["rows"], run.rows, strict=True):
        for entry, figure in zip(row["figures"], result.figures, strict=True):
            entry["ratio"], entry["reached"] = figure.ratio, figure.reached
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(orjson.dumps(document, option=orjson.OPT_INDENT_2))


def load_run(path: Path) -> Run:
    """Return a saved run; ratios and verdicts are computed anew.

    Raises:
        pydantic.ValidationError: the file is of another shape.
    """
    return _RUNS.validate_json(path.read_bytes())


_RUNS = TypeAdapter(Run)
