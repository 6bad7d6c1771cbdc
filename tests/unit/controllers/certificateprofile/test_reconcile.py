"""Changes of authority, what leaves the spec, modes, the profile in the service, and restarts."""

from __future__ import annotations

from dataclasses import replace

import pytest

from keybearer.base.certificate_terms import IssuerType
from keybearer.client import CertificatePolicy, NameRule
from keybearer.controllers.issuance.service import PresentProfile
from keybearer.controllers.outcome import StalledError, WaitingError
from keybearer.kube.errors import UnavailableError
from unit.controllers.fakes.certificate_service import AUTHORITY_ID, new_authority
from unit.controllers.fakes.profile_world import DAY, ProfileWorld, certificate
from unit.controllers.fakes.targets import Body, Field


class TestAuthorityChange:
    async def test_certificates_follow_one_by_one_and_both_are_trusted_meanwhile(
        self, world: ProfileWorld
    ) -> None:
        names = [f"c{number}" for number in range(3)]
        world.put(*map(certificate, names), authorityChange={"perHour": 60})
        await world.reconcile()
        old = world.service.issuer.certificate.pem
        world.service.issuer = new_authority("New Root", world.clock.now())
        new = world.service.issuer.certificate.pem
        world.pass_time(301)

        await world.reconcile()
        assert world.service.calls.count("issue") == 3
        assert [world.data(name)["ca.crt"].decode() for name in names] == [new + old] * 3

        issued = []
        for _ in range(4):
            world.pass_time(61)
            await world.reconcile()
            issued.append(world.service.calls.count("issue"))
        assert issued == [4, 5, 6, 6]
        assert [world.data(name)["ca.crt"].decode() for name in names] == [new] * 3
        assert "wave" not in world.status
        assert world.ready == ("True", "Issued")


class TestRemoval:
    async def test_what_leaves_the_spec_goes_and_is_revoked_if_it_says_so(self, world: ProfileWorld) -> None:
        world.put(certificate("front", revokeOnDelete=True), certificate("back"))
        await world.reconcile()

        world.put()
        await world.reconcile()

        assert world.gateway.find("Secret", "front") is None
        assert world.gateway.find("Secret", "back") is None
        assert len(world.service.revoked) == 1
        assert world.status.get("certificateRequests") is None

    async def test_what_could_not_be_revoked_is_tried_again(self, world: ProfileWorld) -> None:
        world.put(certificate("front", revokeOnDelete=True))
        await world.reconcile()

        def refuse(name: str) -> None:
            if name == "revoke":
                raise WaitingError("ServiceUnavailable", "away")

        world.service.before = refuse
        world.put()
        result = await world.reconcile()
        assert result.failed
        assert len(world.status["revocations"]) == 1

        world.service.before = lambda _: None
        await world.reconcile()
        assert "revocations" not in world.status
        assert len(world.service.revoked) == 1

    async def test_the_end_of_the_object_revokes_then_takes_the_profile(self, world: ProfileWorld) -> None:
        world.put(certificate("front", revokeOnDelete=True))
        await world.reconcile()

        world.delete()
        await world.reconcile()

        assert world.service.profile is None
        assert len(world.service.revoked) == 1
        assert world.gateway.find("Secret", "front") is None
        body = world.gateway.find("CertificateProfile", "web")
        assert body is not None
        assert body["metadata"]["finalizers"] == []

    @pytest.mark.parametrize("by_edit", [True, False], ids=["of the certificate", "of the object"])
    async def test_the_end_revokes_what_a_former_profile_issued_too(
        self, world: ProfileWorld, *, by_edit: bool
    ) -> None:
        world.service.profile = PresentProfile(
            "profile-1", "first", "policy-1", AUTHORITY_ID, IssuerType.CA, None, None
        )
        front = certificate("front", revokeOnDelete=True)
        existing = {"existing": True, "policyRef": None, "caRef": None}
        world.put(front, slug="first", **existing)
        await world.reconcile()
        world.service.profile = replace(world.service.profile, id="profile-2", slug="second")
        world.put(front, slug="second", **existing)
        await world.reconcile()
        assert world.entry("front")["need"] == "SpecChanged"

        if by_edit:
            world.put(slug="second", **existing)
        else:
            world.delete()
        await world.reconcile()

        assert len(world.service.revoked) == 2

    async def test_what_can_not_be_read_of_the_spec_keeps_nothing_from_being_taken_back(
        self, world: ProfileWorld
    ) -> None:
        world.put(certificate("front", revokeOnDelete=True))
        await world.reconcile()

        world.put({"name": 7}, mode="Whenever", hourlyMintBudget="many", caRef="authority")
        await world.reconcile()
        assert world.ready == ("False", "SpecInvalid")
        world.delete()
        await world.reconcile()

        assert world.service.profile is None
        assert len(world.service.revoked) == 1
        assert world.gateway.find("CertificateProfile", "web")["metadata"]["finalizers"] == []  # type: ignore[index]

    @pytest.mark.parametrize("field", ["existing", "onDelete", "projectId", "identityRef"])
    async def test_nothing_is_deleted_by_a_guess(self, world: ProfileWorld, field: str) -> None:
        world.put(certificate("front"))
        await world.reconcile()

        unreadable: dict[str, Field] = {field: ["of another version"]}
        world.put(certificate("front"), **unreadable)
        world.delete()
        result = await world.reconcile()

        assert result.failed
        assert world.ready == ("False", "SpecInvalid")
        assert world.service.profile is not None

    async def test_an_end_waits_for_the_service_no_longer_than_its_deadline(
        self, world: ProfileWorld
    ) -> None:
        world.put(certificate("front", revokeOnDelete=True), deletionDeadline="1m")
        await world.reconcile()

        def away(_name: str) -> None:
            raise WaitingError("ServiceUnavailable", "away")

        world.service.before = away
        world.delete()
        assert (await world.reconcile()).failed
        body = world.gateway.find("CertificateProfile", "web")
        assert body is not None
        assert body["metadata"]["finalizers"] != []

        world.pass_time(61)
        await world.reconcile()
        assert world.gateway.find("CertificateProfile", "web")["metadata"]["finalizers"] == []  # type: ignore[index]
        assert any(one.reason == "Orphaned" for one in world.recorder.told)


class TestModes:
    async def test_plan_asks_for_nothing_and_says_what_stands_against_it(self, world: ProfileWorld) -> None:
        rules = (NameRule(type="dns_name", allowed=["*.internal"]),)
        world.service.policy_rules = CertificatePolicy(id="policy-1", name="policy", sans=rules)
        world.put(certificate("front"), mode="Plan")

        await world.reconcile()

        assert world.ready == ("False", "PolicyViolated")
        planned = world.status["plan"][0]
        assert (planned["name"], planned["action"], planned["need"]) == ("front", "Issue", "First")
        assert planned["violations"] == [
            'subject common_name "front.example.com" is not among the allowed alternative names',
            'alternative name dns_name "front.example.com" is not among the allowed values',
        ]
        assert not {"issue", "create_profile"} & set(world.service.calls)
        assert world.writes() == ["apply_status CertificateProfile team-a/web"]

    async def test_plan_shows_no_violation_where_there_is_none(self, world: ProfileWorld) -> None:
        world.put(certificate("front"), mode="Plan")

        await world.reconcile()

        assert world.ready == ("False", "Planned")
        assert "violations" not in world.status["plan"][0] or not world.status["plan"][0]["violations"]

    async def test_suspended_does_nothing(self, world: ProfileWorld) -> None:
        world.put(certificate("front"), mode="Suspended")

        await world.reconcile()

        assert world.service.calls == []
        assert world.ready == ("False", "Suspended")

    async def test_create_once_neither_renews_nor_repairs(self, world: ProfileWorld) -> None:
        world.put(certificate("front"), mode="CreateOnce")
        await world.reconcile()
        world.remove_secret("front")
        world.pass_time(80 * DAY)

        await world.reconcile()

        assert world.gateway.find("Secret", "front") is None
        assert world.service.calls.count("issue") == 1


class TestProfile:
    async def test_one_that_exists_is_used_and_left_as_it_is(self, world: ProfileWorld) -> None:
        world.put(certificate("front"))
        await world.reconcile()
        profile = world.service.profile
        assert profile is not None
        world.service.profile = replace(profile, description="by hand")

        bound = {"existing": True, "policyRef": None, "caRef": None}
        world.put(certificate("front"), **bound)
        await world.reconcile()

        assert world.ready == ("True", "Issued"), world.message
        assert world.service.profile.description == "by hand"
        assert world.service.calls.count("update_profile") == 0

    async def test_one_that_exists_not_is_missed(self, world: ProfileWorld) -> None:
        world.put(certificate("front"), existing=True, policyRef=None, caRef=None)

        await world.reconcile()

        assert world.ready == ("False", "ProfileNotFound")

    async def test_one_of_somebody_else_is_not_changed(self, world: ProfileWorld) -> None:
        world.put(certificate("front"))
        await world.reconcile()
        profile = world.service.profile
        assert profile is not None
        world.service.profile = replace(
            profile, id="other", description="[keybearer 000000000000000000000000]"
        )

        world.put(certificate("front"), description="Else")
        await world.reconcile()

        assert world.ready == ("False", "ProfileConflict")

    @pytest.mark.parametrize("adopts", [False, True])
    async def test_a_slug_that_is_taken_is_used_only_if_that_is_said(
        self, world: ProfileWorld, *, adopts: bool
    ) -> None:
        world.put(certificate("front"))
        await world.reconcile()
        profile = world.service.profile
        assert profile is not None
        world.service.profile = replace(profile, description="by hand")
        body = world.gateway.find("CertificateProfile", "web")
        assert body is not None
        body["status"] = {}
        world.restart()

        world.put(certificate("front"), adopt=adopts)
        await world.reconcile()

        assert world.ready == (("True", "Issued") if adopts else ("False", "ProfileConflict"))
        assert (world.service.profile.description == "by hand") is not adopts

    async def test_what_the_service_refuses_to_create_is_told_where_no_other_is_in_the_way(
        self, world: ProfileWorld
    ) -> None:
        def refuse(name: str) -> None:
            if name == "create_profile":
                raise StalledError("ProfileRefused", "no such policy")

        world.service.before = refuse
        world.put(certificate("front"))

        await world.reconcile()

        assert world.ready == ("False", "ProfileRefused")
        assert "no such policy" in world.message

    async def test_another_policy_is_refused(self, world: ProfileWorld) -> None:
        world.put(certificate("front"))
        await world.reconcile()

        world.service.policy_rules = CertificatePolicy(id="policy-1", name="web")
        world.put(certificate("front"), policyRef={"id": "policy-2"})
        await world.reconcile()

        assert world.ready == ("False", "ImmutableField")
        assert (
            "is web and can't become policy-2; put policyRef back and change policy web itself"
            in world.message
        )
        diagnosis = world.status["diagnosis"]
        assert diagnosis["command"].startswith(
            "keybearer policies update web --allow TYPE=PATTERN --project "
        )
        assert "they are deleted with it" in diagnosis["step"]

    async def test_other_defaults_reach_the_service_and_the_certificates(self, world: ProfileWorld) -> None:
        world.put(certificate("front"))
        await world.reconcile()

        world.put(certificate("front"), defaults={"organization": "Example"})
        await world.reconcile()

        assert world.service.calls.count("update_profile") == 1
        assert "O=Example" in str(world.stored("front")[0].subject)


class TestRestart:
    async def test_workloads_are_restarted_for_a_new_certificate_until_it_was_done(
        self, world: ProfileWorld
    ) -> None:
        def deployment() -> Body:
            return {"kind": "Deployment", "metadata": {"namespace": "team-a", "name": "web"}, "spec": {}}

        world.gateway.put(deployment())
        world.put(certificate("front", rolloutRestart=[{"kind": "Deployment", "name": "web"}]))
        await world.reconcile()
        assert world.gateway.find("Deployment", "web")["spec"] == {}  # type: ignore[index]
        world.pass_time(61 * DAY)
        world.gateway.fail("merge_patch", "Deployment", UnavailableError("away"))

        assert (await world.reconcile()).failed
        await world.reconcile()

        spec = world.gateway.find("Deployment", "web")["spec"]  # type: ignore[index]
        annotations = spec["template"]["metadata"]["annotations"]
        assert annotations == {"keybearer.dev/restarted-for": f"front:{world.stored('front')[0].serial}"}
        assert "restartDue" not in world.entry("front")
