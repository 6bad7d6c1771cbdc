"""`client.tags`."""

from __future__ import annotations

from keybearer.client.resources import Resource, Shell, ask
from keybearer.interface import tags

__all__ = ["TagsApi"]


class TagsApi(Resource[Shell]):
    """`client.tags`."""

    list = ask(tags.LIST)
    get = ask(tags.GET)
    get_by_slug = ask(tags.GET_BY_SLUG)
    create = ask(tags.CREATE)
    update = ask(tags.UPDATE)
    delete = ask(tags.DELETE)
