"""Whether a sync may use its connection at a run: judged for its owner, by the terms that hold then."""

from __future__ import annotations

from keybearer.domain.access import ProjectAccess
from keybearer.domain.connections.use import NamedPlace, require_may_connect, require_place, require_project
from keybearer.domain.errors import ForbiddenError
from keybearer.domain.syncs.source import access_of
from keybearer.store.app_connections import AppConnection
from keybearer.store.secret_syncs import SecretSync
from keybearer.store.unit import UnitOfWork

__all__ = ["require_use"]


async def require_use(
    unit: UnitOfWork,
    sync: SecretSync,
    connection: AppConnection,
    place: NamedPlace,
    *,
    access: ProjectAccess | None = None,
    is_removal: bool = False,
) -> None:
    """Let pass a sync that may write to the place over the connection now.

    Args:
        unit: of the run.
        sync: whose project and owner are judged.
        connection: of the present place, or of a former one.
        place: that one.
        access: of the owner to the project, where this unit has opened it already.
        is_removal: whether somebody asked to remove what was pushed. They were judged then; the owner may be gone.

    Raises:
        ForbiddenError: the owner may not use it, or the connection doesn't allow the project or the place.
        InvalidError: the sync has no owner, or what is stored of the place is no longer valid.
    """
    require_project(connection, sync.record.project_id)
    require_place(connection, place)
    if is_removal:
        return
    access = access or await access_of(unit, sync)
    try:
        require_may_connect(access, connection)
    except ForbiddenError as error:
        raise ForbiddenError(
            f"The sync uses its connection with the rights of its owner, {access.principal.name}: {error.message}; "
            "grant that, or give the sync another owner",
            details=error.details,
            denial=error.denial,
        ) from error
