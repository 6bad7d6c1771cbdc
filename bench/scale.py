"""`python -m bench.scale` fills a real service with much of everything and prints what it costs to read.

10,000 secrets in one folder, 1,000 folders, twenty levels, values of 64 KiB: listed, referred to, imported,
renamed. Times are of one request from a client beside it; memory is the service's, resident, after each row.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

import httpx
from rich.console import Console
from rich.table import Table

from bench.process_meter import parse_status_kib
from support.service_fixtures import Client, Project, ServiceProcess, start_service

__all__ = ["main"]

_BATCH = 1000
_LARGE_BATCH = 100
_TIMEOUT_SECONDS = 120


@dataclass(frozen=True, slots=True)
class _Size:
    """How much of everything."""

    secrets: int
    folders: int
    levels: int
    large: int
    large_bytes: int


_FULL = _Size(secrets=10_000, folders=1_000, levels=20, large=500, large_bytes=64 * 1024)
_QUICK = _Size(secrets=500, folders=50, levels=20, large=20, large_bytes=64 * 1024)


class _Scale:
    """One run: what is measured, and the table of it."""

    def __init__(self, service: ServiceProcess, size: _Size) -> None:
        self._service = service
        self._size = size
        self._client: Client = service.admin_client()
        self._client.timeout = httpx.Timeout(_TIMEOUT_SECONDS)
        self._project: Project = service.create_project(name="scale")
        self.table = Table("what", "requests", "seconds", "answer MiB", "service MiB", "peak MiB")

    def run(self) -> None:
        """Measure all rows, each on what those before it left."""
        self._many_secrets()
        self._many_references()
        self._many_folders()
        self._many_imports()
        self._many_levels()
        self._large_values()

    def _many_secrets(self) -> None:
        count = self._size.secrets
        self._folder("/many")
        items = [{"secretKey": f"K{number:05}", "secretValue": f"v{number}"} for number in range(count)]
        self._row(f"create {count} secrets in one folder", lambda: self._create("/many", items, _BATCH))
        self._list_rows(f"list {count} secrets", "/many")
        self._row("get one of them", lambda: [self._get("/api/v4/secrets/K00007", "/many")])
        changes = [{"secretKey": item["secretKey"], "secretValue": "w"} for item in items[:_BATCH]]
        self._row(f"update {len(changes)} of them", lambda: [self._send("PATCH", "/many", changes)])

    def _many_references(self) -> None:
        count = self._size.secrets
        self._folder("/refer")
        items = [
            {"secretKey": f"R{number:05}", "secretValue": f"<${{dev.many.K{number:05}}}>"}
            for number in range(count)
        ]
        self._row(f"create {count} references to them", lambda: self._create("/refer", items, _BATCH))
        self._list_rows(f"list {count} references", "/refer")
        everyone = [
            {"secretKey": f"ALL{number}", "secretValue": "${dev.many.K00007}"} for number in range(500)
        ]
        self._folder("/one")
        self._create("/one", everyone, _BATCH)
        self._row(
            "rename a secret that 501 others name",
            lambda: [self._one("PATCH", "/api/v4/secrets/K00007", "/many", {"newSecretName": "RENAMED"})],
        )
        self._row("rename the folder that all of these name", lambda: [self._rename("many", "renamed")])

    def _many_folders(self) -> None:
        count = self._size.folders
        self._folder("/f")

        def fill() -> Iterable[httpx.Response]:
            for number in range(count):
                yield self._folder(f"/f/n{number:04}")
                keys = [{"secretKey": f"S{number:04}_{key}", "secretValue": "v"} for key in range(10)]
                yield self._send("POST", f"/f/n{number:04}", keys)

        self._row(f"create {count} folders of ten secrets", fill)
        self._list_rows("list them recursively", "/f", recursive="true")
        place = {"projectId": self._project.id, "environment": "dev", "path": "/f"}
        self._row("list the folders", lambda: [self._client.get("/api/v2/folders", params=place)])

    def _many_imports(self) -> None:
        count = self._size.folders
        self._folder("/importing")
        place = {"projectId": self._project.id, "environment": "dev", "path": "/importing"}

        def fill() -> Iterable[httpx.Response]:
            for number in range(count):
                source = {"environment": "dev", "path": f"/f/n{number:04}"}
                yield self._client.post("/api/v2/secret-imports", json={**place, "import": source})

        self._row(f"import {count} folders into one", fill)
        self._list_rows("list what it imports", "/importing")
        self._row("get one of those", lambda: [self._get("/api/v4/secrets/S0007_3", "/importing")])

    def _many_levels(self) -> None:
        path = ""
        for level in range(self._size.levels):
            path += f"/l{level}"
        self._folder(path)
        self._create(path, [{"secretKey": "DEEP", "secretValue": "v"}], _BATCH)
        self._list_rows(
            f"list through {self._size.levels} levels", "/", recursive="true", viewSecretValue="false"
        )

    def _large_values(self) -> None:
        count, length = self._size.large, self._size.large_bytes
        self._folder("/large")
        items = [{"secretKey": f"L{number:04}", "secretValue": "x" * length} for number in range(count)]
        self._row(
            f"create {count} values of {length >> 10} KiB",
            lambda: self._create("/large", items, _LARGE_BATCH),
        )
        self._list_rows("list them", "/large")
        self._folder("/shows-large")
        place = {"projectId": self._project.id, "environment": "dev", "path": "/shows-large"}
        source = {"environment": "dev", "path": "/large"}
        self._client.post("/api/v2/secret-imports", json={**place, "import": source}).raise_for_status()
        self._list_rows("list them through an import", "/shows-large")

    def _list_rows(self, what: str, path: str, **query: str) -> None:
        params = {**self._at(path), **query}
        answers: list[httpx.Response] = []

        def ask() -> Iterable[httpx.Response]:
            answers.append(self._client.get("/api/v4/secrets", params=params))
            return answers

        self._row(what, ask)
        headers = {"if-none-match": answers[0].headers["etag"]}
        self._row(
            "  the same, unchanged",
            lambda: [self._client.get("/api/v4/secrets", params=params, headers=headers)],
        )

    def _row(self, what: str, ask: Callable[[], Iterable[httpx.Response]]) -> None:
        started = time.perf_counter()
        count, size = 0, 0
        for answer in ask():
            if answer.status_code != httpx.codes.NOT_MODIFIED:
                answer.raise_for_status()
            count, size = count + 1, size + len(answer.content)
        seconds = time.perf_counter() - started
        status = Path(f"/proc/{self._service.process.pid}/status").read_text()
        resident, peak = (parse_status_kib(status, name) >> 10 for name in ("VmRSS", "VmHWM"))
        self.table.add_row(
            what, str(count), f"{seconds:.3f}", f"{size / 2**20:.1f}", str(resident), str(peak)
        )

    def _at(self, path: str) -> dict[str, str]:
        return {"projectId": self._project.id, "environment": "dev", "secretPath": path}

    def _create(self, path: str, items: list[dict[str, str]], batch: int) -> Iterable[httpx.Response]:
        return [
            self._send("POST", path, items[start : start + batch]) for start in range(0, len(items), batch)
        ]

    def _send(self, method: str, path: str, items: list[dict[str, str]]) -> httpx.Response:
        answer = self._client.request(
            method, "/api/v4/secrets/batch", json={**self._at(path), "secrets": items}
        )
        return answer.raise_for_status()

    def _one(self, method: str, route: str, path: str, more: dict[str, str]) -> httpx.Response:
        return self._client.request(method, route, json={**self._at(path), **more})

    def _get(self, route: str, path: str) -> httpx.Response:
        return self._client.get(route, params=self._at(path))

    def _folder(self, path: str) -> httpx.Response:
        above, _, name = path.rpartition("/")
        body = {"projectId": self._project.id, "environment": "dev", "path": above or "/", "name": name}
        return self._client.post("/api/v2/folders", json=body).raise_for_status()

    def _rename(self, old: str, new: str) -> httpx.Response:
        place = {"projectId": self._project.id, "environment": "dev", "path": "/"}
        folders = self._client.json("GET", "/api/v2/folders", params=place)["folders"]
        [folder] = [item for item in folders if item["name"] == old]
        return self._client.patch(f"/api/v2/folders/{folder['id']}", json={**place, "name": new})


def main(arguments: list[str] | None = None) -> int:
    """Return the exit status: 0 once everything was measured, whatever the figures say."""
    parser = argparse.ArgumentParser(prog="python -m bench.scale", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a twentieth of everything")
    given = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory(prefix="keybearer-scale-") as directory:
        service = start_service(Path(directory) / "data")
        try:
            scale = _Scale(service, _QUICK if given.quick else _FULL)
            scale.run()
        finally:
            service.stop()
    Console(width=None if sys.stdout.isatty() else 140).print(scale.table)
    return 0


if __name__ == "__main__":
    sys.exit(main())
