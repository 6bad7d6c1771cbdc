"""Tags that secrets of a project may carry (wire.md section 2.10)."""

from __future__ import annotations

from collections.abc import Sequence

from keybearer.base.clock import Clock
from keybearer.base.ids import new_uuid
from keybearer.domain.audit import EventType
from keybearer.domain.authorization import Action, Principal, Subject
from keybearer.domain.errors import InvalidError, NotFoundError
from keybearer.domain.project_gate import Entered, ProjectGate, changed
from keybearer.interface.tags import CreateTag, DeleteTag, GetTag, GetTagBySlug, ListTags, UpdateTag
from keybearer.store.database import Database
from keybearer.store.tags import Tag

__all__ = ["Tags"]

_MAX_PER_PROJECT = 1000
_EVENTS = {
    Action.CREATE: EventType.CREATE_TAG,
    Action.EDIT: EventType.UPDATE_TAG,
    Action.DELETE: EventType.DELETE_TAG,
}


class Tags:
    """Decides about tags."""

    def __init__(self, database: Database, clock: Clock) -> None:
        self._gate = ProjectGate(database, Subject.TAGS, _EVENTS)
        self._clock = clock

    async def create(self, principal: Principal, new: CreateTag) -> Tag:
        """Make a tag.

        Raises:
            NotFoundError: no such project.
            ForbiddenError: the principal may not.
            InvalidError: the slug is taken, or the project has too many.
        """
        async with self._gate.changing(principal, new.project_id, Action.CREATE) as entered:
            present = await entered.unit.tags.of_project(entered.project_id)
            _require_free(new.slug, present)
            if len(present) >= _MAX_PER_PROJECT:
                raise InvalidError(f"A project has at most {_MAX_PER_PROJECT} tags")
            now = self._clock.now()
            tag = Tag(new_uuid(), entered.project_id, new.slug, new.name or new.slug, new.color, now, now)
            await entered.unit.tags.add(tag)
            return _noted(entered, tag)

    async def list(self, principal: Principal, asked: ListTags) -> Sequence[Tag]:
        """Return the project's tags by slug.

        Raises:
            NotFoundError: no such project.
            ForbiddenError: the principal may not read tags.
        """
        async with self._gate.reading(principal, asked.project_id) as entered:
            return await entered.unit.tags.of_project(entered.project_id)

    async def get(self, principal: Principal, asked: GetTag | GetTagBySlug) -> Tag:
        """Return one tag of the project, by id or slug.

        Raises:
            NotFoundError: no such project or tag.
            ForbiddenError: the principal may not read tags.
        """
        async with self._gate.reading(principal, asked.project_id) as entered:
            present = await entered.unit.tags.of_project(entered.project_id)
            if isinstance(asked, GetTagBySlug):
                return _one(present, slug=asked.slug)
            return _one(present, tag_id=asked.tag_id)

    async def update(self, principal: Principal, change: UpdateTag) -> Tag:
        """Change a tag.

        Raises:
            NotFoundError: no such project or tag.
            ForbiddenError: the principal may not.
            InvalidError: the new slug is taken.
        """
        async with self._gate.changing(principal, change.project_id, Action.EDIT) as entered:
            present = await entered.unit.tags.of_project(entered.project_id)
            old = _one(present, tag_id=change.tag_id)
            _require_free(change.slug, [tag for tag in present if tag.id != old.id])
            new = changed(old, change, self._clock.now())
            await entered.unit.tags.update(new)
            return _noted(entered, new, may_be_carried=True)

    async def delete(self, principal: Principal, asked: DeleteTag) -> Tag:
        """Remove a tag, from all secrets too, and return what it was.

        Raises:
            NotFoundError: no such project or tag.
            ForbiddenError: the principal may not.
        """
        async with self._gate.changing(principal, asked.project_id, Action.DELETE) as entered:
            present = await entered.unit.tags.of_project(entered.project_id)
            tag = _one(present, tag_id=asked.tag_id)
            await entered.unit.tags.delete(tag.id)
            return _noted(entered, tag, may_be_carried=True)


def _require_free(slug: str | None, others: Sequence[Tag]) -> None:
    if any(tag.slug == slug for tag in others):
        raise InvalidError(f"Tag with slug '{slug}' already exists")


def _noted(entered: Entered, tag: Tag, *, may_be_carried: bool = False) -> Tag:
    """Return the tag, noted for the audit log, and for caches if secrets may carry it."""
    entered.details.update(tagId=tag.id, slug=tag.slug)
    if may_be_carried:
        entered.unit.changes.organizations.add(entered.access.project.organization_id)
    return tag


def _one(present: Sequence[Tag], *, tag_id: str = "", slug: str = "") -> Tag:
    for tag in present:
        if tag.id == tag_id or tag.slug == slug:
            return tag
    named = f"ID '{tag_id}'" if tag_id else f"slug '{slug}'"
    raise NotFoundError(f"Tag with {named} not found")
