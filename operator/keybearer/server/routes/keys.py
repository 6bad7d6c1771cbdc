"""Rotation of keys, for admins of the organization (an addition to the interface; docs/service.md)."""

from __future__ import annotations

from fastapi import APIRouter, Request
from starlette.responses import Response

from keybearer.domain.access import ProjectRef
from keybearer.domain.key_rotation import KeyStatus
from keybearer.server.answers import json_response
from keybearer.server.auth import AuthenticatedRoute, principal_of
from keybearer.server.context import context_of
from keybearer.wire.base import write_instant
from keybearer.wire.keys import KeyStatusModel, RotateDataKeys, RotatedDataKeys, RotatedRootKey

__all__ = ["router"]

router = APIRouter(tags=["Keys"], route_class=AuthenticatedRoute)


@router.get("/api/v1/admin/keys", response_model=KeyStatusModel, summary="Show how keys stand")
async def key_status(request: Request) -> Response:
    return json_response(_status_json(await context_of(request).key_rotation.status(principal_of(request))))


@router.post("/api/v1/admin/keys/rotate-root", response_model=RotatedRootKey, summary="Rotate the root key")
async def rotate_root_key(request: Request) -> Response:
    root_id = await context_of(request).key_rotation.rotate_root(principal_of(request))
    return json_response({"rootKeyId": root_id})


@router.post("/api/v1/admin/keys/rotate-data", response_model=RotatedDataKeys, summary="Rotate data keys")
async def rotate_data_keys(request: Request, body: RotateDataKeys) -> Response:
    ref = None if body.project_id is None else ProjectRef(id=body.project_id)
    begun = await context_of(request).key_rotation.rotate_data(principal_of(request), ref)
    return json_response({"projectIds": begun})


def _status_json(status: KeyStatus) -> dict[str, object]:
    return {
        "firstRootKeyId": status.first,
        "heldRootKeyIds": list(status.held),
        "rootKeys": [
            {
                "id": root.id,
                "state": root.state,
                "activatedAt": write_instant(root.activated_at),
                "retiredAt": None if root.retired_at is None else write_instant(root.retired_at),
                "wraps": root.wraps,
            }
            for root in status.roots
        ],
        "processes": status.processes,
        "lackingProcesses": status.lacking,
        "dataKeys": status.data_keys,
        "rotations": [
            {
                "projectId": rotation.project_id,
                "startedAt": write_instant(rotation.started_at),
                "resealed": rotation.resealed,
            }
            for rotation in status.rotations
        ],
    }
