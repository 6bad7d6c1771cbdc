"""Runs a table: lists it page by page, looks values up, writes and removes names, and says what became of each."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence

from keybearer.base.runs import in_chunks, in_runs
from keybearer.destinations.bounds import Bounds
from keybearer.destinations.form import (
    CreateOrUpdate,
    Hook,
    Listing,
    LookUp,
    Put,
    PutMany,
    Remove,
    RemoveMany,
    Table,
)
from keybearer.destinations.protocol import Change, Outgoing, Present, Refused, Traits, Written
from keybearer.destinations.remote import (
    RemoteAnswer,
    RemoteError,
    RemoteRefusedError,
    RemoteUnavailableError,
)
from keybearer.destinations.session import Session
from keybearer.wire.key_schema import KeyNaming

__all__ = ["TableDestination"]

_TRIES = 3
_LOOKED_UP_AT_ONCE = 8
_PAGES_MAX = 4000
"""After so many a list has no end; the smallest pages of a vendor have ten entries."""


class TableDestination:
    """A place with an entry for each name.

    Args:
        session: what is asked with.
        table: what the vendor's module says.
        traits: what kind of place it is.
        naming: of the sync: values of names that it doesn't make aren't looked up.
    """

    def __init__(self, session: Session, table: Table, traits: Traits, naming: KeyNaming) -> None:
        self.traits = traits
        self._session = session
        self._table = table
        self._naming = naming
        self._known: Mapping[str, Present] | None = None
        self._is_prepared = False

    def extras_of(self, outgoing: Outgoing) -> Mapping[str, str] | None:
        """Return what is to be kept beside that value."""
        return self._table.extras(outgoing)

    async def read(self, names: Sequence[str]) -> Mapping[str, Present]:
        """Return all entries, and values where they come back.

        Raises:
            RemoteError: they can't be read, or are too many.
        """
        await self._prepare()
        found: dict[str, Present] = {}
        bounds = Bounds()
        async for name, present in self._listed(self._table.listing):
            bounds.add(name, (present and present.value) or "")
            if present is not None:
                found[name] = present
        if self._table.look_up is not None:
            await self._look_up(self._table.look_up, found, frozenset(names), bounds)
        self._known = found
        return found

    async def _listed(self, listing: Listing) -> AsyncIterator[tuple[str, Present | None]]:
        call = listing.first()
        for page in range(1, _PAGES_MAX + 1):
            answer = await self._session.ask(call)
            rows = listing.rows(answer.json())
            if not isinstance(rows, list):
                raise RemoteUnavailableError(
                    f"the answer to {call.to} is no list; is this the right address?"
                )
            for one in rows:
                row = listing.row(one)
                if row is not None:
                    yield row.name, row.present
            # Vendors' links are read for what follows and never followed to another host.
            following = listing.following(answer, page)
            if following is None:
                return
            call = following
        raise RemoteUnavailableError(f"there is no end to the list of {self._table.place}")

    async def _look_up(
        self, look_up: LookUp, found: dict[str, Present], wanted: frozenset[str], bounds: Bounds
    ) -> None:
        """Ask for the values of names that are this sync's; a name that is gone is left out."""

        async def one(name: str) -> None:
            present = look_up.present(name, await self._session.ask(look_up.call(name)))
            if present is None:
                del found[name]
                return
            bounds.grow(present.value or "")
            found[name] = present

        ours = iter([name for name in found if name in wanted or self._naming.key_of(name) is not None])

        async def work() -> None:
            for name in ours:
                await one(name)

        try:
            async with asyncio.TaskGroup() as group:
                for _ in range(_LOOKED_UP_AT_ONCE):
                    group.create_task(work())
        except BaseExceptionGroup as failures:
            # The first failure ends the others; whoever calls knows single errors only.
            raise failures.exceptions[0] from None

    async def apply(self, change: Change) -> AsyncIterator[Written | Refused]:
        """Write, then remove, then finish; a refused name stops none of the others.

        Raises:
            RemoteError: something of it wasn't done.
        """
        if not change.put and not change.delete and not change.is_resumed:
            return
        await self._prepare()
        is_changed = False
        try:
            async for told in self._put_all(change.put):
                is_changed = is_changed or isinstance(told, Written)
                yield told
            async for written in self._remove_all(change.delete):
                is_changed = True
                yield written
        except RemoteError:
            # What arrived is put to use also where the rest failed.
            await self._finish(is_needed=is_changed)
            raise
        await self._finish(is_needed=is_changed or change.is_resumed)

    async def _prepare(self) -> None:
        if self._table.prepare is not None and not self._is_prepared:
            await self._table.prepare()
            self._is_prepared = True

    async def _finish(self, *, is_needed: bool) -> None:
        if is_needed and self._table.finish is not None:
            await self._session.ask(self._table.finish)

    async def _put_all(self, put: Sequence[Outgoing]) -> AsyncIterator[Written | Refused]:
        write = self._table.write
        if isinstance(write, PutMany):
            runs = in_runs(put, _weight, count_max=write.names, weight_max=write.size_bytes)
            waiting = list(runs)[::-1]
            while waiting:
                batch = waiting.pop()
                try:
                    versions = write.versions(await self._session.ask(write.call(batch)))
                except RemoteRefusedError as error:
                    if len(batch) > 1:
                        middle = len(batch) // 2
                        waiting += [batch[middle:], batch[:middle]]
                    else:
                        yield Refused.by(error, batch[0].name)
                    continue
                for one in batch:
                    yield Written(one.name, version=versions.get(one.name))
            return
        for one in put:
            try:
                version = await self._put(write, one)
            except RemoteRefusedError as error:
                yield Refused.by(error, one.name)
            else:
                yield Written(one.name, version=version)

    async def _put(self, write: Put | CreateOrUpdate | Hook, one: Outgoing) -> str | None:
        match write:
            case Put():
                return write.version(await self._session.ask(write.call(one)))
            case CreateOrUpdate():
                return write.version(await self._create_or_update(write, one))
            case Hook():
                return await write.put(one, None if self._known is None else one.name in self._known)

    async def _create_or_update(self, write: CreateOrUpdate, one: Outgoing) -> RemoteAnswer:
        present = None if self._known is None else self._known.get(one.name)
        if present is not None and write.is_replaced(present):
            async for _ in self._remove_all([one.name]):
                present = None
        creates = write.creates_first if self._known is None else present is None
        # Somebody else may create or delete it meanwhile, so the first step may work in the end.
        for is_creation in (creates, not creates, creates):
            call, is_wrong = (
                (write.create(one), write.is_taken) if is_creation else (write.update(one), write.is_missing)
            )
            answer = await self._session.ask(call, also=is_wrong)
            if not is_wrong(answer):
                return answer
        raise RemoteUnavailableError(f"'{one.name}' comes and goes in {self._table.place}")

    async def _remove_all(self, names: Sequence[str]) -> AsyncIterator[Written]:
        remove = self._table.remove
        if isinstance(remove, RemoveMany):
            for batch in in_chunks(names, remove.names):
                await self._remove_batch(remove, batch)
                for name in batch:
                    yield Written(name, is_removed=True)
            return
        for name in names:
            await self._remove(remove, name)
            yield Written(name, is_removed=True)

    async def _remove_batch(self, remove: RemoveMany, names: Sequence[str]) -> None:
        for _ in range(_TRIES):
            if not names or (await self._session.ask(remove.call(names))).status != 404:
                return
            present = await self.read(names)
            names = [name for name in names if name in present]
        raise RemoteUnavailableError(
            f"names kept vanishing from {self._table.place} while they were being removed"
        )

    async def _remove(self, remove: Remove, name: str) -> None:
        answer = await self._session.ask(remove.call(name))
        if answer.status == 404:
            # Either somebody was faster, or the whole place can't be seen any more: then nothing was removed.
            await self._session.ask(self._table.listing.first())


def _weight(one: Outgoing) -> int:
    return len(one.name) + len(one.value.encode())
