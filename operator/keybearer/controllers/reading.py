"""The spec and the status of an object of any of our kinds, read from what the watch showed."""

from __future__ import annotations

from typing import TypeVar

from pydantic import ValidationError

from keybearer.controllers.custom_resource import ResourceModel, StatusModel, describe_invalid
from keybearer.controllers.objects import ObservedObject
from keybearer.controllers.outcome import StalledError

__all__ = ["read_spec", "read_status"]

_Spec = TypeVar("_Spec", bound=ResourceModel)
_Status = TypeVar("_Status", bound=StatusModel)


def read_spec(seen: ObservedObject, model: type[_Spec]) -> _Spec:
    """Return the spec.

    Raises:
        StalledError: it can't be read; the message names the fields, never what they hold.
    """
    try:
        return model.model_validate_json(seen.spec_json)
    except ValidationError as error:
        raise StalledError("SpecInvalid", describe_invalid(error)) from None


def read_status(seen: ObservedObject, model: type[_Status]) -> _Status:
    """Return the status; an empty one where there is none that we understand."""
    if seen.status_json == b"null":
        return model()
    try:
        return model.model_validate_json(seen.status_json)
    except ValidationError:
        # Written by an older version, or by a stranger: what it said is found out anew.
        return model()
