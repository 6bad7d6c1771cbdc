"""Roles and grants by their words on the wire, apart from the models: the command line's help loads none of those."""

from __future__ import annotations

from typing import Literal

__all__ = ["GrantAction", "GrantEffect", "GrantSubject", "OrganizationRoleSlug", "ProjectRoleSlug"]

OrganizationRoleSlug = Literal["admin", "member", "no-access"]
ProjectRoleSlug = Literal["admin", "member", "viewer", "no-access"]
GrantEffect = Literal["allow", "deny"]
GrantSubject = Literal[
    "secrets",
    "secret-folders",
    "secret-imports",
    "environments",
    "tags",
    "workspace",
    "app-connections",
    "secret-syncs",
]
GrantAction = Literal["read", "read-value", "create", "edit", "delete", "connect"]
