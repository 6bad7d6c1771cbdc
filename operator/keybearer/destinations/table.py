"""What a table is: a place with an entry for each name, and the calls that list, write and remove them."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from keybearer.destinations.listing import Listing, LookUp
from keybearer.destinations.protocol import Outgoing, Present
from keybearer.destinations.remote import RemoteAnswer
from keybearer.destinations.session import Call

__all__ = [
    "CreateOrUpdate",
    "CustomPut",
    "Preparation",
    "Put",
    "PutMany",
    "Remove",
    "RemoveMany",
    "Spelling",
    "Table",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Spelling:
    """How a remote spells names, where that isn't as a sync does.

    Attributes:
        spelt: the remote's spelling of a sync's name, character by character.
        fold: what is the same for all names that are the same for the remote.
    """

    spelt: Callable[[str], str] = lambda name: name
    fold: Callable[[str], str] = lambda name: name


@dataclass(frozen=True, slots=True, kw_only=True)
class Preparation:
    """What a name may need before it can be written: it is created, or restored after it was deleted.

    Attributes:
        call: does so.
        is_needed: whether a write was refused for want of it; the write is then sent again.
        is_for_new: whether it comes first for a name that the list doesn't show.
    """

    call: Callable[[Outgoing], Call]
    is_needed: Callable[[RemoteAnswer], bool]
    is_for_new: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Put:
    """One call writes a name, whether it is there or not.

    Attributes:
        version: reads what was written from the answer.
    """

    call: Callable[[Outgoing], Call]
    version: Callable[[RemoteAnswer], str | None] = lambda _: None
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
    version: Callable[[RemoteAnswer], str | None] = lambda _: None


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

    Its second argument says whether the name was there when the place was listed; None where it wasn't listed. What
    it asks goes through the session as it is: the table's root and place are not added.
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
    """One call removes many names. If it takes 404, that means that one is gone and none was removed.

    The engine then lists the place, and asks again for those that are still there.
    """

    call: Callable[[Sequence[str]], Call]
    names: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """A place with an entry for each name.

    Attributes:
        place: for messages: "the project 'shop'".
        root: where it is in the API: paths of calls follow it, and messages say "of" the place after what a call is
            for; None where the calls say both themselves.
        spelling: how names are spelt there; calls get the remote's spelling.
        extras: what is to be kept beside a value, to compare with `Present.extras`; None compares nothing.
        prepare: awaited once before anything is asked.
        finish: asked once after the last write, if anything was written or removed: one redeploy, say; not below the
            root.
    """

    place: str
    root: str | None = None
    listing: Listing
    look_up: LookUp | None = None
    write: Put | CreateOrUpdate | PutMany | CustomPut
    remove: Remove | RemoveMany
    spelling: Spelling = Spelling()
    extras: Callable[[Outgoing], Mapping[str, str] | None] = lambda _: None
    prepare: Callable[[], Awaitable[object]] | None = None
    finish: Call | None = None

    def placed(self, call: Call) -> Call:
        """Return a call for entries as it is sent."""
        if self.root is None:
            return call
        return replace(call, path=f"{self.root}{call.path}", to=f"{call.to} of {self.place}")
