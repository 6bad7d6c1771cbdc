"""Restarts workloads after the data of a target changed, as `kubectl rollout restart` would: by an annotation.

The annotation names the data's fingerprint, so that a restart that was cut off and is done again is no second one.
What is left to do, because a workload doesn't exist or was restarted just before, is in the status: it outlives the
process.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from keybearer.base.clock import Clock, format_instant
from keybearer.base.json_reading import mapping_of, text_of
from keybearer.base.logs import get_logger
from keybearer.controllers.effect_budget import RESTARTS, EffectBudgets
from keybearer.controllers.objects import ObservedObject
from keybearer.controllers.outcome import WaitingError
from keybearer.controllers.resource_fields import told_instant
from keybearer.controllers.target.reasons import TargetReason
from keybearer.controllers.target.spec import Workload, WorkloadKind
from keybearer.controllers.target.status import WORKLOADS_MAX, WorkloadStatus
from keybearer.controllers.telemetry import Telemetry
from keybearer.kube.errors import KubeError, LeaseLostError, NotFoundError
from keybearer.kube.gateway import Gateway
from keybearer.kube.resources import DAEMON_SETS, DEPLOYMENTS, STATEFUL_SETS, JsonObject, ObjectKey

__all__ = ["RESTART_ANNOTATION", "Restarts", "WantedRestart", "WorkloadRestarter"]

_log = get_logger(__name__)

RESTART_ANNOTATION = "keybearer.dev/restarted-for"
_HELD_MAX = 10_000
"""Workloads of which the last restart is known; of others it is done again, which changes nothing."""
_NAMED = 5
"""Workloads that a message spells out."""
_SOONEST, _LATEST = timedelta(seconds=30), timedelta(minutes=10)
"""A missing workload is looked for again when it has been missing for as long again, within these bounds."""
_SECOND = timedelta(seconds=1)
_RESOURCES = {
    WorkloadKind.DEPLOYMENT: DEPLOYMENTS,
    WorkloadKind.STATEFUL_SET: STATEFUL_SETS,
    WorkloadKind.DAEMON_SET: DAEMON_SETS,
}

_Name = tuple[WorkloadKind, str]


@dataclass(frozen=True, slots=True)
class WantedRestart:
    """A workload that follows the data of a target.

    Attributes:
        workload: it.
        value: names the data, without telling it.
        changed: the data has just changed.
    """

    workload: Workload
    value: str
    changed: bool


@dataclass(frozen=True, slots=True)
class Restarts:
    """How the workloads of an object stand.

    Attributes:
        workloads: as the status says.
        unsettled: those that must still be restarted.
        message: what the message of Ready adds: workloads that don't exist, and restarts that wait; may be empty.
        after: when to look again; None where nothing is left to do.
        trouble: workloads could not be patched; the others were.
    """

    workloads: tuple[WorkloadStatus, ...] = ()
    unsettled: frozenset[_Name] = frozenset()
    message: str = ""
    after: timedelta | None = None
    trouble: WaitingError | None = None


@dataclass(frozen=True, slots=True)
class _Standing:
    """How one workload stands.

    Attributes:
        entry: as the status says.
        free_at: when its restart is due, if that has to wait.
        error: why it could not be patched.
    """

    entry: WorkloadStatus
    free_at: datetime | None = None
    error: str | None = None

    @property
    def label(self) -> str:
        return f"{self.entry.kind} {self.entry.name}"


class WorkloadRestarter:
    """Patches pod templates."""

    def __init__(self, gateway: Gateway, telemetry: Telemetry, budgets: EffectBudgets, clock: Clock) -> None:
        self._gateway = gateway
        self._telemetry = telemetry
        self._budgets = budgets
        self._clock = clock
        self._restarted: OrderedDict[tuple[WorkloadKind, ObjectKey], tuple[str, datetime]] = OrderedDict()

    async def settle(
        self,
        seen: ObservedObject,
        wanted: Sequence[WantedRestart],
        before: Sequence[WorkloadStatus],
        *,
        look: bool,
    ) -> Restarts:
        """Make workloads roll out anew, once for each change of their data, and return how they stand.

        A workload that doesn't exist needs no restart, for it will start with the present data. But its name may be
        a mistake: the status shows it, and the workload that the spec names in its place gets the restart that was
        missed, unless it was created later. A workload is restarted at most once a minute; what comes earlier waits.

        At rest, nothing is sent. A missing workload is looked for now and then.

        Args:
            seen: the object that names the workloads.
            wanted: all that it names, each once.
            before: what its status says of them.
            look: whether they exist was not looked at for this spec.
        """
        if not wanted:
            return Restarts()
        known = {(one.kind, one.name): one for one in before}
        named = {(one.workload.kind, one.workload.name) for one in wanted}
        left = [one.due_since for key, one in known.items() if key not in named and one.due_since is not None]
        missed = max(left, default=None)
        standings: list[_Standing] = []
        for place, one in enumerate(wanted):
            is_told = place < WORKLOADS_MAX
            entry = known.get((one.workload.kind, one.workload.name))
            if entry is None:
                is_looked_for = is_told and (look or bool(known))
                due = missed if is_told else None
                entry = WorkloadStatus(kind=one.workload.kind, name=one.workload.name, due_since=due)
            else:
                is_looked_for = look or entry.missing_since is not None
            standings.append(await self._bring(seen, one, entry, look=is_looked_for))
        is_known = bool(known) or look or any(one.changed for one in wanted)
        return self._told(standings, is_known=is_known)

    async def _bring(
        self, seen: ObservedObject, wanted: WantedRestart, entry: WorkloadStatus, *, look: bool
    ) -> _Standing:
        if wanted.changed:
            entry = entry.model_copy(update={"due_since": _up(self._clock.now())})
        elif look:
            entry = await self._looked_at(seen, entry)
        if entry.due_since is None or (entry.missing_since is not None and not wanted.changed):
            return _Standing(entry)
        return await self._restart(seen, wanted.value, entry, entry.due_since)

    async def _looked_at(self, seen: ObservedObject, entry: WorkloadStatus) -> WorkloadStatus:
        """Return what is found of a workload by a dry run of an empty patch, which needs the right of a restart."""
        key = ObjectKey(seen.key.namespace, entry.name)
        try:
            found = await self._gateway.merge_patch(_RESOURCES[entry.kind], key, {}, dry_run=True)
        except LeaseLostError:
            raise
        except NotFoundError:
            return self._missing(seen, entry)
        except KubeError as error:
            # The target is fine: the condition reports the failure when a restart fails.
            _log.warning("workload_not_looked_at", kind=entry.kind, name=entry.name, error=str(error))
            return entry
        changes: dict[str, object] = {"missing_since": None}
        created = told_instant(text_of(mapping_of(found.get("metadata")).get("creationTimestamp")))
        is_newer = entry.due_since is not None and created is not None and created > entry.due_since
        if is_newer or entry.missing_since is not None:
            # It was made after the change: its pods began with the present data.
            changes["due_since"] = None
        return entry.model_copy(update=changes)

    async def _restart(
        self, seen: ObservedObject, value: str, entry: WorkloadStatus, due: datetime
    ) -> _Standing:
        key = ObjectKey(seen.key.namespace, entry.name)
        held = self._restarted.get((entry.kind, key))
        if held is not None and (held[0] == value or held[1] > due):
            # A restart for another target that came after the change read this one as well.
            return _Standing(_restarted(entry, held[1]))
        budget = f"{entry.kind} {key.namespace}/{key.name}"
        free_at = self._budgets.take(budget, RESTARTS)
        if free_at is not None:
            return _Standing(entry.model_copy(update={"missing_since": None}), free_at=free_at)
        template: JsonObject = {"metadata": {"annotations": {RESTART_ANNOTATION: value}}}
        now = self._clock.now()
        try:
            await self._gateway.merge_patch(_RESOURCES[entry.kind], key, {"spec": {"template": template}})
        except LeaseLostError:
            raise
        except NotFoundError:
            self._budgets.give_back(budget, RESTARTS)
            return _Standing(self._missing(seen, entry, is_news=True))
        except KubeError as error:
            self._budgets.give_back(budget, RESTARTS)
            return _Standing(entry, error=str(error))
        self._note(entry.kind, key, value, now)
        return _Standing(_restarted(entry, now))

    def _missing(
        self, seen: ObservedObject, entry: WorkloadStatus, *, is_news: bool = False
    ) -> WorkloadStatus:
        if is_news or entry.missing_since is None:
            self._telemetry.workload_missing(seen, entry.kind, entry.name)
        since = entry.missing_since or self._clock.now().replace(microsecond=0)
        return entry.model_copy(update={"missing_since": since})

    def _told(self, standings: Sequence[_Standing], *, is_known: bool) -> Restarts:
        now = self._clock.now()
        missing = [one for one in standings if one.entry.missing_since is not None]
        waiting = [(one, one.free_at) for one in standings if one.free_at is not None]
        failed = [f"{one.label}: {one.error}" for one in standings if one.error is not None]
        told = [
            f"{one.label} of rolloutRestart doesn't exist: correct the name, or create it" for one in missing
        ]
        told += [
            f"{one.label} is restarted at {format_instant(_up(free_at))}, a minute after its last restart"
            for one, free_at in waiting
        ]
        pauses = [free_at - now for _, free_at in waiting]
        pauses += [
            min(max(now - one.entry.missing_since, _SOONEST), _LATEST)
            for one in missing[:WORKLOADS_MAX]
            if one.entry.missing_since is not None
        ]
        listed = standings[:WORKLOADS_MAX]
        unlisted = standings[WORKLOADS_MAX:]
        unsettled = [one.entry for one in listed if one.entry.due_since is not None]
        # A missing one that no status names can't be followed: it is forgotten.
        unsettled += [one.entry for one in unlisted if one.free_at is not None or one.error is not None]
        return Restarts(
            tuple(one.entry for one in listed) if is_known else (),
            frozenset((one.kind, one.name) for one in unsettled),
            _joined(told),
            min(pauses, default=None),
            WaitingError(
                TargetReason.WORKLOAD_NOT_RESTARTED,
                f"the target is written, but not every workload was restarted: {_joined(failed)}",
            )
            if failed
            else None,
        )

    def _note(self, kind: WorkloadKind, key: ObjectKey, value: str, now: datetime) -> None:
        self._restarted[kind, key] = value, now
        self._restarted.move_to_end((kind, key))
        if len(self._restarted) > _HELD_MAX:
            self._restarted.popitem(last=False)


def _restarted(entry: WorkloadStatus, at: datetime) -> WorkloadStatus:
    return entry.model_copy(
        update={"missing_since": None, "due_since": None, "last_restart_time": at.replace(microsecond=0)}
    )


def _up(instant: datetime) -> datetime:
    """Return the instant in whole seconds, not earlier: what happened before it must not seem to come after it."""
    whole = instant.replace(microsecond=0)
    return whole if whole == instant else whole + _SECOND


def _joined(told: Sequence[str]) -> str:
    more = len(told) - _NAMED
    return "; ".join([*told[:_NAMED], *([f"and {more} more"] if more > 0 else [])])
