"""The chain of the audit log, as a service at work writes it and `keybearer audit verify` reads it."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

import httpx
import pytest

from support.audit_house import AS_BEFORE_CHAINS
from support.command_line import Answer, CommandLine
from support.databases import OwnDatabase
from support.service_fixtures import Starter
from tools.local.waiting import eventually

pytestmark = pytest.mark.every_database

AUDIT = "/api/v1/organization/audit-logs"


def verified(directory: Path, own_database: OwnDatabase, *options: str) -> Answer:
    """Return what the check of the log says."""
    url = own_database.url
    place = ["--data-dir", str(directory / "data"), *([] if url is None else ["--database-url", url])]
    return CommandLine(directory)("audit", "verify", *place, *options)


def test_a_process_that_is_killed_while_it_writes_leaves_nothing_that_reads_as_an_edit(
    start: Starter, own_database: OwnDatabase, tmp_path: Path
) -> None:
    service = start(tmp_path / "data")
    project = service.create_project()
    client = service.admin_client()

    def write(writer: int) -> None:
        with suppress(httpx.HTTPError):
            for number in range(100_000):
                body = {
                    "projectId": project.id,
                    "environment": "dev",
                    "secretPath": "/",
                    "secretValue": "cnry-x",
                }
                client.post(f"/api/v4/secrets/KEY_{writer}_{number}", json=body)

    with ThreadPoolExecutor() as pool:
        for writer in range(4):
            pool.submit(write, writer)
        try:
            eventually(
                lambda: verified(tmp_path, own_database, "--output", "json").json["lines"] > 20,
                awaited="lines of many writers",
            )
        finally:
            service.kill()
    report = verified(tmp_path, own_database, "--output", "json")
    assert (report.status, report.json["faults"]) == (0, [])
    second = start(tmp_path / "data")
    second.create_secret(project, "LAST", "cnry-y")
    assert second.stop() == 0
    assert verified(tmp_path, own_database, "--output", "json").json["faults"] == []


def test_lines_of_an_earlier_version_are_chained_while_the_service_works(
    start: Starter, own_database: OwnDatabase, tmp_path: Path
) -> None:
    data = tmp_path / "data"
    first = start(data)
    project = first.create_project()
    first.create_secret(project, "KEY", "cnry-x")
    assert first.stop() == 0
    for statement in AS_BEFORE_CHAINS:
        own_database.execute(data, statement)

    def chained() -> bool:
        report = verified(tmp_path, own_database, "--output", "json").json
        assert report["ok"] is True
        return bool(report["waiting"] == 0 and report["takenIn"] > 0)

    second = start(data)
    try:
        eventually(chained, awaited="a chain for the lines of an earlier version")
        second.create_secret(project, "NEXT", "cnry-y")
        told = second.admin_client().json("GET", AUDIT, params={"projectId": project.id})["auditLogs"]
        expected = ["create-project", "create-secret", "create-secret"]
        assert [line["event"]["type"] for line in told[::-1]] == expected
        edit = "UPDATE audit_log SET actor_name = 'nobody' WHERE event_type = 'create-project'"
        own_database.execute(data, edit)
        answer = verified(tmp_path, own_database)
    finally:
        second.stop()
    assert answer.status == 1
    assert "Wrong: lines were changed" in answer.stderr
    assert "cnry-" not in answer.stdout + answer.stderr
