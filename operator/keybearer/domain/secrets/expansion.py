"""Fetches what references name, round by round, and checks that the principal may read it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from contextlib import contextmanager
from dataclasses import dataclass, field

from keybearer.base.slices import in_slices
from keybearer.base.steps import unhurried
from keybearer.domain.access import ProjectAccess, open_projects
from keybearer.domain.authorization import Action, Subject
from keybearer.domain.errors import ForbiddenError, InvalidError
from keybearer.domain.secrets.bindings import redirects_of
from keybearer.domain.secrets.entity_tags import FurtherReach
from keybearer.domain.secrets.personal import owners_values
from keybearer.domain.secrets.references import (
    Expander,
    Expansion,
    ExpansionLimitError,
    ExpansionStepsError,
    Redirects,
    Steps,
    can_exist,
    has_references,
    on_one_line,
)
from keybearer.store.records import Secret
from keybearer.store.reference_bindings import NamedEnvironment
from keybearer.store.secret_places import Location, ReferenceTarget
from keybearer.store.secrets import LISTED_MAX_BYTES, TooLargeError
from keybearer.store.unit import UnitOfWork
from keybearer.wire.limits import REFERENCE_DEPTH_MAX, REFERENCE_PASSES_MAX

__all__ = ["Expanded", "expand_all", "open_named_projects", "referring_text", "target_of"]

_MAX_FETCHED = 50_000
"""Secrets looked up for one list beside those it shows: each folder of 10,000 may name as many elsewhere."""
_MAX_ROUNDS = REFERENCE_DEPTH_MAX * REFERENCE_PASSES_MAX + 1
_MAX_DETAILS = 100


@dataclass(frozen=True, slots=True)
class Expanded:
    """Values by secret id, what they reached, and what was learnt of referenced secrets: None for missing.

    `literal` are those of the referenced secrets in whose texts nothing is a reference; `redirects` says where names
    lead.
    """

    values: Mapping[str, str] = field(repr=False)
    reach: FurtherReach
    known: Mapping[ReferenceTarget, str | None] = field(default_factory=dict, repr=False)
    literal: AbstractSet[ReferenceTarget] = frozenset()
    redirects: Redirects = field(default_factory=dict)


def target_of(secret: Secret) -> ReferenceTarget:
    """Return the place of a secret, seen from its own project."""
    return ReferenceTarget("", Location(secret.environment, secret.path, secret.key))


def referring_text(secret: Secret) -> str:
    """Return the text in which a secret's references stand: none of a literal one."""
    return "" if secret.details.is_literal else secret.value or ""


async def open_named_projects(
    unit: UnitOfWork, home: ProjectAccess, projects: dict[str, ProjectAccess | None], slugs: set[str]
) -> dict[str, ProjectAccess]:
    """Add the projects of these slugs to those that are open, and return those that weren't.

    Args:
        unit: where they are read, each slug once.
        home: the principal in the project whose texts name them. By its slug it is the same, with the same rights.
        projects: by slug, those that are open; None for one that doesn't exist.
        slugs: that texts name.
    """
    fresh = slugs - projects.keys()
    if not fresh:
        return {}
    projects.update(dict.fromkeys(fresh))
    found = await open_projects(unit, home.principal, slugs=fresh)
    opened = {one.project.slug: home if one.project.id == home.project.id else one for one in found}
    projects.update(opened)
    return opened


async def expand_all(
    unit: UnitOfWork,
    access: ProjectAccess,
    secrets: Iterable[Secret],
    *,
    single: bool,
    only_bound: bool = False,
    with_own: bool = True,
) -> Expanded:
    """Return the values of these secrets of one project with their references replaced.

    Args:
        unit: where referenced secrets are read.
        access: the principal in the project of the secrets.
        secrets: what is expanded; values present.
        single: whether the caller asked for one secret, which words the refusal.
        only_bound: whether references whose names stood for nothing when they were written stay as they are.
        with_own: whether a user's own values stand for the shared ones that are referred to.

    Raises:
        ForbiddenError: a reference names a secret that the principal may not read.
        InvalidError: a value, or all together, would grow beyond all bounds.
    """
    given = list(secrets)
    values = {secret.id: secret.value or "" for secret in given}
    referring = [secret for secret in given if has_references(referring_text(secret))]
    if not referring:
        return Expanded(values, FurtherReach())
    lookup = _Lookup(unit, access, single=single, only_bound=only_bound, with_own=with_own)
    await lookup.follow_ids(access, "")
    # What was listed needs no second reading.
    await lookup.take(given)
    growing = _Growing(values)
    waiting = referring
    for _ in range(_MAX_ROUNDS):
        waiting = await _round(lookup, waiting, growing)
        if not waiting:
            break
    return Expanded(values, lookup.reach, lookup.known, lookup.literal, lookup.redirects)


class _Growing:
    """Values that take the place of shorter ones, and what all of them may cost together."""

    def __init__(self, values: dict[str, str]) -> None:
        self._values = values
        self._size = sum(map(len, values.values()))
        self.steps = Steps()

    def put(self, secret: Secret, text: str) -> None:
        """Keep the expanded value of a secret."""
        self._size += len(text) - len(self._values[secret.id])
        if self._size > LISTED_MAX_BYTES:
            raise InvalidError("The list grows too large through references; ask for fewer secrets at a time")
        self._values[secret.id] = text


async def _round(lookup: _Lookup, waiting: list[Secret], growing: _Growing) -> list[Secret]:
    """Expand what is waiting, fetch what that lacked, and return those that must be expanded again."""
    expander = Expander(lookup.known, growing.steps, lookup.literal, lookup.redirects)
    lacking: dict[ReferenceTarget, Secret] = {}
    again = []
    async for some in in_slices(waiting):
        for secret in some:
            expansion = await _expanded(expander, secret)
            text = on_one_line(expansion.text) if secret.skip_multiline_encoding else expansion.text
            growing.put(secret, text)
            if expansion.unknown:
                again.append(secret)
                lacking.update(dict.fromkeys(expansion.unknown, secret))
    await lookup.fetch(lacking)
    return again


async def _expanded(expander: Expander, secret: Secret) -> Expansion:
    try:
        return await unhurried(expander.expand(secret.value or "", target_of(secret)))
    except ExpansionLimitError as error:
        raise InvalidError(
            f"Secret '{secret.key}' grows too large through its references; shorten what it refers to"
        ) from error
    except ExpansionStepsError as error:
        raise InvalidError(
            "The list follows too many references; ask for fewer secrets at a time, "
            "or with expandSecretReferences=false"
        ) from error


class _Lookup:
    """What is known of referenced secrets."""

    def __init__(
        self, unit: UnitOfWork, access: ProjectAccess, *, single: bool, only_bound: bool, with_own: bool
    ) -> None:
        self._unit = unit
        self._home = access
        self._single = single
        self._only_bound = only_bound
        self._with_own = with_own
        self._projects: dict[str, ProjectAccess | None] = {"": access}
        self.known: dict[ReferenceTarget, str | None] = {}
        self.literal: set[ReferenceTarget] = set()
        self.redirects: dict[ReferenceTarget, Mapping[NamedEnvironment, NamedEnvironment | None]] = {}
        self._size = 0
        self._fetched = 0

    @property
    def reach(self) -> FurtherReach:
        """The further projects that were looked at."""
        home = self._home.project.id
        reached = {access.project.id for access in self._projects.values() if access is not None}
        return FurtherReach(frozenset(reached - {home}), names=len(self._projects) > 1)

    async def follow_ids(self, access: ProjectAccess, slug: str) -> None:
        """Learn where names in the project's texts lead that stand for something else by now."""
        loose = await self._unit.bindings.loose(access.project.id)
        self.redirects.update(redirects_of(loose, slug, only_bound=self._only_bound))

    async def take(self, given: Sequence[Secret]) -> None:
        """Learn the secrets that were read already."""
        places: list[Location] = []
        async for some in in_slices(given):
            for secret in some:
                target = target_of(secret)
                self.known[target] = secret.value or ""
                if secret.details.is_literal:
                    self.literal.add(target)
                if not secret.owner:
                    places.append(target.location)
        self._put("", await self._own_at(self._home, places))

    async def fetch(self, lacking: Mapping[ReferenceTarget, Secret]) -> None:
        """Learn these; each comes with a secret that names it."""
        self._fetched += len(lacking)
        if self._fetched > _MAX_FETCHED:
            raise InvalidError("The list refers to too many secrets; ask for fewer secrets at a time")
        self.known.update(dict.fromkeys(lacking))
        # A text may name what nothing can be called; nobody's permission is asked about that.
        lacking = {target: secret for target, secret in lacking.items() if can_exist(target)}
        named = {target.project_slug for target in lacking}
        opened = await open_named_projects(self._unit, self._home, self._projects, named)
        for slug, project in opened.items():
            await self.follow_ids(project, slug)
        await self._require_readable(lacking)
        of_project: dict[str, list[Location]] = {}
        for target in lacking:
            of_project.setdefault(target.project_slug, []).append(target.location)
        for slug, locations in of_project.items():
            access = self._projects[slug]
            if access is None:
                continue
            async for some in in_slices(await self._at(access, locations)):
                for secret in some:
                    place = Location(secret.environment, secret.path, secret.key)
                    self.known[ReferenceTarget(slug, place)] = secret.value
                    if secret.details.is_literal:
                        self.literal.add(ReferenceTarget(slug, place))
                    self._size += len(secret.value or "")
            self._put(slug, await self._own_at(access, locations))

    def _put(self, slug: str, values: Mapping[Location, str]) -> None:
        """Have a user's own values stand for the shared ones (wire.md section 2.6)."""
        for place, value in values.items():
            self.known[ReferenceTarget(slug, place)] = value
            self.literal.discard(ReferenceTarget(slug, place))
            self._size += len(value)

    async def _at(self, access: ProjectAccess, locations: list[Location]) -> list[Secret]:
        with _bounded():
            return await self._unit.secrets.at(access.project.id, locations, max_bytes=self._left())

    async def _own_at(self, access: ProjectAccess, locations: list[Location]) -> dict[Location, str]:
        if not self._with_own:
            return {}
        with _bounded():
            return await owners_values(self._unit, access, locations, max_bytes=self._left())

    def _left(self) -> int:
        return max(0, LISTED_MAX_BYTES - self._size)

    async def _require_readable(self, lacking: Mapping[ReferenceTarget, Secret]) -> None:
        # Asked of each folder once: many references share one.
        readable = {
            slug: access.permissions.at(Action.READ_VALUE, Subject.SECRETS)
            for slug, access in self._projects.items()
            if access is not None
        }
        refused = []
        async for some in in_slices(list(lacking.items())):
            for target, secret in some:
                place = target.location
                may_read = readable.get(target.project_slug)
                if may_read is not None and not may_read(place.environment, place.path):
                    refused.append(_refusal(target, secret))
        if not refused:
            return
        if self._single:
            raise ForbiddenError(refused[0])
        raise ForbiddenError(
            "Failed to expand one or more secret references", details=sorted(refused)[:_MAX_DETAILS]
        )


@contextmanager
def _bounded() -> Iterator[None]:
    try:
        yield
    except TooLargeError as error:
        raise InvalidError(
            f"What the list refers to holds more than {LISTED_MAX_BYTES >> 20} MiB; "
            "ask for fewer secrets at a time, or with expandSecretReferences=false"
        ) from error


def _refusal(target: ReferenceTarget, secret: Secret) -> str:
    place = target.location
    return (
        f"You do not have permission to read secret '{place.key}' in environment '{place.environment}' "
        f"at path '{place.path}', which is referenced by secret '{secret.key}' in environment "
        f"'{secret.environment}' at path '{secret.path}'."
    )
