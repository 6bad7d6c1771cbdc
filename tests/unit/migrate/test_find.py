"""`dataFrom[].find`: a search reads what it read before, or says that it is assumed."""

from __future__ import annotations

import json

import pytest
from pydantic import JsonValue

from keybearer.migrate.findings import Verdict
from keybearer.migrate.settings import Place, Settings
from support.migration import migrate_text

SECRET = """\
apiVersion: external-secrets.io/v1
kind: ExternalSecret
metadata: {{name: web, namespace: team-a}}
spec:
  secretStoreRef: {{name: store}}
  dataFrom: [{{find: {}}}, {{extract: {{key: x}}}}]
"""
SERVICE = """\
---
apiVersion: external-secrets.io/v1
kind: SecretStore
metadata: {{name: store, namespace: team-a}}
spec:
  provider:
    infisical:
      auth:
        universalAuthCredentials:
          clientId: {{name: reader, key: clientId}}
          clientSecret: {{name: reader, key: clientSecret}}
      secretsScope: {{projectSlug: shop, environmentSlug: prod, secretsPath: {}, recursive: {}}}
"""


def first_source(text: str, settings: Settings) -> tuple[dict[str, JsonValue], Verdict, str | None]:
    migration = migrate_text(text, settings)
    spec = migration.manifests[0].body["spec"]
    assert isinstance(spec, dict)
    sources = spec.get("sources") or [spec["source"]]
    assert isinstance(sources, list)
    assert isinstance(sources[0], dict)
    mode = spec.get("mode")
    return sources[0], migration.outcomes[0].verdict, mode if isinstance(mode, str) else None


@pytest.mark.parametrize(
    ("find", "recursive", "verdict"),
    [
        pytest.param({"name": {"regexp": "^DB_[A-Z]+$"}}, False, Verdict.WHOLE, id="names without a slash"),
        pytest.param({"name": {"regexp": r"^(app|db)-\d+$"}}, True, Verdict.PART, id="one of two"),
        pytest.param({"name": {"regexp": "^FEATURE_.*"}}, False, Verdict.PART, id="a beginning"),
        pytest.param({"name": {"regexp": "^a|b$"}}, True, Verdict.PART, id="an anchor of one branch"),
        pytest.param({"name": {"regexp": "^[!-9]+$"}}, False, Verdict.PART, id="a range that holds a slash"),
        pytest.param({"name": {"regexp": "_TOKEN$"}}, True, Verdict.PART, id="an end"),
        pytest.param({"name": {"regexp": ".*"}}, True, Verdict.PART, id="everything"),
        pytest.param({"path": "apps", "name": {"regexp": "^[A-Z]+$"}}, True, Verdict.PART, id="below a path"),
    ],
)
def test_in_another_store_a_name_holds_its_folders(
    find: JsonValue, verdict: Verdict, *, recursive: bool
) -> None:
    settings = Settings(stores={"store": Place("shop", "prod")})
    source, found, mode = first_source(SECRET.format(json.dumps(find)), settings)
    assert (source.get("recursive", False), found) == (recursive, verdict)
    assert mode == (None if verdict is Verdict.WHOLE else "Plan")


@pytest.mark.parametrize(
    ("scope", "recursive", "path", "folder", "below"),
    [
        pytest.param("/", "false", None, "/", False, id="as the scope says"),
        pytest.param("/", "true", None, "/", True, id="as the scope says, with what is below"),
        pytest.param("/team", "false", "/", "/team", False, id="a path above the scope"),
        pytest.param("/team", "true", "/te", "/team", True, id="a beginning of the scope"),
        pytest.param("/", "true", "/team", "/team", True, id="a folder below"),
        pytest.param("/team", "true", "/team/a", "/team/a", True, id="a folder below another"),
    ],
)
def test_in_a_store_of_the_service_a_path_narrows_what_the_scope_lists(
    scope: str, recursive: str, path: str | None, folder: str, *, below: bool
) -> None:
    find = {"name": {"regexp": "^FEATURE_.*"}} | ({"path": path} if path else {})
    text = SECRET.format(json.dumps(find)) + SERVICE.format(scope, recursive)
    source, _, _ = first_source(text, Settings())
    assert (source.get("secretPath", "/"), source.get("recursive", False)) == (folder, below)
    assert source["keys"] == {"include": ["/^FEATURE_.*/"]}


@pytest.mark.parametrize(
    ("scope", "recursive", "path"), [("/web", "true", "/shared"), ("/", "false", "/shared")]
)
def test_a_path_beyond_the_scope_finds_nothing_and_is_told(scope: str, recursive: str, path: str) -> None:
    text = SECRET.format(json.dumps({"path": path})).replace(
        "{extract: {key: x}}", "{find: {name: {regexp: ^A}}}"
    ) + SERVICE.format(scope, recursive)
    migration = migrate_text(text, Settings())
    assert "spec.dataFrom[0].find.path" in [one.field for one in migration.outcomes[0].findings]
    spec = migration.manifests[0].body["spec"]
    assert isinstance(spec, dict)
    assert isinstance(spec["source"], dict)
    assert spec["source"].get("secretPath", "/") == scope
    assert spec["mode"] == "Plan"
