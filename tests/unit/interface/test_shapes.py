"""One declaration of a shape, read in two ways: leniently by the client, exactly by the documentation and tests."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any

import pytest
from pydantic import Field, TypeAdapter, ValidationError

from keybearer.interface.shapes import (
    Envelope,
    Flag,
    Instant,
    NullText,
    Several,
    Shape,
    Text,
    content_field,
    content_of,
    strict,
    wire_names,
)
from support.rows import each_row


@dataclass(frozen=True, slots=True, kw_only=True)
class Leaf(Shape):
    """A part of another shape."""

    key: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Tree(Shape):
    """A shape with one field of each kind."""

    id: str
    long_name: Text = ""
    color: NullText = ""
    is_old: Flag = False
    ttl: Annotated[Text, Field(alias="accessTokenTTL")] = ""
    leaves: Several[Leaf] = ()
    parent: Leaf | None = None
    created_at: Instant = ""


@dataclass(frozen=True, slots=True)
class TreeList(Envelope[list[Tree]]):
    """`{trees, totalCount}`."""

    total_count: int
    trees: list[Tree]


WHOLE: dict[str, Any] = {
    "id": "1",
    "longName": "oak",
    "color": None,
    "isOld": True,
    "accessTokenTTL": "1h",
    "leaves": [{"key": "a"}],
    "createdAt": "2026-01-02T03:04:05.678Z",
}
SENT = ["id", "longName", "color", "isOld", "accessTokenTTL", "leaves", "createdAt"]


def test_a_reader_gets_simple_types() -> None:
    assert TypeAdapter(Tree).validate_python({**WHOLE, "more": 1}) == Tree(
        id="1",
        long_name="oak",
        is_old=True,
        ttl="1h",
        leaves=(Leaf(key="a"),),
        created_at="2026-01-02T03:04:05.678Z",
    )


def test_a_reader_does_without_what_other_servers_leave_out_or_send_as_null() -> None:
    read = TypeAdapter(Tree).validate_python
    assert read({"id": "1"}) == read({"id": "1", **dict.fromkeys(SENT[1:])}) == Tree(id="1")


def test_a_reader_needs_what_has_no_default() -> None:
    with pytest.raises(ValidationError, match="id"):
        TypeAdapter(Tree).validate_python({})


def test_the_strict_model_takes_and_writes_exactly_what_is_sent() -> None:
    read = strict(Tree).model_validate(WHOLE)
    assert read.model_dump(mode="json", by_alias=True, exclude_unset=True) == WHOLE


@each_row("missing", SENT)
def test_the_strict_model_needs_all_that_our_service_always_sends(missing: str) -> None:
    with pytest.raises(ValidationError, match=missing):
        strict(Tree).model_validate({name: value for name, value in WHOLE.items() if name != missing})


@each_row("given", [{"longName": None}, {"leaves": None}, {"isOld": None}, {"createdAt": "soon"}])
def test_the_strict_model_refuses_what_our_service_never_sends(given: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        strict(Tree).model_validate(WHOLE | given)


def test_the_documentation_shows_the_strict_model() -> None:
    described = strict(TreeList).model_json_schema(mode="serialization")
    tree = described["$defs"]["Tree"]
    assert (described["title"], described["description"]) == ("TreeList", "`{trees, totalCount}`.")
    assert tree["required"] == SENT
    assert [one["type"] for one in tree["properties"]["color"]["anyOf"]] == ["string", "null"]
    assert tree["properties"]["createdAt"]["type"] == "string"


def test_names_on_the_wire_are_camel_case_unless_they_are_given() -> None:
    assert list(wire_names(Tree).values()) == [*SENT[:6], "parent", "createdAt"]


def test_an_envelope_holds_its_content_in_the_field_of_that_type() -> None:
    assert (content_of(TreeList), content_field(TreeList)) == (list[Tree], "trees")
    assert content_of(Tree) is Tree
