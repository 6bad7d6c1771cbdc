"""SecretSyncs with a destination: the service pushes to another service, and the cluster shows it."""

from __future__ import annotations

import pytest

from support.operator_fixtures import Installation
from support.pushing_objects import PUSHING as _NAME
from support.pushing_objects import Pushing, open_pushing
from support.secretsync_objects import message_of, secret_sync
from support.tenant import Tenant
from tools.local.kube_api import Body, RefusedError
from tools.local.waiting import eventually

pytestmark = pytest.mark.integration


@pytest.fixture
def pushing(tenant: Tenant, installation: Installation) -> Pushing:
    return open_pushing(tenant, installation)


def test_secrets_are_pushed_and_the_status_mirrors_the_service(pushing: Pushing) -> None:
    pushing.tenant.project.store({"ONE": "cnry-1", "TWO": "cnry-2"})
    pushing.connect()
    pushing.tenant.sync(_NAME, **pushing.spec())

    mirrored = pushing.until_succeeded()["status"]["sync"]

    pushing.until_arrived({"ONE": "cnry-1", "TWO": "cnry-2"})
    (there,) = pushing.syncs()
    assert mirrored["id"] == there["id"]
    assert mirrored["lastSyncJobId"] == there["lastSyncJobId"]
    assert "lastSyncMessage" not in mirrored
    assert there["lastSyncedAt"].startswith(mirrored["lastSyncedAt"].removesuffix("Z"))
    assert pushing.tenant.secret(_NAME) is None


def test_a_change_arrives_and_a_target_beside_the_destination_is_written_too(pushing: Pushing) -> None:
    pushing.tenant.project.store({"ONE": "cnry-1"})
    pushing.connect()
    pushing.tenant.sync(_NAME, **pushing.spec(target={"name": "beside"}))
    pushing.until_succeeded()

    pushing.tenant.project.store({"ONE": "cnry-newer"})

    pushing.until_arrived({"ONE": "cnry-newer"})
    pushing.tenant.until_data("beside", {"ONE": "cnry-newer"})


def test_any_order_of_manifests_comes_to_the_same(pushing: Pushing) -> None:
    pushing.tenant.project.store({"ONE": "cnry-1"})
    pushing.tenant.sync(_NAME, **pushing.spec())
    pushing.tenant.until_reason(_NAME, "ConnectionNotReady", saying="doesn't exist; create it")
    pushing.connections.create("store")
    pushing.tenant.until_reason(_NAME, "ConnectionNotReady", saying="is not ready")
    pushing.connections.keep_login()

    pushing.until_succeeded()
    pushing.until_arrived({"ONE": "cnry-1"})


def test_an_emptied_source_doesn_t_empty_the_destination_until_released(pushing: Pushing) -> None:
    pushing.tenant.project.store({"ONE": "cnry-1", "TWO": "cnry-2", "THREE": "cnry-3"})
    pushing.connect()
    pushing.tenant.sync(_NAME, **pushing.spec())
    pushing.until_succeeded()

    pushing.tenant.project.remove(["TWO", "THREE"])
    pushing.tenant.until_reason(_NAME, "Guarded", saying="would be removed from the destination")
    assert pushing.arrived().keys() == {"ONE", "TWO", "THREE"}

    pushing.tenant.ask(_NAME, "release-guard")

    pushing.until_arrived({"ONE": "cnry-1"})
    pushing.until_succeeded()


def test_with_the_guard_off_the_service_pushes_by_itself(pushing: Pushing) -> None:
    pushing.tenant.project.store({"ONE": "cnry-1", "TWO": "cnry-2"})
    pushing.connect()
    pushing.tenant.sync(_NAME, **pushing.spec(guard={"maxDeletions": 100}))
    pushing.until_succeeded()
    assert [one["isAutoSyncEnabled"] for one in pushing.syncs()] == [True]

    pushing.tenant.project.remove(["ONE", "TWO"])

    pushing.until_arrived({})


@pytest.mark.parametrize("mode", ["Suspended", "Plan", "CreateOnce"])
def test_a_mode_that_holds_back_holds_the_service_back_as_well(pushing: Pushing, mode: str) -> None:
    pushing.tenant.project.store({"ONE": "cnry-1"})
    pushing.connect()
    pushing.tenant.sync(_NAME, **pushing.spec(guard={"maxDeletions": 100}))
    pushing.until_succeeded()

    pushing.tenant.edit(_NAME, mode=mode)

    eventually(
        lambda: [one["isAutoSyncEnabled"] for one in pushing.syncs()] == [False],
        awaited="a service that pushes nothing by itself",
    )
    pushing.tenant.edit(_NAME, mode="Apply")
    eventually(
        lambda: [one["isAutoSyncEnabled"] for one in pushing.syncs()] == [True],
        awaited="a service that pushes by itself",
    )


def test_a_person_asks_for_an_import(pushing: Pushing) -> None:
    pushing.tenant.project.store({"ONE": "cnry-1"})
    pushing.connect()
    pushing.tenant.sync(_NAME, **pushing.spec(isAutoSyncEnabled=False))
    pushing.tenant.until_reason(_NAME, "Synced", saying="nothing was pushed yet")
    pushing.connections.far_project.store({"FOUND": "cnry-found"})

    pushing.tenant.ask(_NAME, "import")

    pushing.tenant.until(
        _NAME,
        lambda sync: sync["status"].get("sync", {}).get("importStatus") == "succeeded",
        "an import that succeeded",
    )
    listed = pushing.installation.admin.client.secrets.list(
        project_id=pushing.tenant.project.id, environment="dev"
    )
    assert {one.secret_key for one in listed} == {"ONE", "FOUND"}


def test_an_import_that_the_first_manifest_asks_for_waits_for_the_folder_and_comes_before_any_push(
    pushing: Pushing,
) -> None:
    pushing.connections.far_project.store({"PROD": "cnry-production"})
    pushing.connect()
    source = {**pushing.tenant.source(), "secretPath": "/app"}
    manifest = secret_sync(pushing.tenant.namespace, _NAME, pushing.spec(source=source))
    manifest["metadata"]["annotations"] = {
        "keybearer.dev/request": "import",
        "keybearer.dev/requestedAt": "first",
    }
    pushing.tenant.api.create(manifest)
    waiting = pushing.tenant.until_reason(_NAME, "SourceNotFound")
    assert "lastHandledRequestedAt" not in waiting["status"]

    pushing.tenant.project.folder("/app")

    pushed = pushing.until_succeeded()
    done = pushed["status"]
    assert done["lastHandledRequestedAt"] == "first"
    assert done["sync"]["importStatus"] == "succeeded"
    assert "imported at" in message_of(pushed)
    listed = pushing.installation.admin.client.secrets.list(
        project_id=pushing.tenant.project.id, environment="dev", secret_path="/app"
    )
    assert {one.secret_key: one.secret_value for one in listed} == {"PROD": "cnry-production"}
    assert pushing.arrived() == {"PROD": "cnry-production"}
    assert "foreign" not in done["push"]


def test_an_import_with_an_unknown_behavior_pushes_nothing_until_it_is_corrected(pushing: Pushing) -> None:
    pushing.tenant.project.store({"BOTH": "cnry-folder"})
    pushing.connections.far_project.store({"BOTH": "cnry-there"})
    pushing.connect()
    spec = pushing.spec(source=pushing.tenant.source())
    manifest = secret_sync(pushing.tenant.namespace, _NAME, spec)
    manifest["metadata"]["annotations"] = {
        "keybearer.dev/request": "import",
        "keybearer.dev/import-behavior": "prioritise-destination",
        "keybearer.dev/requestedAt": "first",
    }
    pushing.tenant.api.create(manifest)
    refused = pushing.tenant.until_reason(_NAME, "ImportBehaviorUnknown", saying="prioritize-destination")
    assert "keybearer.dev/import-behavior=prioritize-source" in refused["status"]["diagnosis"]["command"]
    assert pushing.syncs() == []

    corrected = {"keybearer.dev/import-behavior": "prioritize-destination"}
    pushing.tenant.api.patch(
        "SecretSync", pushing.tenant.namespace, _NAME, {"metadata": {"annotations": corrected}}
    )

    pushing.until_succeeded()
    assert pushing.arrived() == {"BOTH": "cnry-there"}


def test_plan_shows_what_would_be_pushed_and_pushes_once_approved(pushing: Pushing) -> None:
    pushing.tenant.project.store({"ONE": "cnry-1"})
    pushing.connect()
    pushing.tenant.sync(_NAME, **pushing.spec(mode="Plan"))
    planned = pushing.tenant.until_reason(_NAME, "Planned", saying="would create sync")
    assert planned["status"]["plan"]["add"] == ["ONE"]
    assert pushing.syncs() == []

    pushing.tenant.ask(_NAME, "approve-plan")

    pushing.until_arrived({"ONE": "cnry-1"})


@pytest.mark.parametrize(
    ("policy", "left"), [("Retain", {"ONE": "cnry-1"}), ("RemoveSecrets", {})], ids=["retain", "remove"]
)
def test_a_deleted_object_takes_its_sync_along_and_its_secrets_as_asked(
    pushing: Pushing, policy: str, left: dict[str, str]
) -> None:
    pushing.tenant.project.store({"ONE": "cnry-1"})
    pushing.connect()
    pushing.tenant.sync(_NAME, **pushing.spec(destinationDeletionPolicy=policy))
    pushing.until_succeeded()

    pushing.tenant.delete(_NAME)
    pushing.tenant.until_gone("SecretSync", _NAME)

    assert pushing.syncs() == []
    assert pushing.arrived() == left


def test_a_destination_that_is_named_no_more_is_let_go(pushing: Pushing) -> None:
    pushing.tenant.project.store({"ONE": "cnry-1"})
    pushing.connect()
    pushing.tenant.sync(_NAME, **pushing.spec())
    pushing.until_succeeded()

    gone = dict.fromkeys(("destination", "connectionRef", "destinationConfig"))
    pushing.tenant.edit(_NAME, **gone)

    pushing.tenant.until_data(_NAME, {"ONE": "cnry-1"})
    pushing.tenant.until(_NAME, lambda sync: "sync" not in sync["status"], "an end of the mirror")
    assert pushing.syncs() == []


def test_a_push_that_fails_is_told_with_the_service_s_message(pushing: Pushing) -> None:
    pushing.tenant.project.store({"ONE": "cnry-1"})
    pushing.connect()
    config = {"projectId": pushing.tenant.project.id, "environment": "dev", "secretPath": "/"}
    pushing.tenant.sync(_NAME, **pushing.spec(destinationConfig=config))

    failed = pushing.tenant.until_reason(_NAME, "PushFailed", saying="the last push to")

    assert failed["status"]["sync"]["syncStatus"] == "failed"
    assert failed["status"]["sync"]["lastSyncMessage"]


@pytest.mark.parametrize(
    ("changes", "saying"),
    [
        pytest.param({"connectionRef": None}, "a destination needs", id="no connection"),
        pytest.param(
            {"destination": "cloud-parameter-store", "destinationConfig": {"region": "eu-central-1"}},
            "needs region and path",
            id="no path",
        ),
        pytest.param(
            {"destination": "codehost", "destinationConfig": {"scope": "repository", "owner": "o"}},
            "needs scope",
            id="no repository",
        ),
    ],
)
def test_the_api_server_refuses_half_a_destination(pushing: Pushing, changes: Body, saying: str) -> None:
    with pytest.raises(RefusedError, match=saying):
        pushing.tenant.sync(_NAME, **pushing.spec(**changes))


@pytest.mark.parametrize(
    ("changes", "reason", "saying"),
    [
        pytest.param(
            {"destination": "zabbix"},
            "UnknownDestination",
            "spec.destination zabbix is none of",
            id="no driver",
        ),
        pytest.param(
            {"destinationConfig": {"projectId": "p", "environment": "dev", "secretPath": "/", "pth": "/"}},
            "InvalidDestinationConfig",
            "spec.destinationConfig",
            id="an unknown field",
        ),
        pytest.param(
            {"syncOptions": {"initialSyncBehavior": "overwrite-destination", "keySchema": "no-placeholder"}},
            "InvalidDestinationConfig",
            "spec.syncOptions.keySchema",
            id="a key schema without its placeholder",
        ),
    ],
)
def test_what_the_crd_can_t_say_is_told_by_a_condition(
    pushing: Pushing, changes: Body, reason: str, saying: str
) -> None:
    pushing.tenant.project.store({"ONE": "cnry-1"})
    pushing.connect()
    pushing.tenant.sync(_NAME, **pushing.spec(**changes))
    pushing.tenant.until_reason(_NAME, reason, saying=saying)
