"""What is sent to Vault and to other services of this API, and how often they are asked for a token."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import pytest

from keybearer.destinations.catalogue import CATALOGUE
from keybearer.destinations.external_infisical import EXTERNAL_INFISICAL, MachineIdentityCredentials
from keybearer.destinations.hashicorp_vault import HASHICORP_VAULT, AccessTokenCredentials, AppRoleCredentials
from keybearer.destinations.remote import (
    RemoteDeniedError,
    RemoteMissingError,
    RemoteRefusedError,
    RemoteUnavailableError,
)
from keybearer.destinations.session import Call, Session
from support.remotes.opened import check
from support.remotes.way_out import WayOut, way_out
from support.scripted_server import Reply, ScriptedServer
from support.virtual_time import VirtualTime

VAULT_LOGIN = {"auth": {"client_token": "cnry-t1", "lease_duration": 600}}
LOGIN = {"accessToken": "cnry-t1", "expiresIn": 600, "accessTokenMaxTTL": 600, "tokenType": "Bearer"}
CLIENT_ID = "5f3c5d9e-6a52-4a9a-9a0e-0d5d6f1c2b3a"


@pytest.fixture
def time() -> VirtualTime:
    return VirtualTime()


@pytest.fixture
async def way(time: VirtualTime) -> AsyncIterator[WayOut]:
    async with way_out(clock=time) as opened:
        yield opened


def get(path: str) -> Call:
    return Call(method="GET", path=path, to="show it")


def role(url: str, namespace: str | None = None) -> AppRoleCredentials:
    return AppRoleCredentials(instance_url=url, role_id="role", secret_id="cnry-s", namespace=namespace)


def token(url: str, namespace: str | None = None) -> AccessTokenCredentials:
    return AccessTokenCredentials(instance_url=url, access_token="cnry-t", namespace=namespace)


def machine(url: str) -> MachineIdentityCredentials:
    return MachineIdentityCredentials(
        instance_url=url, machine_identity_client_id=CLIENT_ID, machine_identity_client_secret="cnry-s"
    )


async def test_vault_is_told_token_and_namespace(way: WayOut) -> None:
    async with ScriptedServer(Reply(body={"data": {}})) as server:
        await check(HASHICORP_VAULT, token(f"{server.url}/below/", "team/a"), way.context)
    seen = server.seen[0]
    assert (seen.method, seen.path) == ("GET", "/below/v1/auth/token/lookup-self")
    assert seen.headers["X-Vault-Token"] == "cnry-t"
    assert seen.headers["X-Vault-Namespace"] == "team/a"
    assert seen.headers["X-Vault-Request"] == "true"


async def test_vault_is_told_no_namespace_where_there_is_none(way: WayOut) -> None:
    async with ScriptedServer(Reply(body={"data": {}})) as server:
        await check(HASHICORP_VAULT, token(server.url), way.context)
    assert "X-Vault-Namespace" not in server.seen[0].headers


async def test_a_role_logs_in_within_its_namespace_and_its_token_is_used(way: WayOut) -> None:
    async with ScriptedServer(Reply(body=VAULT_LOGIN), Reply(body={})) as server:
        session = Session(HASHICORP_VAULT.app, role(server.url, "team"), way.context)
        await session.ask(get("/v1/secret/data/a%20b%25c"))
    login, seen = server.seen
    assert (login.method, login.path) == ("POST", "/v1/auth/approle/login")
    assert login.json == {"role_id": "role", "secret_id": "cnry-s"}
    assert "X-Vault-Token" not in login.headers
    assert login.headers["X-Vault-Namespace"] == "team"
    assert seen.path == "/v1/secret/data/a%20b%25c"
    assert seen.headers["X-Vault-Token"] == "cnry-t1"


async def test_many_runs_at_once_share_one_login(way: WayOut) -> None:
    async with ScriptedServer(Reply(body=VAULT_LOGIN), Reply(body={})) as server:
        sessions = [Session(HASHICORP_VAULT.app, role(server.url), way.context) for _ in range(10)]
        await asyncio.gather(*(session.ask(get("/v1/secret/a")) for session in sessions))
    assert [seen.path for seen in server.seen].count("/v1/auth/approle/login") == 1


async def test_changed_credentials_get_a_token_of_their_own(way: WayOut) -> None:
    async with ScriptedServer(Reply(body=VAULT_LOGIN)) as server:
        given = role(server.url)
        for changed in (
            given,
            given.model_copy(update={"secret_id": "cnry-other"}),
            role(server.url, "team"),
        ):
            await Session(HASHICORP_VAULT.app, changed, way.context).ask(get("/v1/a"))
    assert [seen.path for seen in server.seen] == ["/v1/auth/approle/login", "/v1/a"] * 3


@pytest.mark.parametrize(("lease", "lasts"), [(600, 540), (0, 3540), (10**9, 3540)])
async def test_a_token_is_kept_as_long_as_it_surely_holds(
    way: WayOut, time: VirtualTime, lease: int, lasts: int
) -> None:
    login = {"auth": {"client_token": "cnry-t1", "lease_duration": lease}}
    async with ScriptedServer(Reply(body=login)) as server:
        for _ in range(2):
            await Session(HASHICORP_VAULT.app, role(server.url), way.context).ask(get("/v1/a"))
            await time.advance(lasts - 1)
        assert len(server.seen) == 3
        await time.advance(3)
        await Session(HASHICORP_VAULT.app, role(server.url), way.context).ask(get("/v1/a"))
    assert len(server.seen) == 5


async def test_a_refusal_is_tried_again_once_with_a_new_token_and_no_more(way: WayOut) -> None:
    refused = Reply(403, {"errors": ["permission denied"]})
    async with ScriptedServer(Reply(body=VAULT_LOGIN), Reply(body={})) as server:
        await Session(HASHICORP_VAULT.app, role(server.url), way.context).ask(get("/v1/a"))
        url = server.url
        server._replies = (Reply(), Reply(), refused, Reply(body=VAULT_LOGIN), refused)
        session = Session(HASHICORP_VAULT.app, role(url), way.context)
        with pytest.raises(RemoteDeniedError):
            await session.ask(get("/v1/b"))
        assert [seen.path for seen in server.seen[2:]] == ["/v1/b", "/v1/auth/approle/login", "/v1/b"]
        with pytest.raises(RemoteDeniedError):
            await session.ask(get("/v1/b"))
        assert len(server.seen) == 6


async def test_a_given_token_is_not_renewed(way: WayOut) -> None:
    async with ScriptedServer(Reply(403, {"errors": ["permission denied"]})) as server:
        with pytest.raises(RemoteDeniedError):
            await check(HASHICORP_VAULT, token(server.url), way.context)
    assert len(server.seen) == 1


@pytest.mark.parametrize(
    ("reply", "error"),
    [
        (Reply(400, {"errors": ["invalid role or secret ID cnry-s"]}), RemoteDeniedError),
        (Reply(403, {"errors": ["cnry-s"]}), RemoteDeniedError),
        (Reply(404, {"errors": ["cnry-s"]}), RemoteMissingError),
        (Reply(413, {"errors": ["cnry-s"]}), RemoteRefusedError),
        (Reply(500, {"errors": ["cnry-s"]}), RemoteUnavailableError),
        (Reply(503, {"errors": ["Vault is sealed"]}), RemoteUnavailableError),
        (Reply(307, b"", {"Location": "http://cnry-s"}), RemoteMissingError),
        (Reply(200, b"<html>cnry-s"), RemoteUnavailableError),
        (Reply(200, {"auth": None}), RemoteUnavailableError),
        (Reply(200, {"auth": {"client_token": "", "lease_duration": 1}}), RemoteUnavailableError),
        (Reply(200, {"auth": {"client_token": "cnry-t", "lease_duration": True}}), RemoteUnavailableError),
        (Reply(200, {"auth": {"client_token": "cnry-t", "lease_duration": "1"}}), RemoteUnavailableError),
    ],
)
async def test_a_login_at_vault_that_gives_no_token_is_told_without_its_words(
    way: WayOut, reply: Reply, error: type[Exception]
) -> None:
    async with ScriptedServer(reply) as server:
        with pytest.raises(error) as caught:
            await check(HASHICORP_VAULT, role(server.url), way.context)
    assert "cnry-" not in str(caught.value)


async def test_what_vault_says_of_a_token_alone_is_quoted_in_part(way: WayOut) -> None:
    async with ScriptedServer(
        Reply(500, {"errors": ["internal  error\n" + "x " * 500 + "hvs." + "t" * 90, 7]})
    ) as server:
        with pytest.raises(RemoteUnavailableError, match=r"500 .*: internal error (x ?)+$") as caught:
            await check(HASHICORP_VAULT, token(server.url), way.context)
    assert len(str(caught.value)) < 400


async def test_another_service_is_told_the_token_of_its_login(way: WayOut) -> None:
    async with ScriptedServer(Reply(body=LOGIN), Reply(body={})) as server:
        await Session(EXTERNAL_INFISICAL.app, machine(f"{server.url}/api/"), way.context).ask(
            get("/api/v4/secrets?a=b")
        )
    login, probe, seen = server.seen
    assert (probe.method, probe.path) == ("GET", "/api/v4/secrets")
    assert (login.method, login.path) == ("POST", "/api/v1/auth/universal-auth/login")
    assert login.json == {"clientId": CLIENT_ID, "clientSecret": "cnry-s"}
    assert "Authorization" not in login.headers
    assert (seen.path, seen.query) == ("/api/v4/secrets", {"a": "b"})
    assert seen.headers["Authorization"] == "Bearer cnry-t1"


@pytest.mark.parametrize("status", [401, 403])
async def test_another_service_is_asked_for_a_new_token_once(way: WayOut, status: int) -> None:
    async with ScriptedServer(Reply(body=LOGIN), Reply(body={})) as server:
        await Session(EXTERNAL_INFISICAL.app, machine(server.url), way.context).ask(get("/a"))
        refused = Reply(status, {"error": "TokenError"})
        server._replies = (Reply(), Reply(), Reply(), refused, Reply(body=LOGIN), Reply(body={}), refused)
        session = Session(EXTERNAL_INFISICAL.app, machine(server.url), way.context)
        with pytest.raises(RemoteDeniedError):
            await session.ask(get("/b"))
        assert [seen.path for seen in server.seen[3:]] == [
            "/b", "/api/v1/auth/universal-auth/login", "/api/v4/secrets", "/b",
        ]  # fmt: skip
        with pytest.raises(RemoteDeniedError):
            await session.ask(get("/b"))
        assert len(server.seen) == 8


@pytest.mark.parametrize(("seconds", "lasts"), [(600, 540), (0, 3540), (2592000, 3540), (10**18, 3540)])
async def test_a_token_of_another_service_is_kept_as_long_as_it_surely_holds(
    way: WayOut, time: VirtualTime, seconds: int, lasts: int
) -> None:
    async with ScriptedServer(Reply(body={**LOGIN, "expiresIn": seconds})) as server:
        await Session(EXTERNAL_INFISICAL.app, machine(server.url), way.context).ask(get("/a"))
        await time.advance(lasts - 1)
        await Session(EXTERNAL_INFISICAL.app, machine(server.url), way.context).ask(get("/a"))
        assert len(server.seen) == 4
        await time.advance(3)
        await Session(EXTERNAL_INFISICAL.app, machine(server.url), way.context).ask(get("/a"))
    assert len(server.seen) == 7


@pytest.mark.parametrize(
    ("reply", "error", "text"),
    [
        (
            Reply(401, {"message": "cnry-s", "error": "UnauthorizedError"}),
            RemoteDeniedError,
            "UnauthorizedError",
        ),
        (Reply(422, {"message": ["cnry-s"], "error": "cnry-s 1"}), RemoteRefusedError, "refuses to log"),
        (Reply(404, {"message": "cnry-s"}), RemoteMissingError, "no such place"),
        (Reply(500, b"cnry-s"), RemoteUnavailableError, "500"),
        (Reply(302, b"", {"Location": "http://cnry-s"}), RemoteMissingError, "was moved"),
        (Reply(200, b"<html>cnry-s"), RemoteUnavailableError, "JSON"),
        (Reply(200, {"accessToken": ""}), RemoteUnavailableError, "without a token"),
        (
            Reply(200, {"accessToken": "cnry-t", "expiresIn": "cnry-s"}),
            RemoteUnavailableError,
            "expiresIn until when it holds",
        ),
    ],
)
async def test_a_login_elsewhere_that_gives_no_token_is_told_without_its_words(
    way: WayOut, reply: Reply, error: type[Exception], text: str
) -> None:
    async with ScriptedServer(reply) as server:
        with pytest.raises(error, match=text) as caught:
            await check(EXTERNAL_INFISICAL, machine(server.url), way.context)
    assert "cnry-" not in str(caught.value)


@pytest.mark.parametrize("app", ["hashicorp-vault", "external-infisical"])
async def test_credentials_of_another_app_are_a_mistake_of_ours(way: WayOut, app: str) -> None:
    other = machine("http://x.example") if app == "hashicorp-vault" else token("http://x.example")
    kind = CATALOGUE.kind(app)
    assert kind is not None
    with pytest.raises(TypeError, match="Credentials"):
        await check(kind, other, way.context)
