"""`data` and `dataFrom` of an ExternalSecret as sources of a SecretSync.

In a store of another provider, an entry from which properties are taken stands for a folder, and each property for a
secret in it; an entry that is taken as it is stands for one secret. A store of the service is read as it is.
"""

from __future__ import annotations

import re

from pydantic import JsonValue

from keybearer.migrate.external_secrets.find import read_find
from keybearer.migrate.external_secrets.sources import SourceReader, Sources
from keybearer.migrate.external_secrets.stores import SourceStore, StoreRef, store_ref
from keybearer.migrate.fields import Part
from keybearer.migrate.findings import NotCarriedError, Notes
from keybearer.migrate.foreign import ForeignObject
from keybearer.migrate.key_names import rename_of_regexp, rename_of_template
from keybearer.migrate.surroundings import Surroundings

__all__ = ["read_sources"]

_QUERY_MARKS = frozenset('*?#|@[]{}"!')
"""What properties of gjson may hold beyond names, dots and backslashes."""
_VERSION = re.compile("[0-9]{1,10}")


def read_sources(spec: Part, one: ForeignObject, around: Surroundings, notes: Notes) -> Sources:
    """Return where a SecretSync reads what an ExternalSecret reads.

    Raises:
        NotCarriedError: nothing is read from any store.
    """
    reader = SourceReader(one, around, notes)
    default = store_ref(spec)
    for part in spec.parts("dataFrom"):
        _read_many(part, default, reader, notes)
    # What data names wins over what dataFrom finds, as a later source does.
    items: dict[tuple[str, str], tuple[SourceStore, list[JsonValue]]] = {}
    for part in spec.parts("data"):
        _read_one(part, default, reader, notes, items)
    for (_, folder), (store, found) in items.items():
        reader.sources.add(store, folder, {"include": [], "items": found})
    if not reader.sources.found:
        raise NotCarriedError("spec", "reads nothing that Keybearer could read", "See the other findings.")
    return reader.sources


def _source_ref(part: Part, default: StoreRef | None, notes: Notes) -> tuple[StoreRef | None, bool]:
    """Return the store of one entry, and whether there is a generator instead."""
    source = part.part("sourceRef")
    if source is None:
        return default, False
    if "generatorRef" in source:
        source.skip("generatorRef")
        notes.left_out(
            source.where("generatorRef"),
            "Keybearer generates nothing in the cluster",
            "Keep what is generated as a secret of the service, or leave this part to its operator.",
        )
        return None, True
    return store_ref(source, "storeRef") or default, False


def _read_one(
    part: Part,
    default: StoreRef | None,
    reader: SourceReader,
    notes: Notes,
    items: dict[tuple[str, str], tuple[SourceStore, list[JsonValue]]],
) -> None:
    ref, is_generated = _source_ref(part, default, notes)
    remote = part.part("remoteRef")
    target_key = part.text("secretKey")
    key = remote.text("key") if remote is not None else None
    if is_generated or remote is None or key is None or target_key is None:
        return
    store = reader.store(ref, part.path)
    if store is None:
        return
    prop = remote.text("property")
    item: dict[str, JsonValue] = {}
    if prop and not store.is_service:
        steps = _property_steps(prop)
        if steps is None:
            notes.left_out(
                remote.where("property"), "is a query, not a path of names", "Keep the result as a secret."
            )
            return
        if len(steps) > 1 and "\\" not in prop:
            notes.assumed(
                remote.where("property"),
                f"is either one name with dots, {prop[:200]}, or a path in the JSON of {steps[0][:200]}; "
                "the path is taken",
                f"If it is one name, write key: {prop[:200]}, without property.",
            )
        folder, name = reader.entry(store, f"{key.strip('/')}/-", remote.where("key"))[0], steps[0]
        prop = ".".join(_escaped(step) for step in steps[1:])
    else:
        folder, name = reader.entry(store, key, remote.where("key"))
    item["key"] = name
    if target_key != name:
        item["as"] = target_key
    if prop:
        item["property"] = prop
    _decode(remote, item, notes)
    _version(remote, item, store, notes)
    _judge_remote(remote)
    place = items.setdefault((repr(store.base), folder), (store, []))
    place[1].append(item)


def _read_many(part: Part, default: StoreRef | None, reader: SourceReader, notes: Notes) -> None:
    ref, is_generated = _source_ref(part, default, notes)
    extract, find = part.part("extract"), part.part("find")
    if is_generated:
        part.skip("rewrite")
        return
    store = reader.store(ref, part.path) if extract is not None or find is not None else None
    if store is None:
        return
    keys: dict[str, JsonValue] = {}
    rename = _rename(part)
    if extract is not None:
        folder = _extracted(extract, store, reader, notes)
        if folder is None:
            return
        recursive = False
    else:
        found = read_find(find, store, reader, notes) if find is not None else None
        if found is None or find is None:
            return
        _judge_remote(find)
        folder, recursive, keys = found.folder, found.is_recursive, found.keys
    if rename is not None:
        keys["rename"] = [rename]
    reader.sources.add(store, folder, keys, recursive=recursive)


def _extracted(extract: Part, store: SourceStore, reader: SourceReader, notes: Notes) -> str | None:
    key = extract.text("key")
    if key is None:
        return None
    if store.is_service:
        notes.left_out(
            extract.path,
            "takes all properties of one JSON value, which a SecretSync does by name only",
            "Keep the properties as secrets of a folder, or name each: keys.items with property.",
        )
        return None
    extract.leave_out("property", "is taken whole", "Make a folder of that property alone.")
    extract.leave_out("version", "versions of another store are not imported", "The newest is taken.")
    if (extract.text("decodingStrategy") or "None") != "None":
        notes.left_out(
            extract.where("decodingStrategy"),
            "is told for each key by name",
            "Give keys.items with decode: Base64.",
        )
    _judge_remote(extract)
    return reader.entry(store, f"{key.strip('/')}/-", extract.where("key"))[0]


def _rename(part: Part) -> JsonValue:
    rewrites = part.parts("rewrite")
    if not rewrites:
        return None
    rule: JsonValue = None
    regexp, transform = rewrites[0].part("regexp"), rewrites[0].part("transform")
    if len(rewrites) > 1:
        why = "several rewritings run one after the other, and of ours the first that matches is the only one"
    elif regexp is not None:
        rule = rename_of_regexp(regexp.text("source") or "", regexp.text("target") or "")
        why = "replaces within names, where our rules match a name as a whole"
    elif transform is not None:
        rule = rename_of_template(transform.text("template") or "")
        why = "computes names by a template"
    else:
        why = "merges entries"
    if rule is None:
        part.leave_out("rewrite", why, "Write keys.rename, or name the keys in keys.items.")
        for rewrite in rewrites:
            rewrite.forget()
    return rule


def _decode(remote: Part, item: dict[str, JsonValue], notes: Notes) -> None:
    strategy = remote.text("decodingStrategy") or "None"
    if strategy == "Base64":
        item["decode"] = "Base64"
    elif strategy != "None":
        notes.left_out(
            remote.where("decodingStrategy"),
            f"{strategy[:20]} has no equal: Base64 of the standard alphabet is decoded, or nothing",
            "Say decode: Base64 if the value is Base64; else keep it decoded.",
        )


def _version(remote: Part, item: dict[str, JsonValue], store: SourceStore, notes: Notes) -> None:
    version = remote.text("version")
    if version is None:
        return
    if store.is_service and _VERSION.fullmatch(version):
        item["version"] = int(version)
    else:
        notes.left_out(
            remote.where("version"),
            "versions of another store are not imported",
            "The newest is taken; pin a version of the service by keys.items[].version.",
        )


def _judge_remote(remote: Part) -> None:
    """Take what is as we do it anyway, and leave the rest to be reported."""
    usual = {"conversionStrategy": "Default", "metadataPolicy": "None", "nullBytePolicy": "Ignore"}
    for name, default in usual.items():
        if remote.text(name) not in (None, default):
            remote.leave_out(name, "has no equal")


def _property_steps(prop: str) -> list[str] | None:
    """Return the names of a dotted path; None for a query."""
    if not _QUERY_MARKS.isdisjoint(prop):
        return None
    steps = [step.replace("\\.", ".") for step in re.split(r"(?<!\\)\.", prop)]
    return steps if all(steps) and not any("\\" in step for step in steps) else None


def _escaped(step: str) -> str:
    return step.replace("\\", "\\\\").replace(".", "\\.")
