"""`client.grants`: what members may do in parts of a project."""

from __future__ import annotations

from keybearer.client.operations import grants
from keybearer.client.resources import Resource, Shell, call

__all__ = ["GrantsApi"]


class GrantsApi(Resource[Shell]):
    """`client.grants`: what members may do in parts of a project."""

    list = call(grants.ListGrants)
    get = call(grants.GetGrant)
    create = call(grants.CreateGrant)
    update = call(grants.UpdateGrant)
    delete = call(grants.DeleteGrant)
