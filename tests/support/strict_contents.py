"""What a project holds, as the interface documents tell it: secrets, folders, imports, environments, tags.

From interface.md 2.7 and wire.md 2.1 to 2.10, and for what they leave open from docs/interface.md.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field

from support.strict_kinds import (
    Count,
    Id,
    Instant,
    Path,
    Shape,
    Slug,
    Version,
    listed,
    message_and,
    only,
    shape,
)

__all__ = [
    "ENVIRONMENT",
    "FOLDERS",
    "FOUND_FOLDER",
    "IMPORTS",
    "MOVED",
    "ONE_FOLDER",
    "ONE_IMPORT",
    "ONE_LISTED_FOLDER",
    "ONE_SECRET",
    "ONE_TAG",
    "PLACED_IMPORT",
    "PROJECT",
    "PROJECT_ENVIRONMENT",
    "REFERENCE_TREE",
    "SECRETS",
    "SECRET_LIST",
    "TAG",
    "VERSIONS",
    "WORKSPACE_ENVIRONMENT",
]

# --- interface.md 2.7, wire.md 2.1 and 2.2
METADATA = shape("metadata", {"key": Id, "value": str, "isEncrypted": bool})
SECRET_TAG = shape("tag of a secret", {"id": Id, "slug": Slug, "color": str | None, "name": str})
SECRET = shape(
    "secret",
    {
        "id": Id,
        "_id": Id,
        "workspace": Id,
        "environment": Slug,
        "version": Version,
        "type": Literal["shared", "personal"],
        "secretKey": Id,
        "secretValue": str,
        "secretComment": str,
        "createdAt": Instant,
        "updatedAt": Instant,
        "secretValueHidden": bool,
        "secretPath": Path,
    },
    {
        "projectId": Id,
        "skipMultilineEncoding": bool | None,
        "secretReminderNote": str | None,
        "secretReminderRepeatDays": int | None,
        "secretReminderRecipients": list[str],
        "secretMetadata": listed(METADATA),
        "tags": listed(SECRET_TAG),
        "isRotatedSecret": Literal[False],
        "user": Id,
    },
)
BLOCK = shape(
    "import block",
    {"secretPath": Path, "environment": Slug, "folderId": str | None, "secrets": listed(SECRET)},
)
SECRET_LIST = shape("list of secrets", {"secrets": listed(SECRET), "imports": listed(BLOCK)})
ONE_SECRET = only("secret", SECRET)
SECRETS = only("secrets", listed(SECRET))

# --- wire.md 2.5 names these routes; docs/interface.md says what they answer
MOVED = shape("moved", {"isSourceUpdated": bool, "isDestinationUpdated": bool})
VERSIONS = only("secretVersions", listed(SECRET))


def _tree(levels: int) -> Shape:
    """Return a node of a reference tree with so many levels under it, and no more."""
    below: object = Annotated[list[Any], Field(max_length=0)]
    return shape(
        f"node over {levels} levels",
        {
            "key": Id,
            "environment": Slug,
            "secretPath": Path,
            "children": listed(_tree(levels - 1)) if levels else below,
        },
        {"projectSlug": Slug, "value": str},
    )


REFERENCE_TREE = shape("reference tree", {"tree": _tree(10), "value": str})

# --- wire.md 2.7
_SUMMARY = shape("environment in short", {"id": Id, "name": str, "slug": Slug})
_IMPORT = {
    "id": Id,
    "version": Version,
    "position": Version,
    "folderId": Id,
    "importPath": Path,
    "importEnv": _SUMMARY,
    "isReplication": bool,
    "createdAt": Instant,
    "updatedAt": Instant,
}
_ANY_IMPORT = shape("import", _IMPORT)
ONE_IMPORT = message_and("secretImport", _ANY_IMPORT)
IMPORTS = message_and("secretImports", listed(_ANY_IMPORT))
# wire.md names no field beyond; docs/interface.md adds where the import belongs.
PLACED_IMPORT = message_and(
    "secretImport",
    shape("placed import", {**_IMPORT, "projectId": Id, "environment": _SUMMARY, "secretPath": Path}),
)

# --- wire.md 2.9
_FOLDER: dict[str, object] = {
    "id": Id,
    "name": Id,
    "version": Version,
    "createdAt": Instant,
    "updatedAt": Instant,
    "envId": Id,
    "parentId": str | None,
    "isReserved": bool,
    "description": str | None,
    "lastSecretModified": Instant | None,
}
_LISTED_FOLDER = shape("listed folder", _FOLDER, {"path": Path, "relativePath": str})
_FOLDER_ENVIRONMENT = shape("environment of a folder", {"envId": Id, "envName": str, "envSlug": Slug})
ONE_FOLDER = only("folder", shape("folder", {**_FOLDER, "path": Path}))
ONE_LISTED_FOLDER = only("folder", _LISTED_FOLDER)
FOLDERS = only("folders", listed(_LISTED_FOLDER))
FOUND_FOLDER = only(
    "folder",
    shape("found folder", {**_FOLDER, "path": Path, "projectId": Id, "environment": _FOLDER_ENVIRONMENT}),
)

# --- wire.md 2.10
PROJECT = shape(
    "project",
    {
        "id": Id,
        "_id": Id,
        "name": Id,
        "slug": Slug,
        "description": str | None,
        "type": str,
        "orgId": Id,
        "autoCapitalization": bool,
        "version": Version,
        "upgradeStatus": str | None,
        "createdAt": Instant,
        "updatedAt": Instant,
        "hasDeleteProtection": bool,
        "auditLogsRetentionDays": Count | None,
        "environments": listed(_SUMMARY),
    },
)
ENVIRONMENT = shape(
    "environment",
    {
        "id": Id,
        "name": str,
        "slug": Slug,
        "position": Version,
        "projectId": Id,
        "createdAt": Instant,
        "updatedAt": Instant,
    },
)
PROJECT_ENVIRONMENT = shape(
    "environment of a project", {"message": str, "projectId": Id, "environment": ENVIRONMENT}
)
WORKSPACE_ENVIRONMENT = shape(
    "environment of a workspace", {"message": str, "workspace": Id, "environment": ENVIRONMENT}
)
TAG = shape(
    "tag",
    {
        "id": Id,
        "slug": Slug,
        "name": str,
        "color": str | None,
        "projectId": Id,
        "createdAt": Instant,
        "updatedAt": Instant,
    },
)
ONE_TAG = only("tag", TAG)
