"""Which fields of an object differ from what they were. Pure; shows no value of any."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from pydantic import JsonValue

from keybearer.base.json_reading import text_of

__all__ = ["by_name", "changed_fields"]


def changed_fields(before: JsonValue, after: JsonValue, path: str = "spec") -> Iterator[str]:
    """Yield the paths of what differs, each with whether it is new or gone; never what stands there."""
    if isinstance(before, dict) and isinstance(after, dict):
        yield from _changed_parts(before, after, f"{path}.", "")
        return
    named_before, named_after = by_name(before), by_name(after)
    if named_before is not None and named_after is not None:
        yield from _changed_parts(named_before, named_after, f"{path}[", "]")
    elif before != after:
        yield path


def _changed_parts(
    before: Mapping[str, JsonValue], after: Mapping[str, JsonValue], opened: str, closed: str
) -> Iterator[str]:
    for name in dict.fromkeys((*before, *after)):
        place = f"{opened}{name}{closed}"
        if name not in before:
            yield f"{place} (new)"
        elif name not in after:
            yield f"{place} (gone)"
        else:
            yield from changed_fields(before[name], after[name], place)


def by_name(value: JsonValue) -> dict[str, JsonValue] | None:
    """Return the items of a list by their names; None where it is no list of items that all have one of their own."""
    if not isinstance(value, list) or not value:
        return None
    named: dict[str, JsonValue] = {text_of(one.get("name")): one for one in value if isinstance(one, dict)}
    return named if len(named) == len(value) and "" not in named else None
