"""`dataFrom[].find`: what it looks for, and where.

In a store of the service it lists what the store's scope says, and looks at the names of secrets alone; `path` only
narrows that, to folders whose path begins with it. In other stores an entry's name holds its folders as well, so that
an expression may match them, and the key is made of all of it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Final

from pydantic import JsonValue

from keybearer.migrate.external_secrets.sources import SourceReader
from keybearer.migrate.external_secrets.stores import SourceStore
from keybearer.migrate.fields import Part
from keybearer.migrate.findings import Notes
from keybearer.migrate.key_names import search_pattern

__all__ = ["Found", "read_find"]

_WITHOUT_SLASH: Final = re.compile(
    r"\^(?:[A-Za-z0-9_-]|\\[wd.-]|\[(?:A-Z|a-z|0-9|[A-Za-z0-9_]|\\[wd.-])+-?\]|\((?!\?)|\)|[*+?]|\{[0-9,]+\})*\$"
)
"""Expressions that match names without a slash alone, as a whole: `^DB_[A-Z]+$`."""
_IN_WORDS: Final = "Look at what it finds here, and correct recursive and keys.include."


@dataclass(frozen=True, slots=True)
class Found:
    """The folder that a search goes through, whether with those below, and which keys it takes."""

    folder: str
    is_recursive: bool
    keys: dict[str, JsonValue] = field(default_factory=dict)


def read_find(find: Part, store: SourceStore, reader: SourceReader, notes: Notes) -> Found | None:
    """Return where a source looks, and for which keys; None, and a note, where it can't."""
    name = find.part("name")
    regexp = (name.text("regexp") if name is not None else None) or ""
    pattern = search_pattern(regexp)
    if pattern is None or "/" in regexp:
        notes.left_out(
            find.path,
            "looks for names with slashes, or by a long expression; names of secrets have no slashes",
            "Name the folder by secretPath, and what of it is taken by keys.include.",
        )
        return None
    find.leave_out("tags", "tags of secrets are slugs without values", "Tag the secrets, and give tagSlugs.")
    if (find.text("decodingStrategy") or "None") != "None":
        notes.left_out(
            find.where("decodingStrategy"),
            "is told for each key by name",
            "Give keys.items with decode: Base64.",
        )
    place = (
        _within_scope(find, store, notes)
        if store.is_service
        else _elsewhere(find, regexp, store, reader, notes)
    )
    if place is None:
        return None
    folder, is_recursive = place
    return Found(folder, is_recursive, {} if pattern == "*" else {"include": [pattern]})


def _within_scope(find: Part, store: SourceStore, notes: Notes) -> tuple[str, bool] | None:
    path = find.text("path") or ""
    scope = "/" + store.path.strip("/")
    if scope.startswith(path):
        return store.path, store.recursive
    folder = path.rstrip("/")
    if not store.recursive or not folder.startswith(f"{scope.rstrip('/')}/"):
        below = " and what is below" if store.recursive else " alone"
        notes.left_out(
            find.where("path"),
            f"only narrows what the store lists, which is {scope[:200]}{below}: "
            "it finds nothing, or what that imports from there",
            "If that folder was meant, write a source with it as secretPath.",
        )
        return None
    notes.assumed(
        find.where("path"),
        "takes every folder whose path begins so; this folder and those below it are meant",
        "Write a source for each other folder.",
    )
    return folder, True


def _elsewhere(
    find: Part, regexp: str, store: SourceStore, reader: SourceReader, notes: Notes
) -> tuple[str, bool]:
    path = find.text("path")
    if store.is_flat and path is None:
        return store.path, False
    if path is not None:
        names = [one for one in path.strip("/").split("/") if one]
        folder = reader.folder(store.path, names, find.where("path"))
        notes.assumed(
            find.path,
            "how path narrows names differs by provider; this folder and those below it are read",
            _IN_WORDS,
        )
        return folder, True
    if _WITHOUT_SLASH.fullmatch(regexp):
        return store.path, False
    if regexp.startswith("^") and "|" not in regexp:
        notes.assumed(
            find.path,
            "matches the beginning of an entry's name, folders included; entries that are in no folder are read",
            _IN_WORDS,
        )
        return store.path, False
    notes.assumed(
        find.path,
        "matches an entry's name with its folders, of which the key is made; here it is that of the secret alone",
        _IN_WORDS,
    )
    return store.path, True
