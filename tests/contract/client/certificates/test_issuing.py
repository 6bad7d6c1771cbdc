"""Certificates are issued as they are asked for, refused, or wait for those who must agree."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from contract.client.certificates.issuing_setup import Setup
from contract.client.house import Client, House, nothing_shown, of
from keybearer.base.certificate_terms import KeyAlgorithm
from keybearer.cli.certificate_issuing import signing_request
from keybearer.client import (
    AltName,
    BadRequest,
    CertificateAttributes,
    CertificateMetadata,
    InvalidArgument,
    NotFound,
)
from keybearer.pki.certificates import parse_certificate, parse_certificates
from keybearer.pki.chains import verify_chain
from keybearer.pki.keys import load_private_key


async def test_a_certificate_for_a_key_that_stays_is_found_by_its_metadata(
    client: Client, house: House, setup: Setup
) -> None:
    csr, key = signing_request(
        CertificateAttributes(common_name="www.example.com", alt_names=[AltName(value="www.example.com")]),
        KeyAlgorithm.EC_P256,
    )
    metadata = (
        CertificateMetadata(key="keybearer.dev/uid", value="u-1"),
        CertificateMetadata(key="keybearer.dev/revision", value="1"),
    )
    made = await of(
        client.certificates.issue(
            setup.profile_id,
            csr=csr,
            attributes=CertificateAttributes(ttl=timedelta(days=60)),
            metadata=metadata,
        )
    )
    assert (made.status, made.certificate is None) == ("issued", False)
    assert made.certificate is not None
    issued = made.certificate
    assert issued.private_key is None
    leaf = parse_certificate(issued.certificate)
    assert leaf.public_key == load_private_key(key).public_key
    chain = parse_certificates(issued.certificate_chain)
    assert verify_chain(leaf, chain[:-1], chain[-1:], datetime.now(UTC))[0] == leaf

    found = await of(client.certificate_requests.search(project_id=house.project.id, metadata=metadata))
    (request,) = found.certificate_requests
    assert (found.total_count, request.id, request.status) == (1, made.certificate_request_id, "issued")
    assert request.certificate is not None
    assert (request.certificate.id, request.certificate.status) == (issued.certificate_id, "active")
    assert (request.common_name, request.profile_name) == ("www.example.com", "web")
    other = CertificateMetadata(key="keybearer.dev/revision", value="2")
    missed = await of(
        client.certificate_requests.search(project_id=house.project.id, metadata=(metadata[0], other))
    )
    assert (missed.certificate_requests, missed.total_count) == ((), 0)
    state = await of(client.certificate_requests.get(request.id))
    assert (state.status, state.certificate_id, state.private_key) == ("issued", issued.certificate_id, None)
    assert state.certificate is not None
    assert parse_certificate(state.certificate) == leaf

    known = await of(client.certificates.get(issued.certificate_id))
    assert (known.status, known.serial_number, known.profile_id) == (
        "active",
        issued.serial_number,
        setup.profile_id,
    )
    bundle = await of(client.certificates.get_bundle(issued.certificate_id))
    assert (parse_certificate(bundle.certificate), bundle.private_key) == (leaf, None)
    with pytest.raises(NotFound):
        await of(client.certificates.get_private_key(issued.certificate_id))
    listed = await of(client.certificates.list(project_id=house.project.id, search="www"))
    assert [one.id for one in listed.certificates] == [issued.certificate_id]
    cancelled = await of(client.certificate_requests.cancel(request.id))
    assert (cancelled.status, cancelled.cancelled) == ("issued", False)


async def test_a_key_that_the_service_made_is_shown_in_no_repr(client: Client, setup: Setup) -> None:
    made = await of(
        client.certificates.issue(
            setup.profile_id,
            attributes=CertificateAttributes(
                common_name="a.example.com",
                alt_names=[AltName(value="a.example.com"), AltName(value="b.example.com", type="dns_name")],
                organization="",
            ),
        )
    )
    assert made.certificate is not None
    issued = made.certificate
    assert issued.private_key is not None
    leaf = parse_certificate(issued.certificate)
    assert load_private_key(issued.private_key).public_key == leaf.public_key
    assert [name.value for name in leaf.alternative_names] == ["a.example.com", "b.example.com"]
    bundle = await of(client.certificates.get_bundle(issued.certificate_id))
    alone = await of(client.certificates.get_private_key(issued.certificate_id))
    assert bundle.private_key is not None
    assert load_private_key(bundle.private_key).public_key == load_private_key(alone).public_key
    for shown in (made, bundle):
        assert "PRIVATE" not in repr(shown)


async def test_what_a_policy_forbids_is_refused_in_words(client: Client, setup: Setup) -> None:
    for attributes in (
        CertificateAttributes(common_name="www.example.org"),
        CertificateAttributes(common_name="www.example.com", ttl="91d"),
        CertificateAttributes(common_name="www.example.com", key_algorithm="EC_secp521r1"),
    ):
        with pytest.raises(BadRequest) as refused:
            await of(client.certificates.issue(setup.profile_id, attributes=attributes))
        nothing_shown(str(refused.value))
    with pytest.raises(NotFound):
        await of(client.certificates.issue("00000000-0000-4000-8000-000000000000"))
    with pytest.raises(InvalidArgument):
        await of(client.certificate_requests.search(limit=101))


async def test_a_request_waits_for_two_who_agree(client: Client, house: House, setup: Setup) -> None:
    policies, requests, project_id = client.approval_policies, client.approval_requests, house.project.id
    made = await of(
        policies.create(setup.profile_id, name="four eyes", required_approvals=2, request_ttl="1d")
    )
    assert (made.required_approvals, made.request_ttl_seconds, made.enabled) == (2, 86_400, True)
    assert await of(policies.get(made.id)) == made
    assert await of(policies.list(profile_id=setup.profile_id, project_id=project_id)) == [made]
    changed = await of(policies.update(made.id, request_ttl="", allow_self_approval=True))
    assert (changed.request_ttl_seconds, changed.allow_self_approval, changed.name) == (
        None,
        True,
        "four eyes",
    )

    csr, _ = signing_request(CertificateAttributes(common_name="www.example.com"), KeyAlgorithm.EC_P256)
    asked = await of(client.certificates.issue(setup.profile_id, csr=csr))
    assert (asked.status, asked.certificate) == ("pending_approval", None)
    page = await of(requests.list(project_id=project_id, status="pending"))
    (waiting,) = page.approval_requests
    assert (waiting.certificate_request_id, waiting.common_name) == (
        asked.certificate_request_id,
        "www.example.com",
    )
    (found,) = (
        await of(client.certificate_requests.search(project_id=project_id, status="pending_approval"))
    ).certificate_requests
    assert found.approval_request_id == waiting.id
    agreed = await of(requests.approve(waiting.id, comment="fine"))
    assert (agreed.status, [(vote.verdict, vote.comment) for vote in agreed.votes]) == (
        "pending",
        [("approve", "fine")],
    )
    other = house.client(house.admin)
    approved = await of(other.approval_requests.approve(waiting.id))
    assert approved.status == "approved"
    state = await of(client.certificate_requests.get(asked.certificate_request_id))
    assert state.status == "issued"
    assert await of(requests.get(waiting.id)) == approved
    assert (await of(policies.delete(made.id))).id == made.id


async def test_a_request_is_rejected_or_given_up(client: Client, house: House, setup: Setup) -> None:
    await of(client.approval_policies.create(setup.profile_id))
    asked = [
        await of(
            client.certificates.issue(
                setup.profile_id, attributes=CertificateAttributes(common_name="www.example.com")
            )
        )
        for _ in range(2)
    ]
    listed = await of(client.approval_requests.list(project_id=house.project.id, profile_id=setup.profile_id))
    approvals = {one.certificate_request_id: one.id for one in listed.approval_requests}
    first, second = (one.certificate_request_id for one in asked)
    rejected = await of(
        house.client(house.admin).approval_requests.reject(approvals[first], comment="not this one")
    )
    assert (rejected.status, rejected.certificate_request_status) == ("rejected", "rejected")
    assert (await of(client.certificate_requests.get(first))).status == "rejected"
    given_up = await of(client.certificate_requests.cancel(second))
    assert (given_up.status, given_up.cancelled) == ("failed", True)
    assert (await of(client.approval_requests.get(approvals[second]))).status == "cancelled"
