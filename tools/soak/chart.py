"""Charts over time as SVG: panels below each other, legible on light and dark pages, with disturbances behind them.

Drawn here and not by a plotting library: lines and dots are two hundred lines of code, and the pictures follow
the page's colours as the other ones of the documentation do, which a library's don't.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from typing import Literal

__all__ = ["Colour", "Panel", "Series", "Span", "chart", "ticks"]

_STYLE = """
  text { font: 12px system-ui, -apple-system, "Segoe UI", sans-serif; fill: #57606a; }
  .title { font-size: 14px; font-weight: 600; fill: #1f2328; } .panel { fill: #ffffff; stroke: #d0d7de; }
  .grid { stroke: #d8dee4; stroke-width: 1; } .axis { stroke: #8c959f; stroke-width: 1; }
  .span { fill: #cf222e; opacity: 0.10; } .soft { fill: #bf8700; opacity: 0.13; }
  .l { fill: none; stroke-width: 1.6; stroke-linejoin: round; stroke-linecap: round; }
  .blue { stroke: #0969da; } .green { stroke: #1a7f37; } .orange { stroke: #bc4c00; } .purple { stroke: #8250df; }
  .d-blue { fill: #0969da; } .d-green { fill: #1a7f37; } .d-orange { fill: #bc4c00; } .d-purple { fill: #8250df; }
  @media (prefers-color-scheme: dark) {
    text { fill: #9198a1; } .title { fill: #e6edf3; } .panel { fill: #161b22; stroke: #3d444d; }
    .grid { stroke: #2a313c; } .axis { stroke: #656c76; }
    .span { fill: #f85149; opacity: 0.16; } .soft { fill: #d29922; opacity: 0.16; }
    .blue { stroke: #4493f8; } .green { stroke: #3fb950; } .orange { stroke: #f0883e; } .purple { stroke: #ab7df8; }
    .d-blue { fill: #4493f8; } .d-green { fill: #3fb950; } .d-orange { fill: #f0883e; } .d-purple { fill: #ab7df8; }
  }
"""
_WIDTH, _LEFT, _RIGHT = 920, 70, 20
_HEAD, _HEIGHT, _BETWEEN, _FOOT = 40, 210, 56, 46
_STEPS = (1.0, 2.0, 5.0)
_TICKS_X, _TICKS_Y = 10, 5

Colour = Literal["blue", "green", "orange", "purple"]
Point = tuple[float, float]


@dataclass(frozen=True, slots=True)
class Series:
    """Points that belong together.

    Attributes:
        name: in the legend; series of one name have one entry.
        points: minutes of the run, and a value.
        dots: no line between them.
    """

    name: str
    colour: Colour
    points: Sequence[Point]
    dots: bool = False


@dataclass(frozen=True, slots=True)
class Panel:
    """One chart.

    Attributes:
        logarithmic: the scale is; values below `least` are drawn there.
        least: the lowest value of a logarithmic scale.
    """

    title: str
    series: Sequence[Series]
    logarithmic: bool = False
    least: float = 0.01


@dataclass(frozen=True, slots=True)
class Span:
    """A time behind the lines: from minute to minute, `soft` where nothing was killed."""

    began: float
    ended: float
    name: str
    soft: bool = False


def ticks(most: float, wanted: int) -> list[float]:
    """Return round numbers from 0 up to the first that is no less than `most`: about so many."""
    if most <= 0:
        return [0.0, 1.0]
    rough = most / wanted
    power = 10.0 ** math.floor(math.log10(rough))
    step = next((one * power for one in _STEPS if one * power >= rough * 0.999), 10 * power)
    return [number * step for number in range(math.ceil(most / step - 1e-9) + 1)]


def chart(title: str, panels: Sequence[Panel], spans: Sequence[Span], minutes: float) -> str:
    """Return the picture.

    Args:
        title: what is seen, for who can't see it.
        panels: from above.
        spans: disturbances.
        minutes: length of the axis of time.
    """
    height = _HEAD + len(panels) * _HEIGHT + (len(panels) - 1) * _BETWEEN + _FOOT
    parts = [
        (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {height}" width="{_WIDTH}" '
            f'height="{height}" '
            f'role="img" aria-labelledby="title"><title id="title">{escape(title)}</title><style>{_STYLE}</style>'
        ),
        f'<rect class="panel" x="0.5" y="0.5" width="{_WIDTH - 1}" height="{height - 1}" rx="10"/>',
    ]
    for number, panel in enumerate(panels):
        parts += _Drawing(panel, _HEAD + number * (_HEIGHT + _BETWEEN), minutes).drawn(spans)
    parts.append(f'<text x="{_WIDTH - _RIGHT}" y="{height - 13}" text-anchor="end">minutes</text>')
    return "\n".join((*parts, "</svg>\n"))


class _Drawing:
    """One panel at its place."""

    def __init__(self, panel: Panel, top: float, minutes: float) -> None:
        self._panel = panel
        self._top = top
        self._minutes = max(minutes, 1e-6)
        most = max((y for one in panel.series for _, y in one.points), default=1.0)
        if panel.logarithmic:
            lowest = math.floor(math.log10(panel.least))
            highest = max(math.ceil(math.log10(max(most, panel.least * 10))), lowest + 1)
            self._marks = [10.0**power for power in range(lowest, highest + 1)]
        else:
            self._marks = ticks(most, _TICKS_Y)

    def drawn(self, spans: Sequence[Span]) -> list[str]:
        """Return its elements: what is behind comes first."""
        return [*self._spans(spans), *self._axes(), *self._series(), *self._head()]

    def _x(self, minute: float) -> float:
        share = min(max(minute / self._minutes, 0.0), 1.0)
        return _LEFT + share * (_WIDTH - _LEFT - _RIGHT)

    def _y(self, value: float) -> float:
        low, high = self._marks[0], self._marks[-1]
        if self._panel.logarithmic:
            share = math.log10(max(value, low) / low) / math.log10(high / low)
        else:
            share = (value - low) / (high - low)
        return self._top + _HEIGHT * (1 - share)

    def _spans(self, spans: Sequence[Span]) -> list[str]:
        return [
            f'<rect class="{"soft" if one.soft else "span"}" x="{self._x(one.began):.1f}" y="{self._top}" '
            f'width="{max(self._x(one.ended) - self._x(one.began), 1.5):.1f}" height="{_HEIGHT}">'
            f"<title>{escape(one.name)}</title></rect>"
            for one in spans
        ]

    def _axes(self) -> list[str]:
        bottom = self._top + _HEIGHT
        parts = []
        for mark in self._marks:
            y = self._y(mark)
            parts.append(f'<path class="grid" d="M{_LEFT} {y:.1f} H{_WIDTH - _RIGHT}"/>')
            parts.append(f'<text x="{_LEFT - 8}" y="{y + 4:.1f}" text-anchor="end">{mark:,.10g}</text>')
        parts += [
            f'<text x="{self._x(minute):.1f}" y="{bottom + 17}" text-anchor="middle">{minute:g}</text>'
            for minute in ticks(self._minutes, _TICKS_X)
            if minute <= self._minutes * 1.0001
        ]
        parts.append(f'<path class="axis" d="M{_LEFT} {bottom} H{_WIDTH - _RIGHT}"/>')
        return parts

    def _series(self) -> list[str]:
        parts = []
        for one in self._panel.series:
            places = [(self._x(x), self._y(y)) for x, y in one.points]
            if one.dots:
                parts += [
                    f'<circle class="d-{one.colour}" cx="{x:.1f}" cy="{y:.1f}" r="2.2"/>' for x, y in places
                ]
            elif places:
                path = " L".join(f"{x:.1f} {y:.1f}" for x, y in places)
                parts.append(f'<path class="l {one.colour}" d="M{path}"/>')
        return parts

    def _head(self) -> list[str]:
        parts = [f'<text class="title" x="{_LEFT}" y="{self._top - 14}">{escape(self._panel.title)}</text>']
        x = float(_WIDTH - _RIGHT)
        for name, colour in reversed({one.name: one.colour for one in self._panel.series}.items()):
            x -= 7.0 * len(name)
            parts.append(f'<text x="{x:.1f}" y="{self._top - 14}">{escape(name)}</text>')
            parts.append(f'<circle class="d-{colour}" cx="{x - 9:.1f}" cy="{self._top - 18}" r="4"/>')
            x -= 32
        return parts
