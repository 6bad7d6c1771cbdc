"""Writes what a service of an earlier version leaves: its database with syncs, and what the places hold then.

    git archive 7f650ac | tar -x -C /tmp/earlier
    PYTHONPATH=tests:. .venv/bin/python -m support.upgrade.write /tmp/earlier tests/golden/databases/7f650ac

The service is that of the checkout, in a process of its own and asked by HTTP alone. Nothing of today's code touches
the database. Its root key is made from a sentence, so that no key lies in the repository.
"""

from __future__ import annotations

import json
import os
import sqlite3
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import httpx
from aiohttp import web

from support.remotes.other_service import other_folder_of
from support.remotes.vault import vault_running
from support.service_fixtures import start_service
from support.upgrade.database import EMAIL, PASSWORD, root_key_file, secrets_of
from support.upgrade.place import OldPlace
from support.upgrade.places import OldPlaces, old_places
from tools.local.moto import Moto
from tools.local.waiting import PATIENCE_SECONDS, eventually

__all__ = ["main"]

Json = dict[str, Any]
_SYNCS = "/api/v1/secret-syncs"
_PROGRAM = "from keybearer.cli.main import app; app()"


def main() -> None:
    """Run the old service, and write `database.sql` and `places.json` into the folder."""
    checkout, into = (Path(argument).absolute() for argument in sys.argv[1:3])
    with tempfile.TemporaryDirectory() as made:
        scratch = Path(made)
        other = start_service(scratch / "other")
        moto = Moto()
        try:
            with (
                vault_running(scratch) as vault,
                other_folder_of(other) as folder,
                old_places(scratch, moto, vault, folder) as places,
            ):
                held = _push(checkout, scratch, places)
        finally:
            moto.close()
            other.stop()
        into.mkdir(parents=True, exist_ok=True)
        with closing(sqlite3.connect(scratch / "data" / "keybearer.db")) as connection:
            dump = "\n".join(connection.iterdump()) + "\n"
        assert "cnry-" not in dump, "the old service kept a value as it is"
        (into / "database.sql").write_text(dump)
        (into / "places.json").write_text(json.dumps(held, indent=1, sort_keys=True) + "\n")


def _push(checkout: Path, scratch: Path, places: OldPlaces) -> Json:
    """Have the old service push to all places, and return what they hold when it was killed."""
    with _old_service(checkout, scratch, places) as (client, process):
        organization = _begin(client, scratch)
        suffix = "-".join(organization.split("-")[:2])
        email = f"syncs-{suffix}@shop.iam.gserviceaccount.com"
        places.gcp.impersonators, places.gcp.rights = {email: set(places.gcp.keys)}, {email}
        project = client.post("/api/v1/projects", json={"projectName": "shop", "slug": "shop-of-old"})
        house = _House(client, _read(project)["project"]["id"], {"gcp": {"serviceAccountEmail": email}})
        syncs = {place.title: house.sync(place) for place in places.places.values()}
        for sync in syncs.values():
            house.ended(sync)
        _leave_names_of_a_former_schema(house, places, syncs["gitlab"])
        for title, sync in syncs.items():
            before = house.get(sync)["lastSyncJobId"]
            house.write(title, "CHANGED", f"cnry-second-{title}", method="PATCH")
            house.ended(sync, after=before)
        for place in places.places.values():
            # What others write when a push has ended, that version leaves alone: it removes what was there before.
            place.put(place.name_of("OTHERS"), f"cnry-others-{place.title}")
        stuck = house.ended(house.sync(places.stuck))
        places.gitlab.visits.answer_instead("GET", "failed|stuck", lambda: web.Response(status=502), times=-1)
        house.ended(house.sync(places.failed), "failed")
        house.push(stuck)
        house.ended(stuck, "failed")
        _kill_at(3, places, process.kill)
        house.sync(places.killed)
        process.wait(PATIENCE_SECONDS)
        return {
            "gcp": email,
            "places": {place.title: place.left() for place in places.all},
            "values": {place.title: dict(place.values()) for place in places.all},
        }


def _leave_names_of_a_former_schema(house: _House, places: OldPlaces, sync: Json) -> None:
    before = house.get(sync)["lastSyncJobId"]
    options = {"initialSyncBehavior": "overwrite-destination", "keySchema": "OLD_{{secretKey}}"}
    house.patch(sync, options)
    done = house.ended(sync, after=before)
    house.patch(sync, {**options, **places.places["gitlab"].options})
    house.ended(sync, after=done["lastSyncJobId"])


def _kill_at(number: int, places: OldPlaces, kill: Callable[[], None]) -> None:
    """Kill the old service when so many names have arrived, before it hears of the last one."""

    class Held(dict[str, Any]):
        def __setitem__(self, name: str, secret: object) -> None:
            super().__setitem__(name, secret)
            if len(self) == number:
                kill()

    places.codehost.repository("acme", "killed").secrets = Held()


class _House:
    """A project, and what is asked of the old service in it."""

    def __init__(self, client: httpx.Client, project: str, credentials: Json) -> None:
        self._client = client
        self._project = project
        self._credentials = credentials

    def sync(self, place: OldPlace) -> Json:
        """Return a new sync of a new folder with secrets."""
        body = {"projectId": self._project, "environment": "dev", "name": place.title, "path": "/"}
        _read(self._client.post("/api/v2/folders", json=body))
        for key, value in secrets_of(place).items():
            self.write(place.title, key, value)
        connection = {
            "name": place.title,
            "method": place.method,
            "credentials": self._credentials.get(place.app, place.credentials),
        }
        made = _read(self._client.post(f"/api/v1/app-connections/{place.app}", json=connection))
        new = {
            "name": place.title,
            "projectId": self._project,
            "connectionId": made["appConnection"]["id"],
            "environment": "dev",
            "secretPath": f"/{place.title}",
            "syncOptions": {"initialSyncBehavior": "overwrite-destination", **place.options},
            "destinationConfig": place.config,
        }
        sync: Json = _read(self._client.post(f"{_SYNCS}/{place.destination}", json=new))["secretSync"]
        return sync

    def write(self, folder: str, key: str, value: str, *, method: str = "POST") -> None:
        body = {"projectId": self._project, "environment": "dev", "secretPath": f"/{folder}"}
        _read(self._client.request(method, f"/api/v4/secrets/{key}", json={**body, "secretValue": value}))

    def patch(self, sync: Json, options: Json) -> None:
        _read(self._client.patch(_path(sync), json={"syncOptions": options}))

    def push(self, sync: Json) -> None:
        _read(self._client.post(f"{_path(sync)}/sync-secrets"))

    def get(self, sync: Json) -> Json:
        found: Json = _read(self._client.get(_path(sync)))["secretSync"]
        return found

    def ended(self, sync: Json, status: str = "succeeded", *, after: str | None = None) -> Json:
        """Return the sync when its last push has this status."""

        def probe() -> Json | None:
            found = self.get(sync)
            return found if found["syncStatus"] == status and found["lastSyncJobId"] != after else None

        return eventually(probe, awaited=f"a push of {sync['name']} that {status}")


def _path(sync: Json) -> str:
    return f"{_SYNCS}/{sync['destination']}/{sync['id']}"


def _begin(client: httpx.Client, scratch: Path) -> str:
    """Log in, make the person that later versions log in as, and return the id of the organization."""
    admin = json.loads((scratch / "data" / "admin.json").read_text())
    body = {"clientId": admin["clientId"], "clientSecret": admin["clientSecret"]}
    token = _read(client.post("/api/v1/auth/universal-auth/login", json=body))["accessToken"]
    client.headers["authorization"] = f"Bearer {token}"
    person = {"email": EMAIL, "password": PASSWORD, "role": "admin"}
    _read(client.post("/api/v1/users", json=person))
    return str(admin["organizationId"])


def _read(answer: httpx.Response) -> Any:  # noqa: ANN401 - JSON
    assert answer.status_code == 200, f"{answer.request.url}: {answer.status_code}: {answer.text}"
    return answer.json()


@contextmanager
def _old_service(
    checkout: Path, scratch: Path, places: OldPlaces
) -> Iterator[tuple[httpx.Client, subprocess.Popen[str]]]:
    """Yield a client of the service of the checkout, and its process, which a test may have ended."""
    operator = checkout / "operator"
    flags = ["--data-dir", str(scratch / "data"), "--root-key-file", str(root_key_file(scratch))]
    flags += [
        "--listen",
        "127.0.0.1:0",
        "--sync-start-delay",
        "0",
        "--sync-retry-delay",
        "0.1",
        *places.flags,
    ]
    with (scratch / "old.log").open("w") as log:
        process = subprocess.Popen(
            [sys.executable, "-c", _PROGRAM, "serve", *flags],
            stdout=subprocess.PIPE,
            stderr=log,
            text=True,
            env={**os.environ, "PYTHONPATH": str(operator)},  # noqa: TID251 - it needs PATH and HOME
        )
    assert process.stdout is not None
    try:
        line = process.stdout.readline()
        assert line, (scratch / "old.log").read_text()
        with httpx.Client(
            base_url=json.loads(line)["url"], timeout=PATIENCE_SECONDS, trust_env=False
        ) as client:
            yield client, process
    finally:
        process.kill()
        process.communicate()


if __name__ == "__main__":
    main()
