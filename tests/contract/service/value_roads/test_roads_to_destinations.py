"""No sync carries to a destination what its walker may not read, whatever kind of destination it is."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from datetime import timedelta

import pytest

from keybearer.base.backoff import Backoff
from keybearer.destinations.catalogue import CATALOGUE
from keybearer.domain.outbound import OutboundSettings
from keybearer.domain.syncs.jobs import JobTerms
from support.remotes.beside import served_beside
from support.remotes.moto import CloudProxy
from support.service_fixtures import PUBLIC_URL
from support.service_in_process import InProcessService, service_in_process
from support.value_roads.outlets import KINDS, Copies, Outlet, outlet_of
from support.value_roads.principals import ORGANIZATION_ADMIN, WALKERS, Walker
from support.value_roads.pushing import Pusher
from support.value_roads.registry import asked_routes
from support.value_roads.routes import TABLE, Placing
from support.value_roads.world import World
from tools.local.moto import Moto

_DENIED = next(one for one in WALKERS if one.name == "member, both denied")
_TERMS = JobTerms(
    attempts=1,
    backoff=Backoff(floor=timedelta(milliseconds=10), ceiling=timedelta(milliseconds=20)),
    start_delay=timedelta(0),
)
_ROADS: tuple[Callable[[Pusher], None], ...] = (
    Pusher.what_comes_back,
    Pusher.sources,
    Pusher.own_texts,
    Pusher.what_was_made_before,
    Pusher.what_an_admin_made,
)


@pytest.fixture(scope="session")
def standing_proxy(moto: Moto) -> Iterator[CloudProxy]:
    moto.ask("fresh")
    with CloudProxy(moto) as proxy:
        yield proxy


@pytest.fixture(scope="module")
def copies() -> Iterator[Copies]:
    made = Copies()
    with (
        served_beside(made.codehost),
        served_beside(made.gitlab),
        served_beside(made.gcp),
        served_beside(made.azure),
    ):
        yield made


@pytest.fixture(scope="module")
def standing(
    copies: Copies, standing_proxy: CloudProxy, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[InProcessService]:
    home = tmp_path_factory.mktemp("pushing")
    own = home / "own.json"
    own.write_text(json.dumps(copies.open()))
    outbound = OutboundSettings(
        allow=("127.0.0.0/8",),
        app_endpoints=(
            f"cloud={standing_proxy.url}",
            f"codehost={copies.codehost.url}",
            f"gcp={copies.gcp.url}",
            f"azure-key-vault={copies.azure.url}",
        ),
        app_credentials=(f"gcp={own}",),
    )
    with service_in_process(home / "data", PUBLIC_URL, outbound=outbound, job_terms=_TERMS) as running:
        yield running


@pytest.fixture
def outlet(request: pytest.FixtureRequest, kind: str, standing: InProcessService, copies: Copies) -> Outlet:
    return outlet_of(kind, standing.organization_id, copies, request.getfixturevalue)


def _walk(world: World, walker: Walker, outlet: Outlet, *, is_thorough: bool) -> Pusher:
    pusher = Pusher(world.traveller(walker), outlet, is_thorough=is_thorough)
    for road in _ROADS:
        pusher.traveller.road = f"{road.__name__.replace('_', ' ')}, to {outlet.kind}"
        road(pusher)
    return pusher


def test_each_kind_of_destination_is_tried() -> None:
    assert {kind.name for kind in CATALOGUE.kinds} == set(KINDS), (
        "a new kind of destination: say in tests/support/value_roads/outlets.py how syncs to it are tried"
    )


def _tried() -> Iterator[object]:
    """Yield who tries which kind, and how thoroughly: the one who is denied most tries each in every run.

    In deep runs everybody tries the first kind, and a few try the others: rights are judged before a kind matters.
    """
    for kind in KINDS:
        yield pytest.param(kind, _DENIED, kind == KINDS[0], id=f"{kind}-{_DENIED}")
        for walker in WALKERS[1:]:
            is_one_of_few = walker.is_tried_first or walker is _DENIED
            if (walker is not _DENIED) if kind == KINDS[0] else is_one_of_few:
                yield pytest.param(kind, walker, True, marks=pytest.mark.deep, id=f"{kind}-{walker}-all")


@pytest.mark.parametrize(("kind", "walker", "is_thorough"), list(_tried()))
def test_no_sync_carries_away_what_a_direct_read_refuses(
    world: World,
    outlet: Outlet,
    walker: Walker,
    is_thorough: bool,  # noqa: FBT001 - of the table
) -> None:
    assert _walk(world, walker, outlet, is_thorough=is_thorough).traveller.leaks == []


@pytest.mark.parametrize("kind", KINDS)
def test_syncs_carry_what_their_owner_may_read(
    world: World, outlet: Outlet, standing: InProcessService
) -> None:
    pusher = _walk(world, ORGANIZATION_ADMIN, outlet, is_thorough=False)
    answers = pusher.traveller.answers
    assert pusher.traveller.leaks == []
    there = {
        place
        for one in answers
        if one.asked == f"POST /api/v1/secret-syncs/{outlet.kind}"
        for place in one.places
    }
    assert there == ORGANIZATION_ADMIN.reads, "the road to the destination carries nothing"
    succeeded = {route for route, one in asked_routes(standing.running.app, answers) if one.status == 200}
    own = [route for route, placing in TABLE.items() if placing is Placing.PUSHES]
    expected = {route for route in own if f"/{outlet.kind}" in route or "{destination}" in route}
    if outlet.put is None:
        expected = {route for route in expected if not route.endswith("/import-secrets")}
    assert expected - succeeded == set(), "no road asks these as the admin may: walk them"
