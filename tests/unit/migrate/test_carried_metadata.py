"""Labels and annotations: what is the user's comes along, what is another tool's doesn't."""

from __future__ import annotations

import json
from collections.abc import Mapping

import pytest
from pydantic import JsonValue

from keybearer.migrate.conversion import Migration
from keybearer.migrate.findings import Effect, Verdict
from keybearer.migrate.settings import Place, Settings
from support.migration import migrate_text

SETTINGS = Settings(stores={"*": Place("shop", "prod")})
SPEC: Mapping[str, JsonValue] = {
    "secretStoreRef": {"name": "vault"},
    "data": [{"secretKey": "user", "remoteRef": {"key": "db", "property": "user"}}],
}


def migrated(
    *,
    labels: Mapping[str, str] | None = None,
    annotations: Mapping[str, str] | None = None,
    template: Mapping[str, JsonValue] | None = None,
    spec: Mapping[str, JsonValue] = SPEC,
) -> Migration:
    """Convert an ExternalSecret with that metadata, of its own or of its template."""
    metadata = {
        "name": "web",
        "namespace": "team-a",
        "labels": labels or {},
        "annotations": annotations or {},
    }
    target = {"target": {"template": {"metadata": template}}} if template is not None else {}
    return migrate_text(
        json.dumps(
            {
                "apiVersion": "external-secrets.io/v1",
                "kind": "ExternalSecret",
                "metadata": metadata,
                "spec": {**spec, **target},
            }
        ),
        SETTINGS,
    )


MARKS = [
    pytest.param("labels", "app.kubernetes.io/managed-by", "Helm", id="Helm's label"),
    pytest.param("annotations", "meta.helm.sh/release-name", "shop", id="Helm's annotation"),
    pytest.param("labels", "argocd.argoproj.io/instance", "shop", id="Argo CD's label"),
    pytest.param("annotations", "argocd.argoproj.io/tracking-id", "shop:x", id="Argo CD's annotation"),
    pytest.param("labels", "kustomize.toolkit.fluxcd.io/name", "shop", id="Flux's of a Kustomization"),
    pytest.param("labels", "helm.toolkit.fluxcd.io/name", "shop", id="Flux's of a HelmRelease"),
    pytest.param("labels", "kapp.k14s.io/app", "1", id="kapp's"),
    pytest.param("labels", "applyset.kubernetes.io/part-of", "x", id="kubectl's"),
]


@pytest.mark.parametrize(("where", "name", "value"), MARKS)
def test_a_mark_by_which_a_tool_knows_its_own_is_left_out_of_object_and_target_and_noted(
    where: str, name: str, value: str
) -> None:
    own = {"example.com/team": "a"}
    given = {name: value, **own}
    migration = migrated(labels=given) if where == "labels" else migrated(annotations=given)

    (manifest,) = migration.manifests
    metadata, spec = manifest.body["metadata"], manifest.body["spec"]
    assert isinstance(metadata, dict)
    assert isinstance(spec, dict)
    assert metadata[where] == own
    assert isinstance(spec["target"], dict)
    assert spec["target"][where] == own
    (outcome,) = migration.outcomes
    (noted,) = [one for one in outcome.findings if one.effect is not Effect.STEP]
    assert (noted.field, noted.effect) == (f"metadata.{where}.{name}", Effect.NOTED)
    assert outcome.verdict is Verdict.WHOLE


@pytest.mark.parametrize(("where", "name", "value"), MARKS)
def test_a_mark_on_the_target_alone_is_left_out_and_noted_there(where: str, name: str, value: str) -> None:
    migration = migrated(template={where: {name: value}})

    (manifest,) = migration.manifests
    assert name not in json.dumps(manifest.body)
    (outcome,) = migration.outcomes
    fields = [one.field for one in outcome.findings if one.effect is Effect.NOTED]
    assert fields == [f"spec.target.template.metadata.{where}.{name}"]


def test_an_object_that_is_not_carried_has_no_notes_of_marks() -> None:
    migration = migrated(
        labels={"argocd.argoproj.io/instance": "shop"}, spec={**SPEC, "target": {"creationPolicy": "None"}}
    )
    (outcome,) = migration.outcomes
    assert outcome.verdict is Verdict.NOT
    assert [one.effect for one in outcome.findings] == [Effect.LEFT_OUT]


def test_labels_that_say_what_an_object_is_come_along() -> None:
    own = {
        "app.kubernetes.io/name": "web",
        "app.kubernetes.io/instance": "shop",
        "helm.sh/chart": "web-1.0.0",
    }
    (manifest,) = migrated(labels=own).manifests
    assert isinstance(manifest.body["metadata"], dict)
    assert manifest.body["metadata"]["labels"] == own


def test_more_annotations_than_kubernetes_takes_are_not_carried() -> None:
    most = {f"example.com/a{number}": "x" * 16_000 for number in range(16)}
    assert migrated(annotations=most).manifests
    migration = migrated(annotations={**most, "example.com/b": "x" * 6_000})
    assert migration.manifests == ()
    (outcome,) = migration.outcomes
    assert [(one.field, one.why) for one in outcome.findings] == [
        ("metadata.annotations", "are more than the 256 KiB that Kubernetes takes")
    ]
