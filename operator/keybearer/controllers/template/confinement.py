"""What a child gives up before it runs a tenant's template; none of it can be taken back.

Linux only where it says so: elsewhere (a developer's machine) deadline and Jinja2's sandbox remain.
"""

from __future__ import annotations

import ctypes
import os
import platform
import resource
import struct
import sys
from dataclasses import dataclass
from typing import Final

__all__ = ["Limits", "confine", "die_with_parent", "forbid_inspection", "mapped_bytes"]

_LINUX: Final = sys.platform == "linux"
_libc: Final = ctypes.CDLL(None, use_errno=True) if _LINUX else None

# Options of prctl, from linux/prctl.h.
_PR_SET_PDEATHSIG = 1
_PR_SET_DUMPABLE = 4
_PR_SET_SECCOMP = 22
_PR_SET_NO_NEW_PRIVS = 38
_SECCOMP_MODE_FILTER = 2


@dataclass(frozen=True, slots=True)
class Limits:
    """What a child may use.

    Attributes:
        memory_bytes: address space, what is mapped at the start included.
        cpu_seconds: processor time, in case the clock's deadline isn't kept.
    """

    memory_bytes: int
    cpu_seconds: int


def mapped_bytes() -> int:
    """Return how much address space this process has mapped; 0 where the system doesn't say."""
    if not _LINUX:
        return 0
    with open("/proc/self/statm", "rb") as statm:  # noqa: PTH123 - pathlib is not worth its import here
        return int(statm.read().split()[0]) * resource.getpagesize()


def die_with_parent() -> None:
    """Have the kernel kill this process when the thread that started it ends (Linux)."""
    _prctl(_PR_SET_PDEATHSIG, 9)


def forbid_inspection() -> None:
    """Keep other processes of the same user from reading this one's memory, and its core from disk (Linux)."""
    _prctl(_PR_SET_DUMPABLE, 0)


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
        _prctl(_PR_SET_NO_NEW_PRIVS, 1)
        _filter_system_calls()


def _prctl(option: int, argument: int, address: int = 0) -> None:
    if _libc is None:
        return
    if _libc.prctl(option, ctypes.c_ulong(argument), ctypes.c_void_p(address), 0, 0) != 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))


# System calls that rendering makes (malloc, clocks, writing the answer, ending), by number of each machine:
# arch/x86/entry/syscalls/syscall_64.tbl and include/uapi/asm-generic/unistd.h of Linux.
_CALLS: Final = (
    "write",
    "close",
    "shutdown",
    "mmap",
    "mprotect",
    "munmap",
    "brk",
    "mremap",
    "madvise",
    "futex",
    "rt_sigreturn",
    "rt_sigprocmask",
    "clock_gettime",
    "gettimeofday",
    "getrandom",
    "getpid",
    "restart_syscall",
    "exit",
    "exit_group",
)
_X86_64: Final = (1, 3, 48, 9, 10, 11, 12, 25, 28, 202, 15, 14, 228, 96, 318, 39, 219, 60, 231)
_AARCH64: Final = (64, 57, 210, 222, 226, 215, 214, 216, 233, 98, 139, 135, 113, 169, 278, 172, 128, 93, 94)
_MACHINES: Final = {"x86_64": (0xC000003E, _X86_64), "aarch64": (0xC00000B7, _AARCH64)}  # linux/audit.h

# linux/bpf_common.h, linux/seccomp.h
_LOAD_WORD = 0x20
_JUMP_IF_EQUAL = 0x15
_RETURN = 0x06
_OFFSET_OF_NUMBER = 0
_OFFSET_OF_ARCH = 4
_ALLOW = 0x7FFF0000
_KILL_PROCESS = 0x80000000
_FAIL_WITH_EPERM = 0x00050000 | 1


class _Program(ctypes.Structure):
    """`struct sock_fprog`."""

    _fields_ = (("length", ctypes.c_ushort), ("instructions", ctypes.c_char_p))


def _filter_system_calls() -> None:
    """Let only the calls above through; the rest fails with EPERM.

    A hole in the sandbox then finds no process to signal or inspect, and no file to remove. On machines whose
    numbers are not listed, the limits above must do.
    """
    machine = _MACHINES.get(platform.machine())
    if machine is None:
        return
    arch, calls = machine
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
    _prctl(_PR_SET_SECCOMP, _SECCOMP_MODE_FILTER, ctypes.addressof(program))
