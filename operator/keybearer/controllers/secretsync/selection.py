"""From what the sources hold to keys of the target and their states: pure, and nothing is dropped without a word."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from keybearer.base.folder_paths import lies_within
from keybearer.base.nearest import did_you_mean
from keybearer.controllers.listing import SourceSecret
from keybearer.controllers.outcome import StalledError
from keybearer.controllers.remedy import Remedy
from keybearer.controllers.secretsync.key_choice import (
    InvalidPatternError,
    KeyChoice,
    compile_choice,
    is_expression,
)
from keybearer.controllers.secretsync.payload import (
    ExtractError,
    ExtractFault,
    JsonReader,
    extract_value,
)
from keybearer.controllers.secretsync.reasons import KEY_REMEDIES, KeyProblem, KeyProblemReason
from keybearer.controllers.secretsync.spec import Decoding, KeyItem, KeySelection, Source
from keybearer.controllers.secretsync.status import KeyState, KeyStatus

__all__ = [
    "KeysRefusedError",
    "SelectedKey",
    "Selection",
    "SourceContent",
    "is_light",
    "key_states",
    "pinned_versions",
    "place",
    "refuse_blocked",
    "select",
]

_STEPS_MAX = 100_000_000
"""Of RE2 over all names of all sources: a third of a second at the measured 3 ns, for patterns made to be slow;
others take a hundredth. An expression of 40 instructions gets through 100,000 names of 20 characters."""
_LIGHT_CLAIMS = 200  # secrets and items of all sources: 10 us each
_LIGHT_PATTERNS = 2000  # matches and renames by globs and exact names: 0.5 us each
_LIGHT_PATTERN_CHARS = 2000  # of globs, to be compiled: 0.3 us each
_LIGHT_CHARS = 256 * 1024  # of values
_LIGHT_JSON_CHARS = 12 * 1024  # of values, for each item that takes a property: at worst 350 ns each
_KEY_MAX = 512
"""What `status.keys[].key` takes; a foreign service may name its secrets longer."""
_SUGGESTED_MAX = 5
"""Problems of an object up to which a similar name is searched for: a search takes up to 15 ms."""


@dataclass(frozen=True, slots=True)
class SourceContent:
    """What one source of the spec held when it was read.

    Attributes:
        source: as the spec has it, selection of keys included.
        secrets: the folder's own, with a recursive source those of the folders below, in any order; and the
            imported ones, in the order of imports.
        pinned: answers to `pinned_versions`, each of that version.
        field: where the source stands in the spec, for messages.
    """

    source: Source
    secrets: Sequence[SourceSecret]
    pinned: Sequence[SourceSecret] = ()
    field: str = "source"


@dataclass(frozen=True, slots=True)
class SelectedKey:
    """A key of the target and where its value comes from."""

    target_key: str
    value: bytes = field(repr=False)
    source_ref: str
    version: int
    updated_at: datetime | None


@dataclass(frozen=True, slots=True)
class Selection:
    """What the target is given, by target key, and what needs attention, in the order it was met."""

    entries: tuple[SelectedKey, ...]
    problems: tuple[KeyProblem, ...]


@dataclass(frozen=True, slots=True)
class _Claim:
    """A secret that wants a key of the target."""

    target_key: str
    secret: SourceSecret
    item: KeyItem | None = None


@dataclass(slots=True)
class _Steps:
    """What is left of the steps that one run may take, all its sources together."""

    left: int

    def take(self, steps: int) -> bool:
        """Take them, or tell that so many are not left."""
        if steps > self.left:
            return False
        self.left -= steps
        return True


def pinned_versions(keys: KeySelection) -> tuple[tuple[str, int], ...]:
    """Return the names and versions that a listing doesn't bring and that must be read one by one."""
    return tuple(dict.fromkeys((item.key, item.version) for item in keys.items if item.version is not None))


def select(contents: Iterable[SourceContent]) -> Selection:
    """Return the keys of the target that the sources, in order, give; later ones win.

    Names are not judged here: with a template, a secret whose name is no valid key is a fine variable. What
    is written in the end goes through `payload.judge_payload`.
    """
    problems: list[KeyProblem] = []
    winners: dict[str, _Claim] = {}
    steps = _Steps(_STEPS_MAX)
    for content in contents:
        for claim in _claims(content, steps, problems):
            lost = winners.get(claim.target_key)
            if lost is not None:
                problems.append(_lost(lost.secret, claim.secret, claim.target_key, KeyProblemReason.CLASH))
            winners[claim.target_key] = claim
    reader = JsonReader()
    entries = [
        entry
        for claim in _by_document(winners.values())
        if (entry := _take(claim, reader, problems)) is not None
    ]
    entries.sort(key=lambda entry: entry.target_key)
    return Selection(tuple(entries), tuple(problems))


def is_light(contents: Sequence[SourceContent]) -> bool:
    """Tell whether `select` takes less than about 5 ms, so that no other work need be spared it.

    An RE2 expression is never light: its length doesn't say how long it takes to compile and to run. A missing item
    isn't either: similar names are searched for.
    """
    claims = sum(len(content.secrets) + len(content.source.keys.items) for content in contents)
    if claims > _LIGHT_CLAIMS:
        return False
    matches = pattern_chars = 0
    for content in contents:
        keys = content.source.keys
        patterns = (*keys.include, *keys.exclude, *(rename.pattern for rename in keys.rename))
        names = {secret.key for secret in content.secrets}
        is_missing = any(item.version is None and item.key not in names for item in keys.items)
        if is_missing or any(map(is_expression, patterns)):
            return False
        matches += len(content.secrets) * len(patterns)
        pattern_chars += sum(map(len, patterns))
    properties = sum(item.json_property is not None for one in contents for item in one.source.keys.items)
    chars = sum(len(secret.value) for content in contents for secret in (*content.secrets, *content.pinned))
    return (
        matches <= _LIGHT_PATTERNS
        and pattern_chars <= _LIGHT_PATTERN_CHARS
        and chars <= _LIGHT_CHARS
        and chars * properties <= _LIGHT_JSON_CHARS
    )


def _by_document(claims: Iterable[_Claim]) -> Iterator[_Claim]:
    """Yield the claims in order, but those of properties last, each JSON value's one after the other.

    So a value is parsed once, and what was parsed of it is let go before the next.
    """
    documents: dict[str, list[_Claim]] = {}
    for claim in claims:
        if claim.item is None or claim.item.json_property is None:
            yield claim
        else:
            documents.setdefault(claim.secret.value, []).append(claim)
    for together in documents.values():
        yield from together


def _claims(content: SourceContent, steps: _Steps, problems: list[KeyProblem]) -> Iterator[_Claim]:
    label, keys = content.source.label, content.source.keys
    try:
        compiled = compile_choice(keys)
    except InvalidPatternError as error:
        problems.append(
            KeyProblem(label, KeyProblemReason.INVALID_PATTERN, f"{content.field}.{error}", label)
        )
        return
    if not steps.take(compiled.work(content.secrets)):
        message = (
            f"the patterns are too large for the {len(content.secrets)} secrets of {label} and those of the sources "
            "before it; use fewer or simpler ones, or narrower or fewer sources"
        )
        problems.append(KeyProblem(label, KeyProblemReason.INVALID_PATTERN, message, label))
        return
    effective = _effective(content, compiled, problems)
    for key, secret in effective.items():
        if key not in compiled.item_keys:
            yield _Claim(compiled.rename(key), secret)
    pinned = {(secret.key, secret.version): secret for secret in content.pinned}
    for item in keys.items:
        found = effective.get(item.key) if item.version is None else pinned.get((item.key, item.version))
        if found is not None:
            yield _Claim(item.target_key or compiled.rename(item.key), found, item)
        else:
            version = "" if item.version is None else f" in version {item.version}"
            is_suggested = item.version is None and len(problems) < _SUGGESTED_MAX
            suggestion = _suggestion(item, content) if is_suggested else ""
            problems.append(
                KeyProblem(
                    item.key,
                    KeyProblemReason.KEY_NOT_FOUND,
                    f"{label} has no secret {item.key}{version}; create it, or correct keys.items{suggestion}",
                    label,
                    _listing(content.source),
                )
            )


def _listing(source: Source) -> str:
    """Return the command that lists the secrets of a source: people paste it, and it is somebody's text."""
    words = (source.project_slug or source.project_id or "", source.environment, source.secret_path)
    if not all(word.isprintable() for word in words):
        return ""
    project, environment, path = map(shlex.quote, words)
    return f"keybearer secrets list --project {project} --env {environment} --path {path}"


def _suggestion(item: KeyItem, content: SourceContent) -> str:
    """Return what an item that names no secret may mean: one with a similar name, or with the property in it."""
    names = [one.key for one in content.secrets]
    dotted = f"{item.key}.{item.json_property}"
    if item.json_property is not None and dotted in names:
        return f"; there is a secret {dotted}: write key: {dotted}, without property"
    return did_you_mean(item.key, names)


def _effective(
    content: SourceContent, compiled: KeyChoice, problems: list[KeyProblem]
) -> dict[str, SourceSecret]:
    """Return, by name, the secrets that the selection takes, each once, in the order of precedence."""
    own: list[SourceSecret] = []
    imported: list[SourceSecret] = []
    for secret in content.secrets:
        if compiled.takes(secret.key):
            (own if _is_own(content.source, secret) else imported).append(secret)
    own.sort(key=lambda secret: (secret.path, secret.key))
    effective: dict[str, SourceSecret] = {}
    for secret in (*imported, *own):
        lost = effective.pop(secret.key, None)
        # A recursive source that also imports one of its own folders lists the same secret twice.
        if lost is not None and place(lost) != place(secret):
            reason = (
                KeyProblemReason.CLASH
                if _is_own(content.source, lost)
                else KeyProblemReason.IMPORT_OVERRIDDEN
            )
            problems.append(_lost(lost, secret, compiled.rename(secret.key), reason))
        effective[secret.key] = secret
    return effective


def place(secret: SourceSecret) -> str:
    """Return where a secret stands, as `dev:/db/DB_HOST`."""
    return f"{secret.environment}:{secret.path.rstrip('/')}/{secret.key}"


def _is_own(source: Source, secret: SourceSecret) -> bool:
    """Tell the folder's own secrets from imported ones."""
    if secret.environment != source.environment:
        return False
    path = "/" + secret.path.strip("/")
    return lies_within(path, source.secret_path) if source.recursive else path == source.secret_path


def _lost(lost: SourceSecret, winner: SourceSecret, target_key: str, reason: KeyProblemReason) -> KeyProblem:
    message = f"{place(winner)} is used and {place(lost)} is not: both become the key {target_key}"
    return KeyProblem(target_key, reason, message, place(lost))


def _take(claim: _Claim, reader: JsonReader, problems: list[KeyProblem]) -> SelectedKey | None:
    secret, item = claim.secret, claim.item
    ref = place(secret)
    if secret.hidden:
        message = f"the identity may list {ref} but not read its value; grant that, or exclude the key"
        problems.append(KeyProblem(claim.target_key, KeyProblemReason.VALUE_HIDDEN, message, ref))
        return None
    try:
        if item is None:
            value = extract_value(secret.value, None, Decoding.NONE, reader)
        else:
            value = extract_value(secret.value, item.json_property, item.decode, reader)
    except ExtractError as error:
        too_much = error.fault is ExtractFault.TOO_MUCH_JSON
        reason = KeyProblemReason.TOO_LARGE if too_much else KeyProblemReason.INVALID_VALUE
        problems.append(KeyProblem(claim.target_key, reason, f"{ref}: {error}", ref))
        return None
    return SelectedKey(claim.target_key, value, ref, secret.version, secret.updated_at)


class KeysRefusedError(StalledError):
    """Some secrets can't become keys; carries the state of each for the status."""

    def __init__(self, reason: str, message: str, problems: list[KeyProblem]) -> None:
        command = problems[0].command
        step = KEY_REMEDIES[problems[0].reason][1]
        remedy = Remedy(step, command, about="spec.source.keys") if command else None
        super().__init__(reason, message, remedy=remedy)
        self.keys = tuple(_problem_state(problem) for problem in problems)


def refuse_blocked(problems: tuple[KeyProblem, ...]) -> None:
    """Return if no problem keeps the target from being written.

    Raises:
        KeysRefusedError: one does.
    """
    blocking = [problem for problem in problems if problem.blocking]
    if not blocking:
        return
    first = blocking[0]
    more = f" (and {len(blocking) - 1} more, see status.keys)" if len(blocking) > 1 else ""
    raise KeysRefusedError(first.reason.value, f"{first.message}{more}", blocking)


def key_states(selection: Selection, data: Mapping[str, bytes]) -> tuple[KeyStatus, ...]:
    """Return the state of each key if that data is written: of those with a problem, and of those that are in it."""
    states = [_problem_state(problem) for problem in selection.problems]
    written = set(data)
    for entry in selection.entries:
        if entry.target_key in written:
            written.discard(entry.target_key)
            states.append(
                KeyStatus(
                    key=entry.target_key,
                    state=KeyState.SYNCED,
                    version=entry.version,
                    last_changed=entry.updated_at,
                    source=entry.source_ref,
                )
            )
    states += [KeyStatus(key=name, state=KeyState.SYNCED, source="template") for name in sorted(written)]
    return tuple(states)


def _problem_state(problem: KeyProblem) -> KeyStatus:
    return KeyStatus(
        key=problem.key[:_KEY_MAX],
        state=KeyState.FAILED if problem.blocking else KeyState.OVERRIDDEN,
        reason=problem.reason.value,
        message=problem.message,
        source=problem.source_ref,
    )
