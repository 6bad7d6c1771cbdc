"""Answers: records of the store, seen as shapes of the interface and written as JSON.

A `View` is made once for each shape and record. It takes the attributes that have the names of the shape's fields.
Whatever the record calls by another name, or doesn't have, is given by a function.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import fields
from datetime import datetime
from operator import attrgetter
from typing import TYPE_CHECKING, Any, Generic, TypeVar, get_type_hints

import orjson

from keybearer.interface.shapes import Envelope, Shape, content_field, wire_names
from keybearer.wire.base import write_instant

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

__all__ = ["View", "Writer", "writer_of"]

Record = TypeVar("Record", bound="DataclassInstance")
Writer = Callable[[Any], bytes]
Given = Mapping[str, Callable[[Any], object]]
_NOTHING: Given = {}


class View(Generic[Record]):
    """How records of one class are seen as one shape.

    Args:
        shape: of the interface.
        record: of the store.
        given: by names of the shape's fields, what gives them where the record has no such attribute.
        within: the field of the record that holds the attributes, where it isn't the record itself.

    Raises:
        TypeError: nothing gives a field of the shape.
    """

    def __init__(
        self, shape: type[Shape], record: type[Record], given: Given = _NOTHING, *, within: str = ""
    ) -> None:
        holder = get_type_hints(record)[within] if within else record
        has = {field.name: f"{within}.{field.name}" if within else field.name for field in fields(holder)}
        names = wire_names(shape)
        if missing := names.keys() - has.keys() - given.keys():
            raise TypeError(f"{record.__name__} has no {', '.join(sorted(missing))} for {shape.__name__}")
        self._getters = tuple(
            (name, given.get(field) or attrgetter(has[field])) for field, name in names.items()
        )

    def __call__(self, record: Record) -> dict[str, object]:
        """Return the shape's fields by their names on the wire, in their order."""
        return {name: get(record) for name, get in self._getters}


def writer_of(
    answer: type[Any], view: View[Any], given: Mapping[str, Callable[[Any], object] | str] = _NOTHING
) -> Writer:
    """Return what writes a result as the answer.

    Args:
        answer: an envelope, which holds the result or the results; or the view's own shape.
        view: how one result is seen.
        given: what gives the other fields of the envelope, from the whole result; or their text.

    Raises:
        TypeError: nothing gives a field of the envelope.
    """
    if not issubclass(answer, Envelope):
        return lambda result: _dumped(view(result))

    def seen(result: object) -> object:
        return [view(one) for one in result] if isinstance(result, Iterable) else view(result)

    givers = {**given, content_field(answer): seen}
    names = wire_names(answer)
    if missing := names.keys() - givers.keys():
        raise TypeError(f"nothing gives {', '.join(sorted(missing))} of {answer.__name__}")
    getters = tuple((name, _giver(givers[field])) for field, name in names.items())
    return lambda result: _dumped({name: get(result) for name, get in getters})


def _giver(given: Callable[[Any], object] | str) -> Callable[[Any], object]:
    return (lambda _: given) if isinstance(given, str) else given


def _dumped(content: object) -> bytes:
    return orjson.dumps(content, _written, orjson.OPT_PASSTHROUGH_DATETIME)


def _written(value: object) -> str:
    """Return the text for a value that the encoder has no form for: all our instants have the same."""
    if isinstance(value, datetime):
        return write_instant(value)
    raise TypeError(f"{type(value).__name__} has no form on the wire")
