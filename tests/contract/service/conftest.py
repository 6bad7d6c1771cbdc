"""What the contract tests of the service share: a project, its admin, and answers held to their schema."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import BaseModel

from keybearer.interface.shapes import Shape
from keybearer.interface.shapes import strict as strictly
from support.service_fixtures import Client, Project, ProjectSecrets, Service, Strict


@pytest.fixture
def admin(service: Service) -> Client:
    return service.admin_client()


@pytest.fixture
def project(service: Service) -> Project:
    return service.create_project()


@pytest.fixture
def secrets(admin: Client, project: Project) -> ProjectSecrets:
    return ProjectSecrets(admin, project)


@pytest.fixture
def strict() -> Strict:
    """Return a check that an answer has the fields of a wire model and no others, at every depth."""

    def check(model: type[BaseModel | Shape], answer: dict[str, Any]) -> Any:  # noqa: ANN401 - as it says
        read = (strictly(model) if issubclass(model, Shape) else model).model_validate(answer)
        assert read.model_dump(mode="json", by_alias=True, exclude_unset=True) == answer
        return read

    return check
