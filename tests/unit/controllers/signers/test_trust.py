from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from random import Random
from typing import cast

import pytest

from keybearer.base.certificate_terms import KeyAlgorithm
from keybearer.controllers.effect_budget import EffectBudgets
from keybearer.controllers.finalizer import TRUST_FINALIZER
from keybearer.controllers.signers.anchors import anchors_text
from keybearer.controllers.signers.bundles import BundleStore, build_bundle, read_bundle
from keybearer.controllers.signers.profiles import Profiles
from keybearer.controllers.signers.rights import BundleRights
from keybearer.controllers.signers.trust import TrustReconciler
from keybearer.controllers.work import Lane, WorkItem, WorkKey
from keybearer.controllers.workers import RunResult
from keybearer.kube.errors import ForbiddenError, UnavailableError
from keybearer.kube.optional_watch import OptionalWatch
from keybearer.kube.resources import CLUSTER_TRUST_BUNDLES, ObjectKey, Resource
from keybearer.pki.certificates import parse_certificates
from keybearer.pki.issuance import Template, new_serial_number
from keybearer.pki.keys import generate_private_key
from keybearer.pki.names import Subject
from tools.local.kube_api import Body
from unit.controllers.fakes.certificate_service import new_authority
from unit.controllers.fakes.signing_service import PROFILE_ID, authority
from unit.controllers.fakes.signing_world import NAMESPACE, SigningWorld

_PROFILE = ObjectKey(NAMESPACE, "web")
_NAME = f"certificateprofiles.keybearer.dev:{NAMESPACE}.web:ca-1"
_KEY = WorkKey("ClusterTrustBundle", NAMESPACE, "web")
_ROOT = parse_certificates(authority()[1])[-1]


def _status(*anchors: str) -> Body:
    return {
        "profile": {"id": PROFILE_ID, "slug": "web", "caId": "ca-1"},
        "authorities": [{"key": f"key-{place}", "anchors": one} for place, one in enumerate(anchors)],
    }


@dataclass
class Watch:
    trouble: str | None = None


class TrustWorld(SigningWorld):
    """A signer's world with trust bundles."""

    def __init__(self) -> None:
        super().__init__()
        self.begin_anew()

    def begin_anew(self) -> None:
        """Another process: nothing is known of what the one before published."""
        self.called: list[ObjectKey] = []
        self.bundles = BundleStore(self.called.append)
        self.followed = Watch()
        self.rights = BundleRights(self.gateway.review_own_access, Random(1), lambda: None)  # noqa: S311 - spreads
        self.rights.granted = True
        self.trust = TrustReconciler(
            clock=self.clock,
            gateway=self.gateway,
            objects=self.objects,
            profiles=Profiles(self.objects, self.read_profile),
            bundles=self.bundles,
            watch=cast("OptionalWatch", self.followed),
            served=self.served,
            rights=self.rights,
            budgets=EffectBudgets(self.clock),
        )

    async def publish(self) -> RunResult:
        """The profile's turn comes, and the watches show what was written."""
        result = await self.trust.reconcile(WorkItem(_KEY, Lane.URGENT, 0.0), "r1")
        there = {key for kind, key in self.gateway.objects if kind == "ClusterTrustBundle"}
        for key in self.bundles.existing(None) - there:
            self.bundles.gone(key, None)
        for key in there:
            self.bundles.changed(key, self.gateway.objects["ClusterTrustBundle", key])
        return result

    def profile(
        self,
        *,
        status: Body | None = None,
        deleting: bool = False,
        finalizers: Sequence[str] = (),
        **spec: object,
    ) -> None:
        """As the profile's own run leaves it: its status holds who is trusted."""
        shown = _status(_ROOT.pem) if status is None else status
        super().profile(status=shown, deleting=deleting, finalizers=finalizers, **spec)

    def bundle(self) -> Body | None:
        return self.gateway.find("ClusterTrustBundle", _NAME, "")

    def finalizers(self) -> list[str]:
        found = self.gateway.find("CertificateProfile", "web")
        return [] if found is None else found["metadata"].get("finalizers", [])

    def hold_deleting(self) -> None:
        """The profile is being deleted, and the watch has shown it with its finalizers."""
        self.profile(deleting=True, finalizers=self.finalizers())


@pytest.fixture
def world() -> TrustWorld:
    world = TrustWorld()
    world.profile()
    # Server-side apply creates; the gateway of tests applies to what is there.
    world.gateway.put(
        {"kind": "ClusterTrustBundle", "metadata": {"name": _NAME, "namespace": "", "uid": "b"}}
    )
    return world


async def test_the_root_is_published_under_the_signers_name_and_the_profile_held(world: TrustWorld) -> None:
    await world.publish()

    bundle = world.bundle()
    assert bundle is not None
    (root,) = parse_certificates(bundle["spec"]["trustBundle"])
    assert root.is_self_issued
    assert bundle["spec"]["signerName"] == f"certificateprofiles.keybearer.dev/{NAMESPACE}.web"
    assert bundle["metadata"]["labels"] == {"keybearer.dev/managed": "true"}
    assert world.finalizers() == [TRUST_FINALIZER]
    assert [str(one) for one in world.gateway.writes] == [
        f"merge_patch CertificateProfile {NAMESPACE}/web",
        f"apply ClusterTrustBundle {_NAME}",
    ], "held before there is anything to clean up"


async def test_what_is_published_already_is_not_written_again(world: TrustWorld) -> None:
    await world.publish()
    world.profile(finalizers=world.finalizers())
    writes = len(world.gateway.writes)

    await world.publish()

    assert len(world.gateway.writes) == writes
    assert world.called == []


async def test_a_fight_over_a_bundle_has_a_budget(world: TrustWorld) -> None:
    await world.publish()
    before, result = len(world.gateway.writes), RunResult()
    for _ in range(600):
        bundle = world.bundle()
        assert bundle is not None
        world.gateway.put({**bundle, "spec": {**bundle["spec"], "trustBundle": "theirs"}})
        world.bundles.changed(
            ObjectKey("", _NAME), world.gateway.objects["ClusterTrustBundle", ObjectKey("", _NAME)]
        )
        result = await world.publish()
        world.clock.seconds += 1
    assert 15 <= len(world.gateway.writes) - before <= 30
    assert result.requeue_after is not None

    world.clock.seconds += result.requeue_after.total_seconds()
    await world.publish()
    bundle = world.bundle()
    assert bundle is not None
    assert bundle["spec"]["trustBundle"] != "theirs"


async def test_a_bundle_that_outlived_its_profile_holds_the_next_one_of_that_name(world: TrustWorld) -> None:
    await world.publish()
    world.profile()
    assert world.finalizers() == []

    await world.publish()

    assert world.finalizers() == [TRUST_FINALIZER]


async def test_nothing_is_published_that_can_t_be_followed(world: TrustWorld) -> None:
    world.followed.trouble = "not served"

    assert await world.publish() == RunResult()
    assert world.gateway.writes == []


async def test_without_the_right_to_publish_the_profile_isn_t_held(world: TrustWorld) -> None:
    world.rights.granted = False

    assert await world.publish() == RunResult()
    assert world.gateway.writes == []


async def test_a_right_that_was_lost_is_not_tried_again_and_again(world: TrustWorld) -> None:
    world.gateway.fail("apply", "ClusterTrustBundle", ForbiddenError("may not attest"))

    assert (await world.publish()).failed
    assert world.finalizers() == []

    # The watch of profiles shows both writes, and each calls.
    world.profile()
    writes = len(world.gateway.writes)
    await world.publish()
    assert len(world.gateway.writes) == writes


@pytest.mark.parametrize(
    "change",
    [{"mode": "Suspended"}, {"status": {}}, {"status": _status()}],
    ids=["suspended", "no profile yet", "no authority known yet"],
)
async def test_a_profile_that_issues_nothing_publishes_nothing(world: TrustWorld, change: Body) -> None:
    world.profile(**change)
    await world.publish()

    assert world.gateway.writes == []


async def test_the_service_isn_t_asked(world: TrustWorld) -> None:
    asked: list[str] = []
    world.service.before = asked.append

    await world.publish()

    assert world.bundle() is not None
    assert asked == []


async def test_older_authorities_are_trusted_as_long_as_the_profile_lists_them(world: TrustWorld) -> None:
    older = new_authority("Older", world.clock.now()).certificate
    world.profile(status=_status(_ROOT.pem, older.pem))

    await world.publish()

    bundle = world.bundle()
    assert bundle is not None
    assert bundle["spec"]["trustBundle"] == _ROOT.pem + older.pem


async def test_authorities_whose_certificates_others_may_show_are_trusted_besides(world: TrustWorld) -> None:
    former = new_authority("Former Root", world.clock.now()).certificate
    listed = {"key": "key-9", "until": "2100-01-01T00:00:00Z", "anchors": former.pem}
    world.profile(status=_status(_ROOT.pem) | {"formerAuthorities": [listed]})
    await world.publish()

    bundle = world.bundle()
    assert bundle is not None
    assert parse_certificates(bundle["spec"]["trustBundle"]) == (_ROOT, former)

    world.profile(status=_status(_ROOT.pem))
    await world.publish()
    bundle = world.bundle()
    assert bundle is not None
    assert parse_certificates(bundle["spec"]["trustBundle"]) == (_ROOT,)


async def test_another_authority_replaces_the_bundle(world: TrustWorld) -> None:
    await world.publish()
    old = f"{_NAME[:-4]}ca-0"
    body = dict(build_bundle(_PROFILE, "ca-0", _ROOT.pem).body)
    meta = {**cast("Body", body["metadata"]), "name": old, "namespace": ""}
    stale = world.gateway.put({**body, "kind": "ClusterTrustBundle", "metadata": meta})
    world.bundles.changed(ObjectKey("", old), stale)

    await world.publish()

    assert world.gateway.find("ClusterTrustBundle", old, "") is None
    assert world.bundle() is not None


@pytest.mark.parametrize(
    ("status", "stays"),
    [
        ({"profile": {"id": PROFILE_ID, "slug": "web"}}, False),
        (
            {"profile": {"id": PROFILE_ID, "slug": "web"}, "authorities": _status(_ROOT.pem)["authorities"]},
            True,
        ),
        ({}, True),
        ({"profile": {"id": "p-0", "slug": "another"}}, True),
    ],
    ids=["it signs itself", "its certificates are still of one", "not known", "another one is described"],
)
async def test_a_profile_without_authority_publishes_none_once_nothing_it_lists_is_of_one(
    world: TrustWorld, status: Body, *, stays: bool
) -> None:
    await world.publish()
    world.profile(status=status)

    await world.publish()

    assert (world.bundle() is not None) is stays
    world.called.clear()
    await world.publish()
    assert world.called == []


async def test_one_that_a_process_before_published_is_kept_as_well(world: TrustWorld) -> None:
    await world.publish()
    there = world.bundle()
    assert there is not None
    world.begin_anew()
    world.bundles.changed(ObjectKey("", _NAME), there)
    await world.publish()
    world.called.clear()

    world.bundles.gone(ObjectKey("", _NAME), None)

    assert world.called == [_PROFILE]


async def test_one_that_somebody_deletes_while_the_profile_is_being_held_is_made_anew(
    world: TrustWorld,
) -> None:
    await world.publish()
    there = world.bundle()
    assert there is not None
    world.begin_anew()
    world.profile()
    world.bundles.changed(ObjectKey("", _NAME), there)

    def delete(verb: str, kind: str) -> None:
        if (verb, kind) == ("merge_patch", "CertificateProfile"):
            world.bundles.gone(ObjectKey("", _NAME), None)

    world.gateway.before = delete
    world.called.clear()
    writes = len(world.gateway.writes)
    await world.trust.reconcile(WorkItem(_KEY, Lane.URGENT, 0.0), "r1")

    assert f"apply ClusterTrustBundle {_NAME}" in [str(one) for one in world.gateway.writes[writes:]]


async def test_drift_and_deletion_by_others_call_for_a_repair(world: TrustWorld) -> None:
    await world.publish()
    bundle = world.bundle()
    assert bundle is not None
    bundle["spec"]["trustBundle"] = "nonsense"
    world.bundles.changed(ObjectKey("", _NAME), bundle)
    world.bundles.gone(ObjectKey("", _NAME), None)

    assert world.called == [_PROFILE, _PROFILE]


@pytest.mark.parametrize("served", [True, False], ids=["served", "no longer served"])
async def test_the_bundle_goes_with_the_profile(world: TrustWorld, *, served: bool) -> None:
    await world.publish()
    if not served:
        world.gateway.unserved.update(CLUSTER_TRUST_BUNDLES.versions)
    world.hold_deleting()

    await world.publish()

    assert (world.bundle() is None) is served
    assert world.finalizers() == []


@pytest.mark.parametrize("gone", CLUSTER_TRUST_BUNDLES.versions, ids=lambda one: one.version)
async def test_the_bundle_goes_though_its_version_went_since_the_last_look(
    world: TrustWorld, gone: Resource
) -> None:
    await world.publish()
    world.hold_deleting()
    world.gateway.unserved.add(gone)

    await world.publish()

    assert world.bundle() is None
    assert world.finalizers() == []


async def test_a_bundle_is_written_and_taken_back_in_the_version_that_is_served(world: TrustWorld) -> None:
    world.gateway.unserved.add(CLUSTER_TRUST_BUNDLES)
    assert not (await world.publish()).failed
    assert world.bundle() is not None

    world.profile(status={**_status(), "profile": {"id": PROFILE_ID, "slug": "web"}})
    assert not (await world.publish()).failed
    assert world.bundle() is None


async def test_the_end_waits_for_the_bundle_but_not_for_ever(world: TrustWorld) -> None:
    await world.publish()
    world.hold_deleting()
    world.gateway.fail("list", "ClusterTrustBundle", UnavailableError("away"), times=2)
    assert (await world.publish()).failed
    assert world.finalizers() == [TRUST_FINALIZER]

    world.clock.seconds += timedelta(minutes=11).total_seconds()
    await world.publish()

    assert world.finalizers() == []


async def test_a_bundle_whose_profile_went_without_us_is_taken_back(world: TrustWorld) -> None:
    await world.publish()
    profile = next(iter(world.objects))
    world.objects.end(profile.key, profile.uid)
    assert (await world.publish()).requeue_after is not None, "the watch of profiles may be late"
    assert world.bundle() is not None

    world.gateway.remove("CertificateProfile", "web")
    await world.publish()

    assert world.bundle() is None


def test_each_anchor_is_trusted_once_and_what_is_no_authority_never() -> None:
    issuer = authority()[0]
    begin, end = issuer.certificate.not_before, issuer.certificate.not_after
    template = Template(Subject.of("leaf"), begin, end, new_serial_number())
    leaf = issuer.issue(template, generate_private_key(KeyAlgorithm.EC_P256).public_key)

    assert anchors_text([_ROOT.pem, "", _ROOT.pem, leaf.pem]) == _ROOT.pem


def test_bundles_of_other_signers_are_none_of_ours() -> None:
    assert read_bundle({"metadata": {"name": "x"}, "spec": {"signerName": "example.com/x"}}) is None
