"""Events of a project as a stream (wire.md section 7)."""

from __future__ import annotations

from fastapi import Request
from starlette.responses import Response

from keybearer.domain.authorization import Where
from keybearer.domain.event_stream import Registration, watched_folder
from keybearer.server.auth import AuthenticatedRoute, address_of, bearer_of, principal_of
from keybearer.server.context import context_of
from keybearer.server.event_stream import KIND_OF_EVENT, EventStreamResponse
from keybearer.server.routing import new_router
from keybearer.wire.events import EVENT_STREAM_PATH, EventRegistration, SubscribeToEvents

__all__ = ["router"]

router = new_router("Events", AuthenticatedRoute)


@router.post(
    EVENT_STREAM_PATH,
    response_class=Response,
    responses={
        200: {
            "description": "Frames of events until either side ends the stream",
            "content": {"text/event-stream": {"schema": {"type": "string"}}},
        },
        429: {"description": "The identity has too many streams of the project"},
    },
    summary="Subscribe to events of a project",
)
async def subscribe(request: Request, body: SubscribeToEvents) -> Response:
    context = context_of(request)
    stream = await context.events.subscribe(
        principal_of(request),
        body.project_id,
        [_registration(item) for item in body.registrations],
        context.authentication.end_of(bearer_of(request) or ""),
        address_of(request),
    )
    return EventStreamResponse(context.events, stream)


def _registration(item: EventRegistration) -> Registration:
    kind, conditions = KIND_OF_EVENT[item.event], item.conditions
    if conditions is None:
        return Registration(kind)
    return Registration(kind, Where(conditions.environment_slug, watched_folder(conditions.secret_path)))
