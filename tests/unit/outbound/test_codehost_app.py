"""The app `codehost`: tokens, installations and codes of logins, against a copy of the host."""

from __future__ import annotations

import dataclasses
from collections.abc import AsyncIterator
from datetime import timedelta
from typing import Any

import pytest
from aiohttp import web
from keybearer.outbound.apps.codehost import CodeHost
from keybearer.outbound.apps.codehost_api import CodehostPlace, place_of

from keybearer.destinations.codehost_app import (
    GitHubAppCredentials,
    InstallationCredentials,
    LoginCredentials,
    OAuthCredentials,
    OwnCredentials,
    PatCredentials,
)
from keybearer.destinations.remote import (
    RemoteDeniedError,
    RemoteMissingError,
    RemoteRefusedError,
    RemoteUnavailableError,
)
from keybearer.destinations.session import AppContext, Exchanging
from keybearer.wire.credentials import Credentials
from support.remotes.codehost import CodehostCopy
from support.remotes.serving import served
from support.remotes.way_out import WayOut, way_out
from support.virtual_time import VirtualTime

TOKEN = "ghp_cnry-admin"
APP = "12"
MINE, OTHERS = "71", "72"
SECRET = "cnry-client-secret"


@pytest.fixture
def time() -> VirtualTime:
    return VirtualTime()


@pytest.fixture
async def copy(time: VirtualTime) -> AsyncIterator[CodehostCopy]:
    host = CodehostCopy(time)
    host.tokens = {TOKEN: True}
    host.client = ("client", SECRET)
    async with served(host):
        yield host


@pytest.fixture
async def way(time: VirtualTime, copy: CodehostCopy) -> AsyncIterator[WayOut]:
    async with way_out(clock=time, codehost=copy.url) as opened:
        yield opened


@pytest.fixture
def key(copy: CodehostCopy) -> str:
    """Return the key of an app with two installations."""
    return copy.app(APP, MINE, OTHERS)


def owning(way: WayOut, **fields: Any) -> AppContext:  # noqa: ANN401 - fields of the model
    """Return a context of a service that is a client of the host, and has an app there if fields say so."""
    own = OwnCredentials.model_validate({"clientId": "client", "clientSecret": SECRET, **fields})
    return dataclasses.replace(way.context, own_credentials={"codehost": own})


PLACES = {
    "nothing is the cloud": ({}, "https://api.github.com", "https://github.com"),
    "the cloud by its name": ({"host": "GitHub.com/"}, "https://api.github.com", "https://github.com"),
    "a tenant of the cloud": (
        {"host": "acme.ghe.com", "instanceType": "cloud"},
        "https://api.acme.ghe.com",
        "https://acme.ghe.com",
    ),
    "a server": (
        {"host": "https://code.example.com:8443", "instanceType": "server"},
        "https://code.example.com:8443/api/v3",
        "https://code.example.com:8443",
    ),
    "a server without TLS": (
        {"host": "http://[::1]:80", "instanceType": "server"},
        "http://[::1]:80/api/v3",
        "http://[::1]:80",
    ),
}


@pytest.mark.parametrize("name", PLACES)
def test_where_the_host_answers(name: str) -> None:
    fields, api, web_root = PLACES[name]
    credentials = PatCredentials.model_validate({"personalAccessToken": TOKEN, **fields})
    assert place_of(credentials, {}) == CodehostPlace(api, web_root)


def test_another_place_of_the_cloud_says_nothing_of_servers() -> None:
    endpoints = {"codehost": "http://127.0.0.1:1/"}
    cloud = PatCredentials(personal_access_token=TOKEN)
    assert place_of(cloud, endpoints).api == "http://127.0.0.1:1"
    server = PatCredentials.model_validate(
        {"personalAccessToken": TOKEN, "instanceType": "server", "host": "a.example.com"}
    )
    assert place_of(server, endpoints).api == "https://a.example.com/api/v3"


async def test_a_token_that_the_host_takes_is_right(copy: CodehostCopy, way: WayOut) -> None:
    await CodeHost().check(PatCredentials(personal_access_token=TOKEN), way.context)
    await CodeHost().check(LoginCredentials(access_token=TOKEN), way.context)
    assert copy.visits.lines() == ["GET /user"] * 2


async def test_a_token_that_the_host_does_not_take_is_wrong(way: WayOut) -> None:
    with pytest.raises(RemoteDeniedError, match="revoked") as caught:
        await CodeHost().check(PatCredentials(personal_access_token="ghp_cnry-wrong"), way.context)
    assert "cnry-" not in str(caught.value)


async def test_what_the_host_says_is_not_told_where_it_repeats_the_token(
    copy: CodehostCopy, way: WayOut
) -> None:
    echo = {"message": f"the token {TOKEN} may not"}
    copy.visits.answer_instead("GET", "/user", lambda: web.json_response(echo, status=403))
    with pytest.raises(RemoteDeniedError) as caught:
        await CodeHost().check(PatCredentials(personal_access_token=TOKEN), way.context)
    assert str(caught.value) == "the credentials may not tell whose token it is"


async def test_what_the_host_says_is_cut_and_has_no_control_characters(
    copy: CodehostCopy, way: WayOut
) -> None:
    long = {"message": "a\x1b[31m\n" + "b" * 1000}
    copy.visits.answer_instead("GET", "/user", lambda: web.json_response(long, status=403))
    with pytest.raises(RemoteDeniedError) as caught:
        await CodeHost().check(PatCredentials(personal_access_token=TOKEN), way.context)
    assert str(caught.value).startswith("the credentials may not tell whose token it is: a [31m bbb")
    assert len(str(caught.value)) < 360


async def test_an_installation_is_right_if_its_key_gives_a_token_now(
    copy: CodehostCopy, way: WayOut, key: str
) -> None:
    installed = InstallationCredentials(installation_id=MINE, git_hub_app_id=APP, private_key=key)
    for _ in range(2):
        await CodeHost().check(installed, way.context)
    # A token that is kept from before would prove nothing.
    assert copy.visits.lines() == [f"POST /app/installations/{MINE}/access_tokens"] * 2


async def test_a_clock_that_is_a_little_ahead_is_right_still(
    copy: CodehostCopy, time: VirtualTime, way: WayOut, key: str
) -> None:
    class Ahead(VirtualTime):
        def now(self) -> Any:  # noqa: ANN401 - a datetime
            return time.now() + timedelta(seconds=50)

    installed = InstallationCredentials(installation_id=MINE, git_hub_app_id=APP, private_key=key)
    async with way_out(clock=Ahead(), codehost=copy.url) as ahead:
        await CodeHost().check(installed, ahead.context)
    await CodeHost().check(installed, way.context)


async def test_an_installation_or_app_that_the_host_does_not_know_is_wrong(
    copy: CodehostCopy, way: WayOut, key: str
) -> None:
    other_key = copy.app("13")
    fields = {"installation_id": MINE, "git_hub_app_id": APP, "private_key": key}
    with pytest.raises(RemoteMissingError, match="installationId"):
        await CodeHost().check(InstallationCredentials(**{**fields, "installation_id": "1"}), way.context)
    for wrong in ({"private_key": other_key}, {"git_hub_app_id": "14"}):
        with pytest.raises(RemoteDeniedError, match="gitHubAppId and privateKey"):
            await CodeHost().check(InstallationCredentials(**{**fields, **wrong}), way.context)
    with pytest.raises(RemoteRefusedError):
        await CodeHost().check(InstallationCredentials(**{**fields, "installation_id": ".."}), way.context)


@pytest.mark.parametrize(
    "wrong",
    ["cnry-no-key", "-----BEGIN RSA PRIVATE KEY-----\ncnry-\n-----END RSA PRIVATE KEY-----"],
)
async def test_a_key_that_is_none_is_told_without_it(way: WayOut, wrong: str) -> None:
    installed = InstallationCredentials(installation_id=MINE, git_hub_app_id=APP, private_key=wrong)
    with pytest.raises(RemoteRefusedError, match="no RSA key") as caught:
        await CodeHost().check(installed, way.context)
    assert caught.value.__cause__ is None
    assert "cnry-" not in str(caught.value)


@pytest.mark.parametrize("given", [{}, {"token": 1, "expires_at": "x"}, {"token": "t", "expires_at": "soon"}])
async def test_a_token_of_another_form_is_an_outage(
    copy: CodehostCopy, way: WayOut, key: str, given: dict[str, object]
) -> None:
    copy.visits.answer_instead("POST", "/access_tokens", lambda: web.json_response(given, status=201))
    installed = InstallationCredentials(installation_id=MINE, git_hub_app_id=APP, private_key=key)
    with pytest.raises(RemoteUnavailableError):
        await CodeHost().check(installed, way.context)


def test_the_app_exchanges() -> None:
    assert isinstance(CodeHost(), Exchanging)


async def test_a_token_is_kept_as_it_was_given(way: WayOut) -> None:
    given = PatCredentials(personal_access_token=TOKEN)
    assert await CodeHost().exchange(given, way.context) is given


async def test_of_an_installation_with_its_key_the_code_is_not_kept(
    copy: CodehostCopy, way: WayOut, key: str
) -> None:
    given = GitHubAppCredentials(installation_id=MINE, git_hub_app_id=APP, private_key=key, code="cnry-code")
    kept = await CodeHost().exchange(given, way.context)
    assert kept == InstallationCredentials(installation_id=MINE, git_hub_app_id=APP, private_key=key)
    assert copy.visits.asked == []


@pytest.mark.parametrize(
    "given",
    [OAuthCredentials(code="cnry-code"), GitHubAppCredentials(installation_id=MINE, code="cnry-code")],
)
async def test_a_service_that_is_no_client_of_the_host_says_what_to_do_instead(
    copy: CodehostCopy, way: WayOut, given: Credentials
) -> None:
    with pytest.raises(RemoteRefusedError, match=r"no client of this code host.*pat"):
        await CodeHost().exchange(given, way.context)
    assert copy.visits.asked == []


async def test_a_code_becomes_a_token_once(copy: CodehostCopy, way: WayOut) -> None:
    copy.codes["cnry-code"] = {"access_token": TOKEN}
    kept = await CodeHost().exchange(OAuthCredentials(code="cnry-code"), owning(way))
    assert kept == LoginCredentials(access_token=TOKEN)
    with pytest.raises(RemoteDeniedError, match="bad_verification_code") as caught:
        await CodeHost().exchange(OAuthCredentials(code="cnry-code"), owning(way))
    assert "cnry-" not in str(caught.value)


async def test_a_login_whose_token_ends_is_refused(copy: CodehostCopy, way: WayOut) -> None:
    copy.codes["cnry-code"] = {"access_token": TOKEN, "expires_in": 28800, "refresh_token": "cnry-r"}
    with pytest.raises(RemoteRefusedError, match="turn their expiration off"):
        await CodeHost().exchange(OAuthCredentials(code="cnry-code"), owning(way))


@pytest.mark.parametrize(
    "answer",
    [
        lambda: web.json_response({"token_type": "bearer"}),
        lambda: web.json_response({"access_token": ""}),
        lambda: web.Response(status=502),
    ],
)
async def test_an_exchange_without_a_token_is_an_outage(copy: CodehostCopy, way: WayOut, answer: Any) -> None:  # noqa: ANN401 - makes an answer
    copy.visits.answer_instead("POST", "/login", answer)
    with pytest.raises(RemoteUnavailableError):
        await CodeHost().exchange(OAuthCredentials(code="cnry-code"), owning(way))


async def test_what_the_service_has_at_one_host_is_sent_to_no_other(copy: CodehostCopy, way: WayOut) -> None:
    elsewhere = {"instanceType": "server", "host": copy.url}
    with pytest.raises(RemoteRefusedError, match="no client of this code host"):
        await CodeHost().exchange(
            OAuthCredentials.model_validate({"code": "cnry-code", **elsewhere}), owning(way)
        )
    assert copy.visits.asked == []
    copy.codes["cnry-code"] = {"access_token": TOKEN}
    kept = await CodeHost().exchange(
        OAuthCredentials.model_validate({"code": "cnry-code", **elsewhere}), owning(way, **elsewhere)
    )
    assert kept == LoginCredentials.model_validate({"accessToken": TOKEN, **elsewhere})


async def test_an_installation_of_the_services_app_needs_a_person_who_may_use_it(
    copy: CodehostCopy, way: WayOut, key: str
) -> None:
    context = owning(way, gitHubAppId=APP, privateKey=key)
    copy.may_use(APP, "ghu_cnry-person", MINE)
    for installation in (MINE, OTHERS):
        copy.codes["cnry-code"] = {"access_token": "ghu_cnry-person", "expires_in": 28800}
        given = GitHubAppCredentials(installation_id=installation, code="cnry-code")
        if installation == MINE:
            kept = await CodeHost().exchange(given, context)
            assert kept == InstallationCredentials(installation_id=MINE)
            await CodeHost().check(kept, context)
        else:
            with pytest.raises(RemoteDeniedError, match="may not use the installation"):
                await CodeHost().exchange(given, context)


async def test_all_pages_of_a_persons_installations_are_looked_through(
    copy: CodehostCopy, way: WayOut, key: str
) -> None:
    copy.may_use(APP, "ghu_cnry-person", *(str(number) for number in range(1000, 1150)))
    copy.codes["cnry-code"] = {"access_token": "ghu_cnry-person"}
    given = GitHubAppCredentials(installation_id="1149", code="cnry-code")
    kept = await CodeHost().exchange(given, owning(way, gitHubAppId=APP, privateKey=key))
    assert kept == InstallationCredentials(installation_id="1149")
    assert copy.visits.lines("GET") == ["GET /user/installations"] * 2


@pytest.mark.parametrize(
    ("fields", "given", "said"),
    [
        ({}, {"code": "cnry-code"}, "no app at this code host"),
        ({"gitHubAppId": APP}, {}, "code is required"),
        ({"gitHubAppId": APP}, {"code": "cnry-code", "gitHubAppId": "13"}, "this app's key"),
    ],
)
async def test_what_is_missing_for_the_services_app_is_told(
    copy: CodehostCopy, way: WayOut, key: str, fields: dict[str, str], given: dict[str, str], said: str
) -> None:
    context = owning(way, **({**fields, "privateKey": key} if fields else {}))
    with pytest.raises(RemoteRefusedError, match=said):
        await CodeHost().exchange(
            GitHubAppCredentials.model_validate({"installationId": MINE, **given}), context
        )
    assert copy.visits.asked == []


async def test_a_service_that_lost_its_app_says_so(way: WayOut) -> None:
    for context in (way.context, owning(way)):
        with pytest.raises(RemoteRefusedError, match="any more"):
            await CodeHost().check(InstallationCredentials(installation_id=MINE), context)
