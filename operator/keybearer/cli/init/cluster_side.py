"""What `keybearer init` finds in the cluster, before it changes anything, and what it applies there."""

from __future__ import annotations

import base64
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final

from keybearer.base.json_reading import mapping_of, mappings_of, text_of, texts_of
from keybearer.cli.failures import CommandError, ExitStatus
from keybearer.cli.init.answers import Answers, AuthMethod
from keybearer.cli.installation import (
    SERVICE,
    Operator,
    find_operators,
    find_workloads,
    operator_may,
    reading_operator,
)
from keybearer.cli.kubectl.field_changes import changed_fields
from keybearer.cli.reviewers import OWN_API
from keybearer.controllers.identity import normalized_url
from keybearer.kube.dry_run import dry_run_apply
from keybearer.kube.errors import ConflictError, ForbiddenError
from keybearer.kube.resources import (
    NAMESPACES,
    SECRET_SYNCS,
    SECRETS,
    SERVICE_ACCOUNTS,
    JsonObject,
    ObjectKey,
    Resource,
)

if TYPE_CHECKING:
    from pydantic import JsonValue

    from keybearer.cli.init.troubles import Troubles
    from keybearer.cli.kubectl.cluster import Cluster

__all__ = [
    "MANAGER",
    "ClusterFacts",
    "Manifest",
    "apply",
    "kubernetes_place",
    "look_at_cluster",
    "manifests",
    "try_sync",
    "with_path",
]

MANAGER: Final = "keybearer-init"
"""Field manager of what this command applies."""


@dataclass(frozen=True, slots=True)
class Manifest:
    """An object to apply; of a Secret the values are not here, only the names of its keys are shown."""

    resource: Resource
    key: ObjectKey
    body: JsonObject

    def __str__(self) -> str:
        return f"{self.resource.kind} {self.key}"

    @property
    def document(self) -> JsonObject:
        """Return the object as it is written in a file."""
        meta: JsonObject = {"name": self.key.name}
        if self.key.namespace:
            meta["namespace"] = self.key.namespace
        return {
            "apiVersion": self.resource.api_version,
            "kind": self.resource.kind,
            "metadata": meta,
            **self.body,
        }


@dataclass(frozen=True, slots=True)
class ClusterFacts:
    """The cluster before anything is changed.

    Attributes:
        operator: that serves the namespace; None if none is visible.
        service_reviews: whether a service of the chart reviews tokens as its own ServiceAccount.
        lacks: what must be made first: `NAMESPACES` or `SERVICE_ACCOUNTS`.
        secret: the data of the identity Secret; None if there is none.
        secret_is_ours: whether this command made it.
        notes: what could not be checked.
    """

    operator: Operator | None
    service_reviews: bool
    lacks: tuple[Resource, ...]
    secret: Mapping[str, str] | None = field(repr=False)
    secret_is_ours: bool
    notes: tuple[str, ...]

    def operator_url(self, answers: Answers, login_url: str) -> str | None:
        """Return what the identity Secret must hold as `url`; None if the operator's default serves.

        Raises:
            CommandError: the operator may not ask that address, or has no default.
        """
        if answers.operator_url is not None:
            return answers.operator_url
        operator = self.operator
        if operator is None:
            return None
        address = normalized_url(login_url)
        if operator.service_url is not None and normalized_url(operator.service_url) == address:
            return None
        if address in map(normalized_url, operator.allowed_urls):
            return login_url
        if operator.service_url is None:
            raise CommandError(
                f"the operator in {operator.workload.key.namespace} has no default service and may not ask "
                f"{login_url}",
                ExitStatus.REFUSED,
                "Start it with --service-url or --allow-service-url, or give --operator-url.",
            )
        return None


async def look_at_cluster(
    cluster: Cluster, answers: Answers, operator_namespace: str, troubles: Troubles
) -> ClusterFacts:
    """Return what is there.

    Args:
        cluster: where.
        answers: what is to be set up.
        operator_namespace: where to look for the operator if we may not look everywhere.
        troubles: where a missing right goes, and that no operator serves the namespace.

    Raises:
        CommandError: the CRDs are missing.
        KubeError: the API server refuses, or can't be asked.
    """
    gateway, notes = cluster.gateway, list[str]()
    if SECRET_SYNCS.plural not in await gateway.plurals_beside(SECRET_SYNCS):
        raise CommandError(
            "the cluster doesn't know SecretSyncs: Keybearer's CRDs are missing",
            ExitStatus.NOT_FOUND,
            "Install the chart, or: keybearer crds | kubectl apply --server-side -f -",
        )
    operator = None
    with troubles.collected():
        operator = await _operator_of(cluster, answers.namespace, operator_namespace, notes)
    lacks = [
        resource
        for resource, key in (
            (NAMESPACES, ObjectKey("", answers.namespace)),
            (SERVICE_ACCOUNTS, ObjectKey(answers.namespace, answers.service_account)),
        )
        if (resource is NAMESPACES or answers.method is AuthMethod.KUBERNETES)
        and await gateway.get(resource, key, metadata_only=True) is None
    ]
    with troubles.collected():
        await _require_rights(cluster, answers.namespace, lacks)
    reviews = False
    if answers.method is AuthMethod.KUBERNETES:
        with troubles.collected():
            await _require_minting(cluster, answers.namespace, operator, notes)
        reviews = await _service_reviews(cluster, operator_namespace)
    body = None
    with troubles.collected():
        body = await _identity_secret(cluster, answers)
    return ClusterFacts(
        operator=operator,
        service_reviews=reviews,
        lacks=tuple(lacks),
        secret=None if body is None else _decoded(body),
        secret_is_ours=body is not None and _is_managed(body),
        notes=tuple(notes),
    )


async def _identity_secret(cluster: Cluster, answers: Answers) -> JsonObject | None:
    key = ObjectKey(answers.namespace, answers.identity_secret)
    try:
        return await cluster.gateway.get(SECRETS, key)
    except ForbiddenError as error:
        raise CommandError(
            f"you may not read Secret {key}",
            ExitStatus.DENIED,
            "Ask an administrator of the cluster for this right.",
        ) from error


def kubernetes_place(cluster: Cluster, facts: ClusterFacts, answers: Answers) -> tuple[str, str]:
    """Return the address of the API server for the service, and the certificates to trust there, in PEM.

    Raises:
        ConfigurationError: the CA of the kubeconfig can't be read.
    """
    if facts.service_reviews and answers.reviewer_token is None:
        return answers.kubernetes_host or OWN_API, answers.kubernetes_ca or ""
    ca_pem = cluster.connection.ca_pem if answers.kubernetes_ca is None else answers.kubernetes_ca
    return answers.kubernetes_host or cluster.connection.server, ca_pem


def manifests(answers: Answers, facts: ClusterFacts, secret: Mapping[str, str] | None) -> Iterator[Manifest]:
    """Yield what is applied, in this order.

    Args:
        answers: what is to be set up.
        facts: the cluster before.
        secret: what the identity Secret must hold; None if the Secret that exists is right.
    """
    namespace = answers.namespace
    if NAMESPACES in facts.lacks:
        yield Manifest(NAMESPACES, ObjectKey("", namespace), {})
    if SERVICE_ACCOUNTS in facts.lacks:
        yield Manifest(SERVICE_ACCOUNTS, ObjectKey(namespace, answers.service_account), {})
    if secret is not None:
        data: JsonObject = {key: base64.b64encode(text.encode()).decode() for key, text in secret.items()}
        yield Manifest(
            SECRETS, ObjectKey(namespace, answers.identity_secret), {"type": "Opaque", "data": data}
        )
    source: JsonObject = {"projectSlug": answers.project, "environment": answers.environment}
    if answers.path != "/":
        source["secretPath"] = answers.path
    spec: JsonObject = {"identityRef": {"name": answers.identity_secret}, "source": source}
    yield Manifest(SECRET_SYNCS, ObjectKey(namespace, answers.name), {"spec": spec})


async def with_path(cluster: Cluster, answers: Answers) -> Answers:
    """Return the answers with a folder: where nobody named one, that of the SecretSync, or `/` without one.

    Raises:
        KubeError: the API server refuses, or can't be asked.
    """
    if answers.path:
        return answers
    try:
        found = await cluster.gateway.get(SECRET_SYNCS, ObjectKey(answers.namespace, answers.name))
    except ForbiddenError:
        found = None  # `look_at_cluster` names this right with the others that are missing
    source = mapping_of(mapping_of((found or {}).get("spec")).get("source"))
    return replace(answers, path=text_of(source.get("secretPath")) or "/")


async def try_sync(cluster: Cluster, manifest: Manifest) -> tuple[str, ...] | None:
    """Let the API server judge a manifest of ours without storing it.

    Returns:
        The fields of the spec that it would change, each with what stands there and what would; none of an object
        that is new. None if it would change nothing.

    Raises:
        CommandError: fields of it belong to somebody else.
        KubeError: the API server refuses.
    """
    before = await cluster.gateway.get(manifest.resource, manifest.key)
    try:
        after = await dry_run_apply(
            cluster.connection, manifest.resource, manifest.key, manifest.body, manager=MANAGER, force=False
        )
    except ConflictError as error:
        raise _owned_by_others(manifest, error) from error
    if before is None:
        return ()
    return tuple(_changes_of(before.get("spec"), after.get("spec"))) or None


def _changes_of(before: JsonValue, after: JsonValue) -> Iterator[str]:
    for found in changed_fields(before, after):
        path = found.partition(" ")[0]
        yield f"{path} {_standing_at(before, path)} -> {_standing_at(after, path)}"


def _standing_at(spec: JsonValue, path: str) -> str:
    """Return what a field holds, if it is one of those that init writes."""
    value = spec
    for name in path.split(".")[1:]:
        value = mapping_of(value).get(name)
    if value is None:
        return "(nothing)"
    is_written = path.startswith(("spec.source.", "spec.identityRef."))
    return str(value) if is_written and isinstance(value, str) else "(another)"


async def apply(cluster: Cluster, manifest: Manifest) -> None:
    """Apply a manifest by server-side apply, without taking fields from others.

    Raises:
        CommandError: fields of it belong to somebody else.
        KubeError: the API server refuses.
    """
    try:
        await cluster.gateway.apply(
            manifest.resource, manifest.key, manifest.body, force=False, manager=MANAGER
        )
    except ConflictError as error:
        raise _owned_by_others(manifest, error) from error


def _owned_by_others(manifest: Manifest, error: ConflictError) -> CommandError:
    taken = ", ".join(f"{cause.field} ({cause.manager})" for cause in error.causes)
    return CommandError(
        f"{manifest} exists, and others manage fields of it: {taken or error}",
        ExitStatus.REFUSED,
        "Give another name (--name, --identity-secret), or remove that object.",
    )


async def _operator_of(
    cluster: Cluster, namespace: str, operator_namespace: str, notes: list[str]
) -> Operator | None:
    try:
        operators, everywhere = await find_operators(cluster.gateway, operator_namespace)
    except ForbiddenError:
        notes.append("Not checked: whether an operator serves the namespace. You may not list Deployments.")
        return None
    serving = [one for one in operators if one.serves(namespace)]
    try:
        found = await reading_operator(cluster.gateway, serving, namespace)
    except ForbiddenError:
        return serving[0]
    if found is not None:
        return found
    if serving:
        notes.append(
            "Not checked: whether an operator serves the namespace. No visible one may read Secrets there."
        )
        return None
    if operators and everywhere:
        raise CommandError(
            f"the operator of namespace {operators[0].workload.key.namespace} doesn't serve {namespace}; it serves "
            f"only {', '.join(operators[0].namespaces)}",
            ExitStatus.REFUSED,
            "Ask its administrator to add the namespace to operator.namespaces of the chart.",
        )
    notes.append(
        "Not checked: whether an operator serves the namespace. No Deployment of the chart is visible."
    )
    return None


async def _require_rights(cluster: Cluster, namespace: str, lacks: list[Resource]) -> None:
    missing = [
        f"{verb} {resource.plural}"
        for resource in (SECRETS, SECRET_SYNCS, *lacks)
        for verb in ("create", "patch", *(["get"] if resource in (SECRETS, SECRET_SYNCS) else []))
        if not await cluster.gateway.review_own_access(
            {
                "namespace": namespace if resource.namespaced else "",
                "verb": verb,
                "group": resource.group,
                "resource": resource.plural,
            }
        )
    ]
    if missing:
        raise CommandError(
            f"you may not {', '.join(missing)} in namespace {namespace}",
            ExitStatus.DENIED,
            "Ask an administrator of the cluster for these rights.",
        )


async def _require_minting(
    cluster: Cluster, namespace: str, operator: Operator | None, notes: list[str]
) -> None:
    """Check that the operator may create tokens of ServiceAccounts in the namespace; note it if that is unknown.

    Raises:
        CommandError: it may not.
    """
    if operator is None:
        notes.append(
            f"Not checked: whether the operator may create tokens of ServiceAccounts in {namespace}. It must "
            "(operator.allowServiceAccountTokens of the chart)."
        )
        return
    asked: JsonObject = {
        "namespace": namespace,
        "verb": "create",
        "group": "",
        "resource": "serviceaccounts",
        "subresource": "token",
    }
    try:
        allowed = await operator_may(cluster.gateway, operator, asked)
    except ForbiddenError:
        notes.append(
            "Not checked: whether the operator may create tokens of ServiceAccounts. You may not ask for its rights."
        )
        return
    if not allowed:
        raise CommandError(
            f"the operator ({operator.user}) may not create tokens of ServiceAccounts in {namespace}, so it can't "
            "log in by Kubernetes auth",
            ExitStatus.REFUSED,
            f"helm upgrade {operator.workload.release} CHART -n {operator.workload.key.namespace} "
            "--reset-then-reuse-values --set operator.allowServiceAccountTokens=true",
        )


async def _service_reviews(cluster: Cluster, operator_namespace: str) -> bool:
    try:
        found = await find_workloads(cluster.gateway, SERVICE, operator_namespace)
    except ForbiddenError:
        return False
    return any(one.mounts_token for one in found.workloads)


def _decoded(body: JsonObject) -> Mapping[str, str]:
    texts = texts_of(body.get("data"))
    return {key: base64.b64decode(text).decode("utf-8", "replace") for key, text in texts.items()}


def _is_managed(body: JsonObject) -> bool:
    fields = mappings_of(mapping_of(body.get("metadata")).get("managedFields"))
    return any(one.get("manager") == MANAGER for one in fields)
