"""What the API server would make of a manifest, without it being stored: server-side apply as a dry run."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final
from urllib.parse import urlencode

import orjson
from pydantic import JsonValue

from keybearer.kube.connection import Connection, Request
from keybearer.kube.documents import named, parse_object
from keybearer.kube.exchange import Exchange
from keybearer.kube.resources import JsonObject, ObjectKey, Resource

__all__ = ["dry_run_apply"]

_APPLY_FOR_OBJECT: Final = {"Accept": "application/json", "Content-Type": "application/apply-patch+yaml"}


async def dry_run_apply(
    connection: Connection,
    resource: Resource,
    key: ObjectKey,
    body: Mapping[str, JsonValue],
    *,
    manager: str,
    force: bool,
) -> JsonObject:
    """Return the object as it would be after a server-side apply; nothing is stored.

    Args:
        connection: to the API server.
        resource: its kind; of ours, whose objects hold no values.
        key: its name; written into the body, as are apiVersion and kind.
        body: the manifest.
        manager: the field manager that would apply.
        force: whether it would take over fields that others own.

    Raises:
        ConflictError: without force, fields have other owners; `causes` names them.
        InvalidError: the API server doesn't take the manifest; `fields` names where.
        KubeError: any other of its kinds.
    """
    query = {"fieldManager": manager, "fieldValidation": "Strict", "dryRun": "All"}
    target = f"{resource.path(key)}?{urlencode(query | ({'force': 'true'} if force else {}))}"
    request = Request("PATCH", target, _APPLY_FOR_OBJECT, orjson.dumps(named(resource, key, body)))
    answer = await Exchange(connection, max_in_flight=1).ask(f"dry run of {resource.kind} {key}", request)
    return parse_object(answer.body)
