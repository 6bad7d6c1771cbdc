"""Tags of a project, under both names of the project (wire.md section 2.10).

The older paths answer `{workspaceTag}`, which is what Terraform's provider reads.
"""

from __future__ import annotations

from keybearer.interface import tags
from keybearer.server.table_routes import served
from keybearer.server.writing import View
from keybearer.store.tags import Tag

__all__ = ["ROUTES"]

_TAG = View(tags.Tag, Tag)

ROUTES = (
    *served(tags.CREATE, _TAG, lambda context: context.tags.create),
    *served(tags.LIST, _TAG, lambda context: context.tags.list),
    *served(tags.GET_BY_SLUG, _TAG, lambda context: context.tags.get),
    *served(tags.GET, _TAG, lambda context: context.tags.get),
    *served(tags.UPDATE, _TAG, lambda context: context.tags.update),
    *served(tags.DELETE, _TAG, lambda context: context.tags.delete),
)
