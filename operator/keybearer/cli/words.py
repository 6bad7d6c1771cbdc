"""The words of `keybearer.wire.roles` as enumerations: an option can take several of those, not of Literals."""

from __future__ import annotations

from enum import StrEnum

__all__ = ["Action", "ProjectRole", "Subject"]


class ProjectRole(StrEnum):
    """A role in a project."""

    ADMIN = "admin"
    MEMBER = "member"
    VIEWER = "viewer"
    NO_ACCESS = "no-access"


class Action(StrEnum):
    """What a grant is for."""

    READ = "read"
    READ_VALUE = "read-value"
    CREATE = "create"
    EDIT = "edit"
    DELETE = "delete"


class Subject(StrEnum):
    """What a grant is about."""

    SECRETS = "secrets"
    FOLDERS = "secret-folders"
    IMPORTS = "secret-imports"
    ENVIRONMENTS = "environments"
    TAGS = "tags"
    PROJECT = "workspace"
