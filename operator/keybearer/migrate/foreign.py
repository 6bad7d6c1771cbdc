"""Objects as they were read, and where to find one that another names."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from pydantic import JsonValue

from keybearer.base.json_reading import mapping_of, text_of, texts_of
from keybearer.migrate.fields import Part
from keybearer.migrate.findings import Notes

__all__ = ["ForeignObject", "Inventory", "Origin", "objects_of"]

_UNNAMED = "unnamed"
_LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration"
"""The object once more, as text: of no use, and with whatever was inline."""
_LISTS_WITHIN = 2


@dataclass(frozen=True, slots=True)
class Origin:
    """Where an object was read.

    Attributes:
        file: its name, or `-`.
        document: its number in the file, from 1.
        api_version: as written.
        kind: as written.
        namespace: empty where the manifest names none.
        name: of the object.
    """

    file: str
    document: int
    api_version: str
    kind: str
    namespace: str
    name: str

    def __str__(self) -> str:
        """Return how reports call it."""
        return f"{self.kind} {self.namespace}/{self.name}" if self.namespace else f"{self.kind} {self.name}"


@dataclass(frozen=True, slots=True)
class ForeignObject:
    """One object of any group.

    Attributes:
        origin: where it was read, and what it is.
        spec: of it; empty where there is none.
        labels: texts alone.
        annotations: likewise, without what kubectl notes there.
        body: all of it.
    """

    origin: Origin
    spec: Mapping[str, JsonValue] = field(repr=False)
    labels: Mapping[str, str]
    annotations: Mapping[str, str] = field(repr=False)
    body: Mapping[str, JsonValue] = field(repr=False)

    @property
    def group(self) -> str:
        """Its API group; empty for the core's."""
        group, slash, _ = self.origin.api_version.rpartition("/")
        return group if slash else ""

    @property
    def kind(self) -> str:
        """Its kind."""
        return self.origin.kind

    @property
    def namespace(self) -> str:
        """Its namespace; empty where the manifest names none."""
        return self.origin.namespace

    @property
    def name(self) -> str:
        """Its name."""
        return self.origin.name

    def read(self, notes: Notes) -> Part:
        """Return its spec, to be read field by field."""
        return Part(self.spec, "spec", notes)


def objects_of(document: JsonValue, file: str, number: int, *, depth: int = 0) -> Iterator[ForeignObject]:
    """Yield the objects of a document: itself, or the items of a List as kubectl prints them."""
    if not isinstance(document, dict):
        return
    api_version, kind = document.get("apiVersion"), document.get("kind")
    items = document.get("items")
    if isinstance(kind, str) and kind.endswith("List") and isinstance(items, list) and depth < _LISTS_WITHIN:
        for item in items:
            yield from objects_of(item, file, number, depth=depth + 1)
        return
    if not isinstance(api_version, str) or not isinstance(kind, str):
        return
    about = mapping_of(document.get("metadata"))
    name = text_of(about.get("name")) or text_of(about.get("generateName")).rstrip("-") or _UNNAMED
    annotations = texts_of(about.get("annotations"))
    annotations.pop(_LAST_APPLIED, None)
    yield ForeignObject(
        Origin(file, number, api_version, kind, text_of(about.get("namespace")), name),
        mapping_of(document.get("spec")),
        texts_of(about.get("labels")),
        annotations,
        document,
    )


class Inventory:
    """All objects that were read together."""

    def __init__(self, objects: Iterable[ForeignObject]) -> None:
        self._objects = tuple(objects)
        self._places: dict[tuple[str, str, str, str], ForeignObject] = {}
        for one in self._objects:
            self._places.setdefault((one.group, one.kind, one.namespace, one.name), one)

    def __iter__(self) -> Iterator[ForeignObject]:
        """Yield them in the order they were read."""
        return iter(self._objects)

    def find(self, group: str, kind: str, namespace: str, name: str) -> ForeignObject | None:
        """Return an object; one without a namespace counts as being in any, as manifests are often written."""
        for where in (namespace, ""):
            found = self._places.get((group, kind, where, name))
            if found is not None:
                return found
        if namespace:
            return None
        alike = [one for one in self._objects if (one.group, one.kind, one.name) == (group, kind, name)]
        return alike[0] if len(alike) == 1 else None
