"""Probes, answered at a port of their own: whoever fills the port of requests has nobody restart the service.

It is the same event loop that answers: a service that hangs is found.
"""

from __future__ import annotations

from starlette.types import Receive, Scope, Send

from keybearer.server.answers import json_response, status_response

__all__ = ["PROBE_OPTION", "ProbeListen", "probe_app"]

PROBE_OPTION = "--probe-listen"
ProbeListen = tuple[str, int]
"""Host and port."""
_PATH = "/api/status"


async def probe_app(scope: Scope, receive: Receive, send: Send) -> None:
    """Answer `GET /api/status` as the service does, and nothing else."""
    asked = scope["method"] in ("GET", "HEAD") and scope["path"] == _PATH
    answer = status_response() if asked else json_response({"message": "Not found"}, 404)
    await answer(scope, receive, send)
