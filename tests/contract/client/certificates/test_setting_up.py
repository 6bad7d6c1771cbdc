"""Authorities, policies, profiles and applications are made, found, changed and deleted with both clients."""

from __future__ import annotations

from datetime import timedelta

import pytest

from contract.client.certificates.issuing_setup import SOON, Setup
from contract.client.house import Client, House, nothing_shown, of
from keybearer.client import (
    ApiEnrollment,
    BadRequest,
    CertificateAttributes,
    ConstraintRule,
    NameRule,
    NotFound,
    PermissionDenied,
    ScepEnrollment,
    ValidityRule,
)
from keybearer.pki.certificates import parse_certificate, parse_certificates
from keybearer.pki.signing_requests import parse_signing_request


async def test_authorities_are_made_found_changed_and_deleted(
    client: Client, house: House, setup: Setup
) -> None:
    groups, project_id = client.certificate_authorities, house.project.id
    listed = await of(groups.list(project_id=project_id))
    assert {(one.name, one.type, one.status) for one in listed} == {
        ("root", "internal", "active"),
        ("issuing", "internal", "active"),
    }
    found = await of(groups.find("issuing", project_id=project_id))
    assert found is not None
    assert found.id == setup.ca_id
    assert await of(groups.find("none", project_id=project_id)) is None
    issuing = await of(groups.get(setup.ca_id))
    assert issuing in await of(groups.list_internal(project_id=project_id))
    assert issuing.configuration is not None
    told = issuing.configuration
    assert (told.type, told.common_name, told.country, told.parent_ca_id, told.max_path_length) == (
        "intermediate",
        "Issuing",
        "DE",
        setup.root_id,
        0,
    )
    certificate = await of(groups.get_certificate(setup.ca_id))
    (chained,) = parse_certificates(certificate.certificate_chain)
    anchor = await of(groups.get_certificate(setup.root_id))
    assert chained == parse_certificate(anchor.certificate)
    assert certificate.cert_id == told.active_ca_cert_id
    by_id = await of(groups.get_certificate(setup.ca_id, cert_id=certificate.cert_id))
    assert (by_id.certificate, by_id.parent_ca_id) == (certificate.certificate, setup.root_id)
    der = await of(groups.get_certificate_der(setup.ca_id, certificate.cert_id or ""))
    assert der == parse_certificate(certificate.certificate).der
    renewed = await of(groups.renew_certificate(setup.root_id, not_after=SOON + timedelta(days=1)))
    versions = await of(groups.list_certificates(setup.root_id))
    assert [one.version for one in versions] in ([1, 2], [2, 1])
    assert renewed.certificate in {one.certificate for one in versions}
    disabled = await of(groups.update(setup.ca_id, name="other", status="disabled"))
    assert (disabled.name, disabled.status) == ("other", "disabled")
    with pytest.raises(BadRequest):
        await of(client.certificates.issue(setup.profile_id))


async def test_an_authority_may_be_signed_elsewhere(client: Client, house: House, setup: Setup) -> None:
    groups = client.certificate_authorities
    outer = await of(
        groups.create("outer", type="intermediate", common_name="Outer", project_id=house.project.id)
    )
    csr = await of(groups.get_csr(outer.id))
    assert parse_signing_request(csr).subject.common_name == "Outer"
    signed = await of(groups.sign_intermediate(setup.root_id, csr=csr, not_after=SOON - timedelta(days=2)))
    await of(
        groups.import_certificate(
            outer.id, certificate=signed.certificate, certificate_chain=signed.issuing_ca_certificate
        )
    )
    assert (await of(groups.get(outer.id))).status == "active"
    assert (await of(groups.delete(outer.id))).id == outer.id
    with pytest.raises(NotFound):
        await of(groups.get(outer.id))


async def test_policies_and_profiles_are_found_changed_and_deleted(
    client: Client, house: House, setup: Setup
) -> None:
    policies, profiles, project_id = (
        client.certificate_policies,
        client.certificate_profiles,
        house.project.id,
    )
    policy = await of(policies.get(setup.policy_id))
    assert (await of(policies.find("web", project_id=project_id))) == policy
    assert await of(policies.find("we", project_id=project_id)) is None
    assert policy.subject == (NameRule(type="common_name", allowed=["*.example.com"]),)
    assert (policy.validity, policy.basic_constraints) == (
        ValidityRule(max="90d"),
        ConstraintRule(is_ca="denied"),
    )
    changed = await of(policies.update(setup.policy_id, description="", validity=ValidityRule(max="60d")))
    assert (changed.description, changed.validity) == ("", ValidityRule(max="60d"))
    assert changed.key_usages == policy.key_usages
    page = await of(policies.list(project_id=project_id, search="we"))
    assert ([one.id for one in page.certificate_policies], page.total_count) == ([setup.policy_id], 1)

    profile = await of(profiles.get(setup.profile_id))
    assert profile.certificate_authority is not None
    assert profile.certificate_policy is not None
    assert (profile.certificate_authority.name, profile.certificate_policy.name) == ("issuing", "web")
    assert profile.defaults is not None
    assert (profile.defaults.ttl_days, list(profile.defaults.extended_key_usages or ())) == (
        30,
        ["server_auth"],
    )
    assert (await of(profiles.get_by_slug("web", project_id=project_id))).id == setup.profile_id
    listed = await of(profiles.list(project_id=project_id, ca_id=setup.ca_id))
    assert ([one.id for one in listed.certificate_profiles], listed.total_count) == ([setup.profile_id], 1)
    with pytest.raises(PermissionDenied):
        await of(profiles.create("web", policy_id=setup.policy_id, ca_id=setup.ca_id, project_id=project_id))
    renamed = await of(profiles.update(setup.profile_id, slug="shop", description=""))
    assert (renamed.slug, renamed.description) == ("shop", "")
    assert (await of(profiles.delete(setup.profile_id))).slug == "shop"
    with pytest.raises(NotFound):
        await of(profiles.get(setup.profile_id))
    spare = await of(policies.create("spare", project_id=project_id))
    assert (await of(policies.delete(spare.id))).id == spare.id


async def test_an_application_has_profiles_and_says_how_it_asks(
    client: Client, house: House, setup: Setup
) -> None:
    groups, project_id = client.certificate_applications, house.project.id
    made = await of(groups.create("shop", description="d", project_id=project_id))
    assert await of(groups.get(made.id)) == made
    assert await of(groups.get_by_name("shop", project_id=project_id)) == made
    page = await of(groups.list(project_id=project_id))
    assert (page.applications, page.total_count) == ((made,), 1)
    (attached,) = await of(groups.attach_profiles(made.id, [setup.profile_id]))
    assert (attached.profile_id, attached.profile_slug) == (setup.profile_id, "web")
    assert await of(groups.list_profiles(made.id)) == [attached]
    set_now = await of(
        groups.set_enrollment(made.id, setup.profile_id, ApiEnrollment(auto_renew=True, renew_before_days=5))
    )
    assert set_now.api is not None
    assert (set_now.api.auto_renew, set_now.api.renew_before_days) == (True, 5)
    scep = ScepEnrollment(challenge_password="cnry-challenge", allow_cert_based_renewal=False)
    nothing_shown(repr(await of(groups.set_enrollment(made.id, setup.profile_id, scep))))
    told = await of(groups.get_enrollment(made.id, setup.profile_id))
    assert (told.api, told.scep_configured, told.est_configured) == (set_now.api, True, False)
    assert told.scep is not None
    assert (told.scep.allow_cert_based_renewal, told.scep.challenge_password) == (False, None)
    await of(groups.remove_enrollment(made.id, setup.profile_id, "scep"))
    assert (await of(groups.get_enrollment(made.id, setup.profile_id))).scep is None
    issued = await of(
        client.certificates.issue(
            setup.profile_id,
            application_id=made.id,
            attributes=CertificateAttributes(common_name="www.example.com"),
        )
    )
    assert issued.status == "issued"
    found = await of(client.certificate_requests.search(project_id=project_id, application_id=made.id))
    assert issued.certificate_request_id in {one.id for one in found.certificate_requests}
    await of(groups.detach_profile(made.id, setup.profile_id))
    assert await of(groups.list_profiles(made.id)) == []
    renamed = await of(groups.update(made.id, name="store", description=""))
    assert (renamed.name, renamed.description) == ("store", "")
    assert (await of(groups.delete(made.id))).id == made.id
