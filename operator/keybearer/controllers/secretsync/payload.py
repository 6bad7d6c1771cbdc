"""From values of secrets to the data of a target, judged as the API server will judge it: names, types and size."""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import NoReturn, TypeAlias

from keybearer.base.errors import KeybearerError
from keybearer.controllers.secretsync.reasons import KeyProblem, KeyProblemReason
from keybearer.controllers.secretsync.spec import Decoding
from keybearer.controllers.target.size import VALUES_MAX_BYTES
from keybearer.controllers.target.spec import TargetKind, is_target_key

__all__ = [
    "ExtractError",
    "ExtractFault",
    "JsonReader",
    "Payload",
    "extract_value",
    "judge_payload",
]

_JSON_DEPTH_MAX = 64
_JSON_MAX_CHARS = 4 * 1024 * 1024
"""Of JSON parsed, and of objects and lists written, in one run: 0.3 s at the measured 75 ms for 1 MiB, where a
target takes 1 MiB."""
_BASE64_SPACES = str.maketrans("", "", " \t\r\n")
_Json: TypeAlias = "dict[str, _Json] | list[_Json] | str | bool | None"  # _Number is a str
_ENCODED_MAX_BYTES = 5 * 512 * 1024
"""Of a ConfigMap's texts as JSON. The API server takes requests of 3 MiB (MaxRequestBodyBytes of k8s.io/apiserver);
the rest is room for metadata."""
_ESCAPED = bytes(code for code in range(32) if code not in b"\t\n\r")
_HTML_MARKS = b"<>&"
"""Go escapes these too, by six bytes each, so that what we could write could not be read."""


class ExtractFault(StrEnum):
    """What a value lacks."""

    NOT_JSON = "NotJSON"
    PROPERTY_NOT_FOUND = "PropertyNotFound"
    NOT_BASE64 = "NotBase64"
    NOT_TEXT = "NotText"
    TOO_MUCH_JSON = "TooMuchJSON"


class ExtractError(KeybearerError):
    """A value isn't what the selection says it is; the text can be shown."""

    def __init__(self, fault: ExtractFault, message: str) -> None:
        super().__init__(message)
        self.fault = fault


class _Number(str):
    """A number of a JSON text, as it was written: no digit is lost to a float."""

    __slots__ = ()


class JsonReader:
    """Parses JSON values within one allowance for all; several properties of one value in a row cost it once."""

    def __init__(self, allowance: int = _JSON_MAX_CHARS) -> None:
        self._left = allowance
        self._value: str | None = None
        self._parsed: _Json = None
        self._is_json = False

    def parse(self, value: str) -> _Json:
        """Return what the value holds.

        Raises:
            ExtractError: it is no JSON, or too much of it was read.
        """
        if value != self._value:
            self.charge(len(value))
            self._value, self._parsed, self._is_json = value, None, False
            self._parsed = _parse(value)
            self._is_json = True
        if not self._is_json:
            raise _not_json()
        return self._parsed

    def charge(self, size: int) -> None:
        """Count characters that were written, or are about to be parsed.

        Raises:
            ExtractError: they are too many, all counted.
        """
        self._left -= size
        if self._left < 0:
            raise ExtractError(
                ExtractFault.TOO_MUCH_JSON,
                f"items with a property take more than {_JSON_MAX_CHARS // 1024**2} MiB of JSON, all sources of the "
                "object together; keep such properties as secrets of their own, or split the object",
            )


def extract_value(value: str, json_property: str | None, decode: Decoding, reader: JsonReader) -> bytes:
    """Return the bytes that a key is given: the property is taken first, what it holds is decoded then.

    A text property is taken as it is, a number or boolean as it was written, an object or list as compact
    JSON.

    Args:
        value: of the secret.
        json_property: dotted path of names and list positions; a dot in a name is escaped by a backslash.
        decode: Base64 takes the standard alphabet with padding and ignores white space.
        reader: parses the value.

    Raises:
        ExtractError: the value is no JSON, has no such property, is no Base64, or no valid Unicode, or `reader`
            may read no more.
    """
    text = value if json_property is None else _take_property(reader, value, json_property)
    if decode is Decoding.BASE64:
        try:
            return base64.b64decode(text.translate(_BASE64_SPACES), validate=True)
        except (ValueError, binascii.Error):
            raise ExtractError(
                ExtractFault.NOT_BASE64, "the value is not Base64 (standard alphabet, with padding)"
            ) from None
    try:
        return text.encode()
    except UnicodeEncodeError:
        raise ExtractError(ExtractFault.NOT_TEXT, "the value holds half a surrogate pair") from None


def _take_property(reader: JsonReader, value: str, path: str) -> str:
    document = found = reader.parse(value)
    for step in _split_path(path):
        if isinstance(found, dict) and step in found:
            found = found[step]
        elif isinstance(found, list) and _is_index(step) and int(step) < len(found):
            found = found[int(step)]
        else:
            found = None
        if found is None:
            escaped = path.replace(".", "\\.")
            is_one_name = "." in path and isinstance(document, dict) and path in document
            hint = f"; a name of its own has the dot in it: write property: {escaped}" if is_one_name else ""
            raise ExtractError(
                ExtractFault.PROPERTY_NOT_FOUND, f"the value has no property {path}, or it is null{hint}"
            )
    if isinstance(found, str):
        return str(found)
    parts: list[str] = []
    _write(found, parts, _JSON_DEPTH_MAX)
    written = "".join(parts)
    reader.charge(len(written))
    return written


def _split_path(path: str) -> list[str]:
    steps = [""]
    marks = iter(path)
    for mark in marks:
        if mark == ".":
            steps.append("")
        else:
            steps[-1] += next(marks, mark) if mark == "\\" else mark
    return steps


def _is_index(step: str) -> bool:
    return step.isascii() and step.isdigit() and len(step) < 8


def _parse(value: str) -> _Json:
    try:
        parsed: _Json = json.loads(
            value,
            parse_int=_Number,
            parse_float=_Number,
            parse_constant=_refuse_constant,
            object_pairs_hook=_unique_names,
        )
    except (ValueError, RecursionError):
        # The error's text can repeat the value, and so would its frames: neither is chained.
        raise _not_json() from None
    return parsed


def _not_json() -> ExtractError:
    return ExtractError(
        ExtractFault.NOT_JSON, "the value is not JSON, names a property twice, or is nested too deeply"
    )


def _refuse_constant(_: str) -> NoReturn:
    raise ValueError("NaN and Infinity are no JSON")


def _unique_names(pairs: list[tuple[str, _Json]]) -> dict[str, _Json]:
    members = dict(pairs)
    if len(members) != len(pairs):
        raise ValueError("an object names a property twice")
    return members


def _write(part: _Json, parts: list[str], depth: int) -> None:
    if depth == 0:
        raise ExtractError(
            ExtractFault.NOT_JSON, f"the property is nested deeper than {_JSON_DEPTH_MAX} levels"
        )
    if isinstance(part, _Number):
        parts.append(part)
    elif isinstance(part, dict):
        opening = "{"
        for name, member in part.items():
            parts += (opening, json.dumps(name, ensure_ascii=False), ":")
            _write(member, parts, depth - 1)
            opening = ","
        parts.append("}" if part else "{}")
    elif isinstance(part, list):
        opening = "["
        for member in part:
            parts.append(opening)
            _write(member, parts, depth - 1)
            opening = ","
        parts.append("]" if part else "[]")
    else:
        parts.append(json.dumps(part, ensure_ascii=False))


@dataclass(frozen=True, slots=True)
class Payload:
    """What is written, unless a problem blocks it.

    Attributes:
        data: of a Secret, all keys; of a ConfigMap, those whose bytes are no UTF-8 text (`binaryData`).
        text: of a ConfigMap, the keys of `data`; empty for a Secret.
        problems: each of them blocks; what they speak of is in neither mapping.
    """

    data: Mapping[str, bytes] = field(repr=False)
    text: Mapping[str, str] = field(repr=False)
    problems: tuple[KeyProblem, ...]


def judge_payload(
    kind: TargetKind, secret_type: str, data: Mapping[str, bytes], refs: Mapping[str, str] | None = None
) -> Payload:
    """Return what the target is to hold and every reason why it can't.

    Args:
        kind: of the target.
        secret_type: of a Secret; without meaning for a ConfigMap.
        data: by key; from a selection, a template or both.
        refs: by key, where its value comes from, for the problems.
    """
    refs = refs or {}
    problems = [
        KeyProblem(
            key,
            KeyProblemReason.INVALID_KEY,
            f"{key!r} is no valid key: 1 to 253 letters, digits, dots, hyphens and underscores, not "
            "beginning with ..; rename or exclude it",
            refs.get(key),
        )
        for key in data
        if not is_target_key(key)
    ]
    valid = {key: value for key, value in data.items() if is_target_key(key)} if problems else dict(data)
    size = sum(map(len, data.values()))
    if size > VALUES_MAX_BYTES:
        largest = max(data, key=lambda key: len(data[key]))
        problems.append(
            KeyProblem(
                largest,
                KeyProblemReason.TOO_LARGE,
                f"the values take {size} bytes together and Kubernetes takes {VALUES_MAX_BYTES}; this is "
                "the largest; exclude keys or spread them over several targets",
                refs.get(largest),
            )
        )
    if kind is TargetKind.SECRET:
        problems += _judge_type(secret_type, valid)
        return Payload(valid, {}, tuple(problems))
    text, binary = _split_text(valid)
    problems += _judge_encoded(text, refs)
    return Payload(binary, text, tuple(problems))


def _judge_encoded(text: Mapping[str, str], refs: Mapping[str, str]) -> list[KeyProblem]:
    sizes = {key: _encoded_size(value.encode()) for key, value in text.items()}
    size = sum(sizes.values())
    if size <= _ENCODED_MAX_BYTES:
        return []
    largest = max(sizes, key=lambda key: sizes[key])
    return [
        KeyProblem(
            largest,
            KeyProblemReason.TOO_LARGE,
            f"the values take {size} bytes as JSON, of which Kubernetes takes {_ENCODED_MAX_BYTES} in a ConfigMap; "
            "this is the largest; control characters, < > and & take six bytes each: encode it by b64encode in a "
            "template, write a Secret, or spread the keys over several targets",
            refs.get(largest),
        )
    ]


def _encoded_size(value: bytes) -> int:
    """Return the bytes that a text takes as JSON, as Go writes it."""
    sixfold = len(value) - len(value.translate(None, _ESCAPED + _HTML_MARKS))
    twofold = len(value) - len(value.translate(None, b'"\\\t\n\r'))
    return len(value) + 5 * sixfold + twofold


def _split_text(data: Mapping[str, bytes]) -> tuple[dict[str, str], dict[str, bytes]]:
    text: dict[str, str] = {}
    binary: dict[str, bytes] = {}
    for key, value in data.items():
        try:
            text[key] = value.decode()
        except UnicodeDecodeError:
            binary[key] = value
    return text, binary


def _is_json_object(value: bytes) -> bool:
    try:
        return isinstance(json.loads(value), dict)
    except (ValueError, RecursionError):
        return False


@dataclass(frozen=True, slots=True)
class _TypeDemand:
    """One of `keys` must be there and fit."""

    keys: tuple[str, ...]
    fits: Callable[[bytes], bool] | None = None


_DEMANDS: Mapping[str, tuple[_TypeDemand, ...]] = {
    "kubernetes.io/tls": (_TypeDemand(("tls.crt",)), _TypeDemand(("tls.key",))),
    "kubernetes.io/dockerconfigjson": (_TypeDemand((".dockerconfigjson",), _is_json_object),),
    "kubernetes.io/dockercfg": (_TypeDemand((".dockercfg",), _is_json_object),),
    "kubernetes.io/basic-auth": (_TypeDemand(("username", "password")),),
    "kubernetes.io/ssh-auth": (_TypeDemand(("ssh-privatekey",)),),
}
"""What the API server demands by type (ValidateSecret of kubernetes/pkg/apis/core/validation)."""


def _judge_type(secret_type: str, data: Mapping[str, bytes]) -> list[KeyProblem]:
    problems: list[KeyProblem] = []
    for demand in _DEMANDS.get(secret_type, ()):
        present = [key for key in demand.keys if key in data]
        if not present:
            problems.append(
                KeyProblem(
                    demand.keys[0],
                    KeyProblemReason.MISSING_TYPE_KEY,
                    f"a Secret of type {secret_type} needs the key {' or '.join(demand.keys)}; give it by "
                    "keys.items, keys.rename or a template",
                )
            )
        problems += [
            KeyProblem(
                key,
                KeyProblemReason.INVALID_TYPE_VALUE,
                f"in a Secret of type {secret_type} the key {key} must be a JSON object",
            )
            for key in present
            if demand.fits is not None and not demand.fits(data[key])
        ]
    return problems
