"""Runs a command that gets a signal of the kernel when the process which asked for it ends. Linux only.

`python tether.py PARENT_PID SIGNAL USER COMMAND...` becomes COMMAND under the same process id, as that user
(its number; `-` stays the user we are). It is a program of its own because the alternative, `preexec_fn`,
runs Python between fork and exec and can deadlock when the parent has threads.
"""

from __future__ import annotations

import ctypes
import os
import signal
import sys

__all__ = ["main"]

_PR_SET_PDEATHSIG = 1  # linux/prctl.h; the setting survives execve (prctl(2))


def main() -> None:
    """Ties this process to its parent and becomes the command; never returns."""
    parent_pid, number, user, *command = sys.argv[1:]
    if user != "-":
        # First: a change of user clears the setting below (prctl(2)).
        os.setgroups([])
        os.setgid(int(user))
        os.setuid(int(user))
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(_PR_SET_PDEATHSIG, int(number), 0, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), "prctl(PR_SET_PDEATHSIG)")
    if os.getppid() != int(parent_pid):
        # The parent died before the call above, so no signal will come.
        sys.exit(1)
    # The interpreter ignores it, and what is ignored stays ignored in the command.
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    os.execv(command[0], command)  # noqa: S606 - becoming the command without a shell is the purpose


if __name__ == "__main__":
    main()
