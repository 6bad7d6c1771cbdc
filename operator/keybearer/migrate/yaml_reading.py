"""Strict and bounded reading of YAML by people we don't know.

Built from the parser's events, never by recursion: depth, nodes and what aliases repeat are counted while they come,
so that neither a bomb of aliases nor a deep nest takes memory or the stack. No error quotes the file: it could hold a
secret.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final, NamedTuple

import yaml
from pydantic import JsonValue

from keybearer.migrate.yaml_scalars import MERGE_KEY, ReadingError, ScalarReader

__all__ = [
    "DEPTH_MAX",
    "DOCUMENTS_MAX",
    "NODES_MAX",
    "TEXT_MAX",
    "ReadingError",
    "Repeats",
    "read_documents",
]

TEXT_MAX: Final = 16 * 1024 * 1024
"""Characters of one file."""
DOCUMENTS_MAX: Final = 20_000
NODES_MAX: Final = 500_000
"""Scalars, lists and mappings of one document, each as often as aliases repeat it."""
DEPTH_MAX: Final = 64
_REPEATED_CHARACTERS_MAX: Final = TEXT_MAX
"""Aliases may bring once more what a file may hold: whoever repeats more than that means a bomb."""
_REPEATED_VALUES_MAX: Final = 2 * NODES_MAX

_Loader: Final = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
"""libyaml's parser where PyYAML was built with it: thirty times as fast."""
_TAG = "tag:yaml.org,2002:"


class _Node(NamedTuple):
    """A value, and how much it is with its aliases as what they stand for."""

    value: JsonValue
    values: int = 1
    characters: int = 0


@dataclass(slots=True)
class Repeats:
    """What aliases may still repeat; one serves all files of a run, so that many small bombs are none together.

    Attributes:
        values: scalars, lists and mappings.
        characters: of scalars.
    """

    values: int = _REPEATED_VALUES_MAX
    characters: int = _REPEATED_CHARACTERS_MAX

    def take(self, node: _Node, line: int) -> None:
        """Count what an alias stands for.

        Raises:
            ReadingError: that is too much.
        """
        self.values -= node.values
        self.characters -= node.characters
        if self.values < 0 or self.characters < 0:
            raise ReadingError(
                f"line {line} repeats by aliases more than {_REPEATED_VALUES_MAX} values or "
                f"{_REPEATED_CHARACTERS_MAX // 1024**2} MiB of text, counted over all files"
            )


@dataclass(slots=True)
class _Open:
    """A list or mapping whose end hasn't come yet."""

    line: int
    anchor: str | None
    mapping: dict[str, JsonValue] | None = None
    items: list[JsonValue] = field(default_factory=list)
    key: str | None = None
    values: int = 1
    characters: int = 0
    merged: list[JsonValue] = field(default_factory=list)
    merges: bool = False


def read_documents(text: str, repeats: Repeats | None = None) -> Iterator[JsonValue]:
    """Yield the documents of a YAML text; empty ones are passed over.

    Args:
        text: of a file.
        repeats: what aliases may repeat, here and in what else is read with it; without it, here alone.

    Raises:
        ReadingError: it is no YAML, or goes beyond a bound. Documents before that were yielded.
    """
    if len(text) > TEXT_MAX:
        raise ReadingError(f"is longer than {TEXT_MAX // 1024**2} MiB")
    documents = 0
    shared = Repeats() if repeats is None else repeats
    events = _events(text)
    for event in events:
        if not isinstance(event, yaml.DocumentStartEvent):
            continue
        documents += 1
        if documents > DOCUMENTS_MAX:
            raise ReadingError(f"has more than {DOCUMENTS_MAX} documents")
        root = _Builder(shared).build(events)
        if root is not None:
            yield root


def _events(text: str) -> Iterator[yaml.Event]:
    try:
        yield from yaml.parse(text, Loader=_Loader)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        where = f"line {mark.line + 1}" if mark is not None else "it"
        raise ReadingError(f"{where} is no YAML") from None
    except UnicodeError:
        raise ReadingError("is no text in UTF-8") from None
    except (
        ValueError,
        OverflowError,
    ):  # PyYAML's own parser, of an escape beyond Unicode or a version of any length
        raise ReadingError("it is no YAML") from None


class _Builder:
    """Makes one document of its events."""

    def __init__(self, repeats: Repeats) -> None:
        self._repeats = repeats
        self._open: list[_Open] = []
        self._anchors: dict[str, _Node] = {}
        self._scalars = ScalarReader()
        self._root: JsonValue = None

    def build(self, events: Iterator[yaml.Event]) -> JsonValue:
        for event in events:
            line = event.start_mark.line + 1 if event.start_mark is not None else 0
            match event:
                case yaml.DocumentEndEvent():
                    break
                case yaml.ScalarEvent():
                    self._add(self._scalar(event, line), event.anchor, line)
                case yaml.AliasEvent():
                    known = self._anchors.get(event.anchor or "")
                    if known is None:
                        raise ReadingError(f"line {line} repeats something that isn't there, or holds itself")
                    self._repeats.take(known, line)
                    self._add(known, None, line)
                case yaml.MappingStartEvent() | yaml.SequenceStartEvent():
                    self._begin(event, line)
                case yaml.MappingEndEvent() | yaml.SequenceEndEvent():
                    self._end()
                case _:
                    pass  # the stream's own, which say nothing
        return self._root

    def _begin(self, event: yaml.MappingStartEvent | yaml.SequenceStartEvent, line: int) -> None:
        if len(self._open) >= DEPTH_MAX:
            raise ReadingError(f"line {line} is nested deeper than {DEPTH_MAX} levels")
        is_mapping = isinstance(event, yaml.MappingStartEvent)
        if event.tag not in (None, f"{_TAG}{'map' if is_mapping else 'seq'}"):
            raise ReadingError(f"line {line} has a tag that manifests have no use for")
        self._open.append(_Open(line, event.anchor, {} if is_mapping else None))

    def _end(self) -> None:
        done = self._open.pop()
        value: JsonValue = done.items
        if done.mapping is not None:
            value = _merged(done)
        self._add(_Node(value, done.values, done.characters), done.anchor, done.line)

    def _add(self, node: _Node, anchor: str | None, line: int) -> None:
        value = node.value
        if anchor is not None:
            # An alias of the key `<<` is a text: only what stands there itself merges.
            self._anchors[anchor] = node._replace(value="<<") if value is MERGE_KEY else node
        if not self._open:
            self._root = value
            return
        outer = self._open[-1]
        outer.values += node.values
        outer.characters += node.characters
        if outer.values > NODES_MAX:
            raise ReadingError(f"line {line} goes beyond {NODES_MAX} values in one document")
        if outer.mapping is None:
            outer.items.append(value)
        elif outer.key is None and not outer.merges:
            self._take_key(outer, value, line)
        elif outer.merges:
            outer.merged.append(value)
            outer.merges = False
        elif outer.key is not None:
            outer.mapping[outer.key] = value
            outer.key = None

    def _take_key(self, outer: _Open, value: JsonValue, line: int) -> None:
        if value is MERGE_KEY:
            outer.merges = True
            return
        if isinstance(value, (dict, list)) or outer.mapping is None:
            raise ReadingError(f"line {line} has a key that is no text")
        # As JSON has it, and so the API server: every key is a text.
        key = value if isinstance(value, str) else _written(value)
        if key in outer.mapping:
            raise ReadingError(f"line {line} has a key for the second time")
        outer.key = key

    def _scalar(self, event: yaml.ScalarEvent, line: int) -> _Node:
        value = self._scalars.read(event, line)
        if value is MERGE_KEY and not self._awaits_key:
            value = event.value
        return _Node(value, characters=len(event.value))

    @property
    def _awaits_key(self) -> bool:
        outer = self._open[-1] if self._open else None
        return outer is not None and outer.mapping is not None and outer.key is None and not outer.merges


def _merged(done: _Open) -> JsonValue:
    """Return a mapping with what it merges; its own keys win, then those that were merged first."""
    own = done.mapping or {}
    if not done.merged:
        return own
    below: dict[str, JsonValue] = {}
    for merged in done.merged:
        for one in merged if isinstance(merged, list) else [merged]:
            if not isinstance(one, dict):
                raise ReadingError(f"line {done.line} merges what is no mapping")
            for name, value in one.items():
                below.setdefault(name, value)
    return {**below, **own}


def _written(value: JsonValue) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return "null" if value is None else str(value)
