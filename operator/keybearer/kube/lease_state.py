"""Who holds a Lease and until when we may write: decisions only, on clocks that are passed in.

The rules are client-go's. A holder may write until `renew_deadline` after it *began* its last renewal that
was accepted. Another takes the Lease only when it has not seen it change for `duration` on its *own* clock,
so clocks that differ can't make two of them write; `duration - renew_deadline` is what is left for a write
that is under way.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import Enum, auto
from typing import Self

from keybearer.base.json_reading import instant_of, mapping_of
from keybearer.kube.microtime import format_micro_time
from keybearer.kube.resources import JsonObject, ObjectKey

__all__ = ["Election", "LeaseClaim", "LeaseRecord", "LeaseTerms", "Standing"]


@dataclass(frozen=True, slots=True)
class LeaseTerms:
    """How long what lasts; the defaults are client-go's.

    Attributes:
        duration: a Lease that did not change for so long may be taken from its holder; whole seconds.
        renew_deadline: after so long without a renewal its holder stops writing; less than `duration`.
        retry: between two attempts to take or renew it.
    """

    duration: timedelta = timedelta(seconds=15)
    renew_deadline: timedelta = timedelta(seconds=10)
    retry: timedelta = timedelta(seconds=2)

    def __post_init__(self) -> None:
        if not timedelta() < self.retry < self.renew_deadline < self.duration:
            msg = "of a Lease's terms, retry must be less than renew_deadline, and that less than duration"
            raise ValueError(msg)


@dataclass(frozen=True, slots=True)
class LeaseClaim:
    """Who wants which Lease.

    Attributes:
        key: the Lease.
        identity: names this process among all that want it; a Lease of this identity is taken over at once.
        terms: its times.
    """

    key: ObjectKey
    identity: str
    terms: LeaseTerms = LeaseTerms()


@dataclass(frozen=True, slots=True)
class LeaseRecord:
    """What a Lease says. The times are kept as written: an election only asks whether they have changed."""

    holder: str
    duration: timedelta
    acquired_at: str
    renewed_at: str
    transitions: int
    resource_version: str

    @classmethod
    def from_object(cls, lease: JsonObject) -> Self:
        """Read a Lease; what is missing counts as empty, as with a Lease that kubectl has made."""
        spec, metadata = mapping_of(lease.get("spec")), mapping_of(lease.get("metadata"))
        seconds, transitions = spec.get("leaseDurationSeconds"), spec.get("leaseTransitions")
        return cls(
            holder=str(spec.get("holderIdentity") or ""),
            duration=timedelta(seconds=seconds if isinstance(seconds, int) else 0),
            acquired_at=str(spec.get("acquireTime") or ""),
            renewed_at=str(spec.get("renewTime") or ""),
            transitions=transitions if isinstance(transitions, int) else 0,
            resource_version=str(metadata.get("resourceVersion") or ""),
        )

    @property
    def acquired(self) -> datetime | None:
        """When its holder got it, by the holder's clock; None where it doesn't say so."""
        return instant_of(self.acquired_at)

    @property
    def renewed(self) -> datetime | None:
        """When its holder renewed it, by the holder's clock; None where it doesn't say so."""
        return instant_of(self.renewed_at)

    @property
    def expires(self) -> datetime | None:
        """When another may take it unless it is renewed, by the holder's clock. To be shown; no election uses it."""
        renewed = self.renewed
        try:
            return None if renewed is None else renewed + self.duration
        except OverflowError:
            return None  # after the year 9999: no operator writes that


class Standing(Enum):
    """How we stand to a Lease."""

    OURS = auto()
    FREE = auto()
    TAKEN = auto()


class Election:
    """One claimant's view of one Lease. Instants are seconds of `Clock.boottime`."""

    def __init__(self, claim: LeaseClaim) -> None:
        self._claim = claim
        self._seen: LeaseRecord | None = None
        self._seen_at = -math.inf
        self.may_write_until = -math.inf
        """After this instant, a boottime, we must not write; in the past while the Lease is not ours."""

    @property
    def seen(self) -> LeaseRecord | None:
        """Return the Lease as last seen, or None when it has not been seen, or did not exist."""
        return self._seen

    def observe(self, record: LeaseRecord | None, now: float) -> Standing:
        """Note what was read, and return how we stand.

        Args:
            record: the Lease; None when it doesn't exist.
            now: an instant after it was read: a later one only makes us wait longer.
        """
        if record is None or self._seen is None or _differs(record, self._seen):
            self._seen_at = now
        self._seen = record
        if record is None or not record.holder:
            return Standing.FREE
        if record.holder == self._claim.identity:
            return Standing.OURS
        self.may_write_until = -math.inf
        # The holder's own duration, not ours: it may have been started with other terms.
        return Standing.FREE if now - self._seen_at >= record.duration.total_seconds() else Standing.TAKEN

    @property
    def free_at(self) -> float:
        """Return the boottime from which another's Lease may be taken, if it isn't seen to change before."""
        return -math.inf if self._seen is None else self._seen_at + self._seen.duration.total_seconds()

    def won(self, record: LeaseRecord, began: float) -> None:
        """Note that a write that makes the Lease ours was accepted.

        Args:
            record: what was written.
            began: an instant before it was sent.
        """
        self._seen, self._seen_at = record, began
        self.may_write_until = began + self._claim.terms.renew_deadline.total_seconds()

    def resign(self) -> None:
        """Note that we stop writing, whatever the Lease says."""
        self.may_write_until = -math.inf

    def claim_spec(self, wall: datetime) -> JsonObject:
        """Return the `spec` that takes or renews the Lease at this wall time."""
        seen = self._seen
        renewed = format_micro_time(wall)
        ours = seen is not None and seen.holder == self._claim.identity
        transitions = seen.transitions if seen is not None else 0
        return {
            "holderIdentity": self._claim.identity,
            "leaseDurationSeconds": math.ceil(self._claim.terms.duration.total_seconds()),
            "acquireTime": seen.acquired_at if ours and seen is not None and seen.acquired_at else renewed,
            "renewTime": renewed,
            "leaseTransitions": transitions + (0 if ours or seen is None else 1),
        }

    def release_spec(self, wall: datetime) -> JsonObject:
        """Return the `spec` that gives the Lease away at this wall time; one second, as client-go writes."""
        return {"holderIdentity": "", "leaseDurationSeconds": 1, "renewTime": format_micro_time(wall)}


def _differs(one: LeaseRecord, other: LeaseRecord) -> bool:
    # By what it says, not by resourceVersion: a label that someone sets is no sign of life of the holder.
    return (one.holder, one.acquired_at, one.renewed_at, one.transitions) != (
        other.holder,
        other.acquired_at,
        other.renewed_at,
        other.transitions,
    )
