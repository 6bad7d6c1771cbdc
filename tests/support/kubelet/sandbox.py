"""A container of a pod, without an engine: `python sandbox.py DESCRIPTION`, where that is a JSON file. Linux only.

What runs inside has the files of this machine as its image, read-only, with the pod's volumes in their places; a
network of its own, in which all of 10.0.0.0/8 is itself; and no capabilities. Its ways out are the routes: each
listens at an address of that network and leads to a Unix socket, which is the same inside and outside; others lead
back in. Without a container, what listens is handed over as open sockets, so that nobody who connects comes too soon.

It is a program of its own because a process enters other namespaces as a whole.
"""

from __future__ import annotations

import asyncio
import contextlib
import ctypes
import fcntl
import json
import os
import signal
import socket
import struct
import sys
import traceback
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

__all__ = ["main"]

# sched.h, linux/mount.h, linux/prctl.h, linux/sockios.h and linux/if.h.
_CLONE_NEWNS, _CLONE_NEWUTS, _CLONE_NEWUSER, _CLONE_NEWNET = 0x00020000, 0x04000000, 0x10000000, 0x40000000
_MS_BIND, _MS_REC, _MS_PRIVATE = 0x1000, 0x4000, 0x40000
_SYS_MOUNT_SETATTR = 442  # the same on every architecture
_AT_FDCWD, _AT_RECURSIVE, _MOUNT_ATTR_RDONLY = -100, 0x8000, 1
_PR_SET_PDEATHSIG, _PR_CAPBSET_READ, _PR_CAPBSET_DROP, _PR_SET_NO_NEW_PRIVS = 1, 23, 24, 38
_SIOCSIFFLAGS, _SIOCSIFADDR, _IFF_UP, _IFF_RUNNING = 0x8914, 0x8916, 0x1, 0x40
_LAST_CAPABILITY = 63
_CHUNK = 64 * 1024
_SLASH = Path("/")
_EMPTY = Path("/tmp")  # noqa: S108 - of the container: images have nothing there, and this machine has the sandbox

_libc = ctypes.CDLL(None, use_errno=True)


def main() -> None:
    """Run what the description says, and end as the container ends."""
    description = json.loads(Path(sys.argv[1]).read_text())
    container = description.get("container")
    if container is not None:
        _enter_network_of_its_own()
        sys.exit(asyncio.run(_run_container(description["routes"], container)))
    asyncio.run(_pass_on(description["listening"]))


async def _pass_on(listening: Sequence[tuple[int, str]]) -> None:
    for number, far in listening:
        await asyncio.start_server(_relay_to(far), sock=socket.socket(fileno=number))
    ended = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, ended.set)
    await ended.wait()


async def _run_container(routes: Sequence[tuple[str, str]], container: Mapping[str, Any]) -> int:
    for near, far in routes:
        await _listen(near, far)
    loop = asyncio.get_running_loop()
    ended: asyncio.Future[None] = loop.create_future()
    pid = _start(container)
    loop.add_signal_handler(signal.SIGTERM, os.kill, pid, signal.SIGTERM)
    child = os.pidfd_open(pid)
    loop.add_reader(child, ended.set_result, None)
    await ended
    loop.remove_reader(child)
    status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])  # noqa: ASYNC222 - it has ended
    return status if status >= 0 else 128 - status


# Ways in and out


async def _listen(near: str, far: str) -> None:
    if near.startswith("/"):
        await asyncio.start_unix_server(_relay_to(far), near)
    else:
        host, port = near.split(":")
        await asyncio.start_server(_relay_to(far), host, int(port))


def _relay_to(far: str) -> Callable[[asyncio.StreamReader, asyncio.StreamWriter], None]:
    passing: set[asyncio.Task[None]] = set()  # the event loop itself doesn't keep them

    def relay(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.create_task(_relay(reader, writer, far))
        passing.add(task)
        task.add_done_callback(passing.discard)

    return relay


async def _relay(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, far: str) -> None:
    with contextlib.closing(writer):
        try:
            far_reader, far_writer = await _connect(far)
            with contextlib.closing(far_writer):
                async with asyncio.TaskGroup() as both:
                    both.create_task(_pump(reader, far_writer))
                    both.create_task(_pump(far_reader, writer))
        except* OSError:
            pass  # either side hung up, or nobody is there: the other one sees the end of the connection


async def _connect(far: str) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    if far.startswith("/"):
        return await asyncio.open_unix_connection(far)
    host, port = far.split(":")
    return await asyncio.open_connection(host, int(port))


async def _pump(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    while chunk := await reader.read(_CHUNK):
        writer.write(chunk)
        await writer.drain()
    writer.write_eof()


# The container


def _enter_network_of_its_own() -> None:
    if os.geteuid() == 0:
        _must(_libc.unshare(_CLONE_NEWNET), "unshare")
    else:
        user, group = os.geteuid(), os.getegid()
        _must(_libc.unshare(_CLONE_NEWUSER | _CLONE_NEWNET), "unshare")
        # Itself, so that its capabilities are gone once another program runs.
        Path("/proc/self/setgroups").write_text("deny")
        Path("/proc/self/uid_map").write_text(f"{user} {user} 1")
        Path("/proc/self/gid_map").write_text(f"{group} {group} 1")
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as control:
        fcntl.ioctl(control, _SIOCSIFFLAGS, struct.pack("16sH22x", b"lo", _IFF_UP | _IFF_RUNNING))
        # By its class its network is 10.0.0.0/8, and what is on loopback is local as a whole.
        address = struct.pack("16sHH4s16x", b"lo:1", socket.AF_INET, 0, socket.inet_aton("10.0.0.1"))
        fcntl.ioctl(control, _SIOCSIFADDR, address)


def _start(container: Mapping[str, Any]) -> int:
    """Return the process id of the container's program."""
    pid = os.fork()
    if pid:
        return pid
    try:
        _must(_libc.prctl(_PR_SET_PDEATHSIG, int(signal.SIGKILL), 0, 0, 0), "prctl(PR_SET_PDEATHSIG)")
        _must(_libc.unshare(_CLONE_NEWNS | _CLONE_NEWUTS), "unshare")
        socket.sethostname(container["hostname"])
        root = Path(container["root"])
        _build_root(root, container["mounts"], [Path(one) for one in container["image"]])
        os.chroot(root)
        os.chdir(container["directory"])
        if os.geteuid() == 0:
            os.setgroups(container["groups"])
        _drop_capabilities()
        signal.signal(signal.SIGPIPE, signal.SIG_DFL)
        argv = container["argv"]
        os.execvpe(argv[0], argv, container["environment"])  # noqa: S606 - becoming the program is the purpose
    except BaseException:  # noqa: BLE001 - nothing of the parent may go on in here
        traceback.print_exc()
    os._exit(127)


def _build_root(root: Path, mounts: Sequence[Mapping[str, Any]], image: Sequence[Path]) -> None:
    """Mount what the container sees.

    Args:
        root: where, an empty directory.
        mounts: of volumes: `target`, `source` (none for an empty file system in memory) and `readOnly`.
        image: what must be seen, also where it lies below a volume on this machine.
    """
    _mount(None, _SLASH, None, _MS_REC | _MS_PRIVATE)
    _mount("tmpfs", root, "tmpfs", 0)
    places = sorted(((Path(one["target"]).resolve(), one) for one in mounts), key=lambda place: place[0])
    targets = {target: one["source"] is None or Path(one["source"]).is_dir() for target, one in places}
    ours = {_EMPTY, *(above for target in targets for above in target.parents)}
    _graft(root, _SLASH, ours - targets.keys(), targets)
    _set_read_only(root, recursive=True)
    for target, one in places:
        if one["source"] is None:
            _mount("tmpfs", _below(root, target), "tmpfs", 0)
        else:
            _mount(one["source"], _below(root, target), None, _MS_BIND)
    for path in image:
        there = _below(root, path)
        if not there.exists():
            there.mkdir(parents=True)
            _mount(str(path), there, None, _MS_BIND | _MS_REC)
            _set_read_only(there, recursive=True)
    for target, one in places:
        if one["readOnly"]:
            _set_read_only(_below(root, target))


def _graft(root: Path, path: Path, ours: set[Path], targets: Mapping[Path, bool]) -> None:
    """Fill a directory of ours with what this machine has there, and with places to mount volumes on."""
    found = set(path.iterdir()) if path != _EMPTY and path.is_dir() else set()
    for here in sorted(found | {one for one in (*ours, *targets) if one != _SLASH and one.parent == path}):
        there = _below(root, here)
        if here in targets:
            _make_place(there, directory=targets[here])
        elif here in ours:
            there.mkdir()
            _graft(root, here, ours, targets)
        elif here.is_symlink():
            there.symlink_to(here.readlink())
        else:
            _make_place(there, directory=here.is_dir())
            _mount(str(here), there, None, _MS_BIND | _MS_REC)


def _below(root: Path, path: Path) -> Path:
    return root / path.relative_to(_SLASH)


def _make_place(path: Path, *, directory: bool) -> None:
    if directory:
        path.mkdir()
    else:
        path.touch()


def _drop_capabilities() -> None:
    if os.geteuid() == 0:  # others lose theirs with the next program
        known = [
            number
            for number in range(_LAST_CAPABILITY + 1)
            if _libc.prctl(_PR_CAPBSET_READ, number, 0, 0, 0) >= 0
        ]
        for number in known:
            _must(_libc.prctl(_PR_CAPBSET_DROP, number, 0, 0, 0), "prctl(PR_CAPBSET_DROP)")
    _must(_libc.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), "prctl(PR_SET_NO_NEW_PRIVS)")


def _mount(source: str | None, target: Path, kind: str | None, flags: int) -> None:
    given = (None if text is None else text.encode() for text in (source, str(target), kind))
    _must(_libc.mount(*given, ctypes.c_ulong(flags), None), f"mount {source} on {target}")


def _set_read_only(path: Path, *, recursive: bool = False) -> None:
    attributes = struct.pack("QQQQ", _MOUNT_ATTR_RDONLY, 0, 0, 0)
    flags = _AT_RECURSIVE if recursive else 0
    size = ctypes.c_size_t(len(attributes))
    _must(
        _libc.syscall(_SYS_MOUNT_SETATTR, _AT_FDCWD, str(path).encode(), flags, attributes, size),
        f"mount_setattr {path}",
    )


def _must(result: int, what: str) -> None:
    if result != 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{what}: {os.strerror(number)}")


if __name__ == "__main__":
    main()
