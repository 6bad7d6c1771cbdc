"""`keybearer backup --output-dir`: the latest backups in one directory, each whole or not at all."""

from __future__ import annotations

import fcntl
import os
import shutil
import signal
import sqlite3
import subprocess
import time
from collections.abc import Callable
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from keybearer.base.errors import ConfigurationError
from keybearer.client import Keybearer, UniversalAuth
from keybearer.store import database_copy
from keybearer.store.backup_directory import newest_backup, save_backup, save_dump
from support.backup_files import FILE, ROWS, restored, rows, with_another_row
from support.command_line import PROGRAM, Answer, CommandLine
from support.service_fixtures import start_service
from tools.local.waiting import PATIENCE_SECONDS

NOW = datetime(2026, 11, 29, 2, 30, tzinfo=UTC)
DAY = timedelta(days=1)


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    return tmp_path / "backups"


def added(line: CommandLine, data: Path, directory: Path, *more: str) -> Answer:
    return line.here("backup", "--data-dir", str(data), "--output-dir", str(directory), *more)


def names(directory: Path) -> list[str]:
    return sorted(path.name for path in directory.iterdir())


def dated(*days: int) -> list[str]:
    return [(NOW + day * DAY).strftime("keybearer-%Y%m%dT%H%M%SZ.db") for day in days]


def test_a_backup_is_added_whole_under_a_name_with_the_moment_and_says_where(
    line: CommandLine, data: Path, directory: Path
) -> None:
    before = names(data)
    told = added(line, data, directory)
    assert (told.status, told.stdout) == (0, ""), told.stderr
    (file,) = directory.iterdir()
    moment = datetime.strptime(file.name, "keybearer-%Y%m%dT%H%M%SZ.db").replace(tzinfo=UTC)
    assert abs(datetime.now(UTC) - moment) < timedelta(seconds=PATIENCE_SECONDS)
    assert f"Backed up {file.stat().st_size} bytes of {data} to {file}, where 1 are kept" in told.stderr
    assert "the root key is not among them" in told.stderr
    assert (file.stat().st_mode & 0o777, directory.stat().st_mode & 0o777) == (0o600, 0o700)
    assert rows(file) == ROWS
    assert names(data) == before


def test_the_oldest_go_where_there_are_more_than_are_kept(data: Path, directory: Path) -> None:
    for day in range(5):
        saved = save_backup(data, directory, keep=3, now=NOW + day * DAY)
        assert saved.kept == min(day + 1, 3)
    assert names(directory) == dated(2, 3, 4)
    assert newest_backup(directory).name == dated(4)[0]


def test_what_somebody_else_put_there_stays(data: Path, directory: Path) -> None:
    directory.mkdir()
    others = ["README", "keybearer-before-upgrade.db", "other.db"]
    for name in others:
        (directory / name).write_text("theirs")
    for day in range(3):
        save_backup(data, directory, keep=1, now=NOW + day * DAY)
    assert names(directory) == sorted([*others, *dated(2)])


def test_the_latest_stays_though_a_clock_that_was_put_back_makes_it_look_old(
    data: Path, directory: Path
) -> None:
    saved = [save_backup(data, directory, keep=2, now=NOW + day * DAY) for day in (5, 6, 7, 1)]
    assert saved[-1].file.exists()
    assert names(directory) == dated(1, 7)


def test_with_fewer_to_keep_the_oldest_go_before_room_is_looked_for(
    data: Path, directory: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for day in range(4):
        save_backup(data, directory, keep=4, now=NOW + day * DAY)
    monkeypatch.setattr(shutil, "disk_usage", lambda _: shutil._ntuple_diskusage(2**30, 2**30, 2**20))
    with pytest.raises(ConfigurationError, match="has 1 MiB left"):
        save_backup(data, directory, keep=2, now=NOW + 4 * DAY)
    assert names(directory) == dated(2, 3)


def test_a_backup_of_the_same_second_is_never_replaced(data: Path, directory: Path) -> None:
    saved = save_backup(data, directory, keep=2, now=NOW)
    before = saved.file.read_bytes()
    with_another_row(data / FILE)
    with pytest.raises(ConfigurationError, match="a second later"):
        save_backup(data, directory, keep=2, now=NOW)
    assert saved.file.read_bytes() == before


def no_database(data: Path, _: pytest.MonkeyPatch) -> str:
    (data / FILE).write_bytes(b"cnry-" * 1000)
    return "SQLITE_NOTADB"


def no_room(_: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setattr(shutil, "disk_usage", lambda _: shutil._ntuple_diskusage(2**30, 2**30, 2**20))
    return "has 1 MiB left"


def a_damaged_copy(_: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    copied = database_copy._copy_into

    def damaging(database: Path, copy: Path) -> None:
        copied(database, copy)
        with copy.open("r+b") as file:
            file.seek(8192)
            file.write(bytes(4096))

    monkeypatch.setattr(database_copy, "_copy_into", damaging)
    return "is damaged"


def no_rename(_: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    def refused(_: Path, __: Path) -> None:
        raise OSError(5, "Input/output error")

    monkeypatch.setattr(Path, "rename", refused)
    return "Input/output error"


@pytest.mark.parametrize("spoil", [no_database, no_room, a_damaged_copy, no_rename])
def test_a_backup_that_fails_leaves_the_good_ones_and_nothing_else(
    data: Path,
    directory: Path,
    spoil: Callable[[Path, pytest.MonkeyPatch], str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    good = save_backup(data, directory, keep=1, now=NOW).file.read_bytes()
    said = spoil(data, monkeypatch)
    with pytest.raises(ConfigurationError, match=said):
        save_backup(data, directory, keep=1, now=NOW + DAY)
    assert names(directory) == dated(0)
    assert newest_backup(directory).read_bytes() == good


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_a_backup_that_is_killed_halfway_leaves_the_last_good_one_and_the_next_clears_up(
    line: CommandLine, data: Path, directory: Path, number: signal.Signals
) -> None:
    # Of an earlier second than the next one: names have seconds, and a name is never written twice.
    save_backup(data, directory, keep=1, now=datetime.now(UTC) - DAY)
    (good,) = names(directory)
    _make_large(data / FILE)
    process = subprocess.Popen(
        [PROGRAM, "backup", "--data-dir", data, "--output-dir", directory, "--keep", "1"],
        stderr=subprocess.PIPE,
        env=line.environment,
    )
    with process:
        _stop_halfway(process, directory, good)
        process.send_signal(number)
        process.send_signal(signal.SIGCONT)
        assert process.wait(PATIENCE_SECONDS) in {128 + number, -number}
    left = names(directory)
    assert good in left
    if number == signal.SIGKILL:
        assert [name for name in left if name.endswith(".partial")]
    assert newest_backup(directory).name == good
    assert rows(directory / good) == ROWS
    assert added(line, data, directory, "--keep", "1").status == 0
    (later,) = names(directory)
    assert later > good


def test_what_killed_ones_left_is_cleared_with_the_journals_beside_it(data: Path, directory: Path) -> None:
    directory.mkdir()
    left = [f".{name}.partial{suffix}" for name in dated(-2, -1) for suffix in ("", "-journal")]
    for name in left:
        (directory / name).write_bytes(b"half of it")
    save_backup(data, directory, keep=1, now=NOW)
    assert names(directory) == dated(0)


def _make_large(file: Path) -> None:
    """So large that a copy of it takes a while."""
    with closing(sqlite3.connect(file)) as connection, connection:
        connection.execute("CREATE TABLE filler (content)")
        connection.executemany("INSERT INTO filler VALUES (randomblob(1000000))", [()] * 64)


def _stop_halfway(process: subprocess.Popen[bytes], directory: Path, good: str) -> None:
    """Suspend it while its copy has begun and isn't complete."""
    deadline = time.monotonic() + PATIENCE_SECONDS
    while time.monotonic() < deadline:
        assert process.poll() is None
        if any(one.suffix == ".partial" and one.stat().st_size for one in directory.iterdir()):
            process.send_signal(signal.SIGSTOP)
            break
    assert [name for name in names(directory) if not name.startswith(".")] == [good]


def test_one_backup_at_a_time_also_into_two_directories(
    line: CommandLine, data: Path, directory: Path, tmp_path: Path
) -> None:
    directory.mkdir()
    lock = os.open(directory, os.O_RDONLY)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX)
        refused = added(line, data, directory)
    finally:
        os.close(lock)
    assert (refused.status, "another backup is written to" in refused.stderr) == (2, True)
    with database_copy.database_copy(data):
        refused = added(line, data, tmp_path / "other")
    assert (refused.status, "another backup of" in refused.stderr) == (2, True)
    assert names(directory) == names(tmp_path / "other") == []


def test_two_places_are_not_taken(line: CommandLine, data: Path, directory: Path, tmp_path: Path) -> None:
    refused = added(line, data, directory, "--output", str(tmp_path / "backup.db"))
    assert refused.status == 2
    assert "Give one of them" in refused.stderr
    assert names(tmp_path) == ["data"]


def test_a_directory_whose_place_is_missing_is_not_made(
    line: CommandLine, data: Path, tmp_path: Path
) -> None:
    refused = added(line, data, tmp_path / "no volume" / "backups")
    assert refused.status == 2
    assert "can't be made: No such file" in refused.stderr


def test_the_newest_of_a_directory_is_restored_and_named(
    line: CommandLine, data: Path, directory: Path
) -> None:
    save_backup(data, directory, keep=3, now=NOW)
    with_another_row(data / FILE)
    newest = save_backup(data, directory, keep=3, now=NOW + DAY)
    with closing(sqlite3.connect(data / FILE)) as connection, connection:
        connection.execute("DELETE FROM organizations")
    (directory / ".keybearer-20991129T023000Z.db.partial").write_bytes(b"half of it")
    told = restored(line, data, directory, "--force")
    assert told.status == 0, told.stderr
    assert f"Restored {newest.size} bytes of {newest.file}" in told.stderr
    assert rows(data / FILE) == ROWS + 1


def test_a_directory_without_a_backup_is_refused(line: CommandLine, data: Path, directory: Path) -> None:
    directory.mkdir()
    refused = restored(line, data, directory, "--force")
    assert refused.status == 2
    assert "holds no backup" in refused.stderr
    assert rows(data / FILE) == ROWS


# Dumps of PostgreSQL


DUMP = b"--\n-- PostgreSQL database dump\n--\n\nSELECT 1;\n\n--\n-- PostgreSQL database dump complete\n--\n\n"


@pytest.fixture
def dump(tmp_path: Path) -> Path:
    file = tmp_path / "dump.sql"
    file.write_bytes(DUMP)
    return file


def test_dumps_are_kept_beside_backups_of_sqlite_and_counted_apart(
    line: CommandLine, data: Path, dump: Path, directory: Path
) -> None:
    save_backup(data, directory, keep=1, now=NOW)
    saved = [save_dump(dump, directory, keep=2, now=NOW + day * DAY) for day in range(3)][-1]
    assert (saved.kept, saved.file.read_bytes()) == (2, DUMP)
    assert saved.file.stat().st_mode & 0o777 == 0o600
    assert names(directory) == sorted([*dated(0), *(one.replace(".db", ".sql") for one in dated(1, 2))])
    assert newest_backup(directory).suffix == ".db"
    assert dump.read_bytes() == DUMP
    told = line.here("backup", "--dump", str(dump), "--output-dir", str(directory))
    assert f"Backed up {len(DUMP)} bytes of {dump} to" in told.stderr


def test_what_newer_versions_write_behind_the_end_belongs_to_it(dump: Path, directory: Path) -> None:
    dump.write_bytes(DUMP.replace(b"\n\nSELECT", b"\n\n\\restrict word\n\nSELECT") + b"\\unrestrict word\n\n")
    assert save_dump(dump, directory, keep=1, now=NOW).file.read_bytes() == dump.read_bytes()


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (DUMP[:-20], "is cut off"),
        (DUMP[:40], "is cut off"),
        (b"", "doesn't begin as pg_dump begins"),
        (b"PGDMP" + DUMP[40:], "doesn't begin as pg_dump begins"),
    ],
    ids=["its last line", "nearly all of it", "nothing", "not in plain text"],
)
def test_a_dump_that_is_not_whole_leaves_the_good_one(
    dump: Path, directory: Path, content: bytes, said: str
) -> None:
    good = save_dump(dump, directory, keep=1, now=NOW).file
    dump.write_bytes(content)
    with pytest.raises(ConfigurationError, match=said):
        save_dump(dump, directory, keep=1, now=NOW + DAY)
    assert names(directory) == [good.name]
    assert good.read_bytes() == DUMP


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ((), "nothing says what is to be backed up"),
        (("--dump", "dump.sql"), "Give --output-dir"),
        (("--output-dir", "backups"), "Give either --data-dir or --dump"),
        (("--dump", "dump.sql", "--data-dir", "data", "--output-dir", "backups"), "Give either"),
    ],
    ids=["nothing", "a dump for a file", "a directory for nothing", "two databases"],
)
def test_one_database_is_named(line: CommandLine, given: tuple[str, ...], said: str) -> None:
    refused = line.here("backup", *given)
    assert refused.status == 2
    assert said in " ".join(refused.stderr.split())


# Where the data directory is mounted read-only


root = pytest.mark.skipif(os.geteuid() != 0, reason="only root mounts")


def added_from_a_read_only_mount(
    line: CommandLine, data: Path, directory: Path, place: Path
) -> subprocess.CompletedProcess[str]:
    place.mkdir()
    script = 'mount --bind "$1" "$2" && mount -o remount,bind,ro "$2" && shift 2 && exec "$@"'
    command: list[str | Path] = [PROGRAM, "backup", "--data-dir", place, "--output-dir", directory]
    return subprocess.run(
        ["unshare", "--mount", "sh", "-c", script, "sh", data, place, *command],
        capture_output=True,
        text=True,
        timeout=PATIENCE_SECONDS,
        check=False,
        env=line.environment,
    )


@root
def test_a_working_service_is_backed_up_from_a_read_only_mount(
    line: CommandLine, directory: Path, tmp_path: Path
) -> None:
    service = start_service(tmp_path / "data")
    login = UniversalAuth(service.admin.client_id, service.admin.client_secret)
    try:
        with Keybearer(service.url, login) as client:
            client.projects.create("my-shop", slug="my-shop")
        told = added_from_a_read_only_mount(line, service.data_dir, directory, tmp_path / "mounted")
        assert told.returncode == 0, told.stderr
    finally:
        service.stop()
    with closing(sqlite3.connect(newest_backup(directory))) as connection:
        assert connection.execute("SELECT slug FROM projects").fetchall() == [("my-shop",)]


@root
def test_a_service_that_has_ended_is_not_and_the_message_says_why(
    line: CommandLine, data: Path, directory: Path, tmp_path: Path
) -> None:
    with closing(sqlite3.connect(data / FILE)) as connection:
        connection.execute("PRAGMA journal_mode = WAL")
    told = added_from_a_read_only_mount(line, data, directory, tmp_path / "mounted")
    assert told.returncode == 2
    assert "is mounted read-only, so that a copy takes a service that runs on it" in told.stderr
    assert names(directory) == []
