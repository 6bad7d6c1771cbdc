"""Several processes on one PostgreSQL: each sees what any of them answered, and loses nothing of another."""

from __future__ import annotations

import base64
import os
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from support.databases import OwnDatabase
from support.event_listener import EventListener
from support.service_fixtures import Client, Project, ProjectSecrets, ServiceProcess, start_service
from tools.local.postgres import PostgresServer
from tools.local.waiting import eventually

pytestmark = [pytest.mark.deep, pytest.mark.every_database]

CLIENTS = 8
WRITES = 12


@pytest.fixture
def empty_database(postgres: PostgresServer) -> Iterator[OwnDatabase]:
    name = postgres.create(empty=True)
    yield OwnDatabase(postgres, name)
    postgres.drop(name)


@pytest.fixture
def replicas(empty_database: OwnDatabase, tmp_path: Path) -> Iterator[tuple[ServiceProcess, ServiceProcess]]:
    """Yield two processes that were started at once on a database without tables."""
    key = {"KEYBEARER_ROOT_KEY": base64.b64encode(os.urandom(32)).decode()}

    def start(name: str) -> ServiceProcess:
        return start_service(tmp_path / name, environment=key, database_url=empty_database.url)

    with ThreadPoolExecutor() as threads:
        first, second = threads.map(start, ["one", "two"])
    yield first, second
    first.stop()
    second.stop()


@pytest.fixture
def clients(replicas: tuple[ServiceProcess, ServiceProcess]) -> tuple[Client, Client]:
    """Return the admin's clients of both processes, with one token."""
    founder = next(replica for replica in replicas if (replica.data_dir / "admin.json").exists())
    token = founder.login(founder.admin)
    one, two = (replica.client(token) for replica in replicas)
    return one, two


@pytest.fixture
def project(clients: tuple[Client, Client]) -> Project:
    created = clients[0].json("POST", "/api/v1/projects", json={"projectName": "p", "slug": "p-slug"})
    return Project(str(created["project"]["id"]), "p-slug")


def test_two_that_start_at_once_on_an_empty_database_make_one_admin(
    replicas: tuple[ServiceProcess, ServiceProcess], empty_database: OwnDatabase
) -> None:
    written = [replica for replica in replicas if (replica.data_dir / "admin.json").exists()]
    assert len(written) == 1
    assert empty_database.execute(Path(), "SELECT count(*) FROM organizations").strip() == "1"
    assert empty_database.execute(Path(), "SELECT count(*) FROM alembic_version").strip() == "1"


def test_a_list_shows_at_once_what_another_process_answered(
    clients: tuple[Client, Client], project: Project
) -> None:
    writer, reader = (ProjectSecrets(client, project) for client in clients)
    writer.create("A", "cnry-0")
    for number in range(1, 30):
        # Read twice: the second answer comes from memory.
        assert reader.values() == reader.values() == {"A": f"cnry-{number - 1}"}
        writer.update("A", secretValue=f"cnry-{number}")
        assert reader.values() == {"A": f"cnry-{number}"}


def test_a_change_through_one_process_is_told_by_the_other(
    replicas: tuple[ServiceProcess, ServiceProcess], clients: tuple[Client, Client], project: Project
) -> None:
    token = clients[1].headers["authorization"].removeprefix("Bearer ")
    with EventListener(replicas[1].url, token, project.id) as stream:
        ProjectSecrets(clients[0], project).create("KEY", "cnry-v")
        stream.until_names("dev", "/", "KEY")
        clients[0].json("POST", "/api/v1/auth/token/revoke", json={"accessToken": token})
        stream.until_ended()


def test_a_tag_of_one_process_is_good_at_the_other(clients: tuple[Client, Client], project: Project) -> None:
    one, two = clients
    params = {"projectId": project.id, "environment": "dev"}
    ProjectSecrets(one, project).create("A", "cnry-a")
    tag = one.get("/api/v4/secrets", params=params).headers["etag"]
    assert two.get("/api/v4/secrets", params=params, headers={"if-none-match": tag}).status_code == 304
    ProjectSecrets(one, project).update("A", secretValue="cnry-b")
    assert two.get("/api/v4/secrets", params=params, headers={"if-none-match": tag}).status_code == 200


def test_a_revoked_token_is_refused_by_the_other_process(
    replicas: tuple[ServiceProcess, ServiceProcess], clients: tuple[Client, Client]
) -> None:
    founder = next(replica for replica in replicas if (replica.data_dir / "admin.json").exists())
    token = founder.login(founder.admin)
    two = replicas[1].client(token)
    two.json("GET", "/api/v1/projects")
    clients[0].json("POST", "/api/v1/auth/token/revoke", json={"accessToken": token})
    eventually(lambda: two.get("/api/v1/projects").status_code == 401, awaited="the refusal")


def test_a_process_that_lost_its_listener_hears_again(
    clients: tuple[Client, Client],
    project: Project,
    empty_database: OwnDatabase,
    replicas: tuple[ServiceProcess, ServiceProcess],
) -> None:
    listening = "FROM pg_stat_activity WHERE datname = current_database() AND query LIKE 'SELECT 1%'"
    eventually(
        lambda: empty_database.execute(Path(), f"SELECT count(*) {listening}").strip() == "2",
        awaited="both listeners",
    )
    empty_database.execute(Path(), f"SELECT pg_terminate_backend(pid) {listening}")
    eventually(
        lambda: all(replica.log.read_text().count("change_bus_connected") >= 2 for replica in replicas),
        awaited="new listeners",
    )
    ProjectSecrets(clients[0], project).create("A", "cnry-a")
    assert ProjectSecrets(clients[1], project).values() == {"A": "cnry-a"}


def test_versions_written_through_two_processes_are_one_to_n_without_gaps(
    clients: tuple[Client, Client], project: Project
) -> None:
    ProjectSecrets(clients[0], project).create("A", "cnry-first")
    answered: list[int] = []
    guard = threading.Lock()

    def write(worker: int) -> None:
        secrets = ProjectSecrets(clients[worker % 2], project)
        for number in range(WRITES):
            version = secrets.update("A", secretValue=f"cnry-{worker}-{number}")["version"]
            with guard:
                answered.append(version)

    with ThreadPoolExecutor(max_workers=CLIENTS) as threads:
        list(threads.map(write, range(CLIENTS)))
    assert sorted(answered) == list(range(2, CLIENTS * WRITES + 2))
    kept = ProjectSecrets(clients[0], project)
    assert kept.get("A")["version"] == CLIENTS * WRITES + 1
    values = {kept.get("A", version=str(version))["secretValue"] for version in answered}
    assert values == {f"cnry-{worker}-{number}" for worker in range(CLIENTS) for number in range(WRITES)}


def test_a_batch_is_seen_whole_or_not_at_all(clients: tuple[Client, Client], project: Project) -> None:
    place = {"projectId": project.id, "environment": "dev", "secretPath": "/"}

    def items(value: str) -> list[dict[str, str]]:
        return [{"secretKey": f"K{number}", "secretValue": value} for number in range(20)]

    clients[0].json("POST", "/api/v4/secrets/batch", json={**place, "secrets": items("cnry-0")})
    done = threading.Event()

    def write(client: Client, name: str) -> None:
        for number in range(15):
            body = {**place, "secrets": items(f"cnry-{name}-{number}")}
            client.json("PATCH", "/api/v4/secrets/batch", json=body)

    def read() -> list[set[str]]:
        seen = []
        while not done.is_set():
            seen.append(set(ProjectSecrets(clients[1], project).values().values()))
        return seen

    with ThreadPoolExecutor() as threads:
        reading = threads.submit(read)
        writing = [threads.submit(write, client, str(at)) for at, client in enumerate(clients)]
        for task in writing:
            task.result()
        done.set()
        assert all(len(values) == 1 for values in reading.result())
    # Of a batch that fails in the middle nothing is kept.
    broken: list[dict[str, Any]] = [*items("cnry-broken"), {"secretKey": "MISSING", "secretValue": "cnry-x"}]
    clients[0].json("PATCH", "/api/v4/secrets/batch", status=404, json={**place, "secrets": broken})
    assert "cnry-broken" not in ProjectSecrets(clients[1], project).values().values()


def test_emails_guessed_at_either_process_count_together(
    replicas: tuple[ServiceProcess, ServiceProcess], project: Project
) -> None:
    founder = next(replica for replica in replicas if (replica.data_dir / "admin.json").exists())
    token = founder.login(founder.create_identity(roles={project.id: "admin"}))
    path, body = f"/api/v1/projects/{project.id}/memberships", {"emails": ["nobody@example.com"]}
    one, two = (replica.client(token) for replica in replicas)
    answered = [client.post(path, json=body).status_code for client in (one, two, one, two, one)]
    assert answered == [404, 404, 404, 429, 429]
