"""The page of metrics, from the programs' own registries."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import get_args

from prometheus_client import CollectorRegistry
from prometheus_client.core import Metric

from keybearer.controllers.kinds import RESOURCES
from keybearer.controllers.target.decisions import TargetAction
from keybearer.controllers.telemetry import OperatorMetrics
from keybearer.controllers.work import Lane
from keybearer.domain.syncs.tallies import PushTallies
from keybearer.server.metrics import MetricSources, ServiceMetrics
from keybearer.server.rate_limits import RequestClass
from keybearer.server.request_tallies import RequestTallies
from keybearer.store.tallies import StoreTallies
from tools.reference.markdown import NOTE, cell, code, table

__all__ = ["LABELS", "families", "metrics_page", "service_families", "service_registry"]

LABELS: Mapping[str, str] = {
    "action": f"what was done to the target: {', '.join(one.__name__.removesuffix('Target') for one in get_args(TargetAction))}",
    "certificate": "name of the entry in `spec.certificates`",
    "class": f"of the rate limit: {', '.join(kind for kind in RequestClass if kind is not RequestClass.ALL)}",
    "condition": "type of the condition: Ready, Reconciling, Stalled and so on",
    "destination": "of secret syncs, in the words of [destinations](../destinations.md#destinations)",
    "effect": "the delayed effect: repair, push, restart or issue",
    "kind": f"kind of the object: {', '.join(RESOURCES)}; of targets Secret or ConfigMap; of what signers use a kind of others",
    "lane": f"how urgent: {', '.join(lane.name.lower() for lane in Lane)}",
    "method": "of HTTP",
    "name": "of the object",
    "namespace": "of the object",
    "object": "kind of what is written: Secret, SecretSync, Event, Lease and so on",
    "operation": "what is asked of the service, by the name of the client's operation",
    "profile": "name of the CertificateProfile",
    "reason": "[reason](reasons.md) of the condition that it ended with",
    "result": "how it ended: of reconciles `done` or `failed`, of reads `changed`, `unchanged` or `failed`, of streams `opened`, `ended` or why not",
    "route": "template of the route, never the path; `none` where none matched, or a rate limit refused before",
    "secret": "name of the Secret",
    "source": "kind of the object that asked",
    "state": "`running` in this process, or `waiting` for any",
    "status": "of certificate requests as the service says it (issued, pending_approval, failed and so on), or denied where it was never asked; of calls and writes the HTTP status, `none` without an answer; of conditions True, False or Unknown; of the service's requests its class, such as `2xx`",
    "subresource": "what of the object is written: `status`, `token` or nothing",
    "turn": "`read` or `write`",
    "updates": "`events` where changes are heard of as they happen, `polling` elsewhere",
    "verb": "create, apply, patch or delete",
    "version": "of Keybearer; of a kind of others the version of its API, or `none`",
}
_COUNTED = {"counter": "_total"}
_PARTS = {"histogram": "; Prometheus has it as `_bucket`, `_sum` and `_count`"}


def families() -> dict[str, tuple[Metric, tuple[str, ...]]]:
    """Return each metric that the operator serves, by the name it is asked for, with its labels."""
    registry = CollectorRegistry()
    metrics = OperatorMetrics(registry)
    parts = (metrics, metrics.certificates, metrics.calls, metrics.freshness)
    labelled = {
        one._name: tuple(one._labelnames)  # noqa: SLF001 - the library tells label names in no other way
        for part in parts
        for one in vars(part).values()
        if hasattr(one, "_labelnames")
    }
    return _families(registry, labelled)


def service_registry() -> CollectorRegistry:
    """Return the registry of a service that has done nothing yet."""
    sources = MetricSources(
        requests=RequestTallies(),
        store=StoreTallies(),
        event_streams=int,
        running_jobs=int,
        pushes=PushTallies(),
        audit=lambda: (0, 0),
        rate_limited=dict,
    )
    return ServiceMetrics(sources).registry


def service_families() -> dict[str, tuple[Metric, tuple[str, ...]]]:
    """Return each metric that the service serves, as `families` does."""
    return _families(service_registry(), {})


def _families(
    registry: CollectorRegistry, labelled: Mapping[str, tuple[str, ...]]
) -> dict[str, tuple[Metric, tuple[str, ...]]]:
    found = {}
    for family in _all(registry):
        samples = {name for sample in family.samples for name in sample.labels if name != "le"}
        labels = labelled.get(
            family.name, tuple(getattr(family, "_labelnames", ())) or tuple(sorted(samples))
        )
        found[family.name + _COUNTED.get(family.type, "")] = (family, labels)
    return found


def _all(registry: CollectorRegistry) -> Iterable[Metric]:
    return sorted(registry.collect(), key=lambda family: family.name)


def metrics_page() -> str:
    """Return the page."""
    operator, service = families(), service_families()
    used = sorted(
        {label for known in (operator, service) for _, labels in known.values() for label in labels}
    )
    return "\n".join(
        (
            "# Metrics\n",
            NOTE + "\n",
            (
                "No metric holds a value, or the name of a key. [Operations](../operations.md#watch) says which ones to watch, and "
                "how the time from a change to its Secret is measured.\n"
            ),
            "## Operator\n",
            (
                "They are at `/metrics` of the address in `--metrics-listen` (with the chart, port 8081 of each replica). A waiting "
                "replica has zeros.\n"
            ),
            _table(operator),
            "Counters and histograms also have a `…_created` sample: the instant from which they count.\n",
            "## Service\n",
            (
                "They are at `/metrics` of the address in `keybearer serve --metrics-listen`, and off without it. With the chart "
                "this is port 9090, if `monitoring.serviceMonitor` or `embeddedService.metrics` is enabled. Each process counts "
                "its own work, from its start.\n"
            ),
            _table(service),
            "## Labels\n",
            table(("label", "is"), [(code(label), LABELS[label]) for label in used]),
        )
    )


def _table(known: Mapping[str, tuple[Metric, tuple[str, ...]]]) -> str:
    rows = [
        (
            code(name),
            family.type + _PARTS.get(family.type, ""),
            ", ".join(code(label) for label in labels),
            cell(family.documentation),
        )
        for name, (family, labels) in known.items()
    ]
    return table(("metric", "type", "labels", "meaning"), rows)
