"""`client.environments`."""

from __future__ import annotations

from keybearer.client.operations import environments
from keybearer.client.resources import Resource, Shell, call

__all__ = ["EnvironmentsApi"]


class EnvironmentsApi(Resource[Shell]):
    """`client.environments`."""

    list = call(environments.ListEnvironments)
    get = call(environments.GetEnvironment)
    get_by_slug = call(environments.GetEnvironmentBySlug)
    create = call(environments.CreateEnvironment)
    update = call(environments.UpdateEnvironment)
    delete = call(environments.DeleteEnvironment)
