"""Pictures as SVG: boxes and arrows on a panel of its own, legible on light and dark pages; sequences of messages."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from html import escape
from typing import Literal

__all__ = ["Message", "Note", "Picture", "sequence"]

_STYLE = """
  text { font: 13px system-ui, -apple-system, "Segoe UI", sans-serif; fill: #1f2328; }
  .panel { fill: #ffffff; stroke: #d0d7de; } .group { fill: #f6f8fa; stroke: #afb8c1; stroke-dasharray: 5 4; }
  .part { fill: #ddf4ff; stroke: #0969da; } .store { fill: #dafbe1; stroke: #1a7f37; } .key { fill: #fff8c5; stroke: #9a6700; }
  .other { fill: #f6f8fa; stroke: #57606a; } .note { fill: #fff8c5; stroke: #d4a72c; } .small { font-size: 12px; }
  .line { stroke: #57606a; fill: none; stroke-width: 1.4; } .dashed { stroke-dasharray: 5 4; } .tip { fill: #57606a; }
  .title { font-weight: 600; } .life { stroke: #afb8c1; stroke-dasharray: 3 4; }
  .label { paint-order: stroke; stroke: #ffffff; stroke-width: 5px; stroke-linejoin: round; }
  @media (prefers-color-scheme: dark) {
    text { fill: #e6edf3; } .panel { fill: #161b22; stroke: #3d444d; } .group { fill: #0d1117; stroke: #656c76; }
    .part { fill: #10305a; stroke: #4493f8; } .store { fill: #0f3d1c; stroke: #3fb950; } .key { fill: #463600; stroke: #d29922; }
    .other { fill: #262c36; stroke: #9198a1; } .note { fill: #463600; stroke: #9e6a03; } .line { stroke: #9198a1; }
    .tip { fill: #9198a1; } .life { stroke: #656c76; } .label { stroke: #161b22; }
  }
"""
_CHAR, _LINE, _MARGIN = 7.0, 17, 16
Look = Literal["part", "store", "key", "other", "note"]
Point = tuple[float, float]


@dataclass(slots=True)
class Picture:
    """A picture that grows as it is drawn on; lengths in pixels from the upper left corner.

    Attributes:
        title: what is seen, for who can't see it.
        description: the same in a sentence or two.
    """

    title: str
    description: str
    width: float
    height: float
    _drawn: list[str] = field(default_factory=list)
    _labels: list[str] = field(default_factory=list)

    def group(self, x: float, y: float, width: float, height: float, name: str) -> None:
        """Draw a frame around what comes inside, with its name."""
        self._drawn.append(
            f'<rect class="group" x="{x}" y="{y}" width="{width}" height="{height}" rx="8"/>'
            f'<text class="small" x="{x + 10}" y="{y + 18}">{escape(name)}</text>'
        )

    def box(self, x: float, y: float, width: float, height: float, text: str, look: Look = "part") -> None:
        """Draw a box with lines of text in its middle; the first stands out."""
        self._drawn.append(f'<rect class="{look}" x="{x}" y="{y}" width="{width}" height="{height}" rx="6"/>')
        lines = text.split("\n")
        top = y + height / 2 - (len(lines) - 1) * _LINE / 2 + 4.5
        for number, line in enumerate(lines):
            style = "title" if number == 0 and look != "note" else "small"
            self._text(self._drawn, x + width / 2, top + number * _LINE, line, style)

    def arrow(self, *points: Point, label: str = "", dashed: bool = False, at: Point | None = None) -> None:
        """Draw a line through the points with a tip at its end; the label stands at its middle, or where it is told."""
        path = " ".join(f"{'M' if number == 0 else 'L'}{x} {y}" for number, (x, y) in enumerate(points))
        style = "line dashed" if dashed else "line"
        self._drawn.append(f'<path class="{style}" d="{path}" marker-end="url(#tip)"/>')
        if label:
            middle = len(points) // 2
            (ax, ay), (bx, by) = points[middle - 1], points[middle]
            self._label(*(at or ((ax + bx) / 2, (ay + by) / 2)), label)

    def life(self, x: float, top: float, bottom: float) -> None:
        """Draw the line along which a participant lives."""
        self._drawn.append(f'<path class="line life" d="M{x} {top} L{x} {bottom}"/>')

    def _label(self, x: float, y: float, text: str) -> None:
        lines = text.split("\n")
        top = y - len(lines) * _LINE / 2
        for number, line in enumerate(lines):
            self._text(self._labels, x, top + 13 + number * _LINE, line, "small label")

    @staticmethod
    def _text(into: list[str], x: float, y: float, text: str, style: str) -> None:
        into.append(
            f'<text class="{style}" x="{x:.1f}" y="{y:.1f}" text-anchor="middle">{escape(text)}</text>'
        )

    def svg(self) -> str:
        """Return the picture."""
        size = f"{self.width:.0f} {self.height:.0f}"
        return "\n".join(
            (
                (
                    f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {size}" width="{self.width:.0f}" '
                    f'height="{self.height:.0f}" role="img" aria-labelledby="title description">'
                ),
                f'<title id="title">{escape(self.title)}</title>',
                f'<desc id="description">{escape(self.description)}</desc>',
                f"<style>{_STYLE}</style>",
                (
                    '<defs><marker id="tip" viewBox="0 0 10 10" refX="9" refY="5" markerWidth="7" markerHeight="7" '
                    'orient="auto-start-reverse"><path class="tip" d="M0 0 L10 5 L0 10 z"/></marker></defs>'
                ),
                f'<rect class="panel" x="0.5" y="0.5" width="{self.width - 1:.0f}" height="{self.height - 1:.0f}" rx="10"/>',
                *self._drawn,
                *self._labels,
                "</svg>\n",
            )
        )


@dataclass(frozen=True, slots=True)
class Message:
    """One participant tells another something, or itself; an answer is dashed."""

    sender: str
    receiver: str
    text: str
    answer: bool = False


@dataclass(frozen=True, slots=True)
class Note:
    """What is worth knowing at this place about a participant."""

    about: str
    text: str


def sequence(
    title: str,
    description: str,
    participants: Sequence[str],
    steps: Sequence[Message | Note],
    *,
    gap: float = 190,
) -> Picture:
    """Return a picture of messages between participants, in the order of time.

    Args:
        title: see `Picture`.
        description: see `Picture`.
        participants: from left to right; `name` or `name: words of its box`.
        steps: in order.
        gap: between two participants.
    """
    names = [one.partition(":")[0] for one in participants]
    words = [one.partition(": ")[2] or one for one in participants]
    place = {name: _MARGIN + 80 + number * gap for number, name in enumerate(names)}
    heights = [len(step.text.split("\n")) * _LINE + (22 if isinstance(step, Note) else 18) for step in steps]
    top = _MARGIN + 48
    bottom = top + sum(heights) + 22
    picture = Picture(title, description, place[names[-1]] + 80 + _MARGIN, bottom + 14)
    for name, said in zip(names, words, strict=True):
        picture.life(place[name], top, bottom)
        picture.box(place[name] - 78, _MARGIN, 156, 44, said)
    y: float = top + 8
    for step, height in zip(steps, heights, strict=True):
        _draw(picture, place, step, y, height)
        y += height
    return picture


def _draw(picture: Picture, place: dict[str, float], step: Message | Note, y: float, height: float) -> None:
    match step:
        case Note(about, text):
            width = max(map(len, text.split("\n"))) * _CHAR + 16
            left = min(max(place[about] - width / 2, _MARGIN), picture.width - _MARGIN - width)
            picture.box(left, y + 4, width, height - 12, text, "note")
        case Message(sender, receiver, text, answer):
            line = y + height - 8
            start, end = place[sender], place[receiver]
            lines = len(text.split("\n"))
            if sender == receiver:
                points = ((start, line - 12), (start + 34, line - 12), (start + 34, line), (start + 3, line))
                picture.arrow(
                    *points,
                    label=text,
                    dashed=answer,
                    at=(
                        start + 44 + max(map(len, text.split("\n"))) * 3.3,
                        line - 6 - (lines - 1) * _LINE / 2,
                    ),
                )
            else:
                middle = ((start + end) / 2, line - 4 - lines * _LINE / 2)
                inward = 3 if end > start else -3
                picture.arrow((start, line), (end - inward, line), label=text, dashed=answer, at=middle)
