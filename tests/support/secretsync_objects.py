"""Manifests of SecretSyncs and what surrounds them, and readings of what became of them."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from typing import Any

from tools.local.kube_api import Body

__all__ = [
    "condition",
    "config_map",
    "decoded",
    "deployment",
    "identity_secret",
    "message_of",
    "namespace",
    "reason_of",
    "secret",
    "secret_sync",
    "told_of",
]


def namespace(name: str, labels: Mapping[str, str] | None = None) -> Body:
    """A Namespace."""
    return {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name, "labels": dict(labels or {})}}


def secret(
    where: str, name: str, data: Mapping[str, str] | None = None, *, type_: str = "Opaque", **metadata: object
) -> Body:
    """A Secret with these texts; `metadata` is added to its metadata."""
    return {
        "apiVersion": "v1",
        "kind": "Secret",
        "type": type_,
        "metadata": {"namespace": where, "name": name, **metadata},
        "data": {key: base64.b64encode(text.encode()).decode() for key, text in (data or {}).items()},
    }


def identity_secret(where: str, name: str, data: Mapping[str, str]) -> Body:
    """The Secret that an identityRef names."""
    return secret(where, name, data)


def config_map(where: str, name: str, data: Mapping[str, str]) -> Body:
    """A ConfigMap."""
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"namespace": where, "name": name},
        "data": dict(data),
    }


def deployment(where: str, name: str) -> Body:
    """A Deployment of one container; without nodes it is only ever an object."""
    labels = {"app": name}
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"namespace": where, "name": name},
        "spec": {
            "replicas": 1,
            "selector": {"matchLabels": labels},
            "template": {
                "metadata": {"labels": labels},
                "spec": {"containers": [{"name": "app", "image": "registry.example/app:1"}]},
            },
        },
    }


def secret_sync(where: str, name: str, spec: Mapping[str, Any]) -> Body:
    """A SecretSync."""
    return {
        "apiVersion": "keybearer.dev/v1alpha1",
        "kind": "SecretSync",
        "metadata": {"namespace": where, "name": name},
        "spec": dict(spec),
    }


def decoded(body: Mapping[str, Any]) -> dict[str, str]:
    """Keys and texts of a Secret."""
    return {key: base64.b64decode(value).decode() for key, value in (body.get("data") or {}).items()}


def condition(sync: Mapping[str, Any], type_: str) -> Body | None:
    """One condition of a SecretSync, or None."""
    conditions = sync.get("status", {}).get("conditions", [])
    return next((one for one in conditions if one["type"] == type_), None)


def reason_of(sync: Mapping[str, Any]) -> str:
    """The reason of the condition Ready; empty before the first status."""
    ready = condition(sync, "Ready")
    return "" if ready is None else str(ready["reason"])


def message_of(sync: Mapping[str, Any]) -> str:
    """The message of the condition Ready."""
    ready = condition(sync, "Ready")
    return "" if ready is None else str(ready["message"])


def told_of(sync: Mapping[str, Any] | None) -> str:
    """What a SecretSync says of itself, for the text of a failed test."""
    if sync is None:
        return "the SecretSync is not there"
    conditions = [
        f"{one['type']}={one['status']} {one['reason']}: {one['message']}"
        for one in sync.get("status", {}).get("conditions", [])
    ]
    generation = f"generation {sync['metadata']['generation']}"
    observed = f"observed {sync.get('status', {}).get('observedGeneration')}"
    return "; ".join((generation, observed, *conditions))
