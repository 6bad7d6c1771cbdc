"""The answer that is a stream of server-sent events: frames as wire.md section 7 writes them.

Each frame has an `event` line, and no line is longer than published readers take (64 KiB).
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from itertools import groupby

import orjson
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from keybearer.base.logs import get_logger
from keybearer.domain.event_stream import Ended, EventStream, Happened, Ping
from keybearer.domain.events import Events
from keybearer.store.revisions import ChangeKind, ListChange
from keybearer.wire.events import EventType

__all__ = ["KIND_OF_EVENT", "EventStreamResponse", "frames_of"]

KIND_OF_EVENT = {
    EventType.SECRET_CREATE: ChangeKind.CREATED,
    EventType.SECRET_UPDATE: ChangeKind.UPDATED,
    EventType.SECRET_DELETE: ChangeKind.DELETED,
    EventType.IMPORT_MUTATION: ChangeKind.IMPORTS,
}
_EVENT_OF_KIND = {kind: event for event, kind in KIND_OF_EVENT.items()}

_HEADERS = {
    "Content-Type": "text/event-stream",
    "Cache-Control": "no-cache",
    "Connection": "keep-alive",
    "X-Accel-Buffering": "no",
}
_PAYLOAD_MAX_BYTES = 32 * 1024
_SEND_SECONDS = 30
"""A reader that takes nothing for so long is let go: pings alone never fill a connection."""
_log = get_logger(__name__)
_PING = b"event: ping\n\n"


class EventStreamResponse(Response):
    """Tells of a stream until it ends or its reader goes."""

    def __init__(self, events: Events, stream: EventStream) -> None:
        super().__init__(headers=_HEADERS)
        # A stream's length is not known.
        del self.headers["content-length"]
        self._events = events
        self._stream = stream

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send the stream."""
        del scope
        async with self._events.listening(self._stream):
            await send({"type": "http.response.start", "status": 200, "headers": self.raw_headers})
            async with asyncio.TaskGroup() as group:
                telling = group.create_task(self._tell(send), name="tell events")
                watching = group.create_task(_until_gone(receive), name="watch for the reader's end")
                await asyncio.wait((telling, watching), return_when=asyncio.FIRST_COMPLETED)
                telling.cancel()
                watching.cancel()

    async def _tell(self, send: Send) -> None:
        try:
            async for item in self._stream.items():
                for frame in frames_of(item):
                    async with asyncio.timeout(_SEND_SECONDS):
                        await send({"type": "http.response.body", "body": frame, "more_body": True})
            await send({"type": "http.response.body", "body": b""})
        except TimeoutError:
            _log.info("event_reader_cut_off", seconds=_SEND_SECONDS)  # the server closes what was not ended


def frames_of(item: Ping | Happened | Ended) -> Iterator[bytes]:
    """Yield the frames that tell it; the id is the time, for there is no replay."""
    match item:
        case Ping():
            yield _PING
        case Ended(message):
            yield _frame("error", {"message": message})
        case Happened(changes, at):
            frame_id = str(int(at.timestamp() * 1000))
            for kind, run in groupby(changes, key=lambda change: change.kind):
                event = _EVENT_OF_KIND[kind]
                for payload in _payloads(kind, list(run)):
                    data = {"eventType": event, "payload": payload}
                    yield _frame(event, {"type": "secret-manager", "data": data}, frame_id)


def _payloads(kind: ChangeKind, changes: Sequence[ListChange]) -> Iterator[object]:
    entries: list[dict[str, str]] = []
    size = 0
    for change in changes:
        entry = {"environment": change.environment, "secretPath": change.path}
        if kind is ChangeKind.IMPORTS:
            yield entry
            continue
        entry["secretKeys"] = change.key
        length = len(orjson.dumps(entry))
        if size + length > _PAYLOAD_MAX_BYTES:
            yield entries
            entries, size = [], 0
        entries.append(entry)
        size += length
    if entries:
        yield entries


def _frame(event: str, data: object, frame_id: str | None = None) -> bytes:
    head = f"id: {frame_id}\n" if frame_id is not None else ""
    return b"".join((f"{head}event: {event}\ndata: ".encode(), orjson.dumps(data), b"\n\n"))


async def _until_gone(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
