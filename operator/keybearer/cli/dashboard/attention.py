"""What is not Ready: since when, whose turn it is, and which command is next. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime
from functools import partial

from pydantic import ValidationError

from keybearer.base.json_reading import mapping_of
from keybearer.cli.dashboard.record import Record
from keybearer.cli.dashboard.view import Cell, Detail, Query, Row, Tone, View, more_about, paged
from keybearer.cli.explanation_parts import Standing
from keybearer.cli.kubectl.standing import Health
from keybearer.cli.output import printable
from keybearer.controllers.appconnection.status import AppConnectionStatus
from keybearer.controllers.certificateprofile.status import CertificateProfileStatus
from keybearer.controllers.custom_resource import Diagnosis, StatusModel, Turn
from keybearer.controllers.secretsync.status import SecretSyncStatus

__all__ = ["attention", "tone_of"]

_STATUSES: Mapping[str, type[StatusModel]] = {
    "AppConnection": AppConnectionStatus,
    "CertificateProfile": CertificateProfileStatus,
    "SecretSync": SecretSyncStatus,
}
_TURNS = {
    Turn.USER: "you",
    Turn.SERVICE_ADMINISTRATOR: "an administrator of the service",
    Turn.CLUSTER_ADMINISTRATOR: "an administrator of the operator",
    Turn.NOBODY: "nobody: the operator tries again",
}
_TONES = {
    Health.FAILED: Tone.BAD,
    Health.IN_PROGRESS: Tone.WAITING,
    Health.TERMINATING: Tone.WAITING,
    Health.CURRENT: Tone.GOOD,
}
_NEVER = datetime.max.replace(tzinfo=UTC)


def tone_of(record: Record) -> Tone:
    """Return how an object is coloured."""
    return Tone.IDLE if record.standing.is_suspended else _TONES[record.standing.health]


def attention(records: Iterable[Record], query: Query, notes: tuple[str, ...]) -> View:
    """Return the objects that aren't Ready, the most urgent first and of these the oldest trouble."""
    every = list(records)
    troubled = [one for one in every if one.trouble is not None]
    found = [
        one
        for one in troubled
        if query.finds(one.standing.kind, one.standing.namespace, one.standing.name, one.standing.reason)
    ]
    found.sort(key=_urgency)
    view = partial(
        View,
        name="attention",
        heading="What is not Ready",
        summary=_summary(len(troubled), len(every)),
        columns=("Object", "Reason", "Since", "Whose turn", "Next step"),
        notes=notes,
    )
    return paged(view, found, query, _row)


def _summary(troubled: int, every: int) -> str:
    if not every:
        return "There are no objects of Keybearer that you may list."
    if not troubled:
        return f"All objects are Ready: {every:,}."
    return f"{troubled:,} of {every:,} objects are not Ready."


def _urgency(record: Record) -> tuple[int, datetime, str, str, str]:
    one = record.standing
    return one.urgency, record.since or _NEVER, one.namespace, one.kind, one.name


def _row(record: Record) -> Row:
    one = record.standing
    diagnoses = list(_diagnoses(record))
    first = diagnoses[0] if diagnoses else None
    name = f"{one.kind} {one.namespace}/{one.name}"
    return Row(
        key=name,
        title=name,
        tone=tone_of(record),
        cells=(
            Cell(name),
            Cell(one.reason or one.health.value),
            Cell(at=record.since),
            Cell(_TURNS[first.turn] if first is not None else _TURNS[Turn.NOBODY]),
            Cell((_command(first) or first.step) if first is not None else one.next_hint),
        ),
        details=tuple(_details(record, diagnoses)),
    )


def _details(record: Record, diagnoses: Iterable[Diagnosis]) -> Iterator[Detail]:
    one = record.standing
    yield Detail("What is wrong", one.message or "The object gives no reason.")
    yield Detail("Not Ready", "since", record.since)
    for diagnosis in diagnoses:
        yield Detail("Whose turn", _TURNS[diagnosis.turn])
        if diagnosis.about:
            yield Detail("About", diagnosis.about)
        yield Detail("Next step", diagnosis.step, command=_command(diagnosis))
    if one.next_sync or one.next_hint:
        yield Detail("Next attempt", one.next_hint, one.next_sync)
    yield more_about(one.kind, one.namespace, one.name)


def _command(diagnosis: Diagnosis) -> str:
    """Return the command on one line, as it looks: a line break would start it where it is pasted."""
    return printable(" ".join((diagnosis.command or "").split()))


def _diagnoses(record: Record) -> Iterator[Diagnosis]:
    """Return what is to be done, as `keybearer explain` says it."""
    body = dict(record.trouble or {})
    model = _STATUSES[record.standing.kind]
    try:
        status = model.model_validate(body.get("status") or {})
    except ValidationError:
        status = model()  # written by another version
    if "deletionTimestamp" in mapping_of(body.get("metadata")):
        return
    conditions = status.conditions
    yield from Standing(record.standing.kind.lower(), body, conditions, status).diagnoses()
