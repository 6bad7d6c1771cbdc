"""The spec and the status of an object of any of our kinds, read from what the watch showed."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import TypeVar, cast, get_args

import orjson
from pydantic import JsonValue, TypeAdapter, ValidationError
from pydantic.alias_generators import to_camel
from pydantic.fields import FieldInfo

from keybearer.base.json_reading import mapping_of
from keybearer.controllers.custom_resource import STORED, ResourceModel, StatusModel, describe_invalid
from keybearer.controllers.objects import ObjectStore, ObservedObject
from keybearer.controllers.outcome import StalledError

__all__ = ["latest_status", "read_spec", "read_spec_in_part", "read_status"]

_Spec = TypeVar("_Spec", bound=ResourceModel)
_Status = TypeVar("_Status", bound=StatusModel)


def read_spec(seen: ObservedObject, model: type[_Spec]) -> _Spec:
    """Return the spec.

    Raises:
        StalledError: it can't be read; the message names the fields, never what they hold.
    """
    try:
        return model.model_validate_json(seen.spec_json, context=STORED)
    except ValidationError as error:
        raise StalledError("SpecInvalid", describe_invalid(error)) from None


def read_spec_in_part(seen: ObservedObject, model: type[_Spec], needed: Collection[str] = ()) -> _Spec:
    """Return the spec; of one that can't be read as a whole, what can be read of it, and defaults for the rest.

    For the end of an object only: a version that is stricter than the one that took the spec must be able to clean
    up.

    Args:
        seen: the object.
        model: of its spec. A field without a default that is not needed must not be looked at.
        needed: fields that must not be guessed: each was read, or is not given and has a default.

    Raises:
        StalledError: a field that is needed can't be read; the message names the fields, never what they hold.
    """
    try:
        return read_spec(seen, model)
    except StalledError as error:
        given = mapping_of(orjson.loads(seen.spec_json))
        read = _readable(model, given)
        fields = model.model_fields
        if any(
            name not in read.model_fields_set
            and (fields[name].is_required() or given.get(_alias(name, fields[name])) is not None)
            for name in needed
        ):
            raise error from None
    return cast("_Spec", read)


def _readable(model: type[ResourceModel], given: Mapping[str, JsonValue]) -> ResourceModel:
    """Return what can be read of a part, field by field, whatever the rules across its fields."""
    read: dict[str, object] = {}
    for name, field in model.model_fields.items():
        value = given.get(_alias(name, field))
        if value is None:
            continue
        try:
            read[name] = TypeAdapter[object](field.rebuild_annotation()).validate_python(value)
        except ValidationError:
            part = _part_of(field.annotation)
            if part is not None and isinstance(value, Mapping):
                read[name] = _readable(part, value)
    return model.model_construct(set(read), **read)


def _alias(name: str, field: FieldInfo) -> str:
    return field.alias or to_camel(name)


def _part_of(annotation: object) -> type[ResourceModel] | None:
    """Return the model of a field that is a part with a default for each of its fields; None for others."""
    for one in (annotation, *get_args(annotation)):
        if isinstance(one, type) and issubclass(one, ResourceModel):
            is_optional = not any(field.is_required() for field in one.model_fields.values())
            return one if is_optional else None
    return None


def read_status(seen: ObservedObject, model: type[_Status]) -> _Status:
    """Return the status; an empty one where there is none that we understand."""
    if seen.status_json == b"null":
        return model()
    try:
        return model.model_validate_json(seen.status_json)
    except ValidationError:
        # Written by an older version, or by a stranger: what it said is found out anew.
        return model()


def latest_status(objects: ObjectStore, seen: ObservedObject, previous: _Status) -> _Status:
    """Return the status of before a run, or what the run itself has noted there.

    Args:
        objects: what is known of all objects.
        seen: the object as the run began with it.
        previous: the status that it had then.
    """
    current = objects.get(seen.key)
    if current is None or current.uid != seen.uid or current.status_json == seen.status_json:
        return previous
    return read_status(current, type(previous))
