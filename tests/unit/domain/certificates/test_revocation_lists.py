"""Lists and answers about what was revoked, as time passes: renewed before they end, never behind, signed once."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.x509 import ocsp

from keybearer.base.certificate_terms import RevocationReason
from keybearer.domain.certificates.acme_accounts import AcmeSessions
from keybearer.domain.certificates.acme_revocation import AcmeRevocation
from keybearer.domain.certificates.key_work import KeyWork
from keybearer.domain.certificates.lifecycle import CertificateLifecycle
from keybearer.domain.certificates.revocation_lists import RevocationLists
from keybearer.domain.certificates.status_answers import StatusAnswers
from keybearer.domain.certificates.status_signers import StatusSigners
from keybearer.domain.errors import LimitReachedError
from keybearer.domain.outbound import OutboundSettings, outbound_of
from keybearer.pki.ocsp import OcspQuestion
from keybearer.store.certificates import Certificate
from support.issuing_domain import IssuingDomain, issuing_domain

_DAY = 86400.0


class BusyWork(KeyWork):
    """Threads that have too much to do."""

    async def with_key_of(self, *_: object) -> object:  # type: ignore[override] # it returns nothing
        raise LimitReachedError("too much")


@pytest.fixture
async def home(tmp_path: Path) -> AsyncIterator[IssuingDomain]:
    async with issuing_domain(tmp_path) as made:
        yield made


def lists_of(home: IssuingDomain) -> RevocationLists:
    return RevocationLists(home.database, StatusSigners(), KeyWork(), home.time)


def answers_of(home: IssuingDomain, work: KeyWork | None = None) -> StatusAnswers:
    return StatusAnswers(home.database, StatusSigners(), work or KeyWork(), home.time)


async def issued(home: IssuingDomain, days: int = 30) -> Certificate:
    made = (await home.issue(days)).certificate
    assert made is not None
    return made


async def revoke(home: IssuingDomain, certificate: Certificate) -> None:
    sessions = AcmeSessions(outbound_of(OutboundSettings(), home.time).acme)
    lifecycle = CertificateLifecycle(home.database, AcmeRevocation(home.database, sessions), home.time)
    await lifecycle.revoke(home.admin, certificate.id, RevocationReason.SUPERSEDED)


async def read(home: IssuingDomain, lists: RevocationLists, certificate: Certificate) -> tuple[int, set[str]]:
    """Return the number of the list, and whom it names."""
    assert certificate.authority_certificate_id is not None
    found = await lists.public(certificate.authority_certificate_id)
    parsed = x509.load_der_x509_crl(found.der)
    assert parsed.last_update_utc <= home.time.now()
    assert parsed.next_update_utc is not None
    assert (parsed.next_update_utc - home.time.now()).days >= 1
    return found.number, {f"{one.serial_number:x}" for one in parsed}


async def settled(home: IssuingDomain, lists: RevocationLists, certificate: Certificate) -> int:
    """Have the first list, and the one after it; return its number."""
    await read(home, lists, certificate)
    return (await read(home, lists, certificate))[0]


async def test_a_list_is_renewed_a_day_before_its_end_though_nobody_asks(home: IssuingDomain) -> None:
    lists, certificate = lists_of(home), await issued(home)
    number = await settled(home, lists, certificate)
    await home.time.advance(5.9 * _DAY)
    assert await lists.renew_due() == 0
    await home.time.advance(0.2 * _DAY)
    assert await lists.renew_due() == 1
    assert await lists.renew_due() == 0
    # By the clock, so that a list of before a restore has no number that a later one has.
    assert (await read(home, lists, certificate))[0] == number + 6.1 * _DAY * 1000 - 1


async def test_a_list_is_signed_again_only_if_something_changed(home: IssuingDomain) -> None:
    lists, certificate = lists_of(home), await issued(home)
    number = await settled(home, lists, certificate)
    assert await read(home, lists, certificate) == (number, set())
    await revoke(home, certificate)
    assert await read(home, lists, certificate) == (number + 1, {certificate.serial_number.lstrip("0")})
    assert (await read(home, lists, certificate))[0] == number + 1


async def test_a_revocation_is_put_into_the_list_by_the_job_too(home: IssuingDomain) -> None:
    lists, certificate = lists_of(home), await issued(home)
    await settled(home, lists, certificate)
    await revoke(home, certificate)
    assert await lists.renew_due() == 1
    assert await lists.renew_due() == 0


async def test_a_list_is_read_once_as_long_as_it_is_the_last(home: IssuingDomain) -> None:
    lists, certificate = lists_of(home), await issued(home)
    number = await settled(home, lists, certificate)
    place = str(certificate.authority_certificate_id)
    found = await lists.public(place)
    async with home.database.writing() as unit:
        await unit.certificate_authorities.put_revocation_list(replace(found, der=b"another"))
    assert await lists.public(place) is found
    assert (await lists_of(home).public(place)).der == b"another"
    await revoke(home, certificate)
    assert await read(home, lists, certificate) == (number + 1, {certificate.serial_number.lstrip("0")})


async def test_processes_that_begin_together_end_with_one_list(home: IssuingDomain) -> None:
    certificate = await issued(home)
    processes = [lists_of(home) for _ in range(4)]
    await revoke(home, certificate)
    found = await asyncio.gather(*(read(home, one, certificate) for one in processes))
    assert all(names == {certificate.serial_number.lstrip("0")} for _, names in found)
    last = await settled(home, processes[0], certificate)
    assert max(number for number, _ in found) <= last
    assert [await read(home, one, certificate) for one in processes] == [
        (last, {certificate.serial_number.lstrip("0")})
    ] * 4


async def test_what_is_over_stands_in_a_list_for_one_lifetime_more(home: IssuingDomain) -> None:
    lists, short, longer = lists_of(home), await issued(home, 1), await issued(home, 60)
    await revoke(home, short)
    await home.time.advance(7.5 * _DAY)
    assert len((await read(home, lists, longer))[1]) == 1
    await home.time.advance(7.5 * _DAY)
    assert len((await read(home, lists, longer))[1]) == 0


async def question_about(home: IssuingDomain, certificate: Certificate) -> OcspQuestion:
    async with home.database.reading() as unit:
        signer = await StatusSigners().of_certificate(unit, str(certificate.authority_certificate_id))
    own = signer.issuer.own
    asked_about = x509.load_pem_x509_certificate(certificate.certificate.encode())
    built = ocsp.OCSPRequestBuilder().add_certificate(asked_about, own, SHA256())
    request = built.build()
    return OcspQuestion(
        request.serial_number, request.issuer_name_hash, request.issuer_key_hash, "sha256", nonce=None
    )


async def test_an_answer_is_signed_once_until_it_is_half_over_or_wrong(home: IssuingDomain) -> None:
    certificate, answers = await issued(home), answers_of(home)
    question = await question_about(home, certificate)
    place = str(certificate.authority_certificate_id)
    first = await answers.answer(place, question)
    await home.time.advance(29 * 60)
    assert await answers.answer(place, question) is first
    await home.time.advance(2 * 60)
    second = await answers.answer(place, question)
    assert second.der != first.der
    await revoke(home, certificate)
    told = ocsp.load_der_ocsp_response((await answers.answer(place, question)).der)
    assert told.certificate_status is ocsp.OCSPCertStatus.REVOKED


async def test_an_answer_with_a_nonce_is_kept_for_nobody(home: IssuingDomain) -> None:
    certificate, answers = await issued(home), answers_of(home)
    question = replace(await question_about(home, certificate), nonce=b"n" * 16)
    answer = await answers.answer(str(certificate.authority_certificate_id), question)
    assert (answer.this_update, answer.next_update) == (None, None)


async def test_an_answer_about_a_number_that_nobody_has_is_not_kept(home: IssuingDomain) -> None:
    certificate, answers = await issued(home), answers_of(home)
    unknown = replace(await question_about(home, certificate), serial_number=4711)
    place = str(certificate.authority_certificate_id)
    first = await answers.answer(place, unknown)
    told = ocsp.load_der_ocsp_response(first.der)
    assert told.certificate_status is ocsp.OCSPCertStatus.UNKNOWN
    assert await answers.answer(place, unknown) is not first


async def test_who_asks_while_too_much_is_to_be_signed_is_told_to_come_again(home: IssuingDomain) -> None:
    certificate = await issued(home)
    question = await question_about(home, certificate)
    answer = await answers_of(home, BusyWork()).answer(str(certificate.authority_certificate_id), question)
    told = ocsp.load_der_ocsp_response(answer.der)
    assert told.response_status is ocsp.OCSPResponseStatus.TRY_LATER
