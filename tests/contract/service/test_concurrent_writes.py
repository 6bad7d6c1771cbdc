"""Many who write at once: each write counts, once, and what is refused is refused in the interface's words."""

from __future__ import annotations

from collections import Counter
from concurrent.futures import ThreadPoolExecutor

import pytest

from support.service_fixtures import Client, Project, ProjectSecrets, Service

pytestmark = pytest.mark.every_database

WORKERS = 8
WRITES = 6


def clients_of(service: Service) -> list[Client]:
    token = service.login(service.admin)
    return [service.client(token) for _ in range(WORKERS)]


def identity_of(service: Service) -> str:
    body = {"name": "i", "organizationId": service.organization_id}
    return str(service.admin_client().json("POST", "/api/v1/identities", json=body)["identity"]["id"])


def test_each_update_is_a_version_of_its_own(service: Service, project: Project) -> None:
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


def test_one_of_those_who_create_the_same_wins(service: Service, project: Project) -> None:
    clients = clients_of(service)
    place = {"projectId": project.id, "environment": "dev"}
    for number in range(4):

        def create(worker: int, key: str = f"K{number}") -> int:
            body = {**place, "secretValue": f"cnry-{worker}"}
            return clients[worker].post(f"/api/v4/secrets/{key}", json=body).status_code

        with ThreadPoolExecutor(WORKERS) as threads:
            answered = Counter(threads.map(create, range(WORKERS)))
        assert answered == {200: 1, 400: WORKERS - 1}


def test_one_of_those_who_create_a_project_of_one_slug_wins(service: Service) -> None:
    clients = clients_of(service)
    slug = service.create_project().slug

    def create(worker: int) -> int:
        body = {"projectName": "p", "slug": f"{slug}-{worker % 2}"}
        return clients[worker].post("/api/v1/projects", json=body).status_code

    with ThreadPoolExecutor(WORKERS) as threads:
        answered = Counter(threads.map(create, range(WORKERS)))
    # Where the slug was free when it was looked up and taken when it was stored, it is looked up again.
    assert answered == {200: 2, 400: WORKERS - 2}


def test_one_of_those_who_attach_a_way_to_log_in_wins(service: Service) -> None:
    clients = clients_of(service)
    for _ in range(4):
        path = f"/api/v1/auth/universal-auth/identities/{identity_of(service)}"

        def attach(worker: int, route: str = path) -> int:
            return clients[worker].post(route, json={}).status_code

        with ThreadPoolExecutor(WORKERS) as threads:
            answered = Counter(threads.map(attach, range(WORKERS)))
        assert answered == {200: 1, 400: WORKERS - 1}


def test_those_who_put_one_identity_into_many_projects_and_out_again_all_succeed(
    service: Service,
) -> None:
    clients = clients_of(service)
    projects = [service.create_project() for _ in range(3)]
    identities = [identity_of(service) for _ in range(3)]

    def move(worker: int) -> Counter[int]:
        answered: Counter[int] = Counter()
        for number in range(WRITES):
            project = projects[(worker + number) % 3]
            identity = identities[(worker - number) % 3]
            route = f"/api/v1/projects/{project.id}/memberships/identities/{identity}"
            answered[clients[worker].post(route, json={"role": "member"}).status_code] += 1
            answered[clients[worker].delete(route).status_code] += 1
        return answered

    with ThreadPoolExecutor(WORKERS) as threads:
        answered = sum(threads.map(move, range(WORKERS)), Counter[int]())
    assert set(answered) <= {200, 404}


def test_a_project_that_is_deleted_under_its_writers_ends_in_no_fault(service: Service) -> None:
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
    assert answered <= {200, 404}
    last = clients[1].post("/api/v4/secrets/LAST", json={**place, "secretValue": "cnry-a"})
    assert last.status_code == 404
