"""Limits of secret syncs (interface.md sections 2.1 and 8, wire.md 3.2 to 3.5), of each destination as well.

The connection is never there: a request within the limits is answered 404, and none makes a sync.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from support.limit_cases import Limit, World, text
from support.remotes.example import example_of
from support.sync_bodies import CONFIGS, OVERWRITING, WRITTEN, new_sync

__all__ = ["LIMITS_OF_SYNCS"]

_UNKNOWN = "00000000-0000-4000-8000-000000000000"
_KEY = "{{secretKey}}"
_ID_MAX = 2**53 - 1
_SELECTED = {"scope": "organization", "org": "o", "visibility": "selected"}


def _ascii(length: int) -> str:
    return "a" * length


def _url(length: int) -> str:
    # What is shorter is no URL, which is refused for that.
    return "https://a".ljust(length, "a")


def _path(length: int) -> str:
    return ("/" + "a" * length)[:length]


def _within_slashes(length: int) -> str:
    return "/".join(["", "a" * (length - 2), ""]) if length > 1 else "/"[:length]


def _sync(destination: str, **changes: object) -> Callable[[World], Mapping[str, Any]]:
    return lambda world: new_sync(destination, world.project.id, _UNKNOWN, **changes)


def _field(
    name: str, low: int, high: int, *constants: str, make: Callable[[int], str] | None = None
) -> Limit:
    """Return the limit of a field that every sync has."""
    return text(
        "POST /api/v1/secret-syncs/codehost",
        name,
        low,
        high,
        *constants,
        rest=_sync("codehost"),
        make=make,
        taken=404,
    )


def _of(destination: str, part: str, name: str, low: int, high: int, make: Callable[[int], object]) -> Limit:
    """Return the limit of an option, or of a field of the configuration; `make` makes what stands beside the rest."""
    rest = OVERWRITING if part == "syncOptions" else CONFIGS[destination]

    def fields(world: World, measure: int) -> Mapping[str, Any]:
        made = make(measure)
        beside = made if isinstance(made, dict) else {name: made}
        return new_sync(destination, world.project.id, _UNKNOWN, **{part: {**rest, **beside}})

    return Limit(f"POST /api/v1/secret-syncs/{destination}", name, low, high, fields, taken=404)


def _tagged(destination: str) -> tuple[Limit, ...]:
    def option(name: str, low: int, high: int, make: Callable[[int], object]) -> Limit:
        return _of(destination, "syncOptions", name, low, high, make)

    return (
        option("keyId", 1, 256, _ascii),
        option("tags", 0, 50, lambda count: [{"key": f"k{one}", "value": "v"} for one in range(count)]),
        option("key", 1, 128, lambda length: {"tags": [{"key": _ascii(length), "value": "v"}]}),
        option("value", 0, 256, lambda length: {"tags": [{"key": "k", "value": _ascii(length)}]}),
    )


def _schema(length: int) -> dict[str, str]:
    # Of no character: without one.
    return {"keySchema": _KEY.ljust(length, "a")} if length else {}


LIMITS_OF_SYNCS = (
    _field("name", 1, 256, "SYNC_NAME_MAX", make=_ascii),
    _field("description", 0, 256, "SYNC_DESCRIPTION_MAX"),
    _field("environment", 1, 64, make=_ascii),
    _field("secretPath", 1, 2048, make=_path),
    Limit(
        "POST /api/v1/secret-syncs/codehost",
        "keySchema",
        0,
        255,
        lambda world, length: new_sync(
            "codehost", world.project.id, _UNKNOWN, syncOptions={**OVERWRITING, **_schema(length)}
        ),
        ("KEY_SCHEMA_MAX",),
        taken=404,
    ),
    *_tagged("cloud-parameter-store"),
    *_tagged("cloud-secrets-manager"),
    _of("cloud-parameter-store", "destinationConfig", "path", 1, 2048, _within_slashes),
    _of(
        "cloud-secrets-manager",
        "destinationConfig",
        "secretName",
        1,
        256,
        lambda length: {"mappingBehavior": "many-to-one", "secretName": _ascii(length)},
    ),
    Limit(
        "POST /api/v1/secret-syncs/codehost",
        "selectedRepositoryIds",
        0,
        _ID_MAX,
        lambda world, number: new_sync(
            "codehost",
            world.project.id,
            _UNKNOWN,
            destinationConfig={**_SELECTED, "selectedRepositoryIds": [number]},
        ),
        taken=404,
        is_number=True,
    ),
    _of("hashicorp-vault", "destinationConfig", "mount", 1, 128, _ascii),
    _of("hashicorp-vault", "destinationConfig", "path", 1, 128, _ascii),
    _of("external-infisical", "destinationConfig", "projectId", 1, 64, _ascii),
    _of("external-infisical", "destinationConfig", "environment", 1, 64, _ascii),
    _of("external-infisical", "destinationConfig", "secretPath", 1, 2048, _path),
    _of("gcp-secret-manager", "destinationConfig", "projectId", 1, 128, _ascii),
    _of("azure-key-vault", "destinationConfig", "vaultBaseUrl", 0, 512, _url),
    _of("gitlab", "destinationConfig", "targetEnvironment", 0, 255, _ascii),
    *(
        _of(name, "destinationConfig", field, low, high, _ascii)
        for name in CONFIGS
        if name not in WRITTEN
        for field, low, high in example_of(name).config_limits
    ),
)
