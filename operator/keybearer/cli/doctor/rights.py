"""Checks what each operator may do, against what its configuration and its objects need."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from keybearer.base.json_reading import mapping_of
from keybearer.cli.doctor.findings import Finding, View, fine, trouble
from keybearer.cli.installation import operator_may
from keybearer.kube.errors import ForbiddenError
from keybearer.kube.resources import SECRETS

if TYPE_CHECKING:
    from pydantic import JsonValue

    from keybearer.cli.installation import Operator

__all__ = ["CREATE_TOKENS", "LEASE_RIGHTS", "SERVED_RIGHTS", "Right", "check_rights"]


@dataclass(frozen=True, slots=True)
class Right:
    """Verbs on a resource. `resource` may have a subresource behind a slash."""

    group: str
    resource: str
    verbs: tuple[str, ...]

    def asked(self, verb: str, namespace: str, name: str = "") -> dict[str, JsonValue]:
        """Return the `resourceAttributes` of a review; an empty namespace means all."""
        resource, _, subresource = self.resource.partition("/")
        return {
            "group": self.group,
            "resource": resource,
            "subresource": subresource,
            "verb": verb,
            "namespace": namespace,
            "name": name,
        }


_KINDS = ("secretsyncs", "appconnections", "certificateprofiles")
SERVED_RIGHTS = (
    *(Right("keybearer.dev", kind, ("get", "list", "watch", "patch")) for kind in _KINDS),
    *(Right("keybearer.dev", f"{kind}/status", ("patch",)) for kind in _KINDS),
    Right("", "secrets", ("get", "list", "watch", "create", "patch", "delete")),
    Right("", "configmaps", ("get", "list", "watch", "create", "patch", "delete")),
    Right("events.k8s.io", "events", ("create", "patch")),
)
"""What every operator needs in the namespaces that it serves; a test compares it with the chart."""
LEASE_RIGHTS = Right("coordination.k8s.io", "leases", ("get", "patch"))
_RESTARTS = tuple(Right("apps", kind, ("patch",)) for kind in ("deployments", "statefulsets", "daemonsets"))
_REFRESHES = (Right("", "pods", ("get", "list", "patch")),)
CREATE_TOKENS = Right("", "serviceaccounts/token", ("create",))
_CHART_VALUE = {
    "rolloutRestart": ("operator.rolloutRestart.enabled", _RESTARTS),
    "refreshMounts": ("operator.refreshMounts.enabled", _REFRESHES),
}
"""What an object asks for by a field of its spec."""


async def check_rights(view: View) -> AsyncIterator[Finding]:
    """Yield what each operator may not do although it must."""
    uses_service_accounts = await _service_accounts_log_in(view)
    for operator in view.operators:
        missing = [one async for one in _missing(view, operator, uses_service_accounts)]
        for one in missing:
            yield one
        if not missing:
            yield fine("rights", f"{operator.user} may do what its configuration needs")


async def _service_accounts_log_in(view: View) -> bool:
    """Return whether a visible identity Secret logs in by Kubernetes auth."""
    for key in view.identity_users():
        try:
            found = await view.cluster.gateway.get(SECRETS, key)
        except ForbiddenError:
            continue  # the check of identities says so
        if found is not None and "serviceAccountName" in mapping_of(found.get("data")):
            return True
    return False


async def _missing(view: View, operator: Operator, uses_service_accounts: bool) -> AsyncIterator[Finding]:
    wanted: list[tuple[str, Right]] = [("", right) for right in SERVED_RIGHTS]
    if uses_service_accounts:
        wanted.append(("operator.allowServiceAccountTokens", CREATE_TOKENS))
    for field, (value, rights) in _CHART_VALUE.items():
        if any(_asks(body.get("spec"), field) for body in view.objects):
            wanted += [(value, right) for right in rights]
    for namespace in operator.namespaces or ("",):
        for value, right in wanted:
            lacking = [
                verb
                for verb in right.verbs
                if not await operator_may(view.cluster.gateway, operator, right.asked(verb, namespace))
            ]
            if lacking:
                yield _told(operator, f"{', '.join(lacking)} {right.resource}", namespace, value)
    if operator.lease is not None:
        lease = operator.lease
        lacking = [
            verb
            for verb in LEASE_RIGHTS.verbs
            if not await operator_may(
                view.cluster.gateway, operator, LEASE_RIGHTS.asked(verb, lease.namespace, lease.name)
            )
        ]
        if lacking:
            yield _told(operator, f"{', '.join(lacking)} Lease {lease.name}", lease.namespace, "")


def _told(operator: Operator, what: str, namespace: str, value: str) -> Finding:
    where = f"in namespace {namespace}" if namespace else "in all namespaces"
    work = operator.workload
    command = f"helm upgrade {work.release} CHART -n {work.key.namespace} --reset-then-reuse-values"
    return trouble(
        "rights",
        f"{operator.user} may not {what} {where}",
        f"{command} --set {value}=true" if value else command,
    )


def _asks(spec: JsonValue, field: str) -> bool:
    """Return whether a field is set anywhere in a spec."""
    return any(name == field and value not in (None, False, {}, []) for name, value in _fields(spec))


def _fields(part: JsonValue) -> Iterator[tuple[str, JsonValue]]:
    if isinstance(part, list):
        for one in part:
            yield from _fields(one)
    for name, value in mapping_of(part).items():
        yield name, value
        yield from _fields(value)
