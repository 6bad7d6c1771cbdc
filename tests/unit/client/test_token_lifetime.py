"""A token is renewed in time, replaced once when it is refused, and revoked at the end."""

from __future__ import annotations

import logging

import httpx
import pytest

from keybearer.client import ClientClosed, InvalidArgument, PermissionDenied, SuppliedToken, Unauthenticated
from unit.client.harness import FakeClock, FakeService, Runner, login_answer, secret_body
from unit.client.token_answers import LISTED, LOGIN, RENEW, REVOKE, SECRETS, WHO, listed, refused


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
