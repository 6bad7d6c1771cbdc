"""The verbs that we use on the API server, over plain dicts.

Every write travels with the field manager `keybearer`, and none is sent before `may_write` has agreed: that
is how a replica that lost its Lease is kept from writing. Writes answer with the object's metadata only, so
the values of a Secret don't travel back.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import lru_cache
from urllib.parse import urlencode

import orjson
from pydantic import JsonValue

from keybearer.base.calls import Call
from keybearer.base.clock import parse_instant
from keybearer.kube.connection import Connection, Request
from keybearer.kube.documents import (
    APPLY,
    MERGE_PATCH,
    METADATA,
    PLAIN,
    POST,
    POST_FOR_METADATA,
    named,
    parse_object,
    with_metadata,
)
from keybearer.kube.errors import NotFoundError, UnavailableError
from keybearer.kube.exchange import Act, Exchange
from keybearer.kube.pages import ListQuery, pages
from keybearer.kube.resources import SERVICE_ACCOUNTS, JsonObject, ObjectKey, Resource

__all__ = ["FIELD_MANAGER", "Gateway", "Identity", "Listed", "ServiceAccountToken"]

FIELD_MANAGER = "keybearer"

_MANAGED = f"?fieldManager={FIELD_MANAGER}"


@dataclass(frozen=True, slots=True)
class ServiceAccountToken:
    """A token of the TokenRequest API."""

    token: str = field(repr=False)
    expires_at: datetime


@dataclass(frozen=True, slots=True)
class Identity:
    """Which object has a name, and in what state it is."""

    uid: str
    resource_version: str


@dataclass(frozen=True, slots=True)
class Listed:
    """All objects of a list, by name, and the state of the cluster that it shows."""

    resource_version: str
    objects: Mapping[ObjectKey, Identity]


class Gateway:
    """Reads and writes objects; shared by all tasks.

    Args:
        connection: borrowed; whoever opened it closes it.
        may_write: called right before each write is sent; raises LeaseLostError when it must not be.
        max_in_flight: requests at once; further ones wait in the order they came.
        timeout_seconds: for one request, without the wait before it.
    """

    def __init__(
        self,
        connection: Connection,
        *,
        may_write: Callable[[], None],
        max_in_flight: int = 64,
        timeout_seconds: float = 10.0,
    ) -> None:
        self._exchange = Exchange(connection, max_in_flight=max_in_flight)
        self._may_write = may_write
        self._timeout_seconds = timeout_seconds

    def admit_writes(self, gate: Callable[[], AbstractAsyncContextManager[None]]) -> None:
        """Enter a context of `gate` around each write from now on; it may make the write wait."""
        self._exchange.admit_write = gate

    def observe(self, on_end: Callable[[bool], None]) -> None:
        """Tell `on_end` of each request from now on whether the API server answered it."""
        self._exchange.on_end = on_end

    def watch_writes(self, watch: Callable[[Act], Call]) -> None:
        """Have each write that is sent from now on begun and ended as a call of `watch`."""
        self._exchange.watch_write = watch

    def require_lead(self) -> None:
        """Let pass whoever may write now: asked before something is ordered elsewhere for an object here.

        Raises:
            LeaseLostError: another replica leads.
        """
        self._may_write()

    async def get(
        self, resource: Resource, key: ObjectKey, *, metadata_only: bool = False
    ) -> JsonObject | None:
        """Return the object, or None when it (or its namespace, or its whole kind) doesn't exist.

        Raises:
            KubeError: all but NotFoundError.
        """
        request = self._request("GET", resource.path(key), METADATA if metadata_only else PLAIN)
        try:
            return parse_object((await self._exchange.ask(f"read {resource.kind} {key}", request)).body)
        except NotFoundError:
            return None

    async def create(
        self, resource: Resource, key: ObjectKey, body: Mapping[str, JsonValue], *, dry_run: bool = False
    ) -> JsonObject:
        """Create the object and return its metadata; the only verb that never touches one that exists.

        Args:
            resource: its kind.
            key: its name; written into the body, as are apiVersion and kind.
            body: the rest.
            dry_run: have everything judged but what only the store refuses, and nothing stored.

        Raises:
            AlreadyExistsError: there is one of that name; whatever else could be refused was accepted.
            KubeError: any other of its kinds; NotFoundError when the namespace doesn't exist.
        """
        target = resource.collection_path(key.namespace) + _MANAGED
        whole = orjson.dumps(named(resource, key, body))
        if dry_run:
            request = self._request("POST", f"{target}&dryRun=All", POST_FOR_METADATA, whole)
            answer = await self._exchange.ask(f"create {resource.kind} {key}", request)
            return parse_object(answer.body)
        request = self._request("POST", target, POST_FOR_METADATA, whole)
        return await self._write(f"create {resource.kind} {key}", request, Act("create", resource.kind))

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
        """Server-side apply, and return the object's metadata.

        Without `uid` it creates what doesn't exist and takes over what does; keys that others added stay
        either way.

        Args:
            resource: its kind.
            key: its name; written into the body, as are apiVersion and kind.
            body: the fields that are to be ours; those of an earlier apply that are missing are removed.
            uid: apply to that very object only.
            force: take over fields that other managers own.
            manager: the field manager; one for each of several owners that merge into one object.

        Raises:
            ConflictError: the object has another uid or is gone, or (without force) fields have other owners.
            KubeError: any other of its kinds.
        """
        target = resource.path(key) + _manager_query(manager, force=force)
        request = self._request("PATCH", target, APPLY, orjson.dumps(named(resource, key, body, uid=uid)))
        return await self._write(f"apply {resource.kind} {key}", request, Act("apply", resource.kind))

    async def apply_status(
        self,
        resource: Resource,
        key: ObjectKey,
        status: Mapping[str, JsonValue],
        *,
        uid: str | None = None,
        force: bool = True,
    ) -> JsonObject:
        """Server-side apply of the field `status` through its subresource; answers and raises as `apply`.

        It never creates: a missing object is a NotFoundError (a ConflictError with `uid`).
        """
        body = named(resource, key, {"status": dict(status)}, uid=uid)
        target = resource.path(key, "status") + _manager_query(FIELD_MANAGER, force=force)
        request = self._request("PATCH", target, APPLY, orjson.dumps(body))
        act = Act("apply", resource.kind, "status")
        return await self._write(f"apply status of {resource.kind} {key}", request, act)

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
        """Patch by RFC 7396 (null removes a key), and return the object's metadata.

        Args:
            resource: its kind.
            key: its name.
            patch: what changes.
            uid: only of that very object.
            resource_version: only while it is in that state.
            subresource: patch this one, such as `status`.
            manager: the field manager.
            dry_run: the API server checks the patch and stores nothing.

        Raises:
            NotFoundError: there is none of that name.
            ConflictError: uid or resourceVersion differ.
            KubeError: any other of its kinds.
        """
        guards = {"uid": uid, "resourceVersion": resource_version}
        guarded = with_metadata(patch, {name: value for name, value in guards.items() if value is not None})
        target = resource.path(key, subresource) + _manager_query(manager, force=False)
        target += "&dryRun=All" if dry_run else ""
        request = self._request("PATCH", target, MERGE_PATCH, orjson.dumps(guarded))
        what = f"{subresource} of {resource.kind}" if subresource else resource.kind
        return await self._write(f"patch {what} {key}", request, Act("patch", resource.kind, subresource))

    async def delete(
        self, resource: Resource, key: ObjectKey, *, uid: str, resource_version: str | None = None
    ) -> bool:
        """Delete that very object, dependents in the background; return False when none has that name.

        Raises:
            ConflictError: the one that has the name is another, or in another state.
            KubeError: any other of its kinds.
        """
        preconditions: JsonObject = {"uid": uid}
        if resource_version is not None:
            preconditions["resourceVersion"] = resource_version
        options: JsonObject = {
            "apiVersion": "v1",
            "kind": "DeleteOptions",
            "preconditions": preconditions,
            "propagationPolicy": "Background",
        }
        request = self._request("DELETE", resource.path(key), POST, orjson.dumps(options))
        try:
            await self._exchange.ask(
                f"delete {resource.kind} {key}",
                request,
                act=Act("delete", resource.kind),
                allow=self._may_write,
            )
        except NotFoundError:
            return False
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
        """Iterate over the objects of a namespace, or of all, in pages whose bytes are bounded too.

        Raises:
            GoneError: the iteration took longer than the API server keeps its state; begin again.
            KubeError: any other of its kinds.
        """
        query = ListQuery(resource, namespace, label_selector, metadata_only, page_size, field_selector)
        async for page in pages(self._exchange, query):
            for item in page.items:
                yield item

    async def identities(
        self, resource: Resource, namespace: str | None = None, *, label_selector: str = ""
    ) -> Listed:
        """Return which objects there are in a namespace, or in all, at one moment; of each, little is held.

        Raises:
            GoneError: it took longer than the API server keeps that moment; begin again.
            KubeError: any other of its kinds.
        """
        version, found = "", dict[ObjectKey, Identity]()
        async for page in pages(
            self._exchange, ListQuery(resource, namespace, label_selector, metadata_only=True)
        ):
            version = page.resource_version
            for item in page.items:
                meta = item.get("metadata")
                if isinstance(meta, dict):
                    key = ObjectKey(str(meta.get("namespace", "")), str(meta.get("name", "")))
                    found[key] = Identity(str(meta.get("uid", "")), str(meta.get("resourceVersion", "")))
        return Listed(version, found)

    async def token_request(
        self, namespace: str, service_account: str, *, audience: str, lifetime: timedelta
    ) -> ServiceAccountToken:
        """Return a fresh token of a ServiceAccount, bound to nothing.

        Args:
            namespace: of the ServiceAccount.
            service_account: its name.
            audience: who is to accept the token.
            lifetime: what we ask for, at least ten minutes; the API server may grant another.

        Raises:
            NotFoundError: there is no such ServiceAccount.
            ForbiddenError: we may not create tokens for it.
            KubeError: any other of its kinds.
        """
        key = ObjectKey(namespace, service_account)
        spec: JsonObject = {"audiences": [audience], "expirationSeconds": int(lifetime.total_seconds())}
        body: JsonObject = {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": spec}
        request = self._request("POST", SERVICE_ACCOUNTS.path(key, "token"), POST, orjson.dumps(body))
        act = Act("create", "ServiceAccount", "token")
        answer = await self._exchange.ask(f"request a token of ServiceAccount {key}", request, act=act)
        match parse_object(answer.body).get("status"):
            case {"token": str(token), "expirationTimestamp": str(expires)}:
                return ServiceAccountToken(token, parse_instant(expires))
            case _:
                pass
        raise UnavailableError(f"request a token of ServiceAccount {key}: the answer holds none")

    async def review_access(self, spec: Mapping[str, JsonValue]) -> bool:
        """Return whether somebody may do something, as the API server's authorizers say.

        Args:
            spec: of a SubjectAccessReview: who, and what.

        Raises:
            ForbiddenError: we may not ask.
            KubeError: any other of its kinds.
        """
        return await self._review("SubjectAccessReview", spec, "review the access of a user")

    async def review_own_access(self, attributes: Mapping[str, JsonValue]) -> bool:
        """Return whether we may do something, as the API server's authorizers say; everybody may ask that.

        Args:
            attributes: the `resourceAttributes` of a SelfSubjectAccessReview: what.

        Raises:
            KubeError: any of its kinds.
        """
        spec: JsonObject = {"resourceAttributes": dict(attributes)}
        return await self._review("SelfSubjectAccessReview", spec, "review our own access")

    async def _review(self, kind: str, spec: Mapping[str, JsonValue], what: str) -> bool:
        body: JsonObject = {"apiVersion": "authorization.k8s.io/v1", "kind": kind, "spec": dict(spec)}
        path = f"/apis/authorization.k8s.io/v1/{kind.lower()}s"
        request = self._request("POST", path, POST, orjson.dumps(body))
        answer = await self._exchange.ask(what, request, act=Act("create", kind))
        match parse_object(answer.body).get("status"):
            case {"allowed": True, **said}:
                return said.get("denied") is not True
            case {"allowed": False}:
                return False
            case _:
                raise UnavailableError(f"{what}: the answer holds no decision")

    async def plurals_beside(self, resource: Resource) -> frozenset[str]:
        """Return the plurals of all that is served in the group and version of a resource.

        Raises:
            KubeError: all but NotFoundError.
        """
        request = self._request("GET", f"/apis/{resource.api_version}", PLAIN)
        try:
            answer = await self._exchange.ask(f"list what {resource.api_version} has", request)
        except NotFoundError:
            return frozenset()
        listed = parse_object(answer.body).get("resources")
        return frozenset(
            str(one.get("name"))
            for one in (listed if isinstance(listed, list) else [])
            if isinstance(one, dict)
        )

    async def server_version(self) -> str:
        """Return the API server's version, such as `v1.36.3`.

        Raises:
            KubeError: any of its kinds.
        """
        answer = await self._exchange.ask(
            "read the server's version", self._request("GET", "/version", PLAIN)
        )
        return str(parse_object(answer.body).get("gitVersion", ""))

    async def _write(self, subject: str, request: Request, act: Act) -> JsonObject:
        answer = await self._exchange.ask(subject, request, act=act, allow=self._may_write)
        return parse_object(answer.body)

    def _request(
        self, method: str, target: str, headers: dict[str, str], body: bytes | None = None
    ) -> Request:
        return Request(method, target, headers, body, timeout_seconds=self._timeout_seconds)


@lru_cache(maxsize=1024)
def _manager_query(manager: str, *, force: bool) -> str:
    return "?" + urlencode({"fieldManager": manager} | ({"force": "true"} if force else {}))
