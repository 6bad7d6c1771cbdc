"""From a custom resource to a session with the service: identity Secret, or the shared identity, or a refusal."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import timedelta

from pydantic import JsonValue

from keybearer.base.clock import Clock
from keybearer.base.json_reading import mapping_of, texts_of
from keybearer.base.logs import get_logger
from keybearer.client import NotFound
from keybearer.controllers.cleanup_tokens import CleanupToken
from keybearer.controllers.fingerprint import Fingerprinter
from keybearer.controllers.identity import (
    ServiceIdentity,
    ServicePolicy,
    parse_identity_secret,
    trim_secret,
)
from keybearer.controllers.outcome import ReconcileError, StalledError
from keybearer.controllers.references import References
from keybearer.controllers.service_session import ServiceSession
from keybearer.controllers.shared_identity import SharedGrants, may_use_shared_identity
from keybearer.controllers.sources.query import SourceQuery
from keybearer.controllers.work import WorkKey
from keybearer.kube.gateway import Gateway
from keybearer.kube.resources import NAMESPACES, SECRETS, ObjectKey

__all__ = ["ServiceAccess", "SessionFactory"]

_log = get_logger(__name__)

SessionFactory = Callable[[str, ServiceIdentity], ServiceSession]
"""Opens a session, given its id and the identity."""

_UNUSED = timedelta(minutes=5)
_SWEEP_EVERY = timedelta(minutes=1)
_JUDGED_MAX = 4096
_LABELS_KEPT = timedelta(seconds=30)
_LABELS_MAX = 4096


@dataclass(frozen=True, slots=True)
class _Judged:
    """An identity Secret that was found good.

    Attributes:
        data: of the Secret, to know the very same again; None once it has gone.
        identity: that it describes.
        session_id: of the session that is opened with it.
    """

    data: Mapping[str, JsonValue] | None = field(repr=False)
    identity: ServiceIdentity
    session_id: str


class ServiceAccess:
    """Sessions by identity: two custom resources with the same credentials share one."""

    def __init__(  # noqa: PLR0913 - collaborators, given once where the process is wired
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
        kept_token: Callable[[ObjectKey], CleanupToken | None] = lambda _: None,
    ) -> None:
        self._clock = clock
        self._gateway = gateway
        self._references = references
        self._fingerprinter = fingerprinter
        self._policy = policy
        self._open_session = open_session
        self._shared = shared
        self._grants = grants
        self._kept_token = kept_token
        self._judged: OrderedDict[ObjectKey, _Judged] = OrderedDict()
        self._sessions: dict[str, ServiceSession] = {}
        self._used_at: dict[str, float] = {}
        self._labels: dict[str, tuple[float, Mapping[str, str]]] = {}
        self._asked: set[WorkKey] = set()

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
            return self._lent(follower, self._session_of(shared, shared.session_id(self._fingerprinter)))
        return await self.named_session(follower, identity_name)

    def ask_again(self, follower: WorkKey) -> None:
        """Have the follower's next session try credentials that were refused a moment ago: a person asks."""
        if len(self._asked) >= _JUDGED_MAX:
            self._asked.clear()  # of objects that need no session
        self._asked.add(follower)

    async def named_session(
        self, follower: WorkKey, identity_name: str, *, cleans_up: bool = False
    ) -> ServiceSession:
        """Return the session of an identity Secret in the follower's namespace, which it must already follow.

        Args:
            follower: the custom resource.
            identity_name: the Secret.
            cleans_up: the follower is being deleted, and the session is for taking back what it made: where the
                Secret has gone, the identity that it described will do.

        Raises:
            StalledError: there is no such Secret, or it can't be used.
            KubeError: the API server can't be asked.
        """
        key = ObjectKey(follower.namespace, identity_name)
        data = await self._references.secret(follower, identity_name)
        if data is None:
            self._note_gone(key)
            session = self._session_of_gone(key) if cleans_up else None
            if session is not None:
                return session
            raise _missing(key)
        judged = self._judge(key, data)
        try:
            return self._lent(follower, self._session_of(judged.identity, judged.session_id))
        except StalledError as error:
            raise StalledError(
                error.reason, f"identity Secret {key} can't be used: {error.message}", remedy=error.remedy
            ) from error

    def _lent(self, follower: WorkKey, session: ServiceSession) -> ServiceSession:
        if follower in self._asked:
            self._asked.discard(follower)
            session.forget_refusal()
        return session

    async def renew_token(self, key: ObjectKey) -> None:
        """Have a good token of an identity Secret, unless it has gone since it was last used.

        Objects that are suspended, or can't be read, don't ask for their identity: then it is read here.

        Raises:
            ReconcileError: there is no such Secret, or it can't be used, or the service refuses or can't be asked.
            KubeError: the API server can't be asked.
        """
        judged = self._judged.get(key)
        if judged is None:
            body = await self._gateway.get(SECRETS, key)
            if body is None:
                raise _missing(key)
            data = mapping_of(body.get("data"))
            judged = self._judge(key, trim_secret(data))
        if judged.data is not None:
            await self._session_of(judged.identity, judged.session_id).hold_token()

    def cleanup_token(self, key: ObjectKey) -> CleanupToken | None:
        """Return the access token that is in use of an identity Secret, or None."""
        judged = self._judged.get(key)
        session = None if judged is None else self._sessions.get(judged.session_id)
        token = None if session is None else session.token
        if judged is None or token is None:
            return None
        identity = judged.identity
        return CleanupToken(
            url=identity.url,
            text=token.text,
            ends_at=None
            if token.expires_at is None
            else self._clock.now() + timedelta(seconds=token.expires_at - self._clock.boottime()),
            granted=identity.method != "AccessToken",
            ca_pem=None
            if identity.ca_pem is None or identity.ca_pem == self._policy.trust(identity.url)
            else identity.ca_pem.decode(),
        )

    def sessions_of(self, keys: Iterable[ObjectKey]) -> set[str]:
        """Return the ids of the sessions of these identity Secrets, of those that are known."""
        return {judged.session_id for key in keys if (judged := self._judged.get(key)) is not None}

    async def revoke(self, token: CleanupToken) -> None:
        """Make a token worthless that is of no use any more; one that can't be revoked now runs out by itself."""
        try:
            session = self._session_by(token, "a token that was kept")
            await session.perform(lambda client: client.auth.revoke(), "revoke an access token")
        except (NotFound, ReconcileError) as error:
            _log.info("cleanup_token_not_revoked", error=str(error))

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

    async def close(self, handed_on: Collection[str] = ()) -> None:
        """Close all sessions; tokens that were logged in for are revoked, but for those of sessions of these ids."""
        sessions, self._sessions = list(self._sessions.values()), {}
        async with asyncio.TaskGroup() as group:
            for session in sessions:
                spare = session.id in handed_on
                group.create_task(session.close(spare_token=spare), name="close a session")

    def _judge(self, key: ObjectKey, data: Mapping[str, JsonValue]) -> _Judged:
        """Return what the data of an identity Secret describes.

        Raises:
            StalledError: it can't be used.
        """
        known = self._judged.get(key)
        # The very same data needs no second judgement: a hundred manifests name one identity.
        if known is None or known.data is not data:
            identity = parse_identity_secret(
                data, namespace=key.namespace, name=key.name, policy=self._policy
            )
            known = self._judged[key] = _Judged(data, identity, identity.session_id(self._fingerprinter))
            if len(self._judged) > _JUDGED_MAX:
                self._judged.popitem(last=False)
        return known

    def _note_gone(self, key: ObjectKey) -> None:
        known = self._judged.get(key)
        if known is not None and known.data is not None:
            self._judged[key] = replace(known, data=None)

    def _session_of_gone(self, key: ObjectKey) -> ServiceSession | None:
        """Return a session of an identity whose Secret has gone: as it was known here, or by the token that was kept.

        Raises:
            StalledError: the operator may not ask that service any more.
        """
        known, kept = self._judged.get(key), self._kept_token(key)
        if known is not None:
            return self._session_of(known.identity, known.session_id)
        return None if kept is None else self._session_by(kept, f"identity Secret {key}, which has gone")

    def _session_by(self, kept: CleanupToken, where: str) -> ServiceSession:
        url = self._policy.judge(where, kept.url)
        ca_pem = self._policy.trust(url) if kept.ca_pem is None else kept.ca_pem.encode()
        identity = ServiceIdentity(url, "AccessToken", {"accessToken": kept.text}, ca_pem)
        return self._session_of(identity, identity.session_id(self._fingerprinter))

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
    return texts_of(mapping_of((body or {}).get("metadata")).get("labels"))


def _missing(key: ObjectKey) -> StalledError:
    return StalledError(
        "IdentityNotFound",
        f"identity Secret {key} doesn't exist; create it with the keys clientId and clientSecret, or correct "
        "identityRef.name",
    )
