"""How the suite runs `external-infisical`: two folders of a project at another service of this API."""

from __future__ import annotations

import secrets
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from uuid import uuid4

from keybearer.destinations.external_infisical import EXTERNAL_INFISICAL
from keybearer.destinations.remote import RemoteRequest
from support.conformance.interposed import CallKind, of_method
from support.conformance.remote_under_test import (
    PlaceUnderTest,
    RemoteUnderTest,
    RunningRemote,
    Surroundings,
)
from support.remotes.limits import FORMS
from support.remotes.other_service import OtherProject

__all__ = ["UNDER_TEST"]


def _folder(other: OtherProject) -> PlaceUnderTest:
    path = f"/{secrets.token_hex(6)}"
    other.secrets.folder(path)
    return PlaceUnderTest(
        {"projectId": other.secrets.project.id, "environment": "dev", "secretPath": path},
        lambda: other.secrets.values(path=path),
        lambda name, value: other.write(name, value, path),
    )


@asynccontextmanager
async def _start(surroundings: Surroundings) -> AsyncIterator[RunningRemote]:
    other: OtherProject = surroundings.request.getfixturevalue("other_project")
    yield RunningRemote(
        method="machine-identity",
        right=other.credentials,
        # A wrong secret of a right id would lock the identity for all tests.
        wrong=other.credentials.model_copy(update={"machine_identity_client_id": str(uuid4())}),
        here=_folder(other),
        elsewhere=_folder(other),
    )


def _kind_of(request: RemoteRequest) -> CallKind:
    return CallKind.OTHER if request.url.endswith("/login") else of_method(request)


UNDER_TEST = RemoteUnderTest(
    kind=EXTERNAL_INFISICAL,
    start=_start,
    forms=FORMS["external-infisical"],
    kind_of=_kind_of,
    batch=100,
)
