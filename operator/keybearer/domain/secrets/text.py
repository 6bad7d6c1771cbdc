"""What a secret may be called and what happens to its value on the way in (wire.md section 2.4)."""

from __future__ import annotations

import re

from keybearer.domain.errors import InvalidError, SchemaViolationError
from keybearer.wire.limits import HIDDEN_VALUE, SECRET_NAME_MAX, SECRET_VALUE_MAX_BYTES
from keybearer.wire.secret_names import NEW_NAME_SIGNS

__all__ = ["NO_SEPARATORS", "checked_name", "checked_new_name", "checked_size", "checked_value"]

NO_SEPARATORS = "Secret name cannot contain colon or forward slash."
"""The text of wire.md section 2.4."""

# What JavaScript's `trim` takes away, which the published service uses; Python's set is another one.
_WHITE = (
    "\t\n\v\f\r \u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a"
    "\u2028\u2029\u202f\u205f\u3000\ufeff"
)

_NEW_NAME = re.compile(NEW_NAME_SIGNS)


def checked_name(text: str, *, field: str) -> str:
    """Return the trimmed name.

    Raises:
        SchemaViolationError: it is empty, too long, or holds what no name may.
    """
    name = text.strip(_WHITE)
    if not name:
        raise SchemaViolationError("Secret name cannot be empty.", field=field)
    if ":" in name or "/" in name:
        raise SchemaViolationError(NO_SEPARATORS, field=field)
    if len(text) > SECRET_NAME_MAX:
        raise SchemaViolationError(f"Secret name has at most {SECRET_NAME_MAX} characters.", field=field)
    if "\0" in name:
        raise SchemaViolationError("Secret name cannot contain a NUL character.", field=field)
    return name


def checked_new_name(text: str, *, field: str) -> str:
    """Return the trimmed name of a new secret; those that are there already may have an older, wider form.

    Raises:
        SchemaViolationError: as for `checked_name`, or a sign in it leads who reads or exports it astray.
    """
    name = checked_name(text, field=field)
    if not _NEW_NAME.fullmatch(name):
        raise SchemaViolationError(
            "Secret name cannot contain an equals sign, control or invisible characters, or white space but simple "
            "blanks.",
            field=field,
        )
    return name


def checked_value(text: str) -> str:
    """Return the value as it is stored: trimmed, but for one trailing newline.

    Raises:
        SchemaViolationError: it is too large.
        InvalidError: it is the mask that stands for a hidden value; storing it would lose the real one.
    """
    value = text.strip(_WHITE)
    if value == HIDDEN_VALUE:
        raise InvalidError("The value is the mask of a hidden value; send the real one, or none")
    if text.endswith("\n"):
        value += "\n"
    checked_size(value)
    return value


def checked_size(value: str) -> None:
    """Let pass a value that is not too large.

    Raises:
        SchemaViolationError: it is.
    """
    if len(value.encode()) > SECRET_VALUE_MAX_BYTES:
        raise SchemaViolationError(
            f"Secret value has at most {SECRET_VALUE_MAX_BYTES} bytes.", field="secretValue"
        )
