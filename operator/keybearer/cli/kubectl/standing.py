"""How an object of ours stands, read from its JSON alone: no models are loaded for a look at many. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from enum import StrEnum
from typing import TYPE_CHECKING

from keybearer.base.json_reading import instant_of, mapping_of, mappings_of, text_of

if TYPE_CHECKING:
    from pydantic import JsonValue

__all__ = [
    "Health",
    "Standing",
    "condition_of",
    "conditions_of",
    "health_of",
    "renewal_of",
    "short_duration",
    "standing_of",
]

_OPERATOR = "keybearer"
"""The operator's field manager."""
_UNDER_WAY = frozenset({"Issuing", "Pending", "PendingValidation"})
"""Reasons of certificates that are asked for and wait for nobody's decision."""
_DECISIONS = frozenset({"Planned", "Guarded"})
_SUSPENDED = "suspended"
_READ_AGAIN = frozenset({"CredentialsRejected", "PermissionDenied", "SourceNotFound"})
"""Reasons of a SecretSync whose source is asked again though nobody changed anything, as each may be mended in the
service: about a minute after the last failure at most."""
_POLLED = {
    "EventsDenied": "events denied",
    "EventsUnavailable": "no events",
    "TooManyStreams": "too many streams",
    "EventsFailed": "events failed",
}
"""In words, why a SecretSync learns of changes by polling only."""


class Health(StrEnum):
    """What kstatus makes of an object (sigs.k8s.io/cli-utils/pkg/kstatus), as Flux and others do who wait for it."""

    FAILED = "Failed"
    TERMINATING = "Terminating"
    IN_PROGRESS = "InProgress"
    CURRENT = "Current"


@dataclass(frozen=True, slots=True)
class Standing:
    """An object in a line.

    Attributes:
        ready: `True`, `False` or `Unknown`; empty before the operator has looked.
        reason: of that, or why it can't be told.
        message: of that.
        health: what GitOps tools make of it.
        created: when it was made.
        last_sync: when it was last known to be as its spec says, as far as the status tells: it may have been since.
        next_sync: when something is done next by itself, where that is an instant.
        next_hint: in words, where it is none.
        missing_workloads: those of rolloutRestart that don't exist, as `Deployment shop`.
    """

    kind: str
    namespace: str
    name: str
    ready: str
    reason: str
    message: str
    health: Health
    created: datetime | None
    last_sync: datetime | None
    next_sync: datetime | None
    next_hint: str
    missing_workloads: tuple[str, ...]

    @property
    def is_ready(self) -> bool:
        """Whether Ready is True, of the newest spec."""
        return self.health is Health.CURRENT and self.ready == "True"

    @property
    def is_held(self) -> bool:
        """Whether it waits for a decision: a plan for approval, or a guard for release."""
        return self.reason in _DECISIONS

    @property
    def is_planned(self) -> bool:
        """Whether it does what `mode: Plan` asks for: it has a plan."""
        return self.reason == "Planned"

    @property
    def is_suspended(self) -> bool:
        """Whether nothing is done about it."""
        return self.next_hint == _SUSPENDED

    @property
    def is_unseen(self) -> bool:
        """Whether no operator has looked at it."""
        return not self.ready and self.health is not Health.TERMINATING

    @property
    def urgency(self) -> int:
        """0 for what needs somebody most; objects are shown in this order."""
        if self.health is Health.FAILED:
            return 0
        if self.health is Health.CURRENT:
            return 5 if self.is_suspended else 6
        if self.is_held:
            return 1
        if not self.ready:
            return 2
        return 3 if self.health is Health.IN_PROGRESS else 4


def standing_of(body: Mapping[str, JsonValue]) -> Standing:
    """Return how the object stands."""
    meta, status = mapping_of(body.get("metadata")), mapping_of(body.get("status"))
    kind = text_of(body.get("kind"))
    ready = condition_of(status, "Ready")
    health = health_of(body)
    reason, message = text_of(ready.get("reason")), text_of(ready.get("message"))
    generation, seen = meta.get("generation"), status.get("observedGeneration")
    if not ready:
        reason, message = "NotSeen", "no operator has looked at it yet"
    elif health is Health.IN_PROGRESS and generation != seen:
        message = f"the last edit was not seen yet; before it: {message}"
    next_sync, next_hint = _next(kind, mapping_of(body.get("spec")), status, health)
    return Standing(
        kind=kind,
        namespace=text_of(meta.get("namespace")),
        name=text_of(meta.get("name")),
        ready=text_of(ready.get("status")),
        reason=reason,
        message=message,
        health=health,
        created=instant_of(meta.get("creationTimestamp")),
        last_sync=max(_synced(kind, meta, status), default=None),
        next_sync=next_sync,
        next_hint=next_hint,
        missing_workloads=tuple(
            f"{text_of(one.get('kind'))} {text_of(one.get('name'))}"
            for one in mappings_of(status.get("workloads"))
            if text_of(one.get("missingSince"))
        ),
    )


def renewal_of(body: Mapping[str, JsonValue]) -> Standing:
    """Return how a CertificateProfile stands that was asked to renew: valid certificates may not be renewed ones."""
    standing = standing_of(body)
    entries = [
        one
        for one in mappings_of(mapping_of(body.get("status")).get("certificateRequests"))
        if text_of(one.get("reason"))
    ]
    if standing.health is not Health.CURRENT or not entries:
        return standing
    entries.sort(key=lambda one: text_of(one.get("reason")) in _UNDER_WAY)
    reason = text_of(entries[0].get("reason"))
    return replace(
        standing,
        health=Health.IN_PROGRESS if reason in _UNDER_WAY else Health.FAILED,
        reason=reason,
        message="; ".join(
            ": ".join(filter(None, (text_of(one.get(part)) for part in ("name", "reason", "message"))))
            for one in entries
        ),
    )


def health_of(body: Mapping[str, JsonValue]) -> Health:
    """Return what kstatus makes of the object: its rules for custom resources, in its order."""
    meta, status = mapping_of(body.get("metadata")), mapping_of(body.get("status"))
    if text_of(meta.get("deletionTimestamp")):
        return Health.TERMINATING
    seen = status.get("observedGeneration")
    if seen is not None and seen != meta.get("generation"):
        return Health.IN_PROGRESS
    for condition in conditions_of(status):
        if condition.get("status") == "True" and condition.get("type") == "Reconciling":
            return Health.IN_PROGRESS
        if condition.get("status") == "True" and condition.get("type") == "Stalled":
            return Health.FAILED
    ready = condition_of(status, "Ready")
    return Health.IN_PROGRESS if ready and ready.get("status") != "True" else Health.CURRENT


def short_duration(length: timedelta) -> str:
    """Return a length of time as kubectl writes ages: 45s, 12m, 5h, 3d."""
    seconds = max(0, int(length.total_seconds()))
    if seconds < 120:
        return f"{seconds}s"
    if seconds < 2 * 3600:
        return f"{seconds // 60}m"
    return f"{seconds // 3600}h" if seconds < 2 * 86400 else f"{seconds // 86400}d"


def _synced(kind: str, meta: Mapping[str, JsonValue], status: Mapping[str, JsonValue]) -> Iterator[datetime]:
    """Yield instants at which it was known to be in step."""
    named: list[tuple[Mapping[str, JsonValue], str]] = []
    if kind == "SecretSync":
        named = [(status, "lastRefreshTime"), (mapping_of(status.get("sync")), "lastSyncedAt")]
    elif kind == "CertificateProfile":
        named = [(one, "notBefore") for one in mappings_of(status.get("certificateRequests"))]
    yield from (found for part, name in named if (found := instant_of(part.get(name))) is not None)
    if condition_of(status, "Ready").get("status") == "True":
        for entry in mappings_of(meta.get("managedFields")):
            written = instant_of(entry.get("time"))
            if entry.get("manager") == _OPERATOR and entry.get("subresource") == "status" and written:
                yield written


def _next(
    kind: str, spec: Mapping[str, JsonValue], status: Mapping[str, JsonValue], health: Health
) -> tuple[datetime | None, str]:
    if health is Health.TERMINATING:
        return None, "cleaning up"
    if spec.get("mode") == "Suspended":
        return None, _SUSPENDED
    ready = condition_of(status, "Ready")
    if not ready or text_of(ready.get("reason")) in _DECISIONS:
        # Perhaps no operator serves the namespace of one that nobody looked at: then nobody tries anything.
        return None, "your decision" if ready else ""
    if kind == "CertificateProfile":
        entries = mappings_of(status.get("certificateRequests"))
        attempts = [found for one in entries if (found := instant_of(one.get("nextAttemptTime"))) is not None]
        renewal = instant_of(status.get("nextRenewalTime"))
        due = min((*attempts, *([renewal] if renewal else [])), default=None)
        return due, "" if due else _retry(health)
    if kind == "AppConnection":
        due = instant_of(mapping_of(status.get("rotation")).get("nextRotationAt"))
        return due, "" if due else _retry(health)
    interval = spec.get("refreshInterval")
    if health is not Health.CURRENT:
        is_read_again = text_of(ready.get("reason")) in _READ_AGAIN and not spec.get("destination")
        return None, "within 1m" if is_read_again and health is Health.FAILED else _retry(health)
    why = _POLLED.get(text_of(status.get("pollingReason")), "")
    when = "on change" if interval in ("0", "0s", None) else f"within {interval}"
    return None, f"{when}: {why}" if why else when


def _retry(health: Health) -> str:
    return {Health.IN_PROGRESS: "tried again", Health.FAILED: "on your change"}.get(health, "")


def conditions_of(status: Mapping[str, JsonValue]) -> tuple[Mapping[str, JsonValue], ...]:
    """Return the conditions of a status."""
    return mappings_of(status.get("conditions"))


def condition_of(status: Mapping[str, JsonValue], kind: str) -> Mapping[str, JsonValue]:
    """Return the condition of this type; nothing in it where there is none."""
    return next((one for one in conditions_of(status) if one.get("type") == kind), {})
