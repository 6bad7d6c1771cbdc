"""The bus that carries what was committed to every process that serves the database, and its messages.

`LocalBus` serves SQLite, whose only process is this one. On PostgreSQL a bus announces within the writing
transaction (NOTIFY is delivered with the commit or not at all) and hands on what LISTEN brings, the process's
own messages included: each change arrives once, whoever made it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator
from typing import Protocol

import orjson
from sqlalchemy.ext.asyncio import AsyncConnection

from keybearer.base.errors import KeybearerError
from keybearer.base.ids import EnvironmentSlug, FolderPath, IdentityId, OrganizationId, ProjectId
from keybearer.store.revisions import ChangeKind, Changes, ListChange

__all__ = ["MESSAGE_MAX_BYTES", "ChangeBus", "LocalBus", "MessageError", "read_message", "write_messages"]

MESSAGE_MAX_BYTES = 7_900
"""PostgreSQL takes payloads of NOTIFY shorter than 8,000 bytes (its documentation of NOTIFY)."""
_KEYS_MAX_BYTES = 4_000
"""Of the keys in one item: the longest path and all else fit into a message with it."""

_KINDS = {
    ChangeKind.CREATED: "c",
    ChangeKind.UPDATED: "u",
    ChangeKind.DELETED: "d",
    ChangeKind.IMPORTS: "i",
}
_READ_KINDS = {letter: kind for kind, letter in _KINDS.items()}


class ChangeBus(Protocol):
    """Carries changes from the units that made them to the listeners of all processes."""

    @property
    def hears(self) -> bool:
        """Whether a change of another process would be told: what is kept in memory may be trusted only then."""
        ...

    async def follow(self) -> None:
        """Listen to other processes, where there may be any, until cancelled."""
        ...

    async def announce(self, connection: AsyncConnection, changes: Changes) -> None:
        """Take the changes in; within the writing transaction, as its last statement."""
        ...

    def committed(self, changes: Changes) -> None:
        """Learn that the transaction was committed, or was cut off while it was being committed."""
        ...

    def subscribe(
        self, on_change: Callable[[Changes], None], on_gap: Callable[[], None] = lambda: None
    ) -> None:
        """Call a listener on the event loop after each commit of any process.

        Args:
            on_change: given what changed; must neither block nor raise.
            on_gap: called when changes may have been missed, after a lost connection say.
        """
        ...


class LocalBus:
    """The bus of a database that has no other process."""

    def __init__(self) -> None:
        self._listeners: list[Callable[[Changes], None]] = []
        self.hears = True

    async def follow(self) -> None:
        """Return at once: nobody else is there."""

    async def announce(self, connection: AsyncConnection, changes: Changes) -> None:
        """Do nothing: nobody else listens."""

    def committed(self, changes: Changes) -> None:
        """Tell the listeners."""
        for listener in self._listeners:
            listener(changes)

    def subscribe(
        self,
        on_change: Callable[[Changes], None],
        on_gap: Callable[[], None] = lambda: None,  # noqa: ARG002 - nothing is ever missed
    ) -> None:
        """Call the listener after each commit."""
        self._listeners.append(on_change)


class MessageError(KeybearerError):
    """A message on the bus is none of ours; another version may have sent it."""


def write_messages(changes: Changes) -> list[str]:
    """Return the changes as messages of at most `MESSAGE_MAX_BYTES` bytes each; none where nothing is to be told.

    Compact JSON with one key per kind of news: `i` identities, `t` tokens, `o` organizations, `j` jobs and `c`
    certificate requests (a single text each, `queued`), and `f` folders as `[project, environment, path, kind, owner,
    keys]` with the letters c, u, d and i for kinds. Revisions stay at home: only a sole process uses them.
    """
    messages: list[str] = []
    news: dict[str, list[object]] = {}
    size = 2
    for name, item in _items(changes):
        weight = (
            len(orjson.dumps(item)) + len(name) + 6
        )  # its comma, and its key's quotes, colon and brackets
        if size + weight > MESSAGE_MAX_BYTES:
            messages.append(orjson.dumps(news).decode())
            news, size = {}, 2
        news.setdefault(name, []).append(item)
        size += weight
    if news:
        messages.append(orjson.dumps(news).decode())
    return messages


def read_message(text: str) -> Changes:
    """Return the changes that a message tells.

    Raises:
        MessageError: it is none of `write_messages`.
    """
    try:
        news = orjson.loads(text)
        return Changes(
            identities={IdentityId(_text(item)) for item in _news(news, "i")},
            tokens={_text(item) for item in _news(news, "t")},
            organizations={OrganizationId(_text(item)) for item in _news(news, "o")},
            jobs=bool(_news(news, "j")),
            orders=bool(_news(news, "c")),
            folders=[change for item in _news(news, "f") for change in _folder(item)],
        )
    except (KeyError, TypeError, ValueError) as error:
        raise MessageError("a message of another process can't be read") from error


def _items(changes: Changes) -> Iterator[tuple[str, object]]:
    for identity_id in sorted(changes.identities):
        yield "i", identity_id
    for token_id in sorted(changes.tokens):
        yield "t", token_id
    for organization_id in sorted(changes.organizations):
        yield "o", organization_id
    if changes.jobs:
        yield "j", "queued"
    if changes.orders:
        yield "c", "queued"
    # One item per folder and kind holds many keys; a few at a time, so that an item fits into a message.
    keys: defaultdict[tuple[str, ...], list[str]] = defaultdict(list)
    for change in changes.folders:
        place = (change.project_id, change.environment, change.path, _KINDS[change.kind], change.owner)
        run = keys[place]
        if run and len(orjson.dumps([*run, change.key])) > _KEYS_MAX_BYTES:
            yield "f", [*place, list(run)]
            run.clear()
        run.append(change.key)
    for named, run in keys.items():
        yield "f", [*named, run]


def _news(news: object, name: str) -> list[object]:
    if not isinstance(news, dict):
        raise TypeError
    found = news.get(name, [])
    if not isinstance(found, list):
        raise TypeError
    return found


def _folder(item: object) -> Iterator[ListChange]:
    if not isinstance(item, list):
        raise TypeError
    project_id, environment, path, letter, owner, keys = item
    if not isinstance(keys, list):
        raise TypeError
    for key in keys:
        yield ListChange(
            _READ_KINDS[letter],
            ProjectId(_text(project_id)),
            EnvironmentSlug(_text(environment)),
            FolderPath(_text(path)),
            _text(key),
            _text(owner),
        )


def _text(item: object) -> str:
    if not isinstance(item, str):
        raise TypeError
    return item
