"""A gateway to objects that a test keeps in its hands."""

from __future__ import annotations

import copy
import itertools
from collections import defaultdict, deque
from collections.abc import AsyncGenerator, Callable, Mapping
from dataclasses import dataclass

from pydantic import JsonValue

from keybearer.kube.errors import (
    AlreadyExistsError,
    ConflictError,
    FieldConflict,
    InvalidError,
    KubeError,
    LeaseLostError,
    NotFoundError,
)
from keybearer.kube.gateway import FIELD_MANAGER, Gateway, Identity, Listed
from keybearer.kube.resources import JsonObject, ObjectKey, Resource
from unit.controllers.fakes.api_model import applied, contested, merge_patched, updated
from unit.controllers.fakes.targets import Body

__all__ = ["FakeGateway", "Write"]


@dataclass(frozen=True)
class Write:
    """One write that was taken, as `create Secret team-a/web`."""

    verb: str
    kind: str
    key: ObjectKey
    manager: str = FIELD_MANAGER

    def __str__(self) -> str:
        return f"{self.verb} {self.kind} {self.key}"


class FakeGateway(Gateway):
    """Objects by kind and name.

    Attributes:
        reads: whole objects that were asked for, as `Secret team-a/web`.
        writes: what was written, in order.
        reviews: what was asked about the access of users; those of `allowed_users` have it.
        own_rights: what we may do, as `create clustertrustbundles`; of `own_reviews`, what was asked of it.
        before: called with the verb and kind of each request before it is carried out; may change objects.
        leads: whether whoever uses it holds the Lease.
        unserved: resources, each in the versions, that the API server doesn't know.
    """

    def __init__(self) -> None:
        self.objects: dict[tuple[str, ObjectKey], Body] = {}
        self.reads: list[str] = []
        self.writes: list[Write] = []
        self.reviews: list[JsonObject] = []
        self.allowed_users: set[str] = set()
        self.own_rights: set[str] = set()
        self.own_reviews: list[str] = []
        self.leads = True
        self.unserved: set[Resource] = set()
        self.before: Callable[[str, str], None] = lambda verb, kind: None  # noqa: ARG005 - takes note of nothing
        self._failures: dict[tuple[str, str], deque[KubeError | None]] = defaultdict(deque)
        self._versions = itertools.count(100)
        self._uids = itertools.count(1)

    def fail(self, verb: str, kind: str, error: KubeError, *, after: int = 0, times: int = 1) -> None:
        """Let the next requests of this verb for this kind fail; `after` of them are answered first."""
        self._failures[verb, kind].extend([None] * after + [error] * times)

    def put(self, body: Mapping[str, JsonValue]) -> Body:
        """Keep an object as if somebody else had written it."""
        whole: Body = copy.deepcopy(dict(body))
        meta = whole["metadata"]
        meta.setdefault("uid", f"uid-{next(self._uids)}")
        meta["resourceVersion"] = str(next(self._versions))
        self.objects[whole["kind"], ObjectKey(meta["namespace"], meta["name"])] = whole
        return whole

    def find(self, kind: str, name: str, namespace: str = "team-a") -> Body | None:
        """Return an object itself, free to be changed."""
        return self.objects.get((kind, ObjectKey(namespace, name)))

    def remove(self, kind: str, name: str, namespace: str = "team-a") -> None:
        """Delete an object as if somebody else had."""
        del self.objects[kind, ObjectKey(namespace, name)]

    def require_lead(self) -> None:
        if not self.leads:
            raise LeaseLostError("another replica leads")

    async def get(
        self, resource: Resource, key: ObjectKey, *, metadata_only: bool = False
    ) -> JsonObject | None:
        self._begin("get", resource)
        if resource in self.unserved:
            return None
        if not metadata_only:
            self.reads.append(f"{resource.kind} {key}")
        body = self.objects.get((resource.kind, key))
        return None if body is None else copy.deepcopy(body)

    async def create(
        self, resource: Resource, key: ObjectKey, body: Mapping[str, JsonValue], *, dry_run: bool = False
    ) -> JsonObject:
        self._begin("try create" if dry_run else "create", resource)
        if (resource.kind, key) in self.objects:
            raise AlreadyExistsError(f"create {resource.kind} {key}: exists already")
        named = copy.deepcopy(dict(body)) | {"kind": resource.kind}
        meta = {"name": key.name, "namespace": key.namespace}
        whole: Body = merge_patched(named, {"metadata": meta})
        if resource.kind == "Secret":
            whole.setdefault("type", "Opaque")
        whole = updated(whole, whole, FIELD_MANAGER)
        return {} if dry_run else self._store("create", resource, key, whole)

    async def apply(
        self,
        resource: Resource,
        key: ObjectKey,
        body: Mapping[str, JsonValue],
        *,
        uid: str | None = None,
        force: bool = True,
        manager: str = FIELD_MANAGER,
    ) -> JsonObject:
        self._begin("apply", resource)
        there = self._demand(f"apply {resource.kind} {key}", resource, key, uid)
        wanted: Body = copy.deepcopy(dict(body))
        taken = [] if force else contested(copy.deepcopy(there), wanted, manager)
        if taken:
            causes = tuple(FieldConflict(*one) for one in taken)
            raise ConflictError(f"apply {resource.kind} {key}: fields that others manage", causes=causes)
        return self._store("apply", resource, key, applied(there, wanted, manager), manager)

    async def apply_status(
        self,
        resource: Resource,
        key: ObjectKey,
        status: Mapping[str, JsonValue],
        *,
        uid: str | None = None,
        force: bool = True,
    ) -> JsonObject:
        del force
        self._begin("apply_status", resource)
        there = self._demand(f"apply status of {resource.kind} {key}", resource, key, uid)
        return self._store("apply_status", resource, key, {**there, "status": copy.deepcopy(dict(status))})

    async def merge_patch(
        self,
        resource: Resource,
        key: ObjectKey,
        patch: Mapping[str, JsonValue],
        *,
        uid: str | None = None,
        resource_version: str | None = None,
        subresource: str = "",
        manager: str = FIELD_MANAGER,
        dry_run: bool = False,
    ) -> JsonObject:
        del manager
        if subresource and set(patch) != {subresource}:
            raise InvalidError(f"patch {subresource} of {resource.kind} {key}: it holds more than that")
        self._begin("merge_patch", resource)
        there = self.objects.get((resource.kind, key))
        if there is None:
            raise NotFoundError(f"patch {resource.kind} {key}: not found")
        there = self._demand(f"patch {resource.kind} {key}", resource, key, uid)
        if resource_version not in (None, there["metadata"]["resourceVersion"]):
            raise ConflictError(f"patch {resource.kind} {key}: the object has changed")
        patched = updated(copy.deepcopy(merge_patched(there, dict(patch))), dict(patch), FIELD_MANAGER)
        if dry_run:
            return {"metadata": copy.deepcopy(patched["metadata"])}
        return self._store("merge_patch", resource, key, patched)

    async def delete(
        self, resource: Resource, key: ObjectKey, *, uid: str, resource_version: str | None = None
    ) -> bool:
        del resource_version
        self._begin("delete", resource)
        if resource in self.unserved or (resource.kind, key) not in self.objects:
            return False
        self._demand(f"delete {resource.kind} {key}", resource, key, uid)
        del self.objects[resource.kind, key]
        self.writes.append(Write("delete", resource.kind, key))
        return True

    async def list(
        self,
        resource: Resource,
        namespace: str | None = None,
        *,
        label_selector: str = "",
        metadata_only: bool = False,
        page_size: int = 500,
        field_selector: str = "",
    ) -> AsyncGenerator[JsonObject, None]:
        del metadata_only, page_size
        self._begin("list", resource)
        name, _, value = label_selector.partition("=")
        for (kind, key), body in list(self.objects.items()):
            labels = body["metadata"].get("labels") or {}
            selected = not label_selector or labels.get(name) == value
            selected = selected and _has_fields(body, field_selector)
            if kind == resource.kind and namespace in (None, key.namespace) and selected:
                yield copy.deepcopy(body)

    async def identities(
        self, resource: Resource, namespace: str | None = None, *, label_selector: str = ""
    ) -> Listed:
        found: dict[ObjectKey, Identity] = {}
        async for body in self.list(resource, namespace, label_selector=label_selector):
            meta = body["metadata"]
            assert isinstance(meta, dict)
            key = ObjectKey(str(meta["namespace"]), str(meta["name"]))
            found[key] = Identity(str(meta["uid"]), str(meta["resourceVersion"]))
        return Listed(str(next(self._versions)), found)

    def restore(self) -> None:
        """Go back to the versions of a backup: what is written from now on has lower ones than before."""
        self._versions = itertools.count(10)

    async def review_access(self, spec: Mapping[str, JsonValue]) -> bool:
        self.reviews.append(copy.deepcopy(dict(spec)))
        return str(spec["user"]) in self.allowed_users

    async def review_own_access(self, attributes: Mapping[str, JsonValue]) -> bool:
        asked = f"{attributes['verb']} {attributes['resource']}"
        self.own_reviews.append(asked)
        failures = self._failures["review", "own"]
        if failures and (failure := failures.popleft()) is not None:
            raise failure
        return asked in self.own_rights

    def _begin(self, verb: str, resource: Resource) -> None:
        failures = self._failures[verb, resource.kind]
        failure = failures.popleft() if failures else None
        if failure is not None:
            raise failure
        self.before(verb, resource.kind)
        if resource in self.unserved and verb not in ("get", "delete"):
            raise NotFoundError(f"{verb} {resource.kind}: {resource.api_version} has none")

    def _demand(self, what: str, resource: Resource, key: ObjectKey, uid: str | None) -> Body:
        body = self.objects.get((resource.kind, key))
        if body is None or (uid is not None and body["metadata"]["uid"] != uid):
            raise ConflictError(f"{what}: the object is another one of the same name, or is gone")
        return body

    def _store(
        self, verb: str, resource: Resource, key: ObjectKey, body: Body, manager: str = FIELD_MANAGER
    ) -> JsonObject:
        self.writes.append(Write(verb, resource.kind, key, manager))
        kept = self.put(body)
        return {"metadata": copy.deepcopy(kept["metadata"])}


def _has_fields(body: Body, selector: str) -> bool:
    """Tell whether fields are as a selector says, with terms such as `status.phase=Running` and `spec.nodeName!=`."""
    for term in filter(None, selector.split(",")):
        path, equals, value = term.partition("=")
        found: object = body
        for name in path.removesuffix("!").split("."):
            found = found.get(name, "") if isinstance(found, dict) else ""
        assert equals
        if (found == value) is path.endswith("!"):
            return False
    return True
