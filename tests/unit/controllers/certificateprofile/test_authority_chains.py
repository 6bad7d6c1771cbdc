"""keybearer.controllers.certificateprofile.authorities."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime
from typing import cast

import pytest

from keybearer.base.clock import Clock
from keybearer.controllers.certificateprofile.authorities import AuthorityChains
from keybearer.controllers.outcome import WaitingError
from unit.controllers.fakes.certificate_service import FakeCertificateService, new_authority
from unit.controllers.fakes.hand_clock import HandClock

_START = datetime(2026, 3, 1, 12, tzinfo=UTC)


@pytest.fixture
def clock() -> HandClock:
    return HandClock(_START)


@pytest.fixture
def service(clock: HandClock) -> FakeCertificateService:
    return FakeCertificateService(clock.now, new_authority("Root", _START))


@pytest.fixture
def chains(clock: HandClock) -> AuthorityChains:
    return AuthorityChains(cast("Clock", clock))


async def test_profiles_that_begin_together_ask_once(
    chains: AuthorityChains, service: FakeCertificateService
) -> None:
    found = await asyncio.gather(*(chains.authority(service, "session-1", "ca-1") for _ in range(20)))

    assert service.calls == ["authority_chain"]
    assert all(one is not None and one.chain[0] == service.issuer.certificate for one in found)


async def test_another_identity_and_another_authority_are_another_question(
    chains: AuthorityChains, service: FakeCertificateService
) -> None:
    for session, authority in (("session-1", "ca-1"), ("session-2", "ca-1"), ("session-1", "ca-2")):
        await chains.authority(service, session, authority)

    assert service.calls == ["authority_chain"] * 3


async def test_an_answer_is_good_for_half_a_minute_and_not_where_it_is_wanted_afresh(
    chains: AuthorityChains, service: FakeCertificateService, clock: HandClock
) -> None:
    await chains.authority(service, "session-1", "ca-1")
    service.issuer = new_authority("New Root", _START)

    asked = await chains.authority(service, "session-1", "ca-1", afresh=True)
    assert asked is not None
    assert asked.chain[0] == service.issuer.certificate

    service.issuer = new_authority("Newer Root", _START)
    clock.seconds += 31
    later = await chains.authority(service, "session-1", "ca-1")
    assert later is not None
    assert later.chain[0] == service.issuer.certificate


async def test_a_failure_is_nobody_elses(chains: AuthorityChains, service: FakeCertificateService) -> None:
    def away(_name: str) -> None:
        raise WaitingError("ServiceUnavailable", "away")

    service.before = away
    with pytest.raises(WaitingError):
        await chains.authority(service, "session-1", "ca-1")
    service.before = lambda _: None

    assert await chains.authority(service, "session-1", "ca-1") is not None
