"""The service's application and its sync engine in virtual time, which passes where a test or a request waits."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from keybearer.destinations.short_lived import ShortLived
from keybearer.domain.outbound import OutboundSettings, Remotes, outbound_of
from keybearer.domain.syncs.jobs import JobTerms
from keybearer.domain.syncs.tallies import Unpushed
from keybearer.outbound.remote import RemoteHttp
from keybearer.server.context import ContextTerms
from keybearer.store.revisions import Changes
from keybearer.store.sync_jobs import SyncJob
from support.async_waiting import until
from support.databases import OwnDatabase
from support.directory import loopback_gate
from support.quiet_service import QuietService, quiet_service
from support.virtual_time import VirtualTime

__all__ = ["SteeredService", "steered_service"]

Json = dict[str, Any]
_SYNCS = "/api/v1/secret-syncs"
_CONNECTIONS = "/api/v1/app-connections"
_IN_ONE_BATCH = 100


@dataclass
class SteeredService:
    """A project whose secrets are pushed, and the time that this takes."""

    quiet: QuietService
    time: VirtualTime
    project: str

    async def store(self, values: Mapping[str, str]) -> None:
        """The root of dev has these secrets; others in it stay."""
        items = [{"secretKey": key, "secretValue": value} for key, value in values.items()]
        for start in range(0, len(items), _IN_ONE_BATCH):
            body = {
                "projectId": self.project,
                "environment": "dev",
                "secretPath": "/",
                "mode": "upsert",
                "secrets": items[start : start + _IN_ONE_BATCH],
            }
            await self.quiet.admin.json("PATCH", "/api/v4/secrets/batch", json=body)

    async def connect(self, app: str, method: str, credentials: Mapping[str, str]) -> str:
        """Return the id of a new connection, which was proved."""
        body = {"name": f"to-{app}", "method": method, "credentials": dict(credentials)}
        answer = await self.quiet.admin.json("POST", f"{_CONNECTIONS}/{app}", json=body)
        return str(answer["appConnection"]["id"])

    async def mend(self, app: str, connection: str, credentials: Mapping[str, str]) -> None:
        """The connection has these credentials from now on."""
        body = {"credentials": dict(credentials)}
        await self.quiet.admin.json("PATCH", f"{_CONNECTIONS}/{app}/{connection}", json=body)

    async def sync(self, destination: str, connection: str, config: Mapping[str, object]) -> Json:
        """Return a new automatic sync of the root of dev."""
        body = {
            "name": "away",
            "projectId": self.project,
            "connectionId": connection,
            "environment": "dev",
            "secretPath": "/",
            "syncOptions": {"initialSyncBehavior": "overwrite-destination"},
            "destinationConfig": dict(config),
        }
        answer = await self.quiet.admin.json("POST", f"{_SYNCS}/{destination}", json=body)
        made: Json = answer["secretSync"]
        return made

    async def get(self, sync: Json) -> Json:
        """Return the sync as it is now."""
        path = f"{_SYNCS}/{sync['destination']}/{sync['id']}"
        found: Json = (await self.quiet.admin.json("GET", path))["secretSync"]
        return found

    async def ended(self, sync: Json, status: str) -> Json:
        """Return the sync once nothing of it is to be done now and its last push has that status; no time passes."""
        return await self._at_rest(sync, lambda found, _: bool(found["syncStatus"] == status))

    async def put_off(self, sync: Json) -> Json:
        """Return the sync once a push of it has been tried, and waits for a later time."""
        return await self._at_rest(sync, lambda _, jobs: _waits(jobs, self.time.now()))

    async def pass_until_due(self, sync: Json) -> timedelta:
        """Have the time pass that the push of a sync waits for, and return how long that was."""
        (job,) = await self.quiet.jobs(sync["id"])
        wait = job.due_at - self.time.now()
        await self.time.advance(wait.total_seconds())
        # The engine's own timer is of the event loop, whose time does not move.
        self.quiet.database.bus.committed(Changes(jobs=True))
        return wait

    async def unpushed(self) -> Unpushed:
        """Return what metrics tell of the only destination that has syncs."""
        (told,) = (await self.quiet.context.sync_engine.waiting()).unpushed
        return told

    async def _at_rest(self, sync: Json, is_it: Callable[[Json, list[SyncJob]], bool]) -> Json:
        found: Json = {}

        async def probe() -> bool:
            nonlocal found
            jobs = await self.quiet.jobs(sync["id"])
            found = await self.get(sync)
            return not any(job.is_running for job in jobs) and is_it(found, jobs)

        await until(probe, awaited="an end of a push")
        return found


def _waits(jobs: list[SyncJob], now: datetime) -> bool:
    return [job.due_at > now for job in jobs] == [True]


@asynccontextmanager
async def steered_service(
    directory: Path, time: VirtualTime, **endpoints: str
) -> AsyncIterator[SteeredService]:
    """Yield the service on SQLite, with a project; `endpoints` say where apps are, by their names."""
    http = RemoteHttp(loopback_gate("127.0.0.0/8"), time, None, time.advance)
    outbound = outbound_of(OutboundSettings(), time)
    outbound = replace(outbound, remotes=Remotes(http, ShortLived(time), endpoints))
    terms = ContextTerms(job_terms=JobTerms(start_delay=timedelta(0)))
    async with quiet_service(directory, OwnDatabase(), clock=time, terms=terms, outbound=outbound) as quiet:
        engine = asyncio.create_task(quiet.context.sync_engine.run(), name="secret-syncs")
        try:
            yield SteeredService(quiet, time, await quiet.project())
        finally:
            quiet.context.sync_engine.stop()
            await engine
            await outbound.close()
