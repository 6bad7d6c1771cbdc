"""Certificates renew by themselves, once; approval requests end when their time is over."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest
from pydantic import JsonValue
from sqlalchemy import update

from keybearer.domain.certificates.orders import renewal_time
from keybearer.domain.errors import InvalidError
from keybearer.store.audit import AuditFilter
from keybearer.store.certificate_request_search import RequestFilter, RequestSort
from keybearer.store.tables.certificates import CertificateRow
from support.issuing_domain import IssuingDomain, issuing_domain
from support.virtual_time import VirtualTime


@pytest.fixture
async def home(tmp_path: Path) -> AsyncIterator[IssuingDomain]:
    async with issuing_domain(tmp_path) as made:
        yield made


async def test_a_certificate_is_renewed_ten_days_before_its_end_and_once(home: IssuingDomain) -> None:
    issued = (await home.issue()).certificate
    assert issued is not None
    await home.time.advance(19.9 * 86400)
    assert await home.renewal.renew_due() == 0
    await home.time.advance(0.2 * 86400)
    assert await home.renewal.renew_due() == 1
    assert await home.renewal.renew_due() == 0
    former = await home.certificate(issued.id)
    assert former.renew_at is None
    assert former.renewed_by_id is not None
    successor = await home.certificate(former.renewed_by_id)
    assert successor.renewed_from_id == former.id
    assert successor.renew_before_days == 10
    assert successor.public_key_fingerprint != former.public_key_fingerprint
    assert successor.renew_at == renewal_time(successor.not_before, successor.not_after, 10)


async def test_what_the_policy_forbids_by_now_is_tried_again_later(home: IssuingDomain) -> None:
    issued = (await home.issue()).certificate
    assert issued is not None
    async with home.database.writing() as unit:
        await unit.certificate_policies.update(replace(home.policy, rules={"validity": {"max": "1d"}}))
    await home.time.advance(21 * 86400)
    assert await home.renewal.renew_due() == 0
    assert (await home.certificate(issued.id)).renewed_by_id is None
    async with home.database.writing() as unit:
        await unit.certificate_policies.update(home.policy)
    assert await home.renewal.renew_due() == 0
    await home.time.advance(3601)
    assert await home.renewal.renew_due() == 1


async def test_what_is_over_is_left_alone(home: IssuingDomain) -> None:
    issued = (await home.issue()).certificate
    assert issued is not None
    await home.time.advance(31 * 86400)
    assert await home.renewal.renew_due() == 0
    assert (await home.certificate(issued.id)).renew_at is None


async def test_a_renewal_that_needs_approval_is_asked_for_once(home: IssuingDomain) -> None:
    issued = (await home.issue()).certificate
    assert issued is not None
    await home.need_approval(None)
    await home.time.advance(21 * 86400)
    assert await home.renewal.renew_due() == 1
    await home.time.advance(86400)
    assert await home.renewal.renew_due() == 0
    async with home.database.reading() as unit:
        found, _ = await unit.certificate_request_search.page(
            home.project_id, RequestFilter(), RequestSort("status"), offset=0, limit=10
        )
    assert [one.request.status for one in found] == ["pending_approval", "issued"]


async def test_approval_requests_end_when_their_time_is_over(home: IssuingDomain) -> None:
    await home.need_approval(3600)
    asked = (await home.issue()).request
    assert await home.approvals.expire_due() == 0
    await home.time.advance(3601)
    assert await home.approvals.expire_due() == 1
    assert await home.approvals.expire_due() == 0
    async with home.database.reading() as unit:
        found = await unit.certificate_requests.get(asked.id)
        assert found is not None
        assert await unit.certificate_requests.private_key(found) is None
    assert (found.status, found.error_message) == ("rejected", "Approval request expired")


@pytest.mark.parametrize(
    ("lifetime", "days", "before"),
    [
        pytest.param(90, None, 30, id="a third of its life"),
        pytest.param(900, None, 30, id="thirty days at most"),
        pytest.param(90, 7, 7, id="as was said"),
        pytest.param(10, 30, 5, id="not before half of its life"),
    ],
)
def test_when_a_certificate_renews(lifetime: int, days: int | None, before: int) -> None:
    begin = VirtualTime().now()
    end = begin + timedelta(days=lifetime)
    assert renewal_time(begin, end, days) == end - timedelta(days=before)


FORBIDDEN: dict[str, JsonValue] = {"subject": [{"type": "common_name", "denied": ["a"]}]}
"""Of a policy: what `home.issue` asks for."""


async def refusals_in_the_log(home: IssuingDomain) -> list[tuple[str | None, dict[str, object]]]:
    """Who was refused a renewal, and what the audit log says of it."""
    await home.audit.flush()
    wanted = AuditFilter(home.admin.organization_id, home.project_id, ("refuse-certificate-renewal",))
    async with home.database.reading() as unit:
        lines = await unit.audit_log.listed(wanted, offset=0, limit=10)
    return [(line.actor_id, dict(line.details)) for line in lines]


async def test_a_renewal_that_the_policy_forbids_is_told_to_admins_by_ids(
    home: IssuingDomain, capsys: pytest.CaptureFixture[str]
) -> None:
    issued = (await home.issue()).certificate
    assert issued is not None
    async with home.database.writing() as unit:
        await unit.certificate_policies.update(replace(home.policy, rules=FORBIDDEN))
    await home.time.advance(21 * 86400)
    assert await home.renewal.renew_due() == 0
    await home.time.advance(1)  # lines of one instant have no order
    with pytest.raises(InvalidError, match="is denied"):
        await home.renewal.renew(home.admin, issued.id)
    told = {"certificateId": issued.id, "profileId": home.profile_id, "serialNumber": issued.serial_number}
    assert await refusals_in_the_log(home) == [(home.admin.identity_id, told), (None, told)]
    lines = [line for line in "".join(capsys.readouterr()).splitlines() if "certificate_not_renewed" in line]
    assert len(lines) == 2
    for line in lines:
        assert issued.id in line
        assert home.profile_id in line
        assert home.project_id in line
        assert "common_name" not in line


async def test_one_certificate_that_is_refused_keeps_no_other_from_its_renewal(home: IssuingDomain) -> None:
    """Whatever refuses it: here what is stored of it can't be read any more."""
    broken, good = [(await home.issue()).certificate for _ in range(2)]
    assert broken is not None
    assert good is not None
    async with home.database.writing() as unit:
        await unit.certificates.update(replace(broken, renew_at=broken.not_before))
        await unit._connection.execute(
            update(CertificateRow).where(CertificateRow.id == broken.id).values(certificate="no PEM")
        )
    await home.time.advance(21 * 86400)
    assert await home.renewal.renew_due() == 1
    assert (await home.certificate(good.id)).renewed_by_id is not None
    assert [told["certificateId"] for _, told in await refusals_in_the_log(home)] == [broken.id]
