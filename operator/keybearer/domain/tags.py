"""Tags that secrets of a project may carry (wire.md section 2.10)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from keybearer.base.clock import Clock
from keybearer.base.ids import ProjectId, new_uuid
from keybearer.domain.access import ProjectRef, open_project
from keybearer.domain.audit import EventType, audited
from keybearer.domain.authorization import Action, Principal, Subject
from keybearer.domain.errors import InvalidError, NotFoundError
from keybearer.store.database import Database
from keybearer.store.records import Tag
from keybearer.store.unit import UnitOfWork

__all__ = ["TagChange", "Tags"]

_MAX_PER_PROJECT = 1000


@dataclass(frozen=True, slots=True)
class TagChange:
    """What changes; None leaves a field as it is."""

    slug: str | None = None
    name: str | None = None
    color: str | None = None


class Tags:
    """Decides about tags."""

    def __init__(self, database: Database, clock: Clock) -> None:
        self._database = database
        self._clock = clock

    async def create(
        self, principal: Principal, ref: ProjectRef, slug: str, name: str | None, color: str | None
    ) -> Tag:
        """Make a tag.

        Raises:
            NotFoundError: no such project.
            ForbiddenError: the principal may not.
            InvalidError: the slug is taken, or the project has too many.
        """
        async with self._database.writing() as unit:
            access = await open_project(unit, principal, ref)
            access.require(Action.CREATE, Subject.TAGS)
            await unit.move_project(access.project.id)
            present = await unit.tags.of_project(access.project.id)
            if any(tag.slug == slug for tag in present):
                raise InvalidError(f"Tag with slug '{slug}' already exists")
            if len(present) >= _MAX_PER_PROJECT:
                raise InvalidError(f"A project has at most {_MAX_PER_PROJECT} tags")
            now = self._clock.now()
            tag = Tag(new_uuid(), access.project.id, slug, name or slug, color, now, now)
            await unit.tags.add(tag)
            await unit.audit(
                audited(principal, EventType.CREATE_TAG, access.project.id, tagId=tag.id, slug=tag.slug)
            )
            return tag

    async def list(self, principal: Principal, ref: ProjectRef) -> Sequence[Tag]:
        """Return the project's tags by slug.

        Raises:
            NotFoundError: no such project.
            ForbiddenError: the principal may not read tags.
        """
        async with self._database.reading() as unit:
            access = await open_project(unit, principal, ref)
            access.require(Action.READ, Subject.TAGS)
            return await unit.tags.of_project(access.project.id)

    async def get(self, principal: Principal, ref: ProjectRef, *, tag_id: str = "", slug: str = "") -> Tag:
        """Return one tag of the project, by id or slug.

        Raises:
            NotFoundError: no such project or tag.
            ForbiddenError: the principal may not read tags.
        """
        async with self._database.reading() as unit:
            access = await open_project(unit, principal, ref)
            access.require(Action.READ, Subject.TAGS)
            return await _one(unit, access.project.id, tag_id=tag_id, slug=slug)

    async def update(self, principal: Principal, ref: ProjectRef, tag_id: str, change: TagChange) -> Tag:
        """Change a tag; secrets that carry it show the change.

        Raises:
            NotFoundError: no such project or tag.
            ForbiddenError: the principal may not.
            InvalidError: the new slug is taken.
        """
        async with self._database.writing() as unit:
            access = await open_project(unit, principal, ref)
            access.require(Action.EDIT, Subject.TAGS)
            await unit.move_project(access.project.id)
            old = await _one(unit, access.project.id, tag_id=tag_id)
            others = await unit.tags.of_project(access.project.id)
            if any(tag.slug == change.slug and tag.id != old.id for tag in others):
                raise InvalidError(f"Tag with slug '{change.slug}' already exists")
            new = replace(
                old,
                slug=old.slug if change.slug is None else change.slug,
                name=old.name if change.name is None else change.name,
                color=old.color if change.color is None else change.color,
                updated_at=self._clock.now(),
            )
            await unit.tags.update(new)
            await unit.audit(
                audited(principal, EventType.UPDATE_TAG, access.project.id, tagId=new.id, slug=new.slug)
            )
            unit.changes.organizations.add(access.project.organization_id)  # any secret may carry it
            return new

    async def delete(self, principal: Principal, ref: ProjectRef, tag_id: str) -> Tag:
        """Remove a tag, from all secrets too, and return what it was.

        Raises:
            NotFoundError: no such project or tag.
            ForbiddenError: the principal may not.
        """
        async with self._database.writing() as unit:
            access = await open_project(unit, principal, ref)
            access.require(Action.DELETE, Subject.TAGS)
            await unit.move_project(access.project.id)
            tag = await _one(unit, access.project.id, tag_id=tag_id)
            await unit.tags.delete(tag.id)
            await unit.audit(
                audited(principal, EventType.DELETE_TAG, access.project.id, tagId=tag.id, slug=tag.slug)
            )
            unit.changes.organizations.add(access.project.organization_id)  # any secret may have carried it
            return tag


async def _one(unit: UnitOfWork, project_id: ProjectId, *, tag_id: str = "", slug: str = "") -> Tag:
    for tag in await unit.tags.of_project(project_id):
        if tag.id == tag_id or tag.slug == slug:
            return tag
    named = f"ID '{tag_id}'" if tag_id else f"slug '{slug}'"
    raise NotFoundError(f"Tag with {named} not found")
