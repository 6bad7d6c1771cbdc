"""Our kinds as GitOps tools and kubectl see them: health, waiting, two managers that apply, and descriptions."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import pytest

from support.certificate_objects import Certificates, certificate, open_certificates
from support.connection_objects import Connections, open_connections
from support.gitops import healths
from support.operator_fixtures import Installation, NewTenant
from support.secretsync_objects import secret_sync
from support.tenant import IDENTITY, Tenant
from tools.controlplane.errors import KubectlError
from tools.local.kube_api import Body, KubeApi, RefusedError
from tools.local.waiting import PATIENCE_SECONDS, eventually

pytestmark = pytest.mark.integration

KINDS = ("SecretSync", "AppConnection", "CertificateProfile")
WAITS = f"{PATIENCE_SECONDS:g}s"


@pytest.fixture
def manifests(new_tenant: NewTenant, installation: Installation) -> dict[str, Body]:
    """Return a good manifest of each kind, by kind; nothing of them exists yet."""
    tenant = new_tenant()
    tenant.project.store({"DB_HOST": "cnry-1"})
    connections: Connections = open_connections(tenant, installation)
    connections.keep_login()
    certificates: Certificates = open_certificates(tenant, installation)
    spec = {"identityRef": {"name": IDENTITY}, "refreshInterval": "10s", "source": tenant.source()}
    return {
        "SecretSync": secret_sync(tenant.namespace, "web", spec),
        "AppConnection": connections.manifest("store"),
        "CertificateProfile": certificates.manifest("pki", certificate("front")),
    }


def as_yaml(*manifests: Body) -> str:
    return "---\n".join(json.dumps(one) + "\n" for one in manifests)


def worded(manifest: Body) -> str:
    return f"{manifest['kind'].lower()}/{manifest['metadata']['name']}"


def space(manifests: Mapping[str, Body]) -> str:
    return str(manifests["SecretSync"]["metadata"]["namespace"])


def test_health_and_waiting_from_the_first_apply_to_the_end(
    manifests: dict[str, Body], installation: Installation
) -> None:
    plane, api, where = installation.cluster.plane, installation.cluster.api, space(manifests)
    plane.kubectl("apply", "--server-side", "-f", "-", input=as_yaml(*manifests.values()))
    named = [worded(one) for one in manifests.values()]
    plane.kubectl("wait", "-n", where, "--for=condition=Ready", f"--timeout={WAITS}", *named)
    for kind, manifest in manifests.items():
        name = manifest["metadata"]["name"]
        assert healths(api.get(kind, where, name)) == ("Current", "Healthy")
        api.patch(kind, where, name, {"metadata": {"finalizers": ["tests.keybearer.dev/hold"]}})
    plane.kubectl("delete", "-n", where, "--wait=false", *named)
    for kind, manifest in manifests.items():
        name = manifest["metadata"]["name"]
        assert healths(api.get(kind, where, name)) == ("Terminating", "Progressing")
        eventually(partial(let_go, api, kind, where, name), awaited=f"an end of our hold on {kind} {name}")
    plane.kubectl("wait", "-n", where, "--for=delete", f"--timeout={WAITS}", *named)


def let_go(api: KubeApi, kind: str, where: str, name: str) -> bool:
    """Take our finalizer away, unless the operator has just taken its own: nobody may bring that back."""
    metadata = api.get(kind, where, name)["metadata"]
    kept = [one for one in metadata["finalizers"] if "tests" not in one]
    as_read = {"resourceVersion": metadata["resourceVersion"], "finalizers": kept}
    try:
        api.patch(kind, where, name, {"metadata": as_read})
    except RefusedError as refusal:
        if refusal.status != 409:
            raise
        return False
    return True


BROKEN: Mapping[str, Callable[[dict[str, Any]], None]] = {
    "SecretSync": lambda spec: spec["source"].update(environment="none"),
    "AppConnection": lambda spec: spec.update(app="no-such-app"),
    "CertificateProfile": lambda spec: spec.update(policyRef={"name": "none"}),
}


def test_what_needs_somebody_has_failed(manifests: dict[str, Body], installation: Installation) -> None:
    plane, api, where = installation.cluster.plane, installation.cluster.api, space(manifests)
    for kind, manifest in manifests.items():
        BROKEN[kind](manifest["spec"])
    plane.kubectl("apply", "--server-side", "-f", "-", input=as_yaml(*manifests.values()))
    named = [worded(one) for one in manifests.values()]
    plane.kubectl("wait", "-n", where, "--for=condition=Stalled", f"--timeout={WAITS}", *named)
    for kind, manifest in manifests.items():
        found = api.get(kind, where, manifest["metadata"]["name"])
        assert healths(found) == ("Failed", "Degraded"), found["status"]


def test_a_plan_waits_for_a_decision_and_a_suspended_one_stays_as_it_was(
    tenant: Tenant, installation: Installation
) -> None:
    api = installation.cluster.api
    tenant.project.store({"DB_HOST": "cnry-1"})
    tenant.sync("planned", mode="Plan", target={"name": "planned"})
    tenant.sync("rests")
    tenant.until_ready("rests")
    tenant.edit("rests", mode="Suspended")
    tenant.until_reason("planned", "Planned")
    found = tenant.until(
        "rests", lambda one: one["status"]["observedGeneration"] == one["metadata"]["generation"], "a rest"
    )
    assert healths(found) == ("Current", "Suspended")
    assert healths(api.get("SecretSync", tenant.namespace, "planned")) == ("InProgress", "Suspended")


def test_two_managers_apply_without_a_fight_and_again_without_a_difference(
    manifests: dict[str, Body], installation: Installation
) -> None:
    plane, api, where = installation.cluster.plane, installation.cluster.api, space(manifests)
    every = as_yaml(*manifests.values())
    named = [worded(one) for one in manifests.values()]
    plane.kubectl("apply", "--server-side", "--field-manager=argocd-controller", "-f", "-", input=every)
    plane.kubectl("label", "-n", where, "--field-manager=kustomize-controller", *named, "team=shop")
    plane.kubectl("wait", "-n", where, "--for=condition=Ready", f"--timeout={WAITS}", *named)

    def versions() -> dict[str, str]:
        return {
            kind: str(api.get(kind, where, one["metadata"]["name"])["metadata"]["generation"])
            for kind, one in manifests.items()
        }

    before = versions()
    for _ in range(2):
        said = plane.kubectl(
            "apply", "--server-side", "--field-manager=argocd-controller", "-f", "-", input=every
        )
        assert said.count("serverside-applied") == 3
    assert versions() == before == dict.fromkeys(KINDS, "1")

    def differs() -> str:
        try:
            return plane.kubectl(
                *("diff", "--server-side", "--field-manager=argocd-controller", "-f", "-"), input=every
            )
        except KubectlError as difference:
            return str(difference)

    # It asks twice for each object: a status that was written in between looks like a difference.
    eventually(lambda: differs() == "", awaited="no difference", told=differs)
    assert versions() == before
    for kind, manifest in manifests.items():
        found = api.get(kind, where, manifest["metadata"]["name"])
        for entry in found["metadata"]["managedFields"]:
            if entry["manager"] != "keybearer":
                continue
            assert set(entry["fieldsV1"]) <= {"f:status", "f:metadata"}
            assert set(entry["fieldsV1"].get("f:metadata", {})) <= {"f:finalizers"}, kind
        assert found["metadata"]["labels"] == {"team": "shop"}


@pytest.mark.parametrize("kind", KINDS)
def test_kubectl_explains_a_kind_and_its_fields(installation: Installation, kind: str) -> None:
    plane = installation.cluster.plane
    said = plane.kubectl("explain", kind.lower(), "--recursive")
    assert "<no description>" not in plane.kubectl("explain", f"{kind.lower()}.spec")
    assert "<no description>" not in plane.kubectl("explain", f"{kind.lower()}.status")
    assert "identityRef" in said
    with pytest.raises(KubectlError):
        plane.kubectl("explain", f"{kind.lower()}.spec.none")
