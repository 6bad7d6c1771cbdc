"""`client.memberships`: the roles that identities and users have in a project."""

from __future__ import annotations

from keybearer.client.operations import memberships
from keybearer.client.resources import Resource, Shell, call

__all__ = ["MembershipsApi"]


class MembershipsApi(Resource[Shell]):
    """`client.memberships`: the roles that identities and users have in a project."""

    list_identities = call(memberships.ListIdentityMemberships)
    put_identity = call(memberships.PutIdentityMembership)
    remove_identity = call(memberships.RemoveIdentityMembership)
    list_users = call(memberships.ListUserMemberships)
    put_users = call(memberships.PutUserMemberships)
    update_user = call(memberships.UpdateUserMembership)
    remove_user = call(memberships.RemoveUserMembership)
