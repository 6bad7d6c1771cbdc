"""Looks at the replicas of the operator: which one leads by its Lease, and how long its queues are by its metrics."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from itertools import islice

from prometheus_client.parser import text_string_to_metric_families
from pydantic import JsonValue

from keybearer.base.json_reading import instant_of, mapping_of, mappings_of, text_of
from keybearer.cli.installation import OPERATOR, component_selector
from keybearer.kube.connection import Connection, Request
from keybearer.kube.errors import ForbiddenError, KubeError
from keybearer.kube.exchange import Exchange
from keybearer.kube.gateway import FIELD_MANAGER, Gateway
from keybearer.kube.lease_state import LeaseRecord
from keybearer.kube.resources import LEASES, PODS, JsonObject, ObjectKey, Resource

__all__ = ["Lead", "Operators", "Replica", "look_at_operators", "queues_of"]

_NOT_OF_NODES = "metadata.namespace!=kube-node-lease"
"""A cluster has a Lease for each node, all in this namespace."""
_METRICS_SECONDS = 5.0
_METRICS_BYTES = 2 * 1024 * 1024
_DEPTH = "keybearer_queue_depth"
_REPLICAS_MAX = 20
_LANES_MAX = 100
_LINE_MAX = 512


@dataclass(frozen=True, slots=True)
class Lead:
    """A Lease of an operator.

    Attributes:
        key: of the Lease.
        holder: the replica that leads, as its pod's name and a random part; empty where none does.
        expires: when another replica may take it, unless it is renewed.
    """

    key: ObjectKey
    holder: str
    acquired: datetime | None
    renewed: datetime | None
    expires: datetime | None


@dataclass(frozen=True, slots=True)
class Replica:
    """A pod of an operator.

    Attributes:
        queues: how many keys wait, by lane; None where that isn't known, and `why` says why.
    """

    key: ObjectKey
    phase: str
    started: datetime | None
    queues: Mapping[str, int] | None
    why: str


@dataclass(frozen=True, slots=True)
class Operators:
    """What was seen."""

    leads: tuple[Lead, ...] = ()
    replicas: tuple[Replica, ...] = ()
    notes: tuple[str, ...] = field(default=())


async def look_at_operators(
    connection: Connection, gateway: Gateway, namespaces: Sequence[str], home: str
) -> Operators:
    """Return the operators that the user may see; what may not be seen is in the notes.

    Args:
        connection: borrowed.
        gateway: over it; nothing is written.
        namespaces: to look in; none of them means all.
        home: where to look if the user may not look into all.
    """
    notes: list[str] = []
    where: tuple[str | None, ...] = (*namespaces,) if namespaces else (None,)
    leases = [one async for one in _listed(gateway, LEASES, where, home, notes, fields=_NOT_OF_NODES)]
    labels = component_selector(OPERATOR)
    pods = [one async for one in _listed(gateway, PODS, where, home, notes, labels=labels)]
    if len(pods) > _REPLICAS_MAX:
        notes.append(f"{len(pods) - _REPLICAS_MAX} more pods with the labels of an operator are not shown.")
    exchange = Exchange(connection, max_in_flight=_REPLICAS_MAX)
    # All at once: a pod that doesn't answer holds up none of the others.
    replicas = await asyncio.gather(*(_replica(exchange, pod) for pod in pods[:_REPLICAS_MAX]))
    leads = tuple(_lead(one) for one in leases if _is_ours(one))
    return Operators(leads, tuple(replicas), tuple(notes))


async def _listed(
    gateway: Gateway,
    resource: Resource,
    where: Sequence[str | None],
    home: str,
    notes: list[str],
    *,
    labels: str = "",
    fields: str = "",
) -> AsyncIterator[JsonObject]:
    left = list(where)
    while left:
        namespace = left.pop(0)
        try:
            listed = gateway.list(resource, namespace, label_selector=labels, field_selector=fields)
            async for one in listed:
                yield one
        except ForbiddenError:
            told = "all namespaces" if namespace is None else f"namespace {namespace}"
            notes.append(f"{resource.plural} of {told} are not visible: you may not list them.")
            if namespace is None:
                left.append(home)
        except KubeError as error:
            notes.append(f"{resource.plural} can't be listed now: {error}")


def _is_ours(lease: Mapping[str, JsonValue]) -> bool:
    """Tell whether an operator of ours seems to have written it; anyone who may write Leases can seem to."""
    written = mappings_of(mapping_of(lease.get("metadata")).get("managedFields"))
    return any(one.get("manager") == FIELD_MANAGER for one in written)


def _lead(lease: JsonObject) -> Lead:
    record = LeaseRecord.from_object(lease)
    return Lead(ObjectKey.of(lease), record.holder, record.acquired, record.renewed, record.expires)


async def _replica(exchange: Exchange, pod: JsonObject) -> Replica:
    key, status = ObjectKey.of(pod), mapping_of(pod.get("status"))
    # Without a port, the API server asks the first port of the first container: the operator's metrics.
    path = PODS.path(key, "proxy/metrics")
    request = Request(
        "GET", path, {"Accept": "text/plain"}, timeout_seconds=_METRICS_SECONDS, max_bytes=_METRICS_BYTES
    )
    queues, why = None, "its metrics don't name its queues"
    try:
        answer = await exchange.ask(f"read the metrics of pod {key}", request)
        queues = queues_of(answer.body.decode(errors="replace"))
    except ForbiddenError:
        why = "you may not get pods/proxy in its namespace"
    except KubeError as error:
        why = f"its metrics can't be read: {error}"
    return Replica(key, text_of(status.get("phase")), instant_of(status.get("startTime")), queues, why)


def queues_of(metrics: str) -> Mapping[str, int] | None:
    """Return how many keys wait in each lane, as the operator's metrics say; None where they don't.

    The pod may be anybody's that has the labels of an operator, so what is read of its answer is bounded.
    """
    told = (line for line in metrics.splitlines() if line.startswith(_DEPTH) and len(line) <= _LINE_MAX)
    lines = "".join(f"{line}\n" for line in islice(told, _LANES_MAX))
    try:
        samples = [one for family in text_string_to_metric_families(lines) for one in family.samples]
        return {one.labels.get("lane", ""): int(one.value) for one in samples} or None
    except (ValueError, OverflowError):  # no metrics, or a depth that is no number or infinite
        return None
