"""Checks of the operator's Deployment, its release, its namespaces and its Lease."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from datetime import timedelta
from typing import TYPE_CHECKING

from keybearer import __version__
from keybearer.base.clock import SystemClock
from keybearer.base.json_reading import list_of, mapping_of, text_of
from keybearer.cli.doctor.findings import Finding, Verdict, View, fine, not_checked, trouble
from keybearer.cli.installation import LEASE_NAME, SERVICE, Operator, Workload, find_workloads, operator_may
from keybearer.cli.kubectl.standing import short_duration
from keybearer.controllers.signers.naming import SIGNER_DOMAIN
from keybearer.kube.errors import ForbiddenError, NotFoundError
from keybearer.kube.lease_state import LeaseRecord
from keybearer.kube.resources import LEASES, NAMESPACES, PODS, JsonObject, ObjectKey, Resource

if TYPE_CHECKING:
    from pydantic import JsonValue

__all__ = ["check_leases", "check_operators", "check_release", "check_service_workloads", "workload_findings"]

_CLOCK_TOLERANCE = timedelta(seconds=5)
"""How far clocks may be apart that nobody calls wrong."""
_INSTALL = "helm install keybearer CHART --namespace keybearer --create-namespace"
_SIGNERS = (
    ("signing of requests of the cluster (operator.signers)", "sign"),
    ("publishing of trust bundles (operator.signers.trustBundles)", "attest"),
)
_MONITORS = (
    Resource("monitoring.coreos.com", "v1", "servicemonitors", "ServiceMonitor"),
    Resource("monitoring.coreos.com", "v1", "prometheusrules", "PrometheusRule"),
)


async def check_operators(view: View) -> AsyncIterator[Finding]:
    """Yield whether each operator runs, its version, and whether the namespaces that it serves exist."""
    if not view.operators:
        where = "in any namespace" if view.operators_known else f"in namespace {view.operator_namespace}"
        message = f"no Deployment of an operator {where}"
        lease = await _held_lease(view)
        if lease is not None:
            yield not_checked(
                "operator",
                f"an operator leads by Lease {lease}, but not as a Deployment of the chart that you can see",
                f"kubectl -n {lease.namespace} get lease {lease.name} -o yaml",
            )
        elif view.operators_known:
            yield trouble("operator", message, _INSTALL)
        else:
            yield not_checked("operator", f"{message}; you may not look elsewhere", "keybearer doctor --help")
    for one in view.operators:
        async for found in workload_findings(view, "operator", one.workload):
            yield found
        async for found in _namespaces(view, one):
            yield found


async def _namespaces(view: View, operator: Operator) -> AsyncIterator[Finding]:
    who = f"{operator.workload}"
    if not operator.namespaces:
        yield fine("operator", f"{who} serves all namespaces")
        return
    missing = []
    for name in operator.namespaces:
        try:
            if await view.cluster.gateway.get(NAMESPACES, ObjectKey("", name), metadata_only=True) is None:
                missing.append(name)
        except ForbiddenError:
            yield not_checked("operator", f"whether namespace {name} exists: you may not get namespaces")
    for name in missing:
        yield trouble(
            "operator", f"{who} serves namespace {name}, which doesn't exist", f"kubectl create ns {name}"
        )
    if not missing:
        yield fine("operator", f"{who} serves {', '.join(operator.namespaces)}")


async def workload_findings(view: View, check: str, one: Workload) -> AsyncIterator[Finding]:
    """Yield whether the pods of a workload are ready, and whether its version is ours."""
    if one.available < one.wanted:
        kind = one.resource.kind.lower()
        yield trouble(
            check,
            f"{one} has {one.available} of {one.wanted} replicas{await _why(view, one)}",
            f"kubectl -n {one.key.namespace} describe pods -l app.kubernetes.io/component={check}"
            if one.available == 0
            else f"kubectl -n {one.key.namespace} rollout status {kind}/{one.key.name}",
        )
    else:
        yield fine(check, f"{one} has all {one.wanted} replicas")
    if one.version == __version__:
        yield fine(check, f"{one} has version {one.version}, as this command")
    else:
        yield trouble(
            check,
            f"{one} has version {one.version or '(no label)'}, this command {__version__}",
            f"helm -n {one.key.namespace} list",
        )


async def _why(view: View, one: Workload) -> str:
    """Say why pods wait, as the kubelet says it."""
    namespace = one.key.namespace
    reasons = set[str]()
    try:
        async for pod in view.cluster.gateway.list(
            PODS, namespace, label_selector=f"app.kubernetes.io/instance={one.release}"
        ):
            status = mapping_of(pod.get("status"))
            for container in list_of(status.get("containerStatuses")):
                waiting = mapping_of(mapping_of(mapping_of(container).get("state")).get("waiting"))
                reasons.add(text_of(waiting.get("reason")))
    except ForbiddenError:
        return ""
    told = ", ".join(sorted(reasons - {""}))
    if {"ImagePullBackOff", "ErrImagePull"} & reasons and "/" not in one.image:
        return f": {told}; image.repository is not set, so nodes look for {one.image} at Docker Hub"
    return f": {told}" if told else ""


async def check_service_workloads(view: View) -> AsyncIterator[Finding]:
    """Yield whether services of a chart run; a service elsewhere is checked by its address alone."""
    found = await find_workloads(view.cluster.gateway, SERVICE, view.operator_namespace)
    for one in found.workloads:
        async for finding in workload_findings(view, "service", one):
            yield finding


async def check_release(view: View) -> AsyncIterator[Finding]:
    """Yield what the objects of each release show of its values: image and monitoring."""
    for one in view.operators:
        work = one.workload
        if "/" in work.image:
            yield fine("release", f"{work.release}: image {work.image}")
        elif work.available:
            yield fine("release", f"{work.release}: image {work.image}, which the nodes have")
        else:
            yield trouble(
                "release",
                f"{work.release}: image.repository is not set, and no pod runs with {work.image}",
                f"helm upgrade {work.release} CHART -n {work.key.namespace} --reset-then-reuse-values "
                "--set image.repository=REGISTRY/keybearer",
            )
        for resource in _MONITORS:
            yield await _monitoring(view, one, resource)
        for name, verb in _SIGNERS:
            asked: JsonObject = {
                "group": "certificates.k8s.io",
                "resource": "signers",
                "name": f"{SIGNER_DOMAIN}/*",
                "verb": verb,
            }
            may = await operator_may(view.cluster.gateway, one, asked)
            yield fine("release", f"{work.release}: {name} {'is on' if may else 'is off'}")


async def _monitoring(view: View, one: Operator, resource: Resource) -> Finding:
    work = one.workload
    selector = f"app.kubernetes.io/part-of=keybearer,app.kubernetes.io/instance={work.release}"
    try:
        listed = view.cluster.gateway.list(resource, work.key.namespace, label_selector=selector)
        is_there = [one async for one in listed] != []
    except NotFoundError:
        return fine("release", f"{work.release}: no {resource.kind}; the cluster doesn't know this kind")
    except ForbiddenError:
        return not_checked("release", f"{work.release}: you may not list {resource.plural}")
    return fine("release", f"{work.release}: {'has a' if is_there else 'has no'} {resource.kind}")


async def check_leases(view: View) -> AsyncIterator[Finding]:
    """Yield who leads, and since when."""
    if not view.operators:
        async for found in _leases_by_name(view):
            yield found
        return
    for one in view.operators:
        if one.lease is None:
            yield fine("leases", f"{one.workload} runs without leader election")
            continue
        body = await view.cluster.gateway.get(LEASES, one.lease)
        yield _of_lease(one.lease, body, f"kubectl -n {one.lease.namespace} logs {_named(one)}")


async def _held_lease(view: View) -> ObjectKey | None:
    """Return a Lease with the name that operators use, that somebody holds now; None if none is visible."""
    try:
        found = await _named_leases(view)
    except ForbiddenError:
        return None  # the check of leases says so
    return next((key for key, body in found if _of_lease(key, body, "").verdict is Verdict.FINE), None)


async def _named_leases(view: View) -> list[tuple[ObjectKey, JsonObject]]:
    listed = view.cluster.gateway.list(LEASES, None, field_selector=f"metadata.name={LEASE_NAME}")
    return [(ObjectKey.of(body), body) async for body in listed]


async def _leases_by_name(view: View) -> AsyncIterator[Finding]:
    found = await _named_leases(view)
    for key, body in found:
        yield _of_lease(key, body, "keybearer operator --help")
    if not found:
        yield trouble("leases", f"no Lease {LEASE_NAME}: no operator ever led in this cluster", _INSTALL)


def _of_lease(key: ObjectKey, body: Mapping[str, JsonValue] | None, command: str) -> Finding:
    if body is None:
        return trouble("leases", f"Lease {key} doesn't exist: no operator ever led", command)
    record = LeaseRecord.from_object(dict(body))
    if not record.holder:
        return trouble("leases", f"nobody holds Lease {key}", command)
    acquired, renewed, expires = record.acquired, record.renewed, record.expires
    if acquired is None or renewed is None or expires is None:
        return trouble("leases", f"Lease {key} of {record.holder} has no times", command)
    now = SystemClock().now()  # the Lease was read just now
    if renewed > now + _CLOCK_TOLERANCE:
        return not_checked(
            "leases",
            f"{record.holder} renewed Lease {key} at {renewed.isoformat(timespec='seconds')}, which is still to "
            "come: its clock or this machine's is wrong",
            "timedatectl status",
        )
    if now > expires + _CLOCK_TOLERANCE:
        return trouble(
            "leases",
            f"{record.holder} holds Lease {key}, but last renewed it {short_duration(now - renewed)} ago",
            command,
        )
    since = f"{acquired.isoformat(timespec='seconds')} ({short_duration(now - acquired)})"
    return fine("leases", f"{record.holder} leads since {since} by Lease {key}")


def _named(one: Operator) -> str:
    return f"deployment/{one.workload.key.name}"
