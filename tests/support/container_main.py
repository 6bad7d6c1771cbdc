"""Becomes a command inside the root file system of an image, as a runtime of containers starts it. Linux, as root.

`python container_main.py SPEC COMMAND...`, SPEC being JSON of `root` (a directory), `user`, `directory`,
`environment`, and `mounts`, a list of `[from, to, writable]`. The command sees a read-only root with nothing of this
machine but its network and processes, has no privilege and can't gain any; `/tmp` is its own, in memory, as the chart
mounts it. A program of its own for the reason that tether.py is one.
"""

from __future__ import annotations

import ctypes
import json
import os
import signal
import sys
from pathlib import Path

__all__ = ["main"]

# linux/sched.h, linux/mount.h, linux/prctl.h
_CLONE_NEWNS = 0x0002_0000
_CLONE_NEWIPC = 0x0800_0000
_MS_RDONLY, _MS_NOSUID, _MS_NODEV, _MS_NOEXEC = 1, 2, 4, 8
_MS_REMOUNT = 32
_MS_BIND = 4096
_MS_REC = 16384
_MS_PRIVATE = 1 << 18
_PR_SET_PDEATHSIG = 1
_PR_SET_NO_NEW_PRIVS = 38

_DEVICES = ("null", "zero", "full", "random", "urandom")
_libc = ctypes.CDLL(None, use_errno=True)


def main() -> None:
    """Becomes the command; never returns."""
    spec = json.loads(sys.argv[1])
    command = sys.argv[2:]
    parent = os.getppid()
    _check(_libc.unshare(_CLONE_NEWNS | _CLONE_NEWIPC), "unshare")
    _mount("none", "/", flags=_MS_REC | _MS_PRIVATE)
    root = Path(spec["root"])
    _mount(root, root, flags=_MS_BIND | _MS_REC)
    _furnish(root)
    for source, target, writable in spec["mounts"]:
        _bind(Path(source), root / target.lstrip("/"), writable=writable)
    _mount(root, root, flags=_MS_BIND | _MS_REMOUNT | _MS_RDONLY | _MS_NOSUID | _MS_NODEV)
    os.chroot(root)
    os.chdir(spec["directory"])
    os.setgroups([])
    os.setgid(spec["user"])
    os.setuid(spec["user"])
    _check(_libc.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), "prctl")
    # The change of user has cleared what was set before (prctl(2)).
    _check(_libc.prctl(_PR_SET_PDEATHSIG, int(signal.SIGKILL), 0, 0, 0), "prctl")
    if os.getppid() != parent:
        sys.exit(1)
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    os.execvpe(command[0], command, spec["environment"])  # noqa: S606 - without a shell: there is none


def _furnish(root: Path) -> None:
    """What every runtime mounts."""
    _mount("proc", root / "proc", kind="proc", flags=_MS_NOSUID | _MS_NODEV | _MS_NOEXEC)
    _mount("tmpfs", root / "tmp", kind="tmpfs", flags=_MS_NOSUID | _MS_NODEV, options="mode=1777,size=64m")
    _mount("tmpfs", root / "dev", kind="tmpfs", flags=_MS_NOSUID, options="mode=755,size=64k")
    for name in _DEVICES:
        (root / "dev" / name).touch()
        _mount(Path("/dev", name), root / "dev" / name, flags=_MS_BIND)
    _mount("tmpfs", root / "dev", flags=_MS_REMOUNT | _MS_RDONLY | _MS_NOSUID, options="mode=755,size=64k")


def _bind(source: Path, target: Path, *, writable: bool) -> None:
    _mount(source, target, flags=_MS_BIND)
    if not writable:
        _mount(source, target, flags=_MS_BIND | _MS_REMOUNT | _MS_RDONLY | _MS_NOSUID | _MS_NODEV)


def _mount(source: str | Path, target: str | Path, *, kind: str = "", flags: int, options: str = "") -> None:
    done = _libc.mount(
        os.fsencode(source), os.fsencode(target), kind.encode(), ctypes.c_ulong(flags), options.encode()
    )
    _check(done, f"mount {target}")


def _check(status: int, what: str) -> None:
    if status != 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{what}: {os.strerror(number)}")


if __name__ == "__main__":
    main()
