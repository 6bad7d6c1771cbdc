"""No road gives a value that a direct read refuses: all that somebody may try, asked by everybody there may be.

The table of roads is made from the routes that the application has: `support/value_roads/routes.py` places each.
"""

from __future__ import annotations

import pytest

from support.service_in_process import InProcessService
from support.value_roads.principals import ORGANIZATION_ADMIN, PLACES, WALKERS, Walker
from support.value_roads.registry import asked_routes, routes_of
from support.value_roads.roads import walk
from support.value_roads.routes import TABLE, Placing
from support.value_roads.scan import readable
from support.value_roads.world import Traveller, World


def test_every_route_is_placed(standing: InProcessService) -> None:
    routes = set(routes_of(standing.running.app))
    for route in sorted(routes - TABLE.keys()):
        pytest.fail(
            f"{route} is not in the table of roads. Place it in tests/support/value_roads/routes.py: under GIVES or "
            "LEADS if values of secrets are in its answer, or if what it changes may lead to some, and then ask it "
            "on a road in that folder; otherwise under the reason why it gives none."
        )
    assert sorted(TABLE.keys() - routes) == [], "routes that are gone: take them out of the table"


@pytest.mark.parametrize(
    "walker",
    [
        pytest.param(one, marks=() if one.is_tried_first else pytest.mark.deep, id=str(one))
        for one in WALKERS[1:]
    ],
)
def test_no_road_gives_what_a_direct_read_refuses(world: World, walker: Walker) -> None:
    traveller = world.traveller(walker)
    _read_directly(traveller)
    walk(traveller)
    assert traveller.leaks == []


def test_each_road_leads_to_values_for_who_may_read_them(world: World, standing: InProcessService) -> None:
    traveller = world.traveller(ORGANIZATION_ADMIN)
    _read_directly(traveller)
    walk(traveller)
    assert traveller.leaks == []
    asked = asked_routes(standing.running.app, traveller.answers)
    gave = {route for route, answer in asked if answer.places}
    succeeded = {route for route, answer in asked if answer.status == 200}
    placed = {placing: {route for route in TABLE if TABLE[route] is placing} for placing in Placing}
    assert placed[Placing.GIVES] - gave == set(), "no road gets a value by these: walk them"
    assert placed[Placing.LEADS] - succeeded == set(), "no road asks these as the admin may: walk them"
    assert gave - placed[Placing.GIVES] == set(), "their answers hold values: place them under GIVES"


def test_what_gives_no_values_shows_none_to_the_admin(world: World, standing: InProcessService) -> None:
    traveller = world.traveller(ORGANIZATION_ADMIN)
    for path in readable(world):
        traveller.ask("GET", path[0], params=path[1])
    asked = asked_routes(standing.running.app, traveller.answers)
    assert [route for route, answer in asked if answer.places] == []
    answered = {route for route, answer in asked if answer.status == 200}
    assert len(answered) > 40, sorted(answered)


def _read_directly(traveller: Traveller) -> None:
    """Check that direct reads give the places that the table of walkers says."""
    for place in PLACES:
        params = {**traveller.world.at(place), "expandSecretReferences": "false"}
        traveller.ask("GET", "/api/v4/secrets/VALUE", params=params)
    assert {place for one in traveller.answers for place in one.places} == traveller.walker.reads
