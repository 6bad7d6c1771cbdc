"""Pushes that take hours, by HTTP and in virtual time: a host that is away, credentials to be mended, windows."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

import pytest
from aiohttp import web

from keybearer.base.clock import format_instant
from keybearer.domain.syncs.tallies import Unpushed
from support.remotes.gitlab import GitLabCopy
from support.remotes.limits import GITLAB, Limit
from support.remotes.serving import Visits, served
from support.steered_service import SteeredService, steered_service
from support.virtual_time import VirtualTime

HOUR = timedelta(hours=1)
WINDOW = timedelta(minutes=30)
TOKEN = "glpat-cnry-admin"
MENDED = "glpat-cnry-mended"
PLACE = {"scope": "project", "projectId": "acme/shop", "projectName": "Shop"}


@dataclass
class Scene:
    """A service, and the copy that it pushes to."""

    service: SteeredService
    gitlab: GitLabCopy

    async def connect(self) -> str:
        return await self.service.connect(
            "gitlab", "access-token", {"accessToken": TOKEN, "accessTokenType": "personal"}
        )


def written(visits: Visits) -> int:
    """How many requests changed something."""
    return sum(one.method != "GET" and 200 <= one.status < 300 for one in visits.asked)


@pytest.fixture
async def scene(tmp_path: Path) -> AsyncIterator[Scene]:
    copy = GitLabCopy()
    copy.tokens = {TOKEN: "api"}
    async with served(copy), steered_service(tmp_path, VirtualTime(), gitlab=copy.url) as service:
        yield Scene(service, copy)


async def test_a_host_that_fails_for_an_hour_has_everything_once_it_is_back_without_anybodys_help(
    scene: Scene,
) -> None:
    service, place = scene.service, scene.gitlab.project("acme/shop")
    await service.store({"A": "cnry-1", "B": "cnry-2"})
    sync = await service.sync("gitlab", await scene.connect(), PLACE)
    await service.ended(sync, "succeeded")

    for method in ("GET", "POST", "PUT", "DELETE"):
        scene.gitlab.visits.answer_instead(method, ".", lambda: web.Response(status=502), times=-1)
    await service.store({"A": "cnry-3", "C": "cnry-4"})
    began, pauses = service.time.now(), [timedelta(0)]
    while service.time.now() < began + HOUR:
        await service.put_off(sync)
        pauses.append(await service.pass_until_due(sync))
    told = await service.put_off(sync)
    assert told["syncStatus"] == "failed"
    (job,) = await service.quiet.jobs(sync["id"])
    assert told["lastSyncMessage"].endswith(f"; the next attempt is at {format_instant(job.due_at)}")
    assert pauses == sorted(pauses)
    assert await service.unpushed() == Unpushed("gitlab", 1, 2, service.time.now() - began)

    scene.gitlab.visits.get_well()
    before = written(scene.gitlab.visits)
    await service.pass_until_due(sync)
    told = await service.ended(sync, "succeeded")
    assert told["lastSyncMessage"] is None
    assert place.values() == {"A": "cnry-3", "B": "cnry-2", "C": "cnry-4"}
    assert written(scene.gitlab.visits) - before == 2
    assert (await service.unpushed()).syncs == 0


@pytest.mark.parametrize("is_revoked_at_first", [True, False], ids=["at first", "after a success"])
async def test_a_credential_that_is_wrong_and_then_mended_has_the_push_succeed_without_a_wait(
    scene: Scene, *, is_revoked_at_first: bool
) -> None:
    service, place = scene.service, scene.gitlab.project("acme/shop")
    await service.store({"A": "cnry-1"})
    connection = await scene.connect()
    if is_revoked_at_first:
        scene.gitlab.tokens = {}
    sync = await service.sync("gitlab", connection, PLACE)
    if not is_revoked_at_first:
        await service.ended(sync, "succeeded")
        scene.gitlab.tokens = {}
        await service.store({"A": "cnry-2"})
    failed = await service.ended(sync, "failed")
    assert "cnry-" not in failed["lastSyncMessage"]
    await service.time.advance(5 * HOUR.total_seconds())
    assert (await service.unpushed()).oldest == 5 * HOUR
    assert await service.quiet.jobs(sync["id"]) == [], "nothing is tried with what is refused"

    scene.gitlab.tokens = {MENDED: "api"}
    mended_at = service.time.now()
    await service.mend("gitlab", connection, {"accessToken": MENDED, "accessTokenType": "personal"})
    await service.ended(sync, "succeeded")
    assert service.time.now() == mended_at
    assert place.values() == await source_of(service)
    assert (await service.unpushed()).syncs == 0


async def source_of(service: SteeredService) -> dict[str, str]:
    query = f"projectId={service.project}&environment=dev&secretPath=/"
    listed = await service.quiet.admin.json("GET", f"/api/v4/secrets?{query}")
    return {one["secretKey"]: one["secretValue"] for one in listed["secrets"]}


async def test_300_keys_to_a_place_that_takes_100_writes_in_a_window_are_300_writes(scene: Scene) -> None:
    service, place = scene.service, scene.gitlab.project("acme/shop")
    source = {f"KEY_{number:03}": f"cnry-{number}" for number in range(300)}
    await service.store(source)
    connection = await scene.connect()
    scene.gitlab.visits.limit = limit = Limit(100, WINDOW, service.time, GITLAB)
    sync = await service.sync("gitlab", connection, PLACE)
    for held in (100, 200):
        told = await service.put_off(sync)
        assert told["syncStatus"] == "pending"
        assert "; what arrived is noted, and the rest follows at 20" in told["lastSyncMessage"]
        assert len(place.values()) == held
        assert (await service.unpushed()).keys == 300 - held
        # An instant is told in whole seconds.
        assert await service.pass_until_due(sync) <= WINDOW + timedelta(seconds=1)
    await service.ended(sync, "succeeded")
    assert place.values() == source
    assert written(scene.gitlab.visits) == 300
    assert len(limit.refused) == 2
    counts = service.quiet.context.sync_engine.tallies.of("gitlab")
    assert (counts.written, counts.failed, counts.removed) == (300, 0, 0)
