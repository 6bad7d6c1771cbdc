"""How one run of an object of any kind ends where something stands against it: for conditions, and for the queue."""

from __future__ import annotations

from collections.abc import Awaitable
from dataclasses import dataclass

from keybearer.base.logs import get_logger
from keybearer.controllers.conditions import Tone
from keybearer.controllers.objects import ObjectStore, ObservedObject
from keybearer.controllers.outcome import ObjectGoneError, ReconcileError, StalledError
from keybearer.controllers.workers import RunResult
from keybearer.kube.errors import ForbiddenError, KubeError, LeaseLostError

__all__ = ["Failure", "end_run", "failure_of"]

_log = get_logger(__name__)


_AGAIN = RunResult(failed=True)


@dataclass(frozen=True, slots=True)
class Failure:
    """The end of a run that something foreseen stood against, as its conditions are to tell it.

    Attributes:
        tone: whose turn it is.
        reason: one word, for programs.
        message: for people.
        result: when the queue is to run it again.
    """

    tone: Tone
    reason: str
    message: str
    result: RunResult = _AGAIN


def failure_of(error: ReconcileError | KubeError) -> Failure:
    """Return the end of a run that broke off with this error."""
    if isinstance(error, ReconcileError):
        tone = Tone.STALLED if isinstance(error, StalledError) else Tone.WAITING
        return Failure(tone, error.reason, error.message, RunResult(error.retry, error.after))
    if isinstance(error, ForbiddenError) and error.namespace_terminating:
        return Failure(Tone.WAITING, "NamespaceTerminating", "the namespace is being deleted")
    return Failure(Tone.WAITING, "ClusterUnavailable", f"{error}; it is tried again")


async def end_run(
    run: Awaitable[RunResult], seen: ObservedObject, reconcile_id: str, objects: ObjectStore
) -> RunResult:
    """Return what the queue is told of the run.

    Args:
        run: it, up to the writing of the status.
        seen: the object.
        reconcile_id: of the run.
        objects: told where the run finds that the object is no more.

    Raises:
        LeaseLostError: another replica leads; nothing more may be written.
    """
    try:
        return await run
    except ObjectGoneError:
        objects.end(seen.key, seen.uid)
        return RunResult()
    except LeaseLostError:
        raise
    except KubeError as error:
        # The status itself could not be written: nothing but the log and the queue can say so.
        _log.warning("status_write_failed", error=str(error), reconcile_id=reconcile_id)
        return RunResult(failed=True)
