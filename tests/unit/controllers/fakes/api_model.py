"""As much of the API server's merging as plans rely on; the real one is asked in the integration tests."""

from __future__ import annotations

import copy
from typing import Any

from unit.controllers.fakes.targets import Body

__all__ = ["applied", "at", "contested", "merge_patched", "updated"]

_SECTIONS = (("data",), ("binaryData",), ("metadata", "labels"), ("metadata", "annotations"))


def merge_patched(body: Any, patch: Any) -> Any:  # noqa: ANN401 - RFC 7396 works on any JSON
    """Return the body after a merge patch (RFC 7396)."""
    if not isinstance(patch, dict):
        return patch
    whole: Body = dict(body) if isinstance(body, dict) else {}
    for name, value in patch.items():
        if value is None:
            whole.pop(name, None)
        else:
            whole[name] = merge_patched(whole.get(name), value)
    return whole


def updated(body: Body, written: Body, manager: str) -> Body:
    """Return the body with its record of who wrote what of its data and metadata (`managedFields`).

    Args:
        body: after a create or a patch.
        written: the body that was sent.
        manager: by whom.
    """
    entries: list[Body] = body["metadata"].setdefault("managedFields", [])
    own = next(
        (one for one in entries if (one["manager"], one.get("operation")) == (manager, "Update")), None
    )
    if own is None:
        own = {"manager": manager, "operation": "Update", "fieldsV1": {}}
        entries.append(own)
    for path in _SECTIONS:
        owned_at = tuple(f"f:{step}" for step in path)
        sent, there = written, body
        for step in path:
            sent, there = sent.get(step) or {}, there.get(step) or {}
        fields = at(own["fieldsV1"], *owned_at)
        fields.update({f"f:{name}": {} for name in sent})
        for name in [name for name in fields if name[2:] not in there]:
            del fields[name]
    return body


def applied(body: Body, wanted: Body, manager: str) -> Body:
    """Return the body after a server-side apply: what the manager owned and names no longer is gone."""
    whole: Body = copy.deepcopy(body)
    entries = whole["metadata"].setdefault("managedFields", [])
    own = (manager, "Apply")
    before: Body = next(
        (one["fieldsV1"] for one in entries if (one["manager"], one.get("operation")) == own), {}
    )
    others = [one for one in entries if (one["manager"], one.get("operation")) != own]
    fields: Body = {}
    for path in _SECTIONS:
        owned_at = tuple(f"f:{step}" for step in path)
        shared = {name for one in others for name in at(one["fieldsV1"], *owned_at)}
        for name in at(before, *owned_at).keys() - shared:
            at(whole, *path).pop(name[2:], None)
        at(fields, *owned_at).update({f"f:{name}": {} for name in at(wanted, *path)})
        for one in others:  # a value that we change is ours alone from now on
            for name, value in at(wanted, *path).items():
                if at(whole, *path).get(name, value) != value:
                    at(one["fieldsV1"], *owned_at).pop(f"f:{name}", None)
    for section, other in (("data", "binaryData"), ("binaryData", "data")):  # a key is in one of the two only
        for name in wanted.get(section, {}):
            at(whole, other).pop(name, None)
    references = [
        *whole["metadata"].get("ownerReferences", []),
        *wanted["metadata"].get("ownerReferences", []),
    ]
    whole = merge_patched(whole, {name: part for name, part in wanted.items() if name != "status"})
    whole["metadata"]["ownerReferences"] = list({one["uid"]: one for one in references}.values())
    whole["metadata"]["managedFields"] = [
        *others,
        {"manager": manager, "operation": "Apply", "fieldsV1": fields},
    ]
    return whole


def contested(body: Body, wanted: Body, manager: str) -> list[tuple[str, str]]:
    """Return managers and fields that an apply without force would take from them."""
    found = []
    for path in _SECTIONS:
        there, owned_at = at(body, *path), tuple(f"f:{step}" for step in path)
        for one in body["metadata"].get("managedFields", []):
            for name, value in at(wanted, *path).items():
                is_theirs = one["manager"] != manager and f"f:{name}" in at(one["fieldsV1"], *owned_at)
                if is_theirs and there.get(name) != value:
                    found.append((one["manager"], f".{'.'.join(path)}.{name}"))
    return found


def at(body: Body, *path: str) -> dict[str, Any]:
    """Return the map at the path, made where there is none."""
    for step in path:
        body = body.setdefault(step, {})
    return body
