"""How one run of an AppConnection ended, as its status. Pure; the instant is passed in."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from keybearer.controllers.appconnection.plan import DesiredConnection, PresentConnection
from keybearer.controllers.appconnection.reasons import Reason
from keybearer.controllers.appconnection.status import AppConnectionStatus, RotationStatus
from keybearer.controllers.conditions import Tone, build_conditions
from keybearer.controllers.outcome import Outcome

__all__ = ["ConnectionOutcome", "build_status", "connected"]


@dataclass(frozen=True, slots=True)
class ConnectionOutcome(Outcome):
    """How one run of an AppConnection ended.

    Attributes:
        present: the connection as the service shows it now.
        fingerprint: of the credentials that it has of ours.
    """

    present: PresentConnection | None = None
    fingerprint: str | None = None


def connected(desired: DesiredConnection, present: PresentConnection) -> ConnectionOutcome:
    """Return the end of a run after which all is as described."""
    where = "the organization" if desired.project_id is None else f"project {desired.project_id}"
    return ConnectionOutcome(
        Tone.READY,
        Reason.CONNECTED,
        f"connection {present.name} of {where} leads to {desired.app} by {desired.method}",
        present,
        desired.fingerprint,
    )


def build_status(
    previous: AppConnectionStatus, outcome: ConnectionOutcome, *, generation: int, now: datetime
) -> AppConnectionStatus:
    """Return the whole status that the outcome leads to."""
    status = previous.model_copy(
        update={
            "observed_generation": generation,
            "conditions": build_conditions(
                previous.conditions,
                outcome.tone,
                outcome.reason,
                outcome.message,
                generation=generation,
                now=now,
            ),
            "last_handled_requested_at": outcome.handled or previous.last_handled_requested_at,
        }
    )
    present = outcome.present
    if present is None:
        return status
    rotation = RotationStatus(
        status=present.rotation_status,
        message=present.rotation_message,
        next_rotation_at=present.next_rotation_at,
    )
    return status.model_copy(
        update={
            "id": present.id,
            "app": present.app,
            "method": present.method,
            "version": present.version,
            "credentials_hash": present.credentials_hash,
            "fingerprint": outcome.fingerprint or previous.fingerprint,
            "rotation": None if rotation == RotationStatus() else rotation,
        }
    )
