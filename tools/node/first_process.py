"""The first process of a node's namespaces: it makes its mounts, reaps orphans, and takes all with it when it ends.

`python first_process.py READY [DIRECTORY]` runs as process 1 of a process namespace, in mount and network
namespaces of its own. The file READY exists once all is made. DIRECTORY, which is empty, gets what programs of a
node write in places of the machine. A program by itself, which may import nothing of this package.
"""

from __future__ import annotations

import ctypes
import os
import signal
import sys
from pathlib import Path

__all__ = ["main"]

_MS_BIND, _MS_REC = 0x1000, 0x4000  # linux/mount.h
_OWN = (Path("/run"), Path("/var/log"))
"""Where containerd, its shims and the kubelet write whatever they are told: what they see there is the node's."""
_STATE, _OF_PROGRAMS = Path("/var/lib"), {"cni", "containerd", "kubelet"}
"""Likewise; the rest of the directory is the machine's, for programs and caches may be below it."""
_SETTINGS = {
    "kernel/keys/root_maxbytes": "25000000",
    "kernel/keys/root_maxkeys": "1000000",
    "kernel/panic": "10",
    "kernel/panic_on_oops": "1",
    "vm/overcommit_memory": "1",
    "vm/panic_on_oom": "0",
}
"""What a kubelet sets for the whole kernel (pkg/kubelet/cm): it finds it so, and the machine's settings stay."""

_libc = ctypes.CDLL(None, use_errno=True)


def main() -> None:
    """Never returns."""
    ready, *directory = map(Path, sys.argv[1:])
    if directory:
        _make_mounts(*directory)
        # Of this network namespace alone.
        Path("/proc/sys/net/ipv4/ip_forward").write_text("1")
    ready.touch()
    # As process 1 it gets only the signals that it asks for, and SIGKILL.
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGCHLD})
    while True:
        _reap()
        signal.sigwait({signal.SIGCHLD})


def _make_mounts(directory: Path) -> None:
    for path in _OWN:
        _bind(_made(directory / path.name), path)
    machines = _made(directory / "state-of-the-machine")
    _bind(_STATE, machines)
    _bind(_made(directory / "state"), _STATE)
    for path in machines.iterdir():
        if path.is_dir() and not path.is_symlink() and path.name not in _OF_PROGRAMS:
            _bind(path, _made(_STATE / path.name))
    for name, value in _SETTINGS.items():
        shown = Path("/proc/sys") / name
        if shown.exists():
            source = directory / name.replace("/", ".")
            source.write_text(f"{value}\n")
            _bind(source, shown)


def _made(directory: Path) -> Path:
    directory.mkdir()
    return directory


def _reap() -> None:
    try:
        while os.waitpid(-1, os.WNOHANG) != (0, 0):
            pass
    except ChildProcessError:
        pass  # there are none


def _bind(source: Path, target: Path) -> None:
    if (
        _libc.mount(
            str(source).encode(), str(target).encode(), None, ctypes.c_ulong(_MS_BIND | _MS_REC), None
        )
        != 0
    ):
        raise OSError(ctypes.get_errno(), f"mount {source} on {target}")


if __name__ == "__main__":
    main()
