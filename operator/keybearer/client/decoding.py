"""Bodies of answers into values."""

from __future__ import annotations

from typing import Any, TypeVar

import pydantic

from keybearer.client.errors import DecodeError
from keybearer.client.messages import Response, issues_of

__all__ = ["decode"]

T = TypeVar("T")


_adapters: dict[type[Any], pydantic.TypeAdapter[Any]] = {}
"""One for each model of an answer, made when first needed: making one takes about a millisecond."""


def decode(response: Response, model: type[T]) -> T:
    """Return the body as a value of the model.

    Raises:
        DecodeError: no JSON, or not what the model needs; the message names fields, not their content.
    """
    adapter: pydantic.TypeAdapter[T] | None = _adapters.get(model)
    if adapter is None:
        adapter = _adapters[model] = pydantic.TypeAdapter(model)
    try:
        return adapter.validate_json(response.body)
    except pydantic.ValidationError as error:
        problem = issues_of(error)
    # Outside the handler: the text of pydantic's error shows the input, and would travel as context.
    raise DecodeError(f"the answer is not what this interface answers: {problem}")
