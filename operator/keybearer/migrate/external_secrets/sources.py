"""The sources of a SecretSync while an ExternalSecret is read: stores, folders, and who reads."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from pydantic import JsonValue

from keybearer.base.json_reading import list_of, mapping_of
from keybearer.migrate.contents import Contents, printed_secret
from keybearer.migrate.external_secrets.stores import SourceStore, StoreRef, at_place, source_store
from keybearer.migrate.findings import Notes
from keybearer.migrate.folders import folder_of
from keybearer.migrate.foreign import ForeignObject
from keybearer.migrate.settings import Place
from keybearer.migrate.surroundings import Surroundings

__all__ = ["SourceReader", "Sources"]


@dataclass(slots=True)
class Sources:
    """The sources of one SecretSync, in the order in which later ones win."""

    found: list[dict[str, JsonValue]] = field(default_factory=list)
    identities: dict[str, str] = field(default_factory=dict)
    """Secrets of the manifests that say who reads, and the fields that led there."""
    to_fill: list[tuple[Place, dict[str, JsonValue]]] = field(default_factory=list)
    """The folders of other stores' contents, and the source of each."""

    @property
    def spec(self) -> dict[str, JsonValue]:
        """`source`, or `sources` where there are several."""
        return {"source": self.found[0]} if len(self.found) == 1 else {"sources": list(self.found)}

    def add(
        self, store: SourceStore, folder: str, keys: Mapping[str, JsonValue], *, recursive: bool = False
    ) -> None:
        """Add a source."""
        source: dict[str, JsonValue] = {**store.base, "secretPath": folder}
        if folder == "/":
            del source["secretPath"]
        if recursive:
            source["recursive"] = True
        if keys:
            source["keys"] = dict(keys)
        self.found.append(source)
        if not store.is_service:
            place = Place(str(store.base["projectSlug"]), str(store.base["environment"]), folder)
            self.to_fill.append((place, source))

    def note_contents(self, namespace: str, secret: str | None, notes: Notes) -> None:
        """Note what must be in the folders of other stores' contents.

        Args:
            namespace: of the object.
            secret: the Secret that the other operator writes, if it has the values as they are read; None if not.
            notes: of the object.
        """
        for place, source in self.to_fill:
            items = list_of(mapping_of(source.get("keys")).get("items"))
            named = _names_of(items)
            printed_by = ""
            if secret is not None and named is not None:
                printed_by = printed_secret(namespace, secret, named)
            elif secret is not None and not items and self._is_all_of_it(source):
                printed_by = printed_secret(namespace, secret)
            names = [str(one["key"]) for one in items if isinstance(one, dict)]
            notes.reads(Contents(place, tuple(dict.fromkeys(names)), printed_by))

    def _is_all_of_it(self, source: Mapping[str, JsonValue]) -> bool:
        """Tell whether a Secret holds what this source gives, and nothing else, under the names of the source."""
        keys = source.get("keys")
        is_renamed = isinstance(keys, dict) and "rename" in keys
        return len(self.found) == 1 and "recursive" not in source and not is_renamed


def _names_of(items: Sequence[JsonValue]) -> dict[str, str] | None:
    """Return the keys of a Secret by the names of the secrets that they were; None where the Secret lacks one.

    It has another value where an item takes a property of it, or decodes it.
    """
    found: dict[str, str] = {}
    for item in items:
        if not isinstance(item, dict) or "property" in item or "decode" in item:
            return None
        name = str(item["key"])
        found.setdefault(name, str(item.get("as", name)))
    return found or None


class SourceReader:
    """Reads one ExternalSecret."""

    def __init__(self, one: ForeignObject, around: Surroundings, notes: Notes) -> None:
        self._one = one
        self._around = around
        self._notes = notes
        self._stores: dict[tuple[str, str], SourceStore] = {}
        self._folders: dict[str, list[str]] = {}
        self.sources = Sources()

    def store(self, ref: StoreRef | None, field_path: str) -> SourceStore | None:
        """Return where the contents of a store are; None, and a note, where no store is named."""
        if ref is None:
            place = self._around.settings.store(self._one.namespace, "")
            if place is None:
                self._notes.left_out(field_path, "names no store", "Name one in spec.secretStoreRef.")
                return None
            self._notes.assumed(field_path, f"names no store; {place} is assumed, as for all others")
            return at_place(place)
        if ref.kind not in ("SecretStore", "ClusterSecretStore"):
            self._notes.left_out(ref.field, "is no store")
            return None
        key = (ref.kind, ref.name)
        if key not in self._stores:
            self._stores[key] = source_store(self._around, self._one, ref, self._notes)
        store = self._stores[key]
        if store.identity is not None:
            self.sources.identities[store.identity] = store.identity_field
        return store

    def entry(self, store: SourceStore, key: str, field_path: str) -> tuple[str, str]:
        """Return folder and name of an entry."""
        if store.is_service and key.startswith("/"):
            parts, base = key.strip("/").split("/"), ""
        else:
            parts, base = key.strip("/").split("/"), store.path.rstrip("/")
        *folders, name = [part for part in parts if part] or [key]
        return self.folder(base, folders, field_path), name

    def folder(self, base: str, names: list[str], field_path: str) -> str:
        """Return a folder below another one; two that get one name are noted."""
        folder = folder_of(base, names, field_path, self._notes)
        if self._folders.setdefault(folder, names) != names:
            self._notes.assumed(
                field_path,
                f"another entry is read from the folder {folder[:253]} as well, because hyphens replace characters",
                "Give each a folder of its own, and correct secretPath.",
            )
        return folder
