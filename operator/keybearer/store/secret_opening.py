"""Turns rows of secrets into secrets: checks them, opens their envelopes, and adds their tags."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from operator import itemgetter
from typing import Any

from sqlalchemy import ColumnElement, Select
from sqlalchemy import Row as Result
from sqlalchemy.ext.asyncio import AsyncConnection

from keybearer.base.slices import SLICE, in_slices
from keybearer.store.failures import RaceError
from keybearer.store.folder_seals import FolderSeals
from keybearer.store.keys import Keys, keys_altered
from keybearer.store.place_seals import PlaceSeals
from keybearer.store.records import Secret
from keybearer.store.sealing.envelope import KeyName, SealingKey
from keybearer.store.secret_judgement import Judgement
from keybearer.store.secret_marks import DETAILS, FOLDER_ID, HAS_TAGS, PROJECT_ID, VALUE
from keybearer.store.secret_rows import key_names, secret_of
from keybearer.store.secret_statements import tags_of
from keybearer.store.tags import Tag

__all__ = ["ENVELOPES", "Parameters", "SecretOpening"]

Parameters = Mapping[str, str | list[str]]
"""What is bound in a statement."""

_Row = Result[*tuple[Any, ...]]

ENVELOPES = itemgetter(VALUE, DETAILS)
"""Returns the envelopes of value and details of a row that begins with `LISTED_COLUMNS`."""


class SecretOpening:
    """Opens the rows of secrets that statements find."""

    def __init__(
        self, connection: AsyncConnection, keys: Keys, places: PlaceSeals, seals: FolderSeals
    ) -> None:
        self._connection = connection
        self._keys = keys
        self._places = places
        self._seals = seals

    def judgement(self) -> Judgement:
        """Return a new check for the rows of one read."""
        return Judgement(self._connection, self._places, self._seals)

    async def keys(
        self, envelopes: Iterable[tuple[bytes | None, bytes | None]], project_ids: Iterable[str]
    ) -> Mapping[KeyName, SealingKey]:
        """Return the keys that these envelopes, of a value and of details, need.

        Raises:
            AlteredDatabaseError: one is no longer accepted in its project, because everything was sealed anew.
        """
        keys = await self._keys.opened(key_names(envelopes))
        if not all(key.is_strict for key in keys.values()):
            await self._places.require_unbound(project_ids)
        return keys

    async def rows(self, statement: Select[*tuple[Any, ...]], parameters: Parameters) -> list[_Row]:
        """Return what the statement finds; many rows are read in slices."""
        found: list[_Row] = []
        for some in (await self._connection.execute(statement, parameters)).partitions(SLICE):
            if found:
                await asyncio.sleep(0)
            found.extend(some)
        return found

    async def opened(
        self,
        rows: Sequence[_Row],
        condition: ColumnElement[bool],
        parameters: Parameters,
        judgement: Judgement,
        *,
        with_values: bool,
    ) -> list[Secret]:
        """Return the secrets of these rows, which the condition with these parameters found, and check the read."""
        found = await self.read(rows, condition, parameters, judgement, with_values=with_values)
        await judgement.require()
        return found

    async def read(
        self,
        rows: Sequence[_Row],
        condition: ColumnElement[bool],
        parameters: Parameters,
        judgement: Judgement,
        *,
        with_values: bool,
    ) -> list[Secret]:
        """Return the secrets of these rows, as `opened` does; the caller adds more rows, then calls `require`."""
        if not rows:
            return []
        keys = await self.keys(map(ENVELOPES, rows), {row[PROJECT_ID] for row in rows})
        await self._require_marked(rows, keys, judgement)
        tagged = any(row[HAS_TAGS] for row in rows)
        tags = await self._tags(condition, parameters) if tagged else {}
        opened: list[Secret] = []
        async for some in in_slices(rows):
            judgement.see(some)
            opened.extend(
                [secret_of(row, keys, tags.get(row[0], ()), with_values=with_values) for row in some]
            )
        return opened

    async def _require_marked(
        self,
        rows: Sequence[_Row],
        keys: Mapping[KeyName, SealingKey],
        judgement: Judgement,
    ) -> None:
        """Check that no strict key sealed rows of folders that aren't under marks.

        Somebody may have removed the strict key from the database; this process still remembers it.
        """
        for row in rows:
            if judgement.is_marked(row[FOLDER_ID]):
                continue
            if any(keys[name].is_strict for name in key_names([ENVELOPES(row)])):
                if await self._keys.is_strict(row[PROJECT_ID]):
                    raise RaceError("the project came under marks at the same moment; try again")
                raise keys_altered(row[PROJECT_ID])

    async def _tags(
        self, condition: ColumnElement[bool], parameters: Parameters
    ) -> dict[str, tuple[Tag, ...]]:
        tags: dict[str, tuple[Tag, ...]] = {}
        for row in await self._connection.execute(tags_of(condition), parameters):
            tags[row.secret_id] = (*tags.get(row.secret_id, ()), Tag(*row[:-1]))
        return tags
