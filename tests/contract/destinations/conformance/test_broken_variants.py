"""The suite is worth something: destinations that are wrong in one way each fail one of its scenarios at least."""

from __future__ import annotations

import pytest

from support.conformance.remote_under_test import all_under_test
from support.conformance.scenarios import SCENARIOS
from support.conformance.scene import scene_of
from support.conformance.variants import VARIANTS, Variant
from support.quiet_service import IN_ONE_LOOP
from support.service_domain import ServiceDomain

pytestmark = IN_ONE_LOOP

(GITLAB,) = (one for one in all_under_test() if one.kind.name == "gitlab")


@pytest.mark.parametrize("variant", VARIANTS, ids=[one.name for one in VARIANTS])
async def test_a_destination_that_is_wrong_fails_the_suite(
    variant: Variant, request: pytest.FixtureRequest, domain: ServiceDomain
) -> None:
    (scenario,) = (one for one in SCENARIOS if one.run.__name__ == variant.fails)
    async with scene_of(GITLAB, request, domain, variant.of(GITLAB.kind)) as scene:
        with pytest.raises(AssertionError):
            await scenario.run(scene)
