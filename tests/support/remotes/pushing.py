"""A run of the sync engine without the engine: its own plan, a driver, and a ledger in memory."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from keybearer.destinations.protocol import Destination, Outgoing, Refused, Written
from keybearer.destinations.remote import RemoteRefusedError
from keybearer.domain.syncs.plan import Settings, Wanted, naming_of, plan, wanted_names
from keybearer.store.pushes import Push
from keybearer.wire.key_schema import KeyNaming

__all__ = ["Target"]


@dataclass
class Target:
    """A place that is synced to again and again, and what is known to have arrived there.

    Attributes:
        make: gives a driver, a fresh one for each run as the engine has it.
        told: what the driver of the last run told of, also if the run failed.
    """

    make: Callable[[], Destination]
    naming: KeyNaming = field(default_factory=lambda: KeyNaming("", ""))
    ledger: dict[str, Push] = field(default_factory=dict)
    told: list[Written] = field(default_factory=list)

    def own(self, *names: str) -> None:
        """Have the ledger say that an earlier run wrote these names."""
        self.ledger |= {name: Push(name, b"", None) for name in names}

    async def push(
        self,
        source: Mapping[str, str],
        *,
        removes_nothing: bool = False,
        removes_foreign: bool = False,
        trusts_ledger: bool = False,
    ) -> None:
        """Make the place hold the source; list it first unless the ledger is trusted.

        Raises:
            RemoteError: the remote doesn't do it, or refuses names: all others are written then.
        """
        driver = self.make()
        settings = Settings(
            driver.traits,
            naming_of(driver.traits, self.naming),
            removes_nothing,
            _digest,
            removes_foreign=removes_foreign,
        )
        wanted = [Wanted(key, value) for key, value in source.items()]
        names = wanted_names(wanted, driver.traits, settings.naming).held | self.ledger.keys()
        listing = None if trusts_ledger else await driver.read(sorted(names))
        planned = plan(wanted, listing, self.ledger, settings)
        self.ledger |= {push.name: push for push in planned.learnt}
        refused = dict(planned.refused)
        self.told = []
        async for written in driver.apply(planned.change):
            if isinstance(written, Refused):
                refused[written.name] = written.message
                continue
            self.told.append(written)
            if written.is_removed:
                self.ledger.pop(written.name, None)
            else:
                digest = planned.digests[written.name]
                self.ledger[written.name] = Push(written.name, digest, written.version)
        await self._learn_versions(driver)
        if refused:
            raise RemoteRefusedError("; ".join(f"'{name}': {reason}" for name, reason in refused.items()))

    async def _learn_versions(self, driver: Destination) -> None:
        """Versions that no write told are taken from a listing, while nobody else has had a chance."""
        unknown = [one.name for one in self.told if not one.is_removed and one.version is None]
        if unknown and not driver.traits.has_readable_values:
            shown = await driver.read(unknown)
            for name in unknown:
                self.ledger[name] = Push(name, self.ledger[name].digest, shown[name].version)

    @property
    def written(self) -> list[str]:
        """Names that the last run wrote."""
        return [one.name for one in self.told if not one.is_removed]

    @property
    def removed(self) -> list[str]:
        """Names that the last run removed."""
        return [one.name for one in self.told if one.is_removed]


def _digest(outgoing: Outgoing) -> bytes:
    return hashlib.sha256(f"{outgoing.name}={outgoing.value}".encode()).digest()
