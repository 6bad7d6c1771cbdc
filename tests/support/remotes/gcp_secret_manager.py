"""How the suite runs `gcp-secret-manager`: two projects, and an account that the service impersonates."""

from __future__ import annotations

import functools
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from keybearer.destinations.gcp_secret_manager import (
    GCP_SECRET_MANAGER,
    ImpersonationCredentials,
    OwnAccountCredentials,
)
from keybearer.destinations.remote import RemoteRequest
from support.conformance.interposed import CallKind, of_method
from support.conformance.remote_under_test import (
    PlaceUnderTest,
    RemoteUnderTest,
    RunningRemote,
    Surroundings,
)
from support.remotes.gcp import GcpCopy, new_key
from support.remotes.limits import FORMS
from support.remotes.serving import served

__all__ = ["UNDER_TEST"]

_OWN = "keybearer@ops.iam.gserviceaccount.com"
_PAGE = 25
_key = functools.cache(new_key)


def _project(copy: GcpCopy, name: str) -> PlaceUnderTest:
    place = f"projects/{name}"
    copy.projects[place] = {}
    return PlaceUnderTest(
        {"scope": "global", "projectId": name},
        lambda: copy.values(place),
        lambda secret, value: copy.put(place, secret, value),
    )


@asynccontextmanager
async def _start(surroundings: Surroundings) -> AsyncIterator[RunningRemote]:
    first, second = surroundings.organization_id.split("-")[:2]
    email, stranger = (f"{who}-{first}-{second}@shop.iam.gserviceaccount.com" for who in ("syncs", "nobody"))
    pem, public = _key()
    copy = GcpCopy(surroundings.clock)
    copy.keys, copy.impersonators, copy.rights = {_OWN: public}, {email: {_OWN}}, {email}
    copy.page_max = _PAGE
    own = {"type": "service_account", "client_email": _OWN, "private_key": pem}
    async with served(copy):
        yield RunningRemote(
            method="service-account-impersonation",
            right=ImpersonationCredentials(service_account_email=email),
            wrong=ImpersonationCredentials(service_account_email=stranger),
            here=_project(copy, "shop"),
            elsewhere=_project(copy, "depot"),
            endpoints={"gcp": copy.url},
            own_credentials={"gcp": OwnAccountCredentials.model_validate(own)},
        )


def _kind_of(request: RemoteRequest) -> CallKind:
    # A login, an impersonation, and a secret that has no version yet.
    is_other = request.method == "POST" and not request.url.endswith(":addVersion")
    return CallKind.OTHER if is_other else of_method(request)


UNDER_TEST = RemoteUnderTest(
    kind=GCP_SECRET_MANAGER,
    start=_start,
    forms=FORMS["gcp-secret-manager"],
    kind_of=_kind_of,
    page=_PAGE,
    bad_keys=("A B", "Ä", "A" * 256, ".", *(f"BAD.{number}" for number in range(6))),
)
