"""GET /api/status, without authentication (wire.md section 0)."""

from __future__ import annotations

from starlette.responses import Response

from keybearer.server.answers import status_response
from keybearer.server.routing import new_router
from keybearer.wire.auth import Message

__all__ = ["router"]

router = new_router("Status")


@router.get("/api/status", response_model=Message, summary="Whether the service answers")
async def status() -> Response:
    return status_response()
