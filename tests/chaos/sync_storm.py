"""Kills the service again and again while it runs secret syncs, and holds every remote to its source.

`PYTHONPATH=tests:. python -m chaos.sync_storm --syncs 200 --connections 5 --kills 50` runs the whole storm and prints
a report as JSON; its status is 1 when anything was wrong. `--seed` repeats an earlier one, as far as processes do.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import random
import secrets
import sys
import tempfile
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx

from support.databases import OwnDatabase
from support.service_fixtures import Client, Project, Service, ServiceProcess, start_service
from tools.local.parameter_store import ParameterStoreServer
from tools.local.waiting import PATIENCE_SECONDS, NotInTimeError, eventually

__all__ = ["SyncStorm", "SyncStormOptions", "SyncStormReport", "main"]

_SYNCS = "/api/v1/secret-syncs/cloud-parameter-store"
_LATENCY_SECONDS = 0.02
_LIFE_CALLS = (1, 40)
"""Of a service, counted in calls of the remote: from the first job it takes up to the middle of new ones."""
_LIFE_SECONDS = 6.0
_AT_ONCE = 10
"""Folders that one burst of changes meets."""


@dataclass(frozen=True, slots=True)
class SyncStormOptions:
    """How long and how hard.

    Attributes:
        syncs: each of a folder of its own, to a path of its own.
        connections: that they share.
        kills: of the service, by SIGKILL.
        keys: of each folder.
        seed: of all that is random.
        settle_seconds: how long everything may take to be right after the last start.
    """

    syncs: int = 200
    connections: int = 5
    kills: int = 50
    keys: int = 5
    seed: int = 0
    settle_seconds: float = 1.8 * PATIENCE_SECONDS


@dataclass(slots=True)
class SyncStormReport:
    """What happened.

    Attributes:
        kills_in_runs: kills that cut off at least one run.
        runs_cut_off: how many runs that were, all in all.
        settled_seconds: from the last start until every remote held its source.
        changes: of secrets, those that were answered.
        calls: of the remote, by operation.
        violations: what was wrong.
    """

    options: SyncStormOptions
    kills_in_runs: int = 0
    runs_cut_off: int = 0
    settled_seconds: float = 0.0
    total_seconds: float = 0.0
    changes: int = 0
    calls: dict[str, int] = field(default_factory=dict)
    violations: list[str] = field(default_factory=list)


class SyncStorm:
    """One storm, in a directory of its own.

    Args:
        options: how hard.
        directory: where the service keeps its data and its log.
        database: what it serves from.
    """

    def __init__(
        self, options: SyncStormOptions, directory: Path, database: OwnDatabase | None = None
    ) -> None:
        self._options = options
        self._directory = directory
        self._database = database or OwnDatabase()
        self._random = random.Random(options.seed)  # noqa: S311 - repeatable, not secret
        self._syncs: list[str] = []
        self._token = ""
        self._report = SyncStormReport(options)

    def run(self) -> SyncStormReport:
        """Return what happened."""
        started = time.monotonic()
        with ParameterStoreServer(_LATENCY_SECONDS) as store:
            service = self._start(store)
            project = service.create_project()
            self._set_up(service, project)
            for _ in range(self._options.kills):
                self._rage(service, project, store)
                self._count_running()
                service = self._start(store)
            restarted = time.monotonic()
            self._settle(service, project, store)
            self._report.settled_seconds = round(time.monotonic() - restarted, 1)
            self._judge(store)
            service.stop()
            self._report.calls = dict(store.calls)
        self._report.total_seconds = round(time.monotonic() - started, 1)
        return self._report

    def _start(self, store: ParameterStoreServer) -> ServiceProcess:
        service = start_service(
            self._directory / "data",
            "--app-endpoint",
            f"cloud={store.url}",
            "--sync-start-delay",
            "0",
            "--sync-retry-delay",
            "0.1",
            database_url=self._database.url,
        )
        self._token = self._token or service.login(service.admin)
        return service

    def _admin(self, service: Service) -> Client:
        return service.client(self._token)

    def _set_up(self, service: Service, project: Project) -> None:
        admin = self._admin(service)
        connections = [
            admin.json(
                "POST",
                "/api/v1/app-connections/cloud",
                json={
                    "name": f"connection-{number}",
                    "method": "access-key",
                    "projectId": project.id,
                    "credentials": {
                        "accessKeyId": f"AKIA{number:016d}",
                        "secretAccessKey": f"cnry-key-{number}",
                    },
                },
            )["appConnection"]["id"]
            for number in range(self._options.connections)
        ]
        for number in range(self._options.syncs):
            body = {"projectId": project.id, "environment": "dev", "name": f"f{number}", "path": "/"}
            admin.json("POST", "/api/v2/folders", json=body)
            new = [
                {"secretKey": f"K{key}", "secretValue": self._value()} for key in range(self._options.keys)
            ]
            admin.json("POST", "/api/v4/secrets/batch", json={**_place(project, number), "secrets": new})
            sync = {
                "name": f"sync-{number}",
                "projectId": project.id,
                "connectionId": connections[number % len(connections)],
                "environment": "dev",
                "secretPath": f"/f{number}",
                "syncOptions": {"initialSyncBehavior": "overwrite-destination"},
                "destinationConfig": {"region": "eu-west-1", "path": f"/s{number}/"},
            }
            self._syncs.append(admin.json("POST", _SYNCS, json=sync)["secretSync"]["id"])

    def _rage(self, service: ServiceProcess, project: Project, store: ParameterStoreServer) -> None:
        """Change secrets without pause until the service is killed, at any moment of its runs."""
        over = threading.Event()
        changer = threading.Thread(
            target=self._change,
            args=(service, project, over, random.Random(self._random.random())),  # noqa: S311
        )
        changer.start()
        last_call = store.calls.total() + self._random.randint(*_LIFE_CALLS)
        deadline = time.monotonic() + _LIFE_SECONDS
        while store.calls.total() < last_call and time.monotonic() < deadline:
            time.sleep(_LATENCY_SECONDS / 10)
        service.process.kill()
        over.set()
        changer.join()
        service.kill()

    def _change(self, service: Service, project: Project, over: threading.Event, rng: random.Random) -> None:
        admin = self._admin(service)
        while not over.is_set():
            for number in rng.sample(range(self._options.syncs), min(_AT_ONCE, self._options.syncs)):
                key, place = f"K{rng.randrange(self._options.keys + 2)}", _place(project, number)
                try:
                    self._change_one(admin, key, place, rng)
                    if rng.random() < 0.1:
                        admin.post(f"{_SYNCS}/{self._syncs[number]}/sync-secrets")
                except httpx.TransportError:
                    return  # it was killed; whether this change was made is told by the service afterwards

    def _change_one(self, admin: Client, key: str, place: dict[str, Any], rng: random.Random) -> None:
        value = {**place, "secretValue": self._value()}
        if rng.random() < 0.2:
            answer = admin.request("DELETE", f"/api/v4/secrets/{key}", json=place)
        else:
            answer = admin.patch(f"/api/v4/secrets/{key}", json=value)
            if answer.status_code == 404:
                answer = admin.post(f"/api/v4/secrets/{key}", json=value)
        self._report.changes += answer.status_code == 200

    def _count_running(self) -> None:
        """Look into the database of the dead service: how many runs it took with it."""
        statement = "SELECT count(*) FROM sync_jobs WHERE is_running"
        running = int(self._database.execute(self._directory / "data", statement).strip())
        self._report.runs_cut_off += running
        self._report.kills_in_runs += running > 0

    def _settle(self, service: Service, project: Project, store: ParameterStoreServer) -> None:
        """Wait until no sync has anything to do, and hold each remote to its source."""
        admin = self._admin(service)

        def listed() -> list[dict[str, Any]]:
            found: list[dict[str, Any]] = admin.json(
                "GET", "/api/v1/secret-syncs", params={"projectId": project.id}
            )["secretSyncs"]
            return found

        def probe() -> bool:
            return all(sync["syncStatus"] == "succeeded" for sync in listed()) and not self._wrong(
                admin, project, store
            )

        try:
            eventually(probe, awaited="a good end of every sync", within=self._options.settle_seconds)
        except NotInTimeError as error:
            self._report.violations.append(str(error))
        for sync in listed():
            if sync["syncStatus"] != "succeeded":
                said = f"{sync['name']} is {sync['syncStatus']}: {sync['lastSyncMessage']}"
                self._report.violations.append(said)
        self._report.violations += self._wrong(admin, project, store)
        left = self._database.execute(self._directory / "data", "SELECT count(*) FROM sync_jobs").strip()
        if left != "0":
            self._report.violations.append(f"{left} jobs are left")

    def _wrong(self, admin: Client, project: Project, store: ParameterStoreServer) -> list[str]:
        """Return what differs between folders and remotes; names only."""
        wrong: list[str] = []
        for number in range(self._options.syncs):
            listed = admin.json("GET", "/api/v4/secrets", params=_place(project, number))["secrets"]
            source = {secret["secretKey"]: secret["secretValue"] for secret in listed}
            there = store.below(f"/s{number}/")
            if there != source:
                missing, extra = sorted(source.keys() - there.keys()), sorted(there.keys() - source.keys())
                older = sorted(name for name in source.keys() & there.keys() if source[name] != there[name])
                wrong.append(
                    f"/s{number}/ lacks {missing}, holds {extra} too, and has other values of {older}"
                )
        return wrong

    def _judge(self, store: ParameterStoreServer) -> None:
        violations = self._report.violations
        violations += [f"two runs were in {path} at once" for path in sorted(set(store.overlaps))]
        violations += [
            f"{count} runs of connection {key} called at once"
            for key, count in store.most_at_once.items()
            if count > 5
        ]

    def _value(self) -> str:
        return f"cnry-{secrets.token_hex(8)}"


def _place(project: Project, number: int) -> dict[str, Any]:
    return {"projectId": project.id, "environment": "dev", "secretPath": f"/f{number}"}


def main(arguments: list[str] | None = None) -> int:
    """Return the exit status: 0 if nothing was wrong."""
    usual = SyncStormOptions()
    parser = argparse.ArgumentParser(description=__doc__)
    for name in ("syncs", "connections", "kills", "keys"):
        parser.add_argument(f"--{name}", type=int, default=getattr(usual, name))
    parser.add_argument("--seed", type=int, default=secrets.randbelow(2**31))
    parser.add_argument("--settle-seconds", type=float, default=usual.settle_seconds)
    given = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory(prefix="sync-storm-") as directory:
        report = SyncStorm(SyncStormOptions(**vars(given)), Path(directory)).run()
    sys.stdout.write(f"{json.dumps(dataclasses.asdict(report), indent=2)}\n")
    return 1 if report.violations else 0


if __name__ == "__main__":
    sys.exit(main())
