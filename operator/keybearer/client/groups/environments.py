"""`client.environments`."""

from __future__ import annotations

from keybearer.client.operations.environments import ListEnvironments
from keybearer.client.resources import Resource, Shell, ask, call
from keybearer.interface import environments

__all__ = ["EnvironmentsApi"]


class EnvironmentsApi(Resource[Shell]):
    """`client.environments`."""

    list = call(ListEnvironments)
    get = ask(environments.GET)
    get_by_slug = ask(environments.GET_BY_SLUG)
    create = ask(environments.CREATE)
    update = ask(environments.UPDATE)
    delete = ask(environments.DELETE)
