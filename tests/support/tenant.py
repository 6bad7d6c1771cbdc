"""A tenant of the cluster: a namespace, a project of the service, and an identity that may read it."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from support.secretsync_objects import (
    decoded,
    identity_secret,
    message_of,
    namespace,
    reason_of,
    secret_sync,
    told_of,
)
from tools.local.kube_api import Body, KubeApi
from tools.local.secrets_service import Login, SourceProject
from tools.local.waiting import PATIENCE_SECONDS, eventually

__all__ = ["IDENTITY", "Tenant", "open_tenant"]

IDENTITY = "keybearer-identity"
"""The identity Secret of each tenant."""

_REQUEST = "keybearer.dev/request"
_REQUESTED_AT = "keybearer.dev/requestedAt"


@dataclass(frozen=True)
class Tenant:
    """What one test works with; everything it makes is in the namespace and in the project.

    Attributes:
        api: speaks to the cluster as administrator.
        namespace: of this test alone.
        project: of this test alone.
        login: may read the project; its credentials are in the Secret `IDENTITY`.
    """

    api: KubeApi
    namespace: str
    project: SourceProject
    login: Login
    _serial: itertools.count[int] = field(default_factory=itertools.count)

    def source(self, **changes: object) -> Body:
        """A source in the project: the root of `dev`, but for the changes."""
        return {"projectId": self.project.id, "environment": "dev", **changes}

    def sync(self, name: str, **spec: object) -> str:
        """A SecretSync exists that reads the root of `dev`, but for what the spec says; return its name.

        `identityRef=None` leaves the field out.
        """
        whole: Body = {"identityRef": {"name": IDENTITY}, "refreshInterval": "10s", **spec}
        if "sources" not in whole:
            whole.setdefault("source", self.source())
        given = {key: value for key, value in whole.items() if value is not None}
        self.api.create(secret_sync(self.namespace, name, given))
        return name

    def edit(self, name: str, **spec: object) -> None:
        """The spec of a SecretSync is changed by a merge patch; None removes a field."""
        self.api.patch("SecretSync", self.namespace, name, {"spec": spec})

    def delete(self, name: str) -> None:
        """A SecretSync is being deleted."""
        self.api.delete("SecretSync", self.namespace, name)

    def request(self, name: str, kind: str = "sync") -> str:
        """A person asks by annotation; return the value that the status is to echo."""
        value = f"request-{next(self._serial)}"
        annotations = {_REQUEST: kind, _REQUESTED_AT: value}
        self.api.patch("SecretSync", self.namespace, name, {"metadata": {"annotations": annotations}})
        return value

    def ask(self, name: str, kind: str = "sync") -> Body:
        """A person asks by annotation and gets an answer; return the SecretSync then."""
        value = self.request(name, kind)
        return self.until(
            name,
            lambda sync: sync.get("status", {}).get("lastHandledRequestedAt") == value,
            f"an answer to the request {kind}",
        )

    def get(self, name: str) -> Body:
        """A SecretSync."""
        return self.api.get("SecretSync", self.namespace, name)

    def secret(self, name: str) -> Body | None:
        """A Secret, or None."""
        return self.api.find("Secret", self.namespace, name)

    def data(self, name: str) -> dict[str, str] | None:
        """Keys and texts of a Secret, or None."""
        found = self.secret(name)
        return None if found is None else decoded(found)

    def until(
        self,
        name: str,
        holds: Callable[[Body], bool],
        awaited: str,
        *,
        within: float = PATIENCE_SECONDS,
        kind: str = "SecretSync",
    ) -> Body:
        """Return an object of the kind once the condition holds."""

        def probe() -> Body | None:
            found = self.api.find(kind, self.namespace, name)
            return found if found is not None and holds(found) else None

        return eventually(
            probe,
            awaited=f"{awaited} of {kind} {name}",
            within=within,
            told=lambda: told_of(self.api.find(kind, self.namespace, name)),
        )

    def until_ready(self, name: str, *, within: float = PATIENCE_SECONDS) -> Body:
        """Return a SecretSync once its newest spec is in sync."""
        return self.until_reason(name, "Synced", within=within)

    def until_reason(
        self,
        name: str,
        reason: str,
        *,
        saying: str = "",
        within: float = PATIENCE_SECONDS,
        kind: str = "SecretSync",
    ) -> Body:
        """Return an object of the kind once Ready has this reason, for its newest spec.

        Args:
            name: which.
            reason: the word.
            saying: part of the message.
            within: seconds.
            kind: of the object.
        """
        return self.until(
            name,
            lambda found: (
                reason_of(found) == reason
                and found["status"].get("observedGeneration") == found["metadata"]["generation"]
                and saying in message_of(found)
            ),
            f"the reason {reason}",
            within=within,
            kind=kind,
        )

    def until_updates(self, name: str, updates: str = "Events") -> Body:
        """Return a SecretSync once its status says that changes arrive so.

        A source is read once more when a stream opens that was slow to: who counts readings waits for it.
        """
        return self.until(
            name, lambda sync: sync.get("status", {}).get("updates") == updates, f"updates by {updates}"
        )

    def until_data(self, name: str, expected: Mapping[str, str], *, within: float = PATIENCE_SECONDS) -> Body:
        """Return a Secret once it holds these keys and texts and nothing else."""

        def probe() -> Body | None:
            found = self.secret(name)
            return found if found is not None and decoded(found) == expected else None

        return eventually(
            probe,
            awaited=f"the expected data in Secret {name}",
            within=within,
            told=lambda: _difference(self.data(name), expected),
        )

    def until_gone(self, kind: str, name: str, *, within: float = PATIENCE_SECONDS) -> None:
        """The object is not there any more."""
        eventually(
            lambda: self.api.find(kind, self.namespace, name) is None,
            awaited=f"an end of {kind} {name}",
            within=within,
        )


def open_tenant(
    api: KubeApi,
    name: str,
    project: SourceProject,
    login: Login,
    *,
    url: str | None = None,
    labels: Mapping[str, str] | None = None,
) -> Tenant:
    """Return a tenant whose identity Secret is new, as its namespace may be; `url` goes into that Secret."""
    if api.find("Namespace", "", name) is None:
        api.create(namespace(name, labels))
    held = login.as_secret() | ({"url": url} if url is not None else {})
    api.create(identity_secret(name, IDENTITY, held))
    return Tenant(api, name, project, login)


def _difference(found: Mapping[str, str] | None, expected: Mapping[str, str]) -> str:
    """Names of keys only: values are no business of a report."""
    if found is None:
        return "there is no such Secret"
    missing, surplus = expected.keys() - found.keys(), found.keys() - expected.keys()
    other = [key for key in expected.keys() & found.keys() if expected[key] != found[key]]
    return f"missing {sorted(missing)}, surplus {sorted(surplus)}, other values {sorted(other)}"
