"""What a destination is: one value that says where secrets go, how they are read and written, and what it takes.

A vendor's module makes one `DestinationKind`. Its `open` returns a `Table` or a `Document`: a description with calls
and small functions, which `keybearer.destinations.engine` runs. The engine owns paging, batches, the order of writes,
refusals of single names, bounds, and what is told of each name.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from functools import reduce
from operator import or_
from typing import Annotated, TypeVar, cast

from pydantic import Field, JsonValue, TypeAdapter

from keybearer.destinations.app import App
from keybearer.destinations.protocol import Destination, Outgoing, Present, Traits
from keybearer.destinations.remote import RemoteAnswer, text_or_none
from keybearer.destinations.session import Call, Session
from keybearer.wire.destination_forms import DestinationConfig, SyncOptions
from keybearer.wire.key_schema import KeyNaming

__all__ = [
    "PLAIN",
    "CreateOrUpdate",
    "CustomPut",
    "DestinationKind",
    "Document",
    "DocumentChange",
    "Found",
    "Listing",
    "LookUp",
    "Place",
    "Preparation",
    "Put",
    "PutMany",
    "Remove",
    "RemoveMany",
    "Row",
    "Spelling",
    "Table",
    "UnbuiltDestination",
    "Unusable",
    "by_number",
    "by_token",
    "config_of",
]

_C = TypeVar("_C", bound=DestinationConfig)
_O = TypeVar("_O", bound=SyncOptions)


@dataclass(frozen=True, slots=True)
class Place:
    """A configured destination over one connection, as a vendor's module gets it.

    Attributes:
        naming: how keys become names; a document's own name is made by it.
    """

    session: Session
    config: DestinationConfig
    options: SyncOptions
    naming: KeyNaming

    def config_as(self, kind: type[_C]) -> _C:
        """Return the configuration as one of that class.

        Raises:
            TypeError: it is another's.
        """
        if not isinstance(self.config, kind):
            raise TypeError(type(self.config).__name__)
        return self.config

    def options_as(self, kind: type[_O]) -> _O:
        """Return the options as those of that class.

        Raises:
            TypeError: they are another's.
        """
        if not isinstance(self.options, kind):
            raise TypeError(type(self.options).__name__)
        return self.options


def config_of(*kinds: type[DestinationConfig], by: str | None = None) -> TypeAdapter[DestinationConfig]:
    """Return what validates a configuration of one of these classes; the field `by` says which of several it is."""
    if by is None:
        return TypeAdapter(kinds[0])
    union = reduce(or_, kinds)
    return TypeAdapter(cast("type[DestinationConfig]", Annotated[union, Field(discriminator=by)]))


def _none(_: RemoteAnswer) -> str | None:
    return None


def _no_extras(_: Outgoing) -> Mapping[str, str] | None:
    return None


@dataclass(frozen=True, slots=True)
class Unusable:
    """An entry that can be neither read nor written; `reason` follows its name in messages: "is disabled"."""

    reason: str


@dataclass(frozen=True, slots=True)
class Row:
    """An entry of a list: its name, and what it holds; None if syncs neither read nor write such entries."""

    name: str
    present: Present | Unusable | None


def _same(name: str) -> str:
    return name


@dataclass(frozen=True, slots=True, kw_only=True)
class Spelling:
    """How a remote spells names, where that isn't as a sync does.

    Attributes:
        spelt: the remote's spelling of a sync's name, character by character.
        fold: what is the same for all names that are the same for the remote.
    """

    spelt: Callable[[str], str] = _same
    fold: Callable[[str], str] = _same


PLAIN = Spelling()
"""Names are spelt as a sync has them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Listing:
    """How all entries are listed.

    Attributes:
        first: makes the call for the first page; None where there is nothing to ask for.
        rows: the list within a page.
        row: what one entry is; None for what isn't told of at all.
        following: asks for the page after the answer, which was the n-th (from 1 on); None where it was the last.
        then: what is listed after the last page: others, or more of the same. The later row of a name counts.
    """

    first: Callable[[], Call | None]
    rows: Callable[[JsonValue], JsonValue]
    row: Callable[[JsonValue], Row | None]
    following: Callable[[RemoteAnswer, int], Call | None] = lambda _answer, _page: None
    then: Listing | None = None


def by_number(page: Callable[[int], Call]) -> Callable[[RemoteAnswer, int], Call | None]:
    """Return what asks for pages by their numbers, as long as an answer says that there is a next one.

    The link to it (RFC 8288) is not followed: it may lead anywhere.
    """

    def following(answer: RemoteAnswer, number: int) -> Call | None:
        has_next = answer.headers.get("x-next-page") or 'rel="next"' in answer.headers.get("link", "")
        return page(number + 1) if has_next else None

    return following


def by_token(page: Callable[[str], Call], *field: str) -> Callable[[RemoteAnswer, int], Call | None]:
    """Return what asks for the next page with what an answer has for it in that field, as long as it has any."""

    def following(answer: RemoteAnswer, _: int) -> Call | None:
        token = text_or_none(answer.json(), *field)
        return page(token) if token else None

    return following


@dataclass(frozen=True, slots=True, kw_only=True)
class LookUp:
    """How values are asked for that a list doesn't show, some at a time.

    Attributes:
        call: asks for one name.
        present: what the answer says; None where the name is gone.
        taken: which answers, beside those of success, say what there is; any other 404 says that the name is gone.
        is_compared_only: whether it shows what is compared before a write, and no value: names that aren't to be
            written are not looked up.
    """

    call: Callable[[str], Call]
    present: Callable[[str, RemoteAnswer], Present | Unusable | None]
    taken: Callable[[RemoteAnswer], bool] = lambda _: False
    is_compared_only: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Preparation:
    """What a name may need before it can be written: it is created, or restored after it was deleted.

    Attributes:
        call: does so.
        is_needed: whether a write was refused for want of it; the write is then sent again.
        is_for_new: whether it comes first for a name that the list doesn't show.
        pause: before the write is sent again.
    """

    call: Callable[[Outgoing], Call]
    is_needed: Callable[[RemoteAnswer], bool]
    is_for_new: bool = False
    pause: timedelta = timedelta()


@dataclass(frozen=True, slots=True, kw_only=True)
class Put:
    """One call writes a name, whether it is there or not.

    Attributes:
        version: reads what was written from the answer.
    """

    call: Callable[[Outgoing], Call]
    version: Callable[[RemoteAnswer], str | None] = _none
    preparation: Preparation | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class CreateOrUpdate:
    """One call creates, another one overwrites.

    Attributes:
        is_taken: whether a creation was refused because the name is there.
        is_missing: whether an update was refused because the name isn't there.
        creates_first: which is tried first where it isn't known what is there.
        is_replaced: whether an entry can't become by an update what it is to be: it is removed, and created anew.
    """

    create: Callable[[Outgoing], Call]
    update: Callable[[Outgoing], Call]
    is_taken: Callable[[RemoteAnswer], bool]
    is_missing: Callable[[RemoteAnswer], bool] = lambda answer: answer.status == 404
    creates_first: bool = False
    is_replaced: Callable[[Present], bool] = lambda _: False
    version: Callable[[RemoteAnswer], str | None] = _none


@dataclass(frozen=True, slots=True, kw_only=True)
class PutMany:
    """One call writes many names; where it is refused, the engine sends halves, so that all others are written.

    Attributes:
        names: at most in one call.
        size_bytes: of names and values in one call; a longer single one goes alone.
        versions: by name, where the answer tells them.
    """

    call: Callable[[Sequence[Outgoing]], Call]
    names: int
    size_bytes: int = 512 * 1024
    versions: Callable[[RemoteAnswer], Mapping[str, str]] = lambda _: {}


@dataclass(frozen=True, slots=True)
class CustomPut:
    """A function writes one name, where that takes more than calls can say; it returns the version, if there is one.

    Its second argument says whether the name was there when the place was listed; None where it wasn't listed.
    """

    put: Callable[[Outgoing, bool | None], Awaitable[str | None]]


@dataclass(frozen=True, slots=True)
class Remove:
    """One call removes a name. After a 404 the list says whether the name is gone, or the place can't be seen.

    Attributes:
        is_gone: whether another refusal says that the name, and it alone, is gone.
    """

    call: Callable[[str], Call]
    is_gone: Callable[[RemoteAnswer], bool] = lambda _: False


@dataclass(frozen=True, slots=True)
class RemoveMany:
    """One call removes many names. Where it takes 404, none was removed because one is gone: the list says which."""

    call: Callable[[Sequence[str]], Call]
    names: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """A place with an entry for each name.

    Attributes:
        place: for messages: "the project 'shop'".
        spelling: how names are spelt there; calls get the remote's spelling.
        extras: what is to be kept beside a value, to compare with `Present.extras`; None compares nothing.
        prepare: awaited once before anything is asked.
        finish: asked once after the last write, if anything was written or removed: one redeploy, say.
    """

    place: str
    listing: Listing
    look_up: LookUp | None = None
    write: Put | CreateOrUpdate | PutMany | CustomPut
    remove: Remove | RemoveMany
    spelling: Spelling = PLAIN
    extras: Callable[[Outgoing], Mapping[str, str] | None] = _no_extras
    prepare: Callable[[], Awaitable[object]] | None = None
    finish: Call | None = None


@dataclass(frozen=True, slots=True)
class Found:
    """What a document holds, as JSON read it.

    Attributes:
        version: what a write follows, so that nothing is lost of what somebody else wrote meanwhile.
        extras: what is kept beside the document (tags, say).
    """

    data: Mapping[str, JsonValue] = field(repr=False)
    version: str | int | None = None
    extras: Mapping[str, str] | None = None


@dataclass(frozen=True, slots=True)
class DocumentChange:
    """What one write changes in a document.

    Attributes:
        found: what was read before; None where there is no document.
        whole: all that it is to hold then; empty where it is to go.
        entries: those that are new, other, or, where they are None, to go.
        is_piece: whether other writes follow or went before, as `Document.chunk` says.
    """

    found: Found | None
    whole: Mapping[str, JsonValue] = field(repr=False)
    entries: Mapping[str, JsonValue] = field(repr=False)
    is_piece: bool = False


def _at_once(_: DocumentChange) -> int | None:
    return None


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    """One remote object that holds all keys; entries of others stay in it.

    Attributes:
        place: for messages: "the secret 'app/config'".
        read: what is there; None where nothing is. Raises `ForeignContentError` for a form that no run of ours wrote.
        write: makes a change and returns what is there then; None where another look and another try may do, as when
            somebody else has changed the document since it was read.
        chunk: how many entries of a change one write takes; None where it takes all.
        extras: as a table's.
        is_versioned: whether `Found.version` is the version of every key.
    """

    place: str
    read: Callable[[], Awaitable[Found | None]]
    write: Callable[[DocumentChange], Awaitable[Found | None]]
    chunk: Callable[[DocumentChange], int | None] = _at_once
    extras: Callable[[Outgoing], Mapping[str, str] | None] = _no_extras
    is_versioned: bool = False


def _whole(config: DestinationConfig) -> Mapping[str, JsonValue]:
    return config.written()


def _agree(_config: DestinationConfig, _options: SyncOptions) -> None:
    """Accept every pair."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DestinationKind:
    """A destination.

    Attributes:
        name: interface.md's word.
        title: as people write it.
        app: of the connections that it takes.
        can_import: whether its secrets can be read back.
        can_remove: whether they can be removed when the sync is deleted.
        config: validates `destinationConfig`; a union of models where a field selects the shape.
        options: validates `syncOptions`.
        place: what of a configuration tells one place from another; two syncs with equal places share it. All of it,
            unless a field says how something is written and not where.
        agree: raises ValueError where a configuration and options that are each right don't go together.
        traits: what kind of place a configuration names.
        open: what the engine runs, or where neither form fits, a destination of its own.
    """

    name: str
    title: str
    app: App
    can_import: bool
    can_remove: bool = True
    config: TypeAdapter[DestinationConfig]
    options: type[SyncOptions] = SyncOptions
    place: Callable[[DestinationConfig], Mapping[str, JsonValue]] = _whole
    agree: Callable[[DestinationConfig, SyncOptions], None] = _agree
    traits: Callable[[DestinationConfig], Traits] = lambda _: Traits()
    open: Callable[[Place], Table | Document | Destination]

    @property
    def connection(self) -> str:
        """The word of its app."""
        return self.app.name


@dataclass(frozen=True, slots=True)
class UnbuiltDestination:
    """A destination that is offered (wire.md section 3.7), and that nothing here can write to yet."""

    name: str
    title: str
    connection: str
    can_import: bool = field(kw_only=True)
    can_remove: bool = field(kw_only=True, default=True)
