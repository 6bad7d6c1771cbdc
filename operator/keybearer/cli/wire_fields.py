"""Fields in the service's own spelling, as people write them: credentials in JSON, settings as NAME=TEXT."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import orjson

from keybearer.base.errors import ConfigurationError
from keybearer.cli.own_credentials import OwnCredential
from keybearer.cli.private_input import private_text

if TYPE_CHECKING:
    from pydantic import JsonValue

__all__ = ["credentials_of", "fields_of", "rows_of"]


def credentials_of(file: Path | None) -> dict[str, JsonValue]:
    """Return the credentials of a connection: a JSON object from a file, the environment or a hidden prompt.

    Raises:
        ConfigurationError: it is no such object; the message doesn't show it.
        CommandError: there is none, and nobody to ask.
    """
    text = private_text("JSON of the credentials", variable=OwnCredential.APP_CREDENTIALS, file=file)
    try:
        found: JsonValue = orjson.loads(text)
    except orjson.JSONDecodeError:
        found = None
    if isinstance(found, dict) and found:
        return found
    # Outside the handler: the error holds the text.
    raise ConfigurationError(
        'the credentials are no JSON object of fields, such as {"clientId": "...", "clientSecret": "..."}'
    )


def fields_of(option: str, given: Iterable[str] | None) -> dict[str, JsonValue]:
    """Return fields that are given as NAME=TEXT or NAME:=JSON.

    Raises:
        ConfigurationError: one is neither, or comes twice.
    """
    fields: dict[str, JsonValue] = {}
    for word in given or ():
        left, equals, text = word.partition("=")
        name = left.removesuffix(":")
        if not (equals and name):
            raise ConfigurationError(f"{option} {word!r} is neither NAME=TEXT nor NAME:=JSON")
        if name in fields:
            raise ConfigurationError(f"{option} {name} comes twice")
        try:
            fields[name] = text if name == left else orjson.loads(text)
        except orjson.JSONDecodeError as error:
            raise ConfigurationError(f"{option} {name}: {text!r} is no JSON") from error
    return fields


def rows_of(fields: Mapping[str, JsonValue]) -> Iterator[tuple[str, str]]:
    """Yield names and contents as a table shows them: a text as it is, all else as JSON."""
    for name, value in fields.items():
        yield name, value if isinstance(value, str) else orjson.dumps(value).decode()
