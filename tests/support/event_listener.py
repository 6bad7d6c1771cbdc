"""A reader of an event stream in a thread, for tests that cause events in theirs."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any, Self

import httpx

from tools.local.plain_http import plain_client
from tools.local.waiting import PATIENCE_SECONDS, eventually

__all__ = ["ALL_EVENTS", "STREAM", "EventListener", "Frame", "registrations"]

STREAM = "/api/v1/events/subscribe/project-events"
ALL_EVENTS = ("secret:create", "secret:update", "secret:delete", "secret:import-mutation")


@dataclass(frozen=True)
class Frame:
    """One frame of a stream, its data parsed."""

    event: str
    data: Any = None
    id: str = ""

    @property
    def places(self) -> set[tuple[str, ...]]:
        """Environment, path and key of each secret that it names, or environment and path of a folder."""
        payload = self.data["data"]["payload"]
        entries = payload if isinstance(payload, list) else [payload]
        return {tuple(entry.values()) for entry in entries}


def registrations(*events: str, **conditions: str) -> list[dict[str, object]]:
    """Registrations of these events, or of all, with these conditions."""
    more: dict[str, object] = {"conditions": conditions} if conditions else {}
    return [{"event": event, **more} for event in events or ALL_EVENTS]


@dataclass
class EventListener:
    """Listens while the block runs; entered when the answer has begun.

    Args:
        url: of the service.
        token: of who listens.
        project_id: what is listened to.
        asked: the registrations; all events by default.
    """

    url: str
    token: str = field(repr=False)
    project_id: str
    asked: Sequence[Mapping[str, object]] = field(default_factory=registrations)
    headers: httpx.Headers = field(default_factory=httpx.Headers)
    frames: list[Frame] = field(default_factory=list)
    lines: list[str] = field(default_factory=list, repr=False)
    has_ended: bool = False
    was_cut: bool = False

    def __enter__(self) -> Self:
        self._client = plain_client(self.url, timeout=PATIENCE_SECONDS)
        request = self._client.build_request(
            "POST",
            STREAM,
            json={"projectId": self.project_id, "register": list(self.asked)},
            headers={"authorization": f"Bearer {self.token}", "accept": "text/event-stream"},
        )
        self._answer = self._client.send(request, stream=True)
        if self._answer.status_code != 200:
            body = self._answer.read()
            self._client.close()
            raise AssertionError(f"{self._answer.status_code}: {body.decode()}")
        self.headers = self._answer.headers
        self._thread = threading.Thread(target=self._listen, name="event listener", daemon=True)
        self._thread.start()
        self.until(lambda: bool(self.frames), "a first frame")
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        stream = self._answer.extensions.get("network_stream")
        if not self.has_ended and stream is not None:
            # Closed below httpx: its reader waits in the other thread, unless the service has just ended the stream.
            with suppress(OSError):
                stream.get_extra_info("socket").shutdown(2)
        self._thread.join(PATIENCE_SECONDS)
        self._answer.close()
        self._client.close()

    @property
    def events(self) -> list[Frame]:
        """All frames but pings."""
        return [frame for frame in self.frames if frame.event != "ping"]

    @property
    def places(self) -> set[tuple[str, ...]]:
        """What all events name."""
        return {place for frame in self.events if frame.event != "error" for place in frame.places}

    def until(self, holds: Callable[[], bool], awaited: str) -> None:
        """Return when the condition holds."""
        eventually(holds, awaited=awaited, told=lambda: f"frames so far: {self.frames}")

    def until_names(self, *place: str) -> None:
        """Return when an event names the place: environment, path and, of a secret, key."""
        self.until(lambda: place in self.places, f"an event of {place}")

    def until_ended(self) -> Frame:
        """Return the last frame of a stream that the service ended, which must be an error."""
        self.until(lambda: self.has_ended, "the end of the stream")
        assert self.frames[-1].event == "error"
        assert not self.was_cut
        return self.frames[-1]

    def _listen(self) -> None:
        fields: dict[str, str] = {}
        try:
            for line in self._answer.iter_lines():
                self.lines.append(line)
                if line:
                    name, _, value = line.partition(": ")
                    fields[name] = value
                elif fields:
                    data = json.loads(fields["data"]) if "data" in fields else None
                    self.frames.append(Frame(fields["event"], data, fields.get("id", "")))
                    fields = {}
        except httpx.TransportError:
            self.was_cut = True
        finally:
            self.has_ended = True
