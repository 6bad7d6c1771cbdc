"""The CRDs before a real API server: accepted whole, and of one mind with the models."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from pydantic import BaseModel

from keybearer.controllers.crds import CUSTOM_RESOURCES, crd_files
from support.corpus import CorpusCase, corpus_cases
from support.gitops import healths
from support.rows import each_row
from tools.controlplane.controlplane import ControlPlane
from tools.controlplane.errors import KubectlError
from tools.local.kube_api import KubeApi, RefusedError
from tools.local.operator_cluster import install_crds

pytestmark = pytest.mark.integration

_SPECS: dict[str, type[BaseModel]] = {one.kind: one.spec for one in CUSTOM_RESOURCES}
_CASES = [(kind, case) for kind in _SPECS for case in corpus_cases(kind.lower())]
_CHECKED_IN = Path(__file__).resolve().parents[2] / "crds"


@pytest.fixture(scope="session")
def cluster(control_plane: ControlPlane) -> ControlPlane:
    """Return the cluster with the CRDs served, and a namespace of these tests' own."""
    install_crds(control_plane)
    control_plane.kubectl("create", "namespace", "crds")
    return control_plane


@pytest.fixture(scope="session")
def api(cluster: ControlPlane) -> Iterator[KubeApi]:
    with KubeApi(cluster.admin_kubeconfig) as api:
        yield api


def _manifest(
    spec: dict[str, Any], name: str = "case", namespace: str = "crds", kind: str = "SecretSync"
) -> dict[str, Any]:
    return {
        "apiVersion": "keybearer.dev/v1alpha1",
        "kind": kind,
        "metadata": {"name": name, "namespace": namespace},
        "spec": spec,
    }


def _dry_run(api: KubeApi, spec: dict[str, Any], kind: str = "SecretSync") -> dict[str, Any]:
    return api.create(_manifest(spec, "dry", kind=kind), dry_run=True)


@pytest.mark.parametrize("name", sorted(crd_files()))
def test_the_server_finds_nothing_to_object_to_in_a_crd(cluster: ControlPlane, name: str) -> None:
    crd = yaml.safe_load((_CHECKED_IN / name).read_text(encoding="utf-8"))
    live = json.loads(cluster.kubectl("get", "crd", crd["metadata"]["name"], "-o", "json"))
    conditions = {one["type"]: one["status"] for one in live["status"]["conditions"]}

    assert conditions["Established"] == "True"
    assert conditions["NamesAccepted"] == "True"
    assert conditions.get("NonStructuralSchema", "False") == "False"


def _name(row: tuple[str, CorpusCase]) -> str:
    return f"{row[0]} {row[1].name}"


@each_row(("kind", "case"), [one for one in _CASES if one[1].accepted], ids=_name)
def test_the_server_takes_what_the_corpus_accepts_and_means_the_same(
    api: KubeApi, kind: str, case: CorpusCase
) -> None:
    stored = _dry_run(api, case.spec, kind)["spec"]

    assert _SPECS[kind].model_validate(stored) == _SPECS[kind].model_validate(case.spec)


@each_row(("kind", "case"), [one for one in _CASES if not one[1].accepted], ids=_name)
def test_the_server_refuses_what_the_corpus_refuses_and_says_where_and_why(
    api: KubeApi, kind: str, case: CorpusCase
) -> None:
    with pytest.raises(RefusedError) as refusal:
        _dry_run(api, case.spec, kind)

    assert case.field in str(refusal.value)
    assert case.because in str(refusal.value)


def test_defaults_are_not_written_into_list_items_where_gitops_tools_would_see_a_difference(
    api: KubeApi,
) -> None:
    source = {"projectId": "shop", "environment": "dev", "keys": {"items": [{"key": "A"}]}}

    listed = _dry_run(api, {"sources": [source]})["spec"]
    single = _dry_run(api, {"source": source})["spec"]

    assert listed["sources"] == [source]
    assert single["source"]["secretPath"] == "/"
    assert single["source"]["keys"]["items"] == [{"key": "A"}]


def test_a_field_that_does_not_exist_is_named_to_who_applies_it(cluster: ControlPlane) -> None:
    spec = {"source": {"projectId": "shop", "environment": "dev", "secretpath": "/"}}

    with pytest.raises(KubectlError, match=r'unknown field "spec\.source\.secretpath"'):
        cluster.kubectl("create", "--dry-run=server", "-f", "-", input=json.dumps(_manifest(spec)))


def test_people_find_syncs_by_short_name_and_category_with_their_state_in_columns(
    cluster: ControlPlane,
) -> None:
    spec = {"source": {"projectId": "p", "environment": "dev"}}
    cluster.kubectl("create", "namespace", "crds-columns")
    cluster.kubectl("apply", "-f", "-", input=json.dumps(_manifest(spec, namespace="crds-columns")))
    status = {
        "source": "dev:/",
        "updates": "Events",
        "target": {"kind": "Secret", "name": "web", "keys": 3},
        "conditions": [
            {
                "type": "Ready",
                "status": "True",
                "reason": "Synced",
                "message": "",
                "lastTransitionTime": "2026-01-01T00:00:00Z",
            }
        ],
    }
    patch = ("--subresource=status", "--type=merge", "-p", json.dumps({"status": status}))
    cluster.kubectl("patch", "-n", "crds-columns", "kbs", "case", *patch)

    heads, row = cluster.kubectl("get", "-n", "crds-columns", "keybearer", "-o", "wide").strip().splitlines()

    columns = ["SOURCE", "TARGET", "DESTINATION", "READY", "REASON", "SYNC", "UPDATES", "AGE"]
    assert heads.split() == ["NAME", *columns]
    # Several kinds are in the category, so that each line says which it is.
    assert row.split()[:6] == ["secretsync.keybearer.dev/case", "dev:/", "web", "True", "Synced", "Events"]


def test_a_status_is_bounded_by_the_server_as_by_the_model(cluster: ControlPlane) -> None:
    manifest = _manifest({"source": {"projectId": "p", "environment": "dev"}}, "bounded")
    cluster.kubectl("apply", "-f", "-", input=json.dumps(manifest))
    keys = [{"key": f"K{number}", "state": "Synced"} for number in range(101)]
    patch = ("--subresource=status", "--type=merge", "-p", json.dumps({"status": {"keys": keys}}))

    with pytest.raises(KubectlError, match=r"status\.keys"):
        cluster.kubectl("patch", "-n", "crds", "kbs", "bounded", *patch)


@pytest.mark.parametrize(
    ("kind", "spec"),
    [
        ("SecretSync", {"source": {"projectId": "p", "environment": "dev"}}),
        ("AppConnection", {"app": "cloud", "method": "access-key"}),
        ("CertificateProfile", {"existing": True, "projectId": "p"}),
    ],
)
def test_what_no_operator_has_looked_at_is_in_progress_for_gitops_tools(
    api: KubeApi, kind: str, spec: dict[str, Any]
) -> None:
    made = api.create(_manifest({"identityRef": {"name": "a"}, **spec}, "new", kind=kind))

    assert made["status"] == {"observedGeneration": -1}
    assert healths(made) == ("InProgress", "Progressing")
