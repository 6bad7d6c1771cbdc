"""Metrics of pushes, by destination: what this process did to keys, and what waits for any process."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric

from keybearer.domain.syncs.tallies import KeyCounts, PushTallies, Unpushed

__all__ = ["push_families"]

_LABELS = ("destination",)
_COUNTED = (
    ("written", "Keys that were written to destinations."),
    ("skipped", "Keys that a push found in place, so that nothing was written."),
    (
        "failed",
        "Keys that were refused, by a rule of the destination or by its answer; at each push that tries them.",
    ),
    ("removed", "Keys that were removed from destinations, and from places that syncs left."),
)


def push_families(tallies: PushTallies, unpushed: Iterable[Unpushed] | None) -> Iterator[Metric]:
    """Yield the families.

    Args:
        tallies: counted by this process.
        unpushed: what the database tells, each destination that syncs have among it; None where it can't be asked.
    """
    counted = dict(tallies.items())
    # A destination begins with zeros, so that a rate has the first ones as well.
    for one in unpushed or ():
        counted.setdefault(one.destination, KeyCounts())
    for field, told in _COUNTED:
        family = CounterMetricFamily(f"keybearer_server_push_keys_{field}", told, labels=_LABELS)
        for destination, counts in sorted(counted.items()):
            family.add_metric((destination,), getattr(counts, field))
        yield family
    syncs = GaugeMetricFamily(
        "keybearer_server_pushes_waiting",
        "Secret syncs with a change that isn't at its destination: it waits, is being pushed, or failed.",
        labels=_LABELS,
    )
    keys = GaugeMetricFamily(
        "keybearer_server_push_keys_waiting",
        "Keys that the last pushes of these syncs were to write or remove, and didn't come to.",
        labels=_LABELS,
    )
    age = GaugeMetricFamily(
        "keybearer_server_push_oldest_change_age_seconds",
        "How long the oldest change waits that isn't at its destination; 0 where none does.",
        labels=_LABELS,
    )
    for one in unpushed or ():
        syncs.add_metric((one.destination,), one.syncs)
        keys.add_metric((one.destination,), one.keys)
        age.add_metric((one.destination,), one.oldest.total_seconds())
    yield from (syncs, keys, age)
