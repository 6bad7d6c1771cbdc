"""Who may use an app connection, in which projects, and for which places: decided here for every road.

A sync over a connection acts with credentials that nobody can read, so to use one is a right of its own, `connect`.
A connection of a project is used by who has it there. One of the organization says which projects may use it, and is
used by who has the right in one of them; while it says nothing, only by who has the right in the organization. Either
kind may say which places syncs may write to. These terms bind everybody.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from pydantic import ValidationError

from keybearer.base.ids import ProjectId
from keybearer.destinations.form import DestinationKind
from keybearer.domain.access import ProjectAccess
from keybearer.domain.authorization import Action, Principal, Subject, denied, organization_allows
from keybearer.domain.errors import ForbiddenError, InvalidError, SchemaViolationError
from keybearer.domain.path_patterns import new_pattern, parse_pattern
from keybearer.store.app_connections import AppConnection
from keybearer.wire.destination_forms import DestinationConfig
from keybearer.wire.key_schema import KeyNaming

__all__ = [
    "NamedPlace",
    "checked_place_patterns",
    "may_use",
    "may_use_anywhere",
    "place_of",
    "require_may_connect",
    "require_place",
    "require_project",
    "stored_place_of",
]

NamedPlace = Callable[[], str | None]
"""Returns the text of a place; None where the destination has no such texts."""

_NO_NAMES = frozenset({"", ".", ".."})


def may_use(access: ProjectAccess, connection: AppConnection) -> bool:
    """Return whether the principal may make syncs of the project over the connection, at some place."""
    return _is_for(connection, access.project.id) and _may_connect(access, connection)


def may_use_anywhere(principal: Principal, connection: AppConnection) -> bool:
    """Return whether the principal may make syncs over a connection of the organization in some project.

    No project is looked at: only who has the right in the organization, and with that in its projects, is told so.
    """
    return connection.allowed_project_ids != () and _organization_allows(principal)


def require_may_connect(access: ProjectAccess, connection: AppConnection) -> None:
    """Let pass who has the right to use the connection in the project, whatever the connection allows there.

    Raises:
        ForbiddenError: the principal has not.
    """
    if _may_connect(access, connection):
        return
    if _names_no_projects(connection):
        refusal = denied(Action.CONNECT, Subject.APP_CONNECTIONS, project_id=access.project.id)
        raise ForbiddenError(
            f'{refusal.message}: App Connection "{connection.name}" is of the organization and names no projects, so '
            f"only its admins use it; an admin lets this project use it with: {_allow(connection)} "
            f"--to {access.project.id}",
            denial=refusal.denial,
        )
    try:
        access.require(Action.CONNECT, Subject.APP_CONNECTIONS)
    except ForbiddenError as refusal:
        raise ForbiddenError(
            f"{refusal.message}; {_remedy(access, refusal)}", denial=refusal.denial
        ) from None


def require_project(connection: AppConnection, project_id: ProjectId) -> None:
    """Let pass a project in which the connection may be used, whoever asks.

    Raises:
        ForbiddenError: it may not.
    """
    if _is_for(connection, project_id):
        return
    if connection.project_id is not None:
        raise ForbiddenError(
            f"App Connection with ID {connection.id} belongs to another project and can be used only there"
        )
    raise _refusal(
        connection,
        f'App Connection "{connection.name}" may not be used in this project; an admin of the organization allows '
        f"that with: {_allow(connection)} --to {project_id}",
    )


def require_place(connection: AppConnection, place: NamedPlace) -> None:
    """Let pass a place that the connection allows, whoever asks.

    Args:
        connection: over which a sync writes.
        place: where it writes; looked up only if the connection limits places.

    Raises:
        ForbiddenError: not there.
    """
    if connection.allowed_places is None:
        return
    text = place()
    if text is None:
        raise _refusal(
            connection,
            f'App Connection "{connection.name}" is limited to some places, and this destination has no names for '
            f"its places; to allow all of them: {_allow(connection)} --any-place",
        )
    if not _is_among(text, connection.allowed_places):
        raise _refusal(
            connection,
            f'App Connection "{connection.name}" does not allow the place "{text}"; to allow it: '
            f"{_allow(connection)} --place '{text}'",
        )


def place_of(model: DestinationKind, config: DestinationConfig, naming: KeyNaming) -> str | None:
    """Return the text of the place that a configuration names; None where the destination has none."""
    if model.places is None:
        return None
    text = model.places.name(config, naming)
    return text if model.places.knows_case else text.lower()


def stored_place_of(model: DestinationKind, config: object, naming: KeyNaming) -> str | None:
    """Return the text of the place of a configuration as it is stored.

    Raises:
        InvalidError: this version no longer takes it.
    """
    try:
        return place_of(model, model.config.validate_python(config), naming)
    except ValidationError:
        raise InvalidError(
            "What is stored of the sync no longer has the form that this version takes; save it again"
        ) from None


def checked_place_patterns(patterns: Iterable[str], kinds: Iterable[DestinationKind]) -> tuple[str, ...]:
    """Return the patterns as they are stored, each once.

    Args:
        patterns: of places of the destinations; `*` is within a name, `**` any depth.
        kinds: the destinations of the app.

    Raises:
        InvalidError: the app has no places that have names.
        SchemaViolationError: one is no pattern.
    """
    named = [kind.places for kind in kinds if kind.places is not None]
    if not named:
        raise InvalidError("Syncs over connections of this app have no places that could be named")
    knows_case = any(places.knows_case for places in named)
    checked: dict[str, None] = {}
    for pattern in patterns:
        if not _NO_NAMES.isdisjoint(pattern.split("/")):
            raise SchemaViolationError(
                f"A place is {' or '.join(sorted({places.form for places in named}))}; no name is empty",
                field="places",
            )
        new_pattern(pattern)
        checked[pattern if knows_case else pattern.lower()] = None
    return tuple(checked)


def _names_no_projects(connection: AppConnection) -> bool:
    """Return whether it is a connection of the organization that doesn't say which projects may use it."""
    return connection.project_id is None and connection.allowed_project_ids is None


def _is_for(connection: AppConnection, project_id: ProjectId) -> bool:
    if connection.project_id is not None:
        return connection.project_id == project_id
    return _names_no_projects(connection) or project_id in (connection.allowed_project_ids or ())


def _organization_allows(principal: Principal) -> bool:
    return organization_allows(principal, Action.CONNECT, Subject.APP_CONNECTIONS)


def _may_connect(access: ProjectAccess, connection: AppConnection) -> bool:
    if _names_no_projects(connection):
        return _organization_allows(access.principal)
    return access.allows(Action.CONNECT, Subject.APP_CONNECTIONS)


def _remedy(access: ProjectAccess, refusal: ForbiddenError) -> str:
    if refusal.denial is not None and refusal.denial.inverted:
        return (
            "a grant denies it, which an admin of the project finds with: keybearer grants list "
            f"--project {access.project.id} --member {access.principal.identity_id}"
        )
    # Who may not read a connection may not use it either.
    return (
        f"an admin of the project gives that right with: keybearer grants add {access.principal.identity_id} "
        f"--project {access.project.id} --env '*' --subject app-connections --action read --action connect"
    )


def _is_among(text: str, patterns: Iterable[str]) -> bool:
    if not _NO_NAMES.isdisjoint(text.split("/")):
        return False  # what leads up, or is empty, may lead out of what a pattern names
    return any(parse_pattern(pattern).matches(f"/{text}") for pattern in patterns)


def _refusal(connection: AppConnection, message: str) -> ForbiddenError:
    denial = denied(Action.CONNECT, Subject.APP_CONNECTIONS, project_id=connection.project_id).denial
    return ForbiddenError(message, denial=denial)


def _allow(connection: AppConnection) -> str:
    of = "--organization" if connection.project_id is None else f"--project {connection.project_id}"
    return f"keybearer connections allow {connection.name} {of}"
