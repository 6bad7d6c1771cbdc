"""References as they are stored: noted with each text, and kept in step when what they name moves.

They follow within the project. Other projects name it by its slug; their texts are theirs to change.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import replace
from datetime import datetime
from types import MappingProxyType

from keybearer.base.ids import EnvironmentSlug, FolderPath
from keybearer.base.runs import in_chunks
from keybearer.base.slices import in_slices
from keybearer.domain.access import ProjectAccess
from keybearer.domain.errors import InvalidError
from keybearer.domain.secrets.auditing import UPDATED, audit_secrets
from keybearer.domain.secrets.bindings import bind
from keybearer.domain.secrets.expansion import referring_text, target_of
from keybearer.domain.secrets.naming import Naming, names_of
from keybearer.domain.secrets.references import follow_moves
from keybearer.domain.secrets.text import checked_size
from keybearer.store.records import Secret
from keybearer.store.references import ANYWHERE
from keybearer.store.secret_places import Location, ReferenceTarget
from keybearer.store.unit import UnitOfWork

__all__ = ["follow_folders", "follow_secret", "store_references"]

_MAX_REFERENCES = 1000
_AT_ONCE, _AT_ONCE_BYTES = 500, 16 * 1024 * 1024
"""Texts opened at a time: those of a large folder together would fill the memory."""
_TOLD_AT_ONCE = 100
"""Secrets in one line of the audit log: a line of too many holds only their number."""

_Moved = Callable[[Location], Location]
_NOTHING_RENAMED: Mapping[EnvironmentSlug, str] = MappingProxyType({})


async def store_references(
    unit: UnitOfWork,
    access: ProjectAccess,
    names: Sequence[Naming],
    *,
    rewritten: Collection[str],
    renamed: Mapping[EnvironmentSlug, str] = _NOTHING_RENAMED,
) -> None:
    """Remember what the secrets' texts name, so that a change or a rename finds them again, and what that means.

    Args:
        unit: of the change.
        access: to the project of the secrets.
        names: secrets as they are stored, with what they name.
        rewritten: ids of those whose texts somebody wrote just now; names of others keep their meaning.
        renamed: ids of environments by the slugs that they are about to get.

    Raises:
        InvalidError: a text names too many.
    """
    places: dict[str, AbstractSet[ReferenceTarget]] = {}
    new: set[str] = set()
    for secret, named in names:
        if len(named.targets) > _MAX_REFERENCES:
            raise InvalidError(f"Secret '{secret.key}' refers to more than {_MAX_REFERENCES} secrets")
        places[secret.id] = named.targets | {ANYWHERE} if named.builds else named.targets
        # What is written for the first time names nothing so far: most writes create.
        if secret.version == 1 and secret.id in rewritten:
            new.add(secret.id)
    await unit.references.put(places, new=new)
    await bind(unit, access.project, names, rewritten=rewritten, renamed=renamed)


async def follow_secret(
    unit: UnitOfWork, access: ProjectAccess, old: Secret, new: Secret, now: datetime
) -> None:
    """Have the project's other secrets name a secret by its new key and folder. Its own text stays."""
    before, after = target_of(old).location, target_of(new).location
    ids: dict[str, None] = {}
    for slug in ("", access.project.slug):
        ids.update(dict.fromkeys(await unit.references.naming(access.project.id, slug, before)))
    ids.pop(new.id, None)
    await _follow(unit, access, ids, lambda place: after if place == before else place, now, _NOTHING_RENAMED)


async def follow_folders(
    unit: UnitOfWork,
    access: ProjectAccess,
    environment: EnvironmentSlug,
    paths: Iterable[FolderPath],
    moved: Callable[[EnvironmentSlug, FolderPath], tuple[EnvironmentSlug, FolderPath]],
    now: datetime,
    renamed: Mapping[EnvironmentSlug, str] = _NOTHING_RENAMED,
) -> None:
    """Have the project's secrets name folders by their new paths. Called before these move.

    Args:
        unit: of the move.
        access: to the project.
        environment: that of the folders, as yet.
        paths: of all folders that move.
        moved: tells where such a folder will be, and leaves others where they are.
        now: when the texts change.
        renamed: ids of environments by the slugs that they are about to get.
    """
    targets = [
        ReferenceTarget(slug, Location(environment, path, ""))
        for path in paths
        for slug in ("", access.project.slug)
    ]

    def moved_secret(place: Location) -> Location:
        return Location(*moved(place.environment, place.path), place.key)

    ids = await unit.references.naming_folders(access.project.id, targets)
    await _follow(unit, access, ids, moved_secret, now, renamed)


async def _follow(
    unit: UnitOfWork,
    access: ProjectAccess,
    secret_ids: Iterable[str],
    moved: _Moved,
    now: datetime,
    renamed: Mapping[EnvironmentSlug, str],
) -> None:
    ids = list(secret_ids)
    # These names mean something else than what moves, which has the name now.
    elsewhere: dict[str, set[EnvironmentSlug]] = {}
    for loose in await unit.bindings.loose(access.project.id) if ids else []:
        elsewhere.setdefault(loose.secret_id, set()).add(loose.named[1])
    for some in await unit.secrets.in_bunches(ids, count_max=_AT_ONCE, bytes_max=_AT_ONCE_BYTES):
        at_new_places: list[Secret] = []
        changed: list[Secret] = []
        async for found in in_slices(await unit.secrets.by_ids(some)):
            for secret in found:
                place = target_of(secret).location
                now_at = moved(place)
                text = referring_text(secret)
                followed = follow_moves(
                    text,
                    place,
                    now_at,
                    project_slug=access.project.slug,
                    moved=_but_in(elsewhere.get(secret.id), moved),
                )
                if followed != text:
                    checked_size(followed)
                    relocated = replace(
                        secret,
                        environment=now_at.environment,
                        path=now_at.path,
                        value=followed,
                        version=secret.version + 1,
                        updated_at=now,
                    )
                    changed.append(relocated)
                elif now_at != place:
                    relocated = replace(secret, environment=now_at.environment, path=now_at.path)
                else:
                    relocated = secret
                at_new_places.append(relocated)
        if changed:
            await unit.secrets.update(access.project.id, changed)
            for told in in_chunks(changed, _TOLD_AT_ONCE):
                await audit_secrets(unit, access, UPDATED, told, cause="references-follow")
        # What a text names by its key alone is named anew where the text itself moves.
        names = await names_of(at_new_places)
        await store_references(unit, access, names, rewritten=(), renamed=renamed)


def _but_in(environments: AbstractSet[EnvironmentSlug] | None, moved: _Moved) -> _Moved:
    """Return what tells where a secret moves, outside of these environments."""
    if not environments:
        return moved
    return lambda place: place if place.environment in environments else moved(place)
