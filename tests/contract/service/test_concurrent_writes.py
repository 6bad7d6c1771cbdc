"""Many who write at once: each write counts, once, and what is refused is refused in the interface's words."""

from __future__ import annotations

from collections import Counter
from concurrent.futures import ThreadPoolExecutor

from support.service_fixtures import Client, Project, ProjectSecrets, ServiceProcess

WORKERS = 8
WRITES = 6


def clients_of(service: ServiceProcess) -> list[Client]:
    token = service.login(service.admin)
    return [service.client(token) for _ in range(WORKERS)]


def test_each_update_is_a_version_of_its_own(service: ServiceProcess, project: Project) -> None:
    clients = clients_of(service)
    ProjectSecrets(clients[0], project).create("A", "cnry-first")

    def write(worker: int) -> list[tuple[int, str]]:
        secrets = ProjectSecrets(clients[worker], project)
        values = [f"cnry-{worker}-{number}" for number in range(WRITES)]
        return [(secrets.update("A", secretValue=value)["version"], value) for value in values]

    with ThreadPoolExecutor(WORKERS) as threads:
        answered = dict(version for versions in threads.map(write, range(WORKERS)) for version in versions)
    assert sorted(answered) == list(range(2, WORKERS * WRITES + 2))
    kept = ProjectSecrets(clients[0], project)
    assert {version: kept.get("A", version=str(version))["secretValue"] for version in answered} == answered


def test_one_of_those_who_create_the_same_wins(service: ServiceProcess, project: Project) -> None:
    clients = clients_of(service)
    place = {"projectId": project.id, "environment": "dev"}
    for number in range(4):

        def create(worker: int, key: str = f"K{number}") -> int:
            body = {**place, "secretValue": f"cnry-{worker}"}
            return clients[worker].post(f"/api/v4/secrets/{key}", json=body).status_code

        with ThreadPoolExecutor(WORKERS) as threads:
            answered = Counter(threads.map(create, range(WORKERS)))
        assert answered == {200: 1, 400: WORKERS - 1}


def test_projects_of_one_slug_and_changes_across_them_end_in_no_fault(service: ServiceProcess) -> None:
    clients = clients_of(service)
    slug = service.create_project().slug

    def create(worker: int) -> int:
        body = {"projectName": "p", "slug": f"{slug}-{worker % 2}"}
        return clients[worker].post("/api/v1/projects", json=body).status_code

    with ThreadPoolExecutor(WORKERS) as threads:
        answered = Counter(threads.map(create, range(WORKERS)))
    # 503 where the slug was free when it was looked up and taken when it was stored.
    assert answered[200] == 2
    assert set(answered) <= {200, 400, 503}


def test_a_project_that_is_deleted_under_its_writers_ends_in_no_fault(service: ServiceProcess) -> None:
    clients = clients_of(service)
    project = service.create_project()
    place = {"projectId": project.id, "environment": "dev"}

    def write(worker: int) -> set[int]:
        if worker == 0:
            return {clients[0].delete(f"/api/v1/projects/{project.id}").status_code}
        body = {**place, "secretValue": "cnry-a"}
        return {
            clients[worker].post(f"/api/v4/secrets/K{worker}_{number}", json=body).status_code
            for number in range(WRITES)
        }

    with ThreadPoolExecutor(WORKERS) as threads:
        answered = set[int]().union(*threads.map(write, range(WORKERS)))
    assert 200 in answered
    assert answered <= {200, 404, 503}
    last = clients[1].post("/api/v4/secrets/LAST", json={**place, "secretValue": "cnry-a"})
    assert last.status_code == 404
