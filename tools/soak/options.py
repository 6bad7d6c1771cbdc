"""What one soak is told to do."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

__all__ = ["Rates", "SoakOptions"]


@dataclass(frozen=True, slots=True)
class Rates:
    """Actions a second, on average.

    Attributes:
        changes: of sources: a value is changed, a secret made or deleted.
        hands: on Secrets: edited, keys added and removed, deleted.
        edits: of SecretSyncs: edited, deleted, created.
        calm_seconds: least and most between two disturbances.
        fault_seconds: least and most that requests meet a fault.
    """

    changes: float = 0.5
    hands: float = 1.0
    edits: float = 0.3
    calm_seconds: tuple[float, float] = (12.0, 25.0)
    fault_seconds: tuple[float, float] = (6.0, 15.0)


@dataclass(frozen=True, slots=True)
class SoakOptions:
    """How much, how long and how hard.

    Attributes:
        directory: gets the report, and logs of every program; what an earlier run left there goes.
        minutes: of changes and disturbances; start and end come on top.
        seed: of all that is random. Processes and the clock don't repeat themselves.
        sources: folders that the SecretSyncs share.
        keys: of each source that are always there; up to three more come and go.
        refresh_seconds: interval of the SecretSyncs.
        disturbances: names of those that happen; none named means all.
        disturbed: from which share of the time to which there are disturbances; before and afterwards freshness is
            seen without any.
        killing_share: of the time, after which no program is killed or restarted any more and only the proxy
            disturbs, so that memory is seen over one long life under load.
        settle_seconds: how long all may take to be right after the last action.
        rest_seconds: how long nothing may be written afterwards.
        shortest_stretch_seconds: lives that are shorter say nothing about memory.
    """

    directory: Path
    minutes: float = 10.0
    syncs: int = 1000
    seed: int = 0
    sources: int = 25
    keys: int = 8
    namespaces: int = 10
    refresh_seconds: int = 60
    rates: Rates = Rates()
    disturbances: tuple[str, ...] = ()
    disturbed: tuple[float, float] = (0.1, 0.85)
    killing_share: float = 0.65
    settle_seconds: float = 180.0
    rest_seconds: float = 10.0
    shortest_stretch_seconds: float = 120.0

    @property
    def seconds(self) -> float:
        """The length in seconds."""
        return self.minutes * 60
