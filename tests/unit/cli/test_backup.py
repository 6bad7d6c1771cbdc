"""`keybearer backup` and `keybearer restore`: one moment of the database, whole or not at all."""

from __future__ import annotations

import os
import shutil
import signal
import sqlite3
import subprocess
import threading
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from keybearer.client import Keybearer, UniversalAuth
from keybearer.store import database_copy
from keybearer.store.data_directory import DataDirectory
from support.backup_files import (
    COPY,
    FILE,
    RESTORED,
    ROWS,
    backed_up,
    restored,
    rows,
    running,
    with_another_row,
)
from support.canary import Canary
from support.command_line import PROGRAM, CommandLine
from support.service_fixtures import ServiceProcess, start_service
from tools.local.waiting import PATIENCE_SECONDS, eventually

# Of a service that works


def test_a_backup_of_a_working_service_is_restored_elsewhere_and_read_with_the_same_root_key(
    tmp_path: Path, line: CommandLine, canary: Canary
) -> None:
    first = start_service(tmp_path / "data")
    canary.watch("log of the first", first.log.read_text)
    backup = tmp_path / "backup.db"
    try:
        with written_all_the_while(first) as project:
            told = backed_up(line, first.data_dir, backup)
        assert told.status == 0, told.stderr
        refused = restored(line, first.data_dir, backup, "--force")
        assert refused.status == 2
        assert "is in use by another keybearer serve; stop it" in refused.stderr
    finally:
        first.stop()
    assert b"cnry-" not in backup.read_bytes()
    second = tmp_path / "elsewhere"
    assert restored(line, second, backup).status == 0
    shutil.copyfile(first.data_dir / "root.key", second / "root.key")
    (second / "root.key").chmod(0o600)
    served = start_service(second)
    canary.watch("log of the second", served.log.read_text)
    try:
        with logged_in(served, first) as client:
            listed = client.secrets.list(project_id=project, environment="dev")
    finally:
        served.stop()
    found = {one.secret_key: one.secret_value for one in listed}
    # One moment: what was written one after the other is there up to some point, and nothing behind it.
    assert found
    assert found == {f"KEY_{number}": f"cnry-{number}" for number in range(len(found))}


@contextmanager
def logged_in(served: ServiceProcess, first: ServiceProcess) -> Iterator[Keybearer]:
    with Keybearer(served.url, UniversalAuth(first.admin.client_id, first.admin.client_secret)) as client:
        yield client


@contextmanager
def written_all_the_while(served: ServiceProcess) -> Iterator[str]:
    """Secrets are written one after the other within; yields their project, when there is one."""
    over, begun = threading.Event(), threading.Event()
    with logged_in(served, served) as client:
        project = client.projects.create("my-shop", slug="my-shop").id

        def write() -> None:
            number = 0
            while not over.is_set():
                client.secrets.create(
                    f"KEY_{number}", f"cnry-{number}", project_id=project, environment="dev"
                )
                begun.set()
                number += 1

        thread = threading.Thread(target=write)
        thread.start()
        try:
            assert begun.wait(PATIENCE_SECONDS)
            yield project
        finally:
            over.set()
            thread.join()


def test_what_a_killed_service_wrote_last_is_in_the_backup(tmp_path: Path, line: CommandLine) -> None:
    service = start_service(tmp_path / "data")
    with logged_in(service, service) as client:
        client.projects.create("my-shop", slug="my-shop")
    service.process.kill()
    service.stop()
    assert (service.data_dir / f"{FILE}-wal").stat().st_size
    assert backed_up(line, service.data_dir, tmp_path / "backup.db").status == 0
    with closing(sqlite3.connect(tmp_path / "backup.db")) as connection:
        assert connection.execute("SELECT slug FROM projects").fetchall() == [("my-shop",)]


# Backup


def test_a_backup_is_its_owners_alone_says_how_long_it_is_and_leaves_nothing_else(
    line: CommandLine, data: Path, tmp_path: Path
) -> None:
    before = sorted(data.iterdir())
    told = backed_up(line, data, tmp_path / "backup.db")
    backup = tmp_path / "backup.db"
    assert (told.status, told.stdout) == (0, "")
    assert f"Backed up {backup.stat().st_size} bytes" in told.stderr
    assert "the root key is not among them" in told.stderr
    assert backup.stat().st_mode & 0o777 == 0o600
    assert rows(backup) == ROWS
    assert sorted(data.iterdir()) == before
    assert sorted(path.name for path in tmp_path.iterdir()) == ["backup.db", "data"]


def test_standard_output_gets_the_same_bytes(line: CommandLine, data: Path, saved: Path) -> None:
    with running(line, "backup", "--data-dir", str(data)) as process:
        written, told = process.communicate(timeout=PATIENCE_SECONDS)
    assert process.returncode == 0, told
    assert written == saved.read_bytes()


def test_room_of_deleted_rows_is_not_in_it(line: CommandLine, data: Path, tmp_path: Path) -> None:
    with closing(sqlite3.connect(data / FILE)) as connection, connection:
        connection.execute("DELETE FROM organizations")
    assert backed_up(line, data, tmp_path / "backup.db").status == 0
    assert (tmp_path / "backup.db").stat().st_size < (data / FILE).stat().st_size - 2000 * ROWS


def test_a_terminal_is_spared(line: CommandLine, data: Path) -> None:
    leader, follower = os.openpty()
    try:
        done = subprocess.run(
            [PROGRAM, "backup", "--data-dir", data],
            stdin=subprocess.DEVNULL,
            stdout=follower,
            stderr=subprocess.PIPE,
            text=True,
            timeout=PATIENCE_SECONDS,
            check=False,
            env=line.environment,
        )
    finally:
        os.close(follower)
        os.close(leader)
    assert done.returncode == 2
    assert "nothing for a terminal" in done.stderr
    assert "--output" in done.stderr


@pytest.mark.parametrize(
    ("number", "status"), [(signal.SIGTERM, 143), (signal.SIGHUP, 129), (signal.SIGKILL, -9)]
)
def test_a_backup_that_is_ended_halfway_leaves_nothing(
    line: CommandLine, data: Path, number: signal.Signals, status: int
) -> None:
    with running(line, "backup", "--data-dir", str(data)) as process:
        assert process.stdout is not None
        assert process.stdout.read(16) == b"SQLite format 3\0"  # and the rest waits for somebody to read it
        process.send_signal(number)
        assert process.wait(PATIENCE_SECONDS) == status
    assert sorted(path.name for path in data.iterdir()) == [FILE, "root.key"]


def test_a_backup_whose_reader_went_away_fails_and_leaves_nothing(line: CommandLine, data: Path) -> None:
    with running(line, "backup", "--data-dir", str(data)) as process:
        assert process.stdout is not None
        process.stdout.read(16)
        process.stdout.close()
        assert process.wait(PATIENCE_SECONDS) != 0
    assert sorted(path.name for path in data.iterdir()) == [FILE, "root.key"]


def test_what_a_killed_backup_left_is_taken_away_by_the_next(
    line: CommandLine, data: Path, tmp_path: Path
) -> None:
    (data / COPY).write_bytes(b"half of it")
    assert backed_up(line, data, tmp_path / "backup.db").status == 0
    assert rows(tmp_path / "backup.db") == ROWS
    assert not (data / COPY).exists()


def test_one_backup_at_a_time(line: CommandLine, data: Path, tmp_path: Path) -> None:
    with database_copy.database_copy(data):
        refused = backed_up(line, data, tmp_path / "backup.db")
    assert refused.status == 2
    assert "another backup of" in refused.stderr
    assert not (tmp_path / "backup.db").exists()


def test_a_file_that_is_there_stays(line: CommandLine, data: Path, saved: Path) -> None:
    before = saved.read_bytes()
    with_another_row(data / FILE)
    refused = backed_up(line, data, saved)
    assert refused.status == 2
    assert "exists" in refused.stderr
    assert saved.read_bytes() == before


def test_without_a_database_postgresql_is_thought_of(line: CommandLine, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    refused = backed_up(line, tmp_path / "empty", tmp_path / "backup.db")
    assert refused.status == 2
    assert "pg_dump" in refused.stderr
    assert sorted(path.name for path in tmp_path.iterdir()) == ["empty"]


def test_a_file_that_is_no_database_is_not_copied(line: CommandLine, data: Path, tmp_path: Path) -> None:
    (data / FILE).write_bytes(b"cnry-" * 1000)
    refused = backed_up(line, data, tmp_path / "backup.db")
    assert refused.status == 2
    assert "SQLITE_NOTADB" in refused.stderr
    assert sorted(path.name for path in data.iterdir()) == [FILE, "root.key"]


def test_a_volume_without_room_is_left_as_it_is(
    line: CommandLine, data: Path, tmp_path: Path, saved: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shutil, "disk_usage", lambda _: shutil._ntuple_diskusage(2**30, 2**30, 2**20))
    refused = backed_up(line, data, tmp_path / "another.db")
    assert refused.status == 2
    assert "has 1 MiB left" in refused.stderr
    refused = restored(line, data, saved, "--force")
    assert refused.status == 2
    assert "has 1 MiB left" in refused.stderr
    assert rows(data / FILE) == ROWS


# Restore


def test_a_restored_database_is_its_owners_alone_and_nothing_of_the_former_one_is_beside_it(
    line: CommandLine, data: Path, saved: Path
) -> None:
    with_another_row(data / FILE)
    for suffix in ("-wal", "-shm"):
        (data / f"{FILE}{suffix}").write_bytes(b"of the former one")
    told = restored(line, data, saved, "--force")
    assert told.status == 0, told.stderr
    assert f"Restored {saved.stat().st_size} bytes" in told.stderr
    assert (data / FILE).read_bytes() == saved.read_bytes()
    assert (data / FILE).stat().st_mode & 0o777 == 0o600
    assert sorted(path.name for path in data.iterdir()) == [FILE, "lock", "root.key"]
    assert (data / "root.key").read_text() == "the root key\n"


def test_a_database_that_is_there_stays_without_a_word(line: CommandLine, data: Path, saved: Path) -> None:
    with_another_row(data / FILE)
    refused = restored(line, data, saved)
    assert refused.status == 2
    assert "say --force" in refused.stderr
    assert rows(data / FILE) == ROWS + 1


def test_a_directory_in_use_is_left_alone(line: CommandLine, data: Path, saved: Path) -> None:
    with DataDirectory(data):
        refused = restored(line, data, saved, "--force")
    assert refused.status == 2
    assert "in use" in refused.stderr


def cut_off(whole: bytes) -> bytes:
    return whole[: len(whole) // 2]


def cut_off_by_one_page(whole: bytes) -> bytes:
    return whole[:-4096]


def with_more_behind_it(whole: bytes) -> bytes:
    return whole + b"\n"


def with_a_damaged_page(whole: bytes) -> bytes:
    return whole[:8192] + bytes(4096) + whole[12288:]


def without_pages(whole: bytes) -> bytes:
    return whole[:28] + bytes(4) + whole[32:]


@pytest.mark.parametrize(
    ("spoil", "said"),
    [
        (cut_off, "is cut off"),
        (cut_off_by_one_page, "is cut off"),
        (with_more_behind_it, "goes on behind its"),
        (with_a_damaged_page, "is damaged"),
        (without_pages, "is damaged at its beginning"),
        (lambda _: b"", "is no backup"),
        (lambda _: b"PGDMP" + b"cnry-" * 1000, "pg_restore"),
        (lambda whole: whole[:100], "is cut off"),
    ],
    ids=["half", "a page short", "longer", "a page of zeros", "no pages", "nothing", "of PostgreSQL", "head"],
)
def test_a_backup_that_is_not_whole_changes_nothing(
    line: CommandLine, data: Path, saved: Path, spoil: Callable[[bytes], bytes], said: str
) -> None:
    before = (data / FILE).read_bytes()
    saved.write_bytes(spoil(saved.read_bytes()))
    refused = restored(line, data, saved, "--force")
    assert refused.status == 2
    assert said in refused.stderr
    assert (data / FILE).read_bytes() == before
    assert not (data / RESTORED).exists()


def test_a_database_of_another_program_is_refused(line: CommandLine, data: Path, tmp_path: Path) -> None:
    with closing(sqlite3.connect(tmp_path / "other.db")) as connection, connection:
        connection.execute("CREATE TABLE alembic_version (version_num)")
        connection.execute("INSERT INTO alembic_version VALUES ('0001')")
    refused = restored(line, data, tmp_path / "other.db", "--force")
    assert refused.status == 2
    assert "of another program" in refused.stderr
    assert rows(data / FILE) == ROWS


def test_a_backup_of_a_newer_version_is_refused(line: CommandLine, data: Path, saved: Path) -> None:
    with closing(sqlite3.connect(saved)) as connection, connection:
        connection.execute("UPDATE alembic_version SET version_num = '9999'")
    refused = restored(line, data, saved, "--force")
    assert refused.status == 2
    assert "newer version" in refused.stderr
    assert rows(data / FILE) == ROWS


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_a_restore_that_is_ended_halfway_changes_nothing_and_can_be_run_again(
    line: CommandLine, data: Path, saved: Path, number: signal.Signals
) -> None:
    with_another_row(data / FILE)
    whole = saved.read_bytes()
    with running(line, "restore", "--data-dir", str(data), "--force") as process:
        assert process.stdin is not None
        process.stdin.write(whole[: len(whole) // 2])
        process.stdin.flush()
        eventually(
            lambda: (data / RESTORED).exists() and (data / RESTORED).stat().st_size > len(whole) // 3,
            awaited="most of what it was given",
        )
        process.send_signal(number)
        process.wait(PATIENCE_SECONDS)
    assert rows(data / FILE) == ROWS + 1
    assert (data / RESTORED).exists() is (number == signal.SIGKILL)
    assert restored(line, data, saved, "--force").status == 0
    assert rows(data / FILE) == ROWS
    assert not (data / RESTORED).exists()


def test_a_restore_that_ends_before_the_last_step_leaves_no_log_of_the_former_one_beside_the_new(
    line: CommandLine, data: Path, saved: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (data / f"{FILE}-wal").write_bytes(b"of the former one")
    seen: list[bool] = []

    def replaced(file: Path, target: Path) -> None:
        seen.append((data / f"{FILE}-wal").exists())
        file.rename(target)

    monkeypatch.setattr(Path, "replace", replaced)
    assert restored(line, data, saved, "--force").status == 0
    assert seen == [False]


def test_standard_input_is_read_and_a_new_directory_made(
    line: CommandLine, saved: Path, tmp_path: Path
) -> None:
    with running(line, "restore", "--data-dir", str(tmp_path / "new"), "--input", "-") as process:
        _, told = process.communicate(saved.read_bytes(), timeout=PATIENCE_SECONDS)
    assert process.returncode == 0, told
    assert rows(tmp_path / "new" / FILE) == ROWS
    assert (tmp_path / "new").stat().st_mode & 0o777 == 0o700


def test_nobody_is_waited_for_at_a_terminal(line: CommandLine, tmp_path: Path) -> None:
    leader, follower = os.openpty()
    try:
        done = subprocess.run(
            [PROGRAM, "restore", "--data-dir", tmp_path / "new"],
            stdin=follower,
            capture_output=True,
            text=True,
            timeout=PATIENCE_SECONDS,
            check=False,
            env=line.environment,
        )
    finally:
        os.close(follower)
        os.close(leader)
    assert done.returncode == 2
    assert "--input" in done.stderr
    assert not (tmp_path / "new").exists()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root gives files away")
def test_what_root_restores_is_the_services(line: CommandLine, saved: Path, tmp_path: Path) -> None:
    directory = tmp_path / "new"
    directory.mkdir()
    os.chown(directory, 65532, 65532)
    assert restored(line, directory, saved).status == 0
    assert ((directory / FILE).stat().st_uid, (directory / FILE).stat().st_gid) == (65532, 65532)
