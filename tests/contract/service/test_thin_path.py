from __future__ import annotations

from support.service_fixtures import ServiceProcess


def test_a_stored_secret_comes_back_in_the_list(service: ServiceProcess) -> None:
    project = service.create_project()
    service.create_secret(project, "DB_PASSWORD", "cnry-db-password")
    reader = service.client(service.login(service.create_identity(roles={project.id: "viewer"})))
    answer = reader.json("GET", "/api/v4/secrets", params={"projectId": project.id, "environment": "dev"})
    assert [(secret["secretKey"], secret["secretValue"]) for secret in answer["secrets"]] == [
        ("DB_PASSWORD", "cnry-db-password")
    ]
