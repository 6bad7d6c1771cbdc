"""`client.tags`."""

from __future__ import annotations

from keybearer.client.operations import tags
from keybearer.client.resources import Resource, Shell, call

__all__ = ["TagsApi"]


class TagsApi(Resource[Shell]):
    """`client.tags`."""

    list = call(tags.ListTags)
    get = call(tags.GetTag)
    get_by_slug = call(tags.GetTagBySlug)
    create = call(tags.CreateTag)
    delete = call(tags.DeleteTag)
