"""The suite is worth something: each scenario is failed by a destination that is wrong in just what it is about."""

from __future__ import annotations

import pytest

from support.conformance.redeploying import REDEPLOYING
from support.conformance.remote_under_test import all_under_test
from support.conformance.scenario import Scenario, row
from support.conformance.scenarios import SCENARIOS
from support.conformance.scene import scene_of
from support.conformance.variants import VARIANTS, Variant
from support.quiet_service import IN_ONE_LOOP
from support.remotes.gitlab import UNDER_TEST as GITLAB
from support.service_domain import ServiceDomain

BY_NAME = {one.run.__name__: one for one in SCENARIOS}


def _rows() -> list[object]:
    return [row(one, one.name, BY_NAME[name]) for one in VARIANTS for name in one.fails]


def test_each_scenario_is_failed_by_a_variant() -> None:
    assert {name for one in VARIANTS for name in one.fails} == BY_NAME.keys()


@IN_ONE_LOOP
@pytest.mark.parametrize(("variant", "scenario"), _rows())
async def test_a_destination_that_is_wrong_fails_the_suite(
    variant: Variant, scenario: Scenario, request: pytest.FixtureRequest, domain: ServiceDomain
) -> None:
    under_test = next(one for one in (GITLAB, REDEPLOYING, *all_under_test()) if scenario.concerns(one))
    async with scene_of(under_test, request, domain, variant.of(under_test.kind)) as scene:
        with pytest.raises((AssertionError, pytest.fail.Exception)):
            await scenario.run(scene)
