"""Secrets: sealed on the way in, opened on the way out; no envelope leaves this package."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from sqlalchemy import and_, delete, insert, select, update

from keybearer.base.ids import ProjectId
from keybearer.base.runs import in_chunks
from keybearer.store.records import Secret
from keybearer.store.revisions import ChangeKind, ListChange
from keybearer.store.secret_marks import Head, head_of, heads_where
from keybearer.store.secret_opening import ENVELOPES
from keybearer.store.secret_reads import LISTED_MAX_BYTES, SecretReads, TooLargeError
from keybearer.store.secret_rows import (
    SECRET_ROWS,
    VERSION_ROWS,
    VersionRecord,
    moved_row,
    record_of,
    version_of,
)
from keybearer.store.secret_statements import (
    CHUNK,
    NAMES_MAX,
    OF_IDS,
    PERSONAL,
    PLACE_FIELDS,
    PLACES,
    UNTAG,
    UPDATE,
    UPDATED,
    on_top_of,
)
from keybearer.store.tables.secrets import SecretRow, SecretTagRow, SecretVersionRow

__all__ = ["LISTED_MAX_BYTES", "Secrets", "TooLargeError"]


class Secrets(SecretReads):
    """Repository of secrets."""

    async def insert(self, project_id: ProjectId, secrets: Sequence[Secret]) -> None:
        """Store new secrets of the project, each with its first version and tags."""
        key = await self._keys.active(project_id)
        records = [record_of(secret, key) for secret in secrets]
        await self._seals.change(project_id, (), map(head_of, secrets), is_edit=True)
        await SECRET_ROWS.insert(self._connection, [SECRET_ROWS.row(record) for record in records])
        await self._add_versions(map(version_of, records))
        await self._add_tags(secrets)
        self._changes.folders += [_change(ChangeKind.CREATED, secret) for secret in secrets]

    async def update(self, project_id: ProjectId, secrets: Sequence[Secret]) -> None:
        """Store a new version of each secret; the former ones stay readable by `version`."""
        key = await self._keys.active(project_id)
        places, heads = await self._places_of(ChangeKind.DELETED, [s.id for s in secrets])
        before = dict.fromkeys(places)
        await self._seals.change(project_id, heads, map(head_of, secrets), is_edit=True)
        versions = [version_of(record_of(secret, key)) for secret in secrets]
        for secret in secrets:
            before.pop(_change(ChangeKind.DELETED, secret), None)
        stayed = {(head.id, head.folder_id, head.key) for head in heads}
        for is_moved in (False, True):
            changed = [
                one for one in versions if ((one.secret_id, one.folder_id, one.key) not in stayed) is is_moved
            ]
            if changed:
                names = ("secret_id", *UPDATED[is_moved])
                rows = [{name: getattr(one, name) for name in names} for one in changed]
                await self._connection.execute(UPDATE[is_moved], rows)
        await self._add_versions(versions)
        for some in in_chunks(secrets, NAMES_MAX):
            await self._connection.execute(UNTAG, {"ids": [secret.id for secret in some]})
        await self._add_tags(secrets)
        # What was renamed or moved is gone from where it was.
        self._changes.folders += before
        self._changes.folders += [_change(ChangeKind.UPDATED, secret) for secret in secrets]

    async def move_overrides(self, old: Secret, new: Secret) -> None:
        """Have the personal secrets on top of a shared one follow it to its new key and folder."""
        at_old = and_(SecretRow.folder_id == old.folder_id, SecretRow.key == old.key, SecretRow.owner != "")
        moved = list((await self._connection.execute(select(SecretRow.id).where(at_old))).scalars())
        if not moved:
            return
        gone, before = await self._places_of(ChangeKind.DELETED, moved)
        key = await self._keys.active(old.project_id)
        for some in in_chunks(moved, CHUNK):
            rows = (await self._connection.execute(OF_IDS.rows[True], {"ids": some})).all()
            keys = await self._opening.keys(map(ENVELOPES, rows), {old.project_id})
            for row in rows:
                changed = moved_row(keys, key, row, new)
                await self._connection.execute(
                    update(SecretRow).where(SecretRow.id == row.id).values(changed)
                )
                await self._connection.execute(
                    update(SecretVersionRow)
                    .where(SecretVersionRow.secret_id == row.id, SecretVersionRow.version == row.version)
                    .values(changed)
                )
        created, after = await self._places_of(ChangeKind.CREATED, moved)
        await self._seals.change(old.project_id, before, after)
        self._changes.folders += [*gone, *created]

    async def delete(self, secret_ids: Iterable[str]) -> None:
        """Remove the secrets with all their versions, and with a shared one the personal ones on top of it."""
        for some in in_chunks(secret_ids, CHUNK):
            going = [*some, *(await self._connection.execute(on_top_of(some))).scalars()]
            places, heads = await self._places_of(ChangeKind.DELETED, going)
            self._changes.folders += places
            await self._change_each(heads)
            for part in in_chunks(going, CHUNK):
                await self._connection.execute(delete(SecretRow).where(SecretRow.id.in_(part)))

    async def projects_of_owner(self, owner: str) -> set[ProjectId]:
        """Return the ids of the projects that hold personal secrets of a user, member or not."""
        found = await self._connection.execute(
            select(SecretRow.project_id).where(PERSONAL).distinct(), {"owner": owner}
        )
        return {ProjectId(project_id) for project_id in found.scalars()}

    async def delete_of_owner(self, owner: str) -> None:
        """Remove all personal secrets of a user, with all their versions; their projects must have been moved."""
        heads = await self._connection.execute(heads_where(PERSONAL), {"owner": owner})
        await self._change_each([Head(*row) for row in heads])
        await self._connection.execute(delete(SecretRow).where(PERSONAL), {"owner": owner})

    async def _places_of(
        self, kind: ChangeKind, secret_ids: Sequence[str]
    ) -> tuple[list[ListChange], list[Head]]:
        """Return where the secrets are now, as changes of this kind, and their heads."""
        found: list[ListChange] = []
        heads: list[Head] = []
        for some in in_chunks(secret_ids, NAMES_MAX):
            for row in await self._connection.execute(PLACES, {"ids": some}):
                found.append(ListChange(kind, *row[:PLACE_FIELDS]))
                heads.append(Head(*row[PLACE_FIELDS:]))
        return found, heads

    async def _change_each(self, gone: Sequence[Head]) -> None:
        """Take heads of any project out of the sums of their folders."""
        of_project: dict[ProjectId, list[Head]] = {}
        for head in gone:
            of_project.setdefault(head.project_id, []).append(head)
        for project_id in sorted(of_project):
            await self._seals.change(project_id, of_project[project_id], ())

    async def _add_versions(self, versions: Iterable[VersionRecord]) -> None:
        await VERSION_ROWS.insert(self._connection, [VERSION_ROWS.row(version) for version in versions])

    async def _add_tags(self, secrets: Sequence[Secret]) -> None:
        rows = [{"secret_id": secret.id, "tag_id": tag.id} for secret in secrets for tag in secret.tags]
        if rows:
            await self._connection.execute(insert(SecretTagRow), rows)


def _change(kind: ChangeKind, secret: Secret) -> ListChange:
    return ListChange(kind, secret.project_id, secret.environment, secret.path, secret.key, secret.owner)
