"""How the entries of a table are read: page by page, and what doesn't come with the pages one by one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from pydantic import JsonValue

from keybearer.destinations.content import text_or_none
from keybearer.destinations.protocol import Present
from keybearer.destinations.remote import RemoteAnswer
from keybearer.destinations.session import Call

__all__ = ["Listing", "LookUp", "Row", "Unusable", "by_number", "by_token"]


@dataclass(frozen=True, slots=True)
class Unusable:
    """An entry that can be neither read nor written; `reason` follows its name in messages: "is disabled"."""

    reason: str


@dataclass(frozen=True, slots=True)
class Row:
    """An entry of a list: its name, and what it holds; None if syncs neither read nor write such entries."""

    name: str
    present: Present | Unusable | None


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


def by_number(
    page: Callable[[int], Call],
    rows: Callable[[JsonValue], JsonValue],
    row: Callable[[JsonValue], Row | None],
) -> Listing:
    """Return a listing of numbered pages, which lasts as long as an answer says that there is a next one.

    The link to it (RFC 8288) is not followed: it may lead anywhere.
    """

    def following(answer: RemoteAnswer, number: int) -> Call | None:
        has_next = answer.headers.get("x-next-page") or 'rel="next"' in answer.headers.get("link", "")
        return page(number + 1) if has_next else None

    return Listing(first=lambda: page(1), rows=rows, row=row, following=following)


def by_token(
    page: Callable[[str], Call],
    field: str,
    rows: Callable[[JsonValue], JsonValue],
    row: Callable[[JsonValue], Row | None],
    then: Listing | None = None,
) -> Listing:
    """Return a listing whose next page is asked for with what an answer has in that field; the first with nothing."""

    def following(answer: RemoteAnswer, _: int) -> Call | None:
        token = text_or_none(answer.json(), field)
        return page(token) if token else None

    return Listing(first=lambda: page(""), rows=rows, row=row, following=following, then=then)


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
