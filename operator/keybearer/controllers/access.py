"""From a custom resource to a session with the service: identity Secret, or the shared identity, or a refusal."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Callable, Mapping
from datetime import timedelta

from pydantic import JsonValue

from keybearer.base.clock import Clock
from keybearer.controllers.fingerprint import Fingerprinter
from keybearer.controllers.identity import ServiceIdentity, ServicePolicy, parse_identity_secret
from keybearer.controllers.outcome import StalledError
from keybearer.controllers.references import References
from keybearer.controllers.service_session import ServiceSession
from keybearer.controllers.shared_identity import SharedGrants, may_use_shared_identity
from keybearer.controllers.sources.query import SourceQuery
from keybearer.controllers.work import WorkKey
from keybearer.kube.gateway import Gateway
from keybearer.kube.resources import NAMESPACES, ObjectKey

__all__ = ["ServiceAccess", "SessionFactory"]

SessionFactory = Callable[[str, ServiceIdentity], ServiceSession]
"""Opens a session, given its id and the identity."""

_UNUSED = timedelta(minutes=5)
_SWEEP_EVERY = timedelta(minutes=1)
_JUDGED_MAX = 4096
_LABELS_KEPT = timedelta(seconds=30)
_LABELS_MAX = 4096


class ServiceAccess:
    """Sessions by identity: two custom resources with the same credentials share one."""

    def __init__(
        self,
        *,
        clock: Clock,
        gateway: Gateway,
        references: References,
        fingerprinter: Fingerprinter,
        policy: ServicePolicy,
        open_session: SessionFactory,
        shared: ServiceIdentity | None,
        grants: SharedGrants,
    ) -> None:
        self._clock = clock
        self._gateway = gateway
        self._references = references
        self._fingerprinter = fingerprinter
        self._policy = policy
        self._open_session = open_session
        self._shared = shared
        self._grants = grants
        self._judged: OrderedDict[tuple[str, str], tuple[Mapping[str, JsonValue], ServiceIdentity, str]] = (
            OrderedDict()
        )
        self._sessions: dict[str, ServiceSession] = {}
        self._used_at: dict[str, float] = {}
        self._labels: dict[str, tuple[float, Mapping[str, str]]] = {}

    async def session(
        self, follower: WorkKey, identity_name: str | None, query: SourceQuery
    ) -> ServiceSession:
        """Return the session through which a custom resource reads a source.

        Args:
            follower: the custom resource; it must already follow its identity Secret.
            identity_name: the identity Secret in its namespace; None asks for the shared identity.
            query: the source, which the shared identity's grants must cover.

        Raises:
            StalledError: there is no such Secret, it can't be used, or the shared identity is refused.
            KubeError: the API server can't be asked.
        """
        if identity_name is None:
            shared = await self._shared_for(follower.namespace, query)
            return self._session_of(shared, shared.session_id(self._fingerprinter))
        return await self.named_session(follower, identity_name)

    async def named_session(self, follower: WorkKey, identity_name: str) -> ServiceSession:
        """Return the session of an identity Secret in the follower's namespace, which it must already follow.

        Raises:
            StalledError: there is no such Secret, or it can't be used.
            KubeError: the API server can't be asked.
        """
        data = await self._references.secret(follower, identity_name)
        if data is None:
            raise StalledError(
                "IdentityNotFound",
                f"identity Secret {follower.namespace}/{identity_name} doesn't exist; create it with the keys "
                "clientId and clientSecret, or correct identityRef.name",
            )
        known = self._judged.get((follower.namespace, identity_name))
        if known is not None and known[0] is data:
            identity, session_id = known[1], known[2]
        else:
            identity = parse_identity_secret(
                data, namespace=follower.namespace, name=identity_name, policy=self._policy
            )
            session_id = identity.session_id(self._fingerprinter)
            # The very same data needs no second judgement: a hundred manifests name one identity.
            self._judged[follower.namespace, identity_name] = (data, identity, session_id)
            if len(self._judged) > _JUDGED_MAX:
                self._judged.popitem(last=False)
        try:
            return self._session_of(identity, session_id)
        except StalledError as error:
            where = f"identity Secret {follower.namespace}/{identity_name}"
            raise StalledError(error.reason, f"{where} can't be used: {error.message}") from error

    async def run(self, in_use: Callable[[], set[str]]) -> None:
        """Close sessions that nobody uses any more, until cancelled."""
        while True:
            await asyncio.sleep(_SWEEP_EVERY.total_seconds())
            used = in_use()
            now = self._clock.monotonic()
            for session_id in list(self._sessions):
                if session_id in used:
                    self._used_at[session_id] = now
                elif now - self._used_at.get(session_id, now) > _UNUSED.total_seconds():
                    self._used_at.pop(session_id, None)
                    session = self._sessions.pop(session_id, None)
                    if session is not None:  # else all were closed while another one was
                        await session.close()

    async def close(self) -> None:
        """Close all sessions; tokens that were logged in for are revoked."""
        sessions, self._sessions = list(self._sessions.values()), {}
        async with asyncio.TaskGroup() as group:
            for session in sessions:
                group.create_task(session.close(), name="close a session")

    def _session_of(self, identity: ServiceIdentity, session_id: str) -> ServiceSession:
        session = self._sessions.get(session_id)
        if session is None:
            session = self._sessions[session_id] = self._open_session(session_id, identity)
        self._used_at[session_id] = self._clock.monotonic()
        return session

    async def _shared_for(self, namespace: str, query: SourceQuery) -> ServiceIdentity:
        labels = await self._namespace_labels(namespace) if self._needs_labels() else {}
        if self._shared is None or not may_use_shared_identity(self._grants, namespace, labels, query):
            raise StalledError(
                "SharedIdentityRefused",
                f"namespace {namespace} may not read {query} through the operator's shared identity; name an "
                "identity Secret in identityRef, or ask the operator's administrator for a grant",
            )
        return self._shared

    def _needs_labels(self) -> bool:
        return any(grant.namespace_labels for grant in self._grants)

    async def _namespace_labels(self, namespace: str) -> Mapping[str, str]:
        now = self._clock.monotonic()
        kept = self._labels.get(namespace)
        if kept is not None and now - kept[0] < _LABELS_KEPT.total_seconds():
            return kept[1]
        body = await self._gateway.get(NAMESPACES, ObjectKey("", namespace), metadata_only=True)
        labels = _labels(body)
        if len(self._labels) >= _LABELS_MAX:
            self._labels.clear()  # namespaces come and go
        self._labels[namespace] = (now, labels)
        return labels


def _labels(body: Mapping[str, JsonValue] | None) -> Mapping[str, str]:
    meta = body.get("metadata") if body is not None else None
    labels = meta.get("labels") if isinstance(meta, Mapping) else None
    return {k: v for k, v in labels.items() if isinstance(v, str)} if isinstance(labels, Mapping) else {}
