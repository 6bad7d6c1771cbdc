"""values.yaml, its schema and the README tell the same."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping

import yaml

from support.chart import CHART, Json

_FREE_FORM = {
    "commonLabels",
    "annotations",
    "podLabels",
    "podAnnotations",
    "nodeSelector",
    "affinity",
    "resources",
}


def _leaves(values: Mapping[str, Json], prefix: str = "") -> Iterator[str]:
    for name, value in values.items():
        if isinstance(value, Mapping) and value and name not in _FREE_FORM:
            yield from _leaves(value, f"{prefix}{name}.")
        else:
            yield prefix + name


def _schema_leaves(schema: Mapping[str, Json], prefix: str = "") -> Iterator[str]:
    properties = schema.get("properties", {})
    assert isinstance(properties, Mapping)
    for name, part in properties.items():
        assert isinstance(part, Mapping)
        if "properties" in part:
            yield from _schema_leaves(part, f"{prefix}{name}.")
        else:
            yield prefix + name


def _values() -> set[str]:
    return set(_leaves(yaml.safe_load((CHART / "values.yaml").read_text())))


def test_the_schema_knows_exactly_the_values() -> None:
    schema = json.loads((CHART / "values.schema.json").read_text())
    assert set(_schema_leaves(schema)) - {"global"} == _values()


def test_the_readme_has_a_row_for_exactly_the_values() -> None:
    readme = (CHART / "README.md").read_text()
    _, tables = readme.split("\n## Values\n")
    rows = re.findall(r"^\| `([A-Za-z.]+)` \|", tables, re.MULTILINE)
    assert len(rows) == len(set(rows))
    assert set(rows) == _values()
