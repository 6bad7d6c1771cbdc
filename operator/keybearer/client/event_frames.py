"""Server-sent events, from bytes to what happened. Pure, and bounded in memory.

Frames follow the HTML standard, section 9.2.6: lines end with LF, CR or both; an empty one ends a frame; lines
that begin with a colon are comments.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import orjson

from keybearer.client.errors import DecodeError

__all__ = ["ChangedPlace", "Frame", "FrameReader", "ProjectEvent", "event_of", "fault_of"]

_LINE_MAX_BYTES = 64 * 1024
"""What published readers take, and published services keep to (wire.md section 7)."""
_FRAME_MAX_BYTES = 256 * 1024
_FAULT_MAX = 500


@dataclass(frozen=True, slots=True)
class Frame:
    """One frame. `event` is `message` where the stream names none."""

    event: str
    data: str = field(repr=False)


@dataclass(frozen=True, slots=True)
class ChangedPlace:
    """A folder whose list changed; the key where it is one secret's."""

    environment: str
    path: str
    key: str | None = None


@dataclass(frozen=True, slots=True)
class ProjectEvent:
    """Something changed in the project.

    Attributes:
        type: such as `secret:update`; a service may know others than this client.
        places: where; empty where the service doesn't say in a form that is understood: it may be anywhere.
    """

    type: str
    places: tuple[ChangedPlace, ...] = ()


class FrameReader:
    """Puts frames together from pieces that may end anywhere."""

    def __init__(self) -> None:
        self._rest = b""
        self._after_return = False
        self._event = ""
        self._data: list[str] = []
        self._size = 0

    def feed(self, piece: bytes) -> Iterator[Frame]:
        """Yield the frames that the piece completes.

        Raises:
            DecodeError: a line or a frame is longer than any service's.
        """
        for line in self._lines(piece):
            if line:
                self._take(line)
            elif self._event or self._data:
                yield Frame(self._event or "message", "\n".join(self._data))
                self._event, self._data, self._size = "", [], 0

    def _lines(self, piece: bytes) -> Iterator[bytes]:
        if self._after_return and piece:
            piece = piece.removeprefix(b"\n")  # the second half of an end of line
            self._after_return = False
        if not piece:
            return
        whole = self._rest + piece
        self._rest = b""
        self._after_return = whole.endswith(b"\r")
        for part in whole.splitlines(keepends=True):
            line = part.rstrip(b"\r\n")
            if len(line) > _LINE_MAX_BYTES:
                raise DecodeError(f"a line of the event stream is longer than {_LINE_MAX_BYTES} bytes")
            if part.endswith((b"\r", b"\n")):
                yield line
            else:
                self._rest = line

    def _take(self, line: bytes) -> None:
        self._size += len(line)
        if self._size > _FRAME_MAX_BYTES:
            raise DecodeError(f"a frame of the event stream is longer than {_FRAME_MAX_BYTES} bytes")
        name, _, value = line.decode(errors="replace").partition(":")
        value = value.removeprefix(" ")
        if name == "event":
            self._event = value
        elif name == "data":
            self._data.append(value)


def event_of(frame: Frame) -> ProjectEvent:
    """Return what happened, as far as the frame says so in a form that is understood."""
    return ProjectEvent(frame.event, tuple(_places(frame.data)))


def fault_of(frame: Frame) -> str:
    """Return the sentence of an `error` frame, cut to a length and without control characters."""
    try:
        content = orjson.loads(frame.data)
    except orjson.JSONDecodeError:
        content = None
    message = content.get("message") if isinstance(content, dict) else None
    text = message if isinstance(message, str) and message else "no reason was given"
    return "".join(letter if letter.isprintable() else " " for letter in text[:_FAULT_MAX])


def _places(data: str) -> list[ChangedPlace]:
    """Return the places of the payload; none if any of it is not understood."""
    try:
        content = orjson.loads(data)
    except orjson.JSONDecodeError:
        return []
    inner = content.get("data") if isinstance(content, dict) else None
    payload = inner.get("payload") if isinstance(inner, dict) else None
    entries = payload if isinstance(payload, list) else [payload]
    places: list[ChangedPlace] = []
    for entry in entries:
        if not isinstance(entry, dict):
            return []
        environment, path = entry.get("environment"), entry.get("secretPath")
        # An older build wrote `secretKey` (wire.md section 7).
        key = entry.get("secretKeys", entry.get("secretKey"))
        if not isinstance(environment, str) or not isinstance(path, str):
            return []
        places.append(ChangedPlace(environment, path, key if isinstance(key, str) else None))
    return places
