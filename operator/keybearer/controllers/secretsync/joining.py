"""One end of two halves: what the target came to and what the destination came to, as one report. Pure."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

from keybearer.controllers.conditions import Tone
from keybearer.controllers.outcome import ReconcileError, StalledError
from keybearer.controllers.secretsync.destination_outcome import DestinationOutcome
from keybearer.controllers.secretsync.report import Report
from keybearer.controllers.workers import RunResult

__all__ = ["joined", "joined_with_trouble"]


def joined(
    report: Report | None, result: RunResult, outcome: DestinationOutcome, *, source: str
) -> tuple[Report, RunResult]:
    """Return the end of a run with a destination; `report` is the target's, None where there is no target.

    What stands against the target is told first: a person mends one thing after the other.
    """
    if report is None:
        whole = Report(
            outcome.tone,
            outcome.reason,
            outcome.message,
            source=source,
            changes=outcome.changes,
            settled=True,
        )
    elif report.tone is not Tone.READY:
        whole = report
    elif outcome.tone is Tone.READY:
        whole = replace(report, message=f"{report.message}; {outcome.message}")
    else:
        whole = replace(
            report,
            tone=outcome.tone,
            reason=outcome.reason,
            message=outcome.message,
            changes=outcome.changes,
        )
    return replace(whole, sync=outcome.sync, push=outcome.push), _again(result, outcome.look_again)


def joined_with_trouble(
    report: Report | None, result: RunResult, error: ReconcileError, *, source: str
) -> tuple[Report, RunResult]:
    """Return the end of a run whose destination ran into this."""
    tone = Tone.STALLED if isinstance(error, StalledError) else Tone.WAITING
    if report is None:
        whole = Report(tone, error.reason, error.message, source=source)
    elif report.tone is not Tone.READY:
        whole = report
    else:
        whole = replace(report, tone=tone, reason=error.reason, message=error.message)
    return whole, _again(replace(result, failed=result.failed or error.retry), error.after)


def _again(result: RunResult, after: timedelta | None) -> RunResult:
    waits = [wait for wait in (result.requeue_after, after) if wait is not None]
    return replace(result, requeue_after=min(waits, default=None))
