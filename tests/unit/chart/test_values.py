"""values.yaml, its schema and the README tell the same."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping

import pytest

from tools.chart.readme import in_step, values
from tools.chart.rendering import CHART, Json

_SCHEMA: Mapping[str, Json] = json.loads((CHART / "values.schema.json").read_text())
_HELMS_OWN = "global"


def _properties(schema: Mapping[str, Json]) -> Mapping[str, Mapping[str, Json]]:
    found = schema.get("properties", {})
    assert isinstance(found, Mapping)
    return {name: part for name, part in found.items() if isinstance(part, Mapping)}


def _schema_leaves(schema: Mapping[str, Json], prefix: str = "") -> Iterator[str]:
    for name, part in _properties(schema).items():
        if "properties" in part:
            yield from _schema_leaves(part, f"{prefix}{name}.")
        else:
            yield prefix + name


def _objects(schema: Json, where: str) -> Iterator[tuple[str, Mapping[str, Json]]]:
    """Each part of the schema that names properties of its own, and where it stands."""
    if isinstance(schema, Mapping):
        is_condition = where.rpartition("/")[2] in {"if", "then", "not"}
        if not is_condition:
            if "properties" in schema and "type" in schema:
                yield where, schema
            for name, part in schema.items():
                yield from _objects(part, f"{where}/{name}")


def test_the_schema_knows_exactly_the_values() -> None:
    found = [one.path for one in values((CHART / "values.yaml").read_text())]
    assert len(found) == len(set(found))
    assert set(_schema_leaves(_SCHEMA)) - {_HELMS_OWN} == set(found)


def test_the_readme_has_a_row_for_exactly_the_values() -> None:
    assert in_step(), "run make chart-readme"


def test_a_value_without_a_comment_is_a_fault() -> None:
    with pytest.raises(ValueError, match=r"no comment above a\.b$"):
        values("a:\n  b: 1\n  # Told.\n  c: 2\n")


def test_a_row_is_the_comment_right_above_on_one_line() -> None:
    told, listed = values("# Of the part.\na:\n  # One\n  # two.\n  b: x\n\n# Three.\nc: [1, 2]\n")
    assert (told.path, told.default, told.told) == ("a.b", '"x"', "One two.")
    assert (listed.path, listed.default, listed.told) == ("c", "[1, 2]", "Three.")


def test_nothing_that_the_schema_does_not_name_is_taken() -> None:
    # Volumes have more than twenty kinds, which are the API server's to judge.
    objects = dict(_objects(_SCHEMA, ""))
    assert len(objects) > 30
    lax = {where for where, schema in objects.items() if schema.get("additionalProperties") is not False}
    assert lax == {"/definitions/volumes/items"}


def test_no_value_may_be_missing_but_those_that_the_platform_may_choose() -> None:
    """`helm upgrade --reuse-values` brings the values of the version before alone: that must be told, in words."""
    for where, schema in _objects(_SCHEMA, ""):
        if where.startswith("/properties/") and where != "/properties/podSecurity":
            properties = schema["properties"]
            assert isinstance(properties, Mapping)
            assert schema.get("required") == list(properties), where
