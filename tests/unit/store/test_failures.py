from __future__ import annotations

import sqlite3
import ssl

import pytest
from sqlalchemy.exc import DBAPIError, InterfaceError
from sqlalchemy.exc import TimeoutError as PoolTimeoutError

from keybearer.base.errors import KeybearerError
from keybearer.store.failures import (
    BusyError,
    NoRoomError,
    RaceError,
    TooSlowError,
    UnavailableError,
    UnstorableTextError,
    brief,
    translated,
)
from support.rows import each_row

TOLD = "cnry-what a driver says"


class DriverError(Exception):
    """As a driver of PostgreSQL raises them."""

    def __init__(self, sqlstate: str) -> None:
        super().__init__(TOLD)
        self.sqlstate = sqlstate


def of_state(sqlstate: str) -> DBAPIError:
    return DBAPIError("SELECT", {}, DriverError(sqlstate), hide_parameters=True)


@each_row(
    ("sqlstate", "meaning"),
    [
        pytest.param("22021", UnstorableTextError, id="a NUL character"),
        pytest.param("40P01", RaceError, id="a deadlock"),
        pytest.param("40001", RaceError, id="a serialization failure"),
        pytest.param("55P03", BusyError, id="a lock that never came"),
        pytest.param("23505", RaceError, id="a name that was taken meanwhile"),
        pytest.param("23503", RaceError, id="a row that went meanwhile"),
        pytest.param("0A000", RaceError, id="a statement from before a migration"),
        pytest.param("57014", TooSlowError, id="a statement that took too long"),
        pytest.param("57P01", UnavailableError, id="a server that shuts down"),
        pytest.param("08006", UnavailableError, id="a connection that broke"),
        pytest.param("53300", UnavailableError, id="a server without connections left"),
        pytest.param("53100", UnavailableError, id="a full disk"),
    ],
)
def test_what_a_driver_says_is_told_by_what_it_means_to_who_asked(
    sqlstate: str, meaning: type[KeybearerError]
) -> None:
    with pytest.raises(meaning) as told, translated():
        raise of_state(sqlstate)
    assert TOLD not in str(told.value)


def of_sqlite_code(code: int) -> sqlite3.OperationalError:
    error = sqlite3.OperationalError(TOLD)
    error.sqlite_errorcode = code
    return error


@each_row(
    ("code", "meaning"),
    [
        pytest.param(sqlite3.SQLITE_BUSY, BusyError, id="another program writes"),
        pytest.param(sqlite3.SQLITE_BUSY_SNAPSHOT, BusyError, id="another program wrote"),
        pytest.param(sqlite3.SQLITE_FULL, NoRoomError, id="a full volume"),
        pytest.param(sqlite3.SQLITE_IOERR_WRITE, NoRoomError, id="a volume that fails"),
        pytest.param(sqlite3.SQLITE_IOERR_SHMSIZE, NoRoomError, id="no room beside the database"),
    ],
)
def test_what_sqlite_says_is_told_by_what_it_means_to_who_asked(
    code: int, meaning: type[KeybearerError]
) -> None:
    failed = DBAPIError("SELECT", {}, of_sqlite_code(code), hide_parameters=True)
    with pytest.raises(meaning) as told, translated():
        raise failed
    assert TOLD not in str(told.value)
    assert TOLD not in brief(failed)


def test_a_fault_of_ours_stays_one() -> None:
    with pytest.raises(DBAPIError), translated():
        raise of_state("42601")
    failed = InterfaceError("SELECT", {}, sqlite3.InterfaceError(TOLD))
    with pytest.raises(InterfaceError), translated():
        raise failed


def test_a_lock_that_never_came_is_not_waited_for_again() -> None:
    with pytest.raises(BusyError) as told, translated():
        raise of_state("55P03")
    assert not isinstance(told.value, RaceError)


def test_a_pool_without_a_connection_left_is_busy() -> None:
    with pytest.raises(BusyError), translated():
        raise PoolTimeoutError(TOLD)


def test_a_lost_connection_is_an_absent_database() -> None:
    with pytest.raises(UnavailableError), translated():
        raise InterfaceError("SELECT", {}, DriverError(""))


@pytest.mark.parametrize(
    ("error", "told"),
    [
        pytest.param(DriverError("28P01"), "the user or its password is refused", id="password"),
        pytest.param(DriverError("28000"), "the user or its password is refused", id="user"),
        pytest.param(DriverError("3D000"), "there is no such database", id="database"),
        pytest.param(DriverError("42501"), "the user may not create tables in it", id="rights"),
        pytest.param(DriverError("XX000"), "DriverError XX000", id="anything else"),
        pytest.param(ssl.SSLError(1, TOLD), "TLS fails", id="TLS"),
        pytest.param(TimeoutError(TOLD), "the server doesn't answer", id="silence"),
    ],
)
def test_why_a_database_cannot_be_opened_is_told_in_our_words(error: Exception, told: str) -> None:
    assert told in brief(error)
    assert TOLD not in brief(error)
