"""Answers of ACME authorities (RFC 8555 section 7.1), which are not trusted: limited sizes, known forms.

Unknown keys are ignored. Unknown statuses are refused, because what to do next would be unknown too.
"""

from __future__ import annotations

import re
from enum import StrEnum
from typing import Annotated, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field
from pydantic.alias_generators import to_camel

from keybearer.outbound.urls import HTTP_PORTS, parse_url

__all__ = [
    "HTTP_CHALLENGE",
    "IDENTIFIERS_MAX",
    "Account",
    "AcmeUrl",
    "Authorization",
    "AuthorizationStatus",
    "Challenge",
    "ChallengeStatus",
    "Directory",
    "Identifier",
    "Order",
    "OrderStatus",
    "Problem",
    "SubProblem",
]

HTTP_CHALLENGE = "http-01"
"""RFC 8555 section 8.3."""
IDENTIFIERS_MAX = 100
"""Names of one order; public authorities take as many."""
_URL_MAX = 2048
_TEXT_MAX = 4096
_NAME_MAX = 253


def _require_https(text: str) -> str:
    # RFC 8555 section 6.1. A query may follow, which `parse_url` doesn't take.
    try:
        scheme = parse_url(re.split(r"[?#]", text, maxsplit=1)[0], HTTP_PORTS).scheme
    except ValueError:
        scheme = ""
    if scheme != "https" or re.search(r"[^!-~]", text):
        msg = "is no https:// URL"
        raise ValueError(msg)
    return text


AcmeUrl = Annotated[str, Field(max_length=_URL_MAX), AfterValidator(_require_https)]
_Text = Annotated[str, Field(max_length=_TEXT_MAX)]
_Token = Annotated[str, Field(pattern=r"^[A-Za-z0-9_-]{1,128}$")]
"""Base64url (RFC 8555 section 8.3)."""


def _shown(text: str) -> str:
    # The text is shown in terminals, which obey control characters, and stored in a database that takes no NUL.
    return "".join(one if one.isprintable() else " " for one in text)


_Shown = Annotated[str, Field(max_length=_TEXT_MAX), AfterValidator(_shown)]


class _Message(BaseModel):
    model_config = ConfigDict(
        alias_generator=to_camel,
        validate_by_name=True,
        validate_by_alias=True,
        extra="ignore",
        hide_input_in_errors=True,
        frozen=True,
        defer_build=True,  # a service that has no such authority builds none of them
        str_max_length=_TEXT_MAX,
    )


class _Terms(_Message):
    terms_of_service: _Shown | None = None
    external_account_required: bool = False


class Directory(_Message):
    """The URLs of an authority (section 7.1.1)."""

    new_nonce: AcmeUrl
    new_account: AcmeUrl
    new_order: AcmeUrl
    revoke_cert: AcmeUrl
    meta: _Terms = _Terms()


class Account(_Message):
    """An account (section 7.1.2)."""

    status: Literal["valid", "deactivated", "revoked"]


class Identifier(_Message):
    """A name: of type dns, or ip (RFC 8738)."""

    type: _Text
    value: _Shown

    @property
    def shown(self) -> str:
        """The name for messages, not longer than a requested one can be."""
        return self.value[:_NAME_MAX]


class SubProblem(_Message):
    """A problem with one of the names (section 6.7.1)."""

    detail: _Text = ""
    identifier: Identifier | None = None


class Problem(_Message):
    """Why something failed (section 6.7)."""

    type: _Text = ""
    detail: _Text = ""
    subproblems: Annotated[list[SubProblem], Field(max_length=IDENTIFIERS_MAX)] = Field(default_factory=list)


class ChallengeStatus(StrEnum):
    """Section 7.1.6."""

    PENDING = "pending"
    PROCESSING = "processing"
    VALID = "valid"
    INVALID = "invalid"


class Challenge(_Message):
    """One way to prove control of a name (section 7.1.5); one of an unknown kind may have no token."""

    type: _Text
    url: AcmeUrl
    status: ChallengeStatus
    token: _Token | None = None
    error: Problem | None = None


class AuthorizationStatus(StrEnum):
    """Section 7.1.6."""

    PENDING = "pending"
    VALID = "valid"
    INVALID = "invalid"
    DEACTIVATED = "deactivated"
    EXPIRED = "expired"
    REVOKED = "revoked"


class Authorization(_Message):
    """Whether control of a name was proved (section 7.1.4)."""

    identifier: Identifier
    status: AuthorizationStatus
    challenges: Annotated[list[Challenge], Field(max_length=20)]

    @property
    def over_http(self) -> Challenge | None:
        """The challenge that is answered over HTTP, if the authority offers it."""
        return next((one for one in self.challenges if one.type == HTTP_CHALLENGE), None)


class OrderStatus(StrEnum):
    """Section 7.1.6."""

    PENDING = "pending"
    READY = "ready"
    PROCESSING = "processing"
    VALID = "valid"
    INVALID = "invalid"


class Order(_Message):
    """An order of a certificate (section 7.1.3)."""

    status: OrderStatus
    authorizations: Annotated[list[AcmeUrl], Field(max_length=IDENTIFIERS_MAX)]
    finalize: AcmeUrl
    certificate: AcmeUrl | None = None
    error: Problem | None = None
