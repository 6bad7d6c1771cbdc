"""How the suite runs `codehost`: two organizations, as they have the most names."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial

from keybearer.destinations.codehost import CODEHOST
from keybearer.destinations.codehost_app import PatCredentials
from support.conformance.remote_under_test import (
    PlaceUnderTest,
    RemoteUnderTest,
    RunningRemote,
    Surroundings,
)
from support.remotes.codehost import CodehostCopy
from support.remotes.limits import FORMS
from support.remotes.serving import served

__all__ = ["UNDER_TEST"]


def _organization(copy: CodehostCopy, name: str) -> PlaceUnderTest:
    place = copy.organization(name)
    config = {"scope": "organization", "org": name, "visibility": "private"}
    return PlaceUnderTest(config, place.values, partial(copy.put, place))


@asynccontextmanager
async def _start(surroundings: Surroundings) -> AsyncIterator[RunningRemote]:
    copy = CodehostCopy(surroundings.clock)
    copy.tokens = {"ghp_cnry-admin": True}
    async with served(copy):
        yield RunningRemote(
            method="pat",
            right=PatCredentials(personal_access_token="ghp_cnry-admin"),
            wrong=PatCredentials(personal_access_token="ghp_cnry-revoked"),
            here=_organization(copy, "acme"),
            elsewhere=_organization(copy, "emca"),
            endpoints={"codehost": copy.url},
        )


UNDER_TEST = RemoteUnderTest(
    kind=CODEHOST,
    start=_start,
    forms=FORMS["codehost"],
    page=100,
    bad_keys=("1ST", "GITHUB_TOKEN", "github_key", "A-B", "A B", "Ä", "..", "BAD.0", "BAD.1", "BAD.2"),
)
