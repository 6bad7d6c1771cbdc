"""What the tests of published clients share: a project, and each client logged in as its admin."""

from __future__ import annotations

import pytest

from support.sdks.published import PublishedClient
from support.service_fixtures import Project, ProjectSecrets, Service


@pytest.fixture
def project(service: Service) -> Project:
    return service.create_project()


@pytest.fixture
def secrets(service: Service, project: Project) -> ProjectSecrets:
    return ProjectSecrets(service.admin_client(), project)


@pytest.fixture
def python_sdk(python_process: PublishedClient, service: Service) -> PublishedClient:
    python_process.connect(service.url)
    admin = service.admin
    python_process("auth.universal_auth.login", client_id=admin.client_id, client_secret=admin.client_secret)
    return python_process


@pytest.fixture
def node_sdk(node_process: PublishedClient, service: Service) -> PublishedClient:
    node_process.connect(service.url)
    admin = service.admin
    node_process(
        "auth.universalAuth.login", {"clientId": admin.client_id, "clientSecret": admin.client_secret}
    )
    return node_process
