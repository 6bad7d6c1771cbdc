"""The filters of templates: few, and each gives the same output for the same input.

What Jinja2 brings is taken by name: nothing random (each render would be a change to write), nothing for HTML,
no access to attributes by a computed name. Python's own text methods (`split`, `removeprefix`, ...) are there too.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import json
from collections.abc import Callable, Mapping
from typing import Any
from urllib.parse import quote as percent_encode

import yaml
from jinja2.filters import FILTERS as JINJA_FILTERS

from keybearer.controllers.template.filter_names import TAKEN_FILTERS

__all__ = ["FILTERS", "FilterError"]


class FilterError(Exception):
    """A filter can't take what it was given; carries the name of the filter and nothing else."""


def _bytes(value: object, name: str) -> bytes:
    if isinstance(value, bytes):
        return value
    if isinstance(value, str):
        return value.encode()
    raise FilterError(name)


def _text(value: object, name: str) -> str:
    if not isinstance(value, str):
        raise FilterError(name)
    return value


def _b64encode(value: object) -> str:
    """Return Base64 of a text's UTF-8, or of a binary secret."""
    return base64.b64encode(_bytes(value, "b64encode")).decode()


def _b64decode(value: object) -> str | bytes:
    """Return the text that Base64 stands for; where it is no UTF-8 text, its bytes."""
    compact = "".join(_text(value, "b64decode").split())
    try:
        decoded = base64.b64decode(compact, validate=True)
    except (ValueError, binascii.Error):
        raise FilterError("b64decode") from None
    try:
        return decoded.decode()
    except UnicodeDecodeError:
        return decoded


def _sha256(value: object) -> str:
    """Return the SHA-256 of a text's UTF-8, or of a binary secret, as 64 hexadecimal digits."""
    return hashlib.sha256(_bytes(value, "sha256")).hexdigest()


def _tojson(value: object, indent: int | None = None) -> str:
    """Return JSON as programs read it; unlike Jinja2's, without escapes for HTML."""
    separators = (",", ":") if indent is None else (",", ": ")
    try:
        return json.dumps(value, ensure_ascii=False, indent=indent, separators=separators, allow_nan=False)
    except (TypeError, ValueError):
        raise FilterError("tojson") from None


def _fromjson(value: object) -> Any:  # noqa: ANN401 - whatever JSON holds
    try:
        return json.loads(_text(value, "fromjson"))
    except ValueError:
        raise FilterError("fromjson") from None


def _toyaml(value: object) -> str:
    """Return YAML in block style, without the line break at its end."""
    try:
        written: str = yaml.safe_dump(value, sort_keys=False, allow_unicode=True, default_flow_style=False)
    except yaml.YAMLError:
        raise FilterError("toyaml") from None
    # A bare scalar is followed by the end of its document.
    return written.removesuffix("\n").removesuffix("\n...")


def _fromyaml(value: object) -> Any:  # noqa: ANN401 - whatever YAML holds
    try:
        return yaml.safe_load(_text(value, "fromyaml"))
    except (yaml.YAMLError, ValueError):
        raise FilterError("fromyaml") from None


def _quote(value: object) -> str:
    """Return the text in double quotes, with the escapes that JSON, YAML and .env files share."""
    return json.dumps(_text(value, "quote"), ensure_ascii=False)


def _urlencode(value: object) -> str:
    """Return the text as one part of a URL; unlike Jinja2's, `/` is encoded: it may stand in a password."""
    return percent_encode(_bytes(value, "urlencode"), safe="")


def _pem_blocks(value: object, label: str = "") -> list[str]:
    """Return the PEM blocks (RFC 7468) whose label ends with `label`, in order, each with its line break.

    `CERTIFICATE` takes certificates, `PRIVATE KEY` private keys of any form.
    """
    blocks: list[str] = []
    lines: list[str] | None = None
    for line in _text(value, "pem_blocks").splitlines():
        stripped = line.strip()
        if stripped.startswith("-----BEGIN ") and stripped.endswith("-----"):
            lines = []
        if lines is not None:
            lines.append(stripped)
            if stripped.startswith("-----END ") and stripped.endswith("-----"):
                if stripped.removeprefix("-----END ").removesuffix("-----").endswith(label):
                    blocks.append("\n".join(lines) + "\n")
                lines = None
    return blocks


FILTERS: Mapping[str, Callable[..., Any]] = {
    **{name: JINJA_FILTERS[name] for name in TAKEN_FILTERS},
    "b64decode": _b64decode,
    "b64encode": _b64encode,
    "fromjson": _fromjson,
    "fromyaml": _fromyaml,
    "pem_blocks": _pem_blocks,
    "quote": _quote,
    "sha256": _sha256,
    "tojson": _tojson,
    "toyaml": _toyaml,
    "urlencode": _urlencode,
}
