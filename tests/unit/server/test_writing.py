"""Records written as answers, from the fields that shape and record both have."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import orjson
import pytest

from keybearer.interface.shapes import Envelope, Instant, NullText, Shape
from keybearer.server.writing import View, writer_of

NOW = datetime(2026, 1, 2, 3, 4, 5, 678_912, UTC)


@dataclass(frozen=True)
class Record:
    id: str
    organization_id: str
    color: str | None
    created_at: datetime
    digest: bytes = b"not shown"


@dataclass(frozen=True, slots=True, kw_only=True)
class Thing(Shape):
    """A thing."""

    id: str
    org_id: str
    color: NullText = ""
    created_at: Instant = ""


@dataclass(frozen=True, slots=True)
class ThingAnswer(Envelope[Thing]):
    """`{thing, message}`."""

    thing: Thing
    message: str


@dataclass(frozen=True, slots=True)
class ThingList(Envelope[list[Thing]]):
    """`{things, totalCount}`."""

    things: list[Thing]
    total_count: int


ORGANIZATION: dict[str, Callable[[Record], object]] = {"org_id": lambda record: record.organization_id}
VIEW = View(Thing, Record, ORGANIZATION)
RECORD = Record("1", "o", None, NOW)
WRITTEN = {"id": "1", "orgId": "o", "color": None, "createdAt": "2026-01-02T03:04:05.678Z"}


def test_a_record_is_written_by_the_names_and_in_the_order_of_the_shape() -> None:
    assert writer_of(Thing, VIEW)(RECORD) == orjson.dumps(WRITTEN)


def test_an_envelope_holds_one_record_or_several_and_what_else_is_given() -> None:
    one = writer_of(ThingAnswer, VIEW, {"message": lambda _: "Done", "total_count": len})
    several = writer_of(ThingList, VIEW, {"total_count": len})
    assert one(RECORD) == orjson.dumps({"thing": WRITTEN, "message": "Done"})
    assert several([RECORD, RECORD]) == orjson.dumps({"things": [WRITTEN, WRITTEN], "totalCount": 2})
    assert several([]) == b'{"things":[],"totalCount":0}'


def test_what_nothing_gives_is_found_when_the_program_starts() -> None:
    with pytest.raises(TypeError, match="Record has no org_id for Thing"):
        View(Thing, Record)
    with pytest.raises(TypeError, match="nothing gives message of ThingAnswer"):
        writer_of(ThingAnswer, VIEW)


def test_a_value_without_a_form_on_the_wire_is_an_error_of_ours() -> None:
    odd: Any = Record("1", "o", b"bytes", NOW)  # type: ignore[arg-type] # that is the test
    with pytest.raises(TypeError):
        writer_of(Thing, VIEW)(odd)
