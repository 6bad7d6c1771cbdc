"""Foreign manifests, read so that no field is passed over without a word.

A `Part` remembers which of its fields were asked for. What nobody asked for is reported at the end: a field that a
converter doesn't know can't vanish.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pydantic import JsonValue

from keybearer.migrate.findings import Notes

__all__ = ["Part"]

_NAME_MAX = 80
_NO_EQUAL = "Keybearer has no equal of it"


class Part:
    """A mapping of a foreign manifest.

    Args:
        content: the mapping.
        path: where it stands in the manifest.
        notes: of the object; fields of a wrong type are noted there as left out.
    """

    def __init__(self, content: Mapping[str, JsonValue], path: str, notes: Notes) -> None:
        self._content = {name: value for name, value in content.items() if value is not None}
        self.path = path
        self._notes = notes
        self._unread = set(self._content)
        self._parts: dict[str, Part] = {}

    def __contains__(self, name: str) -> bool:
        """Tell whether a field is given."""
        return name in self._content

    def where(self, name: str) -> str:
        """Return the path of a field."""
        shown = name if len(name) <= _NAME_MAX else name[: _NAME_MAX - 1] + "…"
        return f"{self.path}.{shown}" if self.path else shown

    def text(self, name: str) -> str | None:
        """Return a text; None where there is none."""
        found = self._take(name)
        if isinstance(found, str) or found is None:
            return found
        self._refuse(name, "a text")
        return None

    def number(self, name: str) -> int | None:
        """Return a whole number; None where there is none."""
        found = self._take(name)
        if found is None or (isinstance(found, int) and not isinstance(found, bool)):
            return found
        self._refuse(name, "a whole number")
        return None

    def flag(self, name: str) -> bool | None:
        """Return true or false; None where there is neither."""
        found = self._take(name)
        if isinstance(found, bool) or found is None:
            return found
        self._refuse(name, "true or false")
        return None

    def texts(self, name: str) -> list[str]:
        """Return the texts of a list."""
        found = self._list(name)
        texts = [one for one in found if isinstance(one, str)]
        if len(texts) < len(found):
            self._refuse(name, "a list of texts")
        return texts

    def mapping(self, name: str) -> dict[str, str]:
        """Return a mapping of texts, as labels are."""
        found = self._take(name)
        if found is None:
            return {}
        given = found if isinstance(found, dict) else {}
        texts = {key: value for key, value in given.items() if isinstance(value, str)}
        if not isinstance(found, dict) or len(texts) < len(given):
            self._refuse(name, "a mapping of texts")
        return texts

    def part(self, name: str) -> Part | None:
        """Return a mapping within; None where there is none."""
        found = self._take(name)
        if isinstance(found, dict):
            return self._within(found, self.where(name))
        if found is not None:
            self._refuse(name, "a mapping")
        return None

    def parts(self, name: str) -> list[Part]:
        """Return the mappings of a list."""
        found = self._list(name)
        parts = [
            self._within(one, f"{self.where(name)}[{index}]")
            for index, one in enumerate(found)
            if isinstance(one, dict)
        ]
        if len(parts) < len(found):
            self._refuse(name, "a list of mappings")
        return parts

    def parts_by_name(self, name: str) -> dict[str, Part]:
        """Return the mappings of a mapping."""
        outer = self.part(name)
        if outer is None:
            return {}
        found = {key: outer.part(key) for key in outer.names}
        return {key: part for key, part in found.items() if part is not None}

    def raw(self, name: str) -> JsonValue:
        """Return a field of any type, without counting it as read."""
        return self._content.get(name)

    @property
    def names(self) -> tuple[str, ...]:
        """The fields that are given."""
        return tuple(self._content)

    def skip(self, *names: str) -> None:
        """Count fields as read that change nothing."""
        self._unread.difference_update(names)

    def forget(self) -> None:
        """Count everything as read: what becomes of it is said of the whole."""
        self._unread.clear()
        self._parts.clear()

    def leave_out(self, name: str, why: str, remedy: str = "") -> None:
        """Note that a field is not carried, if it is given and says anything."""
        if _says_something(self._content.get(name)):
            self._notes.left_out(self.where(name), why, remedy)
        self._unread.discard(name)

    def report_rest(self, why: str = _NO_EQUAL) -> None:
        """Note as left out what nobody has asked for, here and in what was read within."""
        for name in self._content:
            if name in self._unread and _says_something(self._content[name]):
                self._notes.left_out(self.where(name), why)
        for part in self._parts.values():
            part.report_rest(why)

    def _take(self, name: str) -> JsonValue:
        self._unread.discard(name)
        return self._content.get(name)

    def _list(self, name: str) -> Sequence[JsonValue]:
        found = self._take(name)
        if isinstance(found, list):
            return found
        if found is not None:
            self._refuse(name, "a list")
        return ()

    def _within(self, content: Mapping[str, JsonValue], path: str) -> Part:
        if path not in self._parts:
            self._parts[path] = Part(content, path, self._notes)
        return self._parts[path]

    def _refuse(self, name: str, wanted: str) -> None:
        self._notes.left_out(self.where(name), f"is not {wanted}", "Correct the manifest.")


def _says_something(value: JsonValue) -> bool:
    return value not in (None, "", [], {})
