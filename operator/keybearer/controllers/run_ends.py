"""How a run of an object of any kind ends that can't be carried out: for conditions, and for the queue."""

from __future__ import annotations

from dataclasses import dataclass

from keybearer.controllers.conditions import Tone
from keybearer.controllers.outcome import ReconcileError, StalledError
from keybearer.controllers.remedy import Remedy
from keybearer.controllers.workers import RunResult
from keybearer.kube.errors import ForbiddenError, KubeError

__all__ = ["Failure", "failure_of"]

_AGAIN = RunResult(failed=True)


@dataclass(frozen=True, slots=True)
class Failure:
    """The end of a run that broke off with a known error, as its conditions say it.

    Attributes:
        tone: whose turn it is.
        reason: one word, for programs.
        message: for people.
        result: when the queue is to run it again.
        remedy: what is to be done; None for what the kind says of the reason.
    """

    tone: Tone
    reason: str
    message: str
    result: RunResult = _AGAIN
    remedy: Remedy | None = None


def failure_of(error: ReconcileError | KubeError) -> Failure:
    """Return the end of a run that broke off with this error."""
    if isinstance(error, ReconcileError):
        tone = Tone.STALLED if isinstance(error, StalledError) else Tone.WAITING
        return Failure(tone, error.reason, error.message, RunResult(error.retry, error.after), error.remedy)
    if isinstance(error, ForbiddenError) and error.namespace_terminating:
        return Failure(Tone.WAITING, "NamespaceTerminating", "the namespace is being deleted")
    return Failure(Tone.WAITING, "ClusterUnavailable", f"{error}; it is tried again")
