"""Subscribing to what changes in a project (wire.md section 7)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from keybearer.client.errors import DecodeError
from keybearer.client.messages import Request, Response, json_body
from keybearer.client.operation import Operation, Repeat
from keybearer.wire.events import (
    EVENT_STREAM_PATH,
    EventConditions,
    EventRegistration,
    EventType,
    SubscribeToEvents,
)

if TYPE_CHECKING:
    import httpx

__all__ = ["EventPlace", "OpenEventStream"]


@dataclass(frozen=True, slots=True)
class EventPlace:
    """A folder, and all under it."""

    environment: str
    path: str = "/"


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenEventStream(Operation["httpx.Response"]):
    """Open a stream of events of a project.

    Each event at each place is a registration, of which a stream has at most ten.
    """

    repeat: ClassVar[Repeat] = Repeat.FREELY

    project_id: str
    events: tuple[EventType, ...] = tuple(EventType)
    places: tuple[EventPlace, ...] = ()

    def request(self) -> Request:
        """Return what to send."""

        def body() -> SubscribeToEvents:
            conditions: list[EventConditions | None] = [
                EventConditions(environment_slug=place.environment, secret_path=place.path)
                for place in self.places
            ]
            return SubscribeToEvents(
                project_id=self.project_id,
                registrations=tuple(
                    EventRegistration(event=event, conditions=condition)
                    for condition in conditions or [None]
                    for event in self.events
                ),
            )

        return Request(
            "POST",
            EVENT_STREAM_PATH,
            body=json_body(body),
            headers=(("Accept", "text/event-stream"),),
            streams=True,
        )

    def read(self, response: Response) -> httpx.Response:
        """Return the answer, open."""
        if response.stream is None:
            raise DecodeError("the answer is no event stream")
        return response.stream
