"""A CertificateProfile reads and writes the Secrets that are its own, and touches nobody else's."""

from __future__ import annotations

from typing import cast

import pytest

from keybearer.base.clock import Clock
from keybearer.controllers.certificateprofile.profile_secrets import ProfileSecrets
from keybearer.controllers.certificateprofile.secret_contents import build_keyring_secret
from keybearer.controllers.certificateprofile.targets import targets_of
from keybearer.controllers.effect_budget import EffectBudgets
from keybearer.controllers.objects import ObjectStore, ObservedObject
from keybearer.controllers.observed_targets import ObservedStore
from keybearer.controllers.outcome import StalledError
from keybearer.controllers.target.apply import TargetWriter
from keybearer.controllers.target.observed import PresentTarget
from keybearer.controllers.target.recreation import Recreation
from keybearer.controllers.target.rivals import Rivals
from keybearer.controllers.work import WorkKey
from support.issuing_house import csr_of
from unit.controllers.fakes.gateway import FakeGateway
from unit.controllers.fakes.hand_clock import HandClock
from unit.controllers.fakes.profile_world import KEY, ProfileWorld, certificate
from unit.controllers.fakes.targets import (
    FINGERPRINTER,
    UID,
    Body,
    Change,
    controlled_by_another,
    desired,
    foreign,
    immutable,
    new_spec,
    there,
)
from unit.controllers.fakes.world import secret

WANTED = desired(new_spec(type="kubernetes.io/tls"), {"tls.crt": "cnry-new", "tls.key": "cnry-new"})
OTHERS = {"tls.crt": "cnry-theirs", "tls.key": "cnry-theirs"}


def _secrets(gateway: FakeGateway, objects: ObjectStore) -> ProfileSecrets:
    budgets = EffectBudgets(HandClock())
    writer = TargetWriter(gateway, ObservedStore(), FINGERPRINTER, Recreation(gateway), budgets)
    return ProfileSecrets(cast("Clock", HandClock()), objects, writer, Rivals(objects, gateway))


async def _written(present: PresentTarget, owner: str, *, adopt: bool) -> list[str]:
    """Return how a Secret that is there was written by a CertificateProfile of that UID."""
    gateway, objects = FakeGateway(), ObjectStore()
    gateway.put(present.body)
    meta = {"namespace": "team-a", "name": "shop", "uid": owner, "generation": 1, "resourceVersion": "1"}
    body: Body = {"kind": "CertificateProfile", "metadata": meta, "spec": {}}
    seen = ObservedObject.from_body("CertificateProfile", body, trigger_at=0.0, targets_of=targets_of)
    objects.put(seen)
    await _secrets(gateway, objects).write(seen, WANTED, adopt=adopt)
    return [one.verb for one in gateway.writes]


async def test_one_that_belongs_to_nobody_is_taken_over_when_that_is_asked() -> None:
    """Its type is the wanted one, here and below, so that nothing but whose it is speaks against writing it."""
    present = there(OTHERS, foreign, type="kubernetes.io/tls")

    assert await _written(present, UID, adopt=True) == ["apply"]
    with pytest.raises(StalledError, match="was not written by this object"):
        await _written(present, UID, adopt=False)


@pytest.mark.parametrize("adopt", [False, True])
@pytest.mark.parametrize("lives", [False, True])
async def test_one_that_another_object_wrote_is_taken_over_only_after_its_end(
    *, adopt: bool, lives: bool
) -> None:
    present = there(OTHERS, type="kubernetes.io/tls", onDelete="Retain")
    gateway, objects = FakeGateway(), ObjectStore()
    if lives:
        gateway.put({"kind": "SecretSync", "metadata": {"namespace": "team-a", "name": "web", "uid": UID}})
    gateway.put(present.body)

    secrets = _secrets(gateway, objects)
    free = secrets.require_free(WANTED.key, "kubernetes.io/tls", "another-profile", adopt=adopt)

    if adopt and not lives:
        await free
        return
    told = "belongs to SecretSync web" if lives else "was not written by this object"
    with pytest.raises(StalledError, match=told):
        await free


@pytest.mark.parametrize("adopt", [False, True])
@pytest.mark.parametrize(
    "changes",
    [
        pytest.param([controlled_by_another], id="with our label"),
        pytest.param([foreign, controlled_by_another], id="without it"),
    ],
)
async def test_one_with_another_controller_is_not_touched(changes: list[Change], *, adopt: bool) -> None:
    present = there(OTHERS, *changes, type="kubernetes.io/tls")

    with pytest.raises(StalledError, match="controlled by Deployment web"):
        await _written(present, UID, adopt=adopt)


@pytest.mark.parametrize("thorough", [False, True])
@pytest.mark.parametrize(("uid", "is_shown"), [(UID, True), ("another-profile", False)])
async def test_only_our_own_is_read(uid: str, *, is_shown: bool, thorough: bool) -> None:
    gateway = FakeGateway()
    gateway.put(dict(WANTED.body))
    secrets = _secrets(gateway, ObjectStore())

    found = await secrets.look_at_own(WANTED.key, uid, thorough=thorough)

    assert (found is not None) is is_shown


def _referred_by(api_version: str, kind: str, uid: str) -> Body:
    """A Secret that goes with an object which does not control it."""
    reference = {"apiVersion": api_version, "kind": kind, "name": "other", "uid": uid, "controller": False}
    meta = {"namespace": "team-a", "name": "front", "ownerReferences": [reference]}
    return {"kind": "Secret", "metadata": meta, "type": "kubernetes.io/tls", "data": {"mine": "bWluZQ=="}}


@pytest.mark.parametrize(
    ("api_version", "kind"),
    [
        pytest.param("kafka.strimzi.io/v1", "Kafka", id="of another project"),
        pytest.param("keybearer.dev/v1alpha1", "SecretSync", id="of ours"),
    ],
)
async def test_one_that_goes_with_an_object_which_does_not_control_it_is_not_taken_over(
    world: ProfileWorld, api_version: str, kind: str
) -> None:
    if kind == "SecretSync":
        world.gateway.put(
            {"kind": kind, "metadata": {"namespace": "team-a", "name": "other", "uid": "uid-other"}}
        )
    world.gateway.put(_referred_by(api_version, kind, "uid-other"))
    world.put(certificate("front", adopt=True))

    await world.reconcile()

    assert world.ready == ("False", "TargetConflict")
    assert f"Secret front belongs to {kind} other; choose another secretName" in world.message
    assert set(world.data("front")) == {"mine"}
    assert "issue" not in world.service.calls


@pytest.mark.parametrize("adopt", [False, True])
async def test_one_by_which_the_profile_logs_in_is_not_taken_over(
    world: ProfileWorld, *, adopt: bool
) -> None:
    world.gateway.put(secret("csr", {"tls.csr": csr_of("front.example.com")}))
    world.gateway.put(secret("login", {"clientId": "cnry-id", "clientSecret": "cnry-secret"}))
    csr = {"secretKeyRef": {"name": "csr", "key": "tls.csr"}}
    world.put({"name": "front", "csr": csr, "secretName": "login", "adopt": adopt})

    await world.reconcile()

    assert world.ready == ("False", "TargetConflict")
    assert "Secret login is the identity Secret of this object (spec.identityRef)" in world.message
    assert "choose another secretName" in world.message
    assert set(world.data("login")) == {"clientId", "clientSecret"}
    assert "issue" not in world.service.calls


async def test_one_of_ours_that_somebody_made_immutable_is_made_anew(world: ProfileWorld) -> None:
    world.put(certificate("front"))
    await world.reconcile()
    body = world.gateway.find("Secret", "front")
    assert body is not None
    immutable(body)
    world.gateway.put(body)

    await world.reconcile()

    after = world.gateway.find("Secret", "front")
    assert after is not None
    assert "immutable" not in after
    assert after["data"] == body["data"]
    assert world.service.calls.count("issue") == 1
    assert world.ready == ("True", "Issued"), world.message


@pytest.mark.parametrize("surplus", [0, 1])
@pytest.mark.parametrize("is_first", [False, True], ids=["after a look", "without one"])
async def test_one_that_is_larger_than_kubernetes_takes_is_refused_before_it_is_written(
    world: ProfileWorld, surplus: int, *, is_first: bool
) -> None:
    world.put(certificate("front"))
    seen = world.objects.get(KEY)
    assert seen is not None
    secrets = _secrets(world.gateway, world.objects)
    wanted = build_keyring_secret(
        seen, {"one": b"k" * 1024, "other": b"k" * (1024 * 1023 + surplus)}, FINGERPRINTER
    )
    world.writes()

    async def write() -> None:
        await (secrets.create(seen, wanted) if is_first else secrets.write(seen, wanted))

    if not surplus:
        await write()
        assert world.writes() == ["create Secret team-a/web.certificate-keys"]
        return
    with pytest.raises(StalledError, match=r"1048577 bytes.*spread them over several objects") as refusal:
        await write()
    assert refusal.value.reason == "TooLarge"
    assert world.writes() == []


class TestClaims:
    """Two objects name one Secret, and neither has it yet."""

    def _profile(self, objects: ObjectStore, name: str, secret: str, version: str) -> str:
        meta = {"namespace": "team-a", "name": name, "uid": f"uid-of-{name}", "resourceVersion": version}
        spec = {"certificates": [{"name": "front", "secretName": secret}]}
        body: Body = {"kind": "CertificateProfile", "metadata": meta, "spec": spec}
        objects.put(
            ObservedObject.from_body("CertificateProfile", body, trigger_at=0.0, targets_of=targets_of)
        )
        return f"uid-of-{name}"

    async def test_who_asks_first_has_it(self) -> None:
        objects = ObjectStore()
        secrets = _secrets(FakeGateway(), objects)
        one, two = (self._profile(objects, name, WANTED.key.name, "1") for name in ("one", "two"))
        for _ in range(2):
            await secrets.require_free(WANTED.key, "kubernetes.io/tls", one, adopt=False)
            with pytest.raises(StalledError, match="is to hold a certificate of CertificateProfile one"):
                await secrets.require_free(WANTED.key, "kubernetes.io/tls", two, adopt=False)

    @pytest.mark.parametrize("ends", [False, True], ids=["names another", "is gone"])
    async def test_the_next_one_has_it_once_the_first_one_wants_it_no_more(self, *, ends: bool) -> None:
        objects = ObjectStore()
        secrets = _secrets(FakeGateway(), objects)
        one, two = (self._profile(objects, name, WANTED.key.name, "1") for name in ("one", "two"))
        secrets.claim(WANTED.key, one)
        if ends:
            objects.end(WorkKey("CertificateProfile", "team-a", "one"), one)
        else:
            self._profile(objects, "one", "another", "2")

        await secrets.require_free(WANTED.key, "kubernetes.io/tls", two, adopt=False)
