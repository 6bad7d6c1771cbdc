"""The shapes of answers as the interface documents tell them: exact types, required fields, no unknown ones.

Written down from interface.md 2.7 and 7 and wire.md 1.2 and 2.1-2.10, and apart from the service's own models on
purpose: all they have in common is the documents.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, JsonValue, create_model

__all__ = ["ERRORS", "ROUTES", "Shape", "Unwritten", "shape_of"]

Shape = type[BaseModel]
_CONFIG = ConfigDict(strict=True, extra="forbid", hide_input_in_errors=True)

Instant = Annotated[str, Field(pattern=r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$")]
Slug = Annotated[str, Field(pattern=r"^[a-z0-9]+([-_][a-z0-9]+)*$")]
Id = Annotated[str, Field(min_length=1)]
Path = Annotated[str, Field(pattern=r"^/")]
Count = Annotated[int, Field(ge=0)]
Version = Annotated[int, Field(ge=1)]


def _shape(name: str, always: Mapping[str, Any], maybe: Mapping[str, Any] | None = None) -> Shape:
    """Return a model with the fields that are always there, and those that may be."""
    fields: dict[str, Any] = {}
    for key, kind in always.items():
        fields[f"f{len(fields)}"] = (kind, Field(alias=key))
    for key, kind in (maybe or {}).items():
        fields[f"f{len(fields)}"] = (kind, Field(default=None, alias=key))
    return create_model(name, __config__=_CONFIG, **fields)


def _message_and(name: str, kind: object) -> Shape:
    return _shape(name, {"message": str, name: kind})


# --- interface.md 2.7, wire.md 2.1 and 2.2
METADATA = _shape("metadata", {"key": Id, "value": str, "isEncrypted": bool})
SECRET_TAG = _shape("tag of a secret", {"id": Id, "slug": Slug, "color": str | None, "name": str})
SECRET = _shape(
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
        "secretMetadata": list[METADATA],  # type: ignore[valid-type] # made above
        "tags": list[SECRET_TAG],  # type: ignore[valid-type] # made above
        "isRotatedSecret": Literal[False],
        "user": Id,
    },
)
BLOCK = _shape(
    "import block",
    {"secretPath": Path, "environment": Slug, "folderId": str | None, "secrets": list[SECRET]},  # type: ignore[valid-type] # made above
)
SECRET_LIST = _shape("list of secrets", {"secrets": list[SECRET], "imports": list[BLOCK]})  # type: ignore[valid-type] # made above
ONE_SECRET = _shape("one secret", {"secret": SECRET})
SECRETS = _shape("secrets", {"secrets": list[SECRET]})  # type: ignore[valid-type] # made above

# --- wire.md 2.7
_IMPORT = {
    "id": Id,
    "version": Version,
    "position": Version,
    "folderId": Id,
    "importPath": Path,
    "importEnv": _shape("environment of an import", {"id": Id, "name": str, "slug": Slug}),
    "isReplication": bool,
    "createdAt": Instant,
    "updatedAt": Instant,
}
IMPORT = _shape("import", _IMPORT)
# wire.md names no field beyond; docs/interface.md adds where the import belongs.
PLACED_IMPORT = _shape("import", {**_IMPORT, "projectId": Id, "environment": JsonValue, "secretPath": Path})

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
FOLDER = _shape("folder", {**_FOLDER, "path": Path})
LISTED_FOLDER = _shape("listed folder", _FOLDER, {"path": Path, "relativePath": str})
FOLDER_ENVIRONMENT = _shape("environment of a folder", {"envId": Id, "envName": str, "envSlug": Slug})
FOUND_FOLDER = _shape(
    "found folder", {**_FOLDER, "path": Path, "projectId": Id, "environment": FOLDER_ENVIRONMENT}
)
ONE_FOLDER = _shape("one folder", {"folder": FOLDER})
FOLDERS = _shape("folders", {"folders": list[LISTED_FOLDER]})  # type: ignore[valid-type] # made above

# --- wire.md 2.10
PROJECT = _shape(
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
        "environments": list[_shape("environment of a project", {"id": Id, "name": str, "slug": Slug})],  # type: ignore[misc] # made here
    },
)
ENVIRONMENT = _shape(
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
TAG = _shape(
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
ONE_TAG = _shape("one tag", {"tag": TAG})

# --- wire.md 1.2 and 1.3
TOKEN = _shape(
    "token",
    {
        "accessToken": Id,
        "expiresIn": Version,
        "accessTokenMaxTTL": Count,
        "tokenType": Literal["Bearer"],
    },
)
MESSAGE = _shape("message", {"message": str})

# --- interface.md 7; what wire.md 8.2 adds has the fields of a 401
ISSUE = _shape("issue", {"code": Id, "path": list[str | int], "message": Id})


def _error(status: int, message: object = str, *, details: bool = False) -> Shape:
    always = {
        "reqId": Annotated[str, Field(pattern="^req-[A-Za-z0-9_-]+$")],
        "statusCode": Literal[status],
        "message": message,
        "error": Id,
    }
    return _shape(f"error {status}", always, {"details": JsonValue} if details else None)


ERRORS: Mapping[int, Shape] = {
    400: _error(400, details=True),
    401: _error(401),
    403: _error(403, details=True),
    404: _error(404),
    422: _error(422, Annotated[list[ISSUE], Field(min_length=1)]),  # type: ignore[valid-type] # made above
    **{status: _error(status) for status in (413, 429, 500, 503, 504)},
}


@dataclass(frozen=True)
class Unwritten:
    """The documents give no shape; the reason says whose routes they are."""

    reason: str


_ANY = "GET|POST|PATCH|PUT|DELETE"
_OURS = Unwritten("an addition of ours, or an answer of which the documents name single fields only")
# Method, path, shape: the first that matches. `*` is one part of a path, `**` any number.
ROUTES: tuple[tuple[str, str, Shape | Unwritten], ...] = (
    ("GET", "/api/status", MESSAGE),
    ("POST", "/api/v1/auth/*/login", TOKEN),
    ("POST", "/api/v1/auth/token/renew", TOKEN),
    ("POST", "/api/v1/auth/token/revoke", MESSAGE),
    ("POST", "/api/v1/auth/checkAuth", MESSAGE),
    ("GET", "/api/v3/secrets/raw", SECRET_LIST),
    ("GET", "/api/v4/secrets", SECRET_LIST),
    ("POST|PATCH|DELETE", "/api/v3/secrets/batch/raw", SECRETS),
    ("POST|PATCH|DELETE", "/api/v4/secrets/batch", SECRETS),
    ("POST", "/api/v4/secrets/duplicate", SECRETS),
    ("POST", "/api/v*/secrets/move", _OURS),
    ("GET", "/api/v4/secrets/*/secret-reference-tree", _OURS),
    ("GET", "/api/v1/secret/*/secret-versions", _OURS),
    ("GET", "/api/v*/secrets/**", ONE_SECRET),
    ("POST|PATCH|DELETE", "/api/v3/secrets/raw/*", ONE_SECRET),
    ("POST|PATCH|DELETE", "/api/v4/secrets/*", ONE_SECRET),
    ("GET", "/api/v*/folders", FOLDERS),
    ("PATCH", "/api/v*/folders/batch", FOLDERS),
    ("GET", "/api/v*/folders/*", _shape("found", {"folder": FOUND_FOLDER})),
    ("GET", "/api/v1/folders/*/*/**", _shape("at path", {"folder": FOLDER})),
    ("POST|PATCH|DELETE", "/api/v*/folders", ONE_FOLDER),
    ("PATCH", "/api/v*/folders/*", ONE_FOLDER),
    ("DELETE", "/api/v*/folders/*", _shape("gone", {"folder": LISTED_FOLDER})),
    ("GET", "/api/v*/secret-imports", _message_and("secretImports", list[IMPORT])),  # type: ignore[valid-type] # made above
    ("GET", "/api/v*/secret-imports/*", _message_and("secretImport", PLACED_IMPORT)),
    ("POST", "/api/v*/secret-imports", _message_and("secretImport", IMPORT)),
    ("PATCH|DELETE", "/api/v*/secret-imports/*", _message_and("secretImport", IMPORT)),
    ("POST", "/api/v1/projects", _shape("made", {"project": PROJECT})),
    ("POST", "/api/v2/workspace", _shape("made", {"project": PROJECT})),
    ("GET", "/api/v1/projects", _shape("projects", {"projects": list[PROJECT]})),  # type: ignore[valid-type] # made above
    ("GET", "/api/v1/workspace", _shape("workspaces", {"workspaces": list[PROJECT]})),  # type: ignore[valid-type] # made above
    ("GET", "/api/v1/projects/slug/*", PROJECT),
    ("GET", "/api/v1/workspace/slug/*", PROJECT),
    ("GET|PATCH|DELETE", "/api/v2/workspace/*", PROJECT),
    ("GET", "/api/v1/workspace/environments/*", _shape("one", {"environment": ENVIRONMENT})),
    ("GET|PATCH|DELETE", "/api/v1/projects/*", _shape("one", {"project": PROJECT})),
    ("GET|PATCH|DELETE", "/api/v1/workspace/*", _shape("one", {"workspace": PROJECT})),
    ("GET", "/api/v1/projects/*/environments/**", _shape("one", {"environment": ENVIRONMENT})),
    (
        "POST|PATCH|DELETE",
        "/api/v1/projects/*/environments/**",
        _shape("environment", {"message": str, "projectId": Id, "environment": ENVIRONMENT}),
    ),
    (
        "POST|PATCH|DELETE",
        "/api/v1/workspace/*/environments/**",
        _shape("environment", {"message": str, "workspace": Id, "environment": ENVIRONMENT}),
    ),
    ("GET", "/api/v1/projects/*/tags", _shape("tags", {"tags": list[TAG]})),  # type: ignore[valid-type] # made above
    ("GET", "/api/v1/workspace/*/tags", _shape("tags", {"workspaceTags": list[TAG]})),  # type: ignore[valid-type] # made above
    (_ANY, "/api/v1/projects/*/tags/**", ONE_TAG),
    (_ANY, "/api/v1/workspace/*/tags/**", ONE_TAG),
    (_ANY, "/api/v*/projects/*/memberships/**", _OURS),
    (_ANY, "/api/v*/workspace/*/memberships/**", _OURS),
    ("GET", "/api/docs/**", _OURS),
    (_ANY, "/api/v1/projects/*/grants/**", _OURS),
    (_ANY, "/api/v1/identities/**", _OURS),
    (_ANY, "/api/v1/auth/*/identities/**", _OURS),
    (_ANY, "/api/v3/auth/**", _OURS),
    (_ANY, "/api/v*/user/**", _OURS),
    (_ANY, "/api/v*/users/**", _OURS),
    (_ANY, "/api/v1/organization/**", _OURS),
    (_ANY, "/api/v1/admin/**", _OURS),
)


def shape_of(method: str, path: str) -> Shape | Unwritten | None:
    """Return what a good answer of the route looks like; nothing for a route that no line speaks of."""
    for methods, pattern, found in _COMPILED:
        if method in methods and pattern.fullmatch(path):
            return found
    return None


def _pattern(text: str) -> re.Pattern[str]:
    parts = {"/**": "(?:/.*)?", "*": "[^/]+"}
    written = re.split(r"(/\*\*|\*)", text)
    return re.compile("".join(parts.get(part) or re.escape(part) for part in written))


_COMPILED = [(methods.split("|"), _pattern(path), found) for methods, path, found in ROUTES]
