"""How the suite runs `azure-key-vault`: two vaults of one tenant."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from keybearer.destinations.azure_key_vault import AZURE_KEY_VAULT, ClientSecretCredentials
from keybearer.destinations.remote import RemoteRequest
from support.conformance.interposed import CallKind, of_method
from support.conformance.remote_under_test import (
    PlaceUnderTest,
    RemoteUnderTest,
    RunningRemote,
    Surroundings,
)
from support.remotes.azure import AzureCopy
from support.remotes.limits import FORMS
from support.remotes.serving import served

__all__ = ["UNDER_TEST"]

_TENANT = "11111111-2222-4333-8444-555555555555"
_CLIENT = "66666666-7777-4888-8999-aaaaaaaaaaaa"


def _credentials(secret: str) -> ClientSecretCredentials:
    return ClientSecretCredentials(tenant_id=_TENANT, client_id=_CLIENT, client_secret=secret)


def _vault(copy: AzureCopy) -> PlaceUnderTest:
    return PlaceUnderTest({"vaultBaseUrl": copy.url}, copy.values, copy.put)


@asynccontextmanager
async def _start(_: Surroundings) -> AsyncIterator[RunningRemote]:
    copy = AzureCopy()
    copy.clients, copy.rights = {f"{_TENANT}/{_CLIENT}": "cnry-client~secret"}, {f"{_TENANT}/{_CLIENT}"}
    other = AzureCopy(copy)
    async with served(copy), served(other):
        yield RunningRemote(
            method="client-secret",
            right=_credentials("cnry-client~secret"),
            wrong=_credentials("cnry-another~secret"),
            here=_vault(copy),
            elsewhere=_vault(other),
            endpoints={"azure-key-vault": copy.url},
        )


def _kind_of(request: RemoteRequest) -> CallKind:
    # Logins and recoveries.
    return CallKind.OTHER if request.method == "POST" else of_method(request)


UNDER_TEST = RemoteUnderTest(
    kind=AZURE_KEY_VAULT,
    start=_start,
    forms=FORMS["azure-key-vault"],
    kind_of=_kind_of,
    page=25,
    bad_keys=("A B", "Ä", "A" * 128, "..", *(f"BAD.{number}" for number in range(6))),
    spelt=lambda name: name.replace("_", "-"),
)
