"""What the store counts for metrics: committed work, and waits for a turn. Never reset, so that rates can be had."""

from __future__ import annotations

from dataclasses import dataclass, field

from keybearer.base.tally import Durations

__all__ = ["StoreTallies"]


@dataclass(slots=True)
class StoreTallies:
    """Of this process.

    Attributes:
        read_waits: for a connection to read with.
        write_waits: for the turn to write.
        audit_lines: that were written.
        certificates: that were issued and stored.
    """

    read_waits: Durations = field(default_factory=Durations)
    write_waits: Durations = field(default_factory=Durations)
    audit_lines: int = 0
    certificates: int = 0
