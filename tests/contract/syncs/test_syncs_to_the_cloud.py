"""Whole syncs: people over HTTP, the engine, a driver, and the cloud's own service on loopback."""

from __future__ import annotations

import json

import pytest

from support.pushed import Pushed
from support.remotes.moto import Fault
from tools.local.waiting import eventually

pytestmark = pytest.mark.every_database


def test_a_sync_carries_the_folder_and_later_one_call_for_each_changed_key(pushed: Pushed) -> None:
    pushed.secrets.create("A", "cnry-1")
    pushed.secrets.create("B", "cnry-2")
    sync = pushed.create()
    assert sync["syncStatus"] == "pending"
    done = pushed.ended(sync)
    assert pushed.values == {"A": "cnry-1", "B": "cnry-2"}
    assert (done["lastSyncMessage"], done["lastSyncedAt"] is not None) == (None, True)
    assert done["lastSyncJobId"]
    before = pushed.asked
    pushed.secrets.update("A", secretValue="cnry-3")
    pushed.holds(A="cnry-3", B="cnry-2")
    pushed.ended(sync)
    assert pushed.calls(before) == ["PutParameter"]
    before = pushed.asked
    pushed.secrets.delete("B")
    pushed.holds(A="cnry-3")
    pushed.ended(sync)
    assert pushed.calls(before) == ["DeleteParameters"]


def test_what_is_imported_and_referenced_is_carried_and_its_changes_arrive(pushed: Pushed) -> None:
    for path in ("/app", "/shared", "/deep"):
        pushed.secrets.folder(path)
    pushed.secrets.create("HOST", "cnry-h1", path="/deep")
    pushed.secrets.create("S", "cnry-s1", path="/shared")
    pushed.secrets.create("URL", "cnry-//${dev.deep.HOST}", path="/app")
    body = {
        "projectId": pushed.project.id,
        "environment": "dev",
        "path": "/app",
        "import": {"environment": "dev", "path": "/shared"},
    }
    pushed.admin.json("POST", "/api/v2/secret-imports", json=body)
    pushed.ended(pushed.create(secret_path="/app"))
    assert pushed.values == {"S": "cnry-s1", "URL": "cnry-//cnry-h1"}
    before = pushed.asked
    pushed.secrets.update("S", path="/shared", secretValue="cnry-s2")
    pushed.holds(S="cnry-s2", URL="cnry-//cnry-h1")
    pushed.secrets.update("HOST", path="/deep", secretValue="cnry-h2")
    pushed.holds(S="cnry-s2", URL="cnry-//cnry-h2")
    assert pushed.calls(before) == ["PutParameter", "PutParameter"]


@pytest.mark.parametrize(
    ("behavior", "wanted"),
    [
        ("overwrite-destination", {"A": "cnry-a"}),
        ("import-prioritize-source", {"A": "cnry-a", "NEW": "there"}),
        ("import-prioritize-destination", {"A": "there", "NEW": "there"}),
    ],
)
def test_the_first_sync_resolves_what_is_there_as_it_is_told(
    pushed: Pushed, behavior: str, wanted: dict[str, str]
) -> None:
    pushed.secrets.create("A", "cnry-a")
    pushed.put_by_hand(A="there", NEW="there")
    pushed.ended(pushed.create(initialSyncBehavior=behavior))
    assert pushed.secrets.values() == wanted
    assert pushed.values == {"NEW": "there", **wanted}


def test_what_came_from_elsewhere_stays_until_its_removal_is_asked_for_once(pushed: Pushed) -> None:
    pushed.secrets.create("A", "cnry-a")
    pushed.put_by_hand(OTHER="x", MASTER="y")
    sync = pushed.create()
    told = "2 secrets at the destination came from elsewhere and stayed"
    assert pushed.ended(sync)["lastSyncMessage"].startswith(told)
    assert pushed.values == {"A": "cnry-a", "MASTER": "y", "OTHER": "x"}
    assert pushed.ask(sync, removeForeign=True)["syncStatus"] == "pending"
    assert pushed.ended(sync)["lastSyncMessage"] is None
    assert pushed.values == {"A": "cnry-a"}
    pushed.put_by_hand(OTHER="x")
    pushed.ask(sync, removeForeign=False)
    assert pushed.ended(sync)["lastSyncMessage"].startswith("1 secret at the destination")
    assert pushed.values == {"A": "cnry-a", "OTHER": "x"}


@pytest.mark.parametrize(
    ("behavior", "wanted"), [("prioritize-source", "cnry-a"), ("prioritize-destination", "there")]
)
def test_an_import_takes_in_what_is_there_and_pushes_nothing(
    pushed: Pushed, behavior: str, wanted: str
) -> None:
    pushed.secrets.create("A", "cnry-a")
    pushed.secrets.create("HOME", "cnry-h")
    pushed.put_by_hand(A="there", NEW="there")
    sync = pushed.create(automatic=False)
    assert sync["syncStatus"] is None
    assert pushed.ask(sync, f"import-secrets?importBehavior={behavior}")["importStatus"] == "pending"
    done = pushed.ended(sync, kind="import")
    assert pushed.secrets.values() == {"A": wanted, "HOME": "cnry-h", "NEW": "there"}
    assert pushed.values == {"A": "there", "NEW": "there"}
    assert (done["lastImportMessage"], done["lastImportedAt"] is not None) == (None, True)
    assert done["syncStatus"] is None


def test_removal_takes_away_what_is_ours_and_deletion_the_sync_as_well(pushed: Pushed) -> None:
    pushed.secrets.create("A", "cnry-1")
    sync = pushed.create(automatic=False)
    pushed.ask(sync)
    pushed.ended(sync)
    pushed.put_by_hand(OTHERS="x")
    pushed.ask(sync, "remove-secrets")
    assert pushed.ended(sync, kind="remove")["lastRemovedAt"]
    assert pushed.values == {"OTHERS": "x"}
    pushed.ask(sync)
    pushed.ended(sync)
    pushed.delete(sync)
    eventually(lambda: pushed.get(sync) is None, awaited="an end of the sync")
    assert pushed.values == {"OTHERS": "x"}


def test_a_changed_path_takes_along_what_the_sync_wrote_and_leaves_what_others_did(pushed: Pushed) -> None:
    former, new = pushed.path, f"/new-{pushed.path[1:]}"
    pushed.secrets.create("A", "cnry-1")
    pushed.put_by_hand(OTHERS="x")
    sync = pushed.create()
    pushed.ended(sync)
    pushed.move(sync, path=new)
    pushed.ended(sync)
    assert pushed.values == {"OTHERS": "x"}
    pushed.path = new
    assert pushed.values == {"A": "cnry-1"}
    pushed.move(sync, path=former)
    pushed.ended(sync)
    assert pushed.values == {}
    pushed.path = former
    assert pushed.values == {"A": "cnry-1", "OTHERS": "x"}
    pushed.delete(sync)
    eventually(lambda: pushed.get(sync) is None, awaited="an end of the sync")
    assert pushed.values == {"OTHERS": "x"}


def test_a_path_that_means_the_same_parameters_as_the_former_one_and_its_schema_loses_none(
    pushed: Pushed,
) -> None:
    pushed.secrets.create("A", "cnry-1")
    pushed.secrets.create("B", "cnry-2")
    above = pushed.path.strip("/")
    sync = pushed.create(config={"path": "/"}, keySchema=f"{above}/{{{{secretKey}}}}")
    pushed.ended(sync)
    assert pushed.values == {"A": "cnry-1", "B": "cnry-2"}
    before = pushed.asked
    body = {
        "destinationConfig": {"region": "eu-west-1", "path": pushed.path},
        "syncOptions": {"initialSyncBehavior": "overwrite-destination"},
    }
    pushed.admin.json("PATCH", f"/api/v1/secret-syncs/{sync['destination']}/{sync['id']}", json=body)
    told = pushed.ended(sync)["lastSyncMessage"]
    assert told.startswith("2 secrets of the former place (region eu-west-1, path /) are here just as there")
    assert "DeleteParameters" not in pushed.calls(before)
    assert pushed.values == {"A": "cnry-1", "B": "cnry-2"}


def test_another_connection_to_the_account_loses_nothing_and_the_former_one_can_be_deleted(
    pushed: Pushed,
) -> None:
    pushed.secrets.create("A", "cnry-1")
    sync = pushed.create()
    pushed.ended(sync)
    pushed.move(sync, connection=pushed.connect("second"))
    pushed.ended(sync)
    assert pushed.values == {"A": "cnry-1"}
    pushed.admin.json("DELETE", f"/api/v1/app-connections/cloud/{pushed.connection}")
    pushed.secrets.update("A", secretValue="cnry-2")
    pushed.holds(A="cnry-2")


def test_a_connection_is_kept_until_what_it_led_to_is_removed(pushed: Pushed) -> None:
    pushed.secrets.create("A", "cnry-1")
    sync = pushed.create()
    pushed.ended(sync)
    former = pushed.path
    pushed.account.proxy.answer_instead("DeleteParameters", Fault(400, "AccessDeniedException"), times=-1)
    pushed.move(sync, connection=pushed.connect("second"), path=f"/new-{former[1:]}")
    told = pushed.ended(sync)["lastSyncMessage"]
    assert told.startswith(
        f"1 secret at the former place (region eu-west-1, path {former}; connection 'cloud') could not be removed: "
    )
    assert "AccessDenied" in told
    refused = pushed.admin.json("DELETE", f"/api/v1/app-connections/cloud/{pushed.connection}", status=400)
    assert refused["message"].startswith("Cannot delete App Connection with existing connections.")
    pushed.account.proxy.get_well()
    pushed.holds()
    eventually(
        lambda: (pushed.get(sync) or {})["lastSyncMessage"] is None, awaited="no word about the former place"
    )
    pushed.admin.json("DELETE", f"/api/v1/app-connections/cloud/{pushed.connection}")


def test_credentials_that_stopped_working_are_told_without_another_attempt_until_they_are_mended(
    pushed: Pushed,
) -> None:
    pushed.secrets.create("A", "cnry-1")
    sync = pushed.create(automatic=False)
    pushed.account.proxy.answer_instead(
        lambda call: call.service == "ssm", Fault(400, "UnrecognizedClientException"), times=-1
    )
    before = pushed.asked
    pushed.ask(sync)
    failed = pushed.ended(sync, "failed")
    assert "UnrecognizedClientException" in failed["lastSyncMessage"]
    assert failed["lastSyncedAt"] is None
    assert len(pushed.calls(before)) == 1
    pushed.account.proxy.get_well()
    pushed.connect_anew()
    pushed.ended(sync)
    assert pushed.values == {"A": "cnry-1"}


class TestOneObjectForAllKeys:
    """`cloud-secrets-manager` with `many-to-one`: what is written is written as a whole."""

    MANAGER = "cloud-secrets-manager"

    def config(self, pushed: Pushed) -> dict[str, str]:
        return {"mappingBehavior": "many-to-one", "secretName": pushed.path.strip("/")}

    def content(self, pushed: Pushed) -> dict[str, object]:
        value = pushed.account.secret_values().get(pushed.path.strip("/"), "{}")
        found: dict[str, object] = json.loads(value)
        return found

    def test_what_is_no_json_is_imported_by_nothing_and_overwritten_only_on_request(
        self, pushed: Pushed
    ) -> None:
        pushed.account.put_secret(pushed.path.strip("/"), "just a text")
        pushed.secrets.create("A", "cnry-1")
        sync = pushed.create(self.MANAGER, self.config(pushed), automatic=False)
        pushed.ask(sync, "import-secrets?importBehavior=prioritize-source")
        failed = pushed.ended(sync, "failed", kind="import")
        assert failed["lastImportMessage"].startswith(
            "Failed to import secrets. Invalid format for Many-To-One"
        )
        pushed.ask(sync)
        assert "so it is not overwritten" in pushed.ended(sync, "failed")["lastSyncMessage"]
        assert pushed.account.secret_values()[pushed.path.strip("/")] == "just a text"
        pushed.ask(sync, removeForeign=True)
        pushed.ended(sync)
        assert self.content(pushed) == {"A": "cnry-1"}
