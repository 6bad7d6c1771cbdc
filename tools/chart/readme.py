"""The tables of values in the chart's README, made from values.yaml: `python -m tools.chart.readme [--check]`.

The comment above a value is what the table says of it, a value without one is a fault. A mapping whose keys are the
user's (labels, resources) is one value.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import yaml

from tools.chart.rendering import CHART, Json

__all__ = ["FREE_FORM", "README", "Value", "in_step", "main", "values"]

README = CHART / "README.md"
FREE_FORM = frozenset(
    {
        "affinity",
        "alertLabels",
        "annotations",
        "commonAnnotations",
        "commonLabels",
        "labels",
        "liveness",
        "nodeSelector",
        "podAnnotations",
        "podLabels",
        "readiness",
        "resources",
        "startup",
    }
)
"""Mappings that are one value each."""

_BEGIN, _END = "<!-- values: made by `make chart-readme` -->\n", "<!-- values end -->\n"
_OWN_TABLES = ("operator", "embeddedService", "networkPolicy", "monitoring")
_REMAINDER = "everything else"


@dataclass(frozen=True, slots=True)
class Value:
    """One row: the dotted path, the default as YAML writes it on one line, and what its comment says."""

    path: str
    default: str
    told: str


def values(text: str) -> list[Value]:
    """The values of a values.yaml, in its order.

    Raises:
        ValueError: one has no comment; the text names them all.
    """
    root = yaml.compose(text)
    if not isinstance(root, yaml.MappingNode):
        raise TypeError("values.yaml is no mapping")
    found = list(_leaves(root, yaml.safe_load(text), text.splitlines(), ""))
    bare = [one.path for one in found if not one.told]
    if bare:
        msg = f"values.yaml: no comment above {', '.join(bare)}"
        raise ValueError(msg)
    return found


def _leaves(
    node: yaml.MappingNode, data: Mapping[str, Json], lines: list[str], prefix: str
) -> Iterator[Value]:
    for key, child in node.value:
        value = data[key.value]
        nests = isinstance(child, yaml.MappingNode) and child.value and key.value not in FREE_FORM
        if nests and isinstance(value, Mapping):
            yield from _leaves(child, value, lines, f"{prefix}{key.value}.")
        else:
            yield Value(prefix + key.value, _one_line(value), _comment(lines, key.start_mark.line))


def _one_line(value: Json) -> str:
    if isinstance(value, Mapping | list) and value:
        flow = yaml.safe_dump(value, default_flow_style=True, sort_keys=False, width=10_000)
        return str(flow).strip()
    return json.dumps(value)


def _comment(lines: list[str], row: int) -> str:
    """The lines of comment right above, joined."""
    words: list[str] = []
    while row > 0 and (comment := re.fullmatch(r"\s*# ?(.*)", lines[row - 1])):
        words.insert(0, comment[1])
        row -= 1
    return " ".join(words).strip()


def _tables(found: list[Value]) -> str:
    """One table for what is of no part, and one for each part."""
    groups: dict[str, list[Value]] = {_REMAINDER: [], **{name: [] for name in _OWN_TABLES}}
    for one in found:
        part = one.path.partition(".")[0]
        groups[part if part in groups else _REMAINDER].append(one)
    written: list[str] = []
    for name, rows in groups.items():
        if name != _REMAINDER:
            written.append(f"\n### `{name}`\n\n")
        written.append("| value | default | meaning |\n|---|---|---|\n")
        written += [f"| `{one.path}` | `{_cell(one.default)}` | {_cell(one.told)} |\n" for one in rows]
    return "".join(written)


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


def _renewed(readme: str) -> str:
    """The README with tables of today's values."""
    before, begin, rest = readme.partition(_BEGIN)
    _, end, after = rest.partition(_END)
    if not begin or not end:
        msg = f"{README} has no {_BEGIN.strip()} before {_END.strip()}"
        raise ValueError(msg)
    return before + begin + _tables(values((CHART / "values.yaml").read_text())) + end + after


def in_step() -> bool:
    """Whether the README's tables are those of values.yaml."""
    readme = README.read_text()
    return _renewed(readme) == readme


def main(*arguments: str) -> None:
    """Write the tables; with --check only say that they are old, and end with 1."""
    if arguments == ("--check",):
        if not in_step():
            sys.exit("charts/keybearer/README.md is out of step with values.yaml; run: make chart-readme")
    elif arguments:
        sys.exit("usage: python -m tools.chart.readme [--check]")
    else:
        README.write_text(_renewed(README.read_text()))


if __name__ == "__main__":
    main(*sys.argv[1:])
