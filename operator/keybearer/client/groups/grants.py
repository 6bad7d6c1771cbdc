"""`client.grants`: what members may do in parts of a project."""

from __future__ import annotations

from keybearer.client.resources import Resource, Shell, ask
from keybearer.interface import grants

__all__ = ["GrantsApi"]


class GrantsApi(Resource[Shell]):
    """`client.grants`: what members may do in parts of a project."""

    list = ask(grants.LIST)
    get = ask(grants.GET)
    create = ask(grants.CREATE)
    update = ask(grants.UPDATE)
    delete = ask(grants.DELETE)
