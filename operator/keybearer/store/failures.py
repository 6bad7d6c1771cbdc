"""What a failure of the database means to who asked: another try, another text, or nothing of theirs.

Texts of drivers are never passed on: they quote keys and values of rows.
"""

from __future__ import annotations

import sqlite3
import ssl
from collections.abc import Iterator
from contextlib import contextmanager

from sqlalchemy.exc import DBAPIError, InterfaceError
from sqlalchemy.exc import TimeoutError as PoolTimeoutError

from keybearer.base.errors import KeybearerError

__all__ = [
    "BusyError",
    "ConnectError",
    "NoRoomError",
    "RaceError",
    "TooSlowError",
    "UnavailableError",
    "UnstorableTextError",
    "brief",
    "of_sqlite",
    "translated",
]


class BusyError(KeybearerError):
    """No turn came up in time, or two changes met; nothing was changed, and the same request may be made again."""


class RaceError(BusyError):
    """Two changes met, and this one was undone; begun anew it sees what the other did."""


class ConnectError(KeybearerError):
    """No connection could be made; the text says why and holds nothing of the URL."""


class TooSlowError(KeybearerError):
    """The database took longer than a statement may; nothing was changed."""


class UnavailableError(KeybearerError):
    """The database can't be reached at the moment. A change that was under way may have been made."""


class NoRoomError(UnavailableError):
    """The volume of the database is full or fails; nothing was changed."""


class UnstorableTextError(KeybearerError):
    """A text holds a character that the database doesn't keep in clear."""


# PostgreSQL's error codes (its appendix A): a whole class by its two first characters.
_NOT_IN_REPERTOIRE = "22021"
_QUERY_CANCELED = "57014"
_LOCK_NOT_AVAILABLE = "55P03"
_MET = frozenset(
    {
        "0A000",  # feature_not_supported: a statement that was prepared before another process migrated
        "23503",  # foreign_key_violation: a row that was just seen is gone
        "23505",  # unique_violation: a name that was just free is taken
        "40001",  # serialization_failure
        "40P01",  # deadlock_detected
    }
)
_BUSY = "other writes kept the database busy; try again"
_PRIMARY_CODE = 0xFF
"""SQLite's extended result codes hold the primary one in their last byte."""
_AWAY = ("08", "53", "57P", "58")

_REFUSALS = {
    "28": "the user or its password is refused",
    "3D": "there is no such database",
    "42501": "the user may not create tables in it",
    "53300": "the server has no connection left",
    "57P03": "the server is starting up or shutting down",
}


@contextmanager
def translated() -> Iterator[None]:
    """Turn what drivers raise into the errors of this module; what is nobody's but ours passes as it is.

    Raises:
        BusyError: a lock was waited for in vain.
        NoRoomError: SQLite's volume is full or fails.
        RaceError: another change met this one.
        TooSlowError: a statement was cut off.
        UnavailableError: the database is away.
        UnstorableTextError: a text holds a NUL character.
    """
    try:
        yield
    except PoolTimeoutError as error:
        raise BusyError("other requests kept the database busy; try again") from error
    except DBAPIError as error:
        meaning = _meaning(error)
        if meaning is None:
            raise
        raise meaning from error


def brief(error: Exception) -> str:
    """Return why the database can't be opened: in our words, without the statement and without a URL's password."""
    origin = error.orig if isinstance(error, DBAPIError) else error
    state = _state(origin)
    for prefix in (state, state[:2]):
        if prefix in _REFUSALS:
            return _REFUSALS[prefix]
    if isinstance(origin, ssl.SSLError):
        # The first stands for a certificate that doesn't verify; neither for a failure before that.
        why = getattr(origin, "verify_message", None) or getattr(origin, "reason", None)
        return f"TLS fails ({why or 'no handshake'})"
    if isinstance(origin, FileNotFoundError):
        return "a file that is needed is missing; see to sslrootcert and to the host, if it is a folder"
    if isinstance(origin, TimeoutError):
        return "the server doesn't answer"
    if isinstance(origin, sqlite3.Error) and (meaning := of_sqlite(origin)):
        return str(meaning)
    if isinstance(origin, (sqlite3.Error, OSError)):
        return str(origin)
    return type(origin).__name__ + (f" {state}" if state else "")


def _meaning(error: DBAPIError) -> KeybearerError | None:
    state = _state(error.orig)
    if state == _NOT_IN_REPERTOIRE:
        return UnstorableTextError("A text holds a NUL character")
    if state in _MET:
        return RaceError("another change was made at the same time; try again")
    if state == _LOCK_NOT_AVAILABLE:
        return BusyError(_BUSY)
    if isinstance(error.orig, sqlite3.Error) and (meaning := of_sqlite(error.orig)):
        return meaning
    if state == _QUERY_CANCELED:
        return TooSlowError("The request took too long")
    if state.startswith(_AWAY) or error.connection_invalidated or (not state and _is_lost(error)):
        return UnavailableError("the database can't be reached at the moment; try again")
    return None


def of_sqlite(origin: BaseException | None) -> KeybearerError | None:
    """Return what a failure of SQLite means to who asked; None if it is a fault of ours."""
    match getattr(origin, "sqlite_errorcode", 0) & _PRIMARY_CODE:
        case sqlite3.SQLITE_BUSY | sqlite3.SQLITE_LOCKED:
            # Only another program that writes to the file can hold it: writers of this process queue before it.
            return BusyError(_BUSY)
        case sqlite3.SQLITE_FULL:
            return NoRoomError("the volume of the database is full; give it more room, then try again")
        case sqlite3.SQLITE_IOERR:
            # Also if SQLite's other files find no room.
            return NoRoomError(
                "the volume of the database can't be read or written; see whether it is full, then try again"
            )
        case _:
            return None


def _is_lost(error: DBAPIError) -> bool:
    return isinstance(error, InterfaceError) and not isinstance(error.orig, sqlite3.Error)


def _state(origin: BaseException | None) -> str:
    # The driver's own error may be the cause of SQLAlchemy's face of it.
    return str(getattr(origin, "sqlstate", None) or "")
