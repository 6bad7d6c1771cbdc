"""Admission policies of a test's own namespace: what the API server refuses there."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager

from support.secretsync_objects import secret
from support.tenant import Tenant
from tools.controlplane.controlplane import ControlPlane
from tools.local.kube_api import RefusedError
from tools.local.waiting import eventually

__all__ = ["refused_creation"]


@contextmanager
def refused_creation(
    plane: ControlPlane, tenant: Tenant, which: str, *, only_for_real: bool = False
) -> Iterator[str]:
    """Have the API server refuse some new Secrets of the namespace; yield the policy's name.

    Args:
        plane: the cluster.
        tenant: whose namespace.
        which: an expression of CEL; true of one that is named `probe` and holds the key `C`.
        only_for_real: dry runs are accepted, as by whatever only the store refuses.
    """
    name = f"refused-in-{tenant.namespace}"
    tried = "request.dryRun || " if only_for_real else ""
    policy = {
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": "ValidatingAdmissionPolicy",
        "metadata": {"name": name},
        "spec": {
            "matchConstraints": {
                "resourceRules": [
                    {
                        "apiGroups": [""],
                        "apiVersions": ["v1"],
                        "operations": ["CREATE"],
                        "resources": ["secrets"],
                    }
                ]
            },
            "validations": [{"expression": f"{tried}!({which})"}],
        },
    }
    binding = {
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": "ValidatingAdmissionPolicyBinding",
        "metadata": {"name": name},
        "spec": {
            "policyName": name,
            "validationActions": ["Deny"],
            "matchResources": {
                "namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": tenant.namespace}}
            },
        },
    }
    manifest = json.dumps({"apiVersion": "v1", "kind": "List", "items": [policy, binding]})

    def is_refused() -> bool:
        try:
            tenant.api.create(secret(tenant.namespace, "probe", {"C": "cnry-probe"}))
        except RefusedError as error:
            return error.status in (403, 422)
        tenant.api.delete("Secret", tenant.namespace, "probe")
        return False

    plane.kubectl("apply", "--filename=-", input=manifest)
    try:
        eventually(is_refused, awaited=f"the policy {name} at work")
        yield name
    finally:
        plane.kubectl("delete", "--filename=-", "--ignore-not-found", input=manifest)
        eventually(lambda: not is_refused(), awaited=f"an end of the policy {name}")
