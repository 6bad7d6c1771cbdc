"""Runs a table: lists it page by page, looks values up, writes and removes names, and says what became of each."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import timedelta

from keybearer.base.runs import in_chunks, in_runs
from keybearer.destinations.bounds import Bounds
from keybearer.destinations.engine.looking_up import each
from keybearer.destinations.listing import Listing, LookUp, Row, Unusable
from keybearer.destinations.protocol import Change, Outgoing, Present, Refused, Traits, Written
from keybearer.destinations.remote import (
    RemoteAnswer,
    RemoteError,
    RemoteRefusedError,
    RemoteUnavailableError,
)
from keybearer.destinations.session import Call, Session
from keybearer.destinations.table import (
    CreateOrUpdate,
    CustomPut,
    Put,
    PutMany,
    Remove,
    RemoveMany,
    Spelling,
    Table,
)
from keybearer.wire.key_schema import KeyNaming

__all__ = ["TableDestination"]

_TRIES = 3
_PREPARATIONS = 10
_PREPARATION_PAUSE = timedelta(seconds=2)
"""Azure takes a few seconds to delete or recover a secret; with the tries above, a run waits for 16 s at most."""
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
        self._spelt: dict[str, str] = {}
        self._unusable: dict[str, str] = {}
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
        spelling = self._table.spelling
        wanted = _by_fold(names, spelling)
        found: dict[str, Present] = {}
        bounds, counted = Bounds(), set[str]()
        self._spelt, self._unusable = {}, {}
        async for row in self._listed():
            value = row.present.value if isinstance(row.present, Present) else None
            if row.name in counted:
                bounds.grow(value or "")
            else:
                counted.add(row.name)
                bounds.add(row.name, value or "")
            if isinstance(row.present, Unusable):
                self._unusable[spelling.fold(row.name)] = row.present.reason
            elif row.present is not None:
                ours = wanted.get(spelling.fold(row.name)) or [self._name_of(row.name)]
                found |= dict.fromkeys(ours, row.present)
                self._spelt |= dict.fromkeys(ours, row.name)
        if self._table.look_up is not None:
            await self._look_up(self._table.look_up, found, frozenset(names), bounds)
        self._known = found
        return found

    async def _ask(
        self, call: Call, *, also: Callable[[RemoteAnswer], bool] = lambda _: False
    ) -> RemoteAnswer:
        return await self._session.ask(self._table.placed(call), also=also)

    async def _listed(self) -> AsyncIterator[Row]:
        listing: Listing | None = self._table.listing
        while listing is not None:
            async for row in self._pages(listing):
                yield row
            listing = listing.then

    async def _pages(self, listing: Listing) -> AsyncIterator[Row]:
        call, page = listing.first(), 0
        while call is not None:
            if page == _PAGES_MAX:
                raise RemoteUnavailableError(f"there is no end to the list of {self._table.place}")
            page += 1
            answer = await self._ask(call)
            rows = listing.rows(answer.json())
            if not isinstance(rows, list):
                raise RemoteUnavailableError(
                    f"the answer is no list when asked to {self._table.placed(call).to}; is this the right address?"
                )
            for one in rows:
                row = listing.row(one)
                if row is not None:
                    yield row
            # Only the query of a vendor's link is used: the link itself may lead to another host.
            call = listing.following(answer, page)

    async def _look_up(
        self, look_up: LookUp, found: dict[str, Present], wanted: frozenset[str], bounds: Bounds
    ) -> None:
        """Ask for the values of names that are this sync's; a name that is gone is left out."""

        async def one(asked: tuple[str, list[str]]) -> None:
            spelt, ours = asked
            answer = await self._ask(
                look_up.call(spelt), also=lambda given: given.status == 404 or look_up.taken(given)
            )
            is_gone = answer.status == 404 and not look_up.taken(answer)
            present = None if is_gone else look_up.present(spelt, answer)
            if isinstance(present, Present):
                if not look_up.is_compared_only:
                    bounds.grow(present.value or "")
                found.update(dict.fromkeys(ours, present))
                return
            if isinstance(present, Unusable):
                self._unusable[self._table.spelling.fold(spelt)] = present.reason
            for name in ours:
                del found[name]

        by_spelling: dict[str, list[str]] = {}
        for name in found:
            is_made_here = not look_up.is_compared_only and self._naming.key_of(name) is not None
            if name in wanted or is_made_here:
                by_spelling.setdefault(self._spelt[name], []).append(name)
        await each(by_spelling.items(), one)

    async def apply(self, change: Change) -> AsyncIterator[Written | Refused]:
        """Write, then remove, then finish; a refused name keeps no other from being written.

        Raises:
            RemoteError: something of it wasn't done.
        """
        is_resumed = change.is_resumed and self._table.finish is not None
        if not change.put and not change.delete and not is_resumed:
            return
        await self._prepare()
        is_changed, refused = False, set[str]()
        try:
            async for told in self._put_all(change):
                is_changed = is_changed or isinstance(told, Written)
                if isinstance(told, Refused):
                    refused.add(told.name)
                yield told
            held = _by_fold(change.held, self._table.spelling)
            async for written in self._remove_all(change.removable(refused), held):
                is_changed = True
                yield written
        except RemoteError:
            # What was written must take effect even if the rest failed.
            await self._finish(is_needed=is_changed or is_resumed)
            raise
        await self._finish(is_needed=is_changed or is_resumed)

    async def _prepare(self) -> None:
        if self._table.prepare is not None and not self._is_prepared:
            await self._table.prepare()
            self._is_prepared = True

    async def _finish(self, *, is_needed: bool) -> None:
        if is_needed and self._table.finish is not None:
            await self._session.ask(self._table.finish)

    async def _put_all(self, change: Change) -> AsyncIterator[Written | Refused]:
        held = _by_fold(change.held | {one.name for one in change.put}, self._table.spelling)
        put: list[Outgoing] = []
        for one in change.put:
            reason = self._reason_against(one.name, held)
            if reason is None:
                put.append(one)
            else:
                yield Refused(one.name, reason, is_local=True)
        write = self._table.write
        told = self._put_many(write, put) if isinstance(write, PutMany) else self._put_each(write, put)
        async for outcome in told:
            yield outcome

    async def _put_each(
        self, write: Put | CreateOrUpdate | CustomPut, put: Sequence[Outgoing]
    ) -> AsyncIterator[Written | Refused]:
        for one in put:
            outcome: Written | Refused
            try:
                version = await self._put(write, replace(one, name=self._spelling_of(one.name)), one.name)
                outcome = Written(one.name, version=version)
            except RemoteRefusedError as error:
                outcome = Refused.by(error, one.name)
            yield outcome

    async def _put_many(self, write: PutMany, put: Sequence[Outgoing]) -> AsyncIterator[Written | Refused]:
        waiting = list(in_runs(put, _weight, count_max=write.names, weight_max=write.size_bytes))[::-1]
        while waiting:
            batch = waiting.pop()
            try:
                versions = write.versions(await self._ask(write.call(batch)))
            except RemoteRefusedError as error:
                if len(batch) == 1:
                    yield Refused.by(error, batch[0].name)
                else:
                    middle = len(batch) // 2
                    waiting += [batch[middle:], batch[:middle]]
                continue
            for one in batch:
                yield Written(one.name, version=versions.get(one.name))

    def _spelling_of(self, name: str) -> str:
        return self._spelt.get(name) or self._table.spelling.spelt(name)

    def _name_of(self, spelt: str) -> str:
        """Return the sync's name for an entry; one that the key schema doesn't make has the remote's name."""
        spelling = self._table.spelling.spelt
        key = KeyNaming(spelling(self._naming.prefix), spelling(self._naming.suffix)).key_of(spelt)
        return spelt if key is None else self._naming.name_of(key)

    def _reason_against(self, name: str, held: Mapping[str, Sequence[str]]) -> str | None:
        """Return why a name is not written although the destination would take such names; None if it is."""
        fold = self._table.spelling.fold(name)
        same = held.get(fold, ())
        if len(same) > 1:
            named = " and ".join(repr(one) for one in sorted(same))
            return f"the names {named} are the same for the destination; rename one of them"
        if fold in self._unusable:
            return (
                f"'{name}' {self._unusable[fold]} at the destination, so it is left as it is; change that there, or "
                "rename the secret here"
            )
        return None

    async def _put(self, write: Put | CreateOrUpdate | CustomPut, one: Outgoing, name: str) -> str | None:
        match write:
            case Put():
                return write.version(await self._put_prepared(write, one, name))
            case CreateOrUpdate():
                return write.version(await self._create_or_update(write, one, name))
            case CustomPut():
                return await write.put(one, None if self._known is None else name in self._known)

    async def _put_prepared(self, write: Put, one: Outgoing, name: str) -> RemoteAnswer:
        call, preparation = write.call(one), write.preparation
        if preparation is None:
            return await self._ask(call)
        if preparation.is_for_new and self._known is not None and name not in self._known:
            await self._ask(preparation.call(one))
        for number in range(_PREPARATIONS):
            answer = await self._ask(call, also=preparation.is_needed)
            if not preparation.is_needed(answer):
                return answer
            if number == _PREPARATIONS - 1:
                break
            # Somebody may have undone, or be doing, the same meanwhile.
            await self._ask(preparation.call(one))
            # The first refusal only says that it was not prepared yet.
            if number:
                await self._session.pause(_PREPARATION_PAUSE)
        raise RemoteUnavailableError(
            f"'{name}' can't be written to {self._table.place} yet: it isn't ready after {_PREPARATIONS} attempts"
        )

    async def _create_or_update(self, write: CreateOrUpdate, one: Outgoing, name: str) -> RemoteAnswer:
        present = None if self._known is None else self._known.get(name)
        if present is not None and write.is_replaced(present):
            async for _ in self._remove_all([name], {}):
                present = None
        creates = write.creates_first if self._known is None else present is None
        # Somebody else may create or delete it meanwhile, so the first step may work in the end.
        for is_creation in (creates, not creates, creates):
            call, is_wrong = (
                (write.create(one), write.is_taken) if is_creation else (write.update(one), write.is_missing)
            )
            answer = await self._ask(call, also=is_wrong)
            if not is_wrong(answer):
                return answer
        raise RemoteUnavailableError(
            f"others create and delete '{name}' in {self._table.place} at the same time"
        )

    async def _remove_all(
        self, names: Sequence[str], held: Mapping[str, Sequence[str]]
    ) -> AsyncIterator[Written]:
        """Remove names, but for those that are the same to the remote as one that it is to hold."""
        remove = self._table.remove
        for batch in in_chunks(names, remove.names if isinstance(remove, RemoveMany) else 1):
            # What the remote takes no name of was never there.
            there = [one for one in batch if self.traits.rules.takes_name(one)]
            gone = [self._spelling_of(one) for one in there if self._table.spelling.fold(one) not in held]
            if isinstance(remove, RemoveMany):
                await self._remove_batch(remove, gone)
            else:
                for spelt in gone:
                    await self._remove(remove, spelt)
            for name in batch:
                yield Written(name, is_removed=True)

    async def _remove_batch(self, remove: RemoveMany, names: Sequence[str]) -> None:
        for _ in range(_TRIES):
            if not names or (await self._ask(remove.call(names))).status != 404:
                return
            present = await self.read(names)
            names = [name for name in names if name in present]
        raise RemoteUnavailableError(
            f"others remove names from {self._table.place} at the same time: none was removed in {_TRIES} attempts"
        )

    async def _remove(self, remove: Remove, name: str) -> None:
        answer = await self._ask(
            remove.call(name), also=lambda given: given.status == 404 or remove.is_gone(given)
        )
        if answer.status == 404:
            # Either somebody was faster, or the whole place can't be seen any more: then nothing was removed.
            call = self._table.listing.first()
            if call is not None:
                await self._ask(call)


def _weight(one: Outgoing) -> int:
    return len(one.name) + len(one.value.encode())


def _by_fold(names: Iterable[str], spelling: Spelling) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for name in dict.fromkeys(names):
        found.setdefault(spelling.fold(name), []).append(name)
    return found
