"""A database with a chained audit log, and what somebody who edits it would do."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path

from keybearer.base.ids import OrganizationId
from keybearer.base.origin import Origin, request_from
from keybearer.domain.audit import EventType, audited
from keybearer.domain.audit_trail import AuditTrail
from keybearer.domain.audit_verification import verify_audit_log
from keybearer.domain.server_keys import RootKeySource, unlock
from keybearer.store.audit import AuditActor, AuditEvent
from keybearer.store.audit_chain.register import Fault
from keybearer.store.audit_chain.verification import AuditVerification, Known
from keybearer.store.database import Database
from keybearer.store.records import Organization
from support.databases import OwnDatabase
from unit.controllers.fakes.hand_clock import HandClock

__all__ = ["AS_BEFORE_CHAINS", "HOME", "AuditHouse", "Writer", "described", "told"]

HOME = OrganizationId("home")
AS_BEFORE_CHAINS = (
    "UPDATE audit_log SET chain = NULL, sequence = NULL, mac = NULL",
    "DELETE FROM audit_chains",
    "DELETE FROM audit_register",
    "DELETE FROM server_keys WHERE name = 'audit log'",
)
"""What leaves a log as a version without chains wrote it."""


def told(name: str) -> AuditEvent:
    """Return an event with this name in its details."""
    with request_from(Origin("192.0.2.1", "agent", "req-1")):
        return audited(
            AuditActor("machine", "robot", "robot", HOME), EventType.GET_SECRET, key=name, tags=["a", "ü"]
        )


@dataclass
class Writer:
    """A process that writes into the log."""

    database: Database
    trail: AuditTrail

    async def write(self, *names: str) -> None:
        """Write a line each, in a transaction each, a second apart."""
        for name in names:
            async with self.database.writing() as unit:
                await unit.audit(told(name))
            clock = self.database.clock
            assert isinstance(clock, HandClock)
            clock.seconds += 1


@dataclass
class AuditHouse:
    """Where processes come and go, and somebody edits the database behind their back."""

    own: OwnDatabase
    directory: Path
    clock: HandClock = field(default_factory=HandClock)

    @property
    def source(self) -> RootKeySource:
        """Where the root key is."""
        return RootKeySource(self.directory / "root.key")

    @asynccontextmanager
    async def writer(self) -> AsyncIterator[Writer]:
        """Yield a process; it ends as one does that is killed."""
        database = Database(self.own.engine_url(self.directory), self.clock)
        try:
            await database.prepare()
            await unlock(database, self.source)
            yield Writer(database, AuditTrail(database, self.clock, retention=timedelta(days=90)))
        finally:
            await database.close()

    async def fill(self, *names: str) -> None:
        """Have a process of its own write these lines."""
        async with self.writer() as writer:
            await writer.write(*names)

    async def begin(self) -> None:
        """Make the organization that lines are of."""
        async with self.writer() as writer, writer.database.writing() as unit:
            await unit.identities.add_organization(Organization(HOME, "Home", "home", 1, self.clock.now()))

    async def verify(self, known: Known | None = None) -> AuditVerification:
        """Return what the check finds."""
        database = Database(self.own.engine_url(self.directory), self.clock)
        try:
            return await verify_audit_log(database, self.source, known)
        finally:
            await database.close()

    async def faults(self) -> list[tuple[str, int | None, int | None, int | None]]:
        """Return kind, chain, first and last line of what the check finds."""
        return [described(fault) for fault in (await self.verify()).faults]

    def edit(self, *statements: str) -> str:
        """Run statements behind the service's back, and return what the last one says."""
        said = ""
        for statement in statements:
            said = self.own.execute(self.directory, statement)
        return said


def described(fault: Fault) -> tuple[str, int | None, int | None, int | None]:
    """Return what tests compare."""
    return fault.kind.value, fault.chain, fault.first, fault.last
