"""Certificates that end, are revoked, or whose Secrets were edited or deleted."""

from __future__ import annotations

from datetime import timedelta

import pytest

from keybearer.base.certificate_terms import RequestStatus, RevocationReason
from unit.controllers.fakes.certificate_service import Killed, KillingAt
from unit.controllers.fakes.profile_world import DAY, ProfileWorld, certificate
from unit.controllers.fakes.targets import Body


def _foreign(name: str) -> Body:
    """A Secret of somebody else."""
    return {
        "kind": "Secret",
        "metadata": {"namespace": "team-a", "name": name},
        "data": {"mine": "bWluZQ=="},
    }


class TestRenewal:
    async def test_it_is_renewed_with_a_new_key_before_two_thirds_have_passed(
        self, world: ProfileWorld
    ) -> None:
        world.put(certificate("front"))
        await world.reconcile()
        first, key = world.stored("front")[0].serial, world.data("front")["tls.key"]
        world.pass_time(50 * DAY)
        await world.reconcile()
        assert world.stored("front")[0].serial == first

        world.pass_time(10 * DAY)
        await world.reconcile()

        assert world.stored("front")[0].serial != first
        assert world.data("front")["tls.key"] != key
        assert world.entry("front")["need"] == "Renewal"
        assert any(one.reason == "Renewed" for one in world.recorder.told)

    async def test_a_key_that_is_to_stay_stays(self, world: ProfileWorld) -> None:
        world.put(certificate("front", privateKey={"rotationPolicy": "Never"}))
        await world.reconcile()
        first, key = world.stored("front")[0].serial, world.data("front")["tls.key"]
        world.pass_time(60 * DAY)

        await world.reconcile()

        assert world.stored("front")[0].serial != first
        assert world.data("front")["tls.key"] == key

    async def test_the_next_look_is_when_it_is_due(self, world: ProfileWorld) -> None:
        world.put(certificate("front", renewBefore="2159h"))

        result = await world.reconcile()

        assert result.requeue_after is not None
        assert result.requeue_after <= timedelta(minutes=5)

    async def test_what_is_served_stays_ready_while_a_renewal_waits(self, world: ProfileWorld) -> None:
        world.put(certificate("front"))
        await world.reconcile()
        world.service.status = RequestStatus.PENDING_APPROVAL
        world.pass_time(61 * DAY)

        await world.reconcile()
        assert world.ready == ("True", "Issued")
        assert "approve" in world.message

        world.pass_time(31 * DAY)
        await world.reconcile()
        assert world.ready == ("False", "PendingApproval")

    async def test_a_person_may_ask_for_it(self, world: ProfileWorld) -> None:
        world.put(certificate("front"))
        await world.reconcile()
        first = world.stored("front")[0].serial

        world.ask("renew", "today")
        await world.reconcile()
        await world.reconcile()

        assert world.stored("front")[0].serial != first
        assert world.service.calls.count("issue") == 2


class TestRepair:
    async def test_one_that_was_revoked_in_the_service_is_issued_anew(self, world: ProfileWorld) -> None:
        world.put(certificate("front"))
        await world.reconcile()
        first = world.stored("front")[0].serial
        await world.service.revoke(world.entry("front")["certificateId"], RevocationReason.KEY_COMPROMISE)

        world.pass_time(301)
        await world.reconcile()

        assert world.stored("front")[0].serial != first
        assert world.entry("front")["need"] == "Revoked"
        assert world.ready == ("True", "Issued"), world.message

    async def test_a_revoked_one_is_not_valid_while_its_replacement_waits(self, world: ProfileWorld) -> None:
        world.put(certificate("front"), certificate("back"))
        await world.reconcile()
        world.service.status = RequestStatus.PENDING_APPROVAL
        await world.service.revoke(world.entry("front")["certificateId"], RevocationReason.KEY_COMPROMISE)
        world.pass_time(301)

        for _ in range(2):
            await world.reconcile()
            assert world.ready == ("False", "PendingApproval")
            assert (
                "1 of 2 certificates are issued and valid; front: the certificate in its Secret was revoked; a person"
                in (world.message)
            )
            assert world.status["issued"] == "1/2"
            assert world.told_ready() == {"front": 0.0, "back": 1.0}
            world.restart()

        world.service.settle(RequestStatus.ISSUED)
        world.pass_time(120)
        await world.reconcile()
        assert world.ready == ("True", "Issued"), world.message
        assert "revoked" not in world.entry("front")
        assert world.told_ready() == {"front": 1.0, "back": 1.0}

    async def test_one_that_is_revoked_while_its_renewal_waits_is_not_valid_either(
        self, world: ProfileWorld
    ) -> None:
        world.put(certificate("front"))
        await world.reconcile()
        former = world.entry("front")["certificateId"]
        world.service.status = RequestStatus.PENDING_APPROVAL
        world.pass_time(61 * DAY)
        await world.reconcile()
        assert world.ready == ("True", "Issued")

        await world.service.revoke(former, RevocationReason.KEY_COMPROMISE)
        world.pass_time(301)
        await world.reconcile()

        assert world.ready == ("False", "PendingApproval")
        assert "was revoked" in world.message
        assert world.service.calls.count("issue") == 2

    async def test_one_whose_status_was_lost_is_found_revoked_all_the_same(self, world: ProfileWorld) -> None:
        world.put(certificate("front"))
        await world.reconcile()
        await world.service.revoke(world.entry("front")["certificateId"], RevocationReason.KEY_COMPROMISE)
        body = world.gateway.find("CertificateProfile", "web")
        assert body is not None
        body["status"] = {}
        world.restart()

        await world.reconcile()
        await world.reconcile()

        assert len(world.service.issued_for("front")) == 2
        assert world.entry("front")["need"] == "Revoked"

    async def test_revoked_ones_are_replaced_beyond_the_budget_for_lost_keys(
        self, world: ProfileWorld
    ) -> None:
        world.put(certificate("front"), certificate("back"), hourlyMintBudget=1)
        await world.reconcile()
        for name in ("front", "back"):
            await world.service.revoke(world.entry(name)["certificateId"], RevocationReason.SUPERSEDED)
        world.pass_time(301)
        await world.reconcile()
        assert world.ready == ("True", "Issued"), world.message
        assert world.service.calls.count("issue") == 4
        assert "lostKeys" not in world.status

        world.remove_secret("front")
        world.remove_secret("web.certificate-keys")
        await world.reconcile()
        assert world.ready == ("True", "Issued"), world.message
        assert world.status["lostKeys"]["minted"] == 1

    async def test_what_is_created_once_says_that_it_was_revoked(self, world: ProfileWorld) -> None:
        world.put(certificate("front"), mode="CreateOnce")
        await world.reconcile()
        await world.service.revoke(world.entry("front")["certificateId"], RevocationReason.SUPERSEDED)
        world.pass_time(301)

        await world.reconcile()

        assert world.ready == ("False", "Revoked")
        assert "mode is CreateOnce" in world.message
        assert world.service.calls.count("issue") == 1

    async def test_an_edited_secret_is_written_anew_without_the_service(self, world: ProfileWorld) -> None:
        world.put(certificate("front"))
        await world.reconcile()
        world.service.calls.clear()
        body = world.gateway.find("Secret", "front")
        assert body is not None
        before = dict(body["data"])
        body["data"]["ca.crt"] = "bm9uc2Vuc2U="

        await world.reconcile()

        assert world.gateway.find("Secret", "front")["data"] == before  # type: ignore[index]
        assert not {"issue", "bundle"} & set(world.service.calls)

    async def test_a_deleted_secret_comes_back_from_the_bundle_with_its_key(
        self, world: ProfileWorld
    ) -> None:
        world.put(certificate("front"))
        await world.reconcile()
        before = world.data("front")
        world.remove_secret("front")

        await world.reconcile()

        assert world.data("front") == before
        assert world.service.calls.count("issue") == 1

    async def test_one_whose_key_was_lost_is_issued_anew_within_the_budget_of_the_hour(
        self, world: ProfileWorld
    ) -> None:
        world.put(certificate("front"), hourlyMintBudget=2)
        await world.reconcile()
        for _ in range(4):
            world.pass_time(60)
            if world.gateway.find("Secret", "front") is not None:
                world.remove_secret("front")
                world.remove_secret("web.certificate-keys")
            await world.reconcile()

        assert world.service.calls.count("issue") == 3
        assert world.ready == ("False", "MintBudgetUsed")

        world.pass_time(3600)
        await world.reconcile()
        assert world.ready == ("True", "Issued"), world.message

    async def test_a_secret_of_somebody_else_is_left_alone(self, world: ProfileWorld) -> None:
        meta = {"namespace": "team-a", "name": "front"}
        body: Body = {"kind": "Secret", "metadata": meta, "data": {"mine": "bWluZQ=="}}
        world.gateway.put(body)
        world.put(certificate("front"))

        await world.reconcile()

        assert world.ready == ("False", "TargetConflict")
        assert set(world.data("front")) == {"mine"}
        assert "issue" not in world.service.calls

        world.remove_secret("front")
        await world.reconcile()
        assert world.ready == ("True", "Issued"), world.message

    async def test_nothing_is_issued_for_a_secret_of_somebody_else_that_is_named_later(
        self, world: ProfileWorld
    ) -> None:
        world.put(certificate("front"))
        await world.reconcile()
        world.gateway.put(_foreign("mine"))
        changed = certificate("front", secretName="mine")
        changed["attributes"]["organization"] = "Example"

        world.put(changed)
        await world.reconcile()

        assert world.ready == ("False", "TargetConflict")
        assert world.service.calls.count("issue") == 1

    @pytest.mark.parametrize(
        "others", [1, 600], ids=["few Secrets there", "more Secrets there than a list is worth"]
    )
    async def test_of_many_all_but_those_whose_secrets_are_taken_are_issued(
        self, world: ProfileWorld, others: int
    ) -> None:
        for number in range(others):
            world.gateway.put(_foreign(f"other-{number}"))
        world.gateway.put(_foreign("c7"))
        world.put(*(certificate(f"c{number}") for number in range(50)))

        await world.reconcile()

        assert world.status["issued"] == "49/50"
        assert world.service.issued_for("c7") == []
        taken = world.gateway.find("Secret", "c7")
        assert taken is not None
        assert taken["data"] == _foreign("c7")["data"]

    async def test_what_was_noted_is_not_sent_once_somebody_else_has_taken_the_name(
        self, world: ProfileWorld
    ) -> None:
        world.service.before = KillingAt(1, "issue")
        world.put(certificate("front"), certificate("back"))
        with pytest.raises(Killed):
            await world.reconcile()
        world.service.before = lambda _: None
        world.gateway.put(_foreign("front"))
        world.restart()
        for _ in range(2):
            await world.reconcile()
            world.pass_time(40)

        assert world.ready == ("False", "TargetConflict")
        assert world.service.issued_for("front") == []
        assert len(world.service.issued_for("back")) == 1

    @pytest.mark.parametrize(
        "kind",
        [{"type": "Opaque"}, {"type": "kubernetes.io/tls", "immutable": True}],
        ids=["other type", "immutable"],
    )
    async def test_what_could_only_be_made_anew_is_not_taken_over(
        self, world: ProfileWorld, kind: Body
    ) -> None:
        meta = {"namespace": "team-a", "name": "front"}
        body: Body = {"kind": "Secret", "metadata": meta, "data": {"mine": "bWluZQ=="}}
        world.gateway.put(body | kind)
        world.put(certificate("front", adopt=True))

        await world.reconcile()

        assert world.ready == ("False", "TargetConflict")
        assert set(world.data("front")) == {"mine"}
        assert "issue" not in world.service.calls

    async def test_the_secret_of_the_keys_is_nobody_else_s(self, world: ProfileWorld) -> None:
        world.put(certificate("front", secretName="web.certificate-keys"), certificate("back"))

        await world.reconcile()

        assert world.ready == ("False", "SpecInvalid")
        assert "web.certificate-keys" in world.message
        assert "attempts.json" in world.data("web.certificate-keys")
        assert len(world.service.issued_for("back")) == 1
        assert world.service.issued_for("front") == []

    @pytest.mark.parametrize("mended", [(), (certificate("front"),)], ids=["left out", "renamed"])
    async def test_the_keys_stay_when_the_certificate_that_named_their_secret_is_mended(
        self, world: ProfileWorld, mended: tuple[Body, ...]
    ) -> None:
        world.put(certificate("front", secretName="web.certificate-keys"), certificate("back"))
        await world.reconcile()
        keys = world.data("web.certificate-keys")
        assert {name for name in keys if name.startswith("back")}

        world.put(*mended, certificate("back"))
        world.pass_time(1)
        await world.reconcile()

        assert world.ready == ("True", "Issued"), world.message
        assert {name for name in keys if name.startswith("back")} <= set(world.data("web.certificate-keys"))

    async def test_a_lost_status_is_read_from_the_secrets(self, world: ProfileWorld) -> None:
        world.put(certificate("front"))
        await world.reconcile()
        serial = world.stored("front")[0].serial
        body = world.gateway.find("CertificateProfile", "web")
        assert body is not None
        body["status"] = {}
        world.restart()

        await world.reconcile()

        assert world.service.calls.count("issue") == 1
        assert world.entry("front")["serialNumber"] == serial
        assert world.ready == ("True", "Issued"), world.message

    async def test_another_name_of_the_secret_moves_it(self, world: ProfileWorld) -> None:
        world.put(certificate("front"))
        await world.reconcile()
        serial = world.stored("front")[0].serial

        world.put(certificate("front", secretName="moved"))
        await world.reconcile()

        assert world.stored("moved")[0].serial == serial
        assert world.gateway.find("Secret", "front") is None
        assert world.service.calls.count("issue") == 1
