"""What the dashboard keeps of an object: names, states and instants, never a value. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime

from pydantic import JsonValue

from keybearer.base.json_reading import instant_of, list_of, mapping_of, mappings_of, text_of
from keybearer.cli.kubectl.standing import Standing, condition_of, standing_of

__all__ = ["Certificate", "Push", "Record", "Written", "record_of"]

_TEXT_MAX = 512
_PLACES_MAX = 8
_CONFLICT = "TargetConflict"
"""The reason of what another object writes."""


@dataclass(frozen=True, slots=True)
class Written:
    """What an object writes into its namespace.

    Attributes:
        kind: Secret or ConfigMap.
        sources: of a SecretSync, as `project dev:/path`; of a certificate, its profile.
        changed: when a value of it was last seen to change.
        updates: how changes of the source become known: Events or Polling.
    """

    kind: str
    name: str
    sources: tuple[str, ...]
    changed: datetime | None = None
    updates: str = ""


@dataclass(frozen=True, slots=True)
class Certificate:
    """One certificate of a CertificateProfile, as its status has it."""

    name: str
    secret: str
    status: str
    reason: str
    message: str
    serial: str
    not_after: datetime | None
    renewal: datetime | None
    next_attempt: datetime | None
    revoked: bool


@dataclass(frozen=True, slots=True)
class Push:
    """What a SecretSync pushes elsewhere.

    Attributes:
        places: fields that name the place in the destination, as `region=eu-central-1`.
        failed: names that could not be written there, with the reason of each.
        foreign: how many names of others are there.
    """

    source: str
    destination: str
    connection: str
    places: tuple[str, ...]
    status: str
    message: str
    at: datetime | None
    keys: int | None
    failed: tuple[str, ...]
    failed_total: int
    foreign: int


@dataclass(frozen=True, slots=True)
class Record:
    """An object of ours.

    Attributes:
        standing: its state, as `kubectl keybearer status` shows it.
        since: when Ready became what it is, or when it was made or deleted.
        trouble: the parts of its body from which the page reads the diagnosis; None if it is Ready.
    """

    standing: Standing
    since: datetime | None
    written: tuple[Written, ...]
    certificates: tuple[Certificate, ...]
    push: Push | None
    trouble: Mapping[str, JsonValue] | None


def record_of(kind: str, body: Mapping[str, JsonValue]) -> Record:
    """Return what is kept of an object; a part that can't be read counts as absent."""
    standing = standing_of({**body, "kind": kind})
    meta, spec, status = (mapping_of(body.get(name)) for name in ("metadata", "spec", "status"))
    ready = condition_of(status, "Ready")
    deleted = instant_of(meta.get("deletionTimestamp"))
    certificates = tuple(_certificates(status)) if kind == "CertificateProfile" else ()
    return Record(
        standing=standing,
        since=deleted or instant_of(ready.get("lastTransitionTime")) or standing.created,
        written=tuple(_written(kind, standing.name, spec, status)),
        certificates=certificates,
        push=_push(spec, status) if kind == "SecretSync" else None,
        trouble=None if standing.is_ready else _trouble(meta, status),
    )


def _trouble(meta: Mapping[str, JsonValue], status: Mapping[str, JsonValue]) -> Mapping[str, JsonValue]:
    names = ("name", "namespace", "generation", "deletionTimestamp")
    said = ("observedGeneration", "conditions", "diagnosis")
    return {
        "metadata": {name: meta[name] for name in names if name in meta},
        "status": {name: status[name] for name in said if name in status},
    }


def _written(
    kind: str, name: str, spec: Mapping[str, JsonValue], status: Mapping[str, JsonValue]
) -> Iterator[Written]:
    """Yield what the object writes; a Secret that another object writes is not among it."""
    if kind == "CertificateProfile":
        entries = mappings_of(status.get("certificateRequests"))
        lost = {text_of(one.get("name")) for one in entries if one.get("reason") == _CONFLICT}
        for one in mappings_of(spec.get("certificates")):
            if text_of(one.get("name")) in lost:
                continue
            secret = text_of(one.get("secretName")) or text_of(one.get("name"))
            yield Written("Secret", secret, (f"certificate {text_of(one.get('name'))} of profile {name}",))
    elif condition_of(status, "Ready").get("reason") == _CONFLICT:
        return
    elif kind == "SecretSync" and ("target" in spec or "destination" not in spec):
        target = mapping_of(spec.get("target"))
        yield Written(
            kind=text_of(target.get("kind")) or "Secret",
            name=text_of(target.get("name")) or name,
            sources=tuple(_sources(spec)),
            changed=max(_changes(status), default=None),
            updates=text_of(status.get("updates")),
        )


def _changes(status: Mapping[str, JsonValue]) -> Iterator[datetime]:
    for one in mappings_of(status.get("keys")):
        changed = instant_of(one.get("lastChanged"))
        if changed is not None:
            yield changed


def _sources(spec: Mapping[str, JsonValue]) -> Iterator[str]:
    for one in (spec.get("source"), *list_of(spec.get("sources"))):
        source = mapping_of(one)
        if source:
            project = text_of(source.get("projectSlug")) or text_of(source.get("projectId"))
            path = text_of(source.get("secretPath")) or "/"
            yield f"{project} {text_of(source.get('environment'))}:{path}"[:_TEXT_MAX]


def _certificates(status: Mapping[str, JsonValue]) -> Iterator[Certificate]:
    for one in mappings_of(status.get("certificateRequests")):
        yield Certificate(
            name=text_of(one.get("name")),
            secret=text_of(one.get("secretName")),
            status=text_of(one.get("status")),
            reason=text_of(one.get("reason")),
            message=text_of(one.get("message"))[:_TEXT_MAX],
            serial=text_of(one.get("serialNumber")),
            not_after=instant_of(one.get("notAfter")),
            renewal=instant_of(one.get("renewalTime")),
            next_attempt=instant_of(one.get("nextAttemptTime")),
            revoked=one.get("revoked") is True,
        )


def _push(spec: Mapping[str, JsonValue], status: Mapping[str, JsonValue]) -> Push | None:
    destination = text_of(spec.get("destination"))
    if not destination:
        return None
    sync, push = mapping_of(status.get("sync")), mapping_of(status.get("push"))
    connection = mapping_of(spec.get("connectionRef"))
    config = mapping_of(spec.get("destinationConfig"))
    places = (f"{name}={text}" for name, text in config.items() if isinstance(text, str))
    failed = mappings_of(push.get("failed"))
    return Push(
        source=next(_sources(spec), ""),
        destination=destination,
        connection=text_of(connection.get("name")) or text_of(connection.get("id")),
        places=tuple(place[:_TEXT_MAX] for place in places)[:_PLACES_MAX],
        status=text_of(sync.get("syncStatus")),
        message=text_of(sync.get("lastSyncMessage"))[:_TEXT_MAX],
        at=instant_of(sync.get("lastSyncedAt")),
        keys=_count(push.get("keys")),
        failed=tuple(f"{text_of(one.get('name'))}: {text_of(one.get('message'))}" for one in failed),
        failed_total=_count(push.get("failedTotal")) or len(failed),
        foreign=_count(push.get("foreignTotal")) or 0,
    )


def _count(value: JsonValue) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) else None
