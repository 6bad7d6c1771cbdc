"""From a new SecretSync to its end: what is written, what is told, and what goes with it."""

from __future__ import annotations

import pytest

from support.operator_fixtures import Installation
from support.secretsync_objects import condition, decoded
from support.service_proxy import listing_of
from support.tenant import Tenant
from tools.local.waiting import PATIENCE_SECONDS, eventually

pytestmark = pytest.mark.integration

_VALUES = {"DB_USER": "cnry-user", "DB_PASSWORD": "cnry-pä$$\n{{word}}", "EMPTY": ""}


def test_a_new_sync_writes_a_secret_with_the_bytes_of_its_source(tenant: Tenant) -> None:
    tenant.project.store(_VALUES)
    tenant.sync("web", target={"labels": {"team": "a"}, "annotations": {"note": "b"}})
    tenant.until_ready("web")

    written = tenant.secret("web")

    assert written is not None
    assert decoded(written) == _VALUES
    assert written["type"] == "Opaque"
    uid = tenant.get("web")["metadata"]["uid"]
    assert written["metadata"]["labels"] == {
        "team": "a",
        "app.kubernetes.io/managed-by": "keybearer",
        "keybearer.dev/managed": "true",
        "keybearer.dev/owner-uid": uid,
    }
    assert written["metadata"]["annotations"] == {"note": "b"}
    assert written["metadata"]["ownerReferences"] == [
        {
            "apiVersion": "keybearer.dev/v1alpha1",
            "kind": "SecretSync",
            "name": "web",
            "uid": uid,
            "controller": True,
            "blockOwnerDeletion": False,
        }
    ]


def test_the_status_of_a_sync_says_what_was_written_without_a_value(tenant: Tenant) -> None:
    tenant.project.store({"DB_USER": "cnry-user", "DB_PASSWORD": "cnry-word"})
    tenant.sync("web")

    status = tenant.until_ready("web")["status"]

    assert status["observedGeneration"] == 1
    assert [one["type"] for one in status["conditions"]] == ["Ready"]
    assert status["source"] == "dev:/"
    assert status["updates"] in {"Events", "Polling"}
    assert status["keysTotal"] == 2
    assert [(one["key"], one["state"], one["version"], one["source"]) for one in status["keys"]] == [
        ("DB_PASSWORD", "Synced", 1, "dev:/DB_PASSWORD"),
        ("DB_USER", "Synced", 1, "dev:/DB_USER"),
    ]
    assert status["target"].keys() == {"kind", "name", "keys", "fingerprint"}
    assert (status["target"]["kind"], status["target"]["name"], status["target"]["keys"]) == (
        "Secret",
        "web",
        2,
    )
    assert status["lastRefreshTime"].endswith("Z")


def test_kubectl_waits_for_a_sync_and_shows_it_in_columns(tenant: Tenant, installation: Installation) -> None:
    kubectl = installation.cluster.plane.kubectl
    tenant.project.store({"KEY": "cnry-1"})
    tenant.sync("web", target={"name": "web-secret"})

    waited = kubectl(
        "wait",
        "--for=condition=Ready",
        "kbs/web",
        f"--namespace={tenant.namespace}",
        f"--timeout={PATIENCE_SECONDS:g}s",
    )
    heads, row = (
        kubectl("get", "secretsyncs", "--output=wide", f"--namespace={tenant.namespace}").strip().splitlines()
    )

    assert waited == "secretsync.keybearer.dev/web condition met\n"
    columns = ["SOURCE", "TARGET", "DESTINATION", "READY", "REASON", "SYNC", "UPDATES", "AGE"]
    assert heads.split() == ["NAME", *columns]
    assert row.split()[:5] == ["web", "dev:/", "web-secret", "True", "Synced"]


def test_kubectl_sees_a_sync_that_needs_a_person_as_stalled(
    tenant: Tenant, installation: Installation
) -> None:
    tenant.sync("web", source=tenant.source(environment="nowhere"))

    installation.cluster.plane.kubectl(
        "wait",
        "--for=condition=Stalled",
        "kbs/web",
        f"--namespace={tenant.namespace}",
        f"--timeout={PATIENCE_SECONDS:g}s",
    )

    ready = condition(tenant.get("web"), "Ready")
    assert ready is not None
    assert ready["status"] == "False"


def test_a_changed_value_arrives(tenant: Tenant) -> None:
    tenant.project.store({"KEY": "cnry-old", "GONE": "cnry-1", "STAYS": "cnry-2"})
    tenant.sync("web")
    before = tenant.until_ready("web")["status"]

    tenant.project.store({"KEY": "cnry-new", "ADDED": "cnry-3"})
    tenant.project.remove(["GONE"])
    tenant.until_data("web", {"KEY": "cnry-new", "STAYS": "cnry-2", "ADDED": "cnry-3"})

    # Between the two changes there may have been a run, whose status comes after its Secret.
    after = tenant.until(
        "web",
        lambda sync: (
            {one["key"]: one["version"] for one in sync["status"]["keys"]}
            == {"ADDED": 1, "KEY": 2, "STAYS": 1}
        ),
        "the versions of what the source holds",
    )["status"]
    assert after["target"]["fingerprint"] != before["target"]["fingerprint"]


def test_a_person_who_asks_gets_what_the_source_holds_now(tenant: Tenant) -> None:
    tenant.project.store({"KEY": "cnry-old"})
    tenant.sync("web", refreshInterval="1h")
    tenant.until_ready("web")
    tenant.project.store({"KEY": "cnry-new"})

    answered = tenant.ask("web")

    assert tenant.data("web") == {"KEY": "cnry-new"}
    assert answered["status"]["lastHandledRequestedAt"] == answered["metadata"]["annotations"].get(
        "keybearer.dev/requestedAt"
    )


def test_an_edited_path_and_selection_take_effect(tenant: Tenant) -> None:
    tenant.project.folder("/app")
    tenant.project.store({"A": "cnry-1", "B": "cnry-2"})
    tenant.project.store({"A": "cnry-3", "B": "cnry-4"}, path="/app")
    tenant.sync("web", guard={"maxDeletions": 100}, refreshInterval="1h")
    tenant.until_data("web", {"A": "cnry-1", "B": "cnry-2"})

    tenant.edit("web", source={"secretPath": "/app"})
    tenant.until_data("web", {"A": "cnry-3", "B": "cnry-4"})
    tenant.edit("web", source={"keys": {"include": ["A"]}})

    tenant.until_data("web", {"A": "cnry-3"})
    assert tenant.until_ready("web")["status"]["source"] == "dev:/app"


def test_a_renamed_target_is_written_before_the_old_one_goes(tenant: Tenant) -> None:
    tenant.project.store({"KEY": "cnry-1"})
    tenant.sync("web", refreshInterval="1h")
    tenant.until_ready("web")
    version = tenant.api.get("Secret", tenant.namespace, "web")["metadata"]["resourceVersion"]

    tenant.edit("web", target={"name": "web-two"})
    tenant.until_data("web-two", {"KEY": "cnry-1"})
    tenant.until_gone("Secret", "web")

    history = tenant.api.history("Secret", tenant.namespace, version)
    assert [one for one in history if one[0] in {"ADDED", "DELETED"}] == [
        ("ADDED", "web-two"),
        ("DELETED", "web"),
    ]
    assert tenant.until_ready("web")["status"]["target"]["name"] == "web-two"
    eventually(
        lambda: any(one["reason"] == "TargetRetired" for one in tenant.api.list("Event", tenant.namespace)),
        awaited="an Event about the old Secret",
    )


def test_the_secret_of_a_deleted_sync_is_collected(tenant: Tenant) -> None:
    tenant.project.store({"KEY": "cnry-1"})
    tenant.sync("web")
    tenant.until_ready("web")
    assert "finalizers" not in tenant.get("web")["metadata"]

    tenant.delete("web")

    tenant.until_gone("SecretSync", "web")
    tenant.until_gone("Secret", "web")


def test_a_secret_that_is_to_be_retained_outlives_a_renaming_and_is_nobodys(tenant: Tenant) -> None:
    tenant.project.store({"KEY": "cnry-1"})
    tenant.sync("web", target={"name": "old", "onDelete": "Retain"}, refreshInterval="1h")
    tenant.until_ready("web")
    before = tenant.api.get("Secret", tenant.namespace, "old")

    tenant.edit("web", target={"name": "new"})
    tenant.until_ready("web")
    assert tenant.data("new") == {"KEY": "cnry-1"}
    tenant.until_ready(tenant.sync("heir", target={"name": "old", "adopt": True}))
    after = tenant.api.get("Secret", tenant.namespace, "old")
    assert (after["metadata"]["uid"], after["data"]) == (before["metadata"]["uid"], before["data"])


@pytest.mark.deep
def test_a_retained_secret_outlives_its_sync(tenant: Tenant) -> None:
    tenant.project.store({"KEY": "cnry-1"})
    tenant.sync("kept", target={"onDelete": "Retain"})
    tenant.sync("collected")
    tenant.until_ready("kept")
    tenant.until_ready("collected")
    kept = tenant.secret("kept")
    assert kept is not None
    assert "ownerReferences" not in kept["metadata"]

    tenant.delete("kept")
    tenant.delete("collected")

    # Collected later than the other was deleted: by now the collector has made up its mind about both.
    tenant.until_gone("Secret", "collected")
    assert tenant.data("kept") == {"KEY": "cnry-1"}


@pytest.mark.deep
def test_nothing_is_written_while_nothing_changes(tenant: Tenant, installation: Installation) -> None:
    tenant.project.store({"KEY": "cnry-1"})
    tenant.sync("web")
    tenant.until_updates("web")
    sync = tenant.until_ready("web")
    secret = tenant.secret("web")
    start = installation.proxy.mark()

    eventually(
        lambda: len(installation.proxy.requests(listing_of(tenant.project.id), since=start)) >= 2,
        awaited="two more refreshes",
    )

    asked = installation.proxy.requests(listing_of(tenant.project.id), since=start)
    assert {request.status for request in asked} == {304}
    assert tenant.get("web")["metadata"]["resourceVersion"] == sync["metadata"]["resourceVersion"]
    assert tenant.secret("web") == secret


def test_many_syncs_of_one_source_cost_one_reading(tenant: Tenant, installation: Installation) -> None:
    tenant.project.store({"KEY": "cnry-1"})
    tenant.sync("first")
    tenant.until_updates("first")
    tenant.until_ready("first")
    start = installation.proxy.mark()

    # The first reading lasts until all of them are there, however long that takes.
    with installation.proxy.holding(listing_of(tenant.project.id)) as hold:
        names = [tenant.sync(f"sync-{number}") for number in range(10)]
        hold.wait_caught()
    for name in names:
        tenant.until_ready(name)

    asked = installation.proxy.requests(listing_of(tenant.project.id), since=start)
    # A burst of manifests is a few readings: each new sync gets one that began after it was seen.
    assert len(asked) <= 5
