"""From another operator's Secret to ours, as docs/migration.md has it: nothing is deleted on the way."""

from __future__ import annotations

import base64
import json
import shlex

import pytest

from keybearer.migrate.settings import Place, Settings
from support.migration import migrate_text
from support.tenant import Tenant

pytestmark = pytest.mark.integration


def test_a_secret_of_another_operator_is_taken_over_once_it_is_freed(tenant: Tenant) -> None:
    tenant.project.folder("/apps")
    tenant.project.store({"user": "cnry-ada", "password": "cnry-new"}, path="/apps")
    owner = tenant.api.create(
        {
            "apiVersion": "v1",
            "kind": "ConfigMap",  # stands for the other operator's object: any kind can be a controller
            "metadata": {"name": "web", "namespace": tenant.namespace},
        }
    )
    theirs = {
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": {
            "name": "web",
            "namespace": tenant.namespace,
            "labels": {"reconcile.external-secrets.io/managed": "true"},
            "annotations": {"reconcile.external-secrets.io/data-hash": "1"},
            "ownerReferences": [
                {
                    "apiVersion": "v1",
                    "kind": "ConfigMap",
                    "name": "web",
                    "uid": owner["metadata"]["uid"],
                    "controller": True,
                    "blockOwnerDeletion": True,
                }
            ],
        },
        "data": {"password": base64.b64encode(b"cnry-old").decode()},
    }
    before = tenant.api.create(theirs)
    given = f"""
apiVersion: external-secrets.io/v1
kind: ExternalSecret
metadata: {{name: web, namespace: {tenant.namespace}}}
spec:
  secretStoreRef: {{name: store}}
  dataFrom: [{{extract: {{key: apps}}}}]
"""
    migration = migrate_text(given, Settings(stores={"*": Place(tenant.project.slug, "dev")}))
    (manifest,) = migration.manifests
    body = json.loads(json.dumps(manifest.body))
    body["spec"]["mode"] = "Plan"
    tenant.api.create(body)
    refused = tenant.until_reason("web", "TargetConflict", saying="is controlled by ConfigMap web")
    # Before anybody stops the other operator, the plan shows what the move changes.
    plan = refused["status"]["plan"]
    assert (plan["add"], plan["change"], plan["remove"]) == (["user"], ["password"], [])
    assert tenant.api.get("Secret", tenant.namespace, "web")["data"] == before["data"]

    # As a person would paste it, but for kubectl, which sends this patch.
    *_, patch = shlex.split(refused["status"]["diagnosis"]["command"])
    tenant.api.json_patch("Secret", tenant.namespace, "web", json.loads(patch))
    tenant.until_reason("web", "Planned", saying="2 keys of Secret web would change")
    tenant.edit("web", mode="Apply")
    tenant.until_ready("web")

    after = tenant.api.get("Secret", tenant.namespace, "web")
    assert tenant.data("web") == {"user": "cnry-ada", "password": "cnry-new"}
    assert after["metadata"]["uid"] == before["metadata"]["uid"]
    tenant.api.delete("ConfigMap", tenant.namespace, "web")
    tenant.ask("web")
    assert tenant.secret("web") is not None
