"""The package of docs/destinations.md: built, installed, named to a running service, and pushed to."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from aiohttp import web

from keybearer.controllers.appconnection.desired import kind_of
from keybearer.controllers.appconnection.resource import AppConnectionSpec
from keybearer.destinations.shipped import catalogue_with
from support.canary import Canary
from support.push_house import House
from support.remotes.beside import served_beside
from support.remotes.serving import Visits
from support.service_fixtures import Client, ProjectSecrets, ServiceProcess, start_service
from support.shipped_package import ACME, install_acme
from tools.local.waiting import PATIENCE_SECONDS

_TOKEN = "cnry-acme-token"


class Acme:
    """The store that the package of the page writes to."""

    def __init__(self) -> None:
        self.visits = Visits()
        self.url = ""
        self.vault = {"FOREIGN": "cnry-foreign"}

    def routes(self) -> list[web.RouteDef]:
        return [
            web.get("/v1/vaults", self._vaults),
            web.get("/v1/vaults/shop/secrets", self._list),
            web.put("/v1/vaults/shop/secrets/{name}", self._put),
            web.delete("/v1/vaults/shop/secrets/{name}", self._delete),
        ]

    async def _vaults(self, request: web.Request) -> web.Response:
        _require_token(request)
        return web.json_response(["shop"])

    async def _list(self, request: web.Request) -> web.Response:
        _require_token(request)
        return web.json_response([{"name": name, "value": value} for name, value in self.vault.items()])

    async def _put(self, request: web.Request) -> web.Response:
        _require_token(request)
        self.vault[request.match_info["name"]] = (await request.json())["value"]
        return web.Response(status=204)

    async def _delete(self, request: web.Request) -> web.Response:
        _require_token(request)
        return web.Response(status=204 if self.vault.pop(request.match_info["name"], None) else 404)


def _require_token(request: web.Request) -> None:
    if request.headers.get("Authorization") != f"Bearer {_TOKEN}":
        raise web.HTTPUnauthorized


@pytest.fixture(scope="module")
def packages(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return where the package of the page is installed."""
    return install_acme(tmp_path_factory.mktemp("acme"))


@pytest.fixture
def acme() -> Iterator[Acme]:
    """Return the store, served."""
    store = Acme()
    with served_beside(store):
        yield store


@pytest.fixture
def started(tmp_path: Path, packages: Path, acme: Acme, canary: Canary) -> Iterator[ServiceProcess]:
    """Return a service that was told of the package."""
    service = start_service(
        tmp_path / "data",
        *("--destinations-from", ACME, "--app-endpoint", f"acme={acme.url}", "--sync-start-delay", "0"),
        environment={"PYTHONPATH": str(packages)},
        anew=True,
    )
    canary.watch("log of keybearer serve", service.log.read_text)
    yield service
    service.stop()


@pytest.fixture
def admin(started: ServiceProcess) -> Iterator[Client]:
    """Return the admin's client; the shapes of the interface know nothing of destinations of others."""
    headers = {"authorization": f"Bearer {started.login(started.admin)}"}
    with Client(base_url=started.url, headers=headers, timeout=PATIENCE_SECONDS, trust_env=False) as client:
        yield client


def test_a_service_that_is_told_of_a_package_offers_its_destination_and_pushes_to_it(
    started: ServiceProcess, admin: Client, acme: Acme, canary: Canary
) -> None:
    options = admin.json("GET", "/api/v1/secret-syncs/options")["secretSyncOptions"]
    assert len(options) == 49
    assert {
        "name": "Acme",
        "connection": "acme",
        "destination": "acme",
        "canImportSecrets": True,
        "canRemoveSecretsOnDeletion": True,
    } in options
    described = admin.json("GET", "/api/docs/json")
    assert {"/api/v1/secret-syncs/acme", "/api/v1/app-connections/acme"} <= described["paths"].keys()
    (word, _) = described["paths"]["/api/v1/secret-syncs/{destination}/{sync_id}"]["get"]["parameters"]
    assert (word["name"], word["schema"]["enum"][-1]) == ("destination", "acme")

    project = started.create_project()
    house = House(admin, project, canary)
    assert "Acme" in str(house.connect("acme", "token", {"token": "cnry-wrong"}, status=400))
    connection = house.connect("acme", "token", {"token": _TOKEN})
    assert connection["credentials"] == {}
    started.create_secret(project, "A", "cnry-a")
    sync = house.sync("acme", connection, {"vault": "shop"})
    ended = house.ended(sync, "succeeded")
    assert acme.vault == {"FOREIGN": "cnry-foreign", "A": "cnry-a"}
    ProjectSecrets(started.admin_client(), project).delete("A")
    house.ended(sync, "succeeded", after=ended["lastSyncJobId"])
    assert acme.vault == {"FOREIGN": "cnry-foreign"}
    assert "destinations_loaded" in started.log.read_text()


def test_a_service_that_is_not_told_of_a_package_knows_nothing_of_it(tmp_path: Path, packages: Path) -> None:
    service = start_service(tmp_path / "data", environment={"PYTHONPATH": str(packages)}, anew=True)
    try:
        assert (
            len(service.admin_client().json("GET", "/api/v1/secret-syncs/options")["secretSyncOptions"]) == 48
        )
        service.admin_client().json("GET", "/api/v1/app-connections/acme", status=404)
    finally:
        service.stop()


def test_the_operator_judges_manifests_by_what_the_package_says(
    packages: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(packages)
    spec = AppConnectionSpec.model_validate(
        {
            "identityRef": {"name": "identity"},
            "app": "acme",
            "method": "token",
            "credentials": {"token": {"valueFrom": {"secretKeyRef": {"name": "acme", "key": "token"}}}},
        }
    )
    catalogue = catalogue_with([ACME])
    sys.modules.pop("acme_for_keybearer")
    app = catalogue.app("acme")
    assert app is not None
    assert kind_of(spec, catalogue).model is app.methods["token"]
