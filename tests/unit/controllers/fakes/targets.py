"""Specs, planned targets, and targets as the API server would answer them, in few words."""

from __future__ import annotations

import base64
import copy
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Any, TypeAlias

from pydantic import JsonValue

from keybearer.controllers.fingerprint import Fingerprinter
from keybearer.controllers.secretsync.payload import judge_payload
from keybearer.controllers.secretsync.resource import SecretSyncSpec
from keybearer.controllers.target.desired import DesiredTarget, build_target
from keybearer.controllers.target.observed import PresentTarget, merge_manager, observe_target
from keybearer.controllers.work import WorkKey
from keybearer.kube.gateway import FIELD_MANAGER

__all__ = [
    "AT",
    "FINGERPRINTER",
    "SYNC",
    "UID",
    "Body",
    "Change",
    "Field",
    "b64",
    "controlled_by_another",
    "desired",
    "foreign",
    "immutable",
    "merged_into",
    "new_spec",
    "of_type_tls",
    "present",
    "stored",
    "there",
]

AT = datetime(2026, 3, 1, 12, tzinfo=UTC)
SYNC = WorkKey("SecretSync", "team-a", "web")
UID = "3f6c2f0e-0000-4000-8000-000000000001"
Body: TypeAlias = dict[str, Any]
Field: TypeAlias = Any
"""A field of a manifest, as JSON has it; of no narrower type, so that tables of fields can be spread."""
Change = Callable[[Body], None]
"""What somebody did to a target."""

FINGERPRINTER = Fingerprinter(b"k" * 32)


def b64(text: str | bytes) -> str:
    return base64.b64encode(text.encode() if isinstance(text, str) else text).decode()


def new_spec(*, mode: str = "Apply", max_deletions: int = 50, **target: Field) -> SecretSyncSpec:
    """Return a spec whose target half has these fields, in the manifest's spelling."""
    return SecretSyncSpec.model_validate(
        {
            "source": {"projectId": "shop", "environment": "dev"},
            "mode": mode,
            "guard": {"maxDeletions": max_deletions},
            "target": target,
        }
    )


def desired(
    spec: SecretSyncSpec, data: Mapping[str, str | bytes], *, owner: WorkKey = SYNC, uid: str = UID
) -> DesiredTarget:
    """Return the planned target that holds these keys."""
    values = {key: value.encode() if isinstance(value, str) else value for key, value in data.items()}
    # Types that demand keys are judged elsewhere; here any keys will do.
    payload = judge_payload(spec.target.kind, "Opaque", values)
    return build_target(owner, uid, spec.target, payload.data, payload.text, FINGERPRINTER)


def stored(body: Mapping[str, JsonValue], *, uid: str = "target-uid", version: str = "7") -> dict[str, Any]:
    """Return what a GET answers after the body was posted: with the server's own fields and defaults."""
    whole: dict[str, Any] = copy.deepcopy(dict(body))
    whole["metadata"] |= {
        "uid": uid,
        "resourceVersion": version,
        "creationTimestamp": "2026-03-01T12:00:00Z",
        "managedFields": [_written_by_us(body)],
    }
    if whole["kind"] == "Secret":
        whole.setdefault("type", "Opaque")
    return whole


def _written_by_us(body: Mapping[str, Any]) -> Body:
    meta: Body = {
        f"f:{section}": {f"f:{name}": {} for name in body["metadata"].get(section) or {}}
        for section in ("labels", "annotations")
    }
    return {"manager": FIELD_MANAGER, "operation": "Update", "fieldsV1": {"f:metadata": meta}}


def present(body: Mapping[str, JsonValue], *, owner_uid: str = UID) -> PresentTarget:
    """Return the body as a plan is given it."""
    seen = observe_target(str(body["kind"]), body, FINGERPRINTER)
    return PresentTarget(
        key=seen.key,
        uid=seen.uid,
        resource_version=seen.resource_version,
        owner_uid=seen.owner_uid,
        fingerprint=seen.fingerprint,
        body=body,
        manager=merge_manager(owner_uid),
    )


def there(data: Mapping[str, str | bytes], *changes: Change, **target: Field) -> PresentTarget:
    """Return a target as an earlier run of ours left it, and what has been done to it since."""
    body = stored(desired(new_spec(**target), data).body)
    for change in changes:
        change(body)
    return present(body)


def foreign(body: Body) -> None:
    body["metadata"] |= {"labels": {"theirs": "yes"}, "managedFields": []}
    body["metadata"].pop("ownerReferences", None)


def controlled_by_another(body: Body) -> None:
    controller = {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "name": "web",
        "uid": "d",
        "controller": True,
    }
    body["metadata"]["ownerReferences"] = [controller]


def immutable(body: Body) -> None:
    body["immutable"] = True


def of_type_tls(body: Body) -> None:
    body["type"] = "kubernetes.io/tls"


def merged_into(
    theirs: Mapping[str, str], ours: Mapping[str, str], *changes: Change, **target: Field
) -> PresentTarget:
    """Return somebody's Secret into which we merged our keys."""
    body = stored(desired(new_spec(creationPolicy="Merge", **target), {**theirs, **ours}).body)
    owned = {
        "f:data": {f"f:{key}": {} for key in ours},
        "f:metadata": {
            f"f:{section}": {f"f:{name}": {} for name in body["metadata"].get(section, {})}
            for section in ("labels", "annotations")
        },
    }
    body["metadata"]["managedFields"] = [
        {"manager": merge_manager(UID), "operation": "Apply", "fieldsV1": owned},
        {
            "manager": "kubectl",
            "operation": "Update",
            "fieldsV1": {"f:data": {f"f:{key}": {} for key in theirs}},
        },
    ]
    for change in changes:
        change(body)
    return present(body)
