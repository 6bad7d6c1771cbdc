"""A table whose rows are one test: every row runs, and each row that fails is shown under its name.

For rows of one comparison, which share all fixtures. Rows with a behaviour of their own stay `parametrize`.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import pytest

__all__ = ["each_row", "listed"]

Test = Callable[..., Any]


def each_row(
    names: str | Sequence[str], rows: Iterable[object], *, ids: Callable[[Any], object] | None = None
) -> Callable[[Test], Test]:
    """Return a decorator like `pytest.mark.parametrize`, but all rows are one test case.

    Args:
        names: of the test's parameters, as `parametrize` takes them.
        rows: values, or `pytest.param` with an id.
        ids: names a row that has one parameter.
    """
    parameters = [names] if isinstance(names, str) else list(names)
    table: dict[str, Mapping[str, object]] = {}
    for row in rows:
        name = _name(row, ids)
        if name in table:
            raise ValueError(f"a row is named twice: {name}")
        table[name] = _values(row, parameters)
    if not table:
        raise ValueError("there are no rows")

    def folded(test: Test) -> Test:
        if inspect.iscoroutinefunction(test):

            @functools.wraps(test)
            async def run_all(*args: object, subtests: pytest.Subtests, **fixtures: object) -> None:
                for name, values in table.items():
                    with subtests.test(name):
                        await test(*args, **fixtures, **values)
        else:

            @functools.wraps(test)
            def run_all(*args: object, subtests: pytest.Subtests, **fixtures: object) -> None:
                for name, values in table.items():
                    with subtests.test(name):
                        test(*args, **fixtures, **values)

        fixtures = [one for name, one in inspect.signature(test).parameters.items() if name not in parameters]
        own = inspect.Parameter("subtests", inspect.Parameter.KEYWORD_ONLY)
        vars(run_all)["__signature__"] = inspect.Signature([*fixtures, own])
        return run_all

    return folded


def listed(mistakes: Iterable[object]) -> str:
    """Return the mistakes for the message of an assertion, each on a line."""
    return "".join(f"\n- {mistake}" for mistake in mistakes)


def _name(row: object, ids: Callable[[Any], object] | None) -> str:
    given = getattr(row, "id", None) if hasattr(row, "marks") else None
    if given is not None:
        return str(given)
    return str(ids(row)) if ids else repr(row)


def _values(row: Any, parameters: Sequence[str]) -> Mapping[str, object]:  # noqa: ANN401 - as parametrize takes it
    values = row.values if hasattr(row, "marks") else (row,) if len(parameters) == 1 else row
    return dict(zip(parameters, values, strict=True))
