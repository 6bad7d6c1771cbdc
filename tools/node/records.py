"""What each cluster with nodes has on this machine, written down before it is made; cleared when its maker is dead.

Processes, mounts and interfaces end with whoever made them, by the kernel. Cgroups and files stay.
"""

from __future__ import annotations

import fcntl
import json
import os
import secrets
import shutil
import tempfile
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Self

from tools.controlplane.errors import ControlPlaneError
from tools.controlplane.progress import report
from tools.local.waiting import eventually
from tools.node.cgroups import remove_cgroup
from tools.node.namespaces import run_command
from tools.node.network import free_number

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["RECORDS", "Claim", "Record", "clear_abandoned"]

RECORDS = Path("/run/keybearer-nodes")
"""As lasting as what is recorded there: neither outlives the machine's own run."""


@dataclass(frozen=True, slots=True)
class Record:
    """What there may be of one cluster.

    Attributes:
        name: Nobody else's, and short: a part of an interface's name.
        number: Of its network.
        directory: Holds all its files.
        nodes: How many it has.
    """

    name: str
    number: int
    directory: str
    nodes: int

    @property
    def interface(self) -> str:
        """This machine's end of the cluster's network."""
        return f"kb{self.name}"

    def cgroup(self, index: int) -> str:
        """Below which the pods of a node are, counted from 1."""
        return f"keybearer-{self.name}-{index}"

    def clear(self, ip: Path) -> None:
        """Nothing of it is left; its programs have ended or are about to."""
        eventually(
            lambda: _unplugged(ip, self.interface), awaited=f"an end of the interface {self.interface}"
        )
        for name in map(self.cgroup, range(1, self.nodes + 1)):
            eventually(partial(_removed, name), awaited=f"an end of the processes in the cgroup {name}")
        eventually(partial(_deleted, Path(self.directory)), awaited=f"an end of {self.directory}")


class Claim:
    """A record that is ours until `close()`, or until this process ends.

    Args:
        ip: The program.
        nodes: How many the cluster will have.
    """

    def __init__(self, ip: Path, nodes: int) -> None:
        self._ip = ip
        with _alone():
            _clear_abandoned(ip)
            number = free_number(ip, {one.number for one, _ in _records()})
            name = secrets.token_hex(4)
            directory = Path(tempfile.gettempdir(), f"keybearer-node-{name}")
            self.record = Record(name, number, str(directory), nodes)
            self._file = RECORDS / f"{name}.json"
            # Whole, and ours, from the moment at which others see it.
            unfinished = RECORDS / "unfinished"
            self._lock = os.open(unfinished, os.O_RDWR | os.O_CREAT | os.O_TRUNC, 0o600)
            fcntl.flock(self._lock, fcntl.LOCK_EX)
            os.write(self._lock, json.dumps(asdict(self.record)).encode())
            unfinished.rename(self._file)
            directory.mkdir(mode=0o700)

    @property
    def directory(self) -> Path:
        """Ours, mode 0700."""
        return Path(self.record.directory)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Nothing of the cluster is left, nor of the record. Call once."""
        self.record.clear(self._ip)
        self._file.unlink()
        os.close(self._lock)


def clear_abandoned(ip: Path) -> None:
    """Nothing is left of clusters whose makers are dead."""
    with _alone():
        _clear_abandoned(ip)


def _clear_abandoned(ip: Path) -> None:
    for record, file in _records():
        lock = os.open(file, os.O_RDWR)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            continue  # its maker lives
        else:
            report(f"clearing what an earlier run left: {record.interface}, {record.directory}", of="nodes")
            record.clear(ip)
            file.unlink()
        finally:
            os.close(lock)


def _records() -> list[tuple[Record, Path]]:
    """Those there are; nobody writes one meanwhile."""
    return [(Record(**json.loads(file.read_text())), file) for file in sorted(RECORDS.glob("*.json"))]


@contextmanager
def _alone() -> Iterator[None]:
    """Nobody else makes or clears a record meanwhile; the lock of a killed holder is free."""
    RECORDS.mkdir(mode=0o700, exist_ok=True)
    lock = os.open(RECORDS / "lock", os.O_RDWR | os.O_CREAT, 0o600)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield
    finally:
        os.close(lock)


def _unplugged(ip: Path, interface: str) -> bool:
    if not Path("/sys/class/net", interface).exists():
        return True
    with suppress(ControlPlaneError):  # it goes with the namespace of its other end, maybe just now
        run_command([ip, "link", "delete", interface])
    return False


def _deleted(directory: Path) -> bool:
    try:
        shutil.rmtree(directory)
    except FileNotFoundError:
        return not directory.exists()
    except OSError:
        return False  # a program that is ending has made another file
    return True


def _removed(cgroup: str) -> bool:
    try:
        remove_cgroup(cgroup)
    except OSError:
        return False  # a process that is ending is in it
    return True
