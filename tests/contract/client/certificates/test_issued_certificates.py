"""Certificates that there are get renewed, configured, revoked, kept for others, and read by subscriber."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from contract.client.certificates.issuing_setup import SOON, Setup
from contract.client.house import Client, House, of
from keybearer.base.certificate_terms import KeyAlgorithm
from keybearer.cli.certificate_issuing import signing_request
from keybearer.client import BadRequest, CertificateAttributes, NotFound
from keybearer.pki.certificates import parse_certificate
from keybearer.pki.keys import generate_private_key, load_private_key
from support.x509_house import dns, root, template


async def test_a_certificate_is_renewed_configured_revoked_and_deleted(
    client: Client, house: House, setup: Setup
) -> None:
    groups, profiles = client.certificates, client.certificate_profiles
    attributes = CertificateAttributes(common_name="www.example.com")
    made = await of(groups.issue(setup.profile_id, attributes=attributes))
    assert made.certificate is not None
    old = made.certificate
    renewed = await of(groups.renew(old.certificate_id))
    assert renewed.certificate is not None
    assert renewed.private_key is not None
    leaf = parse_certificate(renewed.certificate)
    assert load_private_key(renewed.private_key).public_key == leaf.public_key
    assert leaf.subject.common_name == "www.example.com"
    assert renewed.certificate_id != old.certificate_id
    assert "PRIVATE" not in repr(renewed)
    new_id = renewed.certificate_id or ""

    await of(groups.configure(new_id, renew_before_days=20))
    await of(groups.configure(new_id, enable_auto_renewal=False))
    page = await of(profiles.list_certificates(setup.profile_id, status="active"))
    assert {one.id for one in page.certificates} == {old.certificate_id, new_id}
    latest = await of(profiles.get_latest_bundle(setup.profile_id))
    assert latest.serial_number == renewed.serial_number
    assert "PRIVATE" not in repr(latest)

    revoked = await of(groups.revoke(old.certificate_id, reason="SUPERSEDED"))
    assert revoked.serial_number == old.serial_number
    known = await of(groups.get(old.certificate_id))
    assert (known.status, known.revoked_at, known.revocation_reason) == (
        "revoked",
        revoked.revoked_at,
        "SUPERSEDED",
    )
    with pytest.raises(BadRequest):
        await of(groups.revoke(old.certificate_id))
    listed = await of(groups.list(project_id=house.project.id, status="revoked"))
    assert [one.id for one in listed.certificates] == [old.certificate_id]
    assert (await of(groups.delete(new_id))).id == new_id
    with pytest.raises(NotFound):
        await of(groups.get(new_id))


async def test_a_certificate_of_somebody_else_is_kept_with_its_key(client: Client, house: House) -> None:
    authority = root(not_before=datetime.now(UTC) - timedelta(days=2), not_after=SOON)
    key = generate_private_key(KeyAlgorithm.EC_P256)
    made_of = template(
        names=dns("other.example.com"),
        not_before=datetime.now(UTC).replace(microsecond=0) - timedelta(days=1),
        not_after=SOON - timedelta(days=1),
    )
    leaf = authority.issue(made_of, key)
    imported = await of(
        client.certificates.import_certificate(
            leaf.pem,
            private_key=key.pem(),
            certificate_chain=authority.certificate.pem,
            friendly_name="of somebody else",
            project_id=house.project.id,
        )
    )
    known = await of(client.certificates.get(imported.certificate_id))
    assert (known.friendly_name, known.serial_number, known.profile_id) == (
        "of somebody else",
        leaf.serial,
        None,
    )
    bundle = await of(client.certificates.get_bundle(imported.certificate_id))
    assert bundle.private_key is not None
    assert load_private_key(bundle.private_key).public_key == key.public_key
    with pytest.raises(BadRequest) as refused:
        await of(
            client.certificates.import_certificate(
                leaf.pem,
                private_key=generate_private_key(KeyAlgorithm.EC_P256).pem(),
                project_id=house.project.id,
            )
        )
    assert "PRIVATE" not in str(refused.value)


async def test_certificates_of_a_subscriber_all_say_the_same(
    client: Client, house: House, setup: Setup
) -> None:
    groups = client.pki_subscribers
    place: dict[str, Any] = {"project_id": house.project.id}
    made = await of(
        groups.create(
            "web",
            ca_id=setup.ca_id,
            common_name="www.example.com",
            ttl="30d",
            subject_alternative_names=["www.example.com"],
            extended_key_usages=["serverAuth"],
            **place,
        )
    )
    assert (made.status, made.key_usages, made.extended_key_usages) == (
        "active",
        ("digitalSignature", "keyEncipherment"),
        ("serverAuth",),
    )
    assert await of(groups.get("web", **place)) == made
    assert await of(groups.list(**place)) == [made]
    with pytest.raises(NotFound):
        await of(groups.latest_certificate_bundle("web", **place))
    issued = await of(groups.issue_certificate("web", **place))
    assert issued.private_key is not None
    leaf = parse_certificate(issued.certificate)
    assert load_private_key(issued.private_key).public_key == leaf.public_key
    assert "PRIVATE" not in repr(issued)
    latest = await of(groups.latest_certificate_bundle("web", **place))
    assert (latest.serial_number, latest.private_key) == (issued.serial_number, issued.private_key)
    assert "PRIVATE" not in repr(latest)

    csr, key = signing_request(CertificateAttributes(common_name="www.example.com"), KeyAlgorithm.EC_P256)
    signed = await of(groups.sign_certificate("web", csr=csr, **place))
    assert signed.private_key is None
    assert parse_certificate(signed.certificate).public_key == load_private_key(key).public_key
    changed = await of(groups.update("web", status="disabled", ttl="10d", **place))
    assert (changed.status, changed.ttl, changed.common_name) == ("disabled", "10d", "www.example.com")
    with pytest.raises(BadRequest):
        await of(groups.issue_certificate("web", **place))
    assert (await of(groups.delete("web", **place))).id == made.id
    with pytest.raises(NotFound):
        await of(groups.get("web", **place))


async def test_what_was_revoked_is_listed_and_nothing_is_ordered_that_comes_at_once(
    client: Client, house: House, setup: Setup
) -> None:
    place: dict[str, Any] = {"project_id": house.project.id}
    await of(
        client.pki_subscribers.create(
            "ordered", ca_id=setup.ca_id, common_name="www.example.com", ttl="30d", **place
        )
    )
    with pytest.raises(BadRequest, match="issue-certificate"):
        await of(client.pki_subscribers.order_certificate("ordered", **place))
    bundle = await of(client.pki_subscribers.issue_certificate("ordered", **place))
    (known,) = (await of(client.certificates.list(**place))).certificates
    assert known.serial_number == bundle.serial_number
    await of(client.certificates.revoke(known.id, reason="KEY_COMPROMISE"))
    (listed,) = await of(client.certificate_authorities.list_crls(setup.ca_id))
    assert listed.crl.startswith("-----BEGIN X509 CRL-----")
