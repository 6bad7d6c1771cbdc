"""A CertificateProfile reads and writes the Secrets that are its own, and touches nobody else's."""

from __future__ import annotations

import pytest

from keybearer.controllers.certificateprofile.context import ProfileSecrets, plan_secret
from keybearer.controllers.effect_budget import EffectBudgets
from keybearer.controllers.objects import ObjectStore
from keybearer.controllers.observed_targets import ObservedStore
from keybearer.controllers.outcome import StalledError
from keybearer.controllers.target.apply import TargetWriter
from keybearer.controllers.target.decisions import ApplyTarget
from keybearer.controllers.target.recreation import Recreation
from unit.controllers.fakes.gateway import FakeGateway
from unit.controllers.fakes.hand_clock import HandClock
from unit.controllers.fakes.targets import (
    FINGERPRINTER,
    UID,
    Change,
    controlled_by_another,
    desired,
    foreign,
    new_spec,
    there,
)

WANTED = desired(new_spec(type="kubernetes.io/tls"), {"tls.crt": "cnry-new", "tls.key": "cnry-new"})
OTHERS = {"tls.crt": "cnry-theirs", "tls.key": "cnry-theirs"}


def test_one_that_belongs_to_nobody_is_taken_over_when_that_is_asked() -> None:
    """Its type is the wanted one, here and below, so that nothing but whose it is speaks against writing it."""
    present = there(OTHERS, foreign, type="kubernetes.io/tls")

    assert isinstance(plan_secret(WANTED, present, UID, adopt=True), ApplyTarget)
    with pytest.raises(StalledError, match="was not written by this object"):
        plan_secret(WANTED, present, UID, adopt=False)


@pytest.mark.parametrize("adopt", [False, True])
def test_one_that_another_object_wrote_is_not_touched(*, adopt: bool) -> None:
    present = there(OTHERS, type="kubernetes.io/tls", onDelete="Retain")

    with pytest.raises(StalledError, match="was not written by this object"):
        plan_secret(WANTED, present, "another-profile", adopt=adopt)


@pytest.mark.parametrize("adopt", [False, True])
@pytest.mark.parametrize(
    "changes",
    [
        pytest.param([controlled_by_another], id="with our label"),
        pytest.param([foreign, controlled_by_another], id="without it"),
    ],
)
def test_one_with_another_controller_is_not_touched(changes: list[Change], *, adopt: bool) -> None:
    present = there(OTHERS, *changes, type="kubernetes.io/tls")

    with pytest.raises(StalledError, match="controlled by Deployment web"):
        plan_secret(WANTED, present, UID, adopt=adopt)


@pytest.mark.parametrize("thorough", [False, True])
@pytest.mark.parametrize(("uid", "is_shown"), [(UID, True), ("another-profile", False)])
async def test_only_our_own_is_read(uid: str, *, is_shown: bool, thorough: bool) -> None:
    gateway = FakeGateway()
    gateway.put(dict(WANTED.body))
    secrets = ProfileSecrets(
        ObjectStore(),
        TargetWriter(
            gateway, ObservedStore(), FINGERPRINTER, Recreation(gateway), EffectBudgets(HandClock())
        ),
    )

    found = await secrets.look_at_own(WANTED.key, uid, thorough=thorough)

    assert (found is not None) is is_shown
