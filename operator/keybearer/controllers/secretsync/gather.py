"""Collects what a SecretSync is made of: its sources through the identity, its templates, and its keys.

Nothing is decided about the target here; what can't be had raises with the reason a person needs.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field

from keybearer.base.json_reading import texts_of
from keybearer.controllers.access import ServiceAccess
from keybearer.controllers.fingerprint import Fingerprinter
from keybearer.controllers.listing import SourceSecret
from keybearer.controllers.objects import ObservedObject
from keybearer.controllers.outcome import StalledError, WaitingError
from keybearer.controllers.references import References
from keybearer.controllers.remedy import Remedy
from keybearer.controllers.secretsync.payload import Payload, judge_payload
from keybearer.controllers.secretsync.reasons import Reason, no_keys_message
from keybearer.controllers.secretsync.resource import SecretSyncSpec
from keybearer.controllers.secretsync.selection import (
    Selection,
    SourceContent,
    is_light,
    key_states,
    pinned_versions,
    refuse_blocked,
    select,
)
from keybearer.controllers.secretsync.spec import Source
from keybearer.controllers.secretsync.status import KeyStatus
from keybearer.controllers.service_session import ServiceSession
from keybearer.controllers.sources.query import SourceKey, SourceQuery
from keybearer.controllers.sources.reader import SourceReader
from keybearer.controllers.sources.session import SourceFailure
from keybearer.controllers.sources.state import SourceReading
from keybearer.controllers.target.spec import OPAQUE, Target, TargetKind, TargetTemplate
from keybearer.controllers.template.renderer import (
    RendererUnavailableError,
    TemplateError,
    TemplateRenderer,
)
from keybearer.controllers.work import WorkKey

__all__ = ["FolderReading", "Gatherer", "Material", "Progress", "SourceGatherer", "failed", "judge_pinned"]

_PINNED_MAX = 256
"""Versions that all sources may pin together: each is a request of its own in each run, at 50 a second and
identity."""
_PINNED_AT_ONCE = 8
_DEADLINE_SECONDS = 40.0
"""Of all that is gathered in one run. Less than a run as a whole may take: what it waited for is still to be told."""
_SUPPORTED_TYPES = frozenset(
    {
        OPAQUE,
        "kubernetes.io/tls",
        "kubernetes.io/dockerconfigjson",
        "kubernetes.io/basic-auth",
        "kubernetes.io/ssh-auth",
    }
)


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
        return WaitingError(failure.reason, failure.message, retry=retry, remedy=failure.remedy)
    return StalledError(failure.reason, failure.message, retry=retry, remedy=failure.remedy)


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


@dataclass(frozen=True, slots=True)
class Material:
    """What is to be written, and what is known about it.

    Attributes:
        payload: the keys of the target, judged.
        keys: the state of each key if the target is written.
        failure: what ails, for a while, a source whose last good listing was used.
        found: how many secrets the sources hold.
        read_at: monotonic seconds: the oldest of the readings.
    """

    payload: Payload = field(repr=False)
    keys: tuple[KeyStatus, ...]
    failure: SourceFailure | None
    found: int
    read_at: float
    readings: tuple[SourceReading, ...] = field(repr=False)


@dataclass(frozen=True, slots=True)
class FolderReading:
    """What a destination gets: names in order, and a keyed fingerprint of names and values."""

    names: tuple[str, ...]
    fingerprint: str


class Gatherer:
    """Gathers for one SecretSync after the other; of what destinations get it keeps names and fingerprint."""

    def __init__(
        self,
        access: ServiceAccess,
        sources: SourceReader,
        references: References,
        renderer: TemplateRenderer,
        fingerprinter: Fingerprinter,
        allowed_types: frozenset[str],
    ) -> None:
        self._sources = sources
        self._reader = SourceGatherer(access, sources)
        self._references = references
        self._renderer = renderer
        self._fingerprinter = fingerprinter
        self._allowed_types = _SUPPORTED_TYPES | allowed_types
        self._folders: dict[WorkKey, tuple[tuple[int, ...], FolderReading]] = {}

    async def gather(
        self, seen: ObservedObject, spec: SecretSyncSpec, *, not_before: float, follow_target: bool
    ) -> Material:
        """Return what the SecretSync is to write.

        Args:
            seen: the SecretSync.
            spec: its spec.
            not_before: monotonic seconds; older readings of its sources are not good enough.
            follow_target: run again when somebody else creates, changes or deletes an object of its name.

        Raises:
            StalledError: a person must change something.
            WaitingError: it may come right by itself, or takes too long.
        """
        self._judge_type(spec.target)
        judge_pinned(spec)
        self._follow(seen, spec, follow_target=follow_target)
        progress = Progress()
        limit = asyncio.timeout(_DEADLINE_SECONDS)
        try:
            async with limit:
                return await self._gather(seen, spec, not_before, progress)
        except TimeoutError:
            if not limit.expired():
                raise
            message = f"{progress.waits_for} takes longer than {_DEADLINE_SECONDS:.0f} s; it is tried again"
            raise WaitingError(Reason.TIMED_OUT, message) from None

    async def _gather(
        self, seen: ObservedObject, spec: SecretSyncSpec, not_before: float, progress: Progress
    ) -> Material:
        readings = await self._reader.read(seen, spec, not_before, progress)
        contents = []
        for index, (source, session, reading) in enumerate(readings):
            secrets, failure = reading.secrets, reading.failure
            if secrets is None or (failure is not None and not failure.passing):
                raise failed(failure)
            progress.waits_for = f"reading the versions that keys.items pin of {source.label}"
            field = "source" if spec.sources is None else f"sources[{index}]"
            contents.append(SourceContent(source, secrets, await self._reader.pinned(session, source), field))
        found = sum(len(content.secrets) for content in contents)
        progress.waits_for = f"selecting keys of {spec.source_label}"
        selection = await _select(contents)
        refuse_blocked(selection.problems)
        if not selection.entries and spec.target.template is not None:
            # Without secrets a template may still give its keys, with blanks in place of values: the guard, which
            # counts keys, would let that pass. Without a template the plan judges what an empty source means.
            raise StalledError(Reason.NO_KEYS, no_keys_message(spec.source_label, found))
        data = await self._render(seen, spec.target.template, selection, progress)
        refs = {entry.target_key: entry.source_ref for entry in selection.entries}
        payload = judge_payload(spec.target.kind, spec.target.type, data, refs)
        refuse_blocked(payload.problems)
        failure = next((reading.failure for _, _, reading in readings if reading.failure is not None), None)
        return Material(
            payload=payload,
            keys=key_states(selection, data),
            failure=failure,
            found=found,
            read_at=min(reading.read_at for _, _, reading in readings),
            readings=tuple(reading for _, _, reading in readings),
        )

    async def read_folder(
        self, seen: ObservedObject, spec: SecretSyncSpec, *, not_before: float
    ) -> FolderReading:
        """Return which secrets a destination gets, for the guard and to tell whether they changed.

        Raises:
            StalledError: a person must change something.
            WaitingError: it may come right by itself.
        """
        if not spec.writes_target:
            self._follow(seen, spec, follow_target=False)
        readings = await self._reader.read(seen, spec, not_before, Progress())
        listed = []
        for _, _, reading in readings:
            secrets, failure = reading.secrets, reading.failure
            if secrets is None or (failure is not None and not failure.passing):
                raise failed(failure)
            listed.append(secrets)
        # While a run is awaited this is asked three times a second.
        numbers = tuple(reading.content for _, _, reading in readings)
        kept = self._folders.get(seen.key)
        if kept is not None and kept[0] == numbers:
            return kept[1]
        contents = {secret.key: secret.value for secrets in listed for secret in secrets}
        fingerprint = self._fingerprinter.of_mappings("pushed secrets", (), contents)
        folder = FolderReading(tuple(sorted(contents)), fingerprint)
        self._folders[seen.key] = numbers, folder
        return folder

    def follow_identity(self, seen: ObservedObject, spec: SecretSyncSpec) -> None:
        """Have at hand what a session needs, for an object that only cleans up."""
        self._follow(seen, spec, follow_target=False)

    def await_target(self, seen: ObservedObject, spec: SecretSyncSpec, version: str | None) -> None:
        """Run again when somebody else creates, changes or deletes an object of the target's name.

        Args:
            seen: the SecretSync.
            spec: its spec.
            version: of that object as it was just read; None where there was none.
        """
        self._follow(seen, spec, follow_target=True)
        self._references.saw(seen.key, seen.target.kind, seen.target.name, version)

    def forget(self, key: WorkKey) -> None:
        """End what a SecretSync that is gone subscribes and refers to."""
        self._sources.retain(key, frozenset())
        self._references.forget(key)
        self._folders.pop(key, None)

    def _follow(self, seen: ObservedObject, spec: SecretSyncSpec, *, follow_target: bool) -> None:
        names: dict[str, set[str]] = {"Secret": set(), "ConfigMap": set()}
        if spec.identity_ref is not None:
            names["Secret"].add(spec.identity_ref.name)
        template = spec.target.template if spec.writes_target else None
        if template is not None and template.config_map_ref is not None:
            names["ConfigMap"].add(template.config_map_ref.name)
        if follow_target:
            names[seen.target.kind].add(seen.target.name)
        self._references.follow(
            seen.key, secrets=frozenset(names["Secret"]), config_maps=frozenset(names["ConfigMap"])
        )

    def _judge_type(self, target: Target) -> None:
        if target.kind is TargetKind.SECRET and target.type not in self._allowed_types:
            raise StalledError(
                Reason.TYPE_NOT_ALLOWED,
                f"target.type {target.type} is not among those this operator writes "
                f"({', '.join(sorted(self._allowed_types))}); ask its administrator for --allow-target-type",
            )

    async def _render(
        self,
        seen: ObservedObject,
        template: TargetTemplate | None,
        selection: Selection,
        progress: Progress,
    ) -> dict[str, bytes]:
        selected = {entry.target_key: entry.value for entry in selection.entries}
        if template is None:
            return selected
        if template.config_map_ref is not None:
            progress.waits_for = f"reading ConfigMap {template.config_map_ref.name}"
        templates = await self._templates(seen, template)
        progress.waits_for = "rendering target.template"
        try:
            rendered = await self._renderer.render(templates, selected, tenant=seen.key.namespace)
        except TemplateError as error:
            raise StalledError(Reason.TEMPLATE_FAILED, str(error)) from error
        except RendererUnavailableError as error:
            raise WaitingError(Reason.RENDERER_UNAVAILABLE, f"{error}; it is tried again") from error
        return {**selected, **rendered} if template.include_keys else dict(rendered)

    async def _templates(self, seen: ObservedObject, template: TargetTemplate) -> dict[str, str]:
        templates = dict(template.data or {})
        reference = template.config_map_ref
        if reference is None:
            return templates
        data = await self._references.config_map(seen.key, reference.name, reference.key)
        if data is None:
            raise StalledError(
                Reason.TEMPLATE_NOT_FOUND,
                f"ConfigMap {seen.key.namespace}/{reference.name} of target.template doesn't exist; create it",
                remedy=Remedy(
                    f"Create ConfigMap {reference.name}, or correct spec.target.template.configMapRef.name.",
                    f"kubectl -n {{namespace}} create configmap {reference.name} --from-file=KEY=FILE",
                    about="spec.target.template.configMapRef.name",
                ),
            )
        held = texts_of(dict(data))
        if reference.key is not None and reference.key not in held:
            raise StalledError(
                Reason.TEMPLATE_NOT_FOUND,
                f"ConfigMap {seen.key.namespace}/{reference.name} of target.template has no key "
                f"{reference.key}; add it",
                remedy=Remedy(
                    f"Add the key {reference.key} to ConfigMap {reference.name}, or correct "
                    "spec.target.template.configMapRef.key.",
                    f"kubectl -n {{namespace}} describe configmap {reference.name}",
                    about="spec.target.template.configMapRef.key",
                ),
            )
        wanted = held if reference.key is None else {reference.key: held[reference.key]}
        return {**wanted, **templates}


async def _select(contents: list[SourceContent]) -> Selection:
    """Select on the event loop, or in a thread where it would hold up everybody else's work."""
    if is_light(contents):
        return select(contents)
    return await asyncio.to_thread(select, contents)
