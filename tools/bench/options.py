"""What one run of the benchmarks is told to do."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from tools.bench.workload import Dimensions

__all__ = ["Options", "ScaleSize", "ServiceOptions", "quick", "quick_service"]


@dataclass(frozen=True, slots=True)
class Options:
    """Sizes and lengths; the defaults are those that the bars were set for.

    Attributes:
        directory: where logs of every program stay.
        dimensions: of the cold sync and of everything that follows one.
        large_syncs: SecretSyncs of the large cold sync.
        repeats: cold syncs per figure; the median counts.
        at_once: writes in flight of the floor, as many as the operator has workers.
        latency_seconds: what the proxy adds to each request to the service.
        foreign_secrets: how many, of 10 KiB each.
        changes: values changed for the propagation.
        repairs: edits, and deletions, at rest; also the least number during a cold sync.
        steady_seconds: length of the steady window.
        endurance_minutes: length of the long run.
        certificates: that are issued, at 50 per profile and at 1.
        many_certificates: that are issued at once, at 50 per profile.
        signing_seconds: how long bare signing is measured.
        deadline_seconds: how long anything may take that is awaited.
    """

    directory: Path
    dimensions: Dimensions = field(default_factory=Dimensions)
    large_syncs: int = 10_000
    repeats: int = 3
    at_once: int = 32
    latency_seconds: float = 0.005
    foreign_secrets: int = 2_000
    changes: int = 5
    repairs: int = 60
    steady_seconds: float = 60.0
    endurance_minutes: float = 10.0
    certificates: int = 500
    many_certificates: int = 1000
    signing_seconds: float = 4.0
    deadline_seconds: float = 600.0


def quick(directory: Path, syncs: int) -> Options:
    """Return options that show within minutes whether everything works; the figures say little."""
    return Options(
        directory=directory,
        dimensions=Dimensions(syncs=syncs),
        large_syncs=syncs * 4,
        repeats=1,
        foreign_secrets=200,
        changes=2,
        repairs=10,
        steady_seconds=20.0,
        endurance_minutes=1.0,
        certificates=50,
        many_certificates=100,
        signing_seconds=1.0,
        deadline_seconds=120.0,
    )


@dataclass(frozen=True, slots=True)
class ScaleSize:
    """How much of everything the service is filled with.

    Attributes:
        secrets: in one folder.
        folders: beside each other, of ten secrets each; as many are imported into one.
        levels: of folders within each other.
        large: secrets of `large_bytes` each.
    """

    secrets: int = 10_000
    folders: int = 1_000
    levels: int = 20
    large: int = 500
    large_bytes: int = 64 * 1024


@dataclass(frozen=True, slots=True)
class ServiceOptions:
    """Sizes and lengths of a run against the service; the defaults are those that the bars were set for.

    Attributes:
        directory: where logs of every program stay.
        secrets: of the list that is asked for.
        connections: how many ask, each waiting for its answer before it asks again.
        rounds: of floor and service in turns; the median counts.
        seconds: length of each half of a round.
        scale: of the rows about size.
        syncs: secret syncs, each of a folder of its own.
        pushed_keys: of one sync that has many.
        deadline_seconds: how long anything may take that is awaited.
    """

    directory: Path
    secrets: int = 50
    connections: int = 8
    rounds: int = 5
    seconds: float = 4.0
    scale: ScaleSize = field(default_factory=ScaleSize)
    syncs: int = 1000
    pushed_keys: int = 1000
    deadline_seconds: float = 600.0


def quick_service(directory: Path) -> ServiceOptions:
    """Return options that show within two minutes whether everything works; the figures say little."""
    return ServiceOptions(
        directory=directory,
        rounds=1,
        seconds=1.0,
        scale=ScaleSize(secrets=500, folders=50, large=20),
        syncs=50,
        pushed_keys=50,
        deadline_seconds=120.0,
    )
