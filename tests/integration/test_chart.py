"""The chart against a real API server: installed, upgraded, removed, and held to its rights."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

import pytest

from support.chart_values import ROWS, VERSION_BEFORE
from support.monitoring_crds import install_monitoring_crds
from tools.chart.rendering import (
    CHART,
    NAMESPACE,
    RELEASE,
    ROOT,
    HelmError,
    Json,
    Manifest,
    helm,
    only,
    pods_of,
    render,
)
from tools.controlplane.controlplane import ControlPlane
from tools.controlplane.errors import KubectlError
from tools.local.kube_api import KubeApi
from tools.local.operator_cluster import wait_established

pytestmark = [pytest.mark.deep, pytest.mark.integration]

_OPERATOR = f"system:serviceaccount:{NAMESPACE}:keybearer-operator"
_SERVICE = f"system:serviceaccount:{NAMESPACE}:keybearer-service"
_KEPT = ("keybearer-service-root-key", "keybearer-service-admin")
_CRD = "secretsyncs.keybearer.dev"
_CRDS = (_CRD, "appconnections.keybearer.dev", "certificateprofiles.keybearer.dev")
_UNUSED = "chart-dry-run"
"""A namespace without a release, for manifests that are only tried."""
_NAMED_IN_THE_ROWS = ("team-a", "team-b")
_SYNC: Mapping[str, Json] = {
    "apiVersion": "keybearer.dev/v1alpha1",
    "kind": "SecretSync",
    "metadata": {"name": "kept", "namespace": "team-a", "finalizers": ["keybearer.dev/cleanup"]},
    "spec": {
        "source": {"projectSlug": "web-shop", "environment": "prod"},
        "identityRef": {"name": "keybearer-identity"},
    },
}
_STATUS: Mapping[str, Json] = {"status": {"observedGeneration": 1, "updates": "Polling"}}
_WITHOUT_FINALIZERS = (
    *("patch", "secretsync", "kept", "--type=merge"),
    '--patch={"metadata": {"finalizers": null}}',
)


@pytest.fixture(scope="module")
def namespaces(control_plane: ControlPlane) -> Iterator[str]:
    """The namespaces that these tests write into exist; two of them take nothing but restricted pods."""
    restricted = {"pod-security.kubernetes.io/enforce": "restricted"}
    names = (NAMESPACE, _UNUSED, *_NAMED_IN_THE_ROWS)
    with KubeApi(control_plane.admin_kubeconfig) as api:
        for name in names:
            api.create_namespace(name, restricted if name in {NAMESPACE, _UNUSED} else None)
    yield NAMESPACE
    for name in names:
        control_plane.kubectl("delete", "namespace", name, "--wait=false")


@dataclass(frozen=True, slots=True)
class _Release:
    """The chart, installed as its version before and then upgraded.

    Attributes:
        name: of the release.
        refusal: what Helm said of an upgrade with nothing but the values of the version before.
        before: what was there of custom resources and Secrets before the upgrade.
        after: the same, right after it.
    """

    name: str
    refusal: str
    before: Mapping[str, Json]
    after: Mapping[str, Json]


@pytest.fixture(scope="module")
def upgraded(control_plane: ControlPlane, namespaces: str) -> Iterator[_Release]:
    """The chart of the version before, with a custom resource, upgraded to today's."""
    # The CRDs may be there already, from another test: they are taken over.
    _helm(control_plane, "install", RELEASE, str(VERSION_BEFORE), "--take-ownership")
    wait_established(control_plane, *_CRDS)
    control_plane.kubectl("apply", "--filename=-", input=json.dumps(_SYNC))
    status = ["patch", "secretsync", "kept", "--namespace=team-a", "--subresource=status", "--type=merge"]
    control_plane.kubectl(*status, f"--patch={json.dumps(_STATUS)}")
    before = _state(control_plane)
    with pytest.raises(HelmError) as refusal:
        _helm(control_plane, "upgrade", RELEASE, str(CHART), "--reuse-values")
    _helm(control_plane, "upgrade", RELEASE, str(CHART), "--reset-then-reuse-values")
    yield _Release(RELEASE, str(refusal.value), before, _state(control_plane))
    _helm(control_plane, "uninstall", RELEASE, "--no-hooks", "--ignore-not-found")
    control_plane.kubectl("--namespace=team-a", "delete", "secretsync", "kept", "--wait=false")
    control_plane.kubectl("--namespace=team-a", *_WITHOUT_FINALIZERS)
    control_plane.kubectl(f"--namespace={namespaces}", "delete", "secret", "--ignore-not-found", *_KEPT)


@pytest.fixture
def release(upgraded: _Release) -> str:
    """The name of the release."""
    return upgraded.name


def _state(control_plane: ControlPlane) -> Mapping[str, Json]:
    """The custom resource as it is, and the data of the Secrets that the chart made."""
    sync = json.loads(
        control_plane.kubectl("get", "secretsync", "kept", "--namespace=team-a", "--output=json")
    )
    return {"sync": sync, "secrets": {name: dict(data) for name, data in _secrets(control_plane).items()}}


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


@pytest.fixture(scope="module")
def monitoring(control_plane: ControlPlane) -> None:
    """The kinds of the Prometheus Operator are served."""
    install_monitoring_crds(control_plane)


@pytest.mark.usefixtures("namespaces", "monitoring")
@pytest.mark.parametrize("values", ROWS.values(), ids=ROWS.keys())
def test_the_api_server_takes_every_manifest(control_plane: ControlPlane, values: Mapping[str, Json]) -> None:
    manifests = render(values, namespace=_UNUSED)
    # The CRDs are the same with all values, but for labels: once is enough.
    tried = [one for one in manifests if not values or one.kind != "CustomResourceDefinition"]
    # Fields are validated strictly: a misspelt one is an error, not a warning.
    answered = _try(control_plane, *tried)
    assert len(answered.splitlines()) == len(tried)


@pytest.mark.usefixtures("namespaces")
def test_the_lease_can_be_given_up_and_taken_again_by_server_side_apply(control_plane: ControlPlane) -> None:
    for row in ("defaults", "one replica without a Lease", "defaults"):
        deployment = only(render(ROWS[row], namespace=_UNUSED), "Deployment", "-operator")
        applied = control_plane.kubectl(
            *("apply", "--server-side", "--output=jsonpath={.spec.strategy.type}", "--filename=-"),
            input=deployment.as_yaml(),
        )
        assert applied == deployment.text("spec", "strategy", "type")
    control_plane.kubectl(f"--namespace={_UNUSED}", "delete", "deployment", "keybearer-operator")


@pytest.mark.usefixtures("namespaces")
@pytest.mark.parametrize("values", ROWS.values(), ids=ROWS.keys())
def test_a_namespace_for_restricted_pods_takes_the_pods(
    control_plane: ControlPlane, values: Mapping[str, Json]
) -> None:
    pods = [_tried(one) for one in pods_of(render(values, namespace=_UNUSED))]
    assert pods
    assert _try(control_plane, *pods).split() == [f"pod/{pod.name}" for pod in pods]


@pytest.mark.usefixtures("namespaces")
def test_a_namespace_for_restricted_pods_refuses_others(control_plane: ControlPlane) -> None:
    pod = _tried(only(pods_of(render(namespace=_UNUSED)), "Pod", "-operator"))
    spec = {name: part for name, part in pod.mapping("spec").items() if name != "securityContext"}
    with pytest.raises(KubectlError, match='violates PodSecurity "restricted'):
        _try(control_plane, Manifest({**pod.body, "spec": spec}))


def test_an_upgrade_from_the_version_before_keeps_custom_resources_and_keys(
    control_plane: ControlPlane, upgraded: _Release
) -> None:
    assert _holds(upgraded.after, upgraded.before)
    labels = control_plane.kubectl(
        "get", "crd", *_CRDS, "--output=jsonpath={.items[*].metadata.labels.helm\\.sh/chart}"
    )
    assert set(labels.split()) == {only(render(), "Deployment").text("metadata", "labels", "helm.sh/chart")}


def test_an_upgrade_without_the_values_that_are_new_is_refused_in_words(upgraded: _Release) -> None:
    assert "missing properties" in upgraded.refusal
    assert "'networkPolicy'" in upgraded.refusal


def _holds(found: Json, expected: Json) -> bool:
    """Whether all that was there is there: new CRDs may add defaults."""
    if isinstance(expected, Mapping):
        return isinstance(found, Mapping) and all(
            key in found and _holds(found[key], value) for key, value in expected.items()
        )
    return found == expected


def test_an_upgrade_keeps_keys_and_certificate(control_plane: ControlPlane, release: str) -> None:
    before = _secrets(control_plane)
    assert before.keys() == {*_KEPT, "keybearer-service-tls"}
    _helm(control_plane, "upgrade", release, str(CHART), "--set=operator.workers=16")
    assert _secrets(control_plane) == before
    deployment = control_plane.kubectl(
        f"--namespace={NAMESPACE}", "get", "deployment", "keybearer-operator", "--output=json"
    )
    assert "16" in json.loads(deployment)["spec"]["template"]["spec"]["containers"][0]["args"]


def test_an_upgrade_to_a_key_that_the_charts_own_secret_lacks_is_refused_in_words(
    control_plane: ControlPlane, release: str
) -> None:
    before = _secrets(control_plane)
    with pytest.raises(
        HelmError, match=r"Secret keybearer-service-root-key was made with root\.key: keep that"
    ):
        _helm(control_plane, "upgrade", release, str(CHART), "--set=embeddedService.rootKey.key=other")
    assert _secrets(control_plane) == before


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
    _helm(control_plane, "uninstall", release, "--no-hooks")
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
        "patch",
        "leases.coordination.k8s.io/keybearer-operator",
        NAMESPACE,
    ),
}
_DENIED: Mapping[str, _Question] = {
    "the service asks nobody's token": (_SERVICE, "create", "tokenreviews.authentication.k8s.io", ""),
    "the operator mints no tokens": (_OPERATOR, "create", "serviceaccounts/token", "default"),
    "the operator edits no specs by update": (_OPERATOR, "update", "secretsyncs.keybearer.dev", "default"),
    "the operator makes no SecretSyncs": (_OPERATOR, "create", "secretsyncs.keybearer.dev", "default"),
    "the operator reads no Deployments": (_OPERATOR, "get", "deployments.apps", "default"),
    "the operator signs nothing unless asked": (
        _OPERATOR,
        "patch",
        "certificatesigningrequests.certificates.k8s.io/status",
        "",
    ),
    "the operator reads no namespaces but one": (_OPERATOR, "get", "namespaces/default", ""),
    "the operator runs no pods": (_OPERATOR, "create", "pods", "default"),
    "the operator deletes no Deployments": (_OPERATOR, "delete", "deployments.apps", "default"),
    "the operator changes no roles": (_OPERATOR, "patch", "clusterroles.rbac.authorization.k8s.io", ""),
    "the operator takes no Lease of others": (
        _OPERATOR,
        "patch",
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
    wait_established(control_plane, *_CRDS)
    applied = control_plane.kubectl(
        "--namespace=default", "apply", "--dry-run=server", "--validate=strict", f"--filename={file}"
    )
    assert "secretsync.keybearer.dev/" in applied or "certificateprofile.keybearer.dev/" in applied


def _try(control_plane: ControlPlane, *manifests: Manifest) -> str:
    """What the API server would make of them, one name a line."""
    return control_plane.kubectl(
        "apply",
        "--server-side",
        "--force-conflicts",  # of CRDs that another test has installed
        "--dry-run=server",
        "--validate=strict",
        "--output=name",
        "--filename=-",
        input="---\n".join(one.as_yaml() for one in manifests),
    )


def _can(control_plane: ControlPlane, question: _Question) -> bool:
    who, verb, what, where = question
    flags = [f"--namespace={where}" if where else "--all-namespaces", f"--as={who}", "--quiet"]
    plural, _, part = what.partition("/")
    if part in {"status", "token"}:  # else it is the name of one object
        what, flags = plural, [*flags, f"--subresource={part}"]
    try:
        answer = control_plane.kubectl("auth", "can-i", verb, what, *flags)
    except KubectlError as error:
        if error.returncode == 1 and not error.stderr.strip():
            return False
        raise
    return not answer


def _tried(pod: Manifest) -> Manifest:
    """The pod without its account, which isn't made in a dry run; the default one stands in."""
    spec = {name: part for name, part in pod.mapping("spec").items() if name != "serviceAccountName"}
    return Manifest({**pod.body, "spec": spec})
