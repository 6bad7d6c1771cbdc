from __future__ import annotations

import json
from itertools import pairwise

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from keybearer.client.errors import DecodeError
from keybearer.client.event_frames import (
    ChangedPlace,
    Frame,
    FrameReader,
    ProjectEvent,
    event_of,
    fault_of,
)

_PUBLISHED = (
    b"event: ping\n\n"
    b'id: 1767312345678\nevent: secret:update\ndata: {"type":"secret-manager","data":{"eventType":"secret:update",'
    b'"payload":[{"environment":"dev","secretPath":"/","secretKeys":"API_KEY"}]}}\n\n'
    b'event: error\ndata: {"message":"Permission denied or refresh failed"}\n\n'
)
"""Written after wire.md section 7."""


def frames(*pieces: bytes) -> list[Frame]:
    reader = FrameReader()
    return [frame for piece in pieces for frame in reader.feed(piece)]


def told(payload: object) -> str:
    return json.dumps({"type": "secret-manager", "data": {"eventType": "secret:update", "payload": payload}})


def test_the_frames_of_a_published_service_are_read() -> None:
    ping, update, error = frames(_PUBLISHED)
    assert ping == Frame("ping", "")
    assert event_of(update) == ProjectEvent("secret:update", (ChangedPlace("dev", "/", "API_KEY"),))
    assert fault_of(error) == "Permission denied or refresh failed"


@example(cuts=[55, 55], end=b"\r\n")
@given(
    cuts=st.lists(st.integers(0, len(_PUBLISHED)), max_size=20),
    end=st.sampled_from([b"\n", b"\r\n", b"\r"]),
)
def test_pieces_may_end_anywhere_and_lines_in_any_way(cuts: list[int], end: bytes) -> None:
    stream = _PUBLISHED.replace(b"\n", end)
    places = [0, *sorted(cuts), len(stream)]
    pieces = [stream[one:other] for one, other in pairwise(places)]
    # A lone CR is an end of line for good only once something else follows it.
    assert frames(*pieces, b": end") == frames(_PUBLISHED)


@pytest.mark.parametrize(
    ("stream", "expected"),
    [
        pytest.param(b": keep-alive\n\n", [], id="a comment is no frame"),
        pytest.param(b"\n\n\n", [], id="empty lines are no frames"),
        pytest.param(b"data: 1\n\n", [Frame("message", "1")], id="a frame without an event line"),
        pytest.param(b"event:a\ndata:b\n\n", [Frame("a", "b")], id="no space after the colon"),
        pytest.param(b"event: a\ndata: b\ndata:  c\n\n", [Frame("a", "b\n c")], id="data of several lines"),
        pytest.param(b"event: a\nretry: 5\nbare\n\n", [Frame("a", "")], id="fields that are not known"),
        pytest.param(b"event: a\ndata: b", [], id="a frame that was cut off"),
        pytest.param(b"event: \xff\n\n", [Frame("\N{REPLACEMENT CHARACTER}", "")], id="what is no UTF-8"),
    ],
)
def test_frames_follow_the_standard(stream: bytes, expected: list[Frame]) -> None:
    assert frames(stream) == expected


@pytest.mark.parametrize(
    "pieces",
    [
        pytest.param([b"data: " + b"x" * 65_536 + b"\n"], id="a line at once"),
        pytest.param([b"x" * 1000] * 66, id="a line in pieces, without an end"),
        pytest.param([b"data: " + b"x" * 60_000 + b"\n"] * 5, id="a frame of many lines"),
    ],
)
def test_what_is_longer_than_any_service_sends_is_refused(pieces: list[bytes]) -> None:
    with pytest.raises(DecodeError, match="is longer than"):
        frames(*pieces)


@pytest.mark.parametrize(
    ("data", "places"),
    [
        pytest.param(
            told([{"environment": "dev", "secretPath": "/a", "secretKeys": key} for key in "AB"]),
            (ChangedPlace("dev", "/a", "A"), ChangedPlace("dev", "/a", "B")),
            id="several secrets",
        ),
        pytest.param(
            told({"environment": "dev", "secretPath": "/a"}),
            (ChangedPlace("dev", "/a"),),
            id="imports of a folder",
        ),
        pytest.param(
            '{"type":"t","time":1,"data":{"event":"secret:update","payload":'
            '{"environment":"dev","secretPath":"/","secretKey":"A","secretId":"i"}}}',
            (ChangedPlace("dev", "/", "A"),),
            id="the older form",
        ),
        pytest.param(told([]), (), id="an empty payload"),
        pytest.param(told([{"environment": "dev"}]), (), id="a payload without a path"),
        pytest.param(
            told([{"environment": "dev", "secretPath": "/"}, 1]),
            (),
            id="a payload that is understood in part",
        ),
        pytest.param("[]", (), id="data that is no object"),
        pytest.param("{", (), id="data that is no JSON"),
        pytest.param("", (), id="no data"),
    ],
)
def test_places_are_told_only_where_all_of_them_are_understood(data: str, places: tuple[object, ...]) -> None:
    assert event_of(Frame("secret:update", data)) == ProjectEvent("secret:update", places)  # type: ignore[arg-type]


@pytest.mark.parametrize("data", ["", "[]", "{}", '{"message": 5}', '{"message": ""}'])
def test_a_fault_without_a_reason_says_so(data: str) -> None:
    assert fault_of(Frame("error", data)) == "no reason was given"


def test_the_reason_of_a_fault_is_cut_and_kept_on_one_line() -> None:
    assert (
        fault_of(Frame("error", json.dumps({"message": "a\nb\x1b[0m" + "c" * 1000}))) == "a b [0m" + "c" * 493
    )


@given(st.binary(max_size=500))
def test_whatever_comes_is_read_or_refused(stream: bytes) -> None:
    for frame in frames(stream, b"\n\n"):
        event_of(frame)
        fault_of(frame)
