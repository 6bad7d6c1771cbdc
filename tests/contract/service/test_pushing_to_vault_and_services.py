"""Connections and syncs to Vault and to another service of this API, through a running service."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from support.canary import Canary
from support.push_house import House
from support.remotes.other_service import OtherFolder
from support.remotes.vault import VERSION_2, VaultPlace
from support.service_fixtures import Client, Project, ServiceProcess, start_service

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
