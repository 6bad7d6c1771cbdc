"""The chart renders for what people set, and refuses what can't work."""

from __future__ import annotations

import base64
from collections import Counter
from collections.abc import Mapping

import pytest

from support.chart_values import REFUSED, ROWS
from support.rows import each_row
from tools.chart.rendering import CHART, NAMESPACE, RELEASE, HelmError, Json, helm, only, pods_of, render

_REMOTE: Mapping[str, Json] = {
    "embeddedService": {"enabled": False},
    "operator": {"serviceUrl": "https://secrets.example.com"},
}


def test_helm_lint_finds_no_fault_even_when_strict() -> None:
    assert "0 chart(s) failed" in helm("lint", "--strict", str(CHART))


@each_row("values", ROWS.values(), ids=ROWS.keys())
def test_the_chart_renders_each_object_once(values: Mapping[str, Json]) -> None:
    objects = Counter((one.kind, one.namespace, one.name) for one in render(values))
    assert objects
    assert objects.most_common(1)[0][1] == 1


@each_row("values", ROWS.values(), ids=ROWS.keys())
def test_every_object_names_its_namespace_or_lives_in_none(values: Mapping[str, Json]) -> None:
    cluster_wide = {"ClusterRole", "ClusterRoleBinding", "CustomResourceDefinition"}
    for one in render(values):
        assert bool(one.namespace) != (one.kind in cluster_wide), (one.kind, one.name)


@each_row(("values", "message"), REFUSED.values(), ids=REFUSED.keys())
def test_the_chart_refuses_and_says_which_value(values: Mapping[str, Json], message: str) -> None:
    with pytest.raises(HelmError, match=message):
        render(values)


def test_several_services_on_one_volume_are_refused_without_the_schema_too() -> None:
    arguments = ("template", RELEASE, str(CHART), "--skip-schema-validation")
    with pytest.raises(HelmError, match=r"embeddedService\.replicas must be 1 without"):
        helm(*arguments, "--set=embeddedService.replicas=2")


def test_common_labels_are_on_every_object_and_pod() -> None:
    for one in render({"commonLabels": {"team": "platform"}}):
        assert one.mapping("metadata", "labels")["team"] == "platform", (one.kind, one.name)
    for pod in pods_of(render({"commonLabels": {"team": "platform"}})):
        assert pod.mapping("metadata", "labels")["team"] == "platform", pod.name


def test_common_annotations_are_on_every_object_and_take_none_away() -> None:
    for one in render({"commonAnnotations": {"team": "platform", "helm.sh/resource-policy": "delete"}}):
        assert one.annotation("team") == "platform", (one.kind, one.name)
        if one.kind == "CustomResourceDefinition":
            assert one.annotation("helm.sh/resource-policy") == "keep"


def test_pod_labels_never_change_what_a_workload_selects() -> None:
    values: Mapping[str, Json] = {
        "operator": {"podLabels": {"app.kubernetes.io/component": "other", "a": "b"}}
    }
    deployment = only(render(values), "Deployment")
    labels = deployment.mapping("spec", "template", "metadata", "labels")
    assert labels["a"] == "b"
    assert deployment.mapping("spec", "selector", "matchLabels").items() <= labels.items()


def test_a_digest_wins_over_the_tag() -> None:
    digest = "sha256:" + "0" * 64
    image: Mapping[str, Json] = {"repository": "r.example.com/k", "tag": "1", "digest": digest}
    deployment = only(render({"image": image}), "Deployment")
    assert (
        deployment.text("spec", "template", "spec", "containers", 0, "image") == f"r.example.com/k@{digest}"
    )


def test_without_the_embedded_service_nothing_of_it_is_made() -> None:
    manifests = render(_REMOTE)
    assert not [one.name for one in manifests if "-service" in one.name]
    assert not [one.kind for one in manifests if one.kind in {"StatefulSet", "Secret"}]


def test_the_crds_are_left_out_when_they_come_from_elsewhere() -> None:
    kinds = {one.kind for one in render({"crds": {"install": False}})}
    assert "CustomResourceDefinition" not in kinds
    assert "Deployment" in kinds


def test_what_a_lost_release_must_not_take_along_is_kept() -> None:
    kept = {(one.kind, one.name) for one in render() if one.annotation("helm.sh/resource-policy") == "keep"}
    assert kept == {
        ("CustomResourceDefinition", "secretsyncs.keybearer.dev"),
        ("CustomResourceDefinition", "appconnections.keybearer.dev"),
        ("CustomResourceDefinition", "certificateprofiles.keybearer.dev"),
        ("Secret", "keybearer-service-root-key"),
        ("Secret", "keybearer-service-admin"),
    }


def test_secrets_made_by_the_chart_are_immutable_and_fresh() -> None:
    first = [one for one in render() if one.kind == "Secret"]
    second = [one for one in render({"operator": {"workers": 31}}) if one.kind == "Secret"]
    assert len(first) == 3
    for one, other in zip(first, second, strict=True):
        assert one.at("immutable") is True
        assert all(one.mapping("data")[key] != other.mapping("data")[key] for key in one.mapping("data"))


def test_the_root_key_is_base64_of_32_bytes() -> None:
    secret = only(render(), "Secret", "-root-key")
    line = base64.b64decode(secret.text("data", "root.key"), validate=True)
    assert len(base64.b64decode(line, validate=True)) == 32


def test_secrets_of_your_own_are_used_and_none_are_made() -> None:
    manifests = render(ROWS["secrets brought by the user"])
    assert not [one for one in manifests if one.kind == "Secret"]
    volumes = only(manifests, "StatefulSet").mappings("spec", "template", "spec", "volumes")
    named = {volume["secret"]["secretName"] for volume in volumes if "secret" in volume}  # type: ignore[call-overload, index]  # JSON
    assert named == {"my-root-key", "my-admin", "my-tls"}


def test_objects_go_into_the_namespace_of_the_release() -> None:
    assert {one.namespace for one in render()} == {"", NAMESPACE}
