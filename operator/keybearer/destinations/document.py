"""What a document is: one remote object that holds all keys."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field

from pydantic import JsonValue

from keybearer.destinations.protocol import Outgoing

__all__ = ["Document", "DocumentChange", "Found"]


@dataclass(frozen=True, slots=True)
class Found:
    """What a document holds, as JSON read it.

    Attributes:
        version: what a write follows, so that nothing is lost of what somebody else wrote meanwhile.
        extras: what is kept beside the document (tags, say).
    """

    data: Mapping[str, JsonValue] = field(repr=False)
    version: str | int | None = None
    extras: Mapping[str, str] | None = None


@dataclass(frozen=True, slots=True)
class DocumentChange:
    """What one write changes in a document.

    Attributes:
        found: what was read before; None where there is no document.
        whole: all that it is to hold then; empty where it is to go.
        entries: those that are new, other, or, where they are None, to go.
        is_piece: whether other writes follow or went before, as `Document.chunk` says.
    """

    found: Found | None
    whole: Mapping[str, JsonValue] = field(repr=False)
    entries: Mapping[str, JsonValue] = field(repr=False)
    is_piece: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    """One remote object that holds all keys; entries of others stay in it.

    Attributes:
        place: for messages: "the secret 'app/config'".
        read: what is there; None where nothing is. Raises `ForeignContentError` for a form that no run of ours wrote.
        write: makes a change and returns what is there then; None where another look and another try may do, as when
            somebody else has changed the document since it was read.
        chunk: how many entries of a change one write takes; None where it takes all.
        extras: as a table's.
        is_versioned: whether `Found.version` is the version of every key.
    """

    place: str
    read: Callable[[], Awaitable[Found | None]]
    write: Callable[[DocumentChange], Awaitable[Found | None]]
    chunk: Callable[[DocumentChange], int | None] = lambda _: None
    extras: Callable[[Outgoing], Mapping[str, str] | None] = lambda _: None
    is_versioned: bool = False
