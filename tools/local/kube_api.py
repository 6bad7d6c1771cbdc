"""The API server: JSON over HTTPS as administrator, a few milliseconds a request."""

from __future__ import annotations

import base64
import json
import ssl
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Self, TypeAlias

import httpx
import yaml

from keybearer.kube.resources import (
    APP_CONNECTIONS,
    CERTIFICATE_PROFILES,
    CERTIFICATE_REQUESTS,
    CERTIFICATE_SIGNING_REQUESTS,
    CLUSTER_TRUST_BUNDLES,
    CONFIG_MAPS,
    DEPLOYMENTS,
    EVENTS,
    LEASES,
    NAMESPACES,
    POD_CERTIFICATE_REQUESTS,
    PODS,
    SECRET_SYNCS,
    SECRETS,
    ObjectKey,
    Resource,
)
from tools.local.waiting import PATIENCE_SECONDS, eventually

__all__ = ["Body", "KubeApi", "RefusedError"]

Body: TypeAlias = dict[str, Any]
"""An object as its JSON says it."""

_RESOURCES = {
    resource.kind: resource
    for resource in (
        APP_CONNECTIONS,
        CERTIFICATE_PROFILES,
        CERTIFICATE_REQUESTS,
        CERTIFICATE_SIGNING_REQUESTS,
        CLUSTER_TRUST_BUNDLES,
        CONFIG_MAPS,
        DEPLOYMENTS,
        EVENTS,
        LEASES,
        NAMESPACES,
        POD_CERTIFICATE_REQUESTS,
        PODS,
        SECRETS,
        SECRET_SYNCS,
    )
}


class RefusedError(Exception):
    """The API server refused; the text is its message."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status


class KubeApi:
    """A client with the rights of a kubeconfig; kinds are named as in manifests.

    Args:
        kubeconfig: one cluster, one user with a client certificate or a token, everything inside the file.
    """

    def __init__(self, kubeconfig: Path) -> None:
        document = yaml.safe_load(kubeconfig.read_text())
        cluster, user = document["clusters"][0]["cluster"], document["users"][0]["user"]
        trust = ssl.create_default_context(
            cadata=base64.b64decode(cluster["certificate-authority-data"]).decode()
        )
        headers = {}
        if "token" in user:
            headers["Authorization"] = f"Bearer {user['token']}"
        else:
            _load_client_certificate(trust, user)
        self._http = httpx.Client(
            base_url=cluster["server"], verify=trust, headers=headers, timeout=PATIENCE_SECONDS
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """No connection is left."""
        self._http.close()

    def find(self, kind: str, namespace: str, name: str) -> Body | None:
        """The object, or None."""
        answer = self._http.get(self._resource(kind).path(ObjectKey(namespace, name)))
        return None if answer.status_code == 404 else _object(answer)

    def get(self, kind: str, namespace: str, name: str) -> Body:
        """The object; RefusedError when there is none."""
        return _object(self._http.get(self._resource(kind).path(ObjectKey(namespace, name))))

    def list(self, kind: str, namespace: str | None = None) -> list[Body]:
        """All objects of a namespace, or of the cluster."""
        listed = _object(self._http.get(self._resource(kind).collection_path(namespace)))
        return [dict(item) for item in listed["items"]]

    def create(self, manifest: Mapping[str, Any], *, dry_run: bool = False) -> Body:
        """Post it; RefusedError for what the API server doesn't take. A dry run checks it and keeps nothing."""
        namespace = manifest["metadata"].get("namespace")
        path = _as_written(manifest).collection_path(namespace)
        params = {"fieldValidation": "Strict", **({"dryRun": "All"} if dry_run else {})}
        return _object(self._http.post(path, json=dict(manifest), params=params))

    def create_namespace(self, name: str, labels: Mapping[str, str] | None = None) -> None:
        """A Namespace is there that is new, with its ServiceAccount; one of that name that is going is waited for.

        For what lives as long as a module: pytest-xdist may take that up a second time in the same process.
        """
        manifest = {
            "apiVersion": "v1",
            "kind": "Namespace",
            "metadata": {"name": name, "labels": labels or {}},
        }

        def made() -> bool:
            try:
                self.create(manifest)
            except RefusedError as refusal:
                found = self.find("Namespace", "", name)
                is_going = found is None or found["status"]["phase"] == "Terminating"
                if refusal.status != 409 or not is_going:
                    raise
                return False
            return True

        def furnished() -> bool:
            account = f"/api/v1/namespaces/{name}/serviceaccounts/default"
            return self._http.get(account).status_code == 200

        eventually(made, awaited=f"an end of the Namespace {name} of before")
        eventually(furnished, awaited=f"the ServiceAccount of the Namespace {name}")

    def patch(
        self, kind: str, namespace: str, name: str, patch: Mapping[str, Any], *, subresource: str = ""
    ) -> Body:
        """Merge the patch into the object (RFC 7386)."""
        return _object(
            self._http.patch(
                self._resource(kind).path(ObjectKey(namespace, name), subresource),
                content=json.dumps(dict(patch)),
                headers={"Content-Type": "application/merge-patch+json"},
                params={"fieldValidation": "Strict"},
            )
        )

    def json_patch(
        self, kind: str, namespace: str, name: str, operations: Sequence[Mapping[str, Any]]
    ) -> Body:
        """Change the object by these operations (RFC 6902)."""
        return _object(
            self._http.patch(
                self._resource(kind).path(ObjectKey(namespace, name)),
                content=json.dumps(list(operations)),
                headers={"Content-Type": "application/json-patch+json"},
                params={"fieldValidation": "Strict"},
            )
        )

    def send(self, method: str, path: str, body: Mapping[str, Any] | None = None) -> Body:
        """The answer to a request of any kind; a body of PATCH is merged into the object (RFC 7386)."""
        kind = "application/merge-patch+json" if method == "PATCH" else "application/json"
        content = None if body is None else json.dumps(dict(body))
        return _object(self._http.request(method, path, content=content, headers={"Content-Type": kind}))

    def history(self, kind: str, namespace: str, since: str) -> Sequence[tuple[str, str]]:
        """What happened to the objects of a namespace since a resourceVersion: ADDED and so on, and the name."""
        return [(what, one["metadata"]["name"]) for what, one in self.events(kind, namespace, since)]

    def events(self, kind: str, namespace: str, since: str) -> Sequence[tuple[str, Body]]:
        """What happened to the objects of a namespace since a resourceVersion: ADDED and so on, and the object then.

        Of a kind without a spec: one more object is made, which shows when all that was before it has come.
        """
        resource, last = self._resource(kind), f"end-of-history-{since}"
        self.create(
            {
                "apiVersion": resource.api_version,
                "kind": kind,
                "metadata": {"namespace": namespace, "name": last},
            }
        )
        found: list[tuple[str, Body]] = []
        query = {"watch": "1", "resourceVersion": since}
        with self._http.stream("GET", resource.collection_path(namespace), params=query) as answer:
            for event in map(json.loads, answer.iter_lines()):
                if event["object"]["metadata"]["name"] == last:
                    break
                found.append((event["type"], event["object"]))
        return found

    def version(self, kind: str, namespace: str) -> str:
        """The resourceVersion of what a list of the namespace shows now."""
        listed = _object(self._http.get(self._resource(kind).collection_path(namespace)))
        return str(listed["metadata"]["resourceVersion"])

    def delete(self, kind: str, namespace: str, name: str) -> None:
        """Delete it, without waiting for finalizers; nothing happens where it is gone already."""
        answer = self._http.delete(self._resource(kind).path(ObjectKey(namespace, name)))
        if answer.status_code != 404:
            _object(answer)

    def delete_all(self, kind: str, namespace: str) -> None:
        """Delete all objects of a namespace, without waiting for finalizers."""
        _object(self._http.delete(self._resource(kind).collection_path(namespace)))

    def _resource(self, kind: str) -> Resource:
        """In the version that is served; of several in the one that the operator prefers."""
        *preferred, last = _RESOURCES[kind].versions
        return next((one for one in preferred if self._serves(one)), last)

    def _serves(self, resource: Resource) -> bool:
        found = self._http.get(f"/apis/{resource.api_version}").json()
        return any(one["name"] == resource.plural for one in found.get("resources", ()))


def _as_written(manifest: Mapping[str, Any]) -> Resource:
    preferred = _RESOURCES[manifest["kind"]]
    named = (one for one in preferred.versions if one.api_version == manifest.get("apiVersion"))
    return next(named, preferred)


def _object(answer: httpx.Response) -> Body:
    parsed: Body = answer.json()
    if answer.is_error:
        raise RefusedError(answer.status_code, str(parsed.get("message")))
    return parsed


def _load_client_certificate(trust: ssl.SSLContext, user: Mapping[str, str]) -> None:
    # The ssl module takes a certificate from files only.
    with tempfile.NamedTemporaryFile() as file:
        for part in ("client-certificate-data", "client-key-data"):
            file.write(base64.b64decode(user[part]))
        file.flush()
        trust.load_cert_chain(file.name)
