from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from keybearer.client import EventPlace, EventType
from keybearer.controllers.registrations import (
    PLACES_PER_STREAM,
    STREAMS_PER_PROJECT,
    covers,
    outermost,
    pack,
)

_ROOM = PLACES_PER_STREAM * STREAMS_PER_PROJECT
_places = st.builds(
    EventPlace,
    st.sampled_from(["dev", "prod"]),
    st.lists(st.sampled_from(["a", "b", "ab"]), max_size=3).map(lambda names: "/" + "/".join(names)),
)


def _disjoint(streams: list[frozenset[EventPlace]]) -> list[frozenset[EventPlace]]:
    seen: set[EventPlace] = set()
    kept = []
    for stream in streams:
        kept.append(stream - seen)
        seen |= stream
    return kept


def places(*paths: str) -> list[EventPlace]:
    return [EventPlace("dev", path) for path in paths]


def test_a_stream_has_no_more_registrations_than_the_service_takes() -> None:
    assert PLACES_PER_STREAM * len(EventType) <= 10


@pytest.mark.parametrize(
    ("path", "is_covered"),
    [
        pytest.param("/app", True, id="the folder"),
        pytest.param("/app/", True, id="the folder in another spelling"),
        pytest.param("/app/web", True, id="a folder in it"),
        pytest.param("/apple", False, id="a folder whose name begins alike"),
        pytest.param("/", False, id="the folder above"),
    ],
)
def test_a_place_covers_its_folder_and_all_under_it(path: str, is_covered: bool) -> None:  # noqa: FBT001 - of the table
    assert covers(EventPlace("dev", "/app"), "dev", path) is is_covered
    assert not covers(EventPlace("prod", "/app"), "dev", path)


def test_the_root_covers_its_environment() -> None:
    assert covers(EventPlace("dev"), "dev", "/app/web")
    assert covers(EventPlace("dev"), "dev", "/")


def test_places_under_others_need_no_registration() -> None:
    assert outermost(places("/a/b", "/a", "/a", "/ab")) == places("/a", "/ab")


@given(st.lists(_places, max_size=20))
def test_the_outermost_places_cover_all_places_and_none_another(wanted: list[EventPlace]) -> None:
    kept = outermost(wanted)
    assert all(any(covers(one, place.environment, place.path) for one in kept) for place in wanted)
    assert not any(
        covers(one, other.environment, other.path) for one in kept for other in kept if one != other
    )


@given(st.lists(_places, unique=True, max_size=30), st.lists(st.frozensets(_places, max_size=2), max_size=5))
def test_streams_are_bounded_and_what_fits_is_in_one(
    wanted: list[EventPlace], present: list[frozenset[EventPlace]]
) -> None:
    packed = pack(wanted, _disjoint(present))
    assert len(packed) == STREAMS_PER_PROJECT
    assert all(len(stream) <= PLACES_PER_STREAM for stream in packed)
    listened = [place for stream in packed for place in stream]
    assert len(listened) == len(set(listened)) == min(len(wanted), _ROOM)
    assert set(listened) <= set(wanted)


def test_a_new_place_leaves_full_streams_as_they_are() -> None:
    first = pack(places("/a", "/b", "/c"), [])
    assert first[:2] == [frozenset(places("/a", "/b")), frozenset(places("/c"))]
    second = pack(places("/d", "/a", "/b", "/c"), first)
    assert second[:2] == [first[0], frozenset(places("/c", "/d"))]


def test_the_place_of_one_that_goes_is_taken_by_the_next() -> None:
    packed = pack(places("/b", "/c"), [frozenset(places("/a", "/b"))])
    assert packed[0] == frozenset(places("/b", "/c"))


def test_what_finds_no_room_is_what_came_last() -> None:
    wanted = places(*(f"/{number}" for number in range(_ROOM + 3)))
    packed = pack(wanted, [])
    assert set().union(*packed) == set(wanted[:_ROOM])
    assert pack(list(reversed(wanted)), packed) == packed
