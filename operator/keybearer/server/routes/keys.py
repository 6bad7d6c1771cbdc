"""Rotation of keys, for admins of the organization (an addition to the interface; docs/service.md)."""

from __future__ import annotations

from fastapi import Request
from starlette.responses import Response

from keybearer.server.answers import json_response
from keybearer.server.auth import AuthenticatedRoute, principal_of
from keybearer.server.context import context_of
from keybearer.server.key_rendering import key_status_of
from keybearer.server.routing import new_router
from keybearer.wire.keys import KeyStatusModel, RotateDataKeys, RotatedDataKeys, RotatedRootKey

__all__ = ["router"]

router = new_router("Keys", AuthenticatedRoute)


@router.get("/api/v1/admin/keys", response_model=KeyStatusModel, summary="Show how keys stand")
async def key_status(request: Request) -> Response:
    status = await context_of(request).key_rotation.status(principal_of(request))
    return json_response(key_status_of(status).model_dump(mode="json", by_alias=True))


@router.post("/api/v1/admin/keys/rotate-root", response_model=RotatedRootKey, summary="Rotate the root key")
async def rotate_root_key(request: Request) -> Response:
    root_id = await context_of(request).key_rotation.rotate_root(principal_of(request))
    return json_response({"rootKeyId": root_id})


@router.post("/api/v1/admin/keys/rotate-data", response_model=RotatedDataKeys, summary="Rotate data keys")
async def rotate_data_keys(request: Request, body: RotateDataKeys) -> Response:
    begun = await context_of(request).key_rotation.rotate_data(principal_of(request), body.project_id)
    return json_response({"projectIds": begun})
