"""What the driver sends and the copy of the code host answers, held against the vendor's own description."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

import pytest

from keybearer.destinations.codehost import CODEHOST
from keybearer.destinations.codehost_app import (
    GitHubAppCredentials,
    InstallationCredentials,
    OwnCredentials,
    PatCredentials,
)
from support.remotes.codehost import CodehostCopy
from support.remotes.opened import check, exchange, opened
from support.remotes.pushing import Target
from support.remotes.serving import served
from support.remotes.vendor_description import VendorDescription
from support.remotes.way_out import way_out
from support.sdks.installing import npm_file
from support.virtual_time import VirtualTime

LOCK = Path(__file__).parents[3] / "requirements" / "openapi"
SECRETS = ("", "/public-key", "/{secret_name}")
ORGANIZATION = "/orgs/{org}/actions/secrets"
SELECTED = {
    "scope": "organization",
    "org": "acme",
    "visibility": "selected",
    "selectedRepositoryIds": [7, 8],
}
PLACES: dict[str, dict[str, Any]] = {
    ORGANIZATION: SELECTED,
    "/repos/{owner}/{repo}/actions/secrets": {"scope": "repository", "owner": "acme", "repo": "shop"},
    "/repos/{owner}/{repo}/environments/{environment_name}/secrets": {
        "scope": "repository-environment",
        "owner": "acme",
        "repo": "shop",
        "env": "prod eu/ü",
    },
}
VISIBILITIES = ("all", "private")
PARTIAL = {"/user", "/user/installations"}
"""Whose answers the copy gives in part."""


@pytest.fixture(scope="session")
def description() -> VendorDescription:
    file = npm_file("codehost-openapi", LOCK, "@octokit/openapi/generated/api.github.com.json")
    return VendorDescription(file)


@pytest.mark.parametrize("root", ["", "/api/v3"], ids=["the cloud", "a server of one's own"])
@pytest.mark.parametrize(
    ("path", "config"),
    [
        *PLACES.items(),
        *(
            (ORGANIZATION, {"scope": "organization", "org": "acme", "visibility": one})
            for one in VISIBILITIES
        ),
    ],
    ids=[*PLACES, *VISIBILITIES],
)
async def test_secrets_travel_as_the_vendor_describes_it(
    description: VendorDescription, path: str, config: dict[str, Any], root: str
) -> None:
    copy = CodehostCopy(VirtualTime())
    copy.tokens = {"ghp_cnry-admin": True}
    place = (
        copy.organization("acme")
        if config["scope"] == "organization"
        else copy.repository("acme", "shop", config.get("env"))
    )
    for number in range(105 if config["scope"] == "organization" else 3):
        copy.put(place, f"STALE_{number}", "cnry-s")
    async with served(copy), way_out(codehost=copy.url) as way:
        own = {"instance_type": "server", "host": copy.url} if root else {}
        credentials = PatCredentials(personal_access_token="ghp_cnry-admin", **own)
        target = Target(lambda: opened(CODEHOST, config, credentials, way.context))
        await target.push({"ONE": "cnry-1", "TWO": "cnry-2"}, removes_nothing=True)
        await target.push({"ONE": "cnry-new"})
    assert all(one.path.startswith(f"{root}/") for one in copy.visits.asked)
    asked = {(one.method, description.hold(one, root).path, one.status) for one in copy.visits.asked}
    collection, key, one = (f"{path}{end}" for end in SECRETS)
    assert asked == {
        ("GET", collection, 200),
        ("GET", key, 200),
        ("PUT", one, 201),
        ("PUT", one, 204),
        ("DELETE", one, 204),
    }


async def test_who_asks_is_proved_as_the_vendor_describes_it(description: VendorDescription) -> None:
    copy = CodehostCopy(VirtualTime())
    key = copy.app("12", "71")
    copy.may_use("12", "ghu_cnry-person", "71")
    copy.client = ("client", "cnry-client")
    copy.codes["cnry-code"] = {"access_token": "ghu_cnry-person"}
    own = OwnCredentials(
        client_id="client", client_secret="cnry-client", git_hub_app_id="12", private_key=key
    )
    async with served(copy), way_out(clock=VirtualTime(), codehost=copy.url) as way:
        context = dataclasses.replace(way.context, own_credentials={"codehost": own})
        given = GitHubAppCredentials(installation_id="71", code="cnry-code")
        kept = await exchange(CODEHOST.app, given, context)
        assert isinstance(kept, InstallationCredentials)
        await check(CODEHOST, kept, context)
        await check(CODEHOST, PatCredentials(personal_access_token="ghu_cnry-person"), context)
    api = [one for one in copy.visits.asked if not one.path.startswith("/login/")]
    asked = {
        (one.method, description.hold(one, partial=one.path.partition("?")[0] in PARTIAL).path) for one in api
    }
    assert asked == {
        ("GET", "/user"),
        ("GET", "/user/installations"),
        ("POST", "/app/installations/{installation_id}/access_tokens"),
    }


async def test_what_is_not_as_described_is_found(description: VendorDescription) -> None:
    copy = CodehostCopy(VirtualTime())
    copy.tokens = {"ghp_cnry-admin": True}
    copy.repository("acme", "shop")
    async with served(copy), way_out(codehost=copy.url) as way:
        credentials = PatCredentials(personal_access_token="ghp_cnry-admin")
        config = PLACES["/repos/{owner}/{repo}/actions/secrets"]
        await Target(lambda: opened(CODEHOST, config, credentials, way.context)).push({"ONE": "cnry-1"})
    put = next(one for one in copy.visits.asked if one.method == "PUT")
    listed = next(one for one in copy.visits.asked if one.method == "GET")
    for wrong in (
        dataclasses.replace(put, path="/repos/acme/secrets/ONE"),
        dataclasses.replace(put, method="POST"),
        dataclasses.replace(put, status=200),
        dataclasses.replace(put, sent=b'{"encrypted_value": "a b"}'),
        dataclasses.replace(put, sent=put.sent.replace(b"{", b'{"visibility":"all",', 1)),
        dataclasses.replace(put, sent=b""),
        dataclasses.replace(put, headers={**put.headers, "Content-Type": "text/plain"}),
        dataclasses.replace(put, sent=put.sent.replace(b'"key_id"', b'"keyId"')),
        dataclasses.replace(listed, path=f"{listed.path}&size=1"),
        dataclasses.replace(listed, path=f"{listed.path}&page=last"),
        dataclasses.replace(listed, sent=b"{}"),
        dataclasses.replace(listed, answered=b'{"total_count": 1, "secrets": [{"name": "ONE"}]}'),
    ):
        with pytest.raises(AssertionError):
            description.hold(wrong)
