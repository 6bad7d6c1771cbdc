"""The destination `gcp-secret-manager`, and its app, against a copy of Google's cloud."""

from __future__ import annotations

import asyncio
import dataclasses
import functools
import json
from collections.abc import AsyncIterator, Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from aiohttp import web
from pydantic import ValidationError

from keybearer.destinations.app import Issued
from keybearer.destinations.gcp_secret_manager import (
    GCP_SECRET_MANAGER,
    ImpersonationCredentials,
    OwnAccountCredentials,
)
from keybearer.destinations.protocol import Present
from keybearer.destinations.remote import (
    RemoteDeniedError,
    RemoteMissingError,
    RemoteRefusedError,
    RemoteRequest,
    RemoteUnavailableError,
)
from keybearer.destinations.session import Session
from keybearer.wire.key_schema import KeyNaming
from support.remotes.driving import change_of, run
from support.remotes.gcp import GcpCopy, new_key, refusal
from support.remotes.opened import check, opened
from support.remotes.pushing import Target
from support.remotes.serving import served
from support.remotes.spoiling import spoil
from support.remotes.way_out import WayOut, way_out

OWN = "keybearer@ops.iam.gserviceaccount.com"
EMAIL = "syncs-5f3c5d9e-6a52@shop.iam.gserviceaccount.com"
PROJECT, REGION = "projects/shop", "projects/shop/locations/europe-west4"
SCOPES = {
    "everywhere": ({"scope": "global", "projectId": "shop"}, PROJECT),
    "in a region": ({"scope": "region", "projectId": "shop", "locationId": "europe-west4"}, REGION),
}
own_key = functools.cache(new_key)

Make = Callable[..., Target]


def own(pem: str = "") -> OwnAccountCredentials:
    pem = pem or own_key()[0]
    file = {"type": "service_account", "client_email": OWN, "private_key": pem, "private_key_id": "k1"}
    return OwnAccountCredentials.model_validate(
        {**file, "project_id": "ops", "token_uri": "https://elsewhere.test"}
    )


@pytest.fixture
async def copy() -> AsyncIterator[GcpCopy]:
    cloud = GcpCopy()
    cloud.keys = {OWN: own_key()[1]}
    cloud.impersonators = {EMAIL: {OWN}}
    cloud.projects = {PROJECT: {}, REGION: {}}
    cloud.rights = {EMAIL}
    async with served(cloud):
        yield cloud


@pytest.fixture
async def way(copy: GcpCopy) -> AsyncIterator[WayOut]:
    async with way_out(gcp=copy.url) as opened:
        opened.context = dataclasses.replace(opened.context, own_credentials={"gcp": own()})
        yield opened


def credentials(email: str = EMAIL) -> ImpersonationCredentials:
    return ImpersonationCredentials(service_account_email=email)


@pytest.fixture
def target(way: WayOut) -> Make:
    """Return what makes a place to sync to, all regions of the project unless another is named."""

    def make(config: dict[str, Any] | None = None, naming: KeyNaming | None = None) -> Target:
        wanted, named = config or SCOPES["everywhere"][0], naming or KeyNaming("", "")
        return Target(
            lambda: opened(GCP_SECRET_MANAGER, wanted, credentials(), way.context, naming=named), named
        )

    return make


def writes(copy: GcpCopy) -> list[str]:
    """Return what was asked that changes something, without logins."""
    return [line for line in copy.visits.writes() if "/secrets" in line]


@pytest.mark.parametrize("scope", SCOPES)
async def test_secrets_arrive_as_they_are(copy: GcpCopy, target: Make, scope: str) -> None:
    config, place = SCOPES[scope]
    values = {"ONE": "cnry-1", "two-2": "cnry-ü $HOME\n${x}\n"}
    await target(config).push(values)
    assert copy.values(place) == values
    assert [line.rpartition("/")[2] for line in writes(copy)] == [
        "secrets", "ONE:addVersion", "secrets", "two-2:addVersion",
    ]  # fmt: skip
    expected: dict[str, Any] | None = {"automatic": {}} if place == PROJECT else None
    assert all(secret.replication == expected for secret in copy.projects[place].values())


async def test_new_secrets_of_all_regions_may_be_kept_at_one_location(copy: GcpCopy, target: Make) -> None:
    config = {"scope": "global", "projectId": "shop", "locationId": "europe-west4"}
    await target(config).push({"ONE": "cnry-1"})
    kept = {"userManaged": {"replicas": [{"location": "europe-west4"}]}}
    assert copy.projects[PROJECT]["ONE"].replication == kept


async def test_names_that_the_key_schema_does_not_make_stay_unread(copy: GcpCopy, target: Make) -> None:
    copy.put(PROJECT, "deploy", "cnry-foreign")
    copy.put(PROJECT, "KB_STALE", "cnry-stale")
    copy.put(PROJECT, "KB_OTHERS", "cnry-others")
    pushed = target(naming=KeyNaming.of("KB_{{secretKey}}", "prod"))
    pushed.own("KB_STALE")
    await pushed.push({"ONE": "cnry-1"})
    assert copy.values(PROJECT) == {
        "deploy": "cnry-foreign",
        "KB_ONE": "cnry-1",
        "KB_OTHERS": "cnry-others",
    }
    assert not [line for line in copy.visits.lines() if "/deploy" in line]


@pytest.mark.parametrize("state", ["DISABLED", "DESTROYED", "none", "bytes"])
async def test_a_secret_without_a_value_has_none_and_is_written(
    copy: GcpCopy, target: Make, state: str
) -> None:
    copy.put(PROJECT, "ONE", b"\xff\xfe" if state == "bytes" else "cnry-1")
    if state == "none":
        copy.projects[PROJECT]["ONE"].versions.clear()
    elif state != "bytes":
        copy.projects[PROJECT]["ONE"].versions[-1].state = state
    pushed = target()
    assert (await pushed.make().read([]))["ONE"].value is None
    await pushed.push({"ONE": "cnry-1"})
    assert copy.values(PROJECT) == {"ONE": "cnry-1"}


async def test_what_google_says_of_a_write_is_never_told(copy: GcpCopy, target: Make) -> None:
    for status in (400, 403, 412):
        word = {412: "FAILED_PRECONDITION"}.get(status, "")
        copy.visits.answer_instead("POST", "addVersion", lambda: refusal(status, "cnry-1", word))  # noqa: B023 - used at once
        with pytest.raises((RemoteRefusedError, RemoteDeniedError)) as caught:
            await target().push({"ONE": "cnry-1"})
        assert "cnry-" not in str(caught.value)


async def test_a_secret_that_is_created_or_deleted_meanwhile_is_written_all_the_same(
    copy: GcpCopy, target: Make
) -> None:
    copy.put(PROJECT, "TWO", "cnry-there")
    made = target().make()
    await made.read([])
    copy.put(PROJECT, "ONE", "cnry-faster")
    del copy.projects[PROJECT]["TWO"]
    await run(made, change_of({"ONE": "cnry-1", "TWO": "cnry-2"}, "GONE"))
    assert copy.values(PROJECT) == {"ONE": "cnry-1", "TWO": "cnry-2"}


async def test_a_project_that_the_account_may_not_use_is_told(target: Make) -> None:
    with pytest.raises(RemoteDeniedError, match="Permission denied on resource 'projects/other'"):
        await target({"scope": "global", "projectId": "other"}).push({"ONE": "cnry-1"})


@pytest.mark.parametrize("listed", [[], {"secrets": 1}, {"secrets": [1]}, {"secrets": [{"name": ""}]}])
async def test_a_list_of_another_form_is_an_outage(copy: GcpCopy, target: Make, listed: object) -> None:
    copy.visits.answer_instead("GET", "", lambda: web.json_response(listed))
    with pytest.raises(RemoteUnavailableError):
        await target().make().read([])


@pytest.mark.parametrize("payload", [1, {"data": 1}, {"data": "?"}])
async def test_a_value_of_another_form_is_an_outage(copy: GcpCopy, target: Make, payload: object) -> None:
    copy.put(PROJECT, "ONE", "cnry-1")
    answer = {"name": "projects/1/secrets/ONE/versions/1", "payload": payload}
    copy.visits.answer_instead("GET", ":access", lambda: web.json_response(answer))
    with pytest.raises(RemoteUnavailableError):
        await target().make().read([])


@pytest.mark.parametrize(
    ("answer", "error"),
    [
        (lambda: refusal(400, "a reason", "INVALID_ARGUMENT"), RemoteRefusedError),
        (lambda: web.Response(status=400, text="<html>"), RemoteRefusedError),
        (lambda: refusal(403, "a reason", "PERMISSION_DENIED"), RemoteDeniedError),
    ],
)
async def test_a_secret_that_is_not_shown_is_told_with_the_reason(
    copy: GcpCopy, target: Make, answer: Callable[[], web.Response], error: type[Exception]
) -> None:
    copy.put(PROJECT, "ONE", "cnry-1")
    copy.visits.answer_instead("GET", ":access", answer)
    with pytest.raises(error, match="read the secret 'ONE' of the project 'shop'"):
        await target().make().read([])


async def test_a_secret_that_is_gone_without_a_word_has_no_value(copy: GcpCopy, target: Make) -> None:
    copy.put(PROJECT, "ONE", "cnry-1")
    copy.visits.answer_instead("GET", ":access", lambda: web.Response(status=404, text="<html>"))
    assert await target().make().read([]) == {"ONE": Present(None)}


async def test_a_write_that_finds_no_secret_each_time_is_sent_again_after_pauses_and_given_up(
    copy: GcpCopy, way: WayOut, target: Make
) -> None:
    copy.put(PROJECT, "ONE", "cnry-0")
    copy.visits.answer_instead("POST", "addVersion", lambda: refusal(404, "none", "NOT_FOUND"), times=-1)
    with pytest.raises(RemoteUnavailableError, match="it isn't ready after"):
        await target().push({"ONE": "cnry-1"})
    assert len([line for line in writes(copy) if line.endswith("addVersion")]) == 10
    # There is no pause after the first refusal, and none after the last.
    assert way.waits == [timedelta(seconds=2)] * 8


# The app.


async def test_an_account_that_the_service_may_impersonate_is_right(copy: GcpCopy, way: WayOut) -> None:
    for _ in range(2):
        await check(GCP_SECRET_MANAGER, credentials(), way.context)
    one = [
        "POST /token",
        f"POST /v1/projects/-/serviceAccounts/{EMAIL.replace('@', '%40')}:generateAccessToken",
    ]
    assert copy.visits.lines() == one * 2


async def test_an_account_that_it_may_not_is_wrong(copy: GcpCopy, way: WayOut) -> None:
    copy.impersonators.clear()
    with pytest.raises(RemoteDeniedError, match=r"Token Creator.*PERMISSION_DENIED"):
        await check(GCP_SECRET_MANAGER, credentials(), way.context)


@pytest.mark.parametrize("email", ["syncs@shop.test", "syncs-00000000-0000@shop.test", f"a@{EMAIL}"])
async def test_an_account_whose_name_is_not_for_the_organization_is_nobody_s(
    copy: GcpCopy, way: WayOut, email: str
) -> None:
    copy.impersonators[email] = {OWN}
    given = ImpersonationCredentials.model_construct(service_account_email=email)
    with pytest.raises(RemoteRefusedError, match="end with 5f3c5d9e-6a52 before the @"):
        await check(GCP_SECRET_MANAGER, given, way.context)
    assert copy.visits.asked == []


async def test_a_token_that_one_organization_got_is_no_other_s(
    copy: GcpCopy, way: WayOut, target: Make
) -> None:
    await target().push({"ONE": "cnry-1"})
    other = dataclasses.replace(way.context, organization_id="00000000-1111-4a9a-9a0e-0d5d6f1c2b3a")
    config, _ = SCOPES["everywhere"]
    copy.visits.asked.clear()
    with pytest.raises(RemoteRefusedError, match="end with 00000000-1111 before the @"):
        await opened(GCP_SECRET_MANAGER, config, credentials(), other).read([])
    assert copy.visits.asked == []


async def test_a_check_waits_for_no_token_of_another_organization(way: WayOut) -> None:
    other = dataclasses.replace(way.context, organization_id="00000000-1111-4a9a-9a0e-0d5d6f1c2b3a")
    right, wrong = await asyncio.gather(
        *(check(GCP_SECRET_MANAGER, credentials(), context) for context in (way.context, other)),
        return_exceptions=True,
    )
    assert right is None
    assert isinstance(wrong, RemoteRefusedError)


async def test_without_an_account_of_its_own_the_service_says_so(way: WayOut) -> None:
    bare = dataclasses.replace(way.context, own_credentials={})
    with pytest.raises(RemoteRefusedError, match="--app-credentials gcp=FILE"):
        await check(GCP_SECRET_MANAGER, credentials(), bare)


async def test_a_wrong_key_of_the_service_is_told(way: WayOut) -> None:
    wrong = dataclasses.replace(way.context, own_credentials={"gcp": own(new_key()[0])})
    with pytest.raises(RemoteDeniedError, match="invalid_grant"):
        await check(GCP_SECRET_MANAGER, credentials(), wrong)
    none = dataclasses.replace(way.context, own_credentials={"gcp": own("cnry-key")})
    with pytest.raises(RemoteRefusedError, match="no RSA key") as caught:
        await check(GCP_SECRET_MANAGER, credentials(), none)
    assert "cnry-" not in str(caught.value)


async def test_a_token_that_is_withdrawn_is_got_anew(copy: GcpCopy, target: Make) -> None:
    pushed = target()
    await pushed.push({"ONE": "cnry-1"})
    copy.withdraw_tokens()
    await pushed.push({"ONE": "cnry-2"})
    assert copy.values(PROJECT) == {"ONE": "cnry-2"}


@pytest.mark.parametrize("path", ["/token", "generateAccessToken"])
@pytest.mark.parametrize("answer", [{}, [], {"accessToken": "t", "expireTime": "soon"}])
async def test_a_login_of_another_form_is_an_outage(
    copy: GcpCopy, way: WayOut, path: str, answer: object
) -> None:
    copy.visits.answer_instead("POST", path, lambda: web.json_response(answer))
    with pytest.raises(RemoteUnavailableError):
        await check(GCP_SECRET_MANAGER, credentials(), way.context)


@pytest.mark.parametrize("status", [302, 404])
async def test_what_is_no_google_is_told(copy: GcpCopy, way: WayOut, status: int) -> None:
    copy.visits.answer_instead("POST", "/token", lambda: web.Response(status=status))
    with pytest.raises(RemoteMissingError):
        await check(GCP_SECRET_MANAGER, credentials(), way.context)


@pytest.mark.parametrize(
    ("scope", "url"),
    [
        ("everywhere", f"https://secretmanager.googleapis.com/v1/{PROJECT}/secrets"),
        ("in a region", f"https://secretmanager.europe-west4.rep.googleapis.com/v1/{REGION}/secrets"),
    ],
)
async def test_the_usual_places_are_the_vendor_s(way: WayOut, scope: str, url: str) -> None:
    asked: list[str] = []

    def note(request: RemoteRequest) -> RemoteRequest:
        asked.append(request.url)
        raise RemoteUnavailableError("far away")

    token = Issued({"token": "cnry-t"}, datetime.max.replace(tzinfo=UTC))

    async def issue(_: Session) -> Issued:
        return token

    await Session(
        dataclasses.replace(GCP_SECRET_MANAGER.app, issue=issue), credentials(), way.context
    ).token()
    way.context = dataclasses.replace(way.context, endpoints={})
    spoil(way, request=note)
    with pytest.raises(RemoteUnavailableError):
        await opened(GCP_SECRET_MANAGER, SCOPES[scope][0], credentials(), way.context).read([])
    assert [one.partition("?")[0] for one in asked] == [url]


@pytest.mark.parametrize(
    "wrong",
    [
        {"scope": "region", "projectId": "shop"},
        {"scope": "region", "projectId": "shop", "locationId": "a.evil.test/"},
        {"scope": "global", "projectId": "a/b"},
        {"scope": "global", "projectId": ".."},
        {"scope": "zone", "projectId": "shop"},
        {"scope": "global", "projectId": "shop", "other": 1},
    ],
)
def test_a_configuration_that_is_none_is_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        GCP_SECRET_MANAGER.config.validate_python(wrong)


def test_the_same_place_is_known_whatever_its_replication() -> None:
    def place(config: dict[str, Any]) -> object:
        return GCP_SECRET_MANAGER.place(GCP_SECRET_MANAGER.config.validate_python(config))

    everywhere, regional = (config for config, _ in SCOPES.values())
    assert place(everywhere) == place({**everywhere, "locationId": "europe-west4"})
    assert place(everywhere) != place(regional) != place({**regional, "locationId": "europe-west1"})


def test_the_key_of_the_service_is_in_no_repr() -> None:
    assert "PRIVATE" not in repr(own())
    given = {"clientEmail": OWN, "privateKey": own_key()[0], "privateKeyId": "k1"}
    assert own() == OwnAccountCredentials.model_validate_json(json.dumps(given))
