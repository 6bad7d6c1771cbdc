"""What can go wrong between an empty cache and a control plane that answers."""

from __future__ import annotations

__all__ = ["BuildError", "ControlPlaneError", "DeadlineExceededError", "KubectlError", "ProcessExitedError"]


class ControlPlaneError(RuntimeError):
    """Anything the local control plane reports; the message says what to do where something can be done."""


class BuildError(ControlPlaneError):
    """A program could neither be found nor built."""


class ProcessExitedError(ControlPlaneError):
    """A program ended that was meant to keep running; the message ends with its log."""


class DeadlineExceededError(ControlPlaneError):
    """A program runs but did not reach the awaited state in time; the message ends with its log."""


class KubectlError(ControlPlaneError):
    """kubectl ended with a status other than 0.

    Attributes:
        returncode: Its exit status.
        stderr: What it wrote to standard error.
    """

    def __init__(self, arguments: tuple[str, ...], returncode: int, stderr: str) -> None:
        super().__init__(f"kubectl {' '.join(arguments)}: status {returncode}: {stderr.strip()}")
        self.returncode = returncode
        self.stderr = stderr
