"""The verbs that we use on the API server, over plain dicts.

Every write travels with the field manager `keybearer`, and none is sent before `may_write` has agreed: that
is how a replica that lost its Lease is kept from writing. Writes answer with the object's metadata only, so
the values of a Secret don't travel back.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from urllib.parse import urlencode

import orjson
from pydantic import JsonValue

from keybearer.base.clock import parse_instant
from keybearer.kube.connection import Answer, Connection, Request
from keybearer.kube.errors import AnswerTooLargeError, NotFoundError, UnavailableError
from keybearer.kube.exchange import Exchange
from keybearer.kube.resources import SERVICE_ACCOUNTS, JsonObject, ObjectKey, Resource

__all__ = ["FIELD_MANAGER", "Gateway", "ServiceAccountToken"]

FIELD_MANAGER = "keybearer"

_JSON = "application/json"
_OBJECT_METADATA = "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1"

_READ = {"Accept": _JSON}
_READ_METADATA = {"Accept": _OBJECT_METADATA}
_LIST_METADATA = {"Accept": "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1"}
_APPLY = {"Accept": _OBJECT_METADATA, "Content-Type": "application/apply-patch+yaml"}  # JSON is YAML
_CREATE = {"Accept": _OBJECT_METADATA, "Content-Type": _JSON}
_MERGE = {"Accept": _OBJECT_METADATA, "Content-Type": "application/merge-patch+json"}
_JSON_PATCH = {"Accept": _OBJECT_METADATA, "Content-Type": "application/json-patch+json"}
_POST = {"Accept": _JSON, "Content-Type": _JSON}

_MANAGED = f"?fieldManager={FIELD_MANAGER}"
_PAGE_BYTES = 16 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class ServiceAccountToken:
    """A token of the TokenRequest API."""

    token: str = field(repr=False)
    expires_at: datetime


class Gateway:
    """Reads and writes objects; shared by all tasks.

    Args:
        connection: borrowed; whoever opened it closes it.
        may_write: called right before each write is sent; raises LeaseLostError when it must not be.
        max_in_flight: requests at once; further ones wait in the order they came.
    """

    def __init__(
        self, connection: Connection, *, may_write: Callable[[], None], max_in_flight: int = 64
    ) -> None:
        self._exchange = Exchange(connection, may_write=may_write, max_in_flight=max_in_flight)

    async def get(
        self, resource: Resource, key: ObjectKey, *, metadata_only: bool = False
    ) -> JsonObject | None:
        """Return the object, or None when it (or its namespace, or its whole kind) doesn't exist.

        Raises:
            KubeError: all but NotFoundError.
        """
        request = Request("GET", resource.path(key), _READ_METADATA if metadata_only else _READ)
        try:
            return _object(await self._exchange.ask(f"read {resource.kind} {key}", request))
        except NotFoundError:
            return None

    async def create(self, resource: Resource, key: ObjectKey, body: Mapping[str, JsonValue]) -> JsonObject:
        """Create the object and return its metadata; the only verb that never touches one that exists.

        Args:
            resource: its kind.
            key: its name; written into the body, as are apiVersion and kind.
            body: the rest.

        Raises:
            AlreadyExistsError: there is one of that name.
            KubeError: any other of its kinds; NotFoundError when the namespace doesn't exist.
        """
        target = resource.collection_path(key.namespace) + _MANAGED
        request = Request("POST", target, _CREATE, orjson.dumps(_named(resource, key, body, None)))
        return _object(await self._exchange.write(f"create {resource.kind} {key}", request))

    async def apply(
        self,
        resource: Resource,
        key: ObjectKey,
        body: Mapping[str, JsonValue],
        *,
        uid: str | None = None,
        force: bool = True,
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

        Raises:
            ConflictError: the object has another uid or is gone, or (without force) fields have other owners.
            KubeError: any other of its kinds.
        """
        return await self._apply(resource, key, "", _named(resource, key, body, uid), force=force)

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
        named = _named(resource, key, {"status": dict(status)}, uid)
        return await self._apply(resource, key, "status", named, force=force)

    async def _apply(
        self, resource: Resource, key: ObjectKey, subresource: str, named: JsonObject, *, force: bool
    ) -> JsonObject:
        target = resource.path(key, subresource) + _MANAGED + ("&force=true" if force else "")
        request = Request("PATCH", target, _APPLY, orjson.dumps(named))
        subject = f"apply {subresource}{' of ' if subresource else ''}{resource.kind} {key}"
        return _object(await self._exchange.write(subject, request))

    async def merge_patch(
        self,
        resource: Resource,
        key: ObjectKey,
        patch: Mapping[str, JsonValue],
        *,
        uid: str | None = None,
        resource_version: str | None = None,
    ) -> JsonObject:
        """Patch by RFC 7396 (null removes a key), and return the object's metadata.

        Args:
            resource: its kind.
            key: its name.
            patch: what changes.
            uid: only of that very object.
            resource_version: only while it is in that state.

        Raises:
            NotFoundError: there is none of that name.
            ConflictError: uid or resourceVersion differ.
            KubeError: any other of its kinds.
        """
        guards = {"uid": uid, "resourceVersion": resource_version}
        guarded = _with_metadata(patch, {name: value for name, value in guards.items() if value is not None})
        request = Request("PATCH", resource.path(key) + _MANAGED, _MERGE, orjson.dumps(guarded))
        return _object(await self._exchange.write(f"patch {resource.kind} {key}", request))

    async def json_patch(
        self, resource: Resource, key: ObjectKey, operations: Sequence[Mapping[str, JsonValue]]
    ) -> JsonObject:
        """Patch by RFC 6902, and return the object's metadata.

        Raises:
            NotFoundError: there is none of that name.
            InvalidError: a `test` failed, or a path doesn't exist.
            KubeError: any other of its kinds.
        """
        body = orjson.dumps([dict(operation) for operation in operations])
        request = Request("PATCH", resource.path(key) + _MANAGED, _JSON_PATCH, body)
        return _object(await self._exchange.write(f"patch {resource.kind} {key}", request))

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
        request = Request("DELETE", resource.path(key), _POST, orjson.dumps(options))
        try:
            await self._exchange.write(f"delete {resource.kind} {key}", request)
        except NotFoundError:
            return False
        return True

    async def list(
        self,
        resource: Resource,
        namespace: str | None = None,
        *,
        label_selector: str | None = None,
        metadata_only: bool = False,
        page_size: int = 500,
    ) -> AsyncIterator[JsonObject]:
        """Iterate over the objects of a namespace, or of all, in pages whose bytes are bounded too.

        Raises:
            GoneError: the iteration took longer than the API server keeps its state; begin again.
            KubeError: any other of its kinds.
        """
        query = {"labelSelector": label_selector} if label_selector else {}
        headers = _LIST_METADATA if metadata_only else _READ
        following: str | None = ""
        while following is not None:
            more = {"continue": following} if following else {}
            target = (
                f"{resource.collection_path(namespace)}?{urlencode({**query, **more, 'limit': page_size})}"
            )
            request = Request("GET", target, headers, max_bytes=_PAGE_BYTES)
            try:
                page = _object(await self._exchange.ask(f"list {resource.plural}", request))
            except AnswerTooLargeError:
                if page_size == 1:
                    raise
                page_size //= 2
                continue
            for item in _items(page):
                yield item
            following = _continue(page)

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
        request = Request("POST", SERVICE_ACCOUNTS.path(key, "token"), _POST, orjson.dumps(body))
        answer = _object(await self._exchange.ask(f"request a token of ServiceAccount {key}", request))
        match answer.get("status"):
            case {"token": str(token), "expirationTimestamp": str(expires)}:
                return ServiceAccountToken(token, parse_instant(expires))
            case _:
                pass
        raise UnavailableError(f"request a token of ServiceAccount {key}: the answer holds none")

    async def server_version(self) -> str:
        """Return the API server's version, such as `v1.36.3`.

        Raises:
            KubeError: any of its kinds.
        """
        answer = _object(
            await self._exchange.ask("read the server's version", Request("GET", "/version", _READ))
        )
        return str(answer.get("gitVersion", ""))


def _named(resource: Resource, key: ObjectKey, body: Mapping[str, JsonValue], uid: str | None) -> JsonObject:
    metadata: JsonObject = {"name": key.name}
    if resource.namespaced:
        metadata["namespace"] = key.namespace
    if uid is not None:
        metadata["uid"] = uid
    named = _with_metadata(body, metadata)
    named["apiVersion"] = resource.api_version
    named["kind"] = resource.kind
    return named


def _with_metadata(body: Mapping[str, JsonValue], metadata: Mapping[str, JsonValue]) -> JsonObject:
    given = body.get("metadata")
    return {**body, "metadata": {**(given if isinstance(given, dict) else {}), **metadata}}


def _object(answer: Answer) -> JsonObject:
    try:
        parsed = orjson.loads(answer.body)
    except orjson.JSONDecodeError:
        # Not chained: the decoder's error carries the whole body.
        raise UnavailableError("the API server's answer is no JSON") from None
    if not isinstance(parsed, dict):
        raise UnavailableError("the API server's answer is no object")
    return parsed


def _items(page: JsonObject) -> list[JsonObject]:
    items = page.get("items")
    return [item for item in items if isinstance(item, dict)] if isinstance(items, list) else []


def _continue(page: JsonObject) -> str | None:
    metadata = page.get("metadata")
    token = metadata.get("continue") if isinstance(metadata, dict) else None
    return token if isinstance(token, str) and token else None
