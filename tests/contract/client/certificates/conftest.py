"""A project in which certificates are issued."""

from __future__ import annotations

from datetime import timedelta

import pytest

from contract.client.certificates.issuing_setup import SOON, Setup
from contract.client.house import Client, House, of
from keybearer.client import (
    AlgorithmRule,
    ApiEnrollment,
    ConstraintRule,
    NameRule,
    ProfileDefaults,
    UsageRule,
    ValidityRule,
)


@pytest.fixture
async def setup(client: Client, house: House) -> Setup:
    """Return a root, an intermediate, a policy and a profile."""
    project_id = house.project.id
    anchor = await of(
        client.certificate_authorities.create(
            "root", type="root", common_name="Root", not_after=SOON, project_id=project_id
        )
    )
    issuing = await of(
        client.certificate_authorities.create(
            "issuing",
            type="intermediate",
            common_name="Issuing",
            organization="Shop",
            country="DE",
            max_path_length=0,
            project_id=project_id,
        )
    )
    await of(
        client.certificate_authorities.issue_certificate(
            issuing.id, parent_ca_id=anchor.id, not_after=SOON - timedelta(days=1), max_path_length=0
        )
    )
    policy = await of(
        client.certificate_policies.create(
            "web",
            project_id=project_id,
            description="d",
            subject=[NameRule(type="common_name", allowed=["*.example.com"])],
            sans=[NameRule(type="dns_name", allowed=["*.example.com"])],
            key_usages=UsageRule(allowed=["digital_signature", "key_encipherment"]),
            extended_key_usages=UsageRule(allowed=["server_auth", "client_auth"]),
            algorithms=AlgorithmRule(key_algorithm=["ECDSA-P256", "RSA-2048"]),
            validity=ValidityRule(max="90d"),
            basic_constraints=ConstraintRule(is_ca="denied"),
        )
    )
    profile = await of(
        client.certificate_profiles.create(
            "web",
            policy_id=policy.id,
            ca_id=issuing.id,
            description="d",
            defaults=ProfileDefaults(
                ttl_days=30,
                key_algorithm="EC_prime256v1",
                key_usages=["digital_signature"],
                extended_key_usages=["server_auth"],
            ),
            api_config=ApiEnrollment(auto_renew=True, renew_before_days=10),
            project_id=project_id,
        )
    )
    return Setup(anchor.id, issuing.id, policy.id, profile.id)
