"""Connections and syncs to Google's Secret Manager and to a vault of Azure through a running service, with copies."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass

import pytest

from support.canary import Canary
from support.push_house import SYNCS, House
from support.remotes.azure import AzureCopy
from support.remotes.beside import served_beside
from support.remotes.gcp import GcpCopy, new_key
from support.service_fixtures import Client, Project, ProjectSecrets, Service, ServiceProcess, start_service
from tools.local.waiting import eventually

OWN = "keybearer@ops.iam.gserviceaccount.com"
TENANT = "11111111-2222-4333-8444-555555555555"
CLIENT = "66666666-7777-4888-8999-aaaaaaaaaaaa"
SHOP = "projects/shop"


@dataclass
class Remotes:
    """Both copies."""

    gcp: GcpCopy
    azure: AzureCopy


@pytest.fixture(scope="module")
def started(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Remotes, ServiceProcess]]:
    remotes = Remotes(GcpCopy(), AzureCopy())
    home = tmp_path_factory.mktemp("pushing")
    key, remotes.gcp.keys[OWN] = new_key()
    own = home / "own.json"
    own.write_text(json.dumps({"type": "service_account", "client_email": OWN, "private_key": key}))
    remotes.azure.clients = {f"{TENANT}/{CLIENT}": "cnry-secret"}
    remotes.azure.rights = set(remotes.azure.clients)
    with served_beside(remotes.gcp), served_beside(remotes.azure):
        running = start_service(
            home / "data",
            *("--app-endpoint", f"gcp={remotes.gcp.url}", "--app-credentials", f"gcp={own}"),
            *("--app-endpoint", f"azure-key-vault={remotes.azure.url}", "--allow-outbound", "127.0.0.0/8"),
        )
        yield remotes, running
        running.stop()


@pytest.fixture
def remotes(started: tuple[Remotes, ServiceProcess]) -> Remotes:
    started[0].azure.secrets.clear()
    started[0].azure.deleted.clear()
    return started[0]


@pytest.fixture
def service(started: tuple[Remotes, ServiceProcess], canary: Canary) -> ServiceProcess:
    """Return a service that calls the copies; its log is searched for marked values after the test."""
    canary.watch("log of keybearer serve", started[1].log.read_text)
    return started[1]


@pytest.fixture
def house(admin: Client, project: Project, canary: Canary) -> House:
    return House(admin, project, canary)


def test_secrets_follow_their_source_to_google(
    house: House, secrets: ProjectSecrets, remotes: Remotes, service: Service
) -> None:
    suffix = "-".join(service.organization_id.split("-")[:2])
    method, email = "service-account-impersonation", f"syncs-{suffix}@shop.iam.gserviceaccount.com"
    remotes.gcp.impersonators = {email: {OWN}, "others@shop.iam.gserviceaccount.com": {OWN}}
    remotes.gcp.rights, remotes.gcp.projects = {email}, {SHOP: {}}
    other = {"serviceAccountEmail": "others@shop.iam.gserviceaccount.com"}
    assert f"has to end with {suffix}" in house.connect("gcp", method, other, status=400)["message"]
    connection = house.connect("gcp", method, {"serviceAccountEmail": email})
    assert connection["credentials"] == {}
    secrets.create("ONE", "cnry-1")
    secrets.create("TWO", "cnry-2")
    config = {"scope": "global", "projectId": "shop"}
    sync = house.sync("gcp-secret-manager", connection, config)
    assert sync["destinationConfig"] == config
    done = house.ended(sync, "succeeded")
    assert remotes.gcp.values(SHOP) == {"ONE": "cnry-1", "TWO": "cnry-2"}
    remotes.gcp.visits.asked.clear()
    secrets.update("TWO", secretValue="cnry-new")
    done = house.ended(sync, "succeeded", after=done["lastSyncJobId"])
    assert remotes.gcp.visits.lines() == [f"POST /v1/{SHOP}/secrets/TWO:addVersion"]
    secrets.delete("ONE")
    house.ended(sync, "succeeded", after=done["lastSyncJobId"])
    assert remotes.gcp.values(SHOP) == {"TWO": "cnry-new"}


def test_secrets_follow_their_source_to_a_vault_of_azure_and_come_back(
    house: House, secrets: ProjectSecrets, remotes: Remotes
) -> None:
    vault = remotes.azure
    vault.put("db-password", "cnry-there")
    vault.put("OTHER", "cnry-other")
    method, wrong = (
        "client-secret",
        {"tenantId": TENANT, "clientId": CLIENT, "clientSecret": "cnry-wrong"},
    )
    assert "AADSTS7000215" in house.connect("azure-key-vault", method, wrong, status=400)["message"]
    connection = house.connect("azure-key-vault", method, {**wrong, "clientSecret": "cnry-secret"})
    assert connection["credentials"] == {"tenantId": TENANT, "clientId": CLIENT}
    for method in ("oauth", "certificate"):
        house.connect("azure-key-vault", method, {"code": "cnry-code"}, status=422)
    secrets.create("DB_PASSWORD", "cnry-here")
    sync = house.sync(
        "azure-key-vault",
        connection,
        {"vaultBaseUrl": vault.url},
        initialSyncBehavior="import-prioritize-source",
    )
    house.ended(sync, "succeeded")
    # What is the same for the vault is one secret, not two.
    assert secrets.values() == {"DB_PASSWORD": "cnry-here", "OTHER": "cnry-other"}
    assert vault.values() == {"db-password": "cnry-here", "OTHER": "cnry-other"}
    # By what is there: the import has changed the folder, so a run that ends may not be of the latest change.
    secrets.delete("OTHER")
    eventually(lambda: vault.values() == {"db-password": "cnry-here"}, awaited="an end of OTHER")
    secrets.create("OTHER", "cnry-again")
    everything = {"db-password": "cnry-here", "OTHER": "cnry-again"}
    eventually(lambda: vault.values() == everything, awaited="OTHER again")


def test_an_import_before_any_push_finds_the_secrets_of_the_source(
    house: House, secrets: ProjectSecrets, remotes: Remotes, admin: Client
) -> None:
    vault = remotes.azure
    vault.put("api-key", "cnry-there")
    given = {"tenantId": TENANT, "clientId": CLIENT, "clientSecret": "cnry-secret"}
    connection = house.connect("azure-key-vault", "client-secret", given)
    secrets.create("API_KEY", "cnry-here")
    body = {
        "name": "imports",
        "projectId": house.project.id,
        "connectionId": connection["id"],
        "environment": "dev",
        "secretPath": "/",
        "syncOptions": {"initialSyncBehavior": "overwrite-destination"},
        "destinationConfig": {"vaultBaseUrl": vault.url},
        "isAutoSyncEnabled": False,
    }
    sync = admin.json("POST", f"{SYNCS}/azure-key-vault", json=body)["secretSync"]
    path = f"{SYNCS}/azure-key-vault/{sync['id']}/import-secrets"
    admin.json("POST", f"{path}?importBehavior=prioritize-destination")
    house.ended(sync, "succeeded", kind="Import")
    assert secrets.values()["API_KEY"] == "cnry-there"
    assert "api-key" not in secrets.values()
