"""Destinations that are wrong, made of right ones: the suite must tell each of them from a right one."""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

import pytest

from keybearer.destinations import bounds
from keybearer.destinations.engine.opening import Opening, open_destination
from keybearer.destinations.form import DestinationKind, Place
from keybearer.destinations.listing import Listing
from keybearer.destinations.protocol import Change, Destination, Outgoing, Present, Refused, Traits, Written
from keybearer.destinations.remote import (
    NO_LIMITS,
    RemoteAnswer,
    RemoteRefusedError,
    RemoteThrottledError,
    RemoteUnavailableError,
)
from keybearer.destinations.session import Call, Session
from keybearer.destinations.table import CreateOrUpdate, Table

__all__ = ["VARIANTS", "Variant", "of_table"]

Told = Written | Refused


class _Around:
    """A destination that does what the right one does; variants change a part of it."""

    def __init__(self, right: Destination) -> None:
        self._right = right
        self._shown: Mapping[str, Present] = {}

    @property
    def traits(self) -> Traits:
        return self._right.traits

    def extras_of(self, outgoing: Outgoing) -> Mapping[str, str] | None:
        return self._right.extras_of(outgoing)

    async def read(self, names: Sequence[str]) -> Mapping[str, Present]:
        self._shown = await self._right.read(names)
        return self._shown

    async def apply(self, change: Change) -> AsyncIterator[Told]:
        async for told in self._right.apply(change):
            yield told


class _RemovesForeign(_Around):
    """What a sync doesn't want goes, whoever wrote it."""

    async def apply(self, change: Change) -> AsyncIterator[Told]:
        gone = {*change.delete, *(self._shown.keys() - change.held)}
        async for told in self._right.apply(replace(change, delete=tuple(sorted(gone)))):
            yield told


class _RemovesUnwritten(_Around):
    """What isn't written goes, whatever is asked for."""

    async def apply(self, change: Change) -> AsyncIterator[Told]:
        gone = {*change.delete, *(self._shown.keys() - {one.name for one in change.put})}
        async for told in self._right.apply(replace(change, delete=tuple(sorted(gone)))):
            yield told


class _WritesAll(_Around):
    """Nothing is ever the same as what is wanted."""

    async def read(self, names: Sequence[str]) -> Mapping[str, Present]:
        found = await super().read(names)
        return {name: replace(one, value=f"{one.value}?", version="?") for name, one in found.items()}


class _LosesLines(_Around):
    """Only the first line of a value arrives."""

    async def apply(self, change: Change) -> AsyncIterator[Told]:
        put = tuple(replace(one, value=one.value.partition("\n")[0]) for one in change.put)
        async for told in self._right.apply(replace(change, put=put)):
            yield told


class _RemovesFirst(_Around):
    """What is to go goes before the new names are there."""

    async def apply(self, change: Change) -> AsyncIterator[Told]:
        async for told in self._right.apply(replace(change, put=())):
            yield told
        async for told in self._right.apply(replace(change, delete=())):
            yield told


class _SaysSo(_Around):
    """A write that wasn't made is told to have been."""

    async def apply(self, change: Change) -> AsyncIterator[Told]:
        async for told in self._right.apply(replace(change, put=change.put[:-1])):
            yield told
        for one in change.put[-1:]:
            yield Written(one.name)


class _StopsAtRefusals(_Around):
    """The first refused name ends the run."""

    async def apply(self, change: Change) -> AsyncIterator[Told]:
        async for told in self._right.apply(change):
            if isinstance(told, Refused):
                raise RemoteRefusedError(told.message)
            yield told


class _RemovesReplaced(_Around):
    """What new names replace goes, though some of these are refused."""

    async def apply(self, change: Change) -> AsyncIterator[Told]:
        async for told in self._right.apply(replace(change, former=frozenset())):
            yield told


class _WritesTwice(_Around):
    """Every value is sent once more, to be sure."""

    async def apply(self, change: Change) -> AsyncIterator[Told]:
        async for _ in self._right.apply(replace(change, delete=())):
            pass
        async for told in self._right.apply(change):
            yield told


class _KeepsAll(_Around):
    """Nothing is removed, and told to have been."""

    async def apply(self, change: Change) -> AsyncIterator[Told]:
        async for told in self._right.apply(replace(change, delete=())):
            yield told
        for name in change.delete:
            yield Written(name, is_removed=True)


class _MissesGone(_Around):
    """What others deleted can't be removed."""

    async def apply(self, change: Change) -> AsyncIterator[Told]:
        there = await self._right.read(change.delete)
        async for told in self._right.apply(change):
            is_gone = isinstance(told, Written) and told.is_removed and told.name not in there
            yield Refused(told.name, "there is no such name") if is_gone else told


class _ReadsAnything(_Around):
    """Nothing bounds what is read."""

    async def read(self, names: Sequence[str]) -> Mapping[str, Present]:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(bounds, "_NAMES_MAX", sys.maxsize)
            patch.setattr(bounds, "_BYTES_MAX", sys.maxsize)
            return await super().read(names)


class _ForgetsRules(_Around):
    """What the place takes is found out by asking it."""

    @property
    def traits(self) -> Traits:
        return replace(self._right.traits, rules=Traits().rules, names_max=None)


class _DropsEmpty(_Around):
    """An empty value is told to have been written, and isn't."""

    async def apply(self, change: Change) -> AsyncIterator[Told]:
        async for told in self._right.apply(
            replace(change, put=tuple(one for one in change.put if one.value))
        ):
            yield told
        for one in change.put:
            if not one.value:
                yield Written(one.name)


class _ReadsOneLine(_Around):
    """Only the first line of a value comes back."""

    async def read(self, names: Sequence[str]) -> Mapping[str, Present]:
        found = await super().read(names)
        return {
            name: replace(one, value=one.value and one.value.partition("\n")[0])
            for name, one in found.items()
        }


class _TrustsItself(_Around):
    """It shows what it wrote last, not what the remote holds."""

    def __init__(self, written: dict[str, Present], right: Destination) -> None:
        super().__init__(right)
        self._written = written

    async def read(self, names: Sequence[str]) -> Mapping[str, Present]:
        return {**await super().read(names), **self._written}

    async def apply(self, change: Change) -> AsyncIterator[Told]:
        self._written |= {one.name: Present(one.value, extras=self.extras_of(one)) for one in change.put}
        async for told in self._right.apply(change):
            yield told


class _GivesUp(_Around):
    """What may be well in a while is told as if it never were."""

    async def read(self, names: Sequence[str]) -> Mapping[str, Present]:
        try:
            return await super().read(names)
        except RemoteUnavailableError as error:
            raise RemoteRefusedError(str(error)) from error


class _Hurries(_Around):
    """How long is to be waited is forgotten."""

    async def apply(self, change: Change) -> AsyncIterator[Told]:
        try:
            async for told in self._right.apply(change):
                yield told
        except RemoteThrottledError as error:
            raise RemoteThrottledError(str(error)) from error


class _OffersNothing(_Around):
    """A refusal doesn't say what to do."""

    async def apply(self, change: Change) -> AsyncIterator[Told]:
        try:
            async for told in self._right.apply(change):
                yield told
        except RemoteRefusedError as error:
            raise RemoteRefusedError(str(error).partition(":")[0]) from error


def _around(variant: Callable[[Destination], Destination]) -> Callable[[DestinationKind], DestinationKind]:
    def wrong(kind: DestinationKind) -> DestinationKind:
        def opened(place: Place) -> Destination:
            session = place.session
            given = Opening(place.config, place.options, place.naming, session.credentials, session.context)
            right = replace(kind, app=session.app)
            return variant(open_destination(right, given))

        return replace(kind, open=opened)

    return wrong


def of_table(change: Callable[[Table], Table]) -> Callable[[DestinationKind], DestinationKind]:
    """Return what makes a kind whose table is another one."""

    def wrong(kind: DestinationKind) -> DestinationKind:
        def opened(place: Place) -> Table:
            table = kind.open(place)
            assert isinstance(table, Table)
            return change(table)

        return replace(kind, open=opened)

    return wrong


def _without_pages(table: Table) -> Table:
    listing: Listing = replace(table.listing, following=lambda _answer, _page: None)
    return replace(table, listing=listing)


def _without_throttling(kind: DestinationKind) -> DestinationKind:
    def never(_: RemoteAnswer) -> bool:
        return False

    answers = replace(kind.app.answers, limits=replace(NO_LIMITS, is_throttled=never))
    return replace(kind, app=replace(kind.app, answers=answers))


def _trusting(kind: DestinationKind) -> DestinationKind:
    return _around(partial(_TrustsItself, {}))(kind)


def _with_single_updates(table: Table) -> Table:
    write = table.write
    assert isinstance(write, CreateOrUpdate)

    def update(one: Outgoing) -> Call:
        return replace(write.update(one), is_repeatable=False)

    return replace(table, write=replace(write, update=update))


def _without_a_check(kind: DestinationKind) -> DestinationKind:
    async def check(_: Session) -> None:
        """Take everything."""

    return replace(kind, app=replace(kind.app, check=check))


@dataclass(frozen=True)
class Variant:
    """A way to be wrong; `of` makes it of a right one, and `fails` names the scenarios that are there to tell it."""

    name: str
    of: Callable[[DestinationKind], DestinationKind]
    fails: tuple[str, ...]


VARIANTS = (
    Variant(
        "removes foreign names",
        _around(_RemovesForeign),
        (
            "foreign_names_stay_through_creation_changes_removal_and_deletion",
            "a_second_sync_to_a_place_never_removes_the_names_of_the_first",
            "a_push_that_is_killed_at_any_call_ends_with_the_wanted_names_and_keeps_foreign_ones",
        ),
    ),
    Variant(
        "removes what it doesn't write",
        _around(_RemovesUnwritten),
        ("nothing_is_removed_where_deletion_is_off",),
    ),
    Variant("reads the first page only", of_table(_without_pages), ("a_run_without_changes_writes_nothing",)),
    Variant(
        "takes throttling for an answer",
        _without_throttling,
        (
            "a_throttled_push_waits_as_long_as_each_form_of_header_says",
            "every_refusal_that_the_vendor_answers_at_a_limit_is_waited_for",
            "a_push_that_is_throttled_for_ever_is_put_off_again_and_again",
            "a_limit_is_met_once_in_a_window_and_never_where_it_is_told_of_beforehand",
        ),
    ),
    Variant(
        "forgets how long to wait",
        _around(_Hurries),
        ("a_throttled_push_waits_as_long_as_each_form_of_header_says",),
    ),
    Variant(
        "writes everything in each run",
        _around(_WritesAll),
        ("a_run_without_changes_writes_nothing", "a_push_that_is_killed_at_half_goes_on_where_it_was"),
    ),
    Variant("writes everything twice", _around(_WritesTwice), ("a_changed_or_a_new_key_is_one_write",)),
    Variant(
        "loses lines after the first",
        _around(_LosesLines),
        ("values_arrive_as_they_are_of_several_lines_and_in_any_script",),
    ),
    Variant(
        "reads lines after the first as none",
        _around(_ReadsOneLine),
        ("what_is_there_is_imported_where_that_is_offered",),
    ),
    Variant(
        "leaves empty values out",
        _around(_DropsEmpty),
        (
            "an_emptied_value_goes_where_the_place_holds_none_and_a_key_that_comes_back_is_there_again",
            "values_arrive_as_they_are_of_several_lines_and_in_any_script",
        ),
    ),
    Variant("trusts what it wrote", _trusting, ("what_others_changed_or_deleted_is_put_right_after_a_look",)),
    Variant(
        "removes before it writes",
        _around(_RemovesFirst),
        ("after_an_outage_at_half_the_rest_is_written_and_only_then_the_old_removed",),
    ),
    Variant(
        "tells of a write that it didn't make",
        _around(_SaysSo),
        (
            "a_changed_or_a_new_key_is_one_write",
            "a_thousand_keys_arrive_or_as_many_as_the_place_takes",
            "three_hundred_keys_take_three_windows_of_a_hundred_writes",
        ),
    ),
    Variant(
        "stops at the first refusal",
        _around(_StopsAtRefusals),
        ("names_that_the_remote_refuses_stop_nobody",),
    ),
    Variant(
        "removes the former name of a secret that is refused",
        _around(_RemovesReplaced),
        ("the_former_name_of_a_secret_stays_while_the_remote_refuses_its_present_one",),
    ),
    Variant(
        "removes nothing",
        _around(_KeepsAll),
        (
            "a_removed_key_is_removed_alone_and_may_be_gone_before",
            "a_changed_key_schema_removes_the_former_names",
            "another_place_gets_all_and_the_former_one_keeps_nothing_of_ours",
            "foreign_names_are_removed_once_by_consent",
        ),
    ),
    Variant(
        "misses what is gone",
        _around(_MissesGone),
        ("a_removed_key_is_removed_alone_and_may_be_gone_before",),
    ),
    Variant(
        "reads anything",
        _around(_ReadsAnything),
        ("a_place_that_holds_more_than_memory_is_for_is_not_touched",),
    ),
    Variant(
        "knows no rules",
        _around(_ForgetsRules),
        (
            "ten_bad_names_stop_nobody_and_are_told",
            "values_of_the_largest_size_arrive_and_longer_ones_are_told_without_being_sent",
            "more_names_than_the_place_takes_are_told_before_anything_is_written",
        ),
    ),
    Variant(
        "offers no way out",
        _around(_OffersNothing),
        ("more_keys_than_one_write_takes_are_told_with_what_to_do",),
    ),
    Variant(
        "sends no write again",
        of_table(_with_single_updates),
        ("one_failure_of_a_moment_is_not_seen_and_a_write_is_made_twice_at_most",),
    ),
    Variant(
        "gives up",
        _around(_GivesUp),
        ("a_remote_that_is_away_for_an_hour_gets_all_without_anybodys_help",),
    ),
    Variant(
        "takes every credential",
        _without_a_check,
        ("credentials_that_are_wrong_are_refused_and_once_mended_all_arrives",),
    ),
    Variant(
        "never has it take effect",
        of_table(lambda table: replace(table, finish=None)),
        ("a_run_that_changes_something_is_one_redeploy",),
    ),
)
