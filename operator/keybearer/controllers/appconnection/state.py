"""Decides whether an AppConnection can be used. Pure."""

from __future__ import annotations

from keybearer.controllers.appconnection.status import AppConnectionStatus
from keybearer.controllers.connection_state import ConnectionState
from keybearer.controllers.custom_resource import ConditionStatus
from keybearer.controllers.objects import ObservedObject
from keybearer.controllers.reading import read_status

__all__ = ["connection_state"]


def connection_state(seen: ObservedObject) -> ConnectionState:
    """Return how a connection stands by its last status."""
    status = read_status(seen, AppConnectionStatus)
    ready = next((one for one in status.conditions if one.type == "Ready"), None)
    is_ready = ready is not None and ready.status is ConditionStatus.TRUE
    # A connection that worked and whose change is refused still works for what uses it.
    is_usable = seen.deletion_timestamp is None and bool(is_ready or status.version)
    return ConnectionState(
        id=status.id if is_usable else None,
        trouble=ready.message if ready is not None and not is_ready else None,
    )
