"""What a scenario works with: a namespace and projects of the service, under names that no other run has."""

from __future__ import annotations

import asyncio
import base64
import itertools
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any, TypeVar

import orjson

from tools.bench.errors import NotInTimeError, RefusedError
from tools.bench.kube import MERGE_PATCH, KubeApi
from tools.bench.service import Admin
from tools.explore.lane import IDENTITY, Place
from tools.explore.mirror import COLLECTIONS, Mirror
from tools.explore.moments import Naming
from tools.explore.post import Post
from tools.explore.state import flat
from tools.local.kube_api import Body
from tools.local.parameter_store import ParameterStoreServer

__all__ = ["CONNECTION", "PATIENCE_SECONDS", "REFUSED_KEY", "Scene"]

T = TypeVar("T")

PATIENCE_SECONDS = 90.0
"""For each step of a run: longer than a request that is held up, a list, and the attempts after it."""
CONNECTION = "store"
"""The AppConnection of scenarios that push."""
REFUSED_KEY = "REFUSED"
"""A new Secret with this key is refused by an admission policy."""
_OF_SYNC = ("name", "destination", "isAutoSyncEnabled", "syncStatus", "destinationConfig", "syncOptions")
_OF_CONNECTION = ("name", "app", "method")
_OF_PROFILE = ("slug", "enrollmentType", "issuerType")
_QUIET_SECONDS = 0.7
_POLL_SECONDS = 0.2
_PKI = "/api/v1/cert-manager"


@dataclass(slots=True)
class Scene:
    """One run's surroundings.

    Attributes:
        api: to the cluster, as administrator.
        admin: of the service.
        store: what is pushed to.
        project_id: of the run's secrets.
        policy_id: of the policy `web`.
        authority_ids: of the run's authorities, by name.
    """

    place: Place
    naming: Naming
    post: Post
    mirror: Mirror
    api: KubeApi
    admin: Admin
    store: ParameterStoreServer
    project_id: str = ""
    policy_id: str = ""
    authority_ids: dict[str, str] = field(default_factory=dict)
    _serial: itertools.count[int] = field(default_factory=itertools.count)

    @property
    def namespace(self) -> str:
        """Return where the run takes place."""
        return self.place.namespace

    # The service

    async def open(self) -> None:
        """The run has a project, in which its identity is a member."""
        slug = self.naming.name("explore")
        made = await self.admin.ask("POST", "/api/v1/projects", {"projectName": slug, "slug": slug})
        self.project_id = made["project"]["id"]
        path = f"/api/v1/projects/{self.project_id}/memberships/identities/{self.place.identity_id}"
        await self.admin.ask("POST", path, {"roles": [{"role": "admin"}]})

    async def close(self) -> None:
        """The project is gone."""
        await self.admin.ask("DELETE", f"/api/v1/projects/{self.project_id}")

    async def store_values(self, **values: str) -> None:
        """The source holds these, and what it held before."""
        items = [{"secretKey": key, "secretValue": value} for key, value in values.items()]
        await self._batch("PATCH", items, mode="upsert")

    async def remove_values(self, *keys: str) -> None:
        """The source has none of these any more."""
        await self._batch("DELETE", [{"secretKey": key} for key in keys])

    async def _batch(self, method: str, items: Sequence[Mapping[str, str]], **more: str) -> None:
        where = {"projectId": self.project_id, "environment": "dev", "secretPath": "/"}
        await self.admin.ask(method, "/api/v4/secrets/batch", {**where, "secrets": list(items), **more})

    async def open_authorities(self) -> None:
        """The project has a root, an authority under it and a policy."""
        ends = datetime.now(UTC) + timedelta(days=3650)
        await self._authority("root", {"type": "root", "maxPathLength": 1, "notAfter": _instant(ends)})
        await self.new_authority("issuing")
        policy: Body = {"name": "web", "projectId": self.project_id}
        made = await self.admin.ask("POST", f"{_PKI}/certificate-policies", policy)
        self.policy_id = made["certificatePolicy"]["id"]

    async def new_authority(self, name: str) -> None:
        """There is one more authority under the root."""
        await self._authority(name, {"type": "intermediate", "maxPathLength": 0})
        ends = datetime.now(UTC) + timedelta(days=3600)
        signed = {
            "notAfter": _instant(ends),
            "parentCaId": self.authority_ids["root"],
            "maxPathLength": 0,
        }
        path = f"{_PKI}/ca/internal/{self.authority_ids[name]}/certificate"
        await self.admin.ask("POST", path, signed)

    async def _authority(self, name: str, configuration: Mapping[str, object]) -> None:
        body = {
            "name": name,
            "status": "active",
            "projectId": self.project_id,
            "configuration": {"commonName": name, "keyAlgorithm": "EC_prime256v1", **configuration},
        }
        made = await self.admin.ask("POST", f"{_PKI}/ca/internal", body)
        self.authority_ids[name] = made["id"]

    async def service_state(self) -> dict[str, str]:
        """Return what the service and the store hold for this run, as far as two runs can be the same."""
        of = f"?projectId={self.project_id}"
        syncs = (await self.admin.ask("GET", f"/api/v1/secret-syncs{of}"))["secretSyncs"]
        connections = (await self.admin.ask("GET", f"/api/v1/app-connections{of}"))["appConnections"]
        profiles = (await self.admin.ask("GET", f"{_PKI}/certificate-profiles{of}"))["certificateProfiles"]
        told: dict[str, Any] = {
            "syncs": [_chosen(one, _OF_SYNC) for one in syncs],
            "connections": [_chosen(one, _OF_CONNECTION) for one in connections],
            "profiles": [_chosen(one, _OF_PROFILE) for one in profiles],
            # Sorted, for they may have come at the same time.
            "requests": sorted(
                f"{one['status']} {one.get('commonName')}, {(one.get('certificate') or {}).get('status')}"
                for one in await self.certificate_requests()
            ),
            "store": {path: self.store.below(self.store_path(path)) for path in ("one", "other")},
        }
        return flat(told, "service", self.naming)

    async def given_profile(self, slug: str, authority: str) -> None:
        """The service has a profile of this slug that its people made, and no other of that slug."""
        of = f"?projectId={self.project_id}"
        for one in (await self.admin.ask("GET", f"{_PKI}/certificate-profiles{of}"))["certificateProfiles"]:
            if one["slug"] == self.naming.name(slug):
                await self.admin.ask("DELETE", f"{_PKI}/certificate-profiles/{one['id']}")
        body = {
            "projectId": self.project_id,
            "slug": self.naming.name(slug),
            "certificatePolicyId": self.policy_id,
            "caId": self.authority_ids[authority],
        }
        await self.admin.ask("POST", f"{_PKI}/certificate-profiles", body)

    async def certificate_requests(self) -> list[Body]:
        """Return what was asked of the project's authorities."""
        body = {"projectId": self.project_id, "limit": 100}
        answer = await self.admin.ask("POST", f"{_PKI}/certificates/certificate-requests/search", body)
        return list(answer["certificateRequests"])

    # The cluster

    def source(self) -> Body:
        """Return what a SecretSync reads."""
        return {"projectId": self.project_id, "environment": "dev"}

    async def sync(self, stem: str, **spec: object) -> None:
        """A SecretSync exists that reads the project, but for what the spec says; None leaves a field out."""
        whole: Body = {
            "identityRef": {"name": IDENTITY},
            "refreshInterval": "10s",
            "source": self.source(),
            **spec,
        }
        await self.create("SecretSync", stem, whole)

    async def connection(self) -> None:
        """An AppConnection to the store exists, and the Secret with its credentials."""
        data = {"accessKeyId": "AKIA0000000000000000", "secretAccessKey": "cnry-key"}
        await self.secret("store-login", data)

        def kept(key: str) -> Body:
            return {"valueFrom": {"secretKeyRef": {"name": self.naming.name("store-login"), "key": key}}}

        spec = {
            "identityRef": {"name": IDENTITY},
            "projectId": self.project_id,
            "app": "cloud",
            "method": "access-key",
            "credentials": {key: kept(key) for key in data},
        }
        await self.create("AppConnection", CONNECTION, spec)

    def push_spec(self, path: str = "one") -> Body:
        """Return what a SecretSync says that pushes to a path of the store."""
        return {
            "destination": "cloud-parameter-store",
            "connectionRef": {"name": self.naming.name(CONNECTION)},
            "destinationConfig": {"region": "eu-west-1", "path": self.store_path(path)},
        }

    def store_path(self, path: str) -> str:
        """Return where this run's secrets are at the store."""
        return f"/{self.naming.name('run')}/{path}/"

    async def profile(self, stem: str, *certificates: Body, **spec: object) -> None:
        """A CertificateProfile exists, but for what the spec says."""
        whole: Body = {
            "identityRef": {"name": IDENTITY},
            "projectId": self.project_id,
            "slug": self.naming.name(stem),
            "policyRef": {"name": "web"},
            "caRef": {"name": "issuing"},
            "certificates": list(certificates),
            **spec,
        }
        await self.create("CertificateProfile", stem, whole)

    def certificate(self, stem: str, **fields: object) -> Body:
        """Return a certificate of a profile, for a host of that name."""
        host = f"{stem}.example.com"
        attributes = {"commonName": host, "altNames": [{"value": host}], "ttl": "30d"}
        key = {"algorithm": "EC_prime256v1", "rotationPolicy": "Always"}
        return {"name": self.naming.name(stem), "attributes": attributes, "privateKey": key, **fields}

    async def secret(self, stem: str, data: Mapping[str, str], **metadata: object) -> None:
        """A Secret of somebody else exists."""
        body = {"metadata": {"name": self.naming.name(stem), **metadata}, "stringData": dict(data)}
        await self.api.send("POST", self._path("Secret"), body)

    async def create(self, kind: str, stem: str, spec: Mapping[str, object]) -> None:
        """A custom resource exists; None leaves a field out."""
        body = {
            "apiVersion": "keybearer.dev/v1alpha1",
            "kind": kind,
            "metadata": {"name": self.naming.name(stem)},
            "spec": {key: value for key, value in spec.items() if value is not None},
        }
        await self.api.send("POST", self._path(kind), body)

    async def patch(self, kind: str, stem: str, body: Mapping[str, object]) -> int:
        """The object is changed by a merge patch; return its resourceVersion by that."""
        path, content = self._path(kind, stem), orjson.dumps(body)
        answer = await self.api.send("PATCH", path, content, content_type=MERGE_PATCH)
        return int(orjson.loads(answer)["metadata"]["resourceVersion"])

    async def edit(self, stem: str, kind: str = "SecretSync", **spec: object) -> None:
        """The spec is changed by a merge patch; None removes a field."""
        await self.patch(kind, stem, {"spec": spec})

    async def replace_spec(self, kind: str, stem: str, spec: Mapping[str, object]) -> None:
        """The object has this spec, and no field more."""
        patch = [{"op": "replace", "path": "/spec", "value": spec}]
        path, content = self._path(kind, stem), orjson.dumps(patch)
        await self.api.send("PATCH", path, content, content_type="application/json-patch+json")

    async def until_version(self, stem: str, version: int, kind: str) -> None:
        """The object was seen as it was by this resourceVersion, or later: what was done may be undone already."""
        await self.until(
            stem, lambda found: int(found["metadata"]["resourceVersion"]) >= version, "the change", kind=kind
        )

    async def until_looked_at(self, stem: str, kind: str) -> None:
        """The operator has told in the status what it makes of the newest spec."""

        def holds(found: Body) -> bool:
            return bool(found.get("status", {}).get("observedGeneration") == found["metadata"]["generation"])

        await self.until(stem, holds, "a look at the newest spec", kind=kind)

    async def ask(self, stem: str, request: str, kind: str = "SecretSync") -> None:
        """A person asks by annotation, and is answered."""
        value = f"request-{next(self._serial)}"
        annotations = {"keybearer.dev/request": request, "keybearer.dev/requestedAt": value}
        await self.patch(kind, stem, {"metadata": {"annotations": annotations}})
        await self.until(
            stem,
            lambda found: found.get("status", {}).get("lastHandledRequestedAt") == value,
            f"an answer to {request}",
            kind=kind,
        )

    async def delete(self, kind: str, stem: str) -> None:
        """The object is being deleted; it may be gone already."""
        await self.delete_named(kind, self.naming.name(stem))

    async def delete_named(self, kind: str, name: str) -> None:
        """The object of this very name is being deleted; it may be gone already."""
        try:
            await self.api.send("DELETE", f"{self._path(kind)}/{name}")
        except RefusedError as error:
            if error.status != 404:
                raise

    @staticmethod
    def ready(body: Body) -> Body:
        """Return the condition Ready; empty before the first status."""
        return _ready(body)

    def find(self, kind: str, stem: str) -> Body | None:
        """Return an object, or None."""
        return self.mirror.find(kind, self.namespace, self.naming.name(stem))

    async def until(
        self, stem: str, holds: Callable[[Body], bool], awaited: str, *, kind: str = "SecretSync"
    ) -> Body:
        """Return an object once this holds for it."""

        def probe() -> Body | None:
            found = self.find(kind, stem)
            return found if found is not None and holds(found) else None

        try:
            return await self.mirror.until(
                self.namespace, probe, f"{awaited} of {kind} {stem}", PATIENCE_SECONDS
            )
        except NotInTimeError as error:
            error.add_note(_told(self.find(kind, stem)))
            raise

    async def until_reason(self, stem: str, *reasons: str, kind: str = "SecretSync") -> Body:
        """Return an object once Ready has one of these reasons, for its newest spec."""

        def holds(found: Body) -> bool:
            status = found.get("status", {})
            is_current = status.get("observedGeneration") == found["metadata"]["generation"]
            return is_current and _ready(found).get("reason") in reasons

        return await self.until(stem, holds, f"the reason {' or '.join(reasons)}", kind=kind)

    async def until_ready(self, stem: str, kind: str = "SecretSync") -> Body:
        """Return an object once its newest spec is Ready."""

        def holds(found: Body) -> bool:
            status = found.get("status", {})
            is_current = status.get("observedGeneration") == found["metadata"]["generation"]
            return is_current and _ready(found).get("status") == "True"

        return await self.until(stem, holds, "Ready", kind=kind)

    @staticmethod
    def encoded(**data: str) -> dict[str, str]:
        """Return texts as a Secret holds them."""
        return {key: base64.b64encode(text.encode()).decode() for key, text in data.items()}

    async def until_data(self, stem: str, **data: str) -> None:
        """The Secret holds this and nothing else."""
        wanted = self.encoded(**data)
        await self.until(stem, lambda found: found.get("data", {}) == wanted, "the data", kind="Secret")

    async def until_gone(self, kind: str, stem: str) -> None:
        """The object is not there any more."""
        await self.mirror.until(
            self.namespace,
            lambda: self.find(kind, stem) is None,
            f"an end of {kind} {stem}",
            PATIENCE_SECONDS,
        )

    async def until_pushed(self, path: str = "one", **values: str) -> None:
        """The store holds this at the path, and nothing else."""
        where = self.store_path(path)
        await self.until_asked(lambda: self.store.below(where) == values, f"the values at the store's {path}")

    async def until_asked(self, probe: Callable[[], bool], awaited: str) -> None:
        """The probe, of something that no watch tells of, answers yes."""
        deadline = time.monotonic() + PATIENCE_SECONDS
        while not probe():
            if time.monotonic() > deadline:
                raise NotInTimeError(awaited, PATIENCE_SECONDS, [self.namespace])
            await asyncio.sleep(_POLL_SECONDS)

    async def until_quiet(self, seconds: float = _QUIET_SECONDS) -> None:
        """Nothing was written for this run for a while."""
        while True:
            rest = seconds - self.post.quiet_seconds()
            if rest <= 0:
                return
            await asyncio.sleep(min(rest, _POLL_SECONDS))

    def _path(self, kind: str, stem: str = "") -> str:
        collection = COLLECTIONS[kind]
        version, _, plural = collection.rpartition("/")
        name = f"/{self.naming.name(stem)}" if stem else ""
        return f"{version}/namespaces/{self.namespace}/{plural}{name}"


def _ready(body: Body) -> dict[str, Any]:
    conditions = body.get("status", {}).get("conditions", [])
    return next((one for one in conditions if one["type"] == "Ready"), {})


def _told(body: Body | None) -> str:
    if body is None:
        return "it is not there"
    ready = _ready(body)
    return (
        f"generation {body['metadata'].get('generation')}, observed "
        f"{body.get('status', {}).get('observedGeneration')}, Ready {ready.get('reason')}: {ready.get('message')}"
    )


def _chosen(body: Body, names: Sequence[str]) -> Body:
    return {name: body.get(name) for name in names}


def _instant(at: datetime) -> str:
    return at.strftime("%Y-%m-%dT%H:%M:%SZ")
