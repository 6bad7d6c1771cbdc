"""Keys in rows of a project are sealed for their row alone, and anew with each data key."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import AsyncIterator
from dataclasses import fields, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from sqlalchemy import select, text, update

from keybearer.base.certificate_terms import CertificateStatus, RequestStatus
from keybearer.base.ids import ProjectId
from keybearer.store.acme_accounts import AcmeAccount, OpenedAcmeAccount
from keybearer.store.audit import AuditActor, AuditEvent, AuditRecord
from keybearer.store.certificate_authorities import CertificateAuthority, RevocationListRecord
from keybearer.store.certificate_policies import CertificatePolicy
from keybearer.store.certificate_profiles import CertificateProfile
from keybearer.store.certificate_request_search import RequestFilter, RequestSort
from keybearer.store.certificate_requests import CertificateRequest
from keybearer.store.certificates import Certificate, CertificateFilter
from keybearer.store.enrollments import Enrollment
from keybearer.store.failures import RaceError
from keybearer.store.issued_certificates import IssuedRows, store_issued
from keybearer.store.sealing.envelope import UnsealError, key_name_of
from keybearer.store.tables.certificates import CertificateRow
from keybearer.store.unit import UnitOfWork
from support.databases import OwnDatabase
from support.service_domain import ServiceDomain, service_domain

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)


@pytest.fixture
async def domain(own_database: OwnDatabase, tmp_path: Path) -> AsyncIterator[ServiceDomain]:
    async with service_domain(tmp_path, own_database.engine_url(tmp_path)) as made:
        yield made


@pytest.fixture
async def project(domain: ServiceDomain) -> ProjectId:
    return (await domain.project("home-of-certificates")).id


def authority(project_id: ProjectId, name: str = "root") -> CertificateAuthority:
    return CertificateAuthority(
        str(uuid4()),
        project_id,
        name,
        "internal",
        "active",
        enable_direct_issuance=False,
        configuration={"type": "root"},
        certificate_id=None,
        created_at=NOW,
        updated_at=NOW,
    )


def policy(project_id: ProjectId) -> CertificatePolicy:
    return CertificatePolicy(str(uuid4()), project_id, "any", None, {}, NOW, NOW)


def profile(project_id: ProjectId, policy_id: str, authority_id: str | None) -> CertificateProfile:
    return CertificateProfile(
        str(uuid4()), project_id, policy_id, authority_id, "web", None, "ca", "api", None, None, NOW, NOW
    )


def request(project_id: ProjectId, profile_id: str | None = None, **changed: object) -> CertificateRequest:
    blank = CertificateRequest(
        id=str(uuid4()),
        project_id=project_id,
        profile_id=profile_id,
        application_id=None,
        authority_id=None,
        certificate_id=None,
        renews_id=None,
        status=RequestStatus.PENDING,
        common_name="web.example.com",
        alt_names="web.example.com,10.0.0.1",
        asked={},
        csr=None,
        remove_roots_from_chain=False,
        requested_by=None,
        requester_name="tests",
        error_message=None,
        pending_message=None,
        order_state=None,
        attempt=0,
        due_at=None,
        claimed_by=None,
        lease_ends_at=None,
        created_at=NOW,
        updated_at=NOW,
    )
    return replace(blank, **changed)  # type: ignore[arg-type]


def certificate(project_id: ProjectId, authority_id: str | None = None, **changed: object) -> Certificate:
    blank = Certificate(
        id=str(uuid4()),
        project_id=project_id,
        profile_id=None,
        application_id=None,
        subscriber_id=None,
        authority_id=authority_id,
        authority_certificate_id=None,
        serial_number=uuid4().hex,
        fingerprint=uuid4().hex,
        public_key_fingerprint=uuid4().hex,
        common_name="web.example.com",
        alt_names="",
        friendly_name="",
        subject={},
        key_usages=("digital_signature",),
        extended_key_usages=(),
        key_algorithm="EC_prime256v1",
        signature_algorithm="ECDSA-SHA256",
        is_ca=False,
        path_length=None,
        not_before=NOW,
        not_after=NOW + timedelta(days=90),
        certificate="PEM",
        chain="",
        is_revoked=False,
        revoked_at=None,
        revocation_reason=None,
        renew_before_days=None,
        renew_at=None,
        renewed_from_id=None,
        renewed_by_id=None,
        created_at=NOW,
        updated_at=NOW,
    )
    return replace(blank, **changed)  # type: ignore[arg-type]


class Sealed:
    """One row of every kind that keeps something sealed."""

    def __init__(self, project_id: ProjectId) -> None:
        self.authority = authority(project_id)
        self.account = AcmeAccount(self.authority.id, str(uuid4()), project_id, None, "kid", NOW, NOW)
        self.policy = policy(project_id)
        self.profile = profile(project_id, self.policy.id, self.authority.id)
        self.enrollment = Enrollment(
            str(uuid4()), project_id, self.profile.id, None, "est", {"a": True}, NOW, NOW
        )
        self.request = request(project_id)
        self.certificate = certificate(project_id, self.authority.id)

    async def add(self, unit: UnitOfWork) -> None:
        await unit.certificate_authorities.add(self.authority, b"cnry-ca")
        await unit.acme_accounts.put(OpenedAcmeAccount(self.account, b"cnry-account", b"cnry-eab"))
        await unit.certificate_policies.add(self.policy)
        await unit.certificate_profiles.add(self.profile)
        await unit.enrollments.put(self.enrollment, "cnry-passphrase")
        await unit.certificate_requests.add(self.request, private_key=b"cnry-request")
        await unit.certificates.add(self.certificate, b"cnry-leaf")

    async def opened(self, unit: UnitOfWork) -> list[object]:
        account = await unit.acme_accounts.opened(self.authority.id)
        assert account is not None
        return [
            await unit.certificate_authorities.private_key(self.authority),
            account.private_key,
            account.eab_secret,
            await unit.enrollments.secret(self.enrollment),
            await unit.certificate_requests.private_key(self.request),
            await unit.certificates.private_key(self.certificate),
        ]


OPENED = [b"cnry-ca", b"cnry-account", b"cnry-eab", "cnry-passphrase", b"cnry-request", b"cnry-leaf"]


@pytest.mark.every_database
async def test_what_was_sealed_opens(domain: ServiceDomain, project: ProjectId) -> None:
    sealed = Sealed(project)
    async with domain.database.writing() as unit:
        await sealed.add(unit)
    async with domain.database.reading() as unit:
        assert await sealed.opened(unit) == OPENED
        issuing = await unit.certificate_profiles.issuing(sealed.profile.id)
    assert issuing is not None
    assert issuing.profile == sealed.profile
    assert issuing.policy == sealed.policy
    assert issuing.authority == sealed.authority
    assert issuing.authority_key == b"cnry-ca"
    assert issuing.authority_certificate is None
    assert issuing.approval is None
    assert "cnry" not in repr(issuing)


@pytest.mark.every_database
async def test_a_rotation_of_the_data_key_seals_all_of_it_anew(
    domain: ServiceDomain, project: ProjectId
) -> None:
    sealed = Sealed(project)
    more = [certificate(project) for _ in range(5)]
    async with domain.database.writing() as unit:
        await sealed.add(unit)
        for one in more:
            await unit.certificates.add(one, b"cnry-leaf")
    async with domain.database.writing() as unit:
        await unit.resealing.begin(project)
    rounds = 0
    under_way = True
    while under_way:
        async with domain.database.writing() as unit:
            under_way = await unit.resealing.advance(project, 3)
        rounds += 1
        assert rounds < 50
    async with domain.database.reading() as unit:
        assert await unit.resealing.under_way() == []
        assert await sealed.opened(unit) == OPENED
        assert [await unit.certificates.private_key(one) for one in more] == [b"cnry-leaf"] * 5
        assert await unit.resealing.data_keys() == 1  # the former one is gone


@pytest.mark.every_database
async def test_a_key_of_one_certificate_doesnt_open_in_another_row(
    domain: ServiceDomain, project: ProjectId
) -> None:
    one, other = certificate(project), certificate(project)
    async with domain.database.writing() as unit:
        await unit.certificates.add(one, b"cnry-leaf")
        await unit.certificates.add(other, b"cnry-other")
        envelope = (
            await unit._connection.execute(
                select(CertificateRow.private_key).where(CertificateRow.id == one.id)
            )
        ).scalar_one()
        await unit._connection.execute(
            update(CertificateRow).where(CertificateRow.id == other.id).values(private_key=envelope)
        )
        assert envelope is not None
        assert key_name_of(envelope)
        with pytest.raises(UnsealError):
            await unit.certificates.private_key(other)


@pytest.mark.every_database
async def test_requests_are_found_by_all_that_stands_beside_them(
    domain: ServiceDomain, project: ProjectId
) -> None:
    first, second = request(project), request(project, created_at=NOW + timedelta(seconds=1))
    async with domain.database.writing() as unit:
        await unit.certificate_requests.add(first, [("uid", "1"), ("revision", "1"), ("note", "")])
        await unit.certificate_requests.add(second, [("uid", "1"), ("revision", "2"), ("note", "x" * 1020)])

    async def found(*pairs: tuple[str, str]) -> list[str]:
        async with domain.database.reading() as unit:
            views, total = await unit.certificate_request_search.page(
                project, RequestFilter(metadata=pairs), RequestSort(), offset=0, limit=10
            )
        assert total == len(views)
        return [view.request.id for view in views]

    assert await found(("uid", "1")) == [second.id, first.id]
    assert await found(("uid", "1"), ("revision", "1")) == [first.id]
    assert await found(("note", "")) == [first.id]
    assert await found(("note", "x" * 1020)) == [second.id]
    assert await found(("uid", "1"), ("revision", "3")) == []
    assert await found(("ui", "d1")) == []


@pytest.mark.every_database
async def test_a_request_is_claimed_by_one_process_until_its_lease_ends(
    domain: ServiceDomain, project: ProjectId
) -> None:
    due = request(project, due_at=NOW)
    later = request(project, due_at=NOW + timedelta(hours=1))
    async with domain.database.writing() as unit:
        await unit.certificate_requests.add(due)
        await unit.certificate_requests.add(later)
    lease = NOW + timedelta(minutes=1)

    async def claim(who: str, now: datetime) -> list[str]:
        async with domain.database.writing() as unit:
            return [one.id for one in await unit.certificate_request_claims.claim(who, now, lease, 10)]

    assert await claim("one", NOW) == [due.id]
    assert await claim("other", NOW) == []
    assert await claim("other", lease) == [due.id]


@pytest.mark.every_database
async def test_the_status_of_certificates_is_told_by_their_dates(
    domain: ServiceDomain, project: ProjectId
) -> None:
    active = certificate(project)
    over = certificate(project, not_after=NOW - timedelta(seconds=1))
    revoked = certificate(project, is_revoked=True, revoked_at=NOW, revocation_reason="SUPERSEDED")
    async with domain.database.writing() as unit:
        for one in (active, over, revoked):
            await unit.certificates.add(one)
    async with domain.database.reading() as unit:
        for status, expected in (
            (CertificateStatus.ACTIVE, active),
            (CertificateStatus.EXPIRED, over),
            (CertificateStatus.REVOKED, revoked),
        ):
            found, total = await unit.certificates.listed(
                project, CertificateFilter(status=status), NOW, offset=0, limit=10
            )
            assert (found, total) == ([expected], 1)
            assert expected.status(NOW) is status


@pytest.mark.every_database
async def test_a_revocation_list_takes_the_place_of_the_one_before(
    domain: ServiceDomain, project: ProjectId
) -> None:
    own = authority(project)
    signed = RevocationListRecord(
        own.id, str(uuid4()), 1, NOW, NOW + timedelta(days=7), is_stale=False, der=b"list"
    )
    async with domain.database.writing() as unit:
        authorities = unit.certificate_authorities
        await authorities.add(own)
        assert await authorities.revocation_list(own.id) is None
        await authorities.put_revocation_list(signed)
        await authorities.outdate_revocation_list(own.id)
        assert await authorities.revocation_list(own.id) == replace(signed, is_stale=True)
        assert await authorities.due_revocation_lists(NOW, 10) == [own.id]
        await authorities.put_revocation_list(replace(signed, number=2))
        assert await authorities.revocation_list(own.id) == replace(signed, number=2)
        assert await authorities.due_revocation_lists(signed.next_update, 10) == []
        assert await authorities.due_revocation_lists(signed.next_update + timedelta(seconds=1), 10) == [
            own.id
        ]


@pytest.mark.every_database
async def test_what_refers_to_a_profile_lives_on_without_it(
    domain: ServiceDomain, project: ProjectId
) -> None:
    sealed = Sealed(project)
    of_profile = certificate(project, sealed.authority.id, profile_id=sealed.profile.id)
    asked = request(project, sealed.profile.id)
    async with domain.database.writing() as unit:
        await sealed.add(unit)
        await unit.certificates.add(of_profile, b"cnry-leaf")
        await unit.certificate_requests.add(asked)
        assert await unit.certificate_authorities.is_used(sealed.authority.id)
        assert await unit.certificate_policies.is_used(sealed.policy.id)
        await unit.certificate_profiles.delete(sealed.profile.id)
        assert await unit.certificates.get(of_profile.id) == replace(of_profile, profile_id=None)
        assert await unit.certificate_requests.get(asked.id) == replace(asked, profile_id=None)
        assert await unit.enrollments.of_profiles([sealed.profile.id]) == []
        assert not await unit.certificate_authorities.is_used(sealed.authority.id)


@pytest.mark.every_database
async def test_a_project_goes_with_all_of_it(domain: ServiceDomain, project: ProjectId) -> None:
    sealed = Sealed(project)
    of_profile = certificate(project, sealed.authority.id, profile_id=sealed.profile.id)
    asked = request(
        project, sealed.profile.id, certificate_id=of_profile.id, authority_id=sealed.authority.id
    )
    async with domain.database.writing() as unit:
        await sealed.add(unit)
        await unit.certificates.add(of_profile, b"cnry-leaf")
        await unit.certificate_requests.add(asked, [("key", "value")])
    async with domain.database.writing() as unit:
        await unit.projects.delete(project)
    async with domain.database.reading() as unit:
        assert await unit.certificates.get(of_profile.id) is None
        assert await unit.certificate_requests.get(asked.id) is None
        assert await unit.certificate_profiles.get(sealed.profile.id) is None
        assert await unit.certificate_policies.get(sealed.policy.id) is None
        assert await unit.certificate_authorities.get(sealed.authority.id) is None


@pytest.mark.every_database
async def test_many_are_stored_at_once_as_they_are(domain: ServiceDomain, project: ProjectId) -> None:
    full: dict[str, Any] = {
        "subject": {"organization": "Häuser & Söhne\u2028"},
        "alt_names": "a,b",
        "extended_key_usages": ("server_auth", "client_auth"),
        "path_length": 0,
        "is_ca": True,
        "renew_at": NOW + timedelta(microseconds=1_999),
    }
    certificates = [certificate(project), *(certificate(project, **full) for _ in range(40))]
    requests = [
        request(project, asked={"lifetime": 1.5, "subject": [["common_name", "ü"]]}, due_at=NOW, csr="PEM")
        for _ in range(40)
    ]
    async with domain.database.writing() as unit:
        await unit.certificates.add_all([(one, None) for one in certificates])
        await unit.certificate_requests.add_all([(one, (("number", one.id),)) for one in requests])
    async with domain.database.reading() as unit:
        stored = [await unit.certificates.get(one.id) for one in certificates]
        assert stored[0] == certificates[0]
        renewed = NOW + timedelta(milliseconds=1)  # whole milliseconds are kept
        assert stored[1:] == [replace(one, renew_at=renewed) for one in certificates[1:]]
        assert [await unit.certificate_requests.get(one.id) for one in requests] == requests
        assert await unit.certificate_requests.metadata(requests[39].id) == [("number", requests[39].id)]
        assert not await unit.certificates.has_private_key(certificates[0].id)


@pytest.mark.parametrize("number", [1, 8, 9, 41], ids=str)
async def test_what_is_stored_directly_is_stored_as_otherwise(
    domain: ServiceDomain, project: ProjectId, number: int
) -> None:
    async with domain.database.writing() as unit:
        await unit.certificate_policies.add(rules := policy(project))
        await unit.certificate_profiles.add(used := profile(project, rules.id, None))
    pairs = (("uid", "1"), ("note", ""))
    record = AuditRecord.of(
        AuditEvent(
            "issue-certificate",
            AuditActor("machine", None, "tests", domain.admin.organization_id),
            project,
            None,
            "agent",
            "req",
            {"names": ["a", "ü"], "serialNumber": None},
        ),
        NOW,
    )

    def entry() -> tuple[Certificate, CertificateRequest, AuditRecord]:
        made = certificate(project, profile_id=used.id)
        return made, request(project, used.id, certificate_id=made.id), replace(record, id=str(uuid4()))

    one = entry()
    async with domain.database.writing() as unit:
        await unit.certificates.add(one[0])
        await unit.certificate_requests.add(one[1], pairs)
        await unit.audit_log.add([one[2]])
    others = [entry() for _ in range(number)]
    rows = [IssuedRows.of(made, asked, pairs) for made, asked, _ in others]
    lines = [told for _, _, told in others]
    await domain.database.write_directly(lambda cursor: store_issued(cursor, rows), lines)

    ids = {one.id for line in (one, *others) for one in line}
    # Of a line its number and MAC are its own.
    of_lines = ", ".join((*(field.name for field in fields(AuditRecord)), "chain"))
    for table, columns in (
        ("certificates", "*"),
        ("certificate_requests", "*"),
        ("certificate_request_metadata", "*"),
        ("audit_log", of_lines),
    ):
        async with domain.database.reading() as unit:
            written = (await unit._connection.execute(text(f"SELECT {columns} FROM {table}"))).all()  # noqa: S608
        alike = Counter(
            tuple("own" if value in ids or _is_print(value) else value for value in row)
            for row in written
            if any(value in ids for value in row)
        )
        assert len(alike) == (2 if table == "certificate_request_metadata" else 1)
        assert set(alike.values()) == {number + 1}
    stranger = IssuedRows.of(certificate(project), request(project, str(uuid4())), ())
    with pytest.raises(RaceError):
        await domain.database.write_directly(lambda cursor: store_issued(cursor, [stranger]))


def _is_print(value: object) -> bool:
    """Whether it is one of the digests that no two of these certificates share."""
    return isinstance(value, str) and re.fullmatch("[0-9a-f]{32}", value) is not None
