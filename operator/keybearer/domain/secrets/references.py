"""References between secrets, `${KEY}` and its longer forms (wire.md section 2.6): pure text.

`Expander` replaces what it was told and reports what it was not; the caller fetches that and asks again, so
that each round costs one look at the store however many secrets there are.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from keybearer.base.errors import KeybearerError
from keybearer.base.ids import EnvironmentSlug, FolderPath
from keybearer.store.secrets import Location, ReferenceTarget
from keybearer.wire.limits import REFERENCE_DEPTH_MAX, REFERENCE_PASSES_MAX, SECRET_VALUE_MAX_BYTES

__all__ = [
    "Expander",
    "Expansion",
    "ExpansionLimitError",
    "has_references",
    "named_targets",
    "on_one_line",
    "rename_references",
]

_REFERENCE = re.compile(r"\$\{([a-zA-Z0-9\-_.@]+)\}")
_MAX_REPLACEMENTS = 10_000
"""References followed for one value: ten levels of ten each would be 10**10 without it."""

_Segments = list[tuple[str, bool]]
"""Text in pieces; True marks a reference that stays as it is written and is not looked at again."""


class ExpansionLimitError(KeybearerError):
    """A value grows beyond all bounds through its references."""


def has_references(text: str) -> bool:
    """Return whether the text holds a reference."""
    return "${" in text and _REFERENCE.search(text) is not None


def named_targets(text: str, at: ReferenceTarget) -> set[ReferenceTarget]:
    """Return the places that a text stored at `at` names."""
    return {_target(match[1], at) for match in _REFERENCE.finditer(text)}


def rename_references(text: str, at: ReferenceTarget, old: ReferenceTarget, new_key: str) -> str:
    """Return the text with every reference to `old` naming the new key instead."""

    def renamed(match: re.Match[str]) -> str:
        if _target(match[1], at) != old:
            return match[0]
        before, dot, _ = match[1].rpartition(".")
        return f"${{{before}{dot}{new_key}}}"

    return _REFERENCE.sub(renamed, text)


def on_one_line(text: str) -> str:
    """Return a text with line breaks as one line in double quotes; another text stays as it is."""
    if "\n" not in text:
        return text
    escaped = text.replace("\n", "\\n")
    return f'"{escaped}"'


@dataclass(frozen=True, slots=True)
class Expansion:
    """A text with its references replaced, as far as they were known."""

    text: str = field(repr=False)
    unknown: frozenset[ReferenceTarget]


class Expander:
    """Replaces references by what `known` holds; None in it says that the secret doesn't exist."""

    def __init__(self, known: Mapping[ReferenceTarget, str | None]) -> None:
        self._known = known

    def expand(self, text: str, at: ReferenceTarget) -> Expansion:
        """Return the text stored at `at`, expanded.

        Missing references, those of a circle, and those deeper than ten levels stay as they are written.

        Raises:
            ExpansionLimitError: the result would be larger than any value may be.
        """
        walk = _Walk(self._known)
        segments = walk.expand(text, at, (at,))
        return Expansion("".join(piece for piece, _ in segments), frozenset(walk.unknown))


class _Walk:
    """The expansion of one value, with its budget."""

    def __init__(self, known: Mapping[ReferenceTarget, str | None]) -> None:
        self._known = known
        self._replacements = 0
        self._size = 0
        self.unknown: set[ReferenceTarget] = set()

    def expand(self, text: str, at: ReferenceTarget, trail: tuple[ReferenceTarget, ...]) -> _Segments:
        segments: _Segments = [(text, False)]
        for _ in range(REFERENCE_PASSES_MAX):
            replaced = self._replacements
            segments = self._pass(segments, lambda name: self._resolve(_target(name, at), trail))
            if self._replacements == replaced:
                return segments
        # Passes are used up: what still looks like a reference is text for whoever refers to this one.
        return self._pass(segments, lambda _: None)

    def _pass(self, segments: _Segments, resolve: Callable[[str], _Segments | None]) -> _Segments:
        result: _Segments = []
        for piece, settled in segments:
            if settled or "${" not in piece:
                _append(result, piece, settled=settled)
                continue
            end = 0
            for match in _REFERENCE.finditer(piece):
                _append(result, piece[end : match.start()], settled=False)
                inner = resolve(match[1])
                for text, inner_settled in [(match[0], True)] if inner is None else inner:
                    _append(result, text, settled=inner_settled)
                end = match.end()
            _append(result, piece[end:], settled=False)
        return result

    def _resolve(self, target: ReferenceTarget, trail: tuple[ReferenceTarget, ...]) -> _Segments | None:
        # The trail begins with the value itself, which is no level of reference.
        if target in trail or len(trail) > REFERENCE_DEPTH_MAX:
            return None
        if target not in self._known:
            self.unknown.add(target)
            return None
        text = self._known[target]
        if text is None:
            return None
        self._replacements += 1
        self._size += len(text)
        if self._replacements > _MAX_REPLACEMENTS or self._size > SECRET_VALUE_MAX_BYTES:
            raise ExpansionLimitError("a value grows too large through its references")
        if "${" not in text:
            return [(text, False)]
        return self.expand(text, target, (*trail, target))


def _append(segments: _Segments, text: str, *, settled: bool) -> None:
    if not text:
        return
    if segments and not settled and not segments[-1][1]:
        # Neighbours flow together: a reference may be built from several pieces.
        segments[-1] = (segments[-1][0] + text, False)
    else:
        segments.append((text, settled))


def _target(name: str, at: ReferenceTarget) -> ReferenceTarget:
    parts = name.split(".")
    if len(parts) == 1:
        return ReferenceTarget(at.project_slug, Location(at.location.environment, at.location.path, name))
    project_slug = at.project_slug
    if parts[0].startswith("@") and len(parts) > 2:
        project_slug, parts = parts[0][1:], parts[1:]
    environment, *folders, key = parts
    path = "/" + "/".join(folder for folder in folders if folder)
    return ReferenceTarget(project_slug, Location(EnvironmentSlug(environment), FolderPath(path), key))
