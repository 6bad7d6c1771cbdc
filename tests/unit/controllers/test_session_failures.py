"""What fails at a service is told in words that help, and a service in trouble is spared."""

from __future__ import annotations

import asyncio
import ssl
from dataclasses import replace
from datetime import timedelta
from typing import Any

import httpx
import pytest

from keybearer.client import NO_RETRIES, AsyncKeybearer, ClientOptions, KubernetesAuth
from keybearer.controllers.outcome import ReconcileError, StalledError, WaitingError
from keybearer.controllers.remedy import Remedy
from keybearer.controllers.service_session import ANSWER_MAX_BYTES, ServiceSession
from keybearer.controllers.sources.session import SourceFailure
from unit.controllers.fakes.chance import SteadyChance
from unit.controllers.fakes.session_with_service import (
    QUERY,
    URL,
    Answer,
    Service,
    failed,
    found,
    listed,
    refused,
    session,
    wire,
)
from unit.controllers.fakes.virtual_loop import LoopClock, in_virtual_time


def untrusted() -> httpx.ConnectError:
    """Return what httpx raises where a certificate is not trusted."""
    error = httpx.ConnectError("no")
    error.__cause__ = ssl.SSLCertVerificationError("no")
    error.__cause__.verify_message = "self-signed certificate"
    return error


class TestFailures:
    @pytest.mark.parametrize(
        ("answer", "reason", "passing", "says"),
        [
            pytest.param(refused(401), "CredentialsRejected", False, "correct the identity Secret", id="401"),
            pytest.param(refused(403), "PermissionDenied", False, "grant it a role", id="403"),
            pytest.param(refused(404), "SourceNotFound", False, "correct project, environment", id="404"),
            pytest.param(refused(400), "ServiceRefused", False, "refuses to list", id="400"),
            pytest.param(refused(422, [{"path": ["x"], "message": "no"}]), "ServiceRefused", False, "x: n", id="422"),
            pytest.param(refused(429), "ServiceThrottled", True, "slow down", id="429"),
            pytest.param(refused(500), "ServiceUnavailable", True, "fails with status 500", id="500"),
            pytest.param(httpx.Response(502, html="<p>bad gateway"), "ServiceUnavailable", True, "502", id="a proxy"),
            pytest.param(httpx.ConnectError("no"), "ServiceUnavailable", True, "can't be reached", id="no route"),
            pytest.param(untrusted(), "CertificateUntrusted", True, "into caBundle of the id", id="trust"),
            pytest.param(httpx.ReadTimeout("slow"), "ServiceUnavailable", True, "no complete answer", id="late"),
            pytest.param(httpx.Response(200, html="<p>login"), "ServiceRefused", False, "correct the url", id="page"),
            pytest.param(
                httpx.Response(302, headers={"Location": "https://evil.example/x"}), "ServiceRefused", False,
                "redirects to https://evil.example", id="a redirect, which is not followed",
            ),
        ],
    )  # fmt: skip
    @in_virtual_time
    async def test_each_failure_has_a_reason_and_a_remedy(
        self, answer: Answer, reason: str, says: str, *, passing: bool
    ) -> None:
        async with session(Service(list=answer)) as one:
            failure = failed(await one.list_source(QUERY, None))

        assert (failure.reason, failure.passing) == (reason, passing)
        assert says in failure.message
        assert "shop-id/dev:/apps/web" in failure.message or URL in failure.message

    @in_virtual_time
    async def test_an_answer_that_is_too_long_says_how_to_ask_for_less(self) -> None:
        huge = httpx.Response(200, content=b" " * (ANSWER_MAX_BYTES + 1))
        async with session(Service(list=huge)) as one:
            failure = failed(await one.list_source(QUERY, None))

        assert (failure.reason, failure.passing) == ("ServiceRefused", False)
        assert "shop-id/dev:/apps/web holds more than the 16 MiB" in failure.message
        assert "split the folder, or select a narrower secretPath" in failure.message

    @pytest.mark.parametrize(
        "body",
        [
            {"secrets": [{"secretKey": "A", "secretValue": {"cnry-value": 1}}]},
            {"secrets": [{"id": "1", "secretKey": ["cnry-value"], "secretValue": "cnry-value"}]},
            {"secrets": "cnry-value"},
            ["cnry-value"],
        ],
        ids=["a value that is none", "a key that is none", "no list", "no object"],
    )
    @in_virtual_time
    async def test_an_answer_of_another_shape_is_described_without_what_it_holds(self, body: Any) -> None:  # noqa: ANN401
        async with session(Service(list=httpx.Response(200, json=body))) as one:
            failure = failed(await one.list_source(QUERY, None))

        assert failure.reason == "ServiceRefused"

    @in_virtual_time
    async def test_a_service_that_asks_to_wait_says_for_how_long(self) -> None:
        answer = httpx.Response(429, headers={"Retry-After": "90"}, json={"message": "slow down"})
        async with session(Service(list=answer)) as one:
            assert failed(await one.list_source(QUERY, None)).after == timedelta(seconds=90)

    @in_virtual_time
    async def test_refused_credentials_are_shown_once_a_minute_at_most(self) -> None:
        service = Service(login=refused(401, "invalid credentials cnry-secret"))
        async with session(service, token=False) as one:
            first = failed(await one.list_source(QUERY, None))
            await asyncio.sleep(20)
            second = failed(await one.list_source(QUERY, None))
            assert (second, second.after) == (first, timedelta(seconds=40))
            assert len(service.seen) == 1
            await asyncio.sleep(41)
            failed(await one.list_source(QUERY, None))

        assert len(service.seen) == 2

    @in_virtual_time
    async def test_a_person_who_asks_has_refused_credentials_tried_again_but_never_locked_out(self) -> None:
        service = Service(login=refused(401, "invalid credentials"))
        async with session(service, token=False) as one:
            failed(await one.list_source(QUERY, None))
            one.forget_refusal()
            failed(await one.list_source(QUERY, None))
            assert len(service.seen) == 2
            await asyncio.sleep(29)
            one.forget_refusal()
            failed(await one.list_source(QUERY, None))
            assert len(service.seen) == 2, "a third failure within 30 s of the second locks the identity out"
            await asyncio.sleep(2)
            one.forget_refusal()
            failed(await one.list_source(QUERY, None))

        assert len(service.seen) == 3

    @in_virtual_time
    async def test_an_identity_without_this_method_is_no_missing_source(self) -> None:
        service = Service(login=refused(404, "Universal auth method not found"))
        async with session(service, token=False) as one:
            failure = failed(await one.list_source(QUERY, None))
            with pytest.raises(StalledError) as error:
                await one.perform(lambda client: client.projects.get_by_slug("shop"), "look up project shop")

        assert (failure.reason, error.value.reason) == ("CredentialsRejected", "CredentialsRejected")
        assert "Universal auth method not found" in failure.message

    @pytest.mark.parametrize(
        ("answer", "command"),
        [
            (refused(403), "keybearer members set CLIENT_ID_OR_NAME --project shop-id --role viewer"),
            (refused(404), "keybearer folders list --project shop-id --env dev --recursive"),
            (refused(404, "Project with ID shop-id not found"), "keybearer projects list"),
            (
                refused(404, "Environment with slug 'dev' in project with ID shop-id not found"),
                "keybearer environments list --project shop-id",
            ),
        ],
        ids=["a role that may read", "which folders there are", "which projects", "which environments"],
    )
    @in_virtual_time
    async def test_a_refused_reading_has_the_command_that_helps(self, answer: Answer, command: str) -> None:
        async with session(Service(list=answer)) as one:
            failure = failed(await one.list_source(QUERY, None))

        assert failure.remedy is not None
        assert failure.remedy.command == command

    @in_virtual_time
    async def test_the_command_of_a_denial_names_the_identity(self) -> None:
        identity = "9d3ee4a1-6d9a-4c5a-8f0e-0f5f4c1a2b3c"
        async with session(Service(list=refused(403)), identity_id=identity) as one:
            failure = failed(await one.list_source(QUERY, None))

        assert failure.remedy is not None
        assert failure.remedy.command == f"keybearer members set {identity} --project shop-id --role viewer"

    @in_virtual_time
    async def test_a_refused_change_asks_for_a_role_that_may_change(self) -> None:
        async with session(Service(slug=refused(403))) as one:
            with pytest.raises(StalledError) as error:
                await one.perform(lambda client: client.projects.get_by_slug("shop"), "create profile web")

        assert error.value.remedy is not None
        assert (
            error.value.remedy.step == "Give the identity a role that may create profile web, such as member."
        )

    @pytest.mark.parametrize(
        ("error", "passing"),
        [
            (StalledError("IdentityInvalid", "create the ServiceAccount"), False),
            (WaitingError("X", "later"), True),
        ],
        ids=["a person must act", "it may pass"],
    )
    @in_virtual_time
    async def test_a_token_that_can_not_be_had_is_told_in_the_words_of_its_source(
        self, error: ReconcileError, *, passing: bool
    ) -> None:
        async def fail() -> str:
            raise error

        clock, rng = LoopClock(), SteadyChance()
        options = ClientOptions(retry=NO_RETRIES, clock=clock, rng=rng, max_response_bytes=ANSWER_MAX_BYTES)
        service = Service()
        async with httpx.AsyncClient(transport=httpx.MockTransport(service)) as http:
            client = AsyncKeybearer(URL, KubernetesAuth("cnry-id", fail), options=options, http=http)
            one = ServiceSession("session", URL, client, clock, rng)
            failure = failed(await one.list_source(QUERY, None))

        assert (failure.reason, failure.message, failure.passing) == (error.reason, error.message, passing)
        assert service.seen == []


class TestBreaker:
    @in_virtual_time
    async def test_an_ailing_service_is_left_alone_and_the_same_is_said_meanwhile(self) -> None:
        service = Service(list=[*[httpx.ConnectError("x")] * 6, found(wire("A"))])
        async with session(service) as one:
            first = [failed(await one.list_source(QUERY, None)) for _ in range(5)]
            held = [failed(await one.list_source(replace(QUERY, path="/other"), None)) for _ in range(50)]
            assert len(service.seen) == 5
            assert set(first) | set(held) == {first[0]}, "one failure, one text"
            assert held[0].after is not None
            assert timedelta() < held[0].after <= timedelta(seconds=5)

            await asyncio.sleep(6)
            answers = await asyncio.gather(*(one.list_source(QUERY, None) for _ in range(10)))
            assert len(service.seen) == 6, "one probe"
            assert all(isinstance(answer, SourceFailure) for answer in answers)

            await asyncio.sleep(11)
            assert listed(await one.list_source(QUERY, None))
            assert listed(await one.list_source(QUERY, None))

    @in_virtual_time
    async def test_refusals_are_answers_and_open_nothing(self) -> None:
        service = Service(list=refused(403))
        async with session(service) as one:
            for _ in range(20):
                failed(await one.list_source(QUERY, None))

        assert len(service.seen) == 20

    @in_virtual_time
    async def test_a_flood_of_reads_is_spread(self) -> None:
        async with session(Service(list=found(wire("A")))) as one:
            await asyncio.gather(*(one.list_source(QUERY, None) for _ in range(200)))

        assert asyncio.get_running_loop().time() - 1000 == pytest.approx(2.0)


class TestOrders:
    @in_virtual_time
    async def test_what_is_ordered_by_the_hundred_goes_out_side_by_side_within_a_bound(self) -> None:
        under_way = most = 0

        async def act(_client: AsyncKeybearer) -> None:
            nonlocal under_way, most
            under_way += 1
            most = max(most, under_way)
            await asyncio.sleep(0.1)
            under_way -= 1

        async with session(Service()) as open_session:
            started = asyncio.get_running_loop().time()
            await asyncio.gather(*(open_session.perform(act, "order", many=True) for _ in range(160)))
            took = asyncio.get_running_loop().time() - started

        assert most == 8
        assert took == pytest.approx(2.0), "twenty rounds, and no wait for the bucket"

    @in_virtual_time
    async def test_other_calls_don_t_wait_for_orders_that_hang(self) -> None:
        hangs = asyncio.Event()

        async def hang(_client: AsyncKeybearer) -> None:
            await hangs.wait()

        async def answer(_client: AsyncKeybearer) -> str:
            return "at once"

        async with session(Service()) as open_session, asyncio.TaskGroup() as group:
            for _ in range(40):
                group.create_task(open_session.perform(hang, "order", many=True))
            await asyncio.sleep(1)
            assert await open_session.perform(answer, "ask") == "at once"
            hangs.set()


class TestLoginsThatLockNobodyOut:
    """Kubernetes auth counts no failures: a refused login is tried again soon, and at once for whoever asks."""

    @in_virtual_time
    async def test_a_person_who_asks_has_each_refusal_tried_again(self) -> None:
        service = Service(login=refused(401, "invalid credentials"))
        async with session(service, token=False, locks=False) as one:
            for _ in range(5):
                failed(await one.list_source(QUERY, None))
                one.forget_refusal()

        assert len(service.seen) == 5

    @in_virtual_time
    async def test_it_is_tried_again_after_longer_and_longer_waits(self) -> None:
        service = Service(login=refused(401, "invalid credentials"))
        async with session(service, token=False, locks=False) as one:
            waits = []
            for _ in range(8):
                failure = failed(await one.list_source(QUERY, None))
                assert failure.after is not None
                waits.append(failure.after.total_seconds())
                await asyncio.sleep(waits[-1])

        assert len(service.seen) == 8
        assert 3 <= waits[0] <= 7
        assert waits == sorted(waits)
        assert 40 <= waits[-1] <= 80

    @in_virtual_time
    async def test_a_login_that_worked_meanwhile_begins_anew(self) -> None:
        service = Service(login=refused(401, "invalid credentials"))
        async with session(service, token=False, locks=False) as one:
            first = failed(await one.list_source(QUERY, None)).after
            for _ in range(6):
                await asyncio.sleep(90)
                failed(await one.list_source(QUERY, None))
            await asyncio.sleep(600)
            assert failed(await one.list_source(QUERY, None)).after == first


class TestLockouts:
    @in_virtual_time
    async def test_two_refusals_far_apart_leave_room_for_a_third_at_once(self) -> None:
        service = Service(login=refused(401, "invalid credentials"))
        async with session(service, token=False) as one:
            failed(await one.list_source(QUERY, None))
            await asyncio.sleep(45)
            for _ in range(2):
                one.forget_refusal()
                failed(await one.list_source(QUERY, None))
            assert len(service.seen) == 3
            one.forget_refusal()
            held = failed(await one.list_source(QUERY, None))
            assert len(service.seen) == 3
            assert "no login was tried: another refusal now would lock the identity out" in held.message

    @in_virtual_time
    async def test_a_refusal_that_is_tried_again_says_so_no_more(self) -> None:
        service = Service(login=refused(401, "invalid credentials"))
        async with session(service, token=False) as one:
            first = failed(await one.list_source(QUERY, None))
            for _ in range(3):
                one.forget_refusal()
                failed(await one.list_source(QUERY, None))
            await asyncio.sleep(60)
            assert failed(await one.list_source(QUERY, None)) == first


@in_virtual_time
async def test_a_review_that_failed_keeps_its_own_remedy_with_the_identity_filled_in() -> None:
    message = "Kubernetes token not authenticated: no reviewer's token is set"
    refusal = httpx.Response(401, json={"message": message, "error": "KubernetesTokenReviewError"})
    identity_id = "0a1b2c3d-0000-4000-8000-000000000000"
    async with session(
        Service(login=refusal), token=False, locks=False, rejected=_COMPARE, identity_id=identity_id
    ) as one:
        failure = failed(await one.list_source(QUERY, None))

    assert failure.reason == "CredentialsRejected"
    assert failure.remedy is not None
    assert failure.remedy.command == (
        f"keybearer identities kubernetes-auth update {identity_id} --reviewer-token-file FILE"
    )


@in_virtual_time
async def test_what_is_no_id_is_left_out_of_a_command() -> None:
    for given, shown in (("x; reboot", "IDENTITY_ID"), ("", "IDENTITY_ID")):
        service = Service(login=refused(401, "no"))
        async with session(service, token=False, rejected=_COMPARE, identity_id=given) as one:
            failure = failed(await one.list_source(QUERY, None))
        assert failure.remedy is not None
        assert failure.remedy.command == f"keybearer identities kubernetes-auth show {shown}"


_COMPARE = Remedy("Compare.", "keybearer identities kubernetes-auth show IDENTITY_ID")
