from __future__ import annotations

import itertools
import re
from xml.etree import ElementTree as ET

import pytest

from tools.soak.chart import Panel, Series, Span, chart, ticks

_SVG = "{http://www.w3.org/2000/svg}"


@pytest.mark.parametrize(
    ("most", "expected"),
    [
        (0, [0, 1]),
        (1, [0, 0.2, 0.4, 0.6, 0.8, 1.0]),
        (4.1, [0, 1, 2, 3, 4, 5]),
        (10, [0, 2, 4, 6, 8, 10]),
        (230, [0, 50, 100, 150, 200, 250]),
    ],
)
def test_marks_are_round_and_reach_over_the_highest_value(most: float, expected: list[float]) -> None:
    assert ticks(most, 5) == pytest.approx(expected)


def _drawn(*panels: Panel) -> ET.Element:
    spans = [Span(1, 2, "a kill"), Span(3, 4, "a fault", soft=True)]
    return ET.fromstring(chart("Memory <now>", panels, spans, 10))  # noqa: S314 - our own


def test_a_chart_is_a_picture_with_its_title_its_names_and_its_disturbances() -> None:
    root = _drawn(
        Panel("MiB", [Series("service", "blue", [(0, 100), (10, 200)]), Series("service", "blue", [(3, 5)])]),
        Panel("requests", [Series("writes", "green", [(5, 1)], dots=True)]),
    )

    assert root.findtext(f"{_SVG}title") == "Memory <now>"
    texts = [one.text for one in root.iter(f"{_SVG}text")]
    assert texts.count("service") == 1
    assert {"MiB", "requests", "writes", "minutes", "10", "200"} <= set(texts)
    spans = [(one.get("class"), one.findtext(f"{_SVG}title")) for one in root.iter(f"{_SVG}rect") if len(one)]
    assert spans == [("span", "a kill"), ("soft", "a fault")] * 2


def test_points_stand_where_their_values_are() -> None:
    root = _drawn(Panel("MiB", [Series("service", "blue", [(0, 0), (5, 100), (10, 200)])]))
    line = next(one for one in root.iter(f"{_SVG}path") if one.get("class") == "l blue")
    places = [float(number) for number in re.findall(r"[\d.]+", line.get("d", ""))]
    xs, ys = places[0::2], places[1::2]

    assert xs[1] - xs[0] == pytest.approx(xs[2] - xs[1])
    assert ys[0] - ys[1] == pytest.approx(ys[1] - ys[2])
    assert ys[0] > ys[1] > ys[2]


def test_a_logarithmic_scale_has_equal_steps_for_each_ten_and_a_floor() -> None:
    points = [(0.0, 0.0), (1.0, 0.01), (2.0, 0.1), (3.0, 1.0), (4.0, 10.0)]
    root = _drawn(Panel("s", [Series("worst", "orange", points, dots=True)], logarithmic=True))
    heights = [float(one.get("cy", "")) for one in root.iter(f"{_SVG}circle") if one.get("r") == "2.2"]

    assert heights[0] == heights[1]
    steps = [before - after for before, after in itertools.pairwise(heights[1:])]
    assert steps == pytest.approx([steps[0]] * 3, abs=0.2)


def test_a_chart_without_points_is_drawn_all_the_same() -> None:
    assert _drawn(Panel("nothing yet", [], logarithmic=True), Panel("nothing yet", [])).tag == f"{_SVG}svg"
