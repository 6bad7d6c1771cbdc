"""Credentials of app connections on the wire (wire.md section 4.2): the bases of what each app takes and answers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Protocol

from pydantic import Field, StringConstraints

from keybearer.wire.strict import StrictModel

__all__ = ["Credentials", "DescribedApp", "Method", "Token", "TokenText", "Uuid", "trimmed"]


def trimmed(longest: int, pattern: str = r"\S") -> StringConstraints:
    """Return the bounds of a text of one character at least, from which white space around it is dropped."""
    return StringConstraints(strip_whitespace=True, min_length=1, max_length=longest, pattern=pattern)


Uuid = Annotated[
    str,
    StringConstraints(strip_whitespace=True, pattern="^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$"),
]
"""An id in the form of a UUID, in upper or lower case."""
TokenText = Annotated[
    str, StringConstraints(strip_whitespace=True, min_length=1, max_length=1024, pattern="^[!-~]+$")
]
"""A token without white space around or in it: it travels in a header. A field that may be absent hides it itself."""
Token = Annotated[TokenText, Field(repr=False)]
"""The same, and never shown."""


class Credentials(StrictModel):
    """Credentials as they are given; fields that are secret are `Confidential`."""


@dataclass(frozen=True, slots=True)
class Method:
    """One way to authenticate with an app.

    Attributes:
        given: what is given for it.
        answered: the fields of the stored credentials that answers show. A field that isn't named is never shown.
        kept: what is stored where that isn't what is given: a code is good for one exchange. The app then has an
            `exchange`.
        is_rotatable: whether its credentials can replace themselves. The app then has a `rotation`.
    """

    given: type[Credentials]
    answered: tuple[str, ...] = ()
    kept: type[Credentials] | None = None
    is_rotatable: bool = False

    @property
    def stored(self) -> type[Credentials]:
        """What is stored."""
        return self.kept or self.given

    @property
    def shown(self) -> frozenset[str]:
        """What is answered of the stored credentials, by the names of fields on the wire."""
        fields = self.stored.model_fields
        return frozenset(fields[name].alias or name for name in self.answered)


class DescribedApp(Protocol):
    """What the bodies of an app's connections are made from."""

    @property
    def name(self) -> str:
        """interface.md's word."""
        ...

    @property
    def title(self) -> str:
        """As people write it."""
        ...

    @property
    def methods(self) -> Mapping[str, Method]:
        """By their word on the wire."""
        ...

    @property
    def is_rotatable(self) -> bool:
        """Whether credentials of any method can replace themselves."""
        ...
