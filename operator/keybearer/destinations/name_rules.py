"""What a destination takes as a name and as a value, as data: judged for all names before the first call.

A rule that is missing here costs a call that the remote refuses; a stricter one holds back a valid secret.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

__all__ = ["ANYTHING", "NameRules"]

_KIB = 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class NameRules:
    """Rules of one destination; without any, everything is taken.

    A name that breaks a rule counts as never written, so a rule must not become stricter for names that were taken.

    Attributes:
        pattern: a regular expression that the whole name matches.
        words: the same for people, after "a name takes"; needed where there is a pattern.
        longest: characters of a name.
        reserved: what no name may begin with, in upper or lower case.
        value_bytes_max: of a value in UTF-8.
        value_chars_max: characters of a value.
        value_pattern: a regular expression that the whole value matches.
        value_words: the same for people, after "a value must be"; needed where there is a pattern.
    """

    pattern: str | None = None
    words: str = ""
    longest: int | None = None
    reserved: tuple[str, ...] = ()
    value_bytes_max: int | None = None
    value_chars_max: int | None = None
    value_pattern: str | None = None
    value_words: str = ""

    def takes_name(self, name: str) -> bool:
        """Return whether there can be something of that name."""
        return self._refusal_of_name(name) is None

    def refusal(self, name: str, value: str) -> str | None:
        """Return which rule the name or the value breaks, and what to do; None: they are taken. Never the value."""
        return self._refusal_of_name(name) or self._refusal_of_value(value)

    def _refusal_of_name(self, name: str) -> str | None:
        if self.pattern is not None and re.fullmatch(self.pattern, name) is None:
            return f"a name there takes {self.words}; rename the secret, or change the key schema"
        if self.longest is not None and len(name) > self.longest:
            return (
                f"the name has {len(name)} characters, and the destination takes {self.longest} at most; rename "
                "the secret, or shorten the key schema"
            )
        for prefix in self.reserved:
            if name.lower().startswith(prefix.lower()):
                return (
                    f"a name there must not begin with {prefix}; rename the secret, or set a key schema with "
                    "another beginning"
                )
        return None

    def _refusal_of_value(self, value: str) -> str | None:
        if self.value_bytes_max is not None and (size := len(value.encode())) > self.value_bytes_max:
            return (
                f"the value has {size:,} bytes, and the destination takes {_size(self.value_bytes_max)} at most; "
                "shorten the value, or keep it elsewhere"
            )
        if self.value_chars_max is not None and len(value) > self.value_chars_max:
            return (
                f"the value has {len(value):,} characters, and the destination takes {self.value_chars_max:,} at "
                "most; shorten the value, or keep it elsewhere"
            )
        if self.value_pattern is not None and re.fullmatch(self.value_pattern, value) is None:
            return f"a value must be {self.value_words}"
        return None


ANYTHING = NameRules()
"""Every name and value is taken."""


def _size(number: int) -> str:
    return f"{number // _KIB} KiB" if number % _KIB == 0 else f"{number:,} bytes"
