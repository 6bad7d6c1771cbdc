"""References between secrets, `${KEY}` and its longer forms (wire.md section 2.6): pure text.

`Expander` replaces what it was told and reports what it was not; the caller fetches that and asks again, so
that each round costs one look at the store however many secrets there are. It works in steps and stops after
every few hundred, so that whoever runs it can let others go on.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Generator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from operator import add
from types import MappingProxyType

from keybearer.base.errors import KeybearerError
from keybearer.base.ids import EnvironmentSlug, FolderPath
from keybearer.base.steps import StepBudget
from keybearer.store.reference_bindings import ANY_NAME, NamedEnvironment
from keybearer.store.secret_places import Location, ReferenceTarget
from keybearer.wire.limits import (
    ENVIRONMENT_SLUG_MAX,
    FOLDER_DEPTH_MAX,
    FOLDER_PATH_MAX,
    REFERENCE_DEPTH_MAX,
    REFERENCE_PASSES_MAX,
    SECRET_NAME_MAX,
    SECRET_VALUE_MAX_BYTES,
)

__all__ = [
    "Expander",
    "Expansion",
    "ExpansionLimitError",
    "ExpansionStepsError",
    "Named",
    "Redirects",
    "Steps",
    "builds_references",
    "can_exist",
    "follow_moves",
    "has_references",
    "led_to",
    "named_by",
    "named_in_order",
    "named_targets",
    "on_one_line",
]

_REFERENCE = re.compile(r"\$\{([a-zA-Z0-9\-_.@]+)\}")
_PART = re.compile(r"[a-zA-Z0-9\-_@]+")
_NAME = re.compile(r"[a-zA-Z0-9\-_.@]+")
_GIVEN = "\0"
"""Stands in a text for what came of a reference."""
_INNERMOST = re.compile(r"\$\{([a-zA-Z0-9\-_.@\0]+)\}")
_BUILT = re.compile(r"\$\{[a-zA-Z0-9\-_.@]*\0[a-zA-Z0-9\-_.@\0]*\}")
_MAX_REPLACEMENTS = 10_000
"""References followed for one value: ten levels of ten each would be 10**10 without it."""
_MAX_STEPS = 500_000
"""Steps for all values of a list: about a second or two; 10,000 values of ten references each take 400,000."""
_STEP_CHARACTERS = 1024
"""Text that is searched in one step."""


Redirects = Mapping[ReferenceTarget, Mapping[NamedEnvironment, NamedEnvironment | None]]
"""By the place of a text, how what its names mean is called now; None leads nowhere."""


class ExpansionLimitError(KeybearerError):
    """A value grows beyond all bounds through its references."""


class ExpansionStepsError(KeybearerError):
    """All values together refer to more than is followed for one request."""


class Steps(StepBudget):
    """What the expansions of one request may cost together; `ExpansionStepsError` where it is more."""

    def __init__(self) -> None:
        super().__init__(_MAX_STEPS, lambda: ExpansionStepsError("a list follows too many references"))


def has_references(text: str) -> bool:
    """Return whether the text holds a reference."""
    return "${" in text and _REFERENCE.search(text) is not None


def builds_references(text: str) -> bool:
    """Return whether following the text's references may build further ones, that the text doesn't name."""
    return "${" in text and _BUILT.search(_REFERENCE.sub(_GIVEN, text)) is not None


def can_exist(target: ReferenceTarget) -> bool:
    """Return whether a secret may be where a text names one: no part of it is longer or deeper than allowed."""
    place = target.location
    return (
        len(place.key) <= SECRET_NAME_MAX
        and len(place.path) <= FOLDER_PATH_MAX
        and place.path.count("/") <= FOLDER_DEPTH_MAX
        and len(place.environment) <= ENVIRONMENT_SLUG_MAX
    )


@dataclass(frozen=True, slots=True)
class Named:
    """What a text names: all places of it where secrets can be, and whether it builds further references."""

    targets: frozenset[ReferenceTarget]
    builds: bool


_NOTHING_NAMED = Named(frozenset(), builds=False)


def named_by(text: str, at: ReferenceTarget) -> Named:
    """Return what a text stored at `at` names."""
    if "${" not in text:
        return _NOTHING_NAMED
    targets = frozenset(target for target in named_targets(text, at) if can_exist(target))
    return Named(targets, builds_references(text))


def named_targets(text: str, at: ReferenceTarget) -> set[ReferenceTarget]:
    """Return the places that a text stored at `at` names."""
    return {_target(match[1], at) for match in _REFERENCE.finditer(text)}


def named_in_order(text: str, at: ReferenceTarget) -> list[ReferenceTarget]:
    """Return the places that a text stored at `at` names, each once, in their order."""
    return list(dict.fromkeys(_target(match[1], at) for match in _REFERENCE.finditer(text)))


def led_to(target: ReferenceTarget, at: ReferenceTarget, redirects: Redirects) -> ReferenceTarget | None:
    """Return the place that a text stored at `at` means where it names the target; None for none."""
    names = redirects.get(at)
    if names is None:
        return target
    place = target.location
    named = [(target.project_slug, place.environment)]
    if target.project_slug == at.project_slug:
        named.append(("", place.environment))
    for name in named:
        if name in names:
            led = names[name]
            if led is None:
                return None
            project_slug, environment = led
            return ReferenceTarget(
                project_slug or at.project_slug, Location(environment, place.path, place.key)
            )
    is_near = target.project_slug == at.project_slug and place.environment == at.location.environment
    return None if ANY_NAME in names and not is_near else target


def follow_moves(
    text: str,
    at: Location,
    now_at: Location,
    *,
    project_slug: str,
    moved: Callable[[Location], Location],
) -> str:
    """Return the text with its references naming the new places of what is moved.

    Args:
        text: as it is stored.
        at: where the text was when it was written.
        now_at: where it will be: the text may move as well.
        project_slug: of the project in which things move; its texts may name it, or leave it out.
        moved: tells the new place of a secret, or the same one.
    """
    home = ReferenceTarget("", at)

    def followed(match: re.Match[str]) -> str:
        target = _target(match[1], home)
        if target.project_slug not in ("", project_slug):
            return match[0]
        place = moved(target.location)
        if place == target.location:
            return match[0]
        is_near = (place.environment, place.path) == (now_at.environment, now_at.path)
        if "." not in match[1] and is_near:
            parts = [place.key]
        else:
            slug = [f"@{target.project_slug}"] if target.project_slug else []
            parts = [*slug, place.environment, *place.path.strip("/").split("/"), place.key]
        parts = [part for part in parts if part]
        # A name with a dot, or with what no reference may hold, can't be referred to from there.
        return f"${{{'.'.join(parts)}}}" if all(map(_PART.fullmatch, parts)) else match[0]

    return _REFERENCE.sub(followed, text)


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


_NO_REDIRECTS: Redirects = MappingProxyType({})


class Expander:
    """Replaces references by what `known` holds; None in it says that the secret doesn't exist.

    What comes of a reference is part of the text around it as a name is, never as `${` or `}`: only who wrote a text
    opens and closes its references. Texts of `literal` hold none at all. Names lead where `redirects` says.
    """

    def __init__(
        self,
        known: Mapping[ReferenceTarget, str | None],
        steps: Steps,
        literal: AbstractSet[ReferenceTarget] = frozenset(),
        redirects: Redirects = _NO_REDIRECTS,
    ) -> None:
        self._known = known
        self._steps = steps
        self._literal = literal
        self._redirects = redirects

    def expand(self, text: str, at: ReferenceTarget) -> Generator[None, None, Expansion]:
        """Return the text stored at `at`, expanded; yields where others may go on.

        Missing references, those of a circle, and those deeper than ten levels stay as they are written.

        Raises:
            ExpansionLimitError: the result would be larger than any value may be.
            ExpansionStepsError: with the expansions before it, this one takes too long.
        """
        walk = _Walk(self._known, self._literal, self._redirects, self._steps)
        expanded = yield from walk.expand(text, at, (at,))
        return Expansion(expanded, frozenset(walk.unknown))


class _Walk:
    """The expansion of one value, with its budget."""

    def __init__(
        self,
        known: Mapping[ReferenceTarget, str | None],
        literal: AbstractSet[ReferenceTarget],
        redirects: Redirects,
        steps: Steps,
    ) -> None:
        self._known = known
        self._literal = literal
        self._redirects = redirects
        self._steps = steps
        self._replacements = 0
        self._size = 0
        self.unknown: set[ReferenceTarget] = set()

    def expand(
        self, text: str, at: ReferenceTarget, trail: tuple[ReferenceTarget, ...]
    ) -> Generator[None, None, str]:
        # A NUL of the text itself is put back like what came of a reference.
        given = [_GIVEN] * text.count(_GIVEN)
        for _ in range(REFERENCE_PASSES_MAX):
            # What was put in opens nothing; references that are left hold others, which come first.
            if "${" not in text:
                break
            found = yield from self._pass(text, given, at, trail)
            if found is None:
                break
            text, given = found
        return _filled(text, given)

    def _pass(
        self, text: str, given: list[str], at: ReferenceTarget, trail: tuple[ReferenceTarget, ...]
    ) -> Generator[None, None, tuple[str, list[str]] | None]:
        """Put a NUL in the place of each innermost reference; None if there are none.

        Return the text, and what its NULs stand for; `given` is that of those it had.
        """
        if self._steps.take(1 + len(text) // _STEP_CHARACTERS):
            yield
        pieces: list[str] = []
        put: list[str] = []
        end = taken = 0
        for match in _INNERMOST.finditer(text):
            if self._steps.take():
                yield
            before, name = text[end : match.start()], match[1]
            end = match.end()
            if given:
                kept = taken + before.count(_GIVEN)
                put += given[taken:kept]
                taken = kept + name.count(_GIVEN)
                name = _filled(name, given[kept:taken])
            pieces += (before, _GIVEN)
            target = _target(name, at) if not given or _NAME.fullmatch(name) else None
            if self._redirects and target is not None:
                target = led_to(target, at, self._redirects)
            inner = None if target is None else self._text_of(target, trail)
            if inner is None or target is None:
                put.append(f"${{{name}}}")
            elif "${" not in inner or target in self._literal:
                put.append(inner)
            else:
                put.append((yield from self.expand(inner, target, (*trail, target))))
        if not pieces:
            return None
        pieces.append(text[end:])
        return "".join(pieces), put + given[taken:]

    def _text_of(self, target: ReferenceTarget, trail: tuple[ReferenceTarget, ...]) -> str | None:
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
        return text


def _filled(text: str, given: Sequence[str]) -> str:
    """Return the text with these in the places of its NULs."""
    if not given:
        return text
    first, *others = text.split(_GIVEN)
    return first + "".join(map(add, given, others))


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
