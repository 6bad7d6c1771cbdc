"""Admission of a test's own namespace: what the API server refuses there, or can't decide."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from support.secretsync_objects import config_map, secret
from support.tenant import Tenant
from tools.controlplane.controlplane import ControlPlane
from tools.local.kube_api import Body, RefusedError
from tools.local.waiting import eventually

__all__ = ["kept_namespace", "refused_creation", "refused_restarts", "refused_statuses", "webhook_down"]

_NAMESPACE_CONTROLLER = "system:serviceaccount:kube-system:namespace-controller"
_OPERATOR_OR_PROBE = (
    "request.userInfo.username.startsWith('system:serviceaccount:') || "
    "request.resource.resource == 'configmaps'"
)
_KINDS = {
    "secretsyncs": "keybearer.dev",
    "certificateprofiles": "keybearer.dev",
    "appconnections": "keybearer.dev",
    "secrets": "",
    "deployments": "apps",
}


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
    manifest = _policy(name, tenant, "CREATE", ["secrets"], f"{tried}!({which})")

    def is_refused() -> bool:
        try:
            tenant.api.create(secret(tenant.namespace, "probe", {"C": "cnry-probe"}))
        except RefusedError as error:
            return error.status in (403, 422)
        tenant.api.delete("Secret", tenant.namespace, "probe")
        return False

    with _applied(plane, manifest):
        eventually(is_refused, awaited=f"the policy {name} at work")
        yield name
    eventually(lambda: not is_refused(), awaited=f"an end of the policy {name}")


@contextmanager
def kept_namespace(plane: ControlPlane, tenant: Tenant) -> Iterator[None]:
    """Have the namespace, once it is deleted, stay in Terminating with its Secrets and custom resources."""
    name = f"kept-{tenant.namespace}"
    expression = f"request.userInfo.username != '{_NAMESPACE_CONTROLLER}'"
    with _applied(
        plane, _policy(name, tenant, "DELETE", [one for one in _KINDS if one != "deployments"], expression)
    ):
        yield


@contextmanager
def refused_restarts(plane: ControlPlane, tenant: Tenant, deployment: str) -> Iterator[None]:
    """Have the API server refuse every change of Deployments of the namespace; `deployment` is one of them."""
    name = f"restarts-in-{tenant.namespace}"

    def is_refused() -> bool:
        probe = {"metadata": {"labels": {"probe": "is-here"}}}
        try:
            tenant.api.patch("Deployment", tenant.namespace, deployment, probe)
        except RefusedError as error:
            return error.status in (403, 422)
        return False

    with _applied(plane, _policy(name, tenant, "UPDATE", ["deployments"], "false")):
        eventually(is_refused, awaited=f"the policy {name} at work")
        yield


@contextmanager
def refused_statuses(plane: ControlPlane, tenant: Tenant, sync: str) -> Iterator[None]:
    """Have the API server refuse every status of SecretSyncs of the namespace; `sync` is one of them."""
    name = f"statuses-of-{tenant.namespace}"

    def is_refused() -> bool:
        try:
            tenant.api.patch("SecretSync", tenant.namespace, sync, {}, subresource="status")
        except RefusedError as error:
            return error.status in (403, 422)
        return False

    with _applied(plane, _policy(name, tenant, "UPDATE", ["secretsyncs/status"], "false")):
        eventually(is_refused, awaited=f"the policy {name} at work")
        yield


@contextmanager
def webhook_down(plane: ControlPlane, tenant: Tenant, *resources: str) -> Iterator[str]:
    """Have the API server ask an absent webhook about what the operator writes of these; yield the webhook's name."""
    name = f"{tenant.namespace}.tests.keybearer.dev"
    webhook = {
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": "ValidatingWebhookConfiguration",
        "metadata": {"name": name},
        "webhooks": [
            {
                "name": name,
                "admissionReviewVersions": ["v1"],
                "sideEffects": "None",
                "failurePolicy": "Fail",
                "timeoutSeconds": 1,
                # The port of discard, where nobody listens.
                "clientConfig": {"url": "https://127.0.0.1:9/"},
                "namespaceSelector": _only(tenant),
                "matchConditions": [{"name": "operator-or-probe", "expression": _OPERATOR_OR_PROBE}],
                "rules": _rules(["CREATE", "UPDATE"], [*resources, "configmaps"]),
            }
        ],
    }

    def is_down() -> bool:
        probe = config_map(tenant.namespace, "probe", {})
        try:
            tenant.api.create(probe, dry_run=True)
        except RefusedError as error:
            return error.status == 500
        return False

    with _applied(plane, json.dumps(webhook)):
        eventually(is_down, awaited=f"the webhook {name} at work")
        yield name
    eventually(lambda: not is_down(), awaited=f"an end of the webhook {name}")


@contextmanager
def _applied(plane: ControlPlane, manifest: str) -> Iterator[None]:
    plane.kubectl("apply", "--filename=-", input=manifest)
    try:
        yield
    finally:
        plane.kubectl("delete", "--filename=-", "--ignore-not-found", input=manifest)


def _policy(name: str, tenant: Tenant, operation: str, resources: Sequence[str], expression: str) -> str:
    """Return a policy, bound to the namespace, that refuses what doesn't fulfil the expression of CEL."""
    policy = {
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": "ValidatingAdmissionPolicy",
        "metadata": {"name": name},
        "spec": {
            "matchConstraints": {"resourceRules": _rules([operation], resources)},
            "validations": [{"expression": expression}],
        },
    }
    binding = {
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": "ValidatingAdmissionPolicyBinding",
        "metadata": {"name": name},
        "spec": {
            "policyName": name,
            "validationActions": ["Deny"],
            "matchResources": {"namespaceSelector": _only(tenant)},
        },
    }
    return json.dumps({"apiVersion": "v1", "kind": "List", "items": [policy, binding]})


def _rules(operations: Sequence[str], resources: Sequence[str]) -> list[Body]:
    return [
        {
            "apiGroups": [_KINDS.get(resource.partition("/")[0], "")],
            "apiVersions": ["*"],
            "operations": [*operations],
            "resources": [resource],
        }
        for resource in resources
    ]


def _only(tenant: Tenant) -> Body:
    return {"matchLabels": {"kubernetes.io/metadata.name": tenant.namespace}}
