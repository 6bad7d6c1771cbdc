"""One session with the service: an identity's client behind a token bucket and a circuit breaker.

What the service answers, or fails to, becomes a listing or a `SourceFailure` with the sentence that a person
needs. Nothing is raised, and nothing repeats a value.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import Awaitable, Callable, Sequence
from contextlib import nullcontext
from dataclasses import replace
from datetime import timedelta
from typing import TypeVar

from keybearer.base.backoff import Backoff
from keybearer.base.clock import Clock
from keybearer.base.folder_paths import parent_and_name
from keybearer.base.logs import get_logger
from keybearer.client import (
    AsyncEventStream,
    AsyncKeybearer,
    ClientError,
    EventPlace,
    NotFound,
    NotModified,
    PermissionDenied,
    RateLimited,
    Secret,
    SecretListing,
    ServerFailure,
    ServiceError,
    TransportError,
    Unauthenticated,
)
from keybearer.client.auth import hold_token
from keybearer.client.session import HeldToken
from keybearer.controllers.event_feed import FeedRefusal, RefusalKind
from keybearer.controllers.listing import SourceSecret
from keybearer.controllers.outcome import ReconcileError, StalledError, WaitingError
from keybearer.controllers.refused_logins import LoginTerms, RefusedLogins
from keybearer.controllers.remedy import Remedy
from keybearer.controllers.resilience import CircuitBreaker, TokenBucket
from keybearer.controllers.resource_fields import told_instant
from keybearer.controllers.service_failures import (
    arose_at_login,
    describe_failure,
    describe_refusal,
    refuses_login,
)
from keybearer.controllers.sources.query import SourceQuery
from keybearer.controllers.sources.session import Listing, NotChanged, SourceFailure

__all__ = ["ANSWER_MAX_BYTES", "ServiceSession"]

_T = TypeVar("_T")
_log = get_logger(__name__)

ANSWER_MAX_BYTES = 16 * 1024 * 1024
"""Of one answer of a service. A target takes 1 MiB (validation.go of k8s.io/kubernetes, `MaxSecretSize`); the rest is
room for what the selection leaves and for what surrounds the values."""

_RATE_PER_SECOND = 50.0
_BURST = 100
_MANY_PER_SECOND = 200.0
_MANY_BURST = 1000
"""For what is ordered by the hundred, such as certificates and the profiles that they come from: their number is
bounded, and each is asked for once."""
_MANY_AT_ONCE = 8
"""Of these, under way at a time: at 80 ms each, a hundred a second. The pool of httpcore looks at each connection for
each idle one whenever a call begins or ends, so that a call costs us twice as much with 32 of them as with 8."""
_BREAKER_THRESHOLD = 5
_BREAKER = Backoff(floor=timedelta(seconds=5), ceiling=timedelta(seconds=30))
_HELD_TTL_MIN = 120.0
"""Seconds: tokens that last less would be renewed all the time for the rare case that one is needed."""


class ServiceSession:
    """The service as one identity sees it."""

    def __init__(
        self,
        session_id: str,
        url: str,
        client: AsyncKeybearer,
        clock: Clock,
        rng: random.Random,
        login: LoginTerms | None = None,
    ) -> None:
        """Nothing is sent yet.

        Args:
            session_id: a name for it, safe to show.
            url: of the service.
            client: logs in as the identity.
            clock: of the process.
            rng: of the process.
            login: what is known of its logins.
        """
        self._id = session_id
        self._url = url
        self._client = client
        self._bucket = TokenBucket(clock, rate=_RATE_PER_SECOND, burst=_BURST)
        self._many = TokenBucket(clock, rate=_MANY_PER_SECOND, burst=_MANY_BURST)
        self._many_turns = asyncio.Semaphore(_MANY_AT_ONCE)
        self._breaker = CircuitBreaker(clock, _BREAKER, threshold=_BREAKER_THRESHOLD, rng=rng)
        self._clock = clock
        self._terms = login or LoginTerms()
        self._logins = RefusedLogins(self._terms, clock, rng)
        self._outage: SourceFailure | None = None
        self._project_ids: dict[str, str] = {}

    @property
    def id(self) -> str:
        """A name for the session, safe to show."""
        return self._id

    @property
    def clock_ahead(self) -> timedelta | None:
        """By how much the service's clock is ahead of ours; None where it has not answered yet."""
        return self._client.session.clock_ahead

    async def list_source(self, query: SourceQuery, etag: str | None) -> Listing | NotChanged | SourceFailure:
        """Return the source's secrets, that they are as they were, or why they can't be had."""
        held_back = await self._admit()
        if held_back is not None:
            return held_back
        try:
            answer = await self._client.secrets.list_conditional(
                project_id=await self._project_id(query),
                environment=query.environment,
                secret_path=query.path,
                include_imports=query.include_imports,
                recursive=query.recursive,
                expand_secret_references=query.expand_references,
                tag_slugs=query.tag_slugs,
                etag=etag,
            )
            if isinstance(answer, SecretListing) and not answer.secrets and not answer.imports:
                await self._find_folder(query)
        except (ClientError, ReconcileError) as error:
            return self._failure(query, error)
        self._breaker.succeeded()
        if isinstance(answer, NotModified):
            return NotChanged()
        return Listing(_usable(answer.etag), _flatten(answer), _updated(answer))

    async def read_version(
        self, query: SourceQuery, name: str, version: int
    ) -> SourceSecret | SourceFailure | None:
        """Return one version of a secret, None where it doesn't exist, or why it can't be had."""
        held_back = await self._admit()
        if held_back is not None:
            return held_back
        try:
            secret = await self._client.secrets.get(
                name,
                project_id=await self._project_id(query),
                environment=query.environment,
                secret_path=query.path,
                include_imports=query.include_imports,
                expand_secret_references=query.expand_references,
                version=version,
            )
        except NotFound:
            self._breaker.succeeded()
            return None
        except (ClientError, ReconcileError) as error:
            return self._failure(query, error)
        self._breaker.succeeded()
        return _source_secret(secret)

    async def open_feed(
        self, query: SourceQuery, places: Sequence[EventPlace]
    ) -> AsyncEventStream | FeedRefusal:
        """Return a feed of events of the query's project, or why there is none."""
        held_back = await self._admit()
        if held_back is not None:
            return FeedRefusal(
                RefusalKind.FAILED, held_back.message, held_back.after, passing=held_back.passing
            )
        try:
            feed = await self._client.events.subscribe(
                project_id=await self._project_id(query), places=places
            )
        except (TransportError, ServerFailure) as error:
            # Not counted by the breaker: what stands before a service may hold back streams alone.
            return FeedRefusal(RefusalKind.FAILED, str(error))
        except (ClientError, ReconcileError) as error:
            failure = self._failure(query, error)
            return FeedRefusal(_kind_of_refusal(error), str(error), failure.after, passing=failure.passing)
        self._breaker.succeeded()
        return feed

    async def perform(
        self, act: Callable[[AsyncKeybearer], Awaitable[_T]], what: str, *, many: bool = False
    ) -> _T:
        """Return what an operation of the client returns.

        Args:
            act: calls the client.
            what: that does, as in "create connection x"; for what is told of a refusal.
            many: it is one of many that were ordered at once, whose number is bounded.

        Raises:
            NotFound: the service knows nothing of what is named.
            StalledError: the service refuses; a person must change something.
            WaitingError: it can't be asked for a while.
        """
        held_back = await self._admit(self._many if many else self._bucket)
        if held_back is not None:
            raise _as_error(held_back)
        try:
            async with self._many_turns if many else nullcontext():
                outcome = await act(self._client)
        except (ClientError, ReconcileError) as error:
            if isinstance(error, NotFound) and not refuses_login(error):
                self._breaker.succeeded()
                raise
            raise _as_error(self._noted(error, describe_refusal(self._url, what, error))) from None
        self._breaker.succeeded()
        return outcome

    async def named_project(self, project_id: str | None, slug: str | None, *, missing: str) -> str | None:
        """Return the id of the project that a spec names by its id or its slug; None where it names none.

        Raises:
            StalledError: the identity sees none of that slug, or the service refuses.
            WaitingError: the service can't be asked for a while.
        """
        return project_id if slug is None else await self.project_id(slug, missing=missing)

    async def project_id(self, slug: str, *, missing: str) -> str:
        """Return the id of the project of that slug, which a spec names as `projectSlug`.

        Args:
            slug: of the project.
            missing: the reason to tell where the identity sees none.

        Raises:
            StalledError: it sees none, or the service refuses.
            WaitingError: the service can't be asked for a while.
        """
        known = self._project_ids.get(slug)
        if known is not None:
            return known
        try:
            project = await self.perform(
                lambda client: client.projects.get_by_slug(slug), f"look up project {slug}"
            )
        except NotFound as error:
            raise StalledError(
                missing,
                f"project {slug} doesn't exist, or the identity can't see it: {error.message}; correct projectSlug",
                remedy=Remedy(
                    "Correct projectSlug, or give the identity a role in the project.",
                    "keybearer projects list",
                    about="spec.source.projectSlug" if missing == "SourceNotFound" else "spec.projectSlug",
                ),
            ) from None
        self._project_ids[slug] = project.id
        return project.id

    @property
    def token(self) -> HeldToken | None:
        """The access token in use, if there is one."""
        return self._client.session.wallet.token

    async def hold_token(self) -> None:
        """Have a good token: logged in for, or renewed where that is due, unless it is too short-lived to be held.

        Raises:
            StalledError: the service refuses.
            WaitingError: it can't be asked for a while.
        """
        token = self.token
        if token is None or (token.ttl >= _HELD_TTL_MIN and token.is_due(self._clock.boottime())):
            await self.perform(lambda client: client.run(hold_token(client.session)), "log in")

    def forget_refusal(self) -> None:
        """Have the next call log in, though the credentials were refused a moment ago, unless that locks out."""
        self._logins.forget()

    async def close(self, *, spare_token: bool = False) -> None:
        """End the session; a token that was logged in for is revoked, unless it is to be spared."""
        if spare_token and self.token is not None:
            self._client.auth.keep_access_token()
        await self._client.aclose()

    async def _admit(self, bucket: TokenBucket | None = None) -> SourceFailure | None:
        if self._outage is not None and not self._breaker.admit():
            # In the words of the last failure: another text each time would be a status write each time.
            return replace(self._outage, after=self._breaker.wait())
        await (bucket or self._bucket).take()
        return self._logins.held_back()

    async def _project_id(self, query: SourceQuery) -> str:
        if not query.by_slug:
            return query.project
        known = self._project_ids.get(query.project)
        if known is None:
            known = (await self._client.projects.get_by_slug(query.project)).id
            self._project_ids[query.project] = known
        return known

    async def _find_folder(self, query: SourceQuery) -> None:
        """Tell an empty folder from a missing one, which the service lists alike (wire.md section 2.2).

        Raises:
            NotFound: the folder doesn't exist.
            ClientError: the service can't be asked.
        """
        parent, name = parent_and_name(query.path)
        if not name:
            return
        folders = await self._client.folders.list(
            project_id=await self._project_id(query), environment=query.environment, path=parent
        )
        if all(folder.name != name for folder in folders):
            raise NotFound(f"folder {query.path} doesn't exist", status=404, error="NotFound")

    def _failure(self, query: SourceQuery, error: ClientError | ReconcileError) -> SourceFailure:
        failure = self._noted(error, describe_failure(self._url, query, error, ANSWER_MAX_BYTES))
        if isinstance(error, NotFound):
            # The slug may have moved to another project.
            self._project_ids.pop(query.project, None)
        return failure

    def _noted(self, error: ClientError | ReconcileError, failure: SourceFailure) -> SourceFailure:
        if isinstance(error, ServiceError):
            # The condition can't say which request it was: another text each time would be a status write each time.
            _log.info(
                "service_call_refused",
                asked=error.asked,
                status=error.status,
                error=error.error,
                request_id=error.request_id,
            )
        if isinstance(error, (TransportError, ServerFailure)):
            self._breaker.failed()
            self._outage = failure
        elif isinstance(error, ClientError):  # anything else arose before the service was asked
            self._breaker.succeeded()
        failure = self._terms.with_remedy(failure, error)
        is_refused_login = isinstance(error, ClientError) and refuses_login(error)
        return self._logins.refused(failure) if is_refused_login else failure


def _kind_of_refusal(error: ClientError | ReconcileError) -> RefusalKind:
    if isinstance(error, ClientError) and arose_at_login(error):
        return RefusalKind.FAILED  # it says nothing of events
    match error:
        case PermissionDenied():
            return RefusalKind.DENIED
        case RateLimited():
            return RefusalKind.CROWDED
        case Unauthenticated() | ReconcileError():
            return RefusalKind.FAILED
        case _:
            return RefusalKind.UNAVAILABLE


def _as_error(failure: SourceFailure) -> ReconcileError:
    kind = WaitingError if failure.passing else StalledError
    return kind(failure.reason, failure.message, remedy=failure.remedy)


def _usable(etag: str | None) -> str | None:
    """Return the tag, unless it is one that the client would refuse to send back."""
    return etag if etag and etag.isascii() and etag.isprintable() else None


def _flatten(listing: SecretListing) -> tuple[SourceSecret, ...]:
    """Return imports in their order, then the folder's own: what comes later wins (wire.md section 2.3)."""
    imported = [secret for block in listing.imports for secret in block.secrets]
    return tuple(_source_secret(secret) for secret in (*imported, *listing.secrets))


def _updated(listing: SecretListing) -> tuple[str, ...]:
    every = (*listing.secrets, *(secret for block in listing.imports for secret in block.secrets))
    return tuple(secret.updated_at for secret in every if secret.updated_at)


def _source_secret(secret: Secret) -> SourceSecret:
    return SourceSecret(
        key=secret.secret_key,
        value=secret.secret_value,
        path=secret.secret_path or "/",
        environment=secret.environment,
        version=secret.version,
        updated_at=told_instant(secret.updated_at),
        hidden=secret.secret_value_hidden,
    )
