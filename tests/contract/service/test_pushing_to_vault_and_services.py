"""Connections and syncs to Vault and to another service of this API, through a running service."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any
from uuid import uuid4

import pytest

from support.canary import Canary
from support.push_house import SYNCS, House
from support.remotes.other_service import OtherFolder
from support.remotes.vault import VERSION_2, VaultPlace
from support.service_fixtures import Client, Project, ProjectSecrets, ServiceProcess, start_service
from tools.local.waiting import eventually

only_version_2 = pytest.mark.parametrize("vault_place", [VERSION_2], indirect=True, ids=["version 2"])


@pytest.fixture(scope="session")
def calling_process(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServiceProcess]:
    running = start_service(tmp_path_factory.mktemp("calling") / "data", "--allow-outbound", "127.0.0.0/8")
    yield running
    running.stop()


@pytest.fixture
def service(calling_process: ServiceProcess, canary: Canary) -> ServiceProcess:
    """Return a service that may call loopback; its log is searched for marked values after the test."""
    canary.watch("log of keybearer serve", calling_process.log.read_text)
    return calling_process


@pytest.fixture
def house(admin: Client, project: Project, canary: Canary) -> House:
    return House(admin, project, canary)


def role_of(place: VaultPlace) -> dict[str, str]:
    return place.credentials.model_dump(by_alias=True, exclude_none=True)


def machine_of(folder: OtherFolder) -> dict[str, str]:
    return folder.credentials.model_dump(by_alias=True)


def place_of(place: VaultPlace) -> dict[str, str]:
    return {"mount": f"/{place.config.mount}/", "path": f"{place.config.path}/"}


def folder_of(folder: OtherFolder) -> dict[str, str]:
    return folder.config.model_dump(by_alias=True)


def change(house: House, sync: dict[str, Any], **options: object) -> dict[str, Any]:
    """Change the sync's options, and return it when it has run again."""
    body = {"syncOptions": {"initialSyncBehavior": "overwrite-destination", **options}}
    house.admin.json("PATCH", f"{SYNCS}/{sync['destination']}/{sync['id']}", json=body)
    return house.ended(sync, "succeeded", after=sync["lastSyncJobId"])


def remove(house: House, sync: dict[str, Any], *, secrets: bool) -> None:
    """Delete the sync, and return when it is gone."""
    path = f"{SYNCS}/{sync['destination']}/{sync['id']}"
    house.admin.json("DELETE", path, params={"removeSecrets": json.dumps(secrets)})
    eventually(lambda: house.admin.get(path).status_code == 404, awaited="the end of the sync")


@only_version_2
def test_connections_to_vault_are_proved_and_show_what_is_not_secret(
    house: House, vault_place: VaultPlace
) -> None:
    role = role_of(vault_place)
    shown = house.connect("hashicorp-vault", "app-role", role)["credentials"]
    assert shown == {"instanceUrl": role["instanceUrl"], "roleId": role["roleId"]}
    token = vault_place.token.model_dump(by_alias=True, exclude_none=True)
    shown = house.connect("hashicorp-vault", "access-token", token)["credentials"]
    assert shown == {"instanceUrl": token["instanceUrl"]}
    for method, wrong in (
        ("app-role", {**role, "secretId": "cnry-wrong"}),
        ("access-token", {**token, "accessToken": "cnry-wrong"}),
    ):
        refused = house.connect("hashicorp-vault", method, wrong, status=400)
        assert "Vault" in refused["message"]
    house.connect("hashicorp-vault", "access-token", role, status=422)


def test_connections_to_another_service_are_proved_and_show_what_is_not_secret(
    house: House, other_folder: OtherFolder
) -> None:
    given = machine_of(other_folder)
    shown = house.connect("external-infisical", "machine-identity", given)["credentials"]
    assert shown == {name: given[name] for name in ("instanceUrl", "machineIdentityClientId")}
    wrong = {**given, "machineIdentityClientSecret": "cnry-wrong"}
    assert (
        "UnauthorizedError"
        in house.connect("external-infisical", "machine-identity", wrong, status=400)["message"]
    )
    away = {**given, "instanceUrl": "http://10.1.2.3"}
    assert house.connect("external-infisical", "machine-identity", away, status=400)["message"]


def test_secrets_follow_their_source_to_vault(
    house: House, secrets: ProjectSecrets, vault_place: VaultPlace
) -> None:
    foreign = {"FOREIGN": "cnry-f", "number": 5, "APP_OTHERS": "cnry-s"}
    vault_place.put(foreign)
    secrets.create("ONE", "cnry-1")
    secrets.create("TWO", "cnry-2")
    connection = house.connect("hashicorp-vault", "app-role", role_of(vault_place))
    sync = house.sync("hashicorp-vault", connection, place_of(vault_place), keySchema="APP_{{secretKey}}")
    assert sync["destinationConfig"] == vault_place.config.model_dump(by_alias=True)
    done = house.ended(sync, "succeeded")
    assert vault_place.values == {**foreign, "APP_ONE": "cnry-1", "APP_TWO": "cnry-2"}
    mark = vault_place.proxy.mark()
    secrets.update("TWO", secretValue="cnry-new")
    done = house.ended(sync, "succeeded", after=done["lastSyncJobId"])
    assert vault_place.values == {**foreign, "APP_ONE": "cnry-1", "APP_TWO": "cnry-new"}
    assert vault_place.writes(since=mark) == ["POST"]
    assert len(vault_place.proxy.requests(since=mark)) == 3
    secrets.delete("ONE")
    house.ended(sync, "succeeded", after=done["lastSyncJobId"])
    assert vault_place.values == {**foreign, "APP_TWO": "cnry-new"}
    remove(house, sync, secrets=True)
    assert vault_place.values == foreign


def test_a_run_by_hand_with_nothing_to_do_writes_nothing_to_vault(
    house: House, secrets: ProjectSecrets, vault_place: VaultPlace
) -> None:
    secrets.create("ONE", "cnry-1")
    connection = house.connect("hashicorp-vault", "app-role", role_of(vault_place))
    sync = house.sync("hashicorp-vault", connection, place_of(vault_place))
    done = house.ended(sync, "succeeded")
    mark = vault_place.proxy.mark()
    house.admin.json("POST", f"{SYNCS}/hashicorp-vault/{sync['id']}/sync-secrets")
    house.ended(sync, "succeeded", after=done["lastSyncJobId"])
    assert vault_place.writes(since=mark) == []


@only_version_2
def test_what_vault_holds_is_imported_first_if_asked_for(
    house: House, secrets: ProjectSecrets, vault_place: VaultPlace
) -> None:
    vault_place.put({"BOTH": "cnry-theirs", "THEIRS": "cnry-t"})
    secrets.create("BOTH", "cnry-ours")
    secrets.create("OURS", "cnry-o")
    connection = house.connect("hashicorp-vault", "app-role", role_of(vault_place))
    first = "import-prioritize-destination"
    sync = house.sync("hashicorp-vault", connection, place_of(vault_place), initialSyncBehavior=first)
    house.ended(sync, "succeeded")
    everything = {"BOTH": "cnry-theirs", "THEIRS": "cnry-t", "OURS": "cnry-o"}
    assert secrets.values() == vault_place.values == everything
    remove(house, sync, secrets=False)
    assert vault_place.values == everything


@only_version_2
def test_what_vault_refuses_is_told_by_the_sync(
    house: House, secrets: ProjectSecrets, vault_place: VaultPlace
) -> None:
    secrets.create("ONE", "cnry-1")
    connection = house.connect("hashicorp-vault", "app-role", role_of(vault_place))
    nowhere = house.sync("hashicorp-vault", connection, {"mount": "nowhere", "path": "app"})
    assert "no secrets engine at nowhere" in house.ended(nowhere, "failed")["lastSyncMessage"]
    not_ours = {"mount": vault_place.config.mount, "path": f"not-{uuid4()}"}
    elsewhere = house.sync("hashicorp-vault", connection, not_ours)
    assert "policies" in house.ended(elsewhere, "failed")["lastSyncMessage"]


def test_secrets_follow_their_source_to_another_service(
    house: House, secrets: ProjectSecrets, other_folder: OtherFolder
) -> None:
    other_folder.put(STALE="cnry-s")
    secrets.create("ONE", "cnry-1")
    secrets.create("TWO", "cnry-${ONE}")
    connection = house.connect("external-infisical", "machine-identity", machine_of(other_folder))
    sync = house.sync("external-infisical", connection, folder_of(other_folder), disableSecretDeletion=True)
    done = house.ended(sync, "succeeded")
    theirs = {"STALE": "cnry-s"}
    assert other_folder.values == {"ONE": "cnry-1", "TWO": "cnry-cnry-1", **theirs}
    done = change(house, done)
    assert other_folder.values == {"ONE": "cnry-1", "TWO": "cnry-cnry-1", **theirs}
    mark = other_folder.proxy.mark()
    secrets.create("THREE", "cnry-3")
    done = house.ended(sync, "succeeded", after=done["lastSyncJobId"])
    assert len(other_folder.proxy.requests(since=mark)) == 1
    secrets.delete("THREE")
    house.ended(sync, "succeeded", after=done["lastSyncJobId"])
    assert other_folder.values == {"ONE": "cnry-1", "TWO": "cnry-cnry-1", **theirs}
    other_folder.put(FOREIGN="cnry-f")
    remove(house, sync, secrets=True)
    assert other_folder.values == {"FOREIGN": "cnry-f", **theirs}


def test_secrets_of_another_service_are_imported(
    house: House, secrets: ProjectSecrets, other_folder: OtherFolder
) -> None:
    secrets.create("BOTH", "cnry-ours")
    connection = house.connect("external-infisical", "machine-identity", machine_of(other_folder))
    sync = house.sync("external-infisical", connection, folder_of(other_folder))
    house.ended(sync, "succeeded")
    other_folder.secrets.update("BOTH", path=other_folder.path, secretValue="cnry-theirs")
    other_folder.put(THEIRS="cnry-t")
    path = f"{SYNCS}/external-infisical/{sync['id']}"
    for behavior, both in (("prioritize-source", "cnry-ours"), ("prioritize-destination", "cnry-theirs")):
        before = house.admin.json("GET", path)["secretSync"]["lastImportJobId"]
        house.admin.json("POST", f"{path}/import-secrets", params={"importBehavior": behavior})

        def is_imported(before: str | None = before) -> bool:
            found = house.admin.json("GET", path)["secretSync"]
            return (found["importStatus"], found["lastImportJobId"] == before) == ("succeeded", False)

        eventually(is_imported, awaited="the import")
        assert secrets.values() == {"BOTH": both, "THEIRS": "cnry-t"}


def test_a_folder_that_is_not_there_is_told_by_the_sync(
    house: House, secrets: ProjectSecrets, other_folder: OtherFolder
) -> None:
    secrets.create("ONE", "cnry-1")
    connection = house.connect("external-infisical", "machine-identity", machine_of(other_folder))
    config = {**folder_of(other_folder), "secretPath": "/nowhere"}
    sync = house.sync("external-infisical", connection, config)
    assert "there is no such place" in house.ended(sync, "failed")["lastSyncMessage"]
