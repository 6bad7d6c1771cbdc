"""Credentials of app connections on the wire (wire.md section 4.2): the bases of what each app takes and answers."""

from __future__ import annotations

from typing import Annotated

from pydantic import StringConstraints

from keybearer.wire.base import Confidential
from keybearer.wire.strict import StrictModel

__all__ = ["Credentials", "ShownCredentials", "Token"]

Token = Annotated[
    Confidential,
    StringConstraints(strip_whitespace=True, min_length=1, max_length=1024, pattern="^[!-~]+$"),
]
"""A token without white space around or in it: it travels in a header. It is never shown."""


class Credentials(StrictModel):
    """Credentials as they are given; fields that are secret are `Confidential`."""


class ShownCredentials(StrictModel):
    """Credentials as they are answered: without what is secret."""
