"""What a conversion leaves out is not taken out of a Secret that is in use: such a SecretSync plans alone."""

from __future__ import annotations

import pytest
import yaml

from keybearer.migrate.findings import Effect, Finding
from keybearer.migrate.held_back import _is_beside_contents
from keybearer.migrate.manifests import render_manifests
from keybearer.migrate.settings import Place, Settings
from support.migration import migrate_text, migration_cases
from support.rows import each_row

SETTINGS = Settings(stores={"*": Place("shop", "prod")})
EXTERNAL = """\
apiVersion: external-secrets.io/v1
kind: ExternalSecret
metadata: {name: web, namespace: team-a}
spec:
  secretStoreRef: {name: vault}
"""
INFISICAL = """\
apiVersion: secrets.infisical.com/v1alpha1
kind: InfisicalSecret
metadata: {name: web, namespace: team-a}
spec:
  authentication:
    universalAuth:
      credentialsRef: {secretName: reader, secretNamespace: team-a}
      secretsScope: {projectSlug: shop, envSlug: prod, secretsPath: /}
"""
VAULT = """\
apiVersion: secrets.hashicorp.com/v1beta1
kind: VaultStaticSecret
metadata: {name: web, namespace: team-a}
spec:
  mount: kv
  type: kv-v2
  path: apps
"""
DATA = "  data: [{secretKey: a, remoteRef: {key: b}}]\n"


@each_row(
    "given",
    [
        EXTERNAL + DATA + "  target: {template: {data: {a: '{{ .a }}', p12: '{{ genCA .a 1 }}'}}}\n",
        EXTERNAL + DATA + "  target: {template: {data: {a: '{{ .a }}'}, templateFrom: [{literal: x}]}}\n",
        EXTERNAL
        + "  data: [{secretKey: a, remoteRef: {key: b}}, {secretKey: c, remoteRef: {key: d, property: a.#}}]\n",
        EXTERNAL + DATA + "  dataFrom: [{sourceRef: {generatorRef: {kind: Password, name: x}}}]\n",
        EXTERNAL + DATA + "  dataFrom: [{find: {name: {regexp: a/b}}}]\n",
        EXTERNAL + "  dataFrom: [{extract: {key: b}, rewrite: [{merge: {}}]}]\n",
        EXTERNAL
        + "  refreshPolicy: CreatedOnce\n  data: [{secretKey: a, remoteRef: {key: b, version: v3}}]\n",
        EXTERNAL + DATA + "  target: {template: {somethingNew: {b: c}, data: {a: '{{ .a }}'}}}\n",
        EXTERNAL + DATA + "  somethingNew: {b: c}\n",
        EXTERNAL.replace("{name: vault}", "{name: vault, kind: Wallet}")
        + DATA
        + "  dataFrom: [{sourceRef: {storeRef: {name: vault}}, extract: {key: b}}]\n",
        INFISICAL
        + "  managedSecretReference: {secretName: web, template: {data: {a: '{{ .A.SecretPath }}'}}}\n",
        INFISICAL.replace("secretsPath: /", "somethingNew: x")
        + "  managedSecretReference: {secretName: web}\n",
        VAULT + "  destination: {name: web, create: true}\n",
        VAULT
        + "  destination: {name: web, transformation: {excludeRaw: true, templates: {a: {text: '{{ now }}'}}}}\n",
    ],
    ids=range(14),
)
def test_a_conversion_that_leaves_a_key_out_takes_none_from_the_secret_in_use(given: str) -> None:
    migration = migrate_text(given, SETTINGS)

    (manifest,) = migration.manifests
    written = render_manifests([manifest])
    assert yaml.safe_load(written)["spec"]["mode"] == "Plan"
    assert written.startswith("# Plan, not ")
    (outcome,) = migration.outcomes
    (step,) = (one for one in outcome.findings if "mode: Plan" in one.why)
    assert step.effect is Effect.STEP
    assert step.remedy.endswith("CreateOnce." if "CreatedOnce" in given else "Apply.")


@pytest.mark.parametrize(
    "given",
    [
        EXTERNAL + DATA,
        EXTERNAL + DATA + "  refreshInterval: 1s\n",
        EXTERNAL
        + DATA
        + "  target: {template: {metadata: {labels: {a: '{{ .a }}'}}, data: {a: '{{ .a }}'}}}\n",
        EXTERNAL + DATA + "  target: {deletionPolicy: Delete}\n",
        VAULT + "  destination: {name: web, transformation: {excludeRaw: true}}\n",
        VAULT
        + "  destination: {name: web, transformation: {excludeRaw: true}}\n"
        + "  rolloutRestartTargets: [{kind: Rollout}]\n",
    ],
    ids=range(6),
)
def test_what_decides_nothing_of_the_contents_holds_nothing_back(given: str) -> None:
    (manifest,) = migrate_text(given, SETTINGS).manifests
    spec = manifest.body["spec"]
    assert isinstance(spec, dict)
    assert "mode" not in spec
    assert manifest.comment == ""


def test_in_the_corpus_nothing_of_the_contents_is_lost_by_what_is_applied() -> None:
    applied = 0
    for case in migration_cases():
        for outcome in case.migrated().outcomes:
            for manifest in outcome.written:
                spec = manifest.body["spec"]
                assert isinstance(spec, dict)
                if manifest.kind == "SecretSync" and "destination" not in spec and spec.get("mode") != "Plan":
                    applied += 1
                    lossy = {Effect.LEFT_OUT, Effect.CHANGED, Effect.ASSUMED}
                    lost = [one for one in outcome.findings if one.field and one.effect in lossy]
                    assert [one.field for one in lost if not _is_beside_contents(one)] == []
    assert applied > 10


@each_row(
    "field",
    [
        "spec.data",
        "spec.target",
        "spec.target.template",
        "spec.secretStoreRef",
        "spec.target.template.data.metadata",
        "spec.target.template.data.labels.x",
        "spec.externalSecretSpec.data[0].remoteRef.version",
        "spec.authentication.universalAuth.secretsScope",
        "spec.authentication.universalAuth.secretsScope.secretName",
        "spec.targets[0].template.data.metadata",
        "spec.destination.transformation.labels",
    ],
)
def test_a_field_of_the_contents_is_never_taken_for_one_beside_them(field: str) -> None:
    assert not _is_beside_contents(Finding(field, Effect.LEFT_OUT, ""))


def test_a_name_of_others_ends_no_line_of_the_comment() -> None:
    given = (
        EXTERNAL
        + DATA
        + '  target: {template: {data: {a: "{{ .a }}", "b\\nkind: Pod\\u2028x": "{{ now }}"}}}\n'
    )
    (manifest,) = migrate_text(given, SETTINGS).manifests
    documents = list(yaml.safe_load_all(render_manifests([manifest])))
    assert [one["kind"] for one in documents] == ["SecretSync"]
    assert "\u2028" not in render_manifests([manifest])
