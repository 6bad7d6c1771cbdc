"""What signers tell of what they do: Events, log lines and counters. Never a certificate."""

from __future__ import annotations

from collections.abc import Callable

from keybearer.base.logs import get_logger
from keybearer.controllers.certificate_metrics import CertificateMetrics
from keybearer.controllers.signers.asked import SOURCES, Asked
from keybearer.controllers.signers.verdict import Delivery, End, Verdict
from keybearer.kube.event_recorder import EventRecorder
from keybearer.kube.events import EventType, ObjectReference, Occurrence
from keybearer.kube.resources import Resource

__all__ = ["Teller"]

_log = get_logger(__name__)

_COUNTED = {End.FAILED: "failed", End.DENIED: "denied"}
_WAITS = frozenset({"PendingApproval", "PendingValidation", "Pending"})
_STATUSES = {
    "PendingApproval": "pending_approval",
    "PendingValidation": "pending_validation",
    "Pending": "pending",
}
_REJECTED = "RequestRejected"


class Teller:
    """Tells of each request what becomes of it, once."""

    def __init__(
        self,
        recorder: EventRecorder,
        metrics: CertificateMetrics,
        served: Callable[[Resource], Resource],
    ) -> None:
        """Begin.

        Args:
            recorder: posts Events.
            metrics: count.
            served: says in which version a resource is served.
        """
        self._recorder = recorder
        self._metrics = metrics
        self._served = served
        self._told: dict[str, set[str]] = {}

    def issued(self, asked: Asked, delivery: Delivery) -> None:
        """A certificate was handed over."""
        self._metrics.request_is(asked.kind, "issued")
        message = f"certificate {delivery.serial_number} was issued by CertificateProfile {asked.profile}"
        self._tell(asked, "Normal", "CertificateIssued", message)

    def refused(self, asked: Asked, verdict: Verdict) -> None:
        """There will be no certificate."""
        status = "rejected" if verdict.reason == _REJECTED else _COUNTED[verdict.end]
        self._metrics.request_is(asked.kind, status)
        self._tell(asked, "Warning", verdict.reason, verdict.message)

    def waits(self, asked: Asked, verdict: Verdict) -> None:
        """There is no certificate yet."""
        told = self._told.setdefault(asked.uid, set())
        if verdict.reason in told:
            return  # reasons may take turns
        told.add(verdict.reason)
        if verdict.reason in _WAITS:
            self._metrics.request_is(asked.kind, _STATUSES[verdict.reason])
        kind: EventType = "Normal" if verdict.reason in _WAITS else "Warning"
        self._tell(asked, kind, verdict.reason, verdict.message)

    def forget(self, uid: str) -> None:
        """A request has its answer, or is gone."""
        self._told.pop(uid, None)

    def _tell(self, asked: Asked, kind: EventType, reason: str, message: str) -> None:
        log = _log.info if kind == "Normal" else _log.warning
        log(
            "signer_told",
            kind=asked.kind,
            namespace=asked.object.namespace,
            name=asked.object.name,
            profile=str(asked.profile),
            reason=reason,
            message=message,
        )
        regarding = ObjectReference(self._served(SOURCES[asked.kind]), asked.object, asked.uid)
        self._recorder.record(Occurrence(regarding, kind, reason, "Sign", message))
