"""The rows that can be measured, by name."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from functools import partial

from tools.bench.figures import RowResult
from tools.bench.options import Options, ServiceOptions
from tools.bench.rows import (
    certificates,
    cold,
    dashboard,
    endurance,
    foreign,
    issuance,
    large,
    propagation,
    pushes,
    rates,
    repair,
    restart,
    scale,
    steady,
    syncs,
)

__all__ = ["ROWS", "SERVICE_ROWS", "Row"]


@dataclass(frozen=True, slots=True)
class Row:
    """One row.

    Attributes:
        run: measures it; given are the results of earlier rows of the same run, by name.
        only_when_named: left out of a run that names no rows.
    """

    run: Callable[[Options, Mapping[str, RowResult]], Awaitable[RowResult]]
    only_when_named: bool = False


ROWS: Mapping[str, Row] = {
    "cold": Row(cold.run),
    "large": Row(large.run),
    "foreign": Row(foreign.run),
    "propagation": Row(propagation.run),
    "steady": Row(steady.run),
    "repair": Row(repair.run),
    "restart": Row(restart.run),
    "certificates": Row(certificates.run),
    "dashboard": Row(dashboard.run),
    "endurance": Row(endurance.run, only_when_named=True),
}
"""In the order of a run: later rows refer to earlier ones."""

SERVICE_ROWS: Mapping[str, Callable[[ServiceOptions], Awaitable[RowResult]]] = {
    "sqlite": partial(rates.run, "sqlite"),
    "postgresql": partial(rates.run, "postgresql"),
    "scale-sqlite": partial(scale.run, "sqlite"),
    "scale-postgresql": partial(scale.run, "postgresql"),
    "syncs-sqlite": partial(syncs.run, "sqlite"),
    "syncs-postgresql": partial(syncs.run, "postgresql"),
    "pushes-sqlite": partial(pushes.run, "sqlite"),
    "pushes-postgresql": partial(pushes.run, "postgresql"),
    "issuance-sqlite": partial(issuance.run, "sqlite"),
    "issuance-postgresql": partial(issuance.run, "postgresql"),
}
"""In the order of a run; none needs another."""
