"""Words of the wire as enumerations: typer takes no list of literals, as `keybearer.wire.roles` has them."""

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
    CONNECT = "connect"


class Subject(StrEnum):
    """What a grant is about."""

    SECRETS = "secrets"
    FOLDERS = "secret-folders"
    IMPORTS = "secret-imports"
    ENVIRONMENTS = "environments"
    TAGS = "tags"
    PROJECT = "workspace"
    APP_CONNECTIONS = "app-connections"
    SECRET_SYNCS = "secret-syncs"
