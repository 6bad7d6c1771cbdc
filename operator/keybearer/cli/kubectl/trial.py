"""Tries a manifest at the API server without storing it, and looks at what is beside it."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from pydantic import ValidationError

from keybearer.base.json_reading import mapping_of, text_of
from keybearer.cli.failures import CommandError, ExitStatus, misused
from keybearer.cli.kubectl.cluster import Cluster
from keybearer.cli.kubectl.foreseen import foresee, read_spec, secrets_needed, targets_named
from keybearer.cli.kubectl.foresight import Around
from keybearer.cli.kubectl.steps import Action, Step
from keybearer.controllers.custom_resource import describe_invalid
from keybearer.controllers.kinds import RESOURCES
from keybearer.controllers.target.desired import OWNER_LABEL
from keybearer.controllers.target.observed import owner_of_another_kind
from keybearer.kube.dry_run import dry_run_apply
from keybearer.kube.errors import (
    ConflictError,
    FieldConflict,
    ForbiddenError,
    InvalidError,
    NotFoundError,
)
from keybearer.kube.resources import CONFIG_MAPS, SECRETS, JsonObject, ObjectKey, Resource

__all__ = ["taken_from_others", "try_manifest"]

_KUBECTL = "kubectl"
_CLIENT_SIDE = "kubectl-client-side-apply"
"""What `kubectl apply` manages; `kubectl apply --server-side` takes its fields over without being asked."""

_WRITTEN = {"Secret": SECRETS, "ConfigMap": CONFIG_MAPS}


async def try_manifest(
    cluster: Cluster, manifest: JsonObject, *, manager: str, beside: Collection[str], refused: str
) -> list[Step]:
    """Return what would be done if the manifest were applied.

    Args:
        cluster: where.
        manifest: of a kind of ours.
        manager: the field manager that would apply it.
        beside: names of Secrets that are made together with it.
        refused: how the detail of a refusal by the API server begins.

    Raises:
        CommandError: the manifest has no name.
        KubeError: the API server can't be asked, or doesn't let us try.
    """
    meta = mapping_of(manifest.get("metadata"))
    resource = RESOURCES[text_of(manifest.get("kind"))]
    key = ObjectKey(text_of(meta.get("namespace")) or cluster.namespace, text_of(meta.get("name")))
    if not key.name:
        raise misused(f"a {resource.kind} of the manifests has no metadata.name")
    steps: list[Step] = []
    before = await cluster.gateway.get(resource, key)
    wanted = {name: part for name, part in manifest.items() if name != "status"}
    try:
        after, taken = await _tried(cluster, resource, key, wanted, manager)
    except InvalidError as error:
        return [Step(f"{resource.kind} {key}", Action.REFUSE, refused + _why(manifest, error))]
    except NotFoundError as error:
        told = f"namespace {key.namespace} or the kind {resource.kind} doesn't exist"
        raise CommandError(told, ExitStatus.NOT_FOUND) from error
    for cause in taken_from_others(taken, manager):
        told = f"{cause.field} is managed by {cause.manager}: an apply needs --force-conflicts"
        steps.append(Step(f"{resource.kind} {key}", Action.CONFLICT, told))
    after["kind"] = resource.kind
    try:
        spec = read_spec(after)
    except ValidationError as error:
        return [Step(f"{resource.kind} {key}", Action.REFUSE, f"SpecInvalid: {describe_invalid(error)}")]
    needed = [name for name in secrets_needed(spec) if name not in beside]
    around = await _around(cluster, key.namespace, targets_named(key.name, spec), needed)
    return [*steps, *foresee(before, after, spec, around)]


def taken_from_others(taken: Iterable[FieldConflict], manager: str) -> tuple[FieldConflict, ...]:
    """Return the fields whose taking has to be forced.

    Args:
        taken: fields that other managers own.
        manager: who would apply.
    """
    own = {manager, *([_CLIENT_SIDE] if manager == _KUBECTL else [])}
    return tuple(cause for cause in taken if cause.manager not in own)


async def _tried(
    cluster: Cluster, resource: Resource, key: ObjectKey, wanted: JsonObject, manager: str
) -> tuple[JsonObject, tuple[FieldConflict, ...]]:
    """Return what would be stored, and the fields that would have to be taken from other managers for that."""
    try:
        return await dry_run_apply(
            cluster.connection, resource, key, wanted, manager=manager, force=False
        ), ()
    except ConflictError as conflict:
        taken = conflict.causes
    after = await dry_run_apply(cluster.connection, resource, key, wanted, manager=manager, force=True)
    return after, taken


def _why(manifest: JsonObject, error: InvalidError) -> str:
    """Say what is wrong with a spec as our models see it, which never quotes it; else which fields were refused."""
    try:
        read_spec(manifest)
    except ValidationError as invalid:
        return describe_invalid(invalid)
    return str(error).partition(": ")[2]


async def _around(
    cluster: Cluster, namespace: str, targets: Iterable[tuple[str, str]], needed: Iterable[str]
) -> Around:
    """Look at what is there: at its metadata alone, which hold no values."""
    owners: dict[tuple[str, str], str] = {}
    controllers: dict[tuple[str, str], str] = {}
    unknown: set[tuple[str, str]] = set()
    missing: set[str] = set()
    for kind, name in targets:
        try:
            found = await cluster.gateway.get(_WRITTEN[kind], ObjectKey(namespace, name), metadata_only=True)
        except ForbiddenError:
            unknown.add((kind, name))
            continue
        if found is not None:
            meta = mapping_of(found.get("metadata"))
            owners[kind, name] = text_of(mapping_of(meta.get("labels")).get(OWNER_LABEL))
            another = owner_of_another_kind(meta)
            if another is not None:
                controllers[kind, name] = another
    for name in needed:
        try:
            there = await cluster.gateway.get(SECRETS, ObjectKey(namespace, name), metadata_only=True)
        except ForbiddenError:
            continue  # whether it is there is not ours to know; the operator will say
        if there is None:
            missing.add(name)
    return Around(owners, frozenset(unknown), frozenset(missing), controllers)
