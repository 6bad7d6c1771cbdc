"""What is said of a certificate authority of whatever kind when it is made or changed (wire.md section 5.6)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any, Literal

from pydantic import Field

from keybearer.client.operations.certificate_bodies import without_none
from keybearer.wire.base import WireModel

__all__ = ["AuthorityChange", "AuthorityStatusWord", "ChangedAuthorityBody", "MadeAuthorityBody"]

AuthorityStatusWord = Literal["active", "disabled"]
_Name = Annotated[str, Field(min_length=1, max_length=64)]


class MadeAuthorityBody(WireModel):
    """The part that all kinds share of the body that makes one."""

    name: _Name
    status: AuthorityStatusWord
    project_id: str | None = None
    enable_direct_issuance: bool | None = None


class ChangedAuthorityBody(WireModel):
    """The part that all kinds share of the body that changes one; what isn't given isn't sent."""

    name: _Name | None = None
    status: AuthorityStatusWord | None = None
    enable_direct_issuance: bool | None = None


@dataclass(frozen=True, slots=True)
class AuthorityChange:
    """What can be changed of all kinds; what isn't given stays."""

    ca_id: str
    name: str | None = field(default=None, kw_only=True)
    status: AuthorityStatusWord | None = field(default=None, kw_only=True)
    enable_direct_issuance: bool | None = field(default=None, kw_only=True)

    def changes(self, configuration: Mapping[str, Any]) -> dict[str, Any]:
        """Return what the body says: no configuration where nothing of it is given."""
        given = {
            "name": self.name,
            "status": self.status,
            "enable_direct_issuance": self.enable_direct_issuance,
            "configuration": without_none(configuration.items()) or None,
        }
        return without_none(given.items())
