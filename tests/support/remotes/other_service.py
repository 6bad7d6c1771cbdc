"""A second service, which secrets are carried to; in front of it a proxy that tests can put words into."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

import pytest

from keybearer.destinations.external_infisical import ExternalInfisicalConfig, MachineIdentityCredentials
from support.service_fixtures import ProjectSecrets, Service, ServiceProcess, start_service
from support.service_proxy import ServiceProxy

__all__ = [
    "OtherFolder",
    "OtherProject",
    "other_folder",
    "other_folder_of",
    "other_project",
    "other_service",
]


@dataclass
class OtherFolder:
    """A folder of a project of its own at the other service, and who may write there."""

    service: Service
    proxy: ServiceProxy
    secrets: ProjectSecrets
    credentials: MachineIdentityCredentials = field(repr=False)
    path: str = "/app"

    @property
    def config(self) -> ExternalInfisicalConfig:
        """What a sync calls it."""
        return ExternalInfisicalConfig(
            project_id=self.secrets.project.id, environment="dev", secret_path=self.path
        )

    @property
    def values(self) -> dict[str, str]:
        """What is there."""
        return self.secrets.values(path=self.path)

    def put(self, **values: str) -> None:
        """Store secrets as somebody else."""
        for key, value in values.items():
            self.secrets.create(key, value, path=self.path)

    def changes(self, *, since: int = 0) -> list[str]:
        """Methods of the requests to batches that were answered since the mark, in their order."""
        asked = self.proxy.requests(
            lambda request: request.path.endswith(("/batch", "/batch/raw")), since=since
        )
        return [request.method for request in asked]


@dataclass
class OtherProject:
    """A project at the other service that tests share, each with folders of its own."""

    secrets: ProjectSecrets
    credentials: MachineIdentityCredentials = field(repr=False)

    def write(self, key: str, value: str, path: str) -> None:
        """Write a secret as somebody else, whether it is there or not."""
        if key in self.secrets.values(path=path):
            self.secrets.update(key, path=path, secretValue=value)
        else:
            self.secrets.create(key, value, path=path)


@pytest.fixture(scope="session")
def other_service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServiceProcess]:
    """Yield a service beside the one that is tested; tests keep apart by projects of their own."""
    running = start_service(tmp_path_factory.mktemp("other") / "data")
    yield running
    running.stop()


def _project_at(service: Service, url: str) -> OtherProject:
    """Return a new project, and credentials of a member of it that lead to that address."""
    project = service.create_project(name="other")
    identity = service.create_identity(roles={project.id: "member"})
    credentials = MachineIdentityCredentials(
        instance_url=url,
        machine_identity_client_id=identity.client_id,
        machine_identity_client_secret=identity.client_secret,
    )
    return OtherProject(ProjectSecrets(service.admin_client(), project), credentials)


@pytest.fixture(scope="session")
def other_project(other_service: ServiceProcess) -> OtherProject:
    """Return the project."""
    return _project_at(other_service, other_service.url)


@pytest.fixture
def other_folder(other_service: ServiceProcess) -> Iterator[OtherFolder]:
    """Yield a folder of a new project."""
    with other_folder_of(other_service) as folder:
        yield folder


@contextmanager
def other_folder_of(other_service: Service) -> Iterator[OtherFolder]:
    """Yield a folder of a new project of that service."""
    with ServiceProxy(other_service.url) as proxy:
        other = _project_at(other_service, proxy.url)
        folder = OtherFolder(other_service, proxy, other.secrets, other.credentials)
        folder.secrets.folder(folder.path)
        yield folder
