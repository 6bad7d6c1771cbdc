"""The limits of what a project holds, by hand from wire.md 2.1 to 2.10 and docs/interface.md."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from support.limit_cases import Limit, World, items, number, text

__all__ = ["LIMITS_OF_CONTENTS"]

_INT = 2**31 - 1
_V4 = "/api/v4/secrets"
_PROJECT = "/api/v1/projects/{project}"
_BATCH = f"{_V4}/batch"


def _place(world: World) -> Mapping[str, Any]:
    return world.place


def _value(world: World) -> Mapping[str, Any]:
    return {**world.place, "secretValue": "cnry-v"}


def _slug(length: int) -> str:
    return "s" * length


def _new_slug(world: World, length: int) -> str:
    return (world.fresh().replace("-", "") + "s" * length)[:length]


def _path(length: int) -> str:
    """Return a path of that many characters in which no name is longer than allowed."""
    names = "/".join("f" * 99 for _ in range(length // 100 + 1))
    path = f"/{names}"[:length]
    return path[:-1] + "f" if path.endswith("/") else path


def _folder_at(world: World, length: int) -> Mapping[str, Any]:
    """A folder whose whole path has that many characters, if it has room for a name."""
    name = world.fresh()
    return {**world.place, "name": name, "path": _path(max(length - len(name) - 1, 0))}


def _transfer(world: World) -> Mapping[str, Any]:
    return {
        "projectId": world.project.id,
        "sourceEnvironment": "dev",
        "destinationEnvironment": "staging",
        "secretIds": ["unknown"],
    }


def _metadata(**given: str) -> list[Mapping[str, str]]:
    return [{"key": "k", "value": "v", **given}]


def _registration(**conditions: str) -> Mapping[str, Any]:
    return {"event": "secret:create", "conditions": conditions}


def _batch(world: World, key: str = "") -> Mapping[str, Any]:
    return {"secretKey": key or world.fresh(), "secretValue": "cnry-v"}


_UPDATE = f"PATCH {_V4}/{{secret_key}}"
_CREATE = f"POST {_V4}/{{fresh}}"
_IMPORT = "POST /api/v2/secret-imports"

_PROJECTS = (
    text(
        "POST /api/v1/projects", "projectName", 1, 64, "PROJECT_NAME_MAX", rest=lambda w: {"slug": w.fresh()}
    ),
    text(
        "POST /api/v1/projects",
        "projectDescription",
        0,
        1024,
        "DESCRIPTION_MAX",
        rest=lambda w: {"slug": w.fresh(), "projectName": "p"},
    ),
    Limit(
        "POST /api/v1/projects",
        "slug",
        5,
        36,
        lambda world, length: {"projectName": "p", "slug": _new_slug(world, length)},
        ("PROJECT_SLUG_MIN", "PROJECT_SLUG_MAX"),
    ),
    text(f"PATCH {_PROJECT}", "name", 1, 64),
    text(f"PATCH {_PROJECT}", "description", 0, 1024),
    Limit(f"PATCH {_PROJECT}", "slug", 5, 36, lambda world, length: {"slug": _new_slug(world, length)}),
    text(f"POST {_PROJECT}/environments", "name", 1, 64, rest=lambda w: {"slug": w.fresh()}),
    Limit(
        f"POST {_PROJECT}/environments",
        "slug",
        1,
        64,
        lambda world, length: {"name": "e", "slug": _new_slug(world, length)},
        ("ENVIRONMENT_SLUG_MAX",),
    ),
    number(
        f"POST {_PROJECT}/environments", "position", 1, None, rest=lambda w: {"name": "e", "slug": w.fresh()}
    ),
    text(f"PATCH {_PROJECT}/environments/{{environment}}", "name", 1, 64),
    number(f"PATCH {_PROJECT}/environments/{{environment}}", "position", 1, None),
    Limit(f"POST {_PROJECT}/tags", "slug", 1, 64, lambda world, length: {"slug": _new_slug(world, length)}),
    text(f"POST {_PROJECT}/tags", "name", 0, 64, rest=lambda w: {"slug": w.fresh()}),
    text(f"POST {_PROJECT}/tags", "color", 0, 32, rest=lambda w: {"slug": w.fresh()}),
    text(f"PATCH {_PROJECT}/tags/{{tag}}", "name", 0, 64),
    text(f"PATCH {_PROJECT}/tags/{{tag}}", "color", 0, 32),
)

_FOLDERS = (
    Limit(
        "POST /api/v2/folders",
        "name",
        1,
        255,
        lambda world, length: {**world.place, "path": f"/{world.fresh()}", "name": "f" * length},
        ("FOLDER_NAME_MAX",),
    ),
    Limit(
        "POST /api/v2/folders",
        "path",
        0,
        255,
        lambda world, length: {**world.place, "name": world.fresh(), "path": "/" + "g" * length},
    ),
    text("POST /api/v2/folders", "description", 0, 1024, rest=lambda w: {**w.place, "name": w.fresh()}),
    text("GET /api/v2/folders", "path", 0, 2048, "FOLDER_PATH_MAX", rest=_place, make=_path),
    text("GET /api/v2/folders", "path", 0, 64, "FOLDER_DEPTH_MAX", rest=_place, make=lambda n: "/a" * n),
    Limit(
        "POST /api/v2/folders",
        "path",
        0,
        64,
        lambda world, names: {**world.place, "name": world.fresh(), "path": "/a" * max(names - 1, 0)},
    ),
    text(
        "PATCH /api/v2/folders/{folder}",
        "description",
        0,
        1024,
        rest=lambda w: {**w.place, "name": w.fresh()},
    ),
    text("PATCH /api/v2/folders/{folder}", "name", 1, 255, rest=_place, make=_slug),
    items(
        "PATCH /api/v2/folders/batch",
        "folders",
        1,
        100,
        "FOLDERS_BATCH_MAX_ITEMS",
        item=lambda w, _: {"id": w.folder, "environment": "dev", "name": w.fresh()},
        rest=_place,
    ),
    Limit("POST /api/v2/folders", "path", 0, 2048, _folder_at, ("FOLDER_PATH_MAX",)),
    text(
        _IMPORT,
        "path",
        0,
        2048,
        rest=_place,
        make=_path,
        put=lambda path: {"import": {"environment": "staging", "path": path}},
    ),
    text(
        _IMPORT,
        "environment",
        1,
        64,
        rest=_place,
        make=_slug,
        put=lambda slug: {"import": {"environment": slug, "path": "/"}},
        taken=404,
    ),
    text("GET /api/v2/secret-imports", "environment", 1, 64, rest=_place, make=_slug, taken=404),
)

_SECRETS = (
    text(_CREATE, "environment", 1, 64, rest=_value, make=_slug, taken=404),
    text(f"GET {_V4}", "secretPath", 0, 2048, rest=_place, make=_path),
    text(f"GET {_V4}", "secretPath", 0, 64, "FOLDER_DEPTH_MAX", rest=_place, make=lambda n: "/a" * n),
    text(f"GET {_V4}", "environment", 1, 64, rest=_place, make=_slug, taken=404),
    text(f"GET {_V4}", "tagSlugs", 0, 4096, rest=_place, make=_slug),
    text(f"GET {_V4}", "metadataFilter", 0, 16_384, rest=_place, make=lambda n: ("key=" + "k" * n)[:n]),
    number(f"GET {_V4}/{{fresh}}", "version", 1, _INT, rest=_place, taken=404),
    text(
        f"POST {_BATCH}",
        "secretName",
        1,
        512,
        "SECRET_NAME_MAX",
        rest=_place,
        put=lambda key: {"secrets": [{"secretKey": key, "secretValue": "cnry-v"}]},
    ),
    text(_CREATE, "secretValue", 0, 1_048_576, "SECRET_VALUE_MAX_BYTES", rest=_place, make=lambda n: "b" * n),
    text(_CREATE, "secretComment", 0, 4096, "SECRET_COMMENT_MAX", rest=_value),
    text(_CREATE, "secretReminderNote", 0, 1024, "REMINDER_NOTE_MAX", rest=_value),
    number(_CREATE, "secretReminderRepeatDays", 1, 365, rest=_value),
    items(_CREATE, "tagIds", 0, 100, "TAGS_MAX_ITEMS", item=lambda w, i: w.tags[i % 100], rest=_value),
    items(
        _CREATE,
        "secretMetadata",
        0,
        100,
        "METADATA_MAX_ITEMS",
        item=lambda _, i: {"key": f"k{i}", "value": "v"},
        rest=_value,
    ),
    text(_CREATE, "key", 1, 255, rest=_value, put=lambda key: {"secretMetadata": _metadata(key=key)}),
    text(_CREATE, "value", 0, 1020, rest=_value, put=lambda it: {"secretMetadata": _metadata(value=it)}),
    text(_UPDATE, "secretValue", 0, 1_048_576, rest=_place, make=lambda n: "b" * n),
    text(_UPDATE, "secretComment", 0, 4096, rest=_place),
    text(_UPDATE, "secretReminderNote", 0, 1024, rest=_place),
    number(_UPDATE, "secretReminderRepeatDays", 1, 365, rest=_place),
    items(
        _UPDATE,
        "secretReminderRecipients",
        0,
        100,
        "REMINDER_RECIPIENTS_MAX",
        item=lambda _, i: f"{i}@example.com",
        rest=_place,
    ),
    text(
        _UPDATE,
        "secretReminderRecipients",
        0,
        255,
        "REMINDER_RECIPIENT_MAX",
        rest=_place,
        put=lambda one: {"secretReminderRecipients": [one]},
    ),
    items(_UPDATE, "tagIds", 0, 100, item=lambda w, i: w.tags[i % 100], rest=_place),
    items(_UPDATE, "secretMetadata", 0, 100, item=lambda _, i: {"key": f"k{i}"}, rest=_place),
    items(f"POST {_BATCH}", "secrets", 1, 1000, "BATCH_MAX_ITEMS", item=lambda w, _: _batch(w), rest=_place),
    items(
        f"PATCH {_BATCH}",
        "secrets",
        1,
        1000,
        item=lambda w, i: _batch(w, f"UPSERTED{i}"),
        rest=lambda w: {**w.place, "mode": "upsert"},
    ),
    items(
        f"DELETE {_BATCH}",
        "secrets",
        1,
        1000,
        item=lambda _, i: {"secretKey": f"NONE{i}"},
        rest=_place,
        taken=404,
    ),
    items(
        f"POST {_V4}/move",
        "secretIds",
        1,
        1000,
        item=lambda _, i: f"unknown-{i}",
        rest=_transfer,
        taken=404,
    ),
    text(f"POST {_V4}/move", "sourceEnvironment", 1, 64, rest=_transfer, make=_slug, taken=404),
    text(f"POST {_V4}/move", "sourceSecretPath", 0, 2048, rest=_transfer, make=_path, taken=404),
    text(f"POST {_V4}/move", "destinationSecretPath", 0, 2048, rest=_transfer, make=_path, taken=404),
    text(f"POST {_V4}/move", "sourceSecretPath", 0, 64, rest=_transfer, make=lambda n: "/a" * n, taken=404),
    text(
        f"POST {_V4}/move", "destinationSecretPath", 0, 64, rest=_transfer, make=lambda n: "/a" * n, taken=404
    ),
    text(
        f"POST {_V4}/duplicate",
        "destinationEnvironment",
        1,
        64,
        rest=_transfer,
        make=_slug,
        taken=404,
    ),
    text(
        "POST /api/v1/events/subscribe/project-events",
        "environmentSlug",
        1,
        64,
        rest=lambda _: {"projectId": "unknown"},
        make=_slug,
        put=lambda slug: {"register": [_registration(environmentSlug=slug)]},
        taken=404,
    ),
    text(
        "POST /api/v1/events/subscribe/project-events",
        "secretPath",
        0,
        2048,
        rest=lambda _: {"projectId": "unknown"},
        make=_path,
        put=lambda path: {"register": [_registration(environmentSlug="dev", secretPath=path)]},
        taken=404,
    ),
    number("GET /api/v1/secret/{secret}/secret-versions", "offset", 0, _INT),
    number("GET /api/v1/secret/{secret}/secret-versions", "limit", 1, _INT),
)

LIMITS_OF_CONTENTS = (*_PROJECTS, *_FOLDERS, *_SECRETS)
