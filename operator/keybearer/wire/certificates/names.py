"""Subject alternative names, and what kind a name without one is of (wire.md section 10, no. 5)."""

from __future__ import annotations

import re
from ipaddress import ip_address
from typing import Annotated

from pydantic import Field

from keybearer.base.certificate_terms import NameType
from keybearer.wire.base import WireModel
from keybearer.wire.bodies import BodyModel
from keybearer.wire.limits import CERTIFICATE_SUBJECT_TEXT_MAX

__all__ = ["AltName", "GivenAltName", "guessed_name_type"]

_SCHEME = re.compile(r"[a-zA-Z][a-zA-Z0-9+.-]*://", re.ASCII)


def guessed_name_type(value: str) -> NameType:
    """Return the kind a name looks like: an address, a URI, a mailbox, else a name of the DNS."""
    try:
        ip_address(value)
    except ValueError:
        if _SCHEME.match(value):
            return NameType.URI
        return NameType.EMAIL if "@" in value else NameType.DNS_NAME
    return NameType.IP_ADDRESS


class AltName(WireModel):
    """A subject alternative name."""

    type: NameType
    value: str


class GivenAltName(BodyModel):
    """A subject alternative name as it is asked for: the kind may be left to its looks."""

    type: NameType | None = None
    value: Annotated[str, Field(min_length=1, max_length=CERTIFICATE_SUBJECT_TEXT_MAX)]

    @property
    def kind(self) -> NameType:
        """The kind that was given, or the one it looks like."""
        return guessed_name_type(self.value) if self.type is None else self.type
