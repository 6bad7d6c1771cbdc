"""Restarts workloads after the data of a target changed, as `kubectl rollout restart` would: by an annotation.

The annotation names the data's fingerprint, so that a restart that was cut off and is done again is no second one.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from datetime import timedelta

from keybearer.controllers.effect_budget import RESTARTS, EffectBudgets
from keybearer.controllers.objects import ObservedObject
from keybearer.controllers.outcome import WaitingError
from keybearer.controllers.target.desired import DesiredTarget
from keybearer.controllers.target.reasons import TargetReason
from keybearer.controllers.target.spec import Workload, WorkloadKind
from keybearer.controllers.telemetry import Telemetry
from keybearer.kube.errors import KubeError, LeaseLostError, NotFoundError
from keybearer.kube.gateway import Gateway
from keybearer.kube.resources import DAEMON_SETS, DEPLOYMENTS, STATEFUL_SETS, JsonObject, ObjectKey

__all__ = ["RESTART_ANNOTATION", "WorkloadRestarter"]

RESTART_ANNOTATION = "keybearer.dev/restarted-for"
_HELD_MAX = 10_000
"""Workloads of which the last restart is known; of others it is done again, which changes nothing."""
_RESOURCES = {
    WorkloadKind.DEPLOYMENT: DEPLOYMENTS,
    WorkloadKind.STATEFUL_SET: STATEFUL_SETS,
    WorkloadKind.DAEMON_SET: DAEMON_SETS,
}


class WorkloadRestarter:
    """Patches pod templates."""

    def __init__(self, gateway: Gateway, telemetry: Telemetry, budgets: EffectBudgets) -> None:
        self._gateway = gateway
        self._telemetry = telemetry
        self._budgets = budgets
        self._restarted: OrderedDict[tuple[WorkloadKind, ObjectKey], str] = OrderedDict()

    async def restart(
        self, seen: ObservedObject, workloads: Sequence[Workload], desired: DesiredTarget
    ) -> None:
        """Make the workloads roll out anew for this data.

        A workload that doesn't exist needs no restart, for it will start with the new data; but an Event names it:
        it may be a slip of the pen.

        Raises:
            WaitingError: a workload could not be patched; the others were.
        """
        await self.restart_for(seen, workloads, f"{desired.key.name}:{desired.data_fingerprint}")

    async def restart_for(self, seen: ObservedObject, workloads: Sequence[Workload], value: str) -> None:
        """Make the workloads roll out anew, once for each value; raises as `restart`."""
        template: JsonObject = {"metadata": {"annotations": {RESTART_ANNOTATION: value}}}
        failed: list[str] = []
        waits: list[timedelta] = []
        for workload in workloads:
            key = ObjectKey(seen.key.namespace, workload.name)
            if self._restarted.get((workload.kind, key)) == value:
                continue
            budget = f"{workload.kind} {key.namespace}/{key.name}"
            if self._budgets.take(budget, RESTARTS) is not None:
                waits.append(self._budgets.wait(budget, RESTARTS))
                failed.append(f"{workload.kind} {workload.name} was restarted less than a minute ago")
                continue
            try:
                await self._gateway.merge_patch(
                    _RESOURCES[workload.kind], key, {"spec": {"template": template}}
                )
            except LeaseLostError:
                raise
            except NotFoundError:
                self._budgets.give_back(budget, RESTARTS)
                self._telemetry.workload_missing(seen, workload.kind, workload.name)
            except KubeError as error:
                self._budgets.give_back(budget, RESTARTS)
                failed.append(f"{workload.kind} {workload.name}: {error}")
            else:
                self._note(workload.kind, key, value)
        if failed:
            raise WaitingError(
                TargetReason.WORKLOAD_NOT_RESTARTED,
                f"the target is written, but not every workload was restarted: {'; '.join(failed)}",
                after=max(waits) if len(waits) == len(failed) else None,
            )

    def _note(self, kind: WorkloadKind, key: ObjectKey, value: str) -> None:
        self._restarted[kind, key] = value
        self._restarted.move_to_end((kind, key))
        if len(self._restarted) > _HELD_MAX:
            self._restarted.popitem(last=False)
