"""The vote that has a certificate issued: signed while others write, and never by what was changed meanwhile."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine
from contextvars import Context
from dataclasses import replace
from datetime import datetime
from pathlib import Path

import pytest

from keybearer.base.ids import IdentityId, new_uuid
from keybearer.domain.certificates.approval import Approvals
from keybearer.domain.certificates.asked import Asked, Validity
from keybearer.domain.certificates.deciding import Deciding
from keybearer.domain.certificates.finishing import Finishing
from keybearer.domain.certificates.key_work import KeyWork
from keybearer.domain.certificates.signing import Signed, Signing
from keybearer.domain.errors import ForbiddenError
from keybearer.pki.keys import PrivateKey, PublicKey
from keybearer.store.certificate_profiles import IssuingProfile
from keybearer.store.certificate_requests import CertificateRequest
from keybearer.wire.certificates.approvals import Verdict
from support.issuing_domain import IssuingDomain, issuing_domain

Meanwhile = Callable[[], Coroutine[None, None, None]]


class SlowSigning(Signing):
    """Signs after something else was done, and counts."""

    def __init__(self, work: KeyWork, meanwhile: Meanwhile) -> None:
        super().__init__(work)
        self.signed = 0
        self._meanwhile = meanwhile

    async def sign(
        self,
        profile: IssuingProfile,
        asked: Asked,
        validity: Validity,
        key: PublicKey | PrivateKey,
        now: datetime,
    ) -> Signed:
        self.signed += 1
        # Of somebody else: a commit of ours would mean that nothing may be begun anew.
        await asyncio.create_task(self._meanwhile(), context=Context())
        return await super().sign(profile, asked, validity, key, now)


@pytest.fixture
async def home(tmp_path: Path) -> AsyncIterator[IssuingDomain]:
    async with issuing_domain(tmp_path) as made:
        await made.need_approval(None)
        yield made


def approving(home: IssuingDomain, meanwhile: Meanwhile) -> tuple[Approvals, SlowSigning]:
    """Return what takes votes, and how often it signed."""
    work = KeyWork()
    signing = SlowSigning(work, meanwhile)
    return Approvals(
        home.database, Finishing(Deciding(signing, work, home.time), signing, home.time), home.time
    ), signing


async def approve(
    home: IssuingDomain, approvals: Approvals, request: CertificateRequest
) -> CertificateRequest:
    """Have somebody else agree, and return what became of the request."""
    async with home.database.reading() as unit:
        waiting = await unit.certificate_approvals.of_request(request.id)
    assert waiting is not None
    other = replace(home.admin, identity_id=IdentityId(new_uuid()), name="other")
    await approvals.vote(other, waiting.approval.id, Verdict.APPROVE, None)
    async with home.database.reading() as unit:
        found = await unit.certificate_requests.get(request.id)
    assert found is not None
    return found


async def test_others_write_while_it_is_signed(home: IssuingDomain) -> None:
    async def write() -> None:
        async with home.database.writing() as unit:
            await unit.certificate_policies.update(replace(home.policy, description="meanwhile"))

    approvals, signing = approving(home, write)
    request = (await home.issue()).request
    # The first signature is by the policy of before; what was changed is asked once more.
    assert (await approve(home, approvals, request)).status == "issued"
    assert signing.signed == 2


async def test_what_was_forbidden_while_it_was_signed_is_not_issued(home: IssuingDomain) -> None:
    async def forbid() -> None:
        async with home.database.writing() as unit:
            await unit.certificate_policies.update(replace(home.policy, rules={"subject": []}))

    approvals, _ = approving(home, forbid)
    done = await approve(home, approvals, (await home.issue()).request)
    assert (done.status, done.certificate_id) == ("failed", None)
    assert "common_name is not allowed" in str(done.error_message)


async def test_nothing_is_signed_for_who_may_not_agree(home: IssuingDomain) -> None:
    async def nothing() -> None:
        return

    approvals, signing = approving(home, nothing)
    request = (await home.issue()).request
    async with home.database.reading() as unit:
        waiting = await unit.certificate_approvals.of_request(request.id)
    assert waiting is not None
    with pytest.raises(ForbiddenError, match="asked for yourself"):
        await approvals.vote(home.admin, waiting.approval.id, Verdict.APPROVE, None)
    assert signing.signed == 0
