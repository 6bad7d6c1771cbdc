"""Domain to wire, as `keybearer.server.rendering`: users, their memberships, organizations."""

from __future__ import annotations

from keybearer.domain.admin import SetUpInstance
from keybearer.domain.memberships import UserMembership
from keybearer.domain.users import UserView
from keybearer.store.records import Organization, User
from keybearer.wire.base import write_instant

__all__ = ["organization_json", "set_up_json", "user_json", "user_membership_json"]

Json = dict[str, object]


def organization_json(organization: Organization) -> Json:
    """Return an organization."""
    return {
        "id": organization.id,
        "name": organization.name,
        "slug": organization.slug,
        "createdAt": write_instant(organization.created_at),
    }


def user_json(view: UserView) -> Json:
    """Return a user, with the role in the organization."""
    return {
        **_person_json(view.user),
        "orgId": view.identity.organization_id,
        "role": view.identity.role,
        "createdAt": write_instant(view.user.created_at),
        "updatedAt": write_instant(view.user.updated_at),
    }


def user_membership_json(member: UserMembership) -> Json:
    """Return a user's roles in a project."""
    membership = member.membership
    return {
        "id": membership.id,
        "userId": membership.identity_id,
        "projectId": membership.project_id,
        "roles": [{"role": role} for role in membership.roles],
        "user": _person_json(member.user),
        "createdAt": write_instant(membership.created_at),
        "updatedAt": write_instant(membership.updated_at),
    }


def set_up_json(instance: SetUpInstance) -> Json:
    """Return what the setting up made; the only time the identity's token is shown."""
    return {
        "message": "Successfully bootstrapped instance",
        "organization": organization_json(instance.organization),
        "user": user_json(instance.user),
        "identity": {
            "id": instance.identity.id,
            "name": instance.identity.name,
            "credentials": {"token": instance.token},
        },
    }


def _person_json(user: User) -> Json:
    return {
        "id": user.identity_id,
        "email": user.email,
        "username": user.email,
        "firstName": user.first_name,
        "lastName": user.last_name,
    }
