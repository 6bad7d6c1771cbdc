"""Finds the operators that a chart installed, and reads their configuration from their Deployments."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from keybearer.base.json_reading import list_of, mapping_of, text_of
from keybearer.controllers.identity import USUAL_API_AUDIENCES, ServicePolicy
from keybearer.kube.errors import ForbiddenError
from keybearer.kube.resources import DEPLOYMENTS, STATEFUL_SETS, ObjectKey, Resource

if TYPE_CHECKING:
    from pydantic import JsonValue

    from keybearer.kube.gateway import Gateway

__all__ = [
    "LEASE_NAME",
    "OPERATOR",
    "SERVICE",
    "FoundWorkloads",
    "Operator",
    "Workload",
    "command_options",
    "component_selector",
    "find_operators",
    "find_workloads",
    "operator_may",
    "policy_of",
    "reading_operator",
]

OPERATOR, SERVICE = "operator", "service"
"""Components, as the chart labels them."""
LEASE_NAME = "keybearer-operator"
"""Of an operator whose options name none."""


@dataclass(frozen=True, slots=True)
class Workload:
    """A Deployment or a StatefulSet of a release.

    Attributes:
        resource: its kind.
        release: name of the Helm release.
        version: of Keybearer, as the chart labels it.
        wanted, available: replicas.
        arguments: of its first container.
        mounts_token: whether its pods have a token of their ServiceAccount.
    """

    resource: Resource
    key: ObjectKey
    release: str
    version: str
    image: str
    account: str
    wanted: int
    available: int
    arguments: tuple[str, ...]
    mounts_token: bool

    def __str__(self) -> str:
        return f"{self.resource.kind} {self.key}"


@dataclass(frozen=True, slots=True)
class Operator:
    """An operator, by its Deployment and the options of its command."""

    workload: Workload
    options: Mapping[str, tuple[str, ...]]

    @property
    def user(self) -> str:
        """Return how the API server names its ServiceAccount."""
        return f"system:serviceaccount:{self.workload.key.namespace}:{self.workload.account}"

    @property
    def service_url(self) -> str | None:
        """Return the service of identities that name no `url`."""
        return self._one("--service-url")

    @property
    def allowed_urls(self) -> tuple[str, ...]:
        """Return the other services that identities may name."""
        return self.options.get("--allow-service-url", ())

    def service_policy(self) -> ServicePolicy:
        """Return the rules by which it judges identity Secrets.

        Raises:
            ConfigurationError: it can't work with its options.
        """
        return ServicePolicy(
            default_url=self.service_url,
            allowed_urls=frozenset(self.allowed_urls),
            allow_insecure_http="--allow-insecure-http" in self.options,
            api_audiences=USUAL_API_AUDIENCES.union(self.options.get("--api-audience", ())),
        )

    @property
    def namespaces(self) -> tuple[str, ...]:
        """Return the namespaces that it serves; empty for all."""
        return self.options.get("--namespace", ())

    @property
    def lease(self) -> ObjectKey | None:
        """Return its Lease; None if it runs without leader election."""
        if "--no-leader-election" in self.options:
            return None
        namespace = self._one("--lease-namespace") or self.workload.key.namespace
        return ObjectKey(namespace, self._one("--lease-name") or LEASE_NAME)

    def serves(self, namespace: str) -> bool:
        """Return whether it looks at the objects of a namespace."""
        return not self.namespaces or namespace in self.namespaces

    async def reads_secrets(self, gateway: Gateway, namespace: str) -> bool:
        """Return whether its ServiceAccount may read the Secrets of a namespace, as one of a real operator may.

        Everybody who may create a Deployment can label it as an operator's, and its options say where credentials go.

        Raises:
            ForbiddenError: the person may not ask.
        """
        asked: dict[str, JsonValue] = {
            "namespace": namespace,
            "verb": "get",
            "group": "",
            "resource": "secrets",
        }
        return await operator_may(gateway, self, asked)

    def _one(self, option: str) -> str | None:
        given = self.options.get(option, ())
        return given[-1] if given else None


@dataclass(frozen=True, slots=True)
class FoundWorkloads:
    """What was found. `everywhere` is False if only one namespace could be looked at."""

    workloads: tuple[Workload, ...]
    everywhere: bool


async def find_operators(gateway: Gateway, namespace: str) -> tuple[tuple[Operator, ...], bool]:
    """Return the operators of the cluster, and whether all namespaces could be looked at.

    Args:
        gateway: to the cluster.
        namespace: where to look if we may not list the Deployments of all namespaces.

    Raises:
        ForbiddenError: we may not list Deployments there either.
        KubeError: the API server can't be asked.
    """
    found = await find_workloads(gateway, OPERATOR, namespace)
    return tuple(Operator(one, command_options(one.arguments)) for one in found.workloads), found.everywhere


def component_selector(component: str) -> str:
    """Return the label selector of a component's workloads and pods.

    `app.kubernetes.io/name` is not part of it: `nameOverride` of the chart changes that label.
    """
    return f"app.kubernetes.io/part-of=keybearer,app.kubernetes.io/component={component}"


async def find_workloads(gateway: Gateway, component: str, namespace: str) -> FoundWorkloads:
    """Return the workloads of a component of the chart; arguments and errors are those of `find_operators`."""
    try:
        return FoundWorkloads(await _listed(gateway, component, None), everywhere=True)
    except ForbiddenError:
        return FoundWorkloads(await _listed(gateway, component, namespace), everywhere=False)


async def reading_operator(gateway: Gateway, serving: Iterable[Operator], namespace: str) -> Operator | None:
    """Return the first of these operators that may read the Secrets of a namespace.

    Raises:
        ForbiddenError: the person may not ask.
    """
    for one in serving:
        if await one.reads_secrets(gateway, namespace):
            return one
    return None


def policy_of(operator: Operator | None, default_url: str, own_url: str) -> ServicePolicy:
    """Return the rules by which an identity Secret is judged.

    Args:
        operator: reads it. If none can be seen, its rules are not known, and only the Secret itself is judged.
        default_url: the service of a Secret that names none, where no operator says so.
        own_url: the service that the Secret names; may be empty.

    Raises:
        ConfigurationError: the operator can't work with its options.
    """
    if operator is not None:
        return operator.service_policy()
    return ServicePolicy(
        default_url=default_url,
        allowed_urls=frozenset({own_url} if own_url else ()),
        allow_insecure_http=True,
        api_audiences=USUAL_API_AUDIENCES,
    )


async def operator_may(gateway: Gateway, operator: Operator, attributes: Mapping[str, JsonValue]) -> bool:
    """Return whether an operator may do something.

    Args:
        gateway: to the cluster.
        operator: whose ServiceAccount counts, with the groups that the API server gives it.
        attributes: the `resourceAttributes` of a SubjectAccessReview.

    Raises:
        ForbiddenError: we may not ask.
        KubeError: the API server can't be asked.
    """
    groups: list[JsonValue] = [
        "system:serviceaccounts",
        f"system:serviceaccounts:{operator.workload.key.namespace}",
        "system:authenticated",
    ]
    return await gateway.review_access(
        {"user": operator.user, "groups": groups, "resourceAttributes": dict(attributes)}
    )


async def _listed(gateway: Gateway, component: str, namespace: str | None) -> tuple[Workload, ...]:
    return tuple(
        [
            _workload(resource, body)
            for resource in (DEPLOYMENTS, STATEFUL_SETS)
            async for body in gateway.list(resource, namespace, label_selector=component_selector(component))
        ]
    )


def command_options(arguments: Sequence[str]) -> Mapping[str, tuple[str, ...]]:
    """Return the options of a command line with their values; a switch has none."""
    found: dict[str, tuple[str, ...]] = {}
    left = list(arguments)
    while left:
        word = left.pop(0)
        if not word.startswith("--"):
            continue
        name, equals, value = word.partition("=")
        values: tuple[str, ...] = ()
        if equals:
            values = (value,)
        elif left and not left[0].startswith("--"):
            values = (left.pop(0),)
        found[name] = found.get(name, ()) + values
    return found


def _workload(resource: Resource, body: Mapping[str, JsonValue]) -> Workload:
    meta, spec, status = (mapping_of(body.get(part)) for part in ("metadata", "spec", "status"))
    labels = mapping_of(meta.get("labels"))
    pod = mapping_of(mapping_of(spec.get("template")).get("spec"))
    containers = list_of(pod.get("containers"))
    container = mapping_of(containers[0]) if containers else {}
    return Workload(
        resource=resource,
        key=ObjectKey.of(body),
        release=text_of(labels.get("app.kubernetes.io/instance")),
        version=text_of(labels.get("app.kubernetes.io/version")),
        image=text_of(container.get("image")),
        account=text_of(pod.get("serviceAccountName")) or "default",
        wanted=_count(spec.get("replicas"), default=1),
        available=_count(status.get("availableReplicas"), default=0),
        arguments=tuple(text_of(word) for word in list_of(container.get("args"))),
        mounts_token=pod.get("automountServiceAccountToken") is not False,
    )


def _count(value: JsonValue, *, default: int) -> int:
    return value if isinstance(value, int) else default
