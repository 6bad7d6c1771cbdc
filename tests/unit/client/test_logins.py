"""A client gets its token by a login when it first needs one, or it is given one and never logs in."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import httpx
import pytest

from keybearer.client import (
    NO_RETRIES,
    AsyncKeybearer,
    ClientError,
    InvalidArgument,
    Keybearer,
    KubernetesAuth,
    RateLimited,
    ServerFailure,
    SuppliedToken,
    TransportError,
    Unauthenticated,
)
from unit.client.harness import URL, FakeClock, FakeService, Runner, login_answer
from unit.client.token_answers import KUBERNETES, LDAP, LISTED, LOGIN, REVOKE, SECRETS, WHO, listed, refused


async def test_the_first_request_logs_in_and_later_ones_use_the_token(
    runner: Runner, service: FakeService
) -> None:
    service.on(LOGIN, login_answer()).on(SECRETS, LISTED)
    client = runner.client(WHO)
    assert service.seen == []
    await listed(runner, client)
    await listed(runner, client)
    assert service.paths == [LOGIN, SECRETS, SECRETS]
    assert service.body(0) == {"clientId": "id-1", "clientSecret": "cnry-client-secret"}
    assert service.bearers(SECRETS) == ["Bearer cnry-token-1"] * 2


async def test_logins_carry_no_token_even_when_there_is_one(runner: Runner, service: FakeService) -> None:
    service.on(LOGIN, login_answer()).on(LDAP, login_answer("cnry-token-2"))
    client = runner.client(SuppliedToken("cnry-old"))
    await runner.of(client.auth.universal_auth.login("id-1", "cnry-client-secret"))
    answer = await runner.of(
        client.auth.ldap.login(
            "0b5c1d2e-3f40-4a51-8b62-7c8d9e0f1a2b", "ada", "cnry-password", organization_slug="acme"
        )
    )
    assert service.bearers(LOGIN) == [None]
    assert service.bearers(LDAP) == [None]
    assert service.body() == {
        "identityId": "0b5c1d2e-3f40-4a51-8b62-7c8d9e0f1a2b",
        "username": "ada",
        "password": "cnry-password",
        "organizationSlug": "acme",
    }
    assert answer.access_token == client.auth.access_token == "cnry-token-2"


async def test_a_supplied_token_is_used_as_it_is_and_never_renewed_or_revoked(
    runner: Runner, service: FakeService, clock: FakeClock
) -> None:
    service.on(SECRETS, LISTED)
    client = runner.client(SuppliedToken("cnry-supplied"))
    await listed(runner, client)
    clock.seconds += 10**9
    await listed(runner, client)
    await runner.close(client)
    assert service.paths == [SECRETS, SECRETS]
    assert service.bearers(SECRETS) == ["Bearer cnry-supplied"] * 2


async def test_a_refused_supplied_token_is_an_error_at_once(runner: Runner, service: FakeService) -> None:
    service.on(SECRETS, refused())
    with pytest.raises(Unauthenticated):
        await listed(runner, runner.client(SuppliedToken("cnry-supplied")))
    assert service.paths == [SECRETS]


async def test_setting_a_token_makes_no_request_and_ends_logging_in(
    runner: Runner, service: FakeService
) -> None:
    service.on(LOGIN, login_answer()).on(SECRETS, LISTED, refused()).on(REVOKE, httpx.Response(200, json={}))
    client = runner.client(WHO)
    await runner.of(client.auth.universal_auth.login("id-1", "cnry-client-secret"))
    client.auth.set_access_token("cnry-supplied")
    await listed(runner, client)
    with pytest.raises(Unauthenticated):
        await listed(runner, client)
    assert service.paths == [LOGIN, SECRETS, SECRETS]
    await runner.close(client)
    assert service.paths[3:] == [REVOKE]
    assert service.body() == {"accessToken": "cnry-token-1"}


@pytest.mark.parametrize(
    ("token", "said"),
    [
        pytest.param("Bearer cnry-t", "without the word Bearer", id="with its prefix"),
        pytest.param("bearer cnry-t", "without the word Bearer", id="with its prefix in lower case"),
        pytest.param("", "empty", id="empty"),
        pytest.param("cnry-t\r\nX-Evil: 1", "character", id="with a line break"),
        pytest.param("cnry-t\n", "character", id="with a newline at the end"),
    ],
)
async def test_what_is_no_token_can_not_be_set(runner: Runner, token: str, said: str) -> None:
    client = runner.client()
    with pytest.raises(InvalidArgument, match=said) as error:
        client.auth.set_access_token(token)
    assert "cnry-" not in str(error.value)
    assert client.auth.access_token is None


async def test_without_credentials_requests_carry_no_token(runner: Runner, service: FakeService) -> None:
    service.on(SECRETS, refused())
    with pytest.raises(Unauthenticated):
        await listed(runner, runner.client())
    assert service.bearers(SECRETS) == [None]


async def test_a_failed_login_is_the_error_and_the_next_request_tries_again(
    runner: Runner, service: FakeService
) -> None:
    service.on(LOGIN, refused(), login_answer()).on(SECRETS, LISTED)
    client = runner.client(WHO)
    with pytest.raises(Unauthenticated) as error:
        await listed(runner, client)
    assert "cnry-" not in str(error.value)
    await listed(runner, client)
    assert service.paths == [LOGIN, LOGIN, SECRETS]


async def test_logins_are_retried_as_the_policy_has_it(runner: Runner, service: FakeService) -> None:
    busy = httpx.Response(429, headers={"Retry-After": "2"})
    service.on(LOGIN, httpx.ConnectError("no"), busy, login_answer()).on(SECRETS, LISTED)
    await listed(runner, runner.client(WHO))
    assert service.paths == [LOGIN, LOGIN, LOGIN, SECRETS]
    assert runner.clock.slept[1] == 2.0
    service.on(LOGIN, busy)
    with pytest.raises(RateLimited):
        await listed(runner, runner.client(WHO, replace(runner.options, retry=NO_RETRIES)))


async def test_each_login_asks_the_source_for_a_fresh_service_account_token(
    runner: Runner, service: FakeService, clock: FakeClock
) -> None:
    service.on(KUBERNETES, login_answer(expires_in=10)).on(SECRETS, LISTED)
    jwts = iter(["cnry-jwt-1", "cnry-jwt-2"])
    client = runner.client(KubernetesAuth("0b5c1d2e-3f40-4a51-8b62-7c8d9e0f1a2b", lambda: next(jwts)))
    await listed(runner, client)
    clock.seconds = 10
    await listed(runner, client)
    logins = [index for index, path in enumerate(service.paths) if path == KUBERNETES]
    assert [service.body(index)["jwt"] for index in logins] == ["cnry-jwt-1", "cnry-jwt-2"]


async def test_what_a_source_raises_reaches_the_caller(runner: Runner, service: FakeService) -> None:
    def source() -> str:
        raise LookupError("no such ServiceAccount")

    client = runner.client(KubernetesAuth("0b5c1d2e-3f40-4a51-8b62-7c8d9e0f1a2b", source))
    for _ in range(2):
        with pytest.raises(LookupError):
            await listed(runner, client)
    assert service.seen == []


async def test_a_source_may_be_awaited_by_the_asynchronous_client(service: FakeService) -> None:
    async def source() -> str:
        await asyncio.sleep(0)
        return "cnry-jwt"

    service.on(KUBERNETES, login_answer()).on(REVOKE, httpx.Response(200, json={}))
    async with (
        httpx.AsyncClient(transport=httpx.MockTransport(service)) as http,
        AsyncKeybearer(URL, http=http) as client,
    ):
        await client.auth.kubernetes.login(
            "0b5c1d2e-3f40-4a51-8b62-7c8d9e0f1a2b", source, organization_slug="acme"
        )
    assert service.body(0) == {
        "identityId": "0b5c1d2e-3f40-4a51-8b62-7c8d9e0f1a2b",
        "jwt": "cnry-jwt",
        "organizationSlug": "acme",
    }
    with (
        httpx.Client(transport=httpx.MockTransport(service)) as blocking,
        pytest.raises(InvalidArgument, match="asynchronous client"),
    ):
        Keybearer(URL, http=blocking).auth.kubernetes.login("0b5c1d2e-3f40-4a51-8b62-7c8d9e0f1a2b", source)


async def test_no_error_of_a_login_shows_the_credentials(runner: Runner, service: FakeService) -> None:
    echo = httpx.Response(
        422,
        json={
            "message": [{"path": ["clientSecret"], "message": "cnry-client-secret is short"}],
            "error": "ValidationFailure",
        },
    )
    service.on(
        LOGIN,
        echo,
        httpx.ReadError("cnry-client-secret"),
        httpx.Response(200, json={"x": "cnry-client-secret"}),
    )
    client = runner.client(WHO, replace(runner.options, retry=NO_RETRIES))
    for _ in range(3):
        with pytest.raises(ClientError) as error:
            await listed(runner, client)
        assert "cnry-" not in f"{error.value!r} {error.value}"
    assert "cnry-" not in repr(client.session)


async def test_a_server_failure_after_login_is_told_as_such(runner: Runner, service: FakeService) -> None:
    service.on(LOGIN, login_answer()).on(SECRETS, httpx.Response(500))
    with pytest.raises(ServerFailure):
        await listed(runner, runner.client(WHO))
    service.on(SECRETS, httpx.ConnectError("gone"))
    with pytest.raises(TransportError):
        await listed(runner, runner.client(WHO))
