"""The OpenAPI document at /api/docs/json, and a page to read it at /api/docs, without a foreign script."""

from __future__ import annotations

from typing import Any

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response

from keybearer.server.answers import json_response
from keybearer.server.docs_page import PAGE
from keybearer.server.table_routes import TableRoute
from keybearer.wire.errors import ErrorBody

__all__ = ["add_documentation"]

_ERRORS = {
    "400": "A rule of the service forbids it",
    "401": "The token is missing, malformed, expired, revoked or unknown",
    "403": "The identity may not",
    "404": "What was named doesn't exist",
    "408": "The body of a request without a token came too late; the connection ends",
    "413": "The body is too large",
    "422": "A field has a form that its schema forbids",
    "429": "Too many requests of one address, logins or streams at once, or unknown emails",
    "500": "Something went wrong",
    "503": "The database is away or busy; worth another try",
    "504": "The answer took too long",
}
_REQUEST_ID = {"required": True, "schema": {"type": "string"}, "description": "Stands in the log too"}
_SECONDS = {"type": "integer", "minimum": 1}
_STANDING = {
    "x-ratelimit-limit": {"schema": {"type": "integer", "minimum": 1}},
    "x-ratelimit-remaining": {"schema": {"type": "integer", "minimum": 0}},
    "x-ratelimit-reset": {"schema": _SECONDS, "description": "Seconds until the limit begins anew"},
}
"""Only where the service limits requests (wire.md section 8.3)."""
_RETRY = {"retry-after": {"schema": _SECONDS}}
_POLICY = (
    "default-src 'none'; script-src 'self' 'unsafe-inline'; style-src 'unsafe-inline'; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)


def add_documentation(app: FastAPI) -> None:
    """Serve the document and the page."""

    async def document(_: Request) -> Response:
        return json_response(_document(app))

    async def page(_: Request) -> Response:
        return HTMLResponse(PAGE, headers={"content-security-policy": _POLICY})

    app.add_route("/api/docs/json", document, include_in_schema=False)
    app.add_route("/api/docs", page, include_in_schema=False)


def _document(app: FastAPI) -> dict[str, Any]:
    if app.openapi_schema is None:
        document = get_openapi(
            title=app.title,
            version=app.version,
            description="Secrets, app connections and certificates.",
            routes=[route.described() if isinstance(route, TableRoute) else route for route in app.routes],
            servers=[{"url": "http://localhost:8080", "description": "Local server"}],
        )
        _describe_errors(document)
        app.openapi_schema = document
    return app.openapi_schema


def _describe_errors(document: dict[str, Any]) -> None:
    """Replace the framework's own 422 by the shape that is really answered."""
    components = document.setdefault("components", {})
    schemas = components.setdefault("schemas", {})
    for name in ("HTTPValidationError", "ValidationError"):
        schemas.pop(name, None)
    error = ErrorBody.model_json_schema(by_alias=True, ref_template="#/components/schemas/{model}")
    schemas.update(error.pop("$defs", {}))
    schemas["ErrorBody"] = error
    components["securitySchemes"] = {"bearerAuth": {"type": "http", "scheme": "bearer"}}
    content = {"application/json": {"schema": {"$ref": "#/components/schemas/ErrorBody"}}}
    for path in document["paths"].values():
        for operation in path.values():
            responses = operation["responses"]
            for status, description in _ERRORS.items():
                responses[status] = {"description": description, "content": content}
            for status, response in responses.items():
                headers = response.setdefault("headers", {})
                headers.update({"x-request-id": _REQUEST_ID, **_STANDING})
                headers.update(_RETRY if status == "429" else {})
