"""Issuance asks the database once for what stays as it is, and again after whatever was written."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, cast

import pytest

from keybearer.base.certificate_terms import KeyAlgorithm, RequestStatus
from keybearer.base.ids import OrganizationId, new_uuid
from keybearer.domain.certificates.deciding import NewCertificate
from keybearer.domain.certificates.issuance import IssuedCertificate
from keybearer.domain.certificates.kept_answers import KeptAnswers
from keybearer.domain.certificates.opened_issuers import OpenedIssuers
from keybearer.domain.errors import InvalidError, NotFoundError
from keybearer.pki.keys import PrivateKey, generate_private_key
from keybearer.pki.names import Subject
from keybearer.pki.signing_requests import build_signing_request
from keybearer.store.failures import RaceError
from keybearer.store.revisions import Changes, RevisionBook
from keybearer.wire.certificates.attributes import CertificateAttributes
from support.issuing_domain import IssuingDomain, issuing_domain

if TYPE_CHECKING:
    from collections.abc import Iterator

    from keybearer.store.database import Database

CSR = build_signing_request(generate_private_key(KeyAlgorithm.EC_P256), Subject.of("a"))


@pytest.fixture
async def home(tmp_path: Path) -> AsyncIterator[IssuingDomain]:
    async with issuing_domain(tmp_path) as made:
        yield made


async def _issue(home: IssuingDomain) -> IssuedCertificate:
    asked = CertificateAttributes(ttl="1d")
    return await home.issuance.issue(home.admin, NewCertificate(home.profile_id, asked, CSR))


@contextmanager
def _nothing_is_read(home: IssuingDomain) -> Iterator[None]:
    def refuse() -> None:
        raise AssertionError("the database was asked")

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(home.database, "reading", refuse)
        yield


async def test_the_second_certificate_is_issued_without_a_reading(home: IssuingDomain) -> None:
    await _issue(home)
    with _nothing_is_read(home):
        issued = [await _issue(home) for _ in range(3)]
    assert all(one.certificate is not None for one in issued)


async def test_whatever_is_written_is_seen_by_the_next(home: IssuingDomain) -> None:
    await _issue(home)
    async with home.database.writing() as unit:
        await unit.certificate_policies.update(replace(home.policy, rules={"validity": {"max": "1h"}}))
    with pytest.raises(InvalidError, match="1h"):
        await _issue(home)


async def test_what_is_kept_for_one_organization_is_not_answered_in_another(home: IssuingDomain) -> None:
    await _issue(home)
    elsewhere = replace(home.admin, organization_id=OrganizationId(new_uuid()))
    with pytest.raises(NotFoundError):
        await home.issuance.issue(
            elsewhere, NewCertificate(home.profile_id, CertificateAttributes(ttl="1d"), CSR)
        )


async def test_a_change_of_anything_else_has_it_read_again(home: IssuingDomain) -> None:
    await _issue(home)
    async with home.database.writing():
        pass
    with pytest.raises(AssertionError, match="was asked"), _nothing_is_read(home):
        await _issue(home)
    await _issue(home)


async def test_the_key_of_an_authority_is_not_kept_with_it(home: IssuingDomain) -> None:
    await _issue(home)
    kept = list(home.issuance._kept._answers.values())
    assert [terms[0].authority_key for terms in kept] == [None]
    assert kept[0][0].authority is not None


async def test_an_authority_whose_key_was_let_go_is_read_again(home: IssuingDomain) -> None:
    await _issue(home)
    home.issuance._signing._issuers = OpenedIssuers()
    assert (await _issue(home)).certificate is not None


async def test_what_is_written_while_a_key_is_made_is_seen(
    home: IssuingDomain, monkeypatch: pytest.MonkeyPatch
) -> None:
    work = home.issuance._deciding._work
    make = work.new_key

    async def made_meanwhile(algorithm: KeyAlgorithm) -> PrivateKey:
        await home.need_approval(None)
        return await make(algorithm)

    asked = CertificateAttributes.model_validate({"commonName": "a", "ttl": "1d", "keyAlgorithm": "RSA_2048"})
    new = NewCertificate(home.profile_id, asked)
    monkeypatch.setattr(work, "new_key", made_meanwhile)
    with pytest.raises(RaceError):
        await home.issuance.issue(home.admin, new)
    monkeypatch.setattr(work, "new_key", make)
    assert (await home.issuance.issue(home.admin, new)).request.status == RequestStatus.PENDING_APPROVAL


class _Source:
    """What of a database tells of commits."""

    def __init__(self, *, sole_process: bool) -> None:
        self.sole_process = sole_process
        self.revisions = RevisionBook()


def test_nothing_is_kept_where_others_write() -> None:
    kept: KeptAnswers[str] = KeptAnswers(cast("Database", _Source(sole_process=False)))
    kept.keep("a", "answer", generation=kept.generation)
    assert kept.find("a") is None


def test_an_answer_that_was_asked_for_before_a_commit_is_not_kept_after_it() -> None:
    source = _Source(sole_process=True)
    kept: KeptAnswers[str] = KeptAnswers(cast("Database", source))
    generation = kept.generation
    source.revisions.publish(Changes())
    kept.keep("a", "answer", generation=generation)
    assert kept.find("a") is None
    kept.keep("a", "answer", generation=kept.generation)
    assert kept.find("a") == "answer"


def test_so_many_answers_are_kept_at_most() -> None:
    kept: KeptAnswers[int] = KeptAnswers(cast("Database", _Source(sole_process=True)))
    for number in range(1000):
        kept.keep(number, number, generation=kept.generation)
    assert len(kept._answers) == 256
    assert (kept.find(0), kept.find(999)) == (None, 999)
