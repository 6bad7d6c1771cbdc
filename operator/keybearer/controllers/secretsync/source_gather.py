"""What the sources of a SecretSync hold, each read through the session of its identity."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass

from keybearer.controllers.access import ServiceAccess
from keybearer.controllers.listing import SourceSecret
from keybearer.controllers.objects import ObservedObject
from keybearer.controllers.outcome import StalledError, WaitingError
from keybearer.controllers.secretsync.reasons import Reason
from keybearer.controllers.secretsync.resource import SecretSyncSpec
from keybearer.controllers.secretsync.selection import pinned_versions
from keybearer.controllers.secretsync.spec_source import Source
from keybearer.controllers.service_session import ServiceSession
from keybearer.controllers.sources.query import SourceKey, SourceQuery
from keybearer.controllers.sources.reader import SourceReader
from keybearer.controllers.sources.session import SourceFailure
from keybearer.controllers.sources.state import SourceReading

__all__ = ["Progress", "SourceGatherer", "failed", "judge_pinned"]

_PINNED_MAX = 256
"""Versions that all sources may pin together: each is a request of its own in each run, at 50 a second and
identity."""
_PINNED_AT_ONCE = 8


@dataclass(slots=True)
class Progress:
    """What a run waits for at the moment, for the message if it waits too long."""

    waits_for: str = ""


class SourceGatherer:
    """Reads for one SecretSync after the other; holds no state of its own."""

    def __init__(self, access: ServiceAccess, sources: SourceReader) -> None:
        self._access = access
        self._sources = sources

    async def read(
        self, seen: ObservedObject, spec: SecretSyncSpec, not_before: float, progress: Progress
    ) -> list[tuple[Source, ServiceSession, SourceReading]]:
        """Return what each source holds, with the session that reads it, and have the SecretSync hear of changes.

        Raises:
            StalledError: a person must change something.
            WaitingError: it may come right by itself.
        """
        asked: list[tuple[Source, ServiceSession, SourceKey]] = []
        for source in spec.all_sources:
            query = _query(source)
            identity = spec.identity_ref.name if spec.identity_ref is not None else None
            progress.waits_for = "reading " + (
                f"identity Secret {identity}" if identity else f"the labels of namespace {seen.key.namespace}"
            )
            try:
                session = await self._access.session(seen.key, identity, query)
            except StalledError:
                # Credentials that were taken away are not used any longer, not even to ask for changes.
                self._sources.retain(seen.key, frozenset())
                raise
            asked.append((source, session, SourceKey(session.id, query)))
        readings = []
        for source, session, key in asked:
            progress.waits_for = f"reading {key.query}"
            reading = await self._sources.read(
                key, session, seen.key, spec.refresh_interval, not_before=not_before
            )
            readings.append((source, session, reading))
        self._sources.retain(seen.key, frozenset(key for _, _, key in asked))
        return readings

    async def pinned(self, session: ServiceSession, source: Source) -> tuple[SourceSecret, ...]:
        """Return the versions that the source's keys pin, those that exist.

        Raises:
            StalledError: a person must change something.
            WaitingError: it may come right by itself.
        """
        wanted = pinned_versions(source.keys)
        if not wanted:
            return ()
        query = _query(source)
        turns = asyncio.Semaphore(_PINNED_AT_ONCE)
        failures: list[SourceFailure] = []

        async def read(name: str, version: int) -> SourceSecret | None:
            async with turns:
                answer = None if failures else await session.read_version(query, name, version)
            if isinstance(answer, SourceFailure):
                failures.append(answer)
                return None
            return answer

        found = await asyncio.gather(*(read(name, version) for name, version in wanted))
        if failures:
            # No source polls for single versions, so nothing else would bring this back.
            raise failed(failures[0], retry=True)
        return tuple(secret for secret in found if secret is not None)


def judge_pinned(spec: SecretSyncSpec) -> None:
    """Return if the sources pin no more versions than are read.

    Raises:
        StalledError: they do.
    """
    pinned = sum(len(pinned_versions(source.keys)) for source in spec.all_sources)
    if pinned > _PINNED_MAX:
        raise StalledError(
            Reason.SPEC_INVALID,
            f"keys.items of the sources pin {pinned} versions, of which one SecretSync reads at most {_PINNED_MAX}; "
            "take version from some items, or split the SecretSync",
        )


def failed(failure: SourceFailure | None, *, retry: bool = False) -> StalledError | WaitingError:
    """Return the error of a source that can't be had.

    Args:
        failure: why; None where it was not asked yet.
        retry: for what nobody else tries: a source tries again by itself, and calls its subscribers.
    """
    if failure is None:
        return WaitingError(Reason.SERVICE_UNAVAILABLE, "the source was not read yet; it is tried again")
    if failure.passing:
        return WaitingError(failure.reason, failure.message, retry=retry)
    return StalledError(failure.reason, failure.message, retry=retry)


def _query(source: Source) -> SourceQuery:
    return SourceQuery(
        project=source.project_id or source.project_slug or "",
        by_slug=source.project_id is None,
        environment=source.environment,
        path=source.secret_path,
        recursive=source.recursive,
        include_imports=source.include_imports,
        expand_references=source.expand_secret_references,
        tag_slugs=tuple(sorted(source.tag_slugs)),
    )
