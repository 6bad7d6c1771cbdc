from __future__ import annotations

import io
import math
from dataclasses import replace
from pathlib import Path

import orjson
import pytest
from rich.console import Console

from support.rows import each_row
from tools.bench.errors import BenchError
from tools.bench.figures import Bar, Figure, Others, RowResult, Run, Unit, load_run, quantity, save_run
from tools.bench.table import cells, markdown, marks, placed, print_run

_BEGIN, _END = marks("operator")
_BAR = Bar("≤ 2.5 x the floor", 2.5, of_ratio=True)
_TIME = Figure("cold sync", "s", ours=5.0, floor=2.0, bar=_BAR, others=Others("103 s", "15.0 s"))
_RATE_BAR = Bar("≥ 50 % of a bare route", 0.5, of_ratio=True, at_least=True)
_NEVER = Figure("restored", "ms", ours=math.inf, bar=Bar("≤ 50 ms", 50))


def _run(*, comparable: bool = True) -> Run:
    return Run(
        started_at="2026-01-02T03:04:05+00:00",
        machine={"processors": "2 x some"},
        settings={"sources": "10 of 5 keys"},
        comparable=comparable,
        rows=(RowResult("cold", "Cold sync of 1,000", (_TIME, _NEVER), ("floor, 2 times: 2.0 s, 2.1 s",)),),
    )


@each_row(
    ("figure", "ratio", "reached"),
    [
        pytest.param(_TIME, 2.5, True, id="a ratio at its limit reaches the bar"),
        pytest.param(
            Figure("x", "s", ours=5.1, floor=2.0, bar=_BAR), 2.55, False, id="a ratio over it does not"
        ),
        pytest.param(Figure("x", "s", ours=5.0, bar=_BAR), None, None, id="no floor, no ratio, no verdict"),
        pytest.param(Figure("x", "MiB", ours=120, bar=Bar("", 120)), None, True, id="an absolute figure"),
        pytest.param(Figure("x", "count", ours=1, bar=Bar("0", 0)), None, False, id="a bar of nothing"),
        pytest.param(Figure("x", "count", ours=0, bar=Bar("0", 0)), None, True, id="nothing"),
        pytest.param(_NEVER, None, False, id="what never came"),
        pytest.param(Figure("x", "s", ours=1.0), None, None, id="no bar, no verdict"),
        pytest.param(
            Figure("x", "per second", ours=50, floor=100, bar=_RATE_BAR), 0.5, True, id="a rate at its least"
        ),
        pytest.param(
            Figure("x", "per second", ours=49, floor=100, bar=_RATE_BAR), 0.49, False, id="a rate below it"
        ),
    ],
)
def test_a_bar_is_reached_up_to_its_limit(figure: Figure, ratio: float | None, reached: bool | None) -> None:  # noqa: FBT001 - a column of the table
    assert figure.ratio == (None if ratio is None else pytest.approx(ratio))
    assert figure.reached is reached


@pytest.mark.parametrize(
    ("value", "unit", "text"),
    [
        (1.234, "s", "1.23 s"),
        (12.34, "s", "12.3 s"),
        (103.4, "s", "103 s"),
        (-3.21, "MiB", "-3.21 MiB"),
        (10003, "count", "10,003"),
        (2.004, "per sync", "2.00"),
        (math.inf, "ms", "never"),
        (1234.4, "per second", "1,234/s"),
        (None, "s", ""),
    ],
)
def test_quantities_are_written_for_people(value: float | None, unit: Unit, text: str) -> None:
    assert quantity(value, unit) == text


def test_a_saved_run_is_read_back_as_it_was(tmp_path: Path) -> None:
    path = tmp_path / "build" / "bench.json"

    save_run(_run(), path)

    assert load_run(path) == _run()


def test_a_saved_run_holds_ratios_verdicts_and_null_for_never(tmp_path: Path) -> None:
    path = tmp_path / "bench.json"
    save_run(_run(), path)

    time, never = orjson.loads(path.read_bytes())["rows"][0]["figures"]

    assert (time["ratio"], time["reached"]) == (2.5, True)
    assert (never["ours"], never["reached"]) == (None, False)


def test_a_line_of_the_table_holds_floor_ours_ratio_bar_and_the_others() -> None:
    assert cells(_TIME, comparable=True) == (
        "cold sync",
        "2.00 s",
        "5.00 s",
        "2.50",
        "≤ 2.5 x the floor",
        "yes",
        "",
        "103 s",
        "15.0 s",
    )


def test_a_floor_that_is_not_the_bare_loop_is_named() -> None:
    figure = Figure("x", "s", ours=30.0, floor=3.0, floor_name="1,000")

    assert cells(figure, comparable=True)[1] == "3.00 s (1,000)"


def test_a_run_of_other_sizes_gets_no_verdicts() -> None:
    assert cells(_TIME, comparable=False)[5] == ""
    assert "no verdicts" in markdown(_run(comparable=False))


def test_the_markdown_is_machine_and_settings_and_a_titled_table_with_notes() -> None:
    lines = markdown(_run()).splitlines()

    rows = [line for line in lines if line.startswith("|")]
    assert len(rows) == 4
    assert len({line.count("|") for line in rows}) == 1
    assert "| restored |  | never |  | ≤ 50 ms | no |  |  |" in rows
    assert "### Cold sync of 1,000" in lines
    assert "- processors: 2 x some" in lines
    assert "- floor, 2 times: 2.0 s, 2.1 s" in lines


def test_columns_in_which_nothing_stands_are_left_out() -> None:
    figure = Figure("list", "s", ours=1.0, peak_mib=123.4)
    run = replace(_run(), rows=(RowResult("scale", "Much", (figure,)),))

    rows = [line for line in markdown(run).splitlines() if line.startswith("|")]

    assert rows == ["| what | ours | memory at its peak |", "|---|---|---|", "| list | 1.00 s | 123 MiB |"]


def test_the_terminal_shows_every_figure_and_note() -> None:
    console = Console(width=200, file=io.StringIO(), record=True)

    print_run(_run(), console)
    shown = console.export_text()

    for text in ("Cold sync of 1,000", "5.00 s", "never", "floor, 2 times", "2 x some"):
        assert text in shown


def test_a_page_gets_the_run_between_its_marks_and_keeps_the_rest() -> None:
    page = f"# Title\n{_BEGIN}\nearlier\n{_END}\nend\n"

    once = placed(_run(), page)

    assert once.startswith(f"# Title\n{_BEGIN}\n")
    assert once.endswith(f"{_END}\nend\n")
    assert "earlier" not in once
    assert markdown(_run()) in once
    assert placed(_run(), once) == once


def test_runs_of_operator_and_service_stand_on_one_page() -> None:
    service = replace(_run(), subject="service", started_at="2027-01-02T03:04:05+00:00")
    begin, end = marks("service")
    page = f"{_BEGIN}\n{_END}\nbetween\n{begin}\n{end}\n"

    both = placed(service, placed(_run(), page))

    assert both.index(_run().started_at) < both.index("between") < both.index(service.started_at)


@pytest.mark.parametrize(
    "page",
    [
        pytest.param("no marks", id="no marks"),
        pytest.param(f"{_END} {_BEGIN}", id="marks in the wrong order"),
        pytest.param(f"{_BEGIN} {_BEGIN} {_END}", id="a mark twice"),
    ],
)
def test_a_page_without_a_clear_place_is_refused(page: str) -> None:
    with pytest.raises(BenchError, match="each once"):
        placed(_run(), page)
