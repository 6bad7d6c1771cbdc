"""The end of a SecretSync: what it wrote and what it pushed is taken back."""

from __future__ import annotations

from datetime import timedelta

from keybearer.base.logs import get_logger
from keybearer.controllers.conditions import Tone
from keybearer.controllers.finalizer import FINALIZER
from keybearer.controllers.objects import ObservedObject
from keybearer.controllers.outcome import ReconcileError
from keybearer.controllers.reading import read_spec_in_part
from keybearer.controllers.secretsync.cleanup import Cleaner
from keybearer.controllers.secretsync.conclusion import refused_by_cluster
from keybearer.controllers.secretsync.destination import Destinations
from keybearer.controllers.secretsync.reasons import Reason
from keybearer.controllers.secretsync.report import Report
from keybearer.controllers.secretsync.resource import SecretSyncSpec
from keybearer.controllers.secretsync.status import SecretSyncStatus
from keybearer.controllers.secretsync.status_writer import StatusWriter
from keybearer.controllers.telemetry import Telemetry
from keybearer.controllers.workers import RunResult
from keybearer.kube.errors import KubeError, LeaseLostError

__all__ = ["LOOK_AGAIN", "Ending"]

_log = get_logger(__name__)

LOOK_AGAIN = timedelta(milliseconds=300)
"""Between two looks at a sync whose secrets are being removed."""


class Ending:
    """Takes back what an object that is being deleted left in the cluster and in a destination."""

    def __init__(
        self, cleaner: Cleaner, destinations: Destinations, statuses: StatusWriter, telemetry: Telemetry
    ) -> None:
        self._cleaner = cleaner
        self._destinations = destinations
        self._statuses = statuses
        self._telemetry = telemetry

    async def clean_up(self, seen: ObservedObject, previous: SecretSyncStatus) -> RunResult:
        """Take back what was written and pushed, where that is asked for, and let the object go.

        Raises:
            LeaseLostError: another replica leads; nothing more may be written.
            ObjectGoneError: the SecretSync is gone already.
        """
        spec = read_spec_in_part(seen, SecretSyncSpec)
        try:
            if FINALIZER in seen.finalizers:
                waits = await self._clean_destination(seen, spec, previous)
                if waits is not None:
                    return waits
            await self._cleaner.clean_up(seen, previous, spec)
        except LeaseLostError:
            raise
        except KubeError as error:
            _log.warning("cleanup_failed", name=seen.key.name, namespace=seen.key.namespace, error=str(error))
            return RunResult(failed=True, requeue_after=self._cleaner.time_left(seen, spec))
        return RunResult()

    async def _clean_destination(
        self, seen: ObservedObject, spec: SecretSyncSpec, previous: SecretSyncStatus
    ) -> RunResult | None:
        """Take back the sync to the destination; None where nothing of it is to be waited for any more."""
        if spec.destination is None and previous.sync is None:
            return None
        time_left = self._cleaner.time_left(seen, spec)
        try:
            left = await self._destinations.clean_up(seen, spec, previous)
        except ReconcileError as error:
            report, again = Report(Tone.WAITING, error.reason, error.message), time_left
        except KubeError as error:
            # The identity may not be readable any more: that holds up the end until the deadline, not for ever.
            if isinstance(error, LeaseLostError):
                raise
            report, again = refused_by_cluster(error), time_left
        else:
            if left is None:
                return None
            failed = left.remove_status == "failed"
            message = f"secrets are removed from {left.destination}: {left.last_remove_message or left.remove_status}"
            reason = Reason.PUSH_FAILED if failed else Reason.PUSHING
            report, again = Report(Tone.WAITING, reason, message, sync=left), None if failed else LOOK_AGAIN
        if time_left is None:
            what = f"sync {previous.sync.id if previous.sync is not None else seen.key.name} in the service"
            self._telemetry.remote_orphaned(seen, what, report.message)
            return None
        await self._statuses.write(seen, previous, report)
        return RunResult(failed=again is not LOOK_AGAIN, requeue_after=again or time_left)
