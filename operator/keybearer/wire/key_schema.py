"""keySchema: how keys are named in a destination (wire.md section 3.4). Pure."""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass

__all__ = ["KEY_PLACEHOLDER", "KEY_SCHEMA_PATTERN", "KeyNaming", "check_key_schema", "may_be_of"]

KEY_PLACEHOLDER = "{{secretKey}}"
_ENVIRONMENT_PLACEHOLDER = "{{environment}}"
_LETTERS = "[A-Za-z0-9_/-]*"
_AROUND = re.compile(_LETTERS)
_KEY, _ENVIRONMENT = r"\{\{secretKey\}\}", r"\{\{environment\}\}"
KEY_SCHEMA_PATTERN = (
    f"^{_LETTERS}(({_ENVIRONMENT}{_LETTERS})?{_KEY}|{_KEY}{_LETTERS}{_ENVIRONMENT}){_LETTERS}$"
)
"""What `check_key_schema` takes, as a regular expression: for descriptions, which can't run a function."""


def check_key_schema(text: str) -> str:
    """Return a key schema that can be used.

    Raises:
        ValueError: it has not exactly one `{{secretKey}}`, `{{environment}}` twice, or something else around them.
    """
    around = text.replace(KEY_PLACEHOLDER, "", 1).replace(_ENVIRONMENT_PLACEHOLDER, "", 1)
    if KEY_PLACEHOLDER not in text or not _AROUND.fullmatch(around):
        raise ValueError(
            "Key schema must include exactly one {{secretKey}} placeholder. It can also include {{environment}} "
            "once, and else only letters, digits, underscores, hyphens and slashes."
        )
    return text


@dataclass(frozen=True, slots=True)
class KeyNaming:
    """Names in the destination, made of what stands before and after the key."""

    prefix: str
    suffix: str

    @classmethod
    def of(cls, key_schema: str | None, environment: str) -> KeyNaming:
        """Return the naming of a checked key schema for the environment of that slug; None names keys as they are."""
        filled = (key_schema or KEY_PLACEHOLDER).replace(_ENVIRONMENT_PLACEHOLDER, environment)
        prefix, _, suffix = filled.partition(KEY_PLACEHOLDER)
        return cls(prefix, suffix)

    def name_of(self, key: str) -> str:
        """Return the name that the key has in the destination."""
        return f"{self.prefix}{key}{self.suffix}"

    def key_of(self, name: str) -> str | None:
        """Return the key of a name in the destination; None for a name that the schema doesn't make."""
        if len(name) <= len(self.prefix) + len(self.suffix):
            return None
        if not name.startswith(self.prefix) or not name.endswith(self.suffix):
            return None
        key = name[len(self.prefix) : len(name) - len(self.suffix)]
        # A schema with a path speaks of one level: what lies deeper is somebody else's.
        if "/" in key and "/" in self.prefix + self.suffix:
            return None
        return key


_COMPARED_MAX = 100
"""Keys that a name is compared with; among more, it counts as made from one of them."""


def may_be_of(name: str, keys: Collection[str]) -> bool:
    """Tell whether a name may have been made from one of the keys: every key schema has the key in it as it is."""
    folded = name.casefold()
    return len(keys) > _COMPARED_MAX or any(key.casefold() in folded for key in keys)
