"""Certificates as they are issued and stored, and those that are not good enough to be."""

from __future__ import annotations

import base64
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta

import pytest
from cryptography.hazmat.primitives.serialization import pkcs12

from keybearer.base.certificate_terms import KeyAlgorithm
from keybearer.pki.issuance import Template
from keybearer.pki.keys import generate_private_key, load_private_key
from keybearer.pki.names import Subject
from keybearer.pki.signing_requests import build_signing_request
from unit.controllers.fakes.certificate_service import new_authority
from unit.controllers.fakes.profile_world import DAY, ProfileWorld, certificate


class TestIssuing:
    async def test_a_certificate_is_stored_with_its_key_and_who_vouches_for_it(
        self, world: ProfileWorld
    ) -> None:
        world.put(certificate("front"))

        result = await world.reconcile()

        assert world.ready == ("True", "Issued"), world.message
        leaf, data = world.stored("front")[0], world.data("front")
        assert load_private_key(data["tls.key"]).public_key == leaf.public_key
        assert data["ca.crt"].decode() == world.service.issuer.certificate.pem
        assert [str(name) for name in leaf.alternative_names] == ["dns_name front.example.com"]
        assert world.entry("front")["serialNumber"] == leaf.serial
        assert not result.failed

    async def test_fifty_cost_three_writes_more_than_their_secrets(self, world: ProfileWorld) -> None:
        world.put(*(certificate(f"c{number}") for number in range(50)))

        await world.reconcile()

        written = world.writes()
        assert world.status["issued"] == "50/50"
        secrets = [one for one in written if one.startswith("create Secret team-a/c")]
        assert len(secrets) == 50
        assert sorted(set(written) - set(secrets)) == [
            "apply_status CertificateProfile team-a/web",
            "create Secret team-a/web.certificate-keys",
            "merge_patch CertificateProfile team-a/web",
        ]
        assert not world.gateway.reads, "one list of names finds out whose the Secrets are"

    async def test_one_alone_costs_four_writes_and_two_requests_and_one_look_at_whose_the_secret_is(
        self, world: ProfileWorld
    ) -> None:
        world.publishes = True
        world.put(certificate("front"))

        await world.reconcile()

        assert world.writes() == [
            "merge_patch CertificateProfile team-a/web",
            "create Secret team-a/web.certificate-keys",
            "create Secret team-a/front",
            "apply_status CertificateProfile team-a/web",
        ]
        assert world.service.calls == ["create_profile", "authority_chain", "issue"]
        assert world.gateway.reads == ["Secret team-a/front"]
        body = world.gateway.find("CertificateProfile", "web")
        assert body is not None
        assert body["metadata"]["finalizers"] == ["keybearer.dev/cleanup", "keybearer.dev/trust-bundle"]

    async def test_a_profile_whose_certificates_sign_themselves_is_not_held_for_a_bundle(
        self, world: ProfileWorld
    ) -> None:
        world.publishes = True
        own = {"generatedBy": "Service"}
        world.put(certificate("front", privateKey=own), issuerType="self-signed", caRef=None)

        await world.reconcile()

        body = world.gateway.find("CertificateProfile", "web")
        assert body is not None
        assert body["metadata"]["finalizers"] == ["keybearer.dev/cleanup"]

    async def test_a_second_run_does_nothing(self, world: ProfileWorld) -> None:
        world.put(certificate("front"))
        await world.reconcile()
        world.writes()
        world.service.calls.clear()

        await world.reconcile()

        assert world.writes() == []
        assert "issue" not in world.service.calls

    async def test_nor_does_a_restart_of_the_operator(self, world: ProfileWorld) -> None:
        world.put(certificate("front"))
        await world.reconcile()
        world.writes()
        world.service.calls.clear()
        world.restart()

        await world.reconcile()

        assert world.writes() == []
        assert "issue" not in world.service.calls

    async def test_a_key_of_the_service_comes_with_the_certificate(self, world: ProfileWorld) -> None:
        world.put(certificate("front", privateKey={"generatedBy": "Service"}))

        await world.reconcile()

        assert world.ready == ("True", "Issued"), world.message
        key = load_private_key(world.data("front")["tls.key"])
        assert key.public_key == world.stored("front")[0].public_key
        assert world.keyring.keys == {}

    async def test_a_request_of_somebody_else_is_signed_and_its_secret_has_no_key(
        self, world: ProfileWorld
    ) -> None:
        key = generate_private_key(KeyAlgorithm.EC_P256)
        csr = build_signing_request(key, Subject.of("elsewhere.example.com"))
        world.put({"name": "front", "csr": {"value": csr}, "attributes": {"ttl": "30d"}})

        await world.reconcile()

        assert world.ready == ("True", "Issued"), world.message
        assert set(world.data("front")) == {"tls.crt", "ca.crt"}
        assert world.stored("front")[0].public_key == key.public_key

    async def test_keystores_hold_the_same_and_follow_their_password(self, world: ProfileWorld) -> None:
        def keep(password: str) -> None:
            encoded = base64.b64encode(password.encode()).decode()
            world.gateway.put(
                {
                    "kind": "Secret",
                    "metadata": {"namespace": "team-a", "name": "store"},
                    "data": {"password": encoded},
                }
            )

        ref = {"passwordRef": {"name": "store", "key": "password"}}
        keep("cnry-one")
        world.put(certificate("front", keystores={"pkcs12": ref, "jks": ref}))
        await world.reconcile()
        data = world.data("front")
        assert {"keystore.p12", "truststore.p12", "keystore.jks", "truststore.jks"} < set(data)

        keep("cnry-two")
        serial = world.stored("front")[0].serial
        world.restart()
        await world.reconcile()

        assert world.stored("front")[0].serial == serial
        read = pkcs12.load_pkcs12(world.data("front")["keystore.p12"], b"cnry-two")
        assert read.cert is not None
        assert read.cert.certificate.serial_number == world.stored("front")[0].serial_number

    async def test_the_secret_has_the_labels_and_annotations_of_its_template(
        self, world: ProfileWorld
    ) -> None:
        def metadata() -> tuple[dict[str, str], dict[str, str]]:
            body = world.gateway.find("Secret", "front")
            assert body is not None
            return body["metadata"]["labels"], body["metadata"]["annotations"]

        template = {"labels": {"app": "front"}, "annotations": {"example.com/reflect": "true"}}
        world.put(certificate("front", secretTemplate=template))
        await world.reconcile()
        assert world.ready == ("True", "Issued"), world.message
        labels, annotations = metadata()
        assert (labels["app"], annotations["example.com/reflect"]) == ("front", "true")
        assert labels["keybearer.dev/certificate"] == "front"

        serial = world.stored("front")[0].serial
        world.put(certificate("front", secretTemplate={"labels": {"app": "other"}}))
        await world.reconcile()
        labels, annotations = metadata()
        assert labels["app"] == "other"
        assert "example.com/reflect" not in annotations

        world.put(certificate("front"))
        await world.reconcile()
        assert "app" not in metadata()[0]
        assert world.stored("front")[0].serial == serial
        assert world.service.calls.count("issue") == 1


class TestClocks:
    @pytest.mark.parametrize("minutes", [-5, 5])
    async def test_five_minutes_between_the_clocks_change_nothing(
        self, world: ProfileWorld, minutes: int
    ) -> None:
        skew = timedelta(minutes=minutes)
        world.service.now = lambda: world.clock.now() + skew
        world.put(certificate("front"))

        await world.reconcile()
        assert world.ready == ("True", "Issued"), world.message

        world.pass_time(50 * DAY)
        await world.reconcile()
        assert world.service.calls.count("issue") == 1
        world.pass_time(11 * DAY)
        await world.reconcile()
        assert world.service.calls.count("issue") == 2
        assert world.ready == ("True", "Issued")


class TestGate:
    @pytest.mark.parametrize(
        ("forge", "because"),
        [
            pytest.param(
                lambda template: replace(template, alternative_names=()), "lacks the dns_name", id="names"
            ),
            pytest.param(
                lambda template: replace(template, not_after=template.not_before + timedelta(days=2)),
                "is valid for",
                id="duration",
            ),
            pytest.param(
                lambda template: replace(template, subject=Subject.of("evil")), "subject", id="subject"
            ),
        ],
    )
    async def test_a_bad_certificate_is_not_stored_and_takes_no_good_ones_place(
        self, world: ProfileWorld, forge: Callable[[Template], Template], because: str
    ) -> None:
        world.put(certificate("front"))
        await world.reconcile()
        before = world.stored("front")[0].serial
        world.service.forge = forge
        world.pass_time(61 * DAY)

        await world.reconcile()

        assert world.stored("front")[0].serial == before
        assert because in world.entry("front")["message"]
        assert world.ready[0] == "True"  # what is served is still good

    async def test_one_of_another_authority_is_not_stored(self, world: ProfileWorld) -> None:
        world.put(certificate("front"))
        trusted = world.service.issuer
        world.service.issuer = new_authority("Evil", world.clock.now())
        chain = world.service.authority_chain

        async def authority_chain(ca_id: str) -> str | None:
            await chain(ca_id)
            return trusted.certificate.pem

        world.service.authority_chain = authority_chain  # type: ignore[method-assign]

        await world.reconcile()

        assert world.ready == ("False", "NotConformant")
        assert world.gateway.find("Secret", "front") is None
