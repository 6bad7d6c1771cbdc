"""How each kind of request is told its end: the status to merge into the object. Pure.

A merge patch of a list sends the whole list: conditions of others go along as they were read, and the patch is sent
to that state of the object alone.
"""

from __future__ import annotations

import base64
from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from typing import Final

from pydantic import JsonValue

from keybearer.base.clock import format_instant
from keybearer.controllers.signers.asked import Asked
from keybearer.controllers.signers.verdict import Delivery, End, Verdict
from keybearer.kube.resources import (
    CERTIFICATE_REQUESTS,
    CERTIFICATE_SIGNING_REQUESTS,
    POD_CERTIFICATE_REQUESTS,
    JsonObject,
)

__all__ = ["build_delivery", "build_refusal", "judge_delivery"]

_MESSAGE_MAX = 1024
_ISSUED = "the certificate was issued"
_POD_SKEW: Final = timedelta(minutes=4, seconds=30)
_POD_REFRESH_MARGIN: Final = timedelta(minutes=10)
_POD_SHORTEST: Final = timedelta(hours=1)
"""Bounds that the API server holds a pod's certificate to (validation.go of certificates.k8s.io), with some room."""


def build_delivery(asked: Asked, delivery: Delivery, now: datetime) -> JsonObject:
    """Return the status with the certificate."""
    return _DELIVERIES[asked.kind](asked, delivery, now)


def build_refusal(asked: Asked, verdict: Verdict, now: datetime) -> JsonObject | None:
    """Return the status that tells why there is no certificate; None where the kind can't say it, or says it."""
    return _REFUSALS[asked.kind](asked, verdict, now)


def judge_delivery(asked: Asked, delivery: Delivery, now: datetime) -> str | None:
    """Return why the API server would not take the certificate, or None."""
    if asked.kind != POD_CERTIFICATE_REQUESTS.kind:
        return None
    lifetime = delivery.not_after - delivery.not_before
    if abs(now - delivery.not_before) >= _POD_SKEW:
        return "it begins too far from now for a pod: approvals and slow authorities don't go with pods' requests"
    if lifetime < _POD_SHORTEST:
        return "it lasts less than an hour, which is the shortest for a pod"
    if asked.lifetime is not None and lifetime > asked.lifetime:
        return "it lasts longer than the pod's request allows"
    return None


def _deliver_certificate_request(asked: Asked, delivery: Delivery, now: datetime) -> JsonObject:
    status: JsonObject = {
        "certificate": _bytes(delivery.chain_pem),
        "conditions": _with_ready(asked, "True", "Issued", _ISSUED, now),
    }
    if delivery.anchor_pem:
        status["ca"] = _bytes(delivery.anchor_pem)
    return status


def _deliver_signing_request(asked: Asked, delivery: Delivery, now: datetime) -> JsonObject:  # noqa: ARG001
    return {"certificate": _bytes(delivery.chain_pem)}


def _deliver_pod_request(asked: Asked, delivery: Delivery, now: datetime) -> JsonObject:  # noqa: ARG001
    lifetime = delivery.not_after - delivery.not_before
    earliest = delivery.not_before + _POD_REFRESH_MARGIN
    refresh = min(
        max(delivery.not_before + lifetime * 2 / 3, earliest), delivery.not_after - _POD_REFRESH_MARGIN
    )
    return {
        "conditions": [_condition("Issued", "Issued", _ISSUED, now)],
        "certificateChain": delivery.chain_pem,
        "notBefore": format_instant(delivery.not_before),
        "beginRefreshAt": format_instant(refresh),
        "notAfter": format_instant(delivery.not_after),
    }


def _refuse_certificate_request(asked: Asked, verdict: Verdict, now: datetime) -> JsonObject | None:
    # cert-manager knows these words alone; which one it is beyond them stands in the message.
    reason = {End.PENDING: "Pending", End.FAILED: "Failed", End.DENIED: "Denied"}[verdict.end]
    message = f"{verdict.reason}: {verdict.message}"[:_MESSAGE_MAX]
    if asked.told == (reason, message):
        return None
    status: JsonObject = {"conditions": _with_ready(asked, "False", reason, message, now)}
    if verdict.end is not End.PENDING:
        status["failureTime"] = format_instant(now)
    return status


def _refuse_signing_request(asked: Asked, verdict: Verdict, now: datetime) -> JsonObject | None:
    if verdict.end is not End.FAILED:
        return None  # a signer can say nothing of what is open; denials are for who approves
    failed = _condition("Failed", verdict.reason, verdict.message[:_MESSAGE_MAX], now)
    return {"conditions": [*map(dict, asked.conditions), {**failed, "lastUpdateTime": format_instant(now)}]}


def _refuse_pod_request(asked: Asked, verdict: Verdict, now: datetime) -> JsonObject | None:  # noqa: ARG001
    if verdict.end is End.PENDING:
        return None  # the API server lets a signer write the end and nothing else
    kind = "Denied" if verdict.end is End.DENIED else "Failed"
    return {"conditions": [_condition(kind, verdict.reason, verdict.message[:_MESSAGE_MAX], now)]}


_DELIVERIES: Final[Mapping[str, Callable[[Asked, Delivery, datetime], JsonObject]]] = {
    CERTIFICATE_REQUESTS.kind: _deliver_certificate_request,
    CERTIFICATE_SIGNING_REQUESTS.kind: _deliver_signing_request,
    POD_CERTIFICATE_REQUESTS.kind: _deliver_pod_request,
}
_REFUSALS: Final[Mapping[str, Callable[[Asked, Verdict, datetime], JsonObject | None]]] = {
    CERTIFICATE_REQUESTS.kind: _refuse_certificate_request,
    CERTIFICATE_SIGNING_REQUESTS.kind: _refuse_signing_request,
    POD_CERTIFICATE_REQUESTS.kind: _refuse_pod_request,
}


def _with_ready(asked: Asked, status: str, reason: str, message: str, now: datetime) -> list[JsonValue]:
    before = next((one for one in asked.conditions if one.get("type") == "Ready"), {})
    since = before.get("lastTransitionTime") if before.get("status") == status else None
    ready = _condition("Ready", reason, message, now) | {"status": status}
    if isinstance(since, str):
        ready["lastTransitionTime"] = since
    return [*(dict(one) for one in asked.conditions if one.get("type") != "Ready"), ready]


def _condition(kind: str, reason: str, message: str, now: datetime) -> JsonObject:
    return {
        "type": kind,
        "status": "True",
        "reason": reason,
        "message": message,
        "lastTransitionTime": format_instant(now),
    }


def _bytes(text: str) -> str:
    return base64.b64encode(text.encode()).decode()
