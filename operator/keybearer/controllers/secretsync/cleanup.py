"""The finalizer: only on a SecretSync whose end leaves something that garbage collection can't take.

That is keys merged into an object of somebody else. Owned targets go by ownerReference, retained ones stay.
"""

from __future__ import annotations

from datetime import timedelta

from keybearer.base.clock import Clock
from keybearer.base.logs import get_logger
from keybearer.controllers.finalizer import FINALIZER, FinalizerKeeper
from keybearer.controllers.mode import Mode
from keybearer.controllers.objects import ObservedObject, TargetKey
from keybearer.controllers.secretsync.resource import SecretSyncSpec
from keybearer.controllers.secretsync.status import SecretSyncStatus
from keybearer.controllers.secretsync.targets import noted_targets
from keybearer.controllers.target.apply import TargetWriter
from keybearer.controllers.target.spec import CreationPolicy, DeletionPolicy
from keybearer.controllers.telemetry import Telemetry
from keybearer.kube.errors import KubeError, LeaseLostError
from keybearer.kube.gateway import Gateway

__all__ = ["Cleaner"]

_log = get_logger(__name__)


class Cleaner:
    """Sets the finalizer before there is something to clean, and cleans when the object goes."""

    def __init__(self, clock: Clock, gateway: Gateway, writer: TargetWriter, telemetry: Telemetry) -> None:
        self._finalizer = FinalizerKeeper(clock, gateway)
        self._writer = writer
        self._telemetry = telemetry

    async def prepare(self, seen: ObservedObject, spec: SecretSyncSpec, *, approved: bool = False) -> None:
        """Make the finalizer present before this spec merges something that it is to clean up.

        Args:
            seen: the SecretSync.
            spec: its spec.
            approved: a person approved its plan, so that `mode: Plan` may write as well.

        Raises:
            ObjectGoneError: the object was deleted meanwhile.
            KubeError: the API server refuses or can't be asked.
        """
        writes = approved or spec.mode is not Mode.PLAN
        if writes and _needs_finalizer(spec):
            await self._finalizer.set(seen, present=True)

    async def settle(self, seen: ObservedObject, spec: SecretSyncSpec) -> None:
        """Remove the finalizer where nothing is left to clean: once the target of before has been retired.

        Raises:
            ObjectGoneError: the object was deleted meanwhile.
            KubeError: the API server refuses or can't be asked.
        """
        if not _needs_finalizer(spec) and spec.mode is not Mode.PLAN:
            await self._finalizer.set(seen, present=False)

    async def clean_up(self, seen: ObservedObject, previous: SecretSyncStatus, spec: SecretSyncSpec) -> None:
        """Take back merged keys, unless they are to be retained, and let the object go.

        Args:
            seen: the SecretSync, which is being deleted.
            previous: its status, which says what was written last.
            spec: its spec, as far as it can be read.

        Raises:
            ObjectGoneError: it is gone already.
            KubeError: the keys could not be taken back and there is time left, or the finalizer not removed.
        """
        if FINALIZER not in seen.finalizers:
            return
        if spec.target.on_delete is DeletionPolicy.DELETE:
            await self._retire(seen, previous, spec)
        await self._finalizer.set(seen, present=False)

    def time_left(self, seen: ObservedObject, spec: SecretSyncSpec) -> timedelta | None:
        """Return the time until cleaning up is given up; None where it has passed, or none is running."""
        return self._finalizer.time_left(seen, spec.deletion_deadline)

    async def _retire(self, seen: ObservedObject, previous: SecretSyncStatus, spec: SecretSyncSpec) -> None:
        # A rename may have been cut off between the two: keys can be in the target of before and in that of now.
        for key in dict.fromkeys((*seen.targets, *noted_targets(previous, seen.key.namespace))):
            await self._retire_one(seen, key, spec)

    async def _retire_one(self, seen: ObservedObject, key: TargetKey, spec: SecretSyncSpec) -> None:
        try:
            await self._writer.retire(key, seen.uid)
        except LeaseLostError:
            raise
        except KubeError as error:
            if self.time_left(seen, spec) is not None:
                raise
            self._telemetry.orphaned(seen, key, str(error))

    async def require(self, seen: ObservedObject) -> None:
        """Make sure that the SecretSync is still there.

        Raises:
            ObjectGoneError: it is gone, or another one of the same name.
            KubeError: the API server can't be asked.
        """
        await self._finalizer.require(seen)


def _needs_finalizer(spec: SecretSyncSpec) -> bool:
    if spec.destination is not None:
        return True
    target = spec.target
    return target.creation_policy is CreationPolicy.MERGE and target.on_delete is DeletionPolicy.DELETE
