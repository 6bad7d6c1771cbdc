"""Path-scoped grants of a project's members, an addition to the published interface (docs/interface.md)."""

from __future__ import annotations

from keybearer.interface import grants
from keybearer.server.table_routes import served
from keybearer.server.writing import View
from keybearer.store.tables.grants import Grant

__all__ = ["ROUTES"]

_GRANT = View(grants.Grant, Grant)

ROUTES = (
    *served(grants.CREATE, _GRANT, lambda context: context.grants.create),
    *served(grants.LIST, _GRANT, lambda context: context.grants.list, total_count=len),
    *served(grants.GET, _GRANT, lambda context: context.grants.get),
    *served(grants.UPDATE, _GRANT, lambda context: context.grants.update),
    *served(grants.DELETE, _GRANT, lambda context: context.grants.delete),
)
