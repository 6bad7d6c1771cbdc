"""Requests of all three kinds that are answered by a certificate, and those that ask for none."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from keybearer.base.certificate_terms import ExtendedKeyUsage, KeyUsage
from keybearer.client import BasicConstraints, CertificateAttributes
from keybearer.pki.certificates import parse_certificates
from support.signing_objects import (
    key,
    request_pem,
    signer_of,
)
from tools.local.kube_api import Body
from unit.controllers.fakes.asked_signatures import (
    APPROVED,
    DENIED,
    kubernetes,
    manager,
    pem_of,
    pod,
)
from unit.controllers.fakes.signing_world import NAMESPACE, SigningWorld, condition


async def test_cert_manager_gets_the_chain_and_the_root(world: SigningWorld) -> None:
    body = await world.sign(manager())

    leaf, intermediate = parse_certificates(pem_of(body, "certificate"))
    (root,) = parse_certificates(pem_of(body, "ca"))
    assert leaf.public_key == key().public_key
    assert [leaf.issuer, intermediate.issuer] == [intermediate.subject, root.subject]
    assert condition(body, "Ready") == ("True", "Issued")
    assert condition(body, "Approved") == ("True", "Fine")
    assert world.counted("CertificateRequest", "issued") == 1
    assert [one.reason for one in world.told] == ["CertificateIssued"]


async def test_a_signing_request_gets_the_chain_if_its_user_may_sign(world: SigningWorld) -> None:
    body = await world.sign(kubernetes())

    assert len(parse_certificates(pem_of(body, "certificate"))) == 2
    assert body["status"]["conditions"] == APPROVED["conditions"]
    assert world.gateway.reviews == [
        {
            "user": "ann",
            "uid": "u-1",
            "groups": ["team-a", "system:authenticated"],
            "extra": {"k": ["v"]},
            "resourceAttributes": {
                "verb": "sign",
                "group": "keybearer.dev",
                "resource": "certificateprofiles",
                "namespace": NAMESPACE,
                "name": "web",
            },
        }
    ]


async def test_a_pod_gets_the_chain_with_bounds_to_the_second(world: SigningWorld) -> None:
    body = await world.sign(pod(maxExpirationSeconds=7200))

    status = body["status"]
    leaf = parse_certificates(status["certificateChain"])[0]
    begin, refresh, end = (
        datetime.fromisoformat(status[name]) for name in ("notBefore", "beginRefreshAt", "notAfter")
    )
    assert (begin, end) == (leaf.not_before, leaf.not_after)
    assert end - begin == timedelta(seconds=7200)
    assert abs(begin - world.clock.now()) < timedelta(minutes=5)
    assert begin + timedelta(minutes=10) <= refresh <= end - timedelta(minutes=10)
    assert condition(body, "Issued") == ("True", "Issued")


@pytest.mark.parametrize("lifetime", [3600, 86_400, 7_862_400])
async def test_a_pods_certificate_is_as_long_as_profile_and_pod_allow(
    world: SigningWorld, lifetime: int
) -> None:
    status = (await world.sign(pod(maxExpirationSeconds=lifetime)))["status"]

    begin, refresh, end = (
        datetime.fromisoformat(status[name]) for name in ("notBefore", "beginRefreshAt", "notAfter")
    )
    assert end - begin == min(timedelta(seconds=lifetime), timedelta(days=30))
    assert begin < refresh < end


async def test_a_pod_takes_a_certificate_that_is_shorter_than_it_may_be(world: SigningWorld) -> None:
    world.service.alter = lambda one: replace(one, not_after=one.not_before + timedelta(hours=6))
    status = (await world.sign(pod(maxExpirationSeconds=86_400)))["status"]

    begin, end = (datetime.fromisoformat(status[name]) for name in ("notBefore", "notAfter"))
    assert end - begin == timedelta(hours=6)


@pytest.mark.parametrize("hours", [0.5, 25])
async def test_a_pod_takes_none_that_is_too_short_or_too_long(world: SigningWorld, hours: float) -> None:
    world.service.alter = lambda one: replace(one, not_after=one.not_before + timedelta(hours=hours))
    body = await world.sign(pod(maxExpirationSeconds=86_400))

    assert condition(body, "Failed") == ("True", "NotConformant")
    assert world.service.revoked == ["certificate-1"]


@pytest.mark.parametrize(
    "minutes", [-5, 5], ids=["the service's clock is behind", "the service's clock is ahead"]
)
@pytest.mark.parametrize(
    "make",
    [
        pytest.param(lambda: manager(duration="24h"), id="cert-manager"),
        pytest.param(lambda: manager(duration="30m"), id="cert-manager: exact bounds"),
        pytest.param(lambda: kubernetes(expirationSeconds=86_400), id="kubernetes"),
        pytest.param(lambda: kubernetes(expirationSeconds=600), id="kubernetes: exact bounds"),
        pytest.param(pod, id="pod"),
    ],
)
async def test_five_minutes_between_the_clocks_change_nothing(make: Callable[[], Body], minutes: int) -> None:
    world = SigningWorld(skew=timedelta(minutes=minutes))
    world.profile()
    world.gateway.allowed_users.add("ann")

    status = (await world.sign(make()))["status"]

    assert {"certificate", "certificateChain"} & status.keys()
    assert world.service.revoked == []


@pytest.mark.parametrize(
    ("body", "attributes"),
    [
        pytest.param(
            manager(duration="2160h0m0s"),
            CertificateAttributes(ttl=timedelta(hours=2160)),
            id="whole hours as a duration",
        ),
        pytest.param(manager(), CertificateAttributes(ttl=timedelta(days=30)), id="none: the profile's"),
        pytest.param(
            kubernetes(expirationSeconds=7200),
            CertificateAttributes(ttl=timedelta(hours=2)),
            id="seconds of whole hours",
        ),
        pytest.param(
            kubernetes(expirationSeconds=600),
            CertificateAttributes(
                not_before=datetime(2026, 3, 1, 12, tzinfo=UTC),
                not_after=datetime(2026, 3, 1, 12, 10, tzinfo=UTC),
            ),
            id="less than an hour has exact bounds",
        ),
        pytest.param(
            manager(isCA=True, duration="24h", usages=["cert sign"], pem=request_pem("ca", is_ca=True)),
            CertificateAttributes(ttl=timedelta(days=1), basic_constraints=BasicConstraints(is_ca=True)),
            id="an authority",
        ),
    ],
)
async def test_lifetimes_are_asked_for_as_they_were(
    world: SigningWorld, body: Body, attributes: CertificateAttributes
) -> None:
    world.clock.seconds = 1000.0  # with `settle`, a minute after noon: bounds begin a minute before
    await world.sign(body)

    assert world.service.orders[0].attributes == attributes


async def test_the_object_is_named_in_the_services_request(world: SigningWorld) -> None:
    body = await world.sign(manager())

    assert world.service.orders[0].metadata == {
        "keybearer.dev/cluster": "cluster-1",
        "keybearer.dev/request": body["metadata"]["uid"],
    }


_UNSIGNED = [
    pytest.param(manager(status=None), None, id="cert-manager: not approved"),
    pytest.param(manager(status=DENIED), "Denied", id="cert-manager: denied"),
    pytest.param(
        manager(status={"conditions": [*APPROVED["conditions"], *DENIED["conditions"]]}),
        "Denied",
        id="cert-manager: approved and denied",
    ),
    pytest.param(
        manager(status={"conditions": [{"type": "Approved", "status": "False"}]}),
        None,
        id="cert-manager: approval withheld",
    ),
    pytest.param(
        manager(issuerRef={"group": "cert-manager.io", "kind": "Issuer", "name": "web"}),
        None,
        id="cert-manager: another issuer",
    ),
    pytest.param(
        manager(issuerRef={"group": "keybearer.dev", "kind": "ClusterIssuer", "name": "web"}),
        None,
        id="cert-manager: another kind of ours",
    ),
    pytest.param(kubernetes(status=None), None, id="signing request: not approved"),
    pytest.param(kubernetes(status=DENIED), None, id="signing request: denied"),
    pytest.param(kubernetes(username="eve"), "SignNotAllowed", id="signing request: a user without sign"),
    pytest.param(
        kubernetes(signer="example.com/team-a.web"), None, id="signing request: another signer's domain"
    ),
    pytest.param(
        kubernetes(signer=signer_of("team-b", "web")), "pending", id="signing request: another namespace's"
    ),
    pytest.param(pod("team-b"), "ForeignNamespace", id="pod: another namespace"),
    pytest.param(
        pod(signer=signer_of("team-b", "web")), "ForeignNamespace", id="pod: signer of another namespace"
    ),
    pytest.param(pod(signer="example.com/team-a.web"), None, id="pod: another signer's domain"),
    pytest.param(
        pod(unverifiedUserAnnotations={"example.com/a": "b"}),
        "InvalidUnverifiedUserAnnotations",
        id="pod: annotations",
    ),
    pytest.param(
        pod(pem=request_pem("admin.example.com")), "StubRequestNotEmpty", id="pod: names of its own"
    ),
    pytest.param(
        pod(stubPKCS10Request=None, pkixPublicKey="AAAA", proofOfPossession="AAAA"),
        "StubRequestMissing",
        id="pod: a bare key",
    ),
    pytest.param(kubernetes(usages=["ipsec tunnel"]), "UsagesUnsupported", id="usages that nobody issues"),
    pytest.param(
        kubernetes(
            pem=request_pem(
                "web",
                usages=frozenset({KeyUsage.DIGITAL_SIGNATURE}),
                extended=(ExtendedKeyUsage.SERVER_AUTH, ExtendedKeyUsage.CLIENT_AUTH),
            )
        ),
        "UsagesDiffer",
        id="signing request: more usages inside than were approved",
    ),
    pytest.param(
        kubernetes(pem=request_pem("ca", is_ca=True)), "RequestInvalid", id="an authority in disguise"
    ),
    pytest.param(manager(pem="no request"), "Failed", id="no signing request"),
    pytest.param(manager(request="%%%"), "Failed", id="no base64"),
]


@pytest.mark.parametrize(("body", "reason"), _UNSIGNED)
async def test_none_of_these_is_signed_or_even_asked_for(
    world: SigningWorld, body: Body, reason: str | None
) -> None:
    found = await world.sign(body)

    assert world.service.orders == []
    status = found.get("status", {})
    assert not {"certificate", "certificateChain"} & status.keys()
    ours = {"Ready", "Failed"} | ({"Denied"} if body["kind"] == "PodCertificateRequest" else set())
    told = [one["reason"] for one in status.get("conditions", []) if one["type"] in ours]
    assert told == ([] if reason in (None, "pending") else [reason])
