from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from typing import Annotated, Any, Literal, Optional

import pytest
from pydantic import Field

from keybearer.controllers.crds import CUSTOM_RESOURCES
from keybearer.controllers.custom_resource import (
    CustomResource,
    ResourceModel,
    RuledModel,
    rule,
)
from keybearer.controllers.resource_fields import Instant, RefreshInterval
from keybearer.controllers.schema import UnsayableSchemaError, structural_schema


class _Leaf(ResourceModel):
    """A leaf."""

    title: str = "a leaf"
    size: Annotated[int, Field(ge=1, le=9, description="How large.")] = 3


class _Tree(RuledModel):
    """A tree."""

    first: _Leaf | None = None
    others: Annotated[tuple[_Leaf, ...], Field(max_length=4, description="The rest.")] = ()
    by_name: dict[str, _Leaf] = Field(default_factory=dict)
    every: RefreshInterval = timedelta(minutes=5)
    since: Instant | None = None
    mood: Literal["Calm"] = "Calm"

    @rule(cel="has(self.first)", message="a tree needs a first leaf")
    def _has_a_leaf(self) -> bool:
        return self.first is not None


class _Endless(ResourceModel):
    """Contains itself."""

    inner: Optional[_Endless] = None  # noqa: UP045 - pydantic resolves the name late


class _Either(ResourceModel):
    """A union that is none of null's."""

    value: int | str = 0


def test_parts_stand_where_they_are_used_without_references_titles_or_nulls() -> None:
    schema = structural_schema(_Tree)

    assert schema["properties"]["first"]["properties"]["title"] == {"type": "string", "default": "a leaf"}
    assert schema["properties"]["first"]["description"] == "A leaf."
    assert "anyOf" not in repr(schema)
    assert "$" not in repr(schema).replace("$')", "").replace("$'", "")
    assert "default" not in schema["properties"]["since"]


def test_a_default_in_a_list_is_told_to_people_and_kept_from_the_server() -> None:
    schema = structural_schema(_Tree)

    assert schema["properties"]["first"]["properties"]["size"]["default"] == 3
    in_list = schema["properties"]["others"]["items"]["properties"]["size"]
    assert "default" not in in_list
    assert in_list["description"] == "How large. Defaults to 3."


def test_a_default_that_is_a_duration_is_written_as_manifests_write_it() -> None:
    interval = structural_schema(_Tree)["properties"]["every"]

    assert interval["default"] == "5m"
    assert interval["x-kubernetes-int-or-string"] is True
    assert "type" not in interval


def test_a_single_value_becomes_an_enumeration_of_one() -> None:
    assert structural_schema(_Tree)["properties"]["mood"]["enum"] == ["Calm"]


def test_an_instant_is_a_date_time() -> None:
    assert structural_schema(_Tree)["properties"]["since"]["format"] == "date-time"


def test_rules_travel_as_cel_with_their_message() -> None:
    assert structural_schema(_Tree)["x-kubernetes-validations"] == [
        {"rule": "has(self.first)", "message": "a tree needs a first leaf"}
    ]


def test_a_status_carries_no_defaults() -> None:
    assert "'default'" not in repr(structural_schema(_Tree, with_defaults=False))


def test_a_model_that_contains_itself_is_refused_by_name() -> None:
    with pytest.raises(UnsayableSchemaError, match="_Endless refers to itself"):
        structural_schema(_Endless)


def test_a_union_is_refused_by_field() -> None:
    with pytest.raises(UnsayableSchemaError, match=r"_Either\.value: a CRD has no word for anyOf"):
        structural_schema(_Either)


def _parts(schema: dict[str, Any], where: str) -> Iterator[tuple[str, dict[str, Any]]]:
    yield where, schema
    for name, part in schema.get("properties", {}).items():
        yield from _parts(part, f"{where}.{name}")
    if isinstance(schema.get("items"), dict):
        yield from _parts(schema["items"], f"{where}[]")
    if isinstance(schema.get("additionalProperties"), dict):
        yield from _parts(schema["additionalProperties"], f"{where}[*]")


def _unbounded(part: dict[str, Any]) -> bool:
    match part.get("type"):
        case "string":
            return not ({"maxLength", "enum", "format"} & part.keys())
        case "array":
            return "maxItems" not in part
        case "object":
            return "additionalProperties" in part and "maxProperties" not in part
        case _:
            return False


@pytest.mark.parametrize("resource", CUSTOM_RESOURCES, ids=lambda resource: resource.kind)
def test_every_text_list_and_map_of_a_kind_is_bounded(resource: CustomResource) -> None:
    halves = [("spec", resource.spec), ("status", resource.status)]
    parts = [found for half, model in halves for found in _parts(structural_schema(model), half)]

    assert [where for where, part in parts if _unbounded(part)] == []


@pytest.mark.parametrize("resource", CUSTOM_RESOURCES, ids=lambda resource: resource.kind)
def test_every_field_of_a_kind_is_described_to_its_users(resource: CustomResource) -> None:
    halves = [("spec", resource.spec), ("status", resource.status)]
    parts = [found for half, model in halves for found in _parts(structural_schema(model), half)]

    undescribed = [where for where, part in parts if "description" not in part]
    assert [where for where in undescribed if not where.endswith(("[]", "[*]"))] == []
