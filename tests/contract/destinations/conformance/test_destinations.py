"""Every destination of the catalogue does what each scenario says."""

from __future__ import annotations

import pytest

from keybearer.destinations.catalogue import CATALOGUE
from support.conformance.redeploying import REDEPLOYING
from support.conformance.remote_under_test import RemoteUnderTest, all_under_test, lacking
from support.conformance.scenario import Scenario, row
from support.conformance.scenarios import SCENARIOS
from support.conformance.scene import scene_of
from support.quiet_service import IN_ONE_LOOP
from support.remotes.gitlab import UNDER_TEST as GITLAB
from support.service_domain import ServiceDomain

UNDER_TEST = all_under_test()


def _rows() -> list[object]:
    rows = [(one, scenario) for one in UNDER_TEST for scenario in SCENARIOS if scenario.concerns(one)]
    rows += [(REDEPLOYING, one) for one in SCENARIOS if one.concerns(REDEPLOYING) > one.concerns(GITLAB)]
    return [row(under_test, str(under_test), scenario) for under_test, scenario in rows]


def test_each_destination_of_the_catalogue_says_how_its_remote_is_run() -> None:
    assert lacking(CATALOGUE.kinds, UNDER_TEST) == []


def test_a_destination_that_does_not_say_it_is_named_with_what_is_to_be_written() -> None:
    first, *others = UNDER_TEST
    (told,) = lacking([first.kind], others)
    assert f"'{first.kind.name}'" in told
    assert f"{first.kind.name.replace('-', '_')}.py" in told


@IN_ONE_LOOP
@pytest.mark.parametrize(("under_test", "scenario"), _rows())
async def test_a_destination_conforms(
    under_test: RemoteUnderTest, scenario: Scenario, request: pytest.FixtureRequest, domain: ServiceDomain
) -> None:
    async with scene_of(under_test, request, domain) as scene:
        await scenario.run(scene)
