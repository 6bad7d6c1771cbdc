"""Tokens: got on first use, one login at a time, renewed in time, replaced once when refused, revoked at the end."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import httpx
import pytest

from keybearer.client import (
    NO_RETRIES,
    AsyncKeybearer,
    ClientClosed,
    ClientError,
    InvalidArgument,
    Keybearer,
    KubernetesAuth,
    PermissionDenied,
    RateLimited,
    Secret,
    ServerFailure,
    SuppliedToken,
    TransportError,
    Unauthenticated,
    UniversalAuth,
)
from unit.client.harness import URL, FakeClock, FakeService, Runner, login_answer, secret_body

LOGIN = "/api/v1/auth/universal-auth/login"
KUBERNETES = "/api/v1/auth/kubernetes-auth/login"
LDAP = "/api/v1/auth/ldap-auth/login"
RENEW = "/api/v1/auth/token/renew"
REVOKE = "/api/v1/auth/token/revoke"
SECRETS = "/api/v4/secrets"
WHO = UniversalAuth("id-1", "cnry-client-secret")
LISTED = httpx.Response(200, json={"secrets": [secret_body("A")]})


def refused(status: int = 401, error: str = "UnauthorizedError") -> httpx.Response:
    return httpx.Response(status, json={"reqId": "r", "statusCode": status, "message": "no", "error": error})


async def listed(runner: Runner, client: AsyncKeybearer | Keybearer) -> list[Secret]:
    return await runner.of(client.secrets.list(project_id="p-1", environment="dev"))


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


@pytest.mark.parametrize("answer", [refused(), refused(403, "TokenError")], ids=["401", "403 TokenError"])
async def test_a_refused_token_is_replaced_by_one_fresh_login(
    runner: Runner, service: FakeService, answer: httpx.Response
) -> None:
    service.on(LOGIN, login_answer(), login_answer("cnry-token-2")).on(SECRETS, answer, LISTED)
    assert [secret.secret_key for secret in await listed(runner, runner.client(WHO))] == ["A"]
    assert service.paths == [LOGIN, SECRETS, LOGIN, SECRETS]
    assert service.bearers(SECRETS) == ["Bearer cnry-token-1", "Bearer cnry-token-2"]


async def test_a_write_is_repeated_too_when_its_token_was_refused(
    runner: Runner, service: FakeService
) -> None:
    written = httpx.Response(200, json={"secret": secret_body("A")})
    service.on(LOGIN, login_answer()).on("/api/v4/secrets/A", refused(), written)
    client = runner.client(WHO)
    await runner.of(client.secrets.create("A", "cnry-v", project_id="p-1", environment="dev"))
    assert service.paths == [LOGIN, "/api/v4/secrets/A", LOGIN, "/api/v4/secrets/A"]


async def test_a_token_refused_twice_is_an_error(runner: Runner, service: FakeService) -> None:
    service.on(LOGIN, login_answer()).on(SECRETS, refused())
    with pytest.raises(Unauthenticated):
        await listed(runner, runner.client(WHO))
    assert service.paths == [LOGIN, SECRETS, LOGIN, SECRETS]


async def test_a_lack_of_rights_is_no_reason_to_log_in_again(runner: Runner, service: FakeService) -> None:
    service.on(LOGIN, login_answer()).on(SECRETS, refused(403, "PermissionDenied"))
    with pytest.raises(PermissionDenied):
        await listed(runner, runner.client(WHO))
    assert service.paths == [LOGIN, SECRETS]


async def test_a_token_is_renewed_before_it_ends(
    runner: Runner, service: FakeService, clock: FakeClock
) -> None:
    service.on(LOGIN, login_answer(expires_in=100)).on(RENEW, login_answer("cnry-token-2", expires_in=100))
    service.on(SECRETS, LISTED)
    client = runner.client(WHO)
    await listed(runner, client)
    clock.seconds = 79
    await listed(runner, client)
    assert service.paths == [LOGIN, SECRETS, SECRETS]
    clock.seconds = 80
    await listed(runner, client)
    assert service.paths[3:] == [RENEW, SECRETS]
    assert service.body(3) == {"accessToken": "cnry-token-1"}
    assert service.bearers(SECRETS)[-1] == "Bearer cnry-token-2"
    clock.seconds = 160
    await listed(runner, client)
    assert service.body(-2) == {"accessToken": "cnry-token-2"}


async def test_a_token_that_has_ended_is_replaced_by_a_login(
    runner: Runner, service: FakeService, clock: FakeClock
) -> None:
    service.on(LOGIN, login_answer(expires_in=100)).on(SECRETS, LISTED)
    client = runner.client(WHO)
    await listed(runner, client)
    clock.seconds = 100
    await listed(runner, client)
    assert service.paths == [LOGIN, SECRETS, LOGIN, SECRETS]


async def test_a_token_that_never_ends_is_never_renewed(
    runner: Runner, service: FakeService, clock: FakeClock
) -> None:
    service.on(LOGIN, login_answer(expires_in=0)).on(SECRETS, LISTED)
    client = runner.client(WHO)
    await listed(runner, client)
    clock.seconds = 10**9
    await listed(runner, client)
    assert service.paths == [LOGIN, SECRETS, SECRETS]


async def test_a_renewal_past_the_longest_life_is_not_even_asked_for(
    runner: Runner, service: FakeService, clock: FakeClock
) -> None:
    service.on(LOGIN, login_answer(expires_in=100, max_ttl=250)).on(
        RENEW, login_answer(expires_in=100, max_ttl=250)
    )
    service.on(SECRETS, LISTED)
    client = runner.client(WHO)
    for clock.seconds in (0, 80, 160):
        await listed(runner, client)
    assert [path for path in service.paths if path != SECRETS] == [LOGIN, RENEW, LOGIN]


async def test_a_refused_renewal_leads_to_a_login(
    runner: Runner, service: FakeService, clock: FakeClock
) -> None:
    service.on(LOGIN, login_answer(expires_in=100)).on(RENEW, refused()).on(SECRETS, LISTED)
    client = runner.client(WHO)
    await listed(runner, client)
    clock.seconds = 90
    await listed(runner, client)
    assert service.paths == [LOGIN, SECRETS, RENEW, LOGIN, SECRETS]


@pytest.mark.parametrize(
    "outage", [httpx.ReadTimeout("slow"), httpx.Response(503)], ids=["no answer", "the service is busy"]
)
async def test_while_renewal_fails_in_passing_the_old_token_serves(
    runner: Runner, service: FakeService, clock: FakeClock, outage: httpx.Response | Exception
) -> None:
    service.on(LOGIN, login_answer(expires_in=100)).on(RENEW, outage).on(SECRETS, LISTED)
    client = runner.client(WHO)
    await listed(runner, client)
    for clock.seconds in (80, 81, 89, 90, 91):
        await listed(runner, client)
    assert [path for path in service.paths if path != SECRETS] == [LOGIN, RENEW, RENEW]
    assert set(service.bearers(SECRETS)) == {"Bearer cnry-token-1"}


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


async def test_explicit_renewal_uses_what_it_gets(runner: Runner, service: FakeService) -> None:
    service.on(RENEW, login_answer("cnry-renewed")).on(SECRETS, LISTED)
    client = runner.client(SuppliedToken("cnry-supplied"))
    answer = await runner.of(client.auth.renew())
    await listed(runner, client)
    await runner.close(client)
    assert answer.access_token == "cnry-renewed"
    assert service.bearers(RENEW) == [None]
    assert service.bearers(SECRETS) == ["Bearer cnry-renewed"]
    assert service.paths == [RENEW, SECRETS], "a supplied token stays the supplier's after a renewal"


async def test_explicit_revocation_logs_the_client_out(runner: Runner, service: FakeService) -> None:
    service.on(LOGIN, login_answer()).on(REVOKE, httpx.Response(200, json={"message": "done"}))
    service.on(SECRETS, refused())
    client = runner.client()
    await runner.of(client.auth.universal_auth.login("id-1", "cnry-client-secret"))
    await runner.of(client.auth.revoke())
    assert client.auth.access_token is None
    with pytest.raises(Unauthenticated):
        await listed(runner, client)
    await runner.close(client)
    assert service.paths == [LOGIN, REVOKE, SECRETS]


async def test_there_must_be_a_token_to_renew_or_revoke(runner: Runner) -> None:
    client = runner.client()
    with pytest.raises(InvalidArgument, match="renew"):
        await runner.of(client.auth.renew())
    with pytest.raises(InvalidArgument, match="revoke"):
        await runner.of(client.auth.revoke())


async def test_a_token_can_be_checked(runner: Runner, service: FakeService) -> None:
    service.on("/api/v1/auth/checkAuth", httpx.Response(200, json={"message": "Authenticated"}), refused())
    client = runner.client(SuppliedToken("cnry-supplied"))
    await runner.of(client.auth.check())
    with pytest.raises(Unauthenticated):
        await runner.of(client.auth.check())


async def test_closing_revokes_the_tokens_of_our_logins(runner: Runner, service: FakeService) -> None:
    service.on(LOGIN, login_answer(), login_answer("cnry-token-2")).on(REVOKE, httpx.Response(200, json={}))
    client = runner.client()
    await runner.of(client.auth.universal_auth.login("id-1", "cnry-client-secret"))
    await runner.of(client.auth.universal_auth.login("id-2", "cnry-client-secret-2"))
    await runner.close(client)
    assert [service.body(-2), service.body(-1)] == [
        {"accessToken": "cnry-token-1"},
        {"accessToken": "cnry-token-2"},
    ]
    await runner.close(client)
    assert len(service.seen) == 4, "closing twice revokes once"


async def test_a_renewed_token_is_revoked_in_place_of_the_first(
    runner: Runner, service: FakeService, clock: FakeClock
) -> None:
    service.on(LOGIN, login_answer(expires_in=10)).on(RENEW, login_answer("cnry-token-2", expires_in=10))
    service.on(SECRETS, LISTED).on(REVOKE, httpx.Response(200, json={}))
    client = runner.client(WHO)
    await listed(runner, client)
    clock.seconds = 9
    await listed(runner, client)
    await runner.close(client)
    assert service.paths[-1] == REVOKE
    assert service.paths.count(REVOKE) == 1
    assert service.body() == {"accessToken": "cnry-token-2"}


async def test_a_failed_revocation_is_told_once_and_closes_all_the_same(
    runner: Runner, service: FakeService, caplog: pytest.LogCaptureFixture
) -> None:
    service.on(LOGIN, login_answer(), login_answer("cnry-token-2")).on(REVOKE, httpx.ConnectError("gone"))
    client = runner.client()
    await runner.of(client.auth.universal_auth.login("id-1", "cnry-client-secret"))
    await runner.of(client.auth.universal_auth.login("id-2", "cnry-client-secret-2"))
    with caplog.at_level(logging.INFO, "keybearer"):
        await runner.close(client)
    assert service.paths == [LOGIN, LOGIN, REVOKE]
    assert [record.levelname for record in caplog.records if record.name.startswith("keybearer")] == [
        "WARNING"
    ]
    assert "cnry-" not in caplog.text


async def test_a_token_that_was_refused_is_not_revoked(runner: Runner, service: FakeService) -> None:
    service.on(LOGIN, login_answer(), refused()).on(SECRETS, refused())
    client = runner.client(WHO)
    with pytest.raises(Unauthenticated):
        await listed(runner, client)
    await runner.close(client)
    assert service.paths == [LOGIN, SECRETS, LOGIN]


async def test_a_closed_client_refuses_calls(runner: Runner, service: FakeService) -> None:
    client = runner.client(WHO)
    await runner.close(client)
    with pytest.raises(ClientClosed):
        await listed(runner, client)
    with pytest.raises(ClientClosed):
        await runner.of(client.auth.universal_auth.login("id-1", "cnry-client-secret"))
    assert service.seen == []


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


class Gate:
    """An asynchronous transport whose logins wait for a sign."""

    def __init__(self, service: FakeService) -> None:
        self.service = service
        self.open = asyncio.Event()

    async def __call__(self, request: httpx.Request) -> httpx.Response:
        await asyncio.sleep(0)  # as over a network: others get to run before the answer is there
        if request.url.path in {LOGIN, RENEW}:
            await self.open.wait()
        return self.service(request)


async def settle() -> None:
    for _ in range(50):
        await asyncio.sleep(0)


async def test_a_burst_of_requests_logs_in_once(service: FakeService) -> None:
    service.on(LOGIN, login_answer()).on(SECRETS, LISTED)
    gate = Gate(service)
    async with httpx.AsyncClient(transport=httpx.MockTransport(gate)) as http:
        client = AsyncKeybearer(URL, WHO, http=http)
        async with asyncio.TaskGroup() as group:
            for _ in range(20):
                group.create_task(client.secrets.list(project_id="p-1", environment="dev"))
            await settle()
            gate.open.set()
    assert service.paths.count(LOGIN) == 1
    assert service.paths.count(SECRETS) == 20


async def test_a_burst_with_wrong_credentials_is_one_failed_login(service: FakeService) -> None:
    service.on(LOGIN, refused())
    gate = Gate(service)
    async with httpx.AsyncClient(transport=httpx.MockTransport(gate)) as http:
        client = AsyncKeybearer(URL, WHO, http=http)
        calls = [
            asyncio.create_task(client.secrets.list(project_id="p-1", environment="dev")) for _ in range(20)
        ]
        await settle()
        gate.open.set()
        outcomes = await asyncio.gather(*calls, return_exceptions=True)
    assert service.paths == [LOGIN]
    assert all(isinstance(outcome, Unauthenticated) for outcome in outcomes)
    assert len({id(outcome) for outcome in outcomes}) == 20, "each caller has an error of its own"
    kept = client.session.wallet.failure
    assert kept is not None
    assert kept.__traceback__ is None, "frames hold the credentials"


async def test_a_burst_with_a_token_that_was_revoked_logs_in_once(service: FakeService) -> None:
    service.on(LOGIN, login_answer(), login_answer("cnry-token-2"))
    body = {"secrets": [secret_body("A")]}

    def judge(request: httpx.Request) -> httpx.Response:
        return (
            httpx.Response(200, json=body) if request.headers["authorization"].endswith("-2") else refused()
        )

    service.on(SECRETS, judge)
    gate = Gate(service)
    gate.open.set()
    async with httpx.AsyncClient(transport=httpx.MockTransport(gate)) as http:
        client = AsyncKeybearer(URL, http=http)
        await client.auth.universal_auth.login("id-1", "cnry-client-secret")
        gate.open.clear()
        async with asyncio.TaskGroup() as group:
            for _ in range(20):
                group.create_task(client.secrets.list(project_id="p-1", environment="dev"))
            await settle()
            gate.open.set()
    assert service.paths.count(LOGIN) == 2
    assert service.paths.count(SECRETS) == 40


async def test_a_burst_at_the_time_of_renewal_asks_once_even_if_that_fails(service: FakeService) -> None:
    service.on(LOGIN, login_answer(expires_in=100)).on(RENEW, httpx.Response(503)).on(SECRETS, LISTED)
    gate = Gate(service)
    gate.open.set()
    clock = FakeClock()
    async with httpx.AsyncClient(transport=httpx.MockTransport(gate)) as http:
        options = replace(Runner("asynchronous", service, clock).options, retry=NO_RETRIES)
        client = AsyncKeybearer(URL, WHO, http=http, options=options)
        await client.secrets.list(project_id="p-1", environment="dev")
        clock.seconds = 80
        gate.open.clear()
        async with asyncio.TaskGroup() as group:
            for _ in range(20):
                group.create_task(client.secrets.list(project_id="p-1", environment="dev"))
            await settle()
            gate.open.set()
    assert service.paths.count(RENEW) == 1
    assert service.paths.count(LOGIN) == 1


async def test_a_call_cancelled_while_it_logs_in_leaves_the_login_to_the_next(service: FakeService) -> None:
    service.on(LOGIN, login_answer()).on(SECRETS, LISTED)
    gate = Gate(service)
    async with httpx.AsyncClient(transport=httpx.MockTransport(gate)) as http:
        client = AsyncKeybearer(URL, WHO, http=http)
        first = asyncio.create_task(client.secrets.list(project_id="p-1", environment="dev"))
        await settle()
        second = asyncio.create_task(client.secrets.list(project_id="p-1", environment="dev"))
        await settle()
        first.cancel()
        with pytest.raises(asyncio.CancelledError):
            await first
        gate.open.set()
        assert len(await second) == 1
    assert service.paths == [LOGIN, SECRETS]


def test_threads_share_one_login(service: FakeService) -> None:
    together = threading.Barrier(8)
    overlap = threading.Barrier(2)

    def log_in(_: httpx.Request) -> httpx.Response:
        with contextlib.suppress(threading.BrokenBarrierError):
            overlap.wait(timeout=0.3)  # passes only when a second login is under way
        return login_answer()

    def read() -> int:
        together.wait(timeout=10)
        return len(client.secrets.list(project_id="p-1", environment="dev"))

    service.on(LOGIN, log_in).on(SECRETS, LISTED)
    with httpx.Client(transport=httpx.MockTransport(service)) as http, ThreadPoolExecutor(8) as threads:
        client = Keybearer(URL, WHO, http=http)
        assert [task.result() for task in [threads.submit(read) for _ in range(8)]] == [1] * 8
    assert overlap.broken
    assert service.paths.count(LOGIN) == 1


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
