"""What a process asks of the kernel for itself (prctl(2)); Linux only where it says so."""

from __future__ import annotations

import ctypes
import os
import resource
import sys
from typing import Final

__all__ = ["forbid_inspection", "prctl"]

_libc: Final = ctypes.CDLL(None, use_errno=True) if sys.platform == "linux" else None
_PR_SET_DUMPABLE = 4  # linux/prctl.h


def forbid_inspection() -> None:
    """Leave no core on disk, and keep other processes of the same user from reading this one's memory (Linux).

    Its memory holds keys and values. Children begin without it when they run a program; debuggers can't attach, and
    entries of /proc of this process become root's.

    Raises:
        OSError: the system refuses.
    """
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    prctl(_PR_SET_DUMPABLE, 0)


def prctl(option: int, argument: int, address: int = 0) -> None:
    """Make that call; nothing happens elsewhere than on Linux.

    Raises:
        OSError: the system refuses.
    """
    if _libc is None:
        return
    if _libc.prctl(option, ctypes.c_ulong(argument), ctypes.c_void_p(address), 0, 0) != 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
