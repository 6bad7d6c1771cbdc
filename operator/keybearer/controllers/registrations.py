"""Which places the streams of one project listen to. Pure.

A stream takes ten registrations, and a place needs one for each kind of event; an identity has five streams of a
project (wire.md section 7).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from keybearer.base.folder_paths import lies_within
from keybearer.client import EventPlace, EventType

__all__ = ["PLACES_PER_STREAM", "STREAMS_PER_PROJECT", "covers", "outermost", "pack"]

STREAMS_PER_PROJECT = 5
PLACES_PER_STREAM = 10 // len(EventType)


def covers(place: EventPlace, environment: str, path: str) -> bool:
    """Tell whether what happens in the folder is told to who listens at the place."""
    return place.environment == environment and lies_within(path, place.path)


def outermost(places: Iterable[EventPlace]) -> list[EventPlace]:
    """Return the places without those that lie under another one, in their order."""
    unique = list(dict.fromkeys(places))
    return [
        place
        for place in unique
        if not any(other != place and covers(other, place.environment, place.path) for other in unique)
    ]


def pack(
    places: Sequence[EventPlace], present: Sequence[frozenset[EventPlace]]
) -> list[frozenset[EventPlace]]:
    """Return the places of each stream; those that find no room are left out, the last ones first.

    A change of its places costs a stream a new connection: what is listened to stays where it is.

    Args:
        places: wanted, each once, the most deserving first.
        present: what streams listen to now.
    """
    wanted = set(places)
    streams = [set(stream & wanted) for stream in present[:STREAMS_PER_PROJECT]]
    streams += [set() for _ in range(STREAMS_PER_PROJECT - len(streams))]
    placed = set().union(*streams)
    for place in places:
        if place in placed:
            continue
        room = next((stream for stream in streams if len(stream) < PLACES_PER_STREAM), None)
        if room is None:
            break
        room.add(place)
    return [frozenset(stream) for stream in streams]
