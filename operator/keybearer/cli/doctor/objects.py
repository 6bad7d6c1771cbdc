"""Checks of our CRDs, and of the objects of our kinds."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from typing import TYPE_CHECKING

from keybearer.base.json_reading import list_of, mapping_of
from keybearer.cli.doctor.findings import Finding, View, fine, not_checked, trouble
from keybearer.cli.kubectl.standing import Health, Standing, standing_of
from keybearer.controllers.crds import CUSTOM_RESOURCES, build_crd
from keybearer.controllers.kinds import RESOURCES
from keybearer.kube.errors import ForbiddenError
from keybearer.kube.resources import CUSTOM_RESOURCE_DEFINITIONS, ObjectKey

if TYPE_CHECKING:
    from pydantic import JsonValue

    from keybearer.controllers.custom_resource import CustomResource

__all__ = ["check_crds", "check_objects"]

_APPLY = "keybearer crds | kubectl apply --server-side --force-conflicts -f -"


async def check_crds(view: View) -> AsyncIterator[Finding]:
    """Yield whether each CRD is there, and says what this version says."""
    served = await view.cluster.gateway.plurals_beside(RESOURCES["SecretSync"])
    for resource in CUSTOM_RESOURCES:
        if resource.plural not in served:
            yield trouble("crds", f"the cluster doesn't know {resource.kind}", _APPLY)
            continue
        try:
            body = await view.cluster.gateway.get(CUSTOM_RESOURCE_DEFINITIONS, ObjectKey("", resource.name))
        except ForbiddenError:
            yield not_checked(
                "crds", f"{resource.kind} is served; you may not read its CRD, so its version is unknown"
            )
            continue
        if body is not None and _schema(body, resource) == _schema(build_crd(resource), resource):
            yield fine("crds", f"{resource.kind} is that of this version")
        else:
            yield trouble("crds", f"the CRD of {resource.kind} is that of another version", _APPLY)


def _schema(crd: Mapping[str, JsonValue], resource: CustomResource) -> JsonValue:
    for version in list_of(mapping_of(crd.get("spec")).get("versions")):
        if mapping_of(version).get("name") == resource.version:
            return mapping_of(mapping_of(version).get("schema")).get("openAPIV3Schema")
    return None


async def check_objects(view: View) -> AsyncIterator[Finding]:
    """Yield which objects no operator serves, and how many are not Ready."""
    if not view.objects:
        yield fine("objects", "no object of Keybearer is visible")
        return
    standings = [standing_of(body) for body in view.objects]
    unserved = {one.namespace for one in standings} if view.operators else set[str]()
    unserved = {name for name in unserved if not any(one.serves(name) for one in view.operators)}
    for name in sorted(unserved):
        if not view.operators_known:
            yield not_checked(
                "objects",
                f"whether an operator serves namespace {name}: you may not list the Deployments of all namespaces",
                "kubectl auth can-i list deployments -A",
            )
            continue
        yield trouble(
            "objects",
            f"no operator serves namespace {name}, which has objects of Keybearer",
            f"helm upgrade RELEASE CHART --reset-then-reuse-values --set operator.namespaces={{...,{name}}}",
        )
    unseen = [one for one in standings if one.is_unseen]
    for name in sorted({one.namespace for one in unseen}):
        if view.operators_known and name in unserved:
            continue  # trouble above
        yield _unseen(view, name, [one for one in unseen if one.namespace == name])
    polled = [
        one
        for body, one in zip(view.objects, standings, strict=True)
        if one.ready == "True" and _is_denied_events(body)
    ]
    if polled:
        first = polled[0]
        yield fine(
            "objects",
            f"SecretSyncs that learn of changes by polling only: {len(polled)}, such as {first.namespace}/"
            f"{first.name}; the service denies events to their identities",
        )
    failed = [one for one in standings if _needs_somebody(one) and one not in unseen]
    if failed:
        first = failed[0]
        yield trouble(
            "objects",
            f"{len(failed)} of {len(standings)} are not Ready, such as {first.kind} {first.namespace}/{first.name}: "
            f"{first.reason}",
            f"keybearer explain {first.kind.lower()} {first.namespace}/{first.name}",
        )
    elif not unseen:
        yield fine("objects", f"all {len(standings)} are Ready, or wait for a decision of yours")


def _unseen(view: View, namespace: str, objects: list[Standing]) -> Finding:
    """Return what it means that no operator has looked at objects of a namespace."""
    first = objects[0]
    seen = f"no operator has looked at {len(objects)} of its objects, such as {first.kind} {first.name}"
    serving = next((one for one in view.operators if one.serves(namespace)), None)
    if serving is None:
        return trouble(
            "objects",
            f"no operator seems to serve namespace {namespace}: {seen}",
            f"add {namespace} to operator.namespaces (chart) or to --namespace (keybearer operator)",
        )
    key = serving.workload.key
    return trouble(
        "objects",
        f"{serving.workload} serves namespace {namespace}, but {seen}",
        f"kubectl -n {key.namespace} logs {serving.workload.resource.kind.lower()}/{key.name}",
    )


def _is_denied_events(body: Mapping[str, JsonValue]) -> bool:
    """Return whether a SecretSync learns of changes late because events are denied to its identity."""
    reason = mapping_of(body.get("status")).get("pollingReason")
    return body.get("kind") == "SecretSync" and reason == "EventsDenied"


def _needs_somebody(one: Standing) -> bool:
    if one.is_held or one.is_suspended or one.health is Health.TERMINATING:
        return False
    return not one.is_ready
