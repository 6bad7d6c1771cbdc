"""A table whose rows are one test: every row runs, and the test fails with all rows that fail.

For rows of one comparison, which share all fixtures. Rows with a behaviour of their own stay `parametrize`. The
fixture `subtests` of pytest would do, but it keeps what a row prints from the canary.
"""

from __future__ import annotations

import functools
import inspect
import traceback
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from itertools import product
from pathlib import Path
from typing import Any

import pytest

__all__ = ["each_row", "every_row", "listed"]

Test = Callable[..., Any]
_TIMEOUT = "Timeout (>"
"""How pytest-timeout begins what it says."""
Row = Callable[[str], AbstractContextManager[None]]
_TESTS = Path(__file__).parents[1]


@contextmanager
def every_row() -> Iterator[Row]:
    """Yield what runs a row, by its name; at the end, fail with each row that failed."""
    failed: list[str] = []

    @contextmanager
    def row(name: str) -> Iterator[None]:
        try:
            yield
        except (Exception, pytest.fail.Exception, pytest.skip.Exception) as error:
            if str(error).startswith(_TIMEOUT):
                raise  # it comes once: the next row that hangs would never end
            failed.append(f"{name}: {_told(error)}")

    try:
        yield row
    except BaseException as error:
        error.add_note(f"Rows that failed before:{listed(failed)}")
        raise
    assert not failed, f"{len(failed)} rows fail:{listed(failed)}"


def each_row(
    names: str | Sequence[str],
    rows: Iterable[object],
    *,
    ids: Callable[[Any], object] | Iterable[object] = repr,
) -> Callable[[Test], Test]:
    """Return a decorator like `pytest.mark.parametrize`, but all rows are one test case.

    Two of them on one test make rows of each combination.

    Args:
        names: of the test's parameters, as `parametrize` takes them.
        rows: values, or `pytest.param` with an id.
        ids: the names of rows without an id, or what names such a row.
    """
    parameters = [name.strip() for name in names.split(",")] if isinstance(names, str) else list(names)
    table: dict[str, Mapping[str, object]] = {}
    given = list(rows)
    for row, called in zip(given, map(ids, given) if callable(ids) else ids, strict=True):
        name = _name(row, called)
        if name in table:
            raise ValueError(f"a row is named twice: {name}")
        table[name] = _values(row, parameters)
    if not table:
        raise ValueError("there are no rows")

    def folded(test: Test) -> Test:
        inner = vars(test).get("rows")
        if inner is None:
            return _folded(test, table)
        every: dict[str, Mapping[str, object]] = {}
        for (name, values), (below, others) in product(table.items(), inner.items()):
            if (both := f"{name}, {below}") in every:
                raise ValueError(f"a row is named twice: {both}")
            every[both] = {**values, **others}
        return _folded(inspect.unwrap(test), every)

    return folded


def listed(mistakes: Iterable[object]) -> str:
    """Return the mistakes for the message of an assertion, each on a line."""
    return "".join(f"\n- {mistake}" for mistake in mistakes)


def _folded(test: Test, table: Mapping[str, Mapping[str, object]]) -> Test:
    if inspect.iscoroutinefunction(test):

        @functools.wraps(test)
        async def run_all(*args: object, **fixtures: object) -> None:
            with every_row() as row:
                for name, values in table.items():
                    with row(name):
                        await test(*args, **fixtures, **values)
    else:

        @functools.wraps(test)
        def run_all(*args: object, **fixtures: object) -> None:
            with every_row() as row:
                for name, values in table.items():
                    with row(name):
                        test(*args, **fixtures, **values)

    columns = next(iter(table.values()))
    fixtures = [one for name, one in inspect.signature(test).parameters.items() if name not in columns]
    vars(run_all).update(rows=table, __signature__=inspect.Signature(fixtures))
    return run_all


def _told(error: BaseException) -> str:
    frames = traceback.extract_tb(error.__traceback__)
    ours = [
        frame
        for frame in frames
        if Path(frame.filename).is_relative_to(_TESTS) and frame.filename != __file__
    ]
    place = (ours or frames)[-1]
    text = str(error).replace("\n", "\n    ")
    return f"{type(error).__name__} at {Path(place.filename).name}:{place.lineno}: {text}"


def _name(row: object, otherwise: object) -> str:
    own = getattr(row, "id", None) if hasattr(row, "marks") else None
    return str(otherwise if own is None else own)


def _values(row: Any, parameters: Sequence[str]) -> Mapping[str, object]:  # noqa: ANN401 - as parametrize takes it
    if getattr(row, "marks", ()):
        raise ValueError("a row has marks, which would be lost: use parametrize")
    values = row.values if hasattr(row, "marks") else (row,) if len(parameters) == 1 else row
    return dict(zip(parameters, values, strict=True))
