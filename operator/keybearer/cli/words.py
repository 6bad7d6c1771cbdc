"""Words of the wire as enumerations that options take: its own models would be loaded for the help alone."""

from __future__ import annotations

from enum import StrEnum

__all__ = ["Action", "FirstSync", "Preference", "ProjectRole", "Subject"]


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


class FirstSync(StrEnum):
    """What the first run of a sync does with what the destination holds already."""

    OVERWRITE_DESTINATION = "overwrite-destination"
    IMPORT_PRIORITIZE_SOURCE = "import-prioritize-source"
    IMPORT_PRIORITIZE_DESTINATION = "import-prioritize-destination"


class Preference(StrEnum):
    """Whose value stays where both the folder and the destination have a key."""

    SOURCE = "source"
    DESTINATION = "destination"
