"""What a child gives up before it runs a tenant's template; none of it can be taken back.

Linux only where it says so: elsewhere (a developer's machine) deadline and Jinja2's sandbox remain.
"""

from __future__ import annotations

import ctypes
import math
import platform
import resource
import struct
import sys
import time
from dataclasses import dataclass
from typing import Final

from keybearer.base.own_process import prctl

__all__ = ["Limits", "confine", "die_with_parent", "mapped_bytes", "processor_seconds"]

_LINUX: Final = sys.platform == "linux"
_libc: Final = ctypes.CDLL(None, use_errno=True) if _LINUX else None

# Options of prctl, from linux/prctl.h.
_PR_SET_PDEATHSIG = 1
_PR_GET_SECCOMP = 21
_PR_SET_SECCOMP = 22
_PR_SET_NO_NEW_PRIVS = 38
_SECCOMP_MODE_FILTER = 2


@dataclass(frozen=True, slots=True)
class Limits:
    """What a child may use.

    Attributes:
        memory_bytes: address space, what is mapped at the start included.
        cpu_seconds: processor time, in case the server's deadline isn't kept.
    """

    memory_bytes: int
    cpu_seconds: int


def mapped_bytes() -> int:
    """Return how much address space this process has mapped; 0 where the system doesn't say."""
    if not _LINUX:
        return 0
    with open("/proc/self/statm", "rb") as statm:  # noqa: PTH123 - pathlib is not worth its import here
        return int(statm.read().split()[0]) * resource.getpagesize()


def processor_seconds(pid: int) -> float:
    """Return the processor time that a child has used; infinite on systems without such a clock.

    The child must not be reaped yet. The clock's number is built as clock_getcpuclockid(3) does, which Python lacks.
    """
    return time.clock_gettime(~pid << 3 | 2) if _LINUX else math.inf


def die_with_parent() -> None:
    """Have the kernel kill this process when the thread that started it ends (Linux)."""
    prctl(_PR_SET_PDEATHSIG, 9)


def confine(limits: Limits) -> None:
    """Give up: new memory beyond the limit, files and sockets, programs, privileges and other system calls.

    Raises:
        OSError: the system refuses; the process must not go on.
    """
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_CPU, (limits.cpu_seconds, limits.cpu_seconds + 1))
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
    # No number is left for a new descriptor: no file opens, and with it no token of a ServiceAccount, and no
    # socket. Those open already stay.
    resource.setrlimit(resource.RLIMIT_NOFILE, (0, 0))
    if _LINUX:
        resource.setrlimit(resource.RLIMIT_AS, (limits.memory_bytes, limits.memory_bytes))
        resource.setrlimit(resource.RLIMIT_NPROC, (0, 0))
        prctl(_PR_SET_NO_NEW_PRIVS, 1)
        _filter_system_calls()


# System calls that rendering makes (malloc, clocks, writing the answer, ending), with their numbers on x86_64 and
# on aarch64: arch/x86/entry/syscalls/syscall_64.tbl and include/uapi/asm-generic/unistd.h of Linux.
_CALLS: Final = {
    "write": (1, 64),
    "close": (3, 57),
    "shutdown": (48, 210),
    "mmap": (9, 222),
    "mprotect": (10, 226),
    "munmap": (11, 215),
    "brk": (12, 214),
    "mremap": (25, 216),
    "madvise": (28, 233),
    "futex": (202, 98),
    "rt_sigreturn": (15, 139),
    "rt_sigprocmask": (14, 135),
    "clock_gettime": (228, 113),
    "gettimeofday": (96, 169),
    "getrandom": (318, 278),
    "getpid": (39, 172),
    "restart_syscall": (219, 128),
    "exit": (60, 93),
    "exit_group": (231, 94),
}
_MACHINES: Final = {"x86_64": (0xC000003E, 0), "aarch64": (0xC00000B7, 1)}  # AUDIT_ARCH_*, column above

# linux/bpf_common.h, linux/seccomp.h
_LOAD_WORD = 0x20
_JUMP_IF_EQUAL = 0x15
_RETURN = 0x06
_OFFSET_OF_NUMBER = 0
_OFFSET_OF_ARCH = 4
_ALLOW = 0x7FFF0000
_KILL_PROCESS = 0x80000000
_FAIL_WITH_EPERM = 0x00050000 | 1


def _has_seccomp() -> bool:
    return _libc is not None and _libc.prctl(_PR_GET_SECCOMP, 0, 0, 0, 0) >= 0


class _Program(ctypes.Structure):
    """`struct sock_fprog`."""

    _fields_ = (("length", ctypes.c_ushort), ("instructions", ctypes.c_char_p))


def _filter_system_calls() -> None:
    """Let only the calls above through; the rest fails with EPERM.

    A hole in the sandbox then finds no process to signal or inspect, and no file to remove. On machines whose
    numbers are not listed, and kernels built without seccomp, the limits above must do.
    """
    machine = _MACHINES.get(platform.machine())
    if machine is None or not _has_seccomp():
        return
    arch, column = machine
    calls = [numbers[column] for numbers in _CALLS.values()]
    checks = [
        # Forward over the checks still to come and the refusal, to the permission.
        struct.pack("HBBI", _JUMP_IF_EQUAL, len(calls) - index, 0, number)
        for index, number in enumerate(calls)
    ]
    instructions = b"".join(
        [
            struct.pack("HBBI", _LOAD_WORD, 0, 0, _OFFSET_OF_ARCH),
            struct.pack("HBBI", _JUMP_IF_EQUAL, 1, 0, arch),
            struct.pack("HBBI", _RETURN, 0, 0, _KILL_PROCESS),
            struct.pack("HBBI", _LOAD_WORD, 0, 0, _OFFSET_OF_NUMBER),
            *checks,
            struct.pack("HBBI", _RETURN, 0, 0, _FAIL_WITH_EPERM),
            struct.pack("HBBI", _RETURN, 0, 0, _ALLOW),
        ]
    )
    program = _Program(len(instructions) // 8, instructions)
    prctl(_PR_SET_SECCOMP, _SECCOMP_MODE_FILTER, ctypes.addressof(program))
