"""What answers are made of: frozen dataclasses that are read leniently, and a strict model of each.

A field has the type that a reader gets, and says with its annotation what the service sends:

    id: str                      always there; without it the answer isn't one of this interface
    name: Text = ""              always sent by our service; absent or null elsewhere, and then empty
    color: NullText = ""         null where there is none; a reader gets an empty text
    position: Number = None      always sent by our service; None where others leave it out
    created_at: Instant = ""     ISO 8601 in UTC with milliseconds and `Z`
    roles: Several[Role] = ()    a list; absent or null elsewhere, and then empty
    parent_id: str | None = None may be absent

`Annotated[kind, Sent(other)]` says the same of any other kind. Fields of commands have marks of their own.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import MISSING, Field, dataclass, fields
from types import UnionType
from typing import (
    Annotated,
    Any,
    ClassVar,
    Generic,
    TypeVar,
    Union,
    get_args,
    get_origin,
    get_type_hints,
)

import pydantic
from pydantic import BeforeValidator, ConfigDict, create_model
from pydantic.alias_generators import to_camel
from pydantic.fields import FieldInfo

from keybearer.wire.base import WireInstant, WireModel

__all__ = [
    "Envelope",
    "Flag",
    "Instant",
    "NullText",
    "Number",
    "OrOlder",
    "Sent",
    "Several",
    "Shape",
    "Text",
    "Within",
    "content_field",
    "content_of",
    "marked",
    "model_of",
    "strict",
    "wire_names",
]

T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)
_UNIONS = (Union, UnionType)
# Type checkers say that such types can't be keys of `functools.cache`.
_strict: dict[type[object], type[WireModel]] = {}
_annotations: dict[type[object], dict[str, object]] = {}


@dataclass(frozen=True, slots=True)
class Sent:
    """What the service sends for a field, where readers get something simpler."""

    kind: object


@dataclass(frozen=True, slots=True)
class OrOlder:
    """Marks a text of a command that bodies and queries may also give by an older word.

    Attributes:
        word: the older one.
        missing: what is answered, with status 400, to a caller who gives neither.
    """

    word: str
    missing: str


@dataclass(frozen=True, slots=True)
class Within:
    """Marks fields of a command that are in a part of the body.

    Attributes:
        name: the field of the body that holds the part.
        model: the part's name in the documentation.
        description: of the part, there.
    """

    name: str
    model: str
    description: str


def _null_as(empty: object) -> BeforeValidator:
    return BeforeValidator(lambda given: empty if given is None else given)


Text = Annotated[str, _null_as(""), Sent(str)]
NullText = Annotated[str, _null_as(""), Sent(str | None)]
Instant = Annotated[str, _null_as(""), Sent(WireInstant)]
Flag = Annotated[bool, _null_as(empty=False), Sent(bool)]
Number = Annotated[int | None, Sent(int)]
Several = Annotated[tuple[T, ...], _null_as(())]


class Shape:
    """Base of all parts of answers. Spelling on the wire is camelCase, unknown fields are ignored.

    Attributes:
        described_as: its name in the documentation, if that isn't the class's.
    """

    __slots__ = ()
    described_as: ClassVar[str] = ""
    __pydantic_config__: ClassVar[ConfigDict] = ConfigDict(
        alias_generator=to_camel, extra="ignore", hide_input_in_errors=True
    )


class Envelope(Shape, Generic[T_co]):
    """An answer that holds what was asked for in its field of the given type; the client returns that field alone."""

    __slots__ = ()


def content_of(answer: type[object]) -> object:
    """Return the type of what an envelope holds, and of any other answer the answer itself."""
    return get_args(vars(answer)["__orig_bases__"][0])[0] if issubclass(answer, Envelope) else answer


def content_field(envelope: type[Envelope[Any]]) -> str:
    """Return the name of the field that holds what an envelope is about.

    Raises:
        ValueError: none or several have its type.
    """
    (name,) = (name for name, kind in _hints(envelope).items() if _bare(kind) == content_of(envelope))
    return name


def wire_names(shape: type[object]) -> dict[str, str]:
    """Return the names on the wire of a dataclass's fields, by their names in Python and in their order."""
    hints = _hints(shape)
    return {field.name: _alias(hints[field.name]) or to_camel(field.name) for field in _fields(shape)}


def strict(shape: type[object]) -> type[WireModel]:
    """Return the model of exactly what the service sends for a shape, always the same one; documentation shows it."""
    if shape not in _strict:
        _strict[shape] = _strictly(shape)
    return _strict[shape]


def _strictly(shape: type[object]) -> type[WireModel]:
    hints = _hints(shape)
    return _model(
        shape,
        {field.name: (_sent(hints[field.name]), _sent_default(field, hints)) for field in _fields(shape)},
    )


def model_of(
    shape: type[object], names: tuple[str, ...], base: type[WireModel] = WireModel
) -> type[WireModel]:
    """Return a model of some fields of a dataclass, with their bounds and defaults and the base's rules."""
    hints, older, within = _hints(shape), marked(shape, OrOlder), marked(shape, Within)
    definitions: dict[str, Any] = {}
    parts: dict[Within, dict[str, Any]] = {part: {} for part in within.values()}
    for field in _fields(shape):
        name, definition = field.name, (_listed(hints[field.name]), _default(field))
        if name in within:
            parts[within[name]][name] = definition
            definitions[within[name].name] = ...  # its place among the others
        elif name in names and name in older:
            definitions |= dict.fromkeys((name, older[name].word), (str | None, None))
        elif name in names:
            definitions[name] = definition
    for part, own in parts.items():
        made: Any = create_model(
            part.model, __base__=base, __module__=shape.__module__, __doc__=part.description, **own
        )
        definitions[part.name] = (made, ...)
    return _model(shape, definitions, base)


def marked(command: type[object], mark: type[T]) -> dict[str, T]:
    """Return those fields of a command that have a mark of this class, by name, each with its mark."""
    marks = ((name, one) for name, kind in _hints(command).items() for one in get_args(kind)[1:])
    return {name: one for name, one in marks if isinstance(one, mark)}


def _listed(kind: object) -> object:
    """Return the annotation of a body's field for that of a command's, which has tuples where JSON has lists."""
    return _rebuilt(kind, _listed)


def _model(
    shape: type[object], definitions: dict[str, Any], base: type[WireModel] = WireModel
) -> type[WireModel]:
    told, _, _ = (shape.__doc__ or "").partition("\n\n    Attributes:")  # of Python's names
    made: type[WireModel] = create_model(
        getattr(shape, "described_as", "") or shape.__name__,
        __base__=base,
        __module__=shape.__module__,
        __doc__=told,
        **definitions,
    )
    return made


def _hints(shape: type[object]) -> dict[str, object]:
    """Return the annotations of a dataclass's fields, by name."""
    if shape not in _annotations:
        _annotations[shape] = get_type_hints(shape, include_extras=True)
    return _annotations[shape]


def _fields(shape: type[object]) -> tuple[Field[object], ...]:
    if "__dataclass_fields__" not in vars(shape):
        raise TypeError(f"{shape.__name__} is no dataclass")
    return fields(shape)  # type: ignore[arg-type] # it was just looked at


def _default(field: Field[object]) -> object:
    if field.default_factory is not MISSING:
        return pydantic.Field(default_factory=field.default_factory)
    if isinstance(field.default, tuple):
        return list(field.default)  # as JSON has it
    return ... if field.default is MISSING else field.default


def _sent(kind: object) -> object:
    """Return the annotation of what the service sends for a field of this annotation."""
    origin, arguments = get_origin(kind), get_args(kind)
    if origin is Annotated:
        told = next((one.kind for one in arguments[1:] if isinstance(one, Sent)), None)
        inner = _sent(arguments[0]) if told is None else _exact(told)
        rest = tuple(one for one in arguments[1:] if isinstance(one, FieldInfo))
        return Annotated[(inner, *rest)] if rest else inner
    return _rebuilt(_exact(kind), _sent)


def _exact(kind: object) -> object:
    return strict(kind) if isinstance(kind, type) and issubclass(kind, Shape) else kind


def _bare(kind: object) -> object:
    return get_args(kind)[0] if get_origin(kind) is Annotated else kind


def _rebuilt(kind: object, of_part: Callable[[object], object]) -> object:
    """Return an annotation with each of its parts replaced, and a list for a tuple."""
    origin, arguments = get_origin(kind), get_args(kind)
    if origin is Annotated:
        return Annotated[(of_part(arguments[0]), *arguments[1:])]
    if origin in (tuple, list):
        return list[of_part(arguments[0])]  # type: ignore[misc] # made at run time
    return Union[tuple(map(of_part, arguments))] if origin in _UNIONS else kind  # noqa: UP007 - made at run time


def _sent_default(field: Field[object], hints: dict[str, object]) -> object:
    """Return the default of a field that the service may leave out; a reader's default says nothing of that."""
    return None if get_origin(hints[field.name]) in _UNIONS else ...


def _alias(kind: object) -> str | None:
    marks = get_args(kind)[1:] if get_origin(kind) is Annotated else ()
    return next((one.alias for one in marks if isinstance(one, FieldInfo) and one.alias), None)
