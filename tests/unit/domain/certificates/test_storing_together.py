"""Certificates that are issued at the same moment are stored together, and none suffers from another."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path
from typing import cast

import pytest
from sqlalchemy.exc import IntegrityError

from keybearer.base.ids import new_uuid
from keybearer.domain.audit import EventType, audited
from keybearer.domain.certificates.filing import Filing, IssuedEntry
from keybearer.domain.certificates.shared_questions import SharedQuestions
from keybearer.domain.errors import NotFoundError
from keybearer.store.attempts import repeated
from keybearer.store.audit import AuditFilter
from keybearer.store.failures import RaceError, UnavailableError
from support.issuing_domain import IssuingDomain, issuing_domain
from tools.local.waiting import PATIENCE_SECONDS


@pytest.fixture
async def home(tmp_path: Path) -> AsyncIterator[IssuingDomain]:
    async with issuing_domain(tmp_path) as made:
        yield made


@pytest.fixture(params=[b"key", None], ids=["with keys", "without keys"])
def private_key(request: pytest.FixtureRequest) -> bytes | None:
    return cast("bytes | None", request.param)


async def _entry(
    home: IssuingDomain, private_key: bytes | None = None, *, profile_id: str | None = None
) -> IssuedEntry:
    """Return what is stored of a certificate, as if it had just been signed again."""
    issued = await home.issue()
    assert issued.certificate is not None
    profile_id = profile_id or home.profile_id
    certificate = replace(issued.certificate, id=new_uuid(), profile_id=profile_id)
    request = replace(issued.request, id=new_uuid(), certificate_id=certificate.id, profile_id=profile_id)
    event = audited(home.admin, EventType.ISSUE_CERTIFICATE, home.project_id, certificateId=certificate.id)
    return IssuedEntry(certificate, request, (("uid", request.id),), event, private_key)


async def _is_stored(home: IssuingDomain, entry: IssuedEntry) -> bool:
    wanted = AuditFilter(home.admin.organization_id)
    async with home.database.reading() as unit:
        certificate = await unit.certificates.get(entry.certificate.id)
        metadata = await unit.certificate_requests.metadata(entry.request.id)
        key = None if certificate is None else await unit.certificates.private_key(certificate)
        told = [
            one.details.get("certificateId")
            for one in await unit.audit_log.listed(wanted, offset=0, limit=99)
        ]
    assert (certificate is None) == (metadata == []) == (entry.certificate.id not in told)
    assert key == (None if certificate is None else entry.private_key)
    return certificate is not None


async def test_all_that_come_together_are_stored(home: IssuingDomain, private_key: bytes | None) -> None:
    filing = Filing(home.database, home.time)
    entries = [await _entry(home, private_key) for _ in range(10)]
    await asyncio.gather(*map(filing.store, entries))
    assert all([await _is_stored(home, entry) for entry in entries])


async def test_one_that_cannot_be_stored_keeps_no_other_from_it(
    home: IssuingDomain, private_key: bytes | None
) -> None:
    filing = Filing(home.database, home.time)
    entries = [
        await _entry(home, private_key),
        await _entry(home),
        await _entry(home, private_key, profile_id=new_uuid()),  # its profile was deleted meanwhile
        await _entry(home, private_key),
    ]
    results = await asyncio.gather(*map(filing.store, entries), return_exceptions=True)
    assert [result is None for result in results] == [True, True, False, True]
    assert isinstance(results[2], NotFoundError)
    assert [await _is_stored(home, entry) for entry in entries] == [True, True, False, True]


async def test_one_whose_authority_is_gone_keeps_no_other_from_it(home: IssuingDomain) -> None:
    filing = Filing(home.database, home.time)
    entries = [await _entry(home) for _ in range(3)]
    gone = replace(entries[1].certificate, authority_certificate_id=new_uuid())
    entries[1] = replace(entries[1], certificate=gone)
    results = await asyncio.gather(*map(filing.store, entries), return_exceptions=True)
    assert [type(result) for result in results] == [type(None), IntegrityError, type(None)]
    assert [await _is_stored(home, entry) for entry in entries] == [True, False, True]


async def test_who_gives_up_keeps_no_other_from_it(home: IssuingDomain) -> None:
    filing = Filing(home.database, home.time)
    first, second = await _entry(home), await _entry(home)
    tasks = [asyncio.create_task(filing.store(entry)) for entry in (first, second)]
    await asyncio.sleep(0)
    tasks[0].cancel()
    await tasks[1]
    assert await _is_stored(home, second)


async def test_those_whose_storing_is_cut_off_are_told(
    home: IssuingDomain, monkeypatch: pytest.MonkeyPatch
) -> None:
    filing = Filing(home.database, home.time)
    entries = [await _entry(home) for _ in range(2)]
    begun = asyncio.Event()

    async def never(*_: object) -> None:
        begun.set()
        await asyncio.Event().wait()

    monkeypatch.setattr(home.database, "write_directly", never)
    first = asyncio.create_task(filing.store(entries[0]))
    await begun.wait()
    second = asyncio.create_task(filing.store(entries[1]))
    await asyncio.sleep(0)
    assert filing._storing is not None
    filing._storing.cancel()
    async with asyncio.timeout(PATIENCE_SECONDS):
        results = await asyncio.gather(first, second, return_exceptions=True)
    assert [type(result) for result in results] == [UnavailableError] * 2


async def test_who_was_stored_by_the_task_of_another_is_not_begun_anew(home: IssuingDomain) -> None:
    filing = Filing(home.database, home.time)
    entries = [await _entry(home) for _ in range(2)]
    tries: list[int] = []

    async def operation() -> None:
        tries.append(1)
        await filing.store(entries[1])
        raise RaceError("met afterwards")

    first = asyncio.create_task(filing.store(entries[0]))
    await asyncio.sleep(0)
    with pytest.raises(RaceError):
        await repeated(operation)
    await first
    assert len(tries) == 1


async def test_those_whose_question_is_cut_off_are_told() -> None:
    questions: SharedQuestions[int] = SharedQuestions()
    begun = asyncio.Event()

    async def never() -> int:
        begun.set()
        await asyncio.Event().wait()
        return 0

    asking = asyncio.create_task(questions.ask("a", never))
    await begun.wait()
    questions._asking["a"].cancel()
    async with asyncio.timeout(PATIENCE_SECONDS):
        [result] = await asyncio.gather(asking, return_exceptions=True)
    assert isinstance(result, asyncio.CancelledError)


async def test_who_comes_while_a_question_is_under_way_shares_the_next() -> None:
    questions: SharedQuestions[int] = SharedQuestions()
    gates = [asyncio.Event(), asyncio.Event()]
    begun = [asyncio.Event(), asyncio.Event()]
    numbers = itertools.count()

    async def ask() -> int:
        number = next(numbers)
        begun[number].set()
        await gates[number].wait()
        return number

    first = asyncio.create_task(questions.ask("a", ask))
    await begun[0].wait()
    others = [asyncio.create_task(questions.ask("a", ask)) for _ in range(3)]
    await asyncio.sleep(0)
    gates[0].set()
    assert await first == 0
    await begun[1].wait()
    others.pop().cancel()
    gates[1].set()
    assert await asyncio.gather(*others) == [1, 1]


async def test_a_question_that_fails_fails_for_all_and_not_for_ever() -> None:
    questions: SharedQuestions[int] = SharedQuestions()

    async def fail() -> int:
        await asyncio.sleep(0)
        raise ValueError

    results = await asyncio.gather(*(questions.ask("a", fail) for _ in range(3)), return_exceptions=True)
    assert [type(result) for result in results] == [ValueError] * 3

    async def answer() -> int:
        return 1

    assert await questions.ask("a", answer) == 1
