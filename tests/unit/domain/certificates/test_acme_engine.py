"""Requests at an ACME authority that doesn't answer: put back, shared among processes, ended in time."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from keybearer.base.certificate_terms import AuthorityStatus, RequestStatus
from keybearer.base.ids import new_uuid
from keybearer.domain.certificates import acme_accounts
from keybearer.domain.certificates.acme_accounts import AcmeConfiguration, AcmeSessions
from keybearer.domain.certificates.acme_authorities import AcmeAuthorities, NewAcmeAuthority
from keybearer.domain.certificates.acme_engine import AcmeEngine
from keybearer.domain.certificates.acme_orders import LostRequestError, held, pause_of
from keybearer.domain.certificates.deciding import Deciding, NewCertificate
from keybearer.domain.certificates.finishing import Finishing
from keybearer.domain.certificates.key_work import KeyWork
from keybearer.domain.certificates.signing import Signing
from keybearer.domain.errors import InvalidError
from keybearer.outbound.acme.account_key import ACCOUNT_KEY
from keybearer.outbound.acme.way import AcmeWay
from keybearer.outbound.allowed import parse_allowed
from keybearer.outbound.gate import Gate
from keybearer.pki.keys import generate_private_key
from keybearer.store.acme_accounts import AcmeAccount, OpenedAcmeAccount
from keybearer.store.certificate_authorities import CertificateAuthority
from keybearer.store.certificate_profiles import CertificateProfile
from keybearer.store.certificate_requests import CertificateRequest
from keybearer.wire.certificates.attributes import CertificateAttributes
from support.async_waiting import until
from support.issuing_domain import IssuingDomain, issuing_domain
from support.listening import listening
from tools.controlplane.ports import free_port

NAME = "a.example.com"


@pytest.fixture
async def home(tmp_path: Path) -> AsyncIterator[IssuingDomain]:
    async with issuing_domain(tmp_path) as domain:
        yield domain


async def authority_of(home: IssuingDomain, *, directory: str | None = None) -> tuple[str, str]:
    """Return the ids of an authority where nobody answers, and of a profile of it."""
    now = home.time.now()
    url = directory or f"https://127.0.0.1:{free_port()}/dir"
    authority = CertificateAuthority(
        id=new_uuid(),
        project_id=home.project_id,
        name=f"acme-{new_uuid()[:8]}",
        kind="acme",
        status="active",
        enable_direct_issuance=True,
        configuration=AcmeConfiguration(url).kept(),
        certificate_id=None,
        created_at=now,
        updated_at=now,
    )
    profile = CertificateProfile(
        new_uuid(),
        home.project_id,
        home.policy.id,
        authority.id,
        new_uuid(),
        None,
        "ca",
        "api",
        None,
        None,
        now,
        now,
    )
    account = AcmeAccount(authority.id, new_uuid(), home.project_id, f"{url}/me", None, now, now)
    async with home.database.writing() as unit:
        await unit.certificate_authorities.add(authority)
        await unit.acme_accounts.put(
            OpenedAcmeAccount(account, generate_private_key(ACCOUNT_KEY).der(), None)
        )
        await unit.certificate_profiles.add(profile)
    return authority.id, profile.id


async def asked(home: IssuingDomain, profile_id: str) -> str:
    attributes = {"altNames": [{"type": "dns_name", "value": NAME}], "keyAlgorithm": "EC_prime256v1"}
    new = NewCertificate(profile_id, CertificateAttributes.model_validate(attributes))
    return (await home.issuance.issue(home.admin, new)).request.id


async def request_of(home: IssuingDomain, request_id: str) -> CertificateRequest:
    async with home.database.reading() as unit:
        found = await unit.certificate_requests.get(request_id)
    assert found is not None
    return found


def engine_of(home: IssuingDomain, *allow: str) -> AcmeEngine:
    work = KeyWork()
    signing = Signing(work)
    finishing = Finishing(Deciding(signing, work, home.time), signing, home.time)
    way = AcmeWay(Gate(parse_allowed(allow or ["127.0.0.0/8"])), home.time)
    return AcmeEngine(home.database, AcmeSessions(way), finishing, home.time)


@asynccontextmanager
async def running(engine: AcmeEngine) -> AsyncIterator[None]:
    task = asyncio.create_task(engine.run())
    try:
        yield
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


@asynccontextmanager
async def silence() -> AsyncIterator[tuple[str, asyncio.Event]]:
    """Yield the URL of a directory that takes connections and never says a word, and what tells of the first."""
    heard = asyncio.Event()

    async def serve(reader: asyncio.StreamReader, _: asyncio.StreamWriter) -> None:
        heard.set()
        await reader.read()

    async with listening(serve) as port:
        yield f"https://127.0.0.1:{port}/dir", heard


async def reached(home: IssuingDomain, request_id: str, *, attempt: int) -> CertificateRequest:
    async def probe() -> bool:
        found = await request_of(home, request_id)
        return found.attempt == attempt and found.claimed_by is None

    await until(probe, awaited=f"attempt {attempt}")
    return await request_of(home, request_id)


async def failed(home: IssuingDomain, request_id: str) -> CertificateRequest:
    async def probe() -> bool:
        return (await request_of(home, request_id)).status == RequestStatus.FAILED

    await until(probe, awaited="a request that failed")
    return await request_of(home, request_id)


async def wake(home: IssuingDomain, request_id: str) -> None:
    """Have the engine look at the clock, as a commit does."""
    async with home.database.writing() as unit:
        found = await unit.certificate_requests.get(request_id, for_change=True)
        assert found is not None
        await unit.certificate_requests.update(found)


async def test_an_authority_that_is_away_is_asked_again_after_longer_and_longer(home: IssuingDomain) -> None:
    _, profile_id = await authority_of(home)
    async with running(engine_of(home)):
        request_id = await asked(home, profile_id)
        waits = []
        for attempt in range(1, 4):
            found = await reached(home, request_id, attempt=attempt)
            assert found.due_at is not None
            waits.append((found.due_at - home.time.now()).total_seconds())
            assert found.pending_message is not None
            assert "can't be reached: nothing listens at 127.0.0.1:" in found.pending_message
            assert "; it is asked again" in found.pending_message
            await home.time.advance(waits[-1])
            await wake(home, request_id)
    assert 4 <= waits[0] <= 5
    assert 8 <= waits[1] <= 10
    assert 16 <= waits[2] <= 20


async def test_it_is_given_up_after_a_day(home: IssuingDomain) -> None:
    _, profile_id = await authority_of(home)
    async with running(engine_of(home)):
        request_id = await asked(home, profile_id)
        await reached(home, request_id, attempt=1)
        await home.time.advance(timedelta(hours=25).total_seconds())
        await wake(home, request_id)
        found = await failed(home, request_id)
    assert found.error_message is not None
    assert "given up after 24 hours: the host can't be reached" in found.error_message
    assert (found.due_at, found.claimed_by) == (None, None)


async def test_what_the_gate_refuses_fails_at_once(home: IssuingDomain) -> None:
    _, profile_id = await authority_of(home)
    async with running(engine_of(home, "10.0.0.0/8")):
        found = await failed(home, await asked(home, profile_id))
    assert "--allow-outbound" in str(found.error_message)


async def test_a_profile_that_went_meanwhile_fails_its_request(home: IssuingDomain) -> None:
    _, profile_id = await authority_of(home)
    request_id = await asked(home, profile_id)
    async with home.database.writing() as unit:
        await unit.certificate_profiles.delete(profile_id)
    async with running(engine_of(home)):
        found = await failed(home, request_id)
    assert "was deleted while the request waited" in str(found.error_message)


async def test_a_profile_that_has_another_authority_by_now_fails_its_request(home: IssuingDomain) -> None:
    _, profile_id = await authority_of(home)
    other_id, _ = await authority_of(home)
    request_id = await asked(home, profile_id)
    async with home.database.writing() as unit:
        found = await unit.certificate_profiles.get(profile_id)
        assert found is not None
        await unit.certificate_profiles.update(replace(found, authority_id=other_id))
    async with running(engine_of(home)):
        assert "another certificate authority by now" in str((await failed(home, request_id)).error_message)


async def test_an_authority_that_makes_new_tokens_at_each_look_fills_no_table(home: IssuingDomain) -> None:
    _, profile_id = await authority_of(home)
    ids = [await asked(home, profile_id) for _ in range(2)]
    async with home.database.writing() as unit:
        for request_id in ids:
            found = await unit.certificate_requests.get(request_id)
            assert found is not None
            waiting = RequestStatus.PENDING_VALIDATION.value
            await unit.certificate_requests.update(replace(found, status=waiting))
        put = unit.acme_challenges.put
        assert await put(ids[1], {"theirs": "theirs.k"}, home.time.now()) == []
        assert await put(ids[0], {"a": "a.k", "b": "b.k"}, home.time.now()) == []
        assert await put(ids[0], {"b": "b.k", "c": "c.k"}, home.time.now()) == []
        assert await put(ids[0], {"b": "b.k", "c": "c.k", "theirs": "theirs.x"}, home.time.now()) == [
            "theirs"
        ]
        answers = [await unit.acme_challenges.answer(token) for token in ("a", "b", "c", "theirs")]
    assert answers == [None, "b.k", "c.k", "theirs.k"]


async def test_an_authority_that_is_disabled_is_asked_for_nothing(home: IssuingDomain) -> None:
    authority_id, profile_id = await authority_of(home)
    async with home.database.writing() as unit:
        found = await unit.certificate_authorities.get(authority_id)
        assert found is not None
        await unit.certificate_authorities.update(replace(found, status="disabled"))
    with pytest.raises(InvalidError, match="is not active"):
        await asked(home, profile_id)


@pytest.mark.parametrize(
    ("wanted", "pause"),
    [(None, 2), (-60, 0.5), (0, 0.5), (7, 7), (86_400, 86_400)],
    ids=["nothing said", "a date that is over", "none", "some seconds", "a day"],
)
def test_an_order_is_never_looked_at_without_a_pause(wanted: float | None, pause: float) -> None:
    given = None if wanted is None else timedelta(seconds=wanted)
    assert pause_of(given, timedelta(seconds=2)).total_seconds() == pause


async def test_whoever_waits_for_an_answer_is_told_in_time(
    home: IssuingDomain, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(acme_accounts, "_PATIENCE", timedelta(milliseconds=300))
    way = AcmeWay(Gate(parse_allowed(["127.0.0.0/8"])), home.time)
    async with silence() as (url, _):
        configuration = AcmeConfiguration(url)
        new = NewAcmeAuthority(home.project_id, "slow", AuthorityStatus.ACTIVE, True, configuration)  # noqa: FBT003
        with pytest.raises(InvalidError, match="takes too long to answer"):
            await AcmeAuthorities(home.database, AcmeSessions(way), home.time).create(home.admin, new)


class TestClaims:
    async def test_of_one_authority_five_are_worked_on_and_those_of_others_all_the_same(
        self, home: IssuingDomain
    ) -> None:
        busy, busy_profile = await authority_of(home)
        _, profile_id = await authority_of(home)
        for _ in range(7):
            await asked(home, busy_profile)
        await home.time.advance(1)
        other = await asked(home, profile_id)
        now = home.time.now()
        later = now + timedelta(minutes=1)
        async with home.database.writing() as unit:
            taken = await unit.certificate_request_claims.claim("p", now, later, 5)
            assert {one.authority_id for one in taken} == {busy}
            [left] = await unit.certificate_request_claims.claim("p", now, later, 5, busy_authorities=[busy])
        assert left.id == other

    async def test_what_a_dead_process_had_is_free_when_its_lease_ends(self, home: IssuingDomain) -> None:
        _, profile_id = await authority_of(home)
        request_id = await asked(home, profile_id)
        now = home.time.now()
        end = now + timedelta(minutes=1)
        async with home.database.writing() as unit:
            assert len(await unit.certificate_request_claims.claim("dead", now, end, 5)) == 1
            assert not await unit.certificate_request_claims.is_any_due(now)
            assert await unit.certificate_request_claims.next_due(now) == end
            assert await unit.certificate_request_claims.is_any_due(end)
            [taken] = await unit.certificate_request_claims.claim("heir", end, end + timedelta(minutes=1), 5)
            assert taken.id == request_id
            with pytest.raises(LostRequestError):
                await held(unit, request_id, "dead")
            assert (await held(unit, request_id, "heir")).id == request_id

    async def test_the_only_process_takes_up_what_the_last_one_had(self, home: IssuingDomain) -> None:
        _, profile_id = await authority_of(home)
        request_id = await asked(home, profile_id)
        now = home.time.now()
        async with home.database.writing() as unit:
            await unit.certificate_request_claims.claim("dead", now, now + timedelta(hours=9), 5)
        async with running(engine_of(home)):
            await reached(home, request_id, attempt=1)

    async def test_what_outlasts_its_lease_is_not_begun_twice_by_its_process(
        self, home: IssuingDomain
    ) -> None:
        async with silence() as (url, heard):
            _, profile_id = await authority_of(home, directory=url)
            engine = engine_of(home)
            async with running(engine):
                request_id = await asked(home, profile_id)
                await heard.wait()
                before = await request_of(home, request_id)
                [task] = engine._running.values()
                await home.time.advance(61)
                await wake(home, request_id)

                async def is_held_longer() -> bool:
                    return (await request_of(home, request_id)).lease_ends_at != before.lease_ends_at

                await until(is_held_longer, awaited="a new lease")
                assert list(engine._running.values()) == [task]
                assert sum(engine._authorities.values()) == 1

    async def test_what_is_worked_on_when_the_process_ends_is_put_back(self, home: IssuingDomain) -> None:
        async with silence() as (url, heard):
            _, profile_id = await authority_of(home, directory=url)
            async with running(engine_of(home)):
                request_id = await asked(home, profile_id)
                await heard.wait()
                assert (await request_of(home, request_id)).claimed_by is not None
        found = await request_of(home, request_id)
        assert (found.claimed_by, found.status) == (None, "pending")


async def test_a_renewal_by_itself_that_failed_is_tried_again_in_six_hours(home: IssuingDomain) -> None:
    authority_id, profile_id = await authority_of(home)
    issued = (await home.issue()).certificate
    assert issued is not None
    # As if the authority elsewhere had issued it, by a profile of its own.
    due = replace(
        issued,
        profile_id=profile_id,
        authority_id=authority_id,
        authority_certificate_id=None,
        renew_at=home.time.now(),
    )
    async with home.database.writing() as unit:
        await unit.certificates.update(due)
    assert await home.renewal.renew_due() == 1
    assert (await home.certificate(due.id)).renew_at is None
    async with running(engine_of(home, "10.0.0.0/8")):

        async def is_set_again() -> bool:
            return (await home.certificate(due.id)).renew_at is not None

        await until(is_set_again, awaited="another time for the renewal")
    assert (await home.certificate(due.id)).renew_at == home.time.now() + timedelta(hours=6)
