"""The copy of Google's cloud, and the destination, are held against the vendor's own discovery documents."""

from __future__ import annotations

import dataclasses

import pytest

from keybearer.destinations.gcp_secret_manager import (
    GCP_SECRET_MANAGER,
    ImpersonationCredentials,
    OwnAccountCredentials,
)
from support.remotes.discovery import DiscoveryDocument
from support.remotes.gcp import GcpCopy, new_key
from support.remotes.opened import check, opened
from support.remotes.pushing import Target
from support.remotes.serving import Asked, served
from support.remotes.way_out import way_out

OWN = "keybearer@ops.iam.gserviceaccount.com"
EMAIL = "syncs-5f3c5d9e-6a52@shop.iam.gserviceaccount.com"
PLACES = {
    "projects": {"scope": "global", "projectId": "shop"},
    "projects.locations": {"scope": "region", "projectId": "shop", "locationId": "europe-west4"},
}


@pytest.fixture(scope="module")
def secret_manager() -> DiscoveryDocument:
    return DiscoveryDocument("secretmanager.v1")


@pytest.fixture(scope="module")
def iam_credentials() -> DiscoveryDocument:
    return DiscoveryDocument("iamcredentials.v1")


@pytest.mark.parametrize("place", PLACES)
async def test_what_is_asked_and_answered_is_as_described(
    place: str, secret_manager: DiscoveryDocument, iam_credentials: DiscoveryDocument
) -> None:
    pem, public = new_key()
    cloud = GcpCopy()
    cloud.keys, cloud.impersonators, cloud.rights = {OWN: public}, {EMAIL: {OWN}}, {EMAIL}
    cloud.projects = {"projects/shop": {}, "projects/shop/locations/europe-west4": {}}
    cloud.page_max = 1
    credentials = ImpersonationCredentials(service_account_email=EMAIL)
    async with served(cloud), way_out(gcp=cloud.url) as way:
        own = OwnAccountCredentials(client_email=OWN, private_key=pem)
        context = dataclasses.replace(way.context, own_credentials={"gcp": own})
        await check(GCP_SECRET_MANAGER, credentials, context)
        pushed = Target(lambda: opened(GCP_SECRET_MANAGER, PLACES[place], credentials, context))
        await pushed.push({"ONE": "cnry-1", "TWO": "cnry-2"})
        await pushed.push({"TWO": "cnry-new"})
    asked = {
        (iam_credentials if "serviceAccounts" in one.path else secret_manager).hold(one)
        for one in cloud.visits.asked
        if one.line != "POST /token"
    }
    methods = ("list", "create", "addVersion", "delete", "versions.access")
    assert asked == {
        "iamcredentials.projects.serviceAccounts.generateAccessToken",
        *(f"secretmanager.{place}.secrets.{method}" for method in methods),
    }


@pytest.mark.parametrize(
    "wrong",
    [
        Asked("GET", "/v1/projects/p/secret", {}, b"", 404, b""),
        Asked("GET", "/v1/projects/p/secrets?limit=1", {}, b"", 200, b"{}"),
        Asked("GET", "/v1/projects/p/secrets?pageSize=x", {}, b"", 200, b"{}"),
        Asked("GET", "/v1/projects/p/secrets", {}, b"", 200, b'{"items": []}'),
        Asked("POST", "/v1/projects/p/secrets/A:addVersion", {}, b"", 400, b""),
        Asked("POST", "/v1/projects/p/secrets/A:addVersion", {}, b'{"data": "YQ=="}', 400, b""),
        Asked("POST", "/v1/projects/p/secrets/A:addVersion", {}, b'{"payload": {"data": 1}}', 400, b""),
    ],
)
def test_what_is_not_described_is_found(secret_manager: DiscoveryDocument, wrong: Asked) -> None:
    with pytest.raises(AssertionError):
        secret_manager.hold(wrong)
