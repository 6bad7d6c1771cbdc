"""`client.organizations`."""

from __future__ import annotations

from keybearer.client.operations import users
from keybearer.client.resources import Resource, Shell, call

__all__ = ["OrganizationsApi"]


class OrganizationsApi(Resource[Shell]):
    """`client.organizations`."""

    list = call(users.ListOrganizations)
    get = call(users.GetOrganization)
