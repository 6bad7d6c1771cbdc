"""What has to be done about a connection: from what is there and what is wanted. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

from keybearer.controllers.appconnection.reasons import Reason
from keybearer.controllers.outcome import StalledError
from keybearer.controllers.ownership import Ownership, is_own, marked, ownership_of

__all__ = [
    "Applied",
    "CreateConnection",
    "DesiredConnection",
    "PresentConnection",
    "RotationTerms",
    "UpdateConnection",
    "plan_connection",
]


@dataclass(frozen=True, slots=True)
class RotationTerms:
    """Every so many days, at that time (UTC)."""

    days: int
    hours: int
    minutes: int


@dataclass(frozen=True, slots=True)
class DesiredConnection:
    """A connection as its manifest describes it.

    Attributes:
        app: in interface.md's words, as `method`.
        fingerprint: keyed, of the credentials.
        mark: of the object, see `ownership`.
        project_id: None for the whole organization.
        rotation: None where the service is not to make the credentials anew.
        adopts: whether a connection that nobody's object manages may be taken over.
    """

    name: str
    app: str
    method: str
    credentials: Mapping[str, str] = field(repr=False)
    fingerprint: str
    description: str | None
    mark: str
    project_id: str | None = None
    rotation: RotationTerms | None = None
    adopts: bool = False


@dataclass(frozen=True, slots=True)
class PresentConnection:
    """A connection as the service shows it."""

    id: str
    name: str
    app: str
    method: str
    description: str | None
    project_id: str | None
    credentials_hash: str
    version: int
    rotation: RotationTerms | None = None
    rotation_status: str | None = None
    rotation_message: str | None = None
    next_rotation_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class Applied:
    """What the status says was applied last; None where nothing was."""

    id: str | None = None
    fingerprint: str | None = None
    credentials_hash: str | None = None


@dataclass(frozen=True, slots=True)
class CreateConnection:
    """Nothing of the kind is there."""

    desired: DesiredConnection


@dataclass(frozen=True, slots=True)
class UpdateConnection:
    """It is ours, and not as described.

    Attributes:
        id: of the connection.
        desired: what it is to be.
        with_credentials: whether they have to be given again; the service has the app judge them then.
    """

    id: str
    desired: DesiredConnection
    with_credentials: bool


def plan_connection(
    desired: DesiredConnection, present: PresentConnection | None, applied: Applied
) -> CreateConnection | UpdateConnection | None:
    """Return what has to be done; None where all is as described.

    Args:
        desired: what the manifest describes.
        present: the connection of the id in the status, else the one of the name; None where there is neither.
        applied: what the status says.

    Raises:
        StalledError: it isn't ours, or was changed in what can't be changed.
    """
    if present is None:
        return CreateConnection(desired)
    _require_ours(desired, present, applied)
    _require_changeable(desired, present)
    # Credentials that the service made itself are not the manifest's; a change of the manifest's still counts.
    is_drifted = present.credentials_hash != applied.credentials_hash and desired.rotation is None
    with_credentials = is_drifted or desired.fingerprint != applied.fingerprint
    is_described = (
        present.name == desired.name
        and present.description == marked(desired.description, desired.mark)
        and present.rotation == desired.rotation
    )
    if is_described and not with_credentials:
        return None
    return UpdateConnection(present.id, desired, with_credentials)


def _require_ours(desired: DesiredConnection, present: PresentConnection, applied: Applied) -> None:
    takes_unmarked = present.id == applied.id or desired.adopts
    if is_own(present.description, desired.mark, takes_unmarked=takes_unmarked):
        return
    if ownership_of(present.description, desired.mark) is Ownership.OTHERS:
        raise StalledError(
            Reason.CONNECTION_CONFLICT,
            f"the service has a connection {present.name} that another object, perhaps of another cluster, manages; "
            "choose another name, or delete the other one",
        )
    raise StalledError(
        Reason.CONNECTION_CONFLICT,
        f"the service has a connection {present.name} that no object manages; set adopt: true to take it over, or "
        "choose another name",
    )


def _require_changeable(desired: DesiredConnection, present: PresentConnection) -> None:
    for what, wanted, there in (
        ("app", desired.app, present.app),
        ("method", desired.method, present.method),
        ("project", desired.project_id, present.project_id),
    ):
        if wanted != there:
            raise StalledError(
                Reason.IMMUTABLE_FIELD,
                f"the {what} of connection {present.name} is {there or 'none'} and can't become "
                f"{wanted or 'none'}; delete this object and create another one",
            )
