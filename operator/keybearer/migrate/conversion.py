"""From texts of YAML to manifests of ours, and a verdict on each object that was read. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

from pydantic import JsonValue

from keybearer.migrate.certificates import ProfileDraft, gathered
from keybearer.migrate.contents import Contents, FolderToFill, folders_to_fill
from keybearer.migrate.findings import HARMLESS, Effect, Finding, NotCarriedError, Notes, Verdict, judge
from keybearer.migrate.foreign import ForeignObject, Inventory, Origin, objects_of
from keybearer.migrate.held_back import held_back
from keybearer.migrate.manifests import Draft, Manifest, validated
from keybearer.migrate.registry import Project, converter_of, project_of
from keybearer.migrate.settings import Settings, UnusedMapping
from keybearer.migrate.surroundings import Surroundings
from keybearer.migrate.yaml_reading import ReadingError, Repeats, read_documents

__all__ = ["OBJECTS_MAX", "Migration", "Outcome", "Reading", "Unreadable", "convert", "read_text"]

OBJECTS_MAX = 50_000
"""Objects of all files together."""


@dataclass(frozen=True, slots=True)
class Unreadable:
    """A file, or the rest of one, that could not be read."""

    file: str
    why: str


@dataclass(slots=True)
class Reading:
    """What was read so far."""

    objects: list[ForeignObject] = field(default_factory=list)
    unreadable: list[Unreadable] = field(default_factory=list)
    repeats: Repeats = field(default_factory=Repeats)


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of one object.

    Attributes:
        origin: where it was read, and what it is.
        project: whose kind it is of.
        verdict: how much of it was carried over.
        findings: about its fields.
        written: the manifests that it is in now.
        contents: what these read from folders that somebody has to fill.
    """

    origin: Origin
    project: Project
    verdict: Verdict
    findings: tuple[Finding, ...]
    written: tuple[Manifest, ...]
    contents: tuple[Contents, ...] = ()


@dataclass(frozen=True, slots=True)
class Migration:
    """Everything that came of it.

    Attributes:
        outcomes: one for each object of a project that is known, in the order they were read.
        manifests: what is written.
        unreadable: files that could not be read.
        passed_over: how many objects were of no such project, as Secrets and Deployments are.
        unused: mappings that nothing was found by.
    """

    outcomes: tuple[Outcome, ...]
    manifests: tuple[Manifest, ...]
    unreadable: tuple[Unreadable, ...]
    passed_over: int
    unused: tuple[UnusedMapping, ...] = ()

    @property
    def folders(self) -> tuple[FolderToFill, ...]:
        """The folders that somebody has to fill before what is written works."""
        return folders_to_fill(contents for one in self.outcomes for contents in one.contents)

    @property
    def is_whole(self) -> bool:
        """Whether everything was read, and carried over as it was."""
        return not self.unreadable and all(one.verdict is Verdict.WHOLE for one in self.outcomes)


def read_text(reading: Reading, text: str, file: str) -> None:
    """Add the objects of a text; what is no YAML is added to what couldn't be read.

    Args:
        reading: what was read so far.
        text: of a file.
        file: its name, for reports.
    """
    try:
        for number, document in enumerate(read_documents(text, reading.repeats), 1):
            reading.objects += objects_of(document, file, number)
            if len(reading.objects) > OBJECTS_MAX:
                del reading.objects[OBJECTS_MAX:]
                why = f"goes beyond {OBJECTS_MAX} objects of all files together"
                reading.unreadable.append(Unreadable(file, why))
                return
    except ReadingError as error:
        reading.unreadable.append(Unreadable(file, str(error)))


@dataclass(slots=True)
class _Case:
    """One object on its way."""

    one: ForeignObject
    project: Project
    notes: Notes = field(default_factory=Notes)
    drafts: tuple[Draft, ...] = ()
    is_absorbed: bool = False
    written: list[Manifest] = field(default_factory=list)


def convert(reading: Reading, settings: Settings, beside: Iterable[ForeignObject] = ()) -> Migration:
    """Return the manifests of ours that stand for what was read, and what became of each object.

    Args:
        reading: what was read.
        settings: what the person decided.
        beside: objects that are not converted, but may be named by what is.
    """
    # What was looked up in another run says nothing about this one.
    around = Surroundings(Inventory([*reading.objects, *beside]), replace(settings, asked={}))
    cases: list[_Case] = []
    for one in reading.objects:
        project = project_of(one)
        if project is not None:
            cases.append(_converted(_Case(one, project), around))
    manifests = _Written().of(cases)
    outcomes = tuple(_outcome(case) for case in cases)
    passed_over = len(reading.objects) - len(cases)
    return Migration(
        outcomes, tuple(manifests), tuple(reading.unreadable), passed_over, around.settings.unused
    )


def _outcome(case: _Case) -> Outcome:
    findings = case.notes.findings
    verdict = judge(findings, carried=case.is_absorbed or bool(case.written))
    if verdict is Verdict.NOT:  # then there is nothing to do anything for, and nothing that bears no mark
        findings = tuple(one for one in findings if one.effect not in HARMLESS)
    contents = case.notes.contents if case.written else ()
    return Outcome(case.one.origin, case.project, verdict, findings, tuple(case.written), contents)


def _converted(case: _Case, around: Surroundings) -> _Case:
    converter = converter_of(case.one)
    if converter is None:
        case.notes.left_out("", f"{case.one.kind[:80]} is a kind that Keybearer doesn't know")
        return case
    try:
        conversion = converter(case.one, around, case.notes)
    except NotCarriedError as error:
        case.notes.add(error.finding)
    else:
        case.drafts, case.is_absorbed = conversion.drafts, conversion.is_absorbed
    return case


class _Written:
    """Judges drafts and gives each manifest a name of its own."""

    def __init__(self) -> None:
        self._taken: set[tuple[str, str, str]] = set()
        self._manifests: list[Manifest] = []

    def of(self, cases: Sequence[_Case]) -> list[Manifest]:
        """Return the manifests of all cases, in their order; profiles come where their first certificate stood."""
        profiles: list[tuple[_Case, ProfileDraft]] = []
        for case in cases:
            for draft in case.drafts:
                if isinstance(draft, ProfileDraft):
                    profiles.append((case, draft))
                else:
                    self._write(held_back(draft, case.notes), [case])
        for draft, members in gathered(draft for _, draft in profiles):
            self._write_profile(draft, [profiles[index] for index in members])
        return self._manifests

    def _write_profile(self, whole: Draft, members: Sequence[tuple[_Case, ProfileDraft]]) -> None:
        """Write a profile; of certificates that can't be together, each stands alone."""
        sound: list[tuple[_Case, ProfileDraft]] = []
        for case, draft in members:
            try:
                validated(draft)
            except NotCarriedError as error:
                case.notes.add(error.finding)
            else:
                sound.append((case, draft))
        if not sound:
            return
        certificates = [entry for _, draft in sound for entry in _entries(draft)]
        together = replace(whole, spec={**whole.spec, "certificates": certificates})
        try:
            validated(together)
        except NotCarriedError:
            for case, draft in sound:
                case.notes.changed(
                    "metadata.name", "shares its name or its Secret with another certificate of the issuer"
                )
                self._write(Draft(draft.resource, draft.namespace, draft.name, draft.spec), [case])
        else:
            self._write(together, [case for case, _ in sound])

    def _write(self, draft: Draft, cases: Iterable[_Case]) -> None:
        concerned = list(cases)
        try:
            manifest = validated(self._with_free_name(draft, concerned))
        except NotCarriedError as error:
            for case in concerned:
                case.notes.add(error.finding)
            return
        self._manifests.append(manifest)
        for case in concerned:
            if manifest not in case.written:  # two certificates of one object are in one profile
                case.written.append(manifest)

    def _with_free_name(self, draft: Draft, cases: Iterable[_Case]) -> Draft:
        name, count = draft.name, 1
        while (draft.resource.kind, draft.namespace, name) in self._taken:
            count += 1
            name = f"{draft.name}-{count}"
        self._taken.add((draft.resource.kind, draft.namespace, name))
        if count == 1:
            return draft
        for case in cases:
            case.notes.add(
                Finding(
                    "metadata.name",
                    Effect.CHANGED,
                    f"is taken by another {draft.resource.kind}; {name} is used",
                )
            )
        spec = draft.spec
        if draft.resource.kind == "SecretSync" and "destination" not in spec:
            # The target keeps the name that it had by default.
            target = spec.get("target")
            spec = {**spec, "target": {"name": draft.name, **(target if isinstance(target, dict) else {})}}
        return replace(draft, name=name, spec=spec)


def _entries(draft: Draft) -> list[JsonValue]:
    entries = draft.spec["certificates"]
    return list(entries) if isinstance(entries, list) else []
