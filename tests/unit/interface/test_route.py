"""A route as a value: which paths are served, and which fields of its command make the body."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated

import pytest
from pydantic import Field, ValidationError

from keybearer.interface.route import Older, Path, Route, body_of, path_fields, query_of
from keybearer.interface.shapes import OrOlder, Shape, Within
from keybearer.wire.bodies import Zero


@dataclass(frozen=True, slots=True)
class PaintFence:
    """Paint a fence.

    Attributes:
        new_color: of Python's name.
    """

    fence_id: str
    new_color: Annotated[str, Field(max_length=3)]
    coats: int = field(default=1, kw_only=True)
    names: list[str] = field(default_factory=list, kw_only=True)
    thinner: Annotated[int, Zero.COUNTS] | None = field(default=None, kw_only=True)


@dataclass(frozen=True, slots=True)
class Fence(Shape):
    """A fence."""

    id: str


@dataclass(frozen=True, slots=True)
class OldFence(Shape):
    """A fence in other words."""

    fence: str


PAINT = Route(
    "POST",
    (
        "/fences/{fence_id}",
        "/old/{fence_id}",
        Older("/older/{fence_id}", OldFence, "paint_old_fence"),
    ),
    PaintFence,
    Fence,
    "Fences",
    "Paint a fence",
)
READ = Route("GET", ("/fences/{fence_id}",), PaintFence, Fence, "Fences", "Look at a fence")


_GATE = Within("gate", "Gate", "The part of a fence that opens.")


@dataclass(frozen=True, slots=True)
class HangGate:
    """Hang a gate into a fence, which its owner names by either word."""

    owner: Annotated[str, OrOlder("landlord", missing="No owner")]
    color: str
    gate_color: Annotated[str, Field(alias="color", max_length=3), _GATE]
    bars: Annotated[tuple[str, ...], _GATE] = ()
    is_locked: bool = False


HANG = Route("POST", ("/gates",), HangGate, Fence, "Fences", "Hang a gate")


def test_an_older_path_says_what_it_is() -> None:
    assert Older("/v1").is_what == "older path"
    route = Route("GET", ("/v2", Older("/v1", is_what="v1")), Fence, Fence, "Fences", "Look")
    assert [path.summary for path in route.served()] == ["Look", "Look (v1)"]


def test_a_body_has_parts_and_both_words_of_a_field_that_has_two() -> None:
    body = body_of(HANG)
    assert body is not None
    described = body.model_json_schema()
    assert list(described["properties"]) == ["owner", "landlord", "color", "gate", "isLocked"]
    assert described["required"] == ["color", "gate"]
    gate = described["$defs"]["Gate"]
    assert (list(gate["properties"]), gate["description"]) == (["color", "bars"], _GATE.description)
    read = body.model_validate({"landlord": "me", "color": "red", "gate": {"color": "red", "bars": [""]}})
    assert read.model_dump(by_alias=True) == {
        "owner": None,
        "landlord": "me",
        "color": "red",
        "gate": {"color": "red", "bars": []},
        "isLocked": False,
    }
    with pytest.raises(ValidationError, match=r"gate\.color"):
        body.model_validate({"color": "red", "gate": {"color": "green"}})


def test_each_path_is_served_with_its_own_words() -> None:
    assert list(PAINT.served()) == [
        Path("/fences/{fence_id}", Fence, "paint_fence", "Paint a fence"),
        Path("/old/{fence_id}", Fence, "paint_fence", "Paint a fence (older path)"),
        Path("/older/{fence_id}", OldFence, "paint_old_fence", "Paint a fence (older path)"),
    ]
    assert PAINT.canonical == "/fences/{fence_id}"
    assert PAINT.name == "PaintFence"


def test_a_body_has_what_the_path_has_not_with_bounds_and_defaults() -> None:
    body = body_of(PAINT)
    assert path_fields(PAINT) == ("fence_id",)
    assert body is not None
    assert (body.__name__, body.__doc__) == ("PaintFence", "Paint a fence.")
    read = body.model_validate({"newColor": "red", "fenceId": "ignored"})
    assert read.model_dump(by_alias=True) == {"newColor": "red", "coats": 1, "names": [], "thinner": None}
    with pytest.raises(ValidationError, match="newColor"):
        body.model_validate({"newColor": "green"})
    assert query_of(PAINT) is None


def test_zeros_that_nobody_set_count_as_absent_in_bodies_and_not_in_queries() -> None:
    body, query = body_of(PAINT), query_of(READ)
    assert body is not None
    assert query is not None
    given = {"newColor": "", "coats": 0, "names": [""], "thinner": 0}
    assert body.model_validate(given).model_dump() == {"new_color": "", "coats": 1, "names": [], "thinner": 0}
    assert query.model_validate(given).model_dump() == {
        "new_color": "",
        "coats": 0,
        "names": [""],
        "thinner": 0,
    }


def test_what_our_client_says_is_meant() -> None:
    body = body_of(PAINT)
    assert body is not None
    assert body(new_color="", coats=0, names=[""]).model_dump(exclude_unset=True) == {
        "new_color": "",
        "coats": 0,
        "names": [""],
    }


def test_a_get_has_a_query_in_place_of_the_body() -> None:
    query = query_of(READ)
    assert query is not None
    assert list(query.model_fields) == ["new_color", "coats", "names", "thinner"]
    assert body_of(READ) is None
