"""A database that the service of an earlier version left: this one goes on with its syncs and loses nothing."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from support.canary import Canary
from support.databases import OwnDatabase
from support.remotes.other_service import other_folder_of
from support.remotes.vault import VaultServer
from support.service_fixtures import Client, ServiceProcess, start_service
from support.upgrade.database import EMAIL, PASSWORD, OldDatabase, root_key_file, secrets_of
from support.upgrade.place import OldPlace
from support.upgrade.places import OldPlaces, old_places
from tools.local.moto import Moto
from tools.local.postgres import PostgresServer
from tools.local.waiting import eventually

pytestmark = pytest.mark.every_database

# Before names of others were kept: the push ledger had the names that were pushed, and nothing else.
OLD = OldDatabase(Path(__file__).parents[2] / "golden" / "databases" / "7f650ac", "0010")
SYNCS = "/api/v1/secret-syncs"
Json = dict[str, Any]
KEYS = ("CHANGED", "KEPT", "REMOVED", "TEXT", "OTHERS")
LOOKS = ("--sync-look-interval", "30")
"""Looks begin within a tenth of that time."""


@dataclass
class Upgraded:
    """A service of this version over the old database, and the places that it finds.

    Attributes:
        listed_at: when the old service looked at a place last, in milliseconds.
        before: changes at each place before the service of this version was started.
    """

    service: ServiceProcess
    client: Client
    places: OldPlaces
    project: str
    own: OwnDatabase
    listed_at: int
    before: Mapping[str, int]

    def syncs(self) -> dict[str, Json]:
        """Return all syncs by name."""
        found = self.client.json("GET", SYNCS, params={"projectId": self.project})["secretSyncs"]
        return {sync["name"]: sync for sync in found}

    def is_at_rest(self, *names: str) -> bool:
        """Return whether nothing waits or runs for these syncs, and their places were looked at."""
        named = ", ".join(f"'{name}'" for name in names)
        chosen = f"SELECT id FROM secret_syncs WHERE name IN ({named})"  # noqa: S608 - our own names
        jobs = f"SELECT COUNT(*) FROM sync_jobs WHERE sync_id IN ({chosen})"  # noqa: S608 - as above
        looked = f"{chosen} AND listed_at > {self.listed_at}"
        count = f"SELECT ({jobs}), (SELECT COUNT(*) FROM ({looked}) AS looked)"  # noqa: S608 - as above
        return self.own.execute(self.service.data_dir, count).strip() == f"0|{len(names)}"

    def push(self, name: str) -> Json:
        """Ask for a push, and return the sync when it has ended well."""
        sync = self.syncs()[name]
        self.client.json("POST", f"{SYNCS}/{sync['destination']}/{sync['id']}/sync-secrets")
        return self.pushed(name, after=sync["lastSyncJobId"])

    def pushed(self, name: str, *, after: str | None) -> Json:
        """Return the sync when another push than that has succeeded."""

        def probe() -> Json | None:
            sync = self.syncs()[name]
            return sync if sync["syncStatus"] == "succeeded" and sync["lastSyncJobId"] != after else None

        return eventually(
            probe, awaited=f"a push of {name}", told=lambda: str(self.syncs()[name]["lastSyncMessage"])
        )

    def change(self, method: str, folder: str, key: str, **values: str) -> None:
        """Change or delete a secret of a folder, and return when that is pushed."""
        after = self.syncs()[folder]["lastSyncJobId"]
        place = {"projectId": self.project, "environment": "dev", "secretPath": f"/{folder}"}
        self.client.json(method, f"/api/v4/secrets/{key}", json={**place, **values})
        self.pushed(folder, after=after)


@pytest.fixture(scope="module")
def old(database_kind: str, request: pytest.FixtureRequest) -> Iterator[OwnDatabase]:
    """Yield a database without tables."""
    if database_kind == "sqlite":
        yield OwnDatabase()
        return
    server: PostgresServer = request.getfixturevalue("postgres")
    name = server.create(empty=True)
    yield OwnDatabase(server, name)
    server.drop(name)


@pytest.fixture(scope="module")
def started(
    old: OwnDatabase,
    tmp_path_factory: pytest.TempPathFactory,
    moto: Moto,
    vault_server: VaultServer,
    other_service: ServiceProcess,
) -> Iterator[Upgraded]:
    """Yield the service of this version over what the old one left."""
    directory, left = tmp_path_factory.mktemp("upgrade"), OLD.left
    data_dir, root_key = directory / "data", root_key_file(directory)
    with (
        other_folder_of(other_service) as folder,
        old_places(directory, moto, vault_server, folder) as places,
    ):
        places.gcp.impersonators, places.gcp.rights = {left["gcp"]: set(places.gcp.keys)}, {left["gcp"]}
        for place in places.all:
            place.restore(left["places"][place.title])
        OLD.load(old, data_dir)
        OLD.move(old, data_dir, root_key, places.all)
        # However long ago it was written: the old service has not looked for hours.
        old.execute(data_dir, "UPDATE secret_syncs SET listed_at = listed_at - 86400000")
        before = {place.title: place.changes() for place in places.all}
        listed_at = int(old.execute(data_dir, "SELECT MAX(listed_at) FROM secret_syncs"))
        flags = ("--root-key-file", str(root_key), "--sync-start-delay", "0", *LOOKS, *places.flags)
        service = start_service(data_dir, *flags, database_url=old.url)
        login = {"email": EMAIL, "password": PASSWORD}
        token = service.client().json("POST", "/api/v3/auth/login", json=login)["accessToken"]
        client = service.client(token)
        (project,) = client.json("GET", "/api/v1/projects")["projects"]
        yield Upgraded(service, client, places, project["id"], old, listed_at, before)
        assert service.stop() == 0


@pytest.fixture
def upgraded(started: Upgraded, canary: Canary) -> Upgraded:
    """Return that service; its log is searched for values after the test."""
    canary.watch("log of keybearer serve", started.service.log.read_text)
    return started


def left_at(place: OldPlace, **changed: str | None) -> Json:
    """Return what the old service left at a place, but for changes of keys; None: one is gone."""
    found = dict(OLD.left["values"][place.title])
    for key, value in changed.items():
        del found[place.name_of(key)]
        if value is not None:
            found[place.name_of(key)] = value
    return found


def test_syncs_go_on_and_the_upgrade_writes_and_removes_nothing(upgraded: Upgraded) -> None:
    places = upgraded.places.places
    eventually(lambda: upgraded.is_at_rest(*places), awaited="a look at each place")
    for title, place in places.items():
        assert set(left_at(place)) >= {place.name_of(key) for key in KEYS}, title
        told = upgraded.push(title)["lastSyncMessage"]
        assert (place.changes(), place.values()) == (upgraded.before[title], left_at(place)), title
        assert "1 secret at the destination came from elsewhere" in str(told), title
        # A run of this version trusts the ledger now: one changed key is one request, one removed key another.
        upgraded.change("PATCH", title, "CHANGED", secretValue=f"cnry-third-{title}")
        third = f"cnry-third-{title}"
        assert place.values() == left_at(place, CHANGED=third), title
        assert place.changes() == upgraded.before[title] + 1, title
        upgraded.change("DELETE", title, "REMOVED")
        assert place.values() == left_at(place, CHANGED=third, REMOVED=None), title
        assert place.changes() == upgraded.before[title] + 2, title


def test_a_push_while_which_the_old_service_was_killed_is_gone_on_with(upgraded: Upgraded) -> None:
    place = upgraded.places.killed
    assert len(left_at(place)) == 3
    upgraded.pushed("killed", after=None)
    assert place.values() == secrets_of(place)
    puts = upgraded.places.codehost.visits.lines("PUT")
    for name in secrets_of(place):
        assert sum(line.endswith(f"/killed/actions/secrets/{name}") for line in puts) <= 1, name


@pytest.mark.parametrize("title", ["failed", "stuck"])
def test_a_push_that_the_old_service_gave_up_is_tried_without_anybodys_help(
    upgraded: Upgraded, title: str
) -> None:
    (place,) = (one for one in upgraded.places.all if one.title == title)
    eventually(lambda: upgraded.syncs()[title]["syncStatus"] == "succeeded", awaited=f"a push of {title}")
    assert place.values() == secrets_of(place)
