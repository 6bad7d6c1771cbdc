"""The command line against a real service: connections and syncs, with another project of it as the remote."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from contract.client.house import nothing_shown
from keybearer.cli.failures import ExitStatus
from support.command_line import CommandLine
from support.service_fixtures import Credentials, ProjectSecrets, Service, ServiceProcess

APP = "external-infisical"


@pytest.fixture
def service(calling_service: ServiceProcess) -> ServiceProcess:
    return calling_service


@pytest.fixture
def remote(service: Service) -> ProjectSecrets:
    return ProjectSecrets(service.admin_client(), service.create_project(name="other"))


@pytest.fixture
def machine(service: Service, remote: ProjectSecrets) -> Credentials:
    return service.create_identity(roles={remote.project.id: "member"})


@pytest.fixture
def credentials(service: Service, machine: Credentials) -> str:
    return json.dumps(
        {
            "instanceUrl": service.url,
            "machineIdentityClientId": machine.client_id,
            "machineIdentityClientSecret": machine.client_secret,
        }
    )


@pytest.fixture
def connected(keybearer: CommandLine, credentials: str) -> CommandLine:
    """Somebody who has made a connection `other`."""
    made = keybearer(
        *("connections", "create", "other", "--app", APP, "--credentials-file", "-"), stdin=credentials
    )
    assert made.status == 0, made.stderr
    return keybearer


def place_of(remote: ProjectSecrets) -> tuple[str, ...]:
    fields = {"projectId": remote.project.id, "environment": "dev", "secretPath": "/"}
    return tuple(word for name, text in fields.items() for word in ("--config", f"{name}={text}"))


def test_a_connection_is_made_from_a_file_changed_and_deleted(
    keybearer: CommandLine, service: Service, credentials: str, machine: Credentials, tmp_path: Path
) -> None:
    file = tmp_path / "credentials.json"
    file.write_text(credentials)
    wrong = tmp_path / "wrong.json"
    wrong.write_text(credentials.replace(machine.client_secret, "cnry-wrong-secret"))
    create = ("connections", "create", "other", "--app", APP, "--credentials-file")
    refused = keybearer(*create, str(wrong))
    assert refused.status == 7
    made = keybearer(*create, str(file), "--description", "d", "-o", "json")
    assert (made.status, made.json["app"], made.json["description"]) == (0, APP, "d")
    listed = keybearer("connections", "list")
    assert [line.split()[0] for line in listed.stdout.splitlines()[1:]] == ["other"]
    got = keybearer("connections", "get", "other")
    assert (service.url in got.stdout, machine.client_id in got.stdout) == (True, True)
    changed = keybearer(
        *("connections", "update", "other", "--name", "renamed", "--new-credentials", "-o", "json"),
        KEYBEARER_APP_CREDENTIALS=credentials,
    )
    assert (changed.status, changed.json["name"]) == (0, "renamed")
    assert changed.json["credentials_hash"] != made.json["credentials_hash"]
    not_rotated = keybearer("connections", "rotate", "renamed")
    assert not_rotated.status == 7
    denied = keybearer("connections", "list", "--organization")
    assert denied.status == 4
    deleted = keybearer("connections", "delete", made.json["id"], "--yes")
    assert deleted.status == 0
    assert keybearer("connections", "get", "renamed").status == 5
    answers = (refused, made, listed, got, changed, not_rotated, deleted)
    nothing_shown(*(f"{answer.stdout} {answer.stderr}" for answer in answers))
    assert all(machine.client_secret not in answer.stdout + answer.stderr for answer in answers)


def test_a_sync_pushes_imports_removes_and_is_deleted(
    connected: CommandLine, secrets: ProjectSecrets, remote: ProjectSecrets
) -> None:
    secrets.create("A", "cnry-a")
    create = ("syncs", "create", "push", "--to", APP, "--connection", "other", *place_of(remote))
    made = connected(*create, "--no-auto", "--key-schema", "X_{{secretKey}}", "-o", "json")
    assert made.status == 0, made.stderr
    assert made.json["sync_options"] == {
        "initialSyncBehavior": "overwrite-destination",
        "keySchema": "X_{{secretKey}}",
    }
    assert "never run" in connected("syncs", "list").stdout
    ran = connected("syncs", "run", "push", "--wait")
    assert (ran.status, "sync succeeded" in ran.stderr) == (0, True)
    assert remote.values() == {"X_A": "cnry-a"}
    remote.create("X_B", "cnry-b")
    assert connected("syncs", "import", "push", "--prefer", "source", "--wait").status == 0
    assert secrets.values() == {"A": "cnry-a", "B": "cnry-b"}
    removed = connected("syncs", "remove", "push", "--yes", "--wait", "-o", "json")
    assert (removed.status, removed.json["remove_status"]) == (0, "succeeded")
    assert remote.values() == {}
    changed = connected("syncs", "update", "push", "--option", "keySchema:=null", "-o", "json")
    assert (changed.status, changed.json["sync_options"]) == (
        0,
        {"initialSyncBehavior": "overwrite-destination"},
    )
    in_use = connected("connections", "delete", "other", "--yes")
    assert (in_use.status, "existing connections" in in_use.stderr) == (7, True)
    assert connected("syncs", "delete", made.json["id"], "--yes").status == 0
    assert connected("syncs", "get", "push").status == 5


def test_text_that_a_sync_brought_does_not_become_a_reference_by_a_rollback(
    connected: CommandLine, secrets: ProjectSecrets, remote: ProjectSecrets
) -> None:
    """Whoever writes at a destination must not get to read secrets of the source."""
    secrets.create("A", "cnry-a")
    remote.create("B", "${A}")
    create = ("syncs", "create", "push", "--to", APP, "--connection", "other", *place_of(remote))
    assert connected(*create, "--no-auto").status == 0
    assert connected("syncs", "import", "push", "--prefer", "source", "--wait").status == 0
    assert connected.here("secrets", "set", "B", stdin="cnry-b").status == 0
    refused = connected.here("secrets", "rollback", "B", "--to", "1", "--yes")
    assert (refused.status, "would hold a reference" in refused.stderr) == (ExitStatus.REFUSED, True)
    assert secrets.values()["B"] == "cnry-b"


def test_a_run_that_fails_says_why_and_has_a_status_of_its_own(
    connected: CommandLine, secrets: ProjectSecrets, remote: ProjectSecrets
) -> None:
    secrets.create("A", "cnry-a")
    gone = tuple(word.replace("environment=dev", "environment=no-such") for word in place_of(remote))
    made = connected("syncs", "create", "push", "--to", APP, "--connection", "other", *gone, "--no-auto")
    assert made.status == 0, made.stderr
    ran = connected("syncs", "run", "push", "--wait")
    assert (ran.status, "keybearer syncs get push" in ran.stderr) == (1, True)
    got = connected("syncs", "get", "push")
    assert "failed" in got.stdout
    nothing_shown(ran.stderr, got.stdout)


def test_a_misspelt_place_is_refused_by_the_service(connected: CommandLine) -> None:
    refused = connected(
        "syncs", "create", "push", "--to", APP, "--connection", "other", "--config", "projectID=1"
    )
    assert (refused.status, "projectId" in refused.stderr) == (7, True)
