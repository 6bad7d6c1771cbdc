"""Queries read into wire models: unknown keys ignored, empty values absent (wire.md section 0)."""

from __future__ import annotations

from typing import TypeVar
from urllib.parse import parse_qsl

from fastapi.exceptions import RequestValidationError
from pydantic import BaseModel, ValidationError
from starlette.requests import Request

from keybearer.server.errors import BadRequestError

__all__ = ["parameters_of", "query_of"]

_Model = TypeVar("_Model", bound=BaseModel)
_MAX_FIELDS = 100


def query_of(request: Request, model: type[_Model]) -> _Model:
    """Return the query as the model; of a key that is given twice the last value counts.

    Raises:
        RequestValidationError: a value has a form that the model forbids.
        BadRequestError: there are too many fields.
    """
    raw: bytes = request.scope["query_string"]
    try:
        pairs = parse_qsl(raw.decode("latin-1"), max_num_fields=_MAX_FIELDS)
    except ValueError as error:
        raise BadRequestError(f"The query has more than {_MAX_FIELDS} fields") from error
    try:
        return model.model_validate(dict(pairs))
    except ValidationError as error:
        issues = error.errors(include_url=False, include_input=False)
        raise RequestValidationError(
            [{**issue, "loc": ("query", *issue["loc"])} for issue in issues]
        ) from error


def parameters_of(model: type[BaseModel]) -> dict[str, object]:
    """Return OpenAPI's description of a query that `query_of` reads."""
    schema = model.model_json_schema(by_alias=True)
    shared = schema.get("$defs", {})
    required = schema.get("required", [])
    return {
        "parameters": [
            {"name": name, "in": "query", "required": name in required, "schema": _inlined(shape, shared)}
            for name, shape in schema["properties"].items()
        ]
    }


def _inlined(shape: dict[str, object], shared: dict[str, dict[str, object]]) -> dict[str, object]:
    """Return the schema of a parameter without references, also within a choice: they would lead out of it all."""
    choice = shape.get("anyOf")
    if isinstance(choice, list):
        shape = {**shape, "anyOf": [_inlined(one, shared) for one in choice]}
    reference = shape.get("$ref")
    if not isinstance(reference, str):
        return shape
    rest = {key: value for key, value in shape.items() if key != "$ref"}
    return {**shared[reference.rpartition("/")[2]], **rest}
