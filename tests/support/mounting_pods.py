"""Pods that mount Secrets and ConfigMaps, on a cluster without nodes, and what `refreshMounts` does to them."""

from __future__ import annotations

from support.tenant import Tenant
from tools.local.kube_api import Body
from tools.local.waiting import eventually

__all__ = ["mounting_pod", "refreshed_at", "until_refreshed"]

_ANNOTATION = "keybearer.dev/mounts-refreshed-at"


def mounting_pod(
    tenant: Tenant,
    name: str,
    *,
    keys: tuple[str, ...] = (),
    node: str | None = "node",
    phase: str = "Running",
    **source: str,
) -> None:
    """A pod is there that mounts a Secret or ConfigMap of that name; no kubelet says its phase, so this does."""
    ((kind, of),) = source.items()
    named = "secretName" if kind == "secret" else "name"
    items = [{"key": key, "path": key} for key in keys]
    tenant.api.create(
        {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {"namespace": tenant.namespace, "name": name},
            "spec": {
                "automountServiceAccountToken": False,
                "nodeName": node,
                "containers": [
                    {
                        "name": "app",
                        "image": "registry.example/app:1",
                        "volumeMounts": [{"name": "v", "mountPath": "/etc/app"}],
                    }
                ],
                "volumes": [{"name": "v", kind: {named: of, **({"items": items} if items else {})}}],
            },
        }
    )
    if phase != "Pending":
        tenant.api.patch("Pod", tenant.namespace, name, {"status": {"phase": phase}}, subresource="status")


def refreshed_at(tenant: Tenant, name: str) -> str | None:
    """What the annotation of a pod says; None where it has none."""
    pod: Body = tenant.api.get("Pod", tenant.namespace, name)
    found: str | None = pod["metadata"].get("annotations", {}).get(_ANNOTATION)
    return found


def until_refreshed(tenant: Tenant, name: str, *, since: str | None = None) -> str:
    """Return the annotation of a pod once it is another than the one of before."""

    def another() -> str | None:
        found = refreshed_at(tenant, name)
        return found if found != since else None

    return eventually(another, awaited=f"another annotation of {name}")
