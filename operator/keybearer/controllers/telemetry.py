"""What the operator tells of itself: metrics, Events on transitions, and one log line per change. Never a value."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram

from keybearer import __version__
from keybearer.base.log_subject import log_subject
from keybearer.base.logs import get_logger
from keybearer.base.tracing import SpanKind, Tracer
from keybearer.controllers.annotations import REQUEST
from keybearer.controllers.call_metrics import CallMetrics
from keybearer.controllers.certificate_metrics import CertificateMetrics
from keybearer.controllers.condition_metrics import ConditionMetrics
from keybearer.controllers.custom_resource import Condition
from keybearer.controllers.freshness import FreshnessMetrics
from keybearer.controllers.kinds import RESOURCES
from keybearer.controllers.objects import ObservedObject, TargetKey
from keybearer.controllers.queue import WorkQueue
from keybearer.controllers.readiness_metrics import ReadinessMetrics
from keybearer.controllers.requests import PendingRequest
from keybearer.controllers.work import Lane, WorkItem
from keybearer.kube.event_recorder import EventRecorder
from keybearer.kube.events import EventType, ObjectReference, Occurrence
from keybearer.kube.resources import ObjectKey

__all__ = ["OperatorMetrics", "Telemetry"]

_log = get_logger(__name__)

_SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0)


class OperatorMetrics:
    """The operator's Prometheus metrics, in a registry of their own."""

    def __init__(self, registry: CollectorRegistry) -> None:
        self.registry = registry
        Gauge("keybearer_build_info", "The version that runs.", ["version"], registry=registry).labels(
            __version__
        ).set(1)
        self.leader = Gauge("keybearer_leader", "1 while this replica leads.", registry=registry)
        self.objects = Gauge("keybearer_objects", "Custom resources seen.", ["kind"], registry=registry)
        self.depth = Gauge("keybearer_queue_depth", "Keys that wait.", ["lane"], registry=registry)
        self.bulk_limit = Gauge(
            "keybearer_bulk_writes_limit",
            "Writes of work below the urgent lane that may be under way at once, as their latency has it.",
            registry=registry,
        )
        self.wait = Histogram(
            "keybearer_queue_wait_seconds",
            "From trigger to start of the reconcile.",
            ["lane"],
            buckets=_SECONDS,
            registry=registry,
        )
        self.duration = Histogram(
            "keybearer_reconcile_duration_seconds",
            "Duration of a reconcile.",
            ["kind", "result"],
            buckets=_SECONDS,
            registry=registry,
        )
        self.source_reads = Counter(
            "keybearer_source_reads_total", "Reads of sources.", ["result"], registry=registry
        )
        self.coalesced = Counter(
            "keybearer_source_reads_saved_total",
            "Reconciles that a reading of another one served.",
            registry=registry,
        )
        self.event_streams = Gauge(
            "keybearer_event_streams", "Streams of events that are open.", registry=registry
        )
        self.event_stream_attempts = Counter(
            "keybearer_event_stream_attempts_total",
            "Ends of attempts to open a stream of events, and ends of open ones.",
            ["result"],
            registry=registry,
        )
        self.events = Counter(
            "keybearer_events_total", "Events that streams told of changes.", registry=registry
        )
        self.writes = Counter(
            "keybearer_target_writes_total", "Writes of targets.", ["kind", "action"], registry=registry
        )
        self.delays = Counter(
            "keybearer_effects_delayed_total",
            "Repairs, pushes, restarts, refreshes and certificates that waited, because their budget was used up.",
            ["effect"],
            registry=registry,
        )
        self.refreshes = Counter(
            "keybearer_mounts_refreshed_total",
            "Pods that were annotated so that their files show a changed target at once.",
            registry=registry,
        )
        self.orphans = Counter(
            "keybearer_orphans_total",
            "Targets left behind because cleaning up passed its deadline.",
            ["kind"],
            registry=registry,
        )
        self.reasons = Counter(
            "keybearer_outcomes_total",
            "Ends of reconciles, by reason.",
            ["kind", "reason"],
            registry=registry,
        )
        self.errors = Counter(
            "keybearer_reconcile_errors_total",
            "Ends of reconciles that are not as the object asks, by reason.",
            ["kind", "reason"],
            registry=registry,
        )
        self.certificates = CertificateMetrics(registry)
        self.readiness = ReadinessMetrics(registry)
        self.conditions = ConditionMetrics(registry)
        self.freshness = FreshnessMetrics(registry)
        self.calls = CallMetrics(registry)
        for lane in Lane:
            self.depth.labels(lane.name.lower())
            self.wait.labels(lane.name.lower())

    def collect_queue(self, queue: WorkQueue) -> None:
        """Read the depths of the queue; called when the metrics are asked for."""
        for lane, depth in queue.depth().items():
            self.depth.labels(lane.name.lower()).set(depth)


class Telemetry:
    """Tells of reconciles as they go."""

    def __init__(
        self, metrics: OperatorMetrics, recorder: EventRecorder, tracer: Tracer | None = None
    ) -> None:
        self.metrics = metrics
        self._recorder = recorder
        self._tracer = tracer
        self._waits = {lane: metrics.wait.labels(lane.name.lower()) for lane in Lane}

    @contextmanager
    def reconciling(self, item: WorkItem, reconcile_id: str) -> Iterator[None]:
        """Have all that is logged and traced within be of this run."""
        subject = {
            "kind": item.key.kind,
            "namespace": item.key.namespace,
            "name": item.key.name,
            "reconcile_id": reconcile_id,
        }
        if self._tracer is None:
            with log_subject(subject):
                yield
            return
        attributes = {
            "k8s.kind": item.key.kind,
            "k8s.namespace.name": item.key.namespace,
            "k8s.object.name": item.key.name,
            "keybearer.lane": item.lane.name.lower(),
            "keybearer.reconcile_id": reconcile_id,
        }
        with (
            self._tracer.within(f"reconcile {item.key.kind}", SpanKind.INTERNAL, attributes) as span,
            log_subject({**subject, "trace_id": span.trace_id}),
        ):
            yield

    def broke_off(self, kind: str, reason: str) -> None:
        """A reconcile ended without a condition that says so."""
        self.metrics.errors.labels(kind, reason).inc()
        self._trace_end(reason, fine=False)

    def _trace_end(self, reason: str, *, fine: bool) -> None:
        span = None if self._tracer is None else self._tracer.current()
        if span is not None:
            span.tell({"keybearer.reason": reason})
            if not fine:
                span.fail(reason)

    def started(self, item: WorkItem, now: float) -> None:
        """A key's turn has come; `now` in monotonic seconds."""
        self._waits[item.lane].observe(max(now - item.since, 0.0))

    def ended(self, kind: str, seconds: float, *, failed: bool) -> None:
        """A reconcile has ended."""
        self.metrics.duration.labels(kind, "failed" if failed else "done").observe(seconds)

    def outcome(
        self,
        seen: ObservedObject,
        reason: str,
        message: str,
        *,
        was: str | None,
        fine: bool,
        conditions: Iterable[Condition] = (),
    ) -> None:
        """A reconcile ended with this reason; Events and log lines only when it is another than before.

        Args:
            seen: the object.
            reason: of its end.
            message: for people.
            was: the reason of the end before.
            fine: it ended as the object asks.
            conditions: that it led to.
        """
        self.metrics.reasons.labels(seen.key.kind, reason).inc()
        if not fine:
            self.metrics.errors.labels(seen.key.kind, reason).inc()
        self.metrics.conditions.note(seen.key, conditions)
        self._trace_end(reason, fine=fine)
        self.metrics.readiness.note(seen.key, None if fine else reason)
        if reason == was:
            return
        log = _log.info if fine else _log.warning
        log(
            "condition_changed",
            kind=seen.key.kind,
            namespace=seen.key.namespace,
            name=seen.key.name,
            generation=seen.generation,
            reason=reason,
            message=message,
        )
        # A first sync that goes well has its status to say so: an Event for each would be a third write.
        if not (fine and was is None):
            self._tell(seen, "Normal" if fine else "Warning", reason, message, action="Reconcile")

    def target_written(self, seen: ObservedObject, action: str, message: str, *, first: bool) -> None:
        """A target was written; the message names keys only."""
        self.metrics.writes.labels(seen.target.kind, action).inc()
        if not first:
            self._tell(seen, "Normal", "TargetWritten", message, action=action)

    def effect_delayed(self, effect: str) -> None:
        """Something has to wait, for its budget is used up."""
        self.metrics.delays.labels(effect).inc()

    def certificate(self, seen: ObservedObject, reason: str, message: str, *, fine: bool) -> None:
        """Something happened to a certificate that no condition tells of."""
        self._tell(seen, "Normal" if fine else "Warning", reason, message, action="Issue")

    def workload_missing(self, seen: ObservedObject, kind: str, name: str) -> None:
        """A workload that is to be restarted doesn't exist."""
        message = f"rolloutRestart names {kind} {name}, which doesn't exist; correct it if that is a mistake"
        self._tell(seen, "Warning", "WorkloadNotFound", message, action="Restart")

    def mounts_refreshed(self) -> None:
        """A pod was annotated, so that its files show a changed target at once."""
        self.metrics.refreshes.inc()

    def mounts_not_refreshed(self, seen: ObservedObject, why: str) -> None:
        """The API server refuses to list the pods of a namespace, or to patch those that mount a target."""
        message = (
            f"refreshMounts is set, but pods can't be listed and patched ({why}): mounted files show the change at "
            "the kubelet's own pace; operator.refreshMounts.enabled of the chart grants the right"
        )
        self._tell(seen, "Warning", "MountsNotRefreshed", message, action="Refresh")

    def request_unknown(
        self, seen: ObservedObject, request: PendingRequest, requests: Collection[str]
    ) -> None:
        """The annotations of a request say something that is none of those that the kind has."""
        told = f"{REQUEST} {request.kind[:64]!r} is none of {', '.join(sorted(requests))}; it was handled as sync"
        self._tell(seen, "Warning", "RequestUnknown", told, action="Reconcile")

    def request_refused(self, seen: ObservedObject, request: PendingRequest, why: str) -> None:
        """A request was answered, and what it asks for was not done."""
        told = f"{REQUEST} {request.kind}: {why}"
        self._tell(seen, "Warning", "RequestRefused", told, action="Reconcile")

    def target_retired(self, seen: ObservedObject, key: TargetKey) -> None:
        """A target that is no longer named was taken back."""
        message = f"{key.kind} {key.name} is no longer named; what this object wrote there was removed"
        self._tell(seen, "Normal", "TargetRetired", message, action="Retire")

    def orphaned(self, seen: ObservedObject, what: str, why: str) -> None:
        """Cleaning up passed its deadline; what is left is named."""
        self.metrics.orphans.labels(seen.key.kind).inc()
        _log.error(
            "cleanup_abandoned", namespace=seen.key.namespace, name=seen.key.name, left=what, error=why
        )
        self._tell(seen, "Warning", "Orphaned", f"{what} is left behind: {why}", action="CleanUp")

    def _tell(
        self, seen: ObservedObject, type_: EventType, reason: str, message: str, *, action: str
    ) -> None:
        regarding = ObjectReference(
            RESOURCES[seen.key.kind], ObjectKey(seen.key.namespace, seen.key.name), seen.uid
        )
        self._recorder.record(Occurrence(regarding, type_, reason, action, message))
