"""Secrets in files: .env, JSON and YAML, each read as it is written here.

Reading is strict, and its errors name lines and keys, never values. All values are text. A number or a boolean of
JSON or YAML becomes the text that the file has for it: `5432`, `1.10`, `true`, and in YAML `no` and `0123`. A null, a
list and a mapping are refused, because several texts could be meant.
"""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Iterable, Mapping
from enum import StrEnum
from pathlib import Path

import orjson

from keybearer.base.errors import ConfigurationError

__all__ = ["FileFormat", "format_of", "no_text", "read_secrets", "write_secrets"]

_ENV_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_.-]*")
"""Shells source such files too: whatever else stood there could be a command."""
_ENV_PLAIN = re.compile(r"[A-Za-z0-9_./:@%+,-]*")
_ENV_SINGLE = re.compile(r"(?:[^'\\\0]|\\(?![\\'])(?!\Z))*")
"""In single quotes shells take all as it is; readers of .env make one of two backslashes, and escape quotes."""
_ENV_DOUBLE = re.compile(r"(?:[^$`\"\\\x00-\x1f\x7f-\x9f]|\n)*")
"""In double quotes shells expand, and readers of .env know escapes: only what neither touches."""
_SUFFIXES = {".env": "env", ".json": "json", ".yaml": "yaml", ".yml": "yaml"}


class FileFormat(StrEnum):
    """How a file holds secrets."""

    ENV = "env"
    JSON = "json"
    YAML = "yaml"


def format_of(file: Path, given: FileFormat | None) -> FileFormat:
    """Return the format that was given, or the one that the file's name tells.

    Raises:
        ConfigurationError: neither says.
    """
    if given is not None:
        return given
    if file.name == ".env" or file.name.startswith(".env."):
        return FileFormat.ENV
    told = _SUFFIXES.get(file.suffix)
    if told is None:
        raise ConfigurationError(f"the name {file.name!r} tells no format; say --format env, json or yaml")
    return FileFormat(told)


def read_secrets(text: str, form: FileFormat) -> dict[str, str]:
    """Return names and values.

    Raises:
        ConfigurationError: it isn't of that form, a name comes twice, or a value is a null, a list or a mapping.
    """
    read = {FileFormat.ENV: _read_env, FileFormat.JSON: _read_json, FileFormat.YAML: _read_yaml}[form]
    secrets: dict[str, str] = {}
    for name, value in read(text.removeprefix("\ufeff")):
        if name in secrets:
            raise ConfigurationError(f"{name!r} comes twice; keep one of them")
        secrets[name] = value
    return secrets


def write_secrets(secrets: Mapping[str, str], form: FileFormat) -> str:
    """Return the text of a file that reads as these secrets.

    Raises:
        ConfigurationError: the form can't hold one of the names or values.
    """
    write: Callable[[Mapping[str, str]], str] = {
        FileFormat.ENV: _write_env,
        FileFormat.JSON: _write_json,
        FileFormat.YAML: _write_yaml,
    }[form]
    return write(secrets)


def _read_env(text: str) -> Iterable[tuple[str, str]]:
    from dotenv.parser import parse_stream

    # As it is: the reader would else make one of all kinds of line ends, also within values.
    for binding in parse_stream(io.StringIO(text, newline="")):
        if binding.error:
            raise ConfigurationError(
                f"line {binding.original.line} is no NAME=VALUE, or a quote isn't closed"
            )
        if binding.key is None:
            continue
        if binding.value is None:
            raise ConfigurationError(
                f"line {binding.original.line}: {binding.key!r} has no value; write NAME="
            )
        yield binding.key, binding.value


def _write_env(secrets: Mapping[str, str]) -> str:
    if unfit := [name for name in secrets if not _ENV_NAME.fullmatch(name)]:
        raise _unfit_for_env("the name", unfit)
    quoted = {name: _env_value(value) for name, value in secrets.items()}
    if unfit := [name for name, value in quoted.items() if value is None]:
        raise _unfit_for_env("the value of", unfit)
    return "".join(f"{name}={value}\n" for name, value in quoted.items())


def _unfit_for_env(what: str, names: list[str]) -> ConfigurationError:
    listed = ", ".join(map(repr, names[:5])) + (" and others" if len(names) > 5 else "")
    return ConfigurationError(
        f"no .env file can hold {what} {listed} so that shells and other readers read the same; "
        "use --format json or yaml"
    )


def _env_value(value: str) -> str | None:
    """Return the value as shells and readers of .env both read it, or None where no form does."""
    if _ENV_PLAIN.fullmatch(value):
        return value
    if _ENV_SINGLE.fullmatch(value):
        return f"'{value}'"
    return f'"{value}"' if _ENV_DOUBLE.fullmatch(value) else None


def _read_json(text: str) -> Iterable[tuple[str, str]]:
    import json

    try:
        # Numbers stay the texts that they are: 1.10 is a version, and 0.1 no fraction of two.
        content = json.loads(text, object_pairs_hook=tuple, parse_int=str, parse_float=str)
    except (json.JSONDecodeError, RecursionError) as error:
        where = f": line {error.lineno}" if isinstance(error, json.JSONDecodeError) else ""
        problem = f"the file is no JSON{where}"
    else:
        if not isinstance(content, tuple):
            raise ConfigurationError("the file must hold one JSON object of names and texts")
        yield from map(_text_pair, content)
        return
    # Outside the handler: the error holds the text.
    raise ConfigurationError(problem)


def _text_pair(pair: tuple[str, object]) -> tuple[str, str]:
    name, value = pair
    match value:
        case str():
            return name, value
        case bool():
            return name, "true" if value else "false"
        case None:
            raise no_text(f"{name!r}", "null")
        case list():
            raise no_text(f"{name!r}", "a list")
        case tuple():
            raise no_text(f"{name!r}", "an object")
        case _:
            raise ConfigurationError(f"{name!r} is no JSON value; put it into quotes")


def no_text(name: str, what: str) -> ConfigurationError:
    """Return the refusal of a value that has no text of its own.

    Args:
        name: of the secret, as the message shall have it.
        what: the value is; `null`, or a word with its article.
    """
    if what == "null":
        return ConfigurationError(f'{name} is null; write "" for an empty value, or leave the name out')
    return ConfigurationError(
        f"{name} is {what}, and a secret is one text; give each value in it a name of its own, or put it into "
        "quotes as JSON"
    )


def _write_json(secrets: Mapping[str, str]) -> str:
    return orjson.dumps(dict(secrets), option=orjson.OPT_INDENT_2).decode() + "\n"


def _read_yaml(text: str) -> Iterable[tuple[str, str]]:
    from keybearer.cli.yaml_secrets import read_yaml

    return read_yaml(text)


def _write_yaml(secrets: Mapping[str, str]) -> str:
    from keybearer.cli.yaml_secrets import write_yaml

    return write_yaml(secrets)
