"""Who changes things while the programs work: in sources, by hand in Secrets, and in SecretSyncs."""

from __future__ import annotations

import asyncio
import base64
import random
from collections import Counter
from collections.abc import Awaitable, Callable

import aiohttp

from tools.bench.errors import RefusedError
from tools.bench.kube import MERGE_PATCH, KubeApi, secret_path, secretsync_path
from tools.local.marks import MARK
from tools.local.secrets_service import SourceProject
from tools.soak.certainty import certainly, commit
from tools.soak.ledger import SourceLedger
from tools.soak.population import BY_HAND, IDENTITY, Member, Population
from tools.soak.sight import Sight

__all__ = ["Actors", "manifest", "stopped_within"]

_LONGEST_PAUSES = 5.0
"""A pause is at most so many times the average one."""


class Actors:
    """All of them over one population; what they do is counted.

    Args:
        api: as administrator.
        project: holds the sources.
        ledgers: of all sources.
        sight: is told of what is committed and of who leaves.

    Attributes:
        actions: how many of each kind.
    """

    def __init__(
        self,
        api: KubeApi,
        project: SourceProject,
        ledgers: list[SourceLedger],
        population: Population,
        sight: Sight,
    ) -> None:
        self._api = api
        self._project = project
        self._ledgers = ledgers
        self._population = population
        self._sight = sight
        self.actions: Counter[str] = Counter()

    async def keep_doing(
        self,
        act: Callable[[random.Random], Awaitable[None]],
        per_second: float,
        rng: random.Random,
        stop: asyncio.Event,
    ) -> None:
        """Act again and again, at random moments, until stopped; the action under way is finished."""
        while per_second and not await stopped_within(
            stop, min(rng.expovariate(per_second), _LONGEST_PAUSES / per_second)
        ):
            await act(rng)

    async def fill(self) -> None:
        """Each source holds its first values."""
        for ledger in self._ledgers:
            change = ledger.first()
            ledger.asked(change)
            await commit(self._project, ledger.path, change)
            ledger.committed(change)

    async def change_source(self, rng: random.Random) -> None:
        """One source changes, by one transaction."""
        ledger = rng.choice(self._ledgers)
        change = ledger.next_change(rng)
        ledger.asked(change)
        at, at_first = await commit(self._project, ledger.path, change)
        ledger.committed(change)
        if at_first:
            self._sight.committed(ledger, at)
        self.actions[f"source: {change.kind}"] += 1

    async def lay_hands_on(self, rng: random.Random) -> None:
        """A Secret is edited, or deleted; one that is just away, or an API server that is, isn't waited for."""
        member = self._population.any(rng)
        kind = rng.choice(("value edited", "key added", "key removed", "deleted"))
        path = secret_path(*member.key)
        key = f"KEY_{rng.randrange(4)}"
        mark = _encoded(f"{MARK}by-hand-{rng.randrange(10**6)}")
        edits: dict[str, dict[str, str | None]] = {
            "value edited": {key: mark},
            "key removed": {key: None},
            "key added": {},
        }
        try:
            if kind == "deleted":
                await self._api.send("DELETE", path)
            else:
                body = {"data": {BY_HAND: mark, **edits[kind]}}
                await self._api.send("PATCH", path, body, content_type=MERGE_PATCH)
        except (RefusedError, aiohttp.ClientError, TimeoutError, OSError):
            self.actions["Secret: not to be had"] += 1
        else:
            self.actions[f"Secret: {kind}"] += 1

    async def edit_syncs(self, rng: random.Random) -> None:
        """A SecretSync is edited; or one goes and another one comes."""
        match rng.choice(("goes", "retargeted", "redirected", "interval")):
            case "goes":
                await self._replace(self._population.any(rng))
            case "retargeted":
                member = self._population.any(rng)
                self._sight.left(member.key)
                target = self._population.retarget(member)
                await self._patch(member, {"target": {"name": target}})
                self.actions["SecretSync: target renamed"] += 1
            case "redirected":
                member = self._population.any(rng)
                source = self._population.redirect(member, rng)
                self._sight.left(member.key)
                await self._patch(member, {"source": {"secretPath": source.path}})
                self.actions["SecretSync: source changed"] += 1
            case _:
                member = self._population.any(rng)
                member.interval_seconds = rng.choice((30, 60, 300))
                await self._patch(member, {"refreshInterval": f"{member.interval_seconds}s"})
                self.actions["SecretSync: interval changed"] += 1

    async def create(self, member: Member) -> None:
        """The SecretSync exists."""
        body = manifest(member, self._population.source_of(member), self._project.id)
        await certainly(self._api, "POST", secretsync_path(member.namespace), body)

    async def _replace(self, member: Member) -> None:
        self._sight.left(member.key)
        self._population.remove(member)
        await certainly(self._api, "DELETE", secretsync_path(member.namespace, member.name))
        self.actions["SecretSync: deleted"] += 1
        await self.create(self._population.new())
        self.actions["SecretSync: created"] += 1

    async def _patch(self, member: Member, spec: dict[str, object]) -> None:
        await certainly(self._api, "PATCH", secretsync_path(member.namespace, member.name), {"spec": spec})


def manifest(member: Member, source: SourceLedger, project_id: str) -> dict[str, object]:
    """Return the SecretSync as a user would write it."""
    return {
        "apiVersion": "keybearer.dev/v1alpha1",
        "kind": "SecretSync",
        "metadata": {"name": member.name, "namespace": member.namespace},
        "spec": {
            "identityRef": {"name": IDENTITY},
            "source": {"projectId": project_id, "environment": "dev", "secretPath": source.path},
            "refreshInterval": f"{member.interval_seconds}s",
            "target": {"name": member.target},
        },
    }


async def stopped_within(stop: asyncio.Event, seconds: float) -> bool:
    """Wait so long, or until the end is asked for; return whether it is."""
    try:
        async with asyncio.timeout(seconds):
            await stop.wait()
    except TimeoutError:
        return False
    return True


def _encoded(text: str) -> str:
    return base64.b64encode(text.encode()).decode()
