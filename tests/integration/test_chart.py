"""The chart against a real API server: installed, upgraded, removed, and held to its rights."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TypeAlias

import pytest

from support.chart import CHART, NAMESPACE, RELEASE, ROOT, HelmError, Json, Manifest, helm, render
from support.chart_values import ROWS
from support.controlplane.controlplane import ControlPlane
from support.controlplane.errors import KubectlError

pytestmark = pytest.mark.integration

_OPERATOR = f"system:serviceaccount:{NAMESPACE}:keybearer-operator"
_SERVICE = f"system:serviceaccount:{NAMESPACE}:keybearer-service"
_KEPT = ("keybearer-service-root-key", "keybearer-service-admin")
_CRD = "secretsyncs.keybearer.dev"
_UNUSED = "chart-dry-run"
"""A namespace without a release, for manifests that are only tried."""
_NAMED_IN_THE_ROWS = ("team-a", "team-b")


@pytest.fixture(scope="module")
def namespaces(control_plane: ControlPlane) -> Iterator[str]:
    """The namespaces that these tests write into exist; two of them take nothing but restricted pods."""
    names = (NAMESPACE, _UNUSED, *_NAMED_IN_THE_ROWS)
    for name in names:
        control_plane.kubectl("create", "namespace", name)
    for name in (NAMESPACE, _UNUSED):
        control_plane.kubectl("label", "namespace", name, "pod-security.kubernetes.io/enforce=restricted")
    yield NAMESPACE
    for name in names:
        control_plane.kubectl("delete", "namespace", name, "--wait=false")


@pytest.fixture(scope="module")
def release(control_plane: ControlPlane, namespaces: str) -> Iterator[str]:
    """The chart, installed. The CRD may be there already, from another test: it is taken over."""
    _helm(control_plane, "install", RELEASE, str(CHART), "--take-ownership")
    yield RELEASE
    _helm(control_plane, "uninstall", RELEASE, "--ignore-not-found")
    control_plane.kubectl(f"--namespace={namespaces}", "delete", "secret", "--ignore-not-found", *_KEPT)


def _helm(control_plane: ControlPlane, *arguments: str) -> str:
    return helm(*arguments, f"--namespace={NAMESPACE}", kubeconfig=control_plane.admin_kubeconfig)


def _secrets(control_plane: ControlPlane) -> dict[str, Mapping[str, str]]:
    """Data of the Secrets that the chart made."""
    listed = json.loads(
        control_plane.kubectl(
            f"--namespace={NAMESPACE}",
            "get",
            "secret",
            "--selector=app.kubernetes.io/part-of=keybearer",
            "--output=json",
        )
    )
    return {item["metadata"]["name"]: item["data"] for item in listed["items"]}


@pytest.mark.usefixtures("namespaces")
@pytest.mark.parametrize("values", ROWS.values(), ids=ROWS.keys())
def test_the_api_server_takes_every_manifest(control_plane: ControlPlane, values: Mapping[str, Json]) -> None:
    tried = [one for one in render(values, namespace=_UNUSED) if one.kind != "CustomResourceDefinition"]
    # Fields are validated strictly: a misspelt one is an error, not a warning.
    answered = _try(control_plane, *tried)
    assert len(answered.splitlines()) == len(tried)


@pytest.mark.usefixtures("namespaces")
@pytest.mark.parametrize("values", ROWS.values(), ids=ROWS.keys())
def test_a_namespace_for_restricted_pods_takes_the_pods(
    control_plane: ControlPlane, values: Mapping[str, Json]
) -> None:
    rendered = render(values, namespace=_UNUSED)
    workloads = [one for one in rendered if one.kind in {"Deployment", "StatefulSet"}]
    assert workloads
    for workload in workloads:
        assert _try(control_plane, _pod_of(workload)) == f"pod/{workload.name}\n"


@pytest.mark.usefixtures("namespaces")
def test_a_namespace_for_restricted_pods_refuses_others(control_plane: ControlPlane) -> None:
    pod = _pod_of(next(one for one in render(namespace=_UNUSED) if one.kind == "Deployment"))
    spec = {name: part for name, part in pod.mapping("spec").items() if name != "securityContext"}
    with pytest.raises(KubectlError, match='violates PodSecurity "restricted'):
        _try(control_plane, Manifest({**pod.body, "spec": spec}))


def test_an_upgrade_keeps_keys_and_certificate(control_plane: ControlPlane, release: str) -> None:
    before = _secrets(control_plane)
    assert before.keys() == {*_KEPT, "keybearer-service-tls"}
    _helm(control_plane, "upgrade", release, str(CHART), "--set=operator.workers=16")
    assert _secrets(control_plane) == before
    deployment = control_plane.kubectl(
        f"--namespace={NAMESPACE}", "get", "deployment", "keybearer-operator", "--output=json"
    )
    assert "16" in json.loads(deployment)["spec"]["template"]["spec"]["containers"][0]["args"]


@pytest.mark.usefixtures("release")
def test_a_render_without_the_cluster_cannot_replace_the_keys(control_plane: ControlPlane) -> None:
    before = _secrets(control_plane)
    for one in render():
        if one.kind == "Secret":
            with pytest.raises(KubectlError, match="field is immutable when `immutable` is set"):
                control_plane.kubectl(
                    "apply", "--server-side", "--force-conflicts", "--filename=-", input=one.as_yaml()
                )
    assert _secrets(control_plane) == before


def test_the_certificate_is_renewed_when_its_secret_was_deleted(
    control_plane: ControlPlane, release: str
) -> None:
    before = _secrets(control_plane)
    control_plane.kubectl(f"--namespace={NAMESPACE}", "delete", "secret", "keybearer-service-tls")
    _helm(control_plane, "upgrade", release, str(CHART))
    after = _secrets(control_plane)
    assert after["keybearer-service-tls"]["ca.crt"] != before["keybearer-service-tls"]["ca.crt"]
    assert {name: after[name] for name in _KEPT} == {name: before[name] for name in _KEPT}


def test_a_removed_release_leaves_what_data_depends_on_and_a_new_one_takes_it_up(
    control_plane: ControlPlane, release: str
) -> None:
    crd = ("get", "crd", _CRD, "--output=jsonpath={.metadata.uid} {.metadata.deletionTimestamp}")
    before, crd_before = _secrets(control_plane), control_plane.kubectl(*crd)
    _helm(control_plane, "uninstall", release)
    assert _secrets(control_plane) == {name: before[name] for name in _KEPT}
    assert control_plane.kubectl(*crd) == crd_before
    _helm(control_plane, "install", release, str(CHART))
    assert {name: _secrets(control_plane)[name] for name in _KEPT} == {name: before[name] for name in _KEPT}


def test_an_upgrade_upgrades_the_crd(control_plane: ControlPlane, release: str) -> None:
    control_plane.kubectl(
        "patch", "crd", _CRD, "--type=json", '--patch=[{"op":"remove","path":"/spec/names/shortNames"}]'
    )
    _helm(control_plane, "upgrade", release, str(CHART))
    assert (
        control_plane.kubectl("get", "crd", _CRD, "--output=jsonpath={.spec.names.shortNames}") == '["kbs"]'
    )


def test_a_second_owner_of_the_crd_is_refused_in_good_time(control_plane: ControlPlane, release: str) -> None:
    with pytest.raises(HelmError, match="exists and cannot be imported into the current release"):
        _helm(control_plane, "install", f"{release}-two", str(CHART))


_Question: TypeAlias = tuple[str, str, str, str]
"""Who, verb, what, and in which namespace; empty for all of them."""

_ALLOWED: Mapping[str, _Question] = {
    "the operator reads Secrets anywhere": (_OPERATOR, "list", "secrets", "default"),
    "the operator applies Secrets anywhere": (_OPERATOR, "patch", "secrets", "default"),
    "the operator watches SecretSyncs": (_OPERATOR, "watch", "secretsyncs.keybearer.dev", ""),
    "the operator writes the status": (_OPERATOR, "patch", "secretsyncs.keybearer.dev/status", "default"),
    "the operator restarts Deployments": (_OPERATOR, "patch", "deployments.apps", "default"),
    "the operator records Events": (_OPERATOR, "create", "events.events.k8s.io", "default"),
    "the operator renews its Lease": (
        _OPERATOR,
        "update",
        "leases.coordination.k8s.io/keybearer-operator",
        NAMESPACE,
    ),
}
_DENIED: Mapping[str, _Question] = {
    "the service asks nobody's token": (_SERVICE, "create", "tokenreviews.authentication.k8s.io", ""),
    "the operator mints no tokens": (_OPERATOR, "create", "serviceaccounts/token", "default"),
    "the operator edits no specs by update": (_OPERATOR, "update", "secretsyncs.keybearer.dev", "default"),
    "the operator makes no SecretSyncs": (_OPERATOR, "create", "secretsyncs.keybearer.dev", "default"),
    "the operator runs no pods": (_OPERATOR, "create", "pods", "default"),
    "the operator deletes no Deployments": (_OPERATOR, "delete", "deployments.apps", "default"),
    "the operator changes no roles": (_OPERATOR, "patch", "clusterroles.rbac.authorization.k8s.io", ""),
    "the operator takes no Lease of others": (
        _OPERATOR,
        "update",
        "leases.coordination.k8s.io/other",
        NAMESPACE,
    ),
    "the operator has no Lease elsewhere": (_OPERATOR, "create", "leases.coordination.k8s.io", "default"),
    "the operator reads no CRDs": (_OPERATOR, "get", "customresourcedefinitions.apiextensions.k8s.io", ""),
    "the operator deletes nothing in bulk": (_OPERATOR, "deletecollection", "secrets", "default"),
    "the operator lists no namespaces": (_OPERATOR, "list", "namespaces", ""),
    "the service reads no Secrets": (_SERVICE, "get", "secrets", NAMESPACE),
    "the service reads no namespaces": (_SERVICE, "list", "namespaces", ""),
}


@pytest.mark.usefixtures("release")
@pytest.mark.parametrize("question", _ALLOWED.values(), ids=_ALLOWED.keys())
def test_what_the_accounts_need_is_allowed(control_plane: ControlPlane, question: _Question) -> None:
    assert _can(control_plane, question)


@pytest.mark.usefixtures("release")
@pytest.mark.parametrize("question", _DENIED.values(), ids=_DENIED.keys())
def test_what_the_accounts_do_not_need_is_denied(control_plane: ControlPlane, question: _Question) -> None:
    assert not _can(control_plane, question)


@pytest.mark.usefixtures("release")
@pytest.mark.parametrize("file", sorted((ROOT / "examples").rglob("*.yaml")), ids=lambda file: file.stem)
def test_an_example_applies_as_it_is(control_plane: ControlPlane, file: Path) -> None:
    control_plane.kubectl("wait", "--for=condition=Established", f"crd/{_CRD}", "--timeout=60s")
    applied = control_plane.kubectl(
        "--namespace=default", "apply", "--dry-run=server", "--validate=strict", f"--filename={file}"
    )
    assert "secretsync.keybearer.dev/" in applied


def _try(control_plane: ControlPlane, *manifests: Manifest) -> str:
    """What the API server would make of them, one name a line."""
    return control_plane.kubectl(
        "create",
        "--dry-run=server",
        "--validate=strict",
        "--output=name",
        "--filename=-",
        input="---\n".join(one.as_yaml() for one in manifests),
    )


def _can(control_plane: ControlPlane, question: _Question) -> bool:
    who, verb, what, where = question
    scope = f"--namespace={where}" if where else "--all-namespaces"
    try:
        answer = control_plane.kubectl("auth", "can-i", verb, what, scope, f"--as={who}", "--quiet")
    except KubectlError as error:
        if error.returncode == 1 and not error.stderr.strip():
            return False
        raise
    return not answer


def _pod_of(workload: Manifest) -> Manifest:
    """The pod that a controller would make of the template, with the volumes of its claims."""
    spec = dict(workload.mapping("spec", "template", "spec"))
    volumes = list(workload.mappings("spec", "template", "spec", "volumes"))
    for position, _ in enumerate(workload.mappings("spec", "volumeClaimTemplates")):
        name = workload.text("spec", "volumeClaimTemplates", position, "metadata", "name")
        volumes.append({"name": name, "persistentVolumeClaim": {"claimName": name}})
    # The account isn't made in a dry run; the default one stands in.
    spec.pop("serviceAccountName")
    return Manifest(
        {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {"name": workload.name, "namespace": workload.namespace},
            "spec": {**spec, "volumes": [dict(volume) for volume in volumes]},
        }
    )
