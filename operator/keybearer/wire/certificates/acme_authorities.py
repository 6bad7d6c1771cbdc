"""Certificate authorities elsewhere that speak ACME (RFC 8555): of wire.md section 5.6 the type, the rest is ours."""

from __future__ import annotations

import re
from typing import Annotated, Literal, Self

from pydantic import AfterValidator, Field, model_validator

from keybearer.base.certificate_terms import AuthorityKind, AuthorityStatus
from keybearer.wire.base import Flag, WireInstant, WireModel
from keybearer.wire.bodies import BodyModel, Zero
from keybearer.wire.certificates.fields import OptionalProject
from keybearer.wire.limits import (
    ACME_BINDING_TEXT_MAX,
    ACME_URL_MAX,
    CERTIFICATE_AUTHORITY_NAME_MAX,
    CERTIFICATE_CHAIN_MAX,
)
from keybearer.wire.slugs import slug_rule, slug_schema

__all__ = [
    "AcmeAuthority",
    "AcmeConfiguration",
    "CreateAcmeAuthority",
    "ShownAcmeConfiguration",
    "UpdateAcmeAuthority",
]

_Name = Annotated[
    str, slug_rule("name", CERTIFICATE_AUTHORITY_NAME_MAX), slug_schema(CERTIFICATE_AUTHORITY_NAME_MAX)
]
_Settable = Literal[AuthorityStatus.ACTIVE, AuthorityStatus.DISABLED]
_Handed = Annotated[str, Field(min_length=1, max_length=ACME_BINDING_TEXT_MAX)]
_Pem = Annotated[str, Field(max_length=CERTIFICATE_CHAIN_MAX)]


def _judge_url(given: str) -> str:
    if not re.fullmatch(r"https://[^\s/?#@]+(/[!-~]*)?", given, re.ASCII) or "#" in given:
        msg = "The directory of an ACME authority is an https URL"
        raise ValueError(msg)
    return given


def _judge_email(given: str) -> str:
    if not re.fullmatch(r"[^\s@,?&]+@[^\s@,?&]+", given):
        msg = "An email address is expected"
        raise ValueError(msg)
    return given


_Url = Annotated[str, Field(max_length=ACME_URL_MAX), AfterValidator(_judge_url)]
_Email = Annotated[str, Field(max_length=254), AfterValidator(_judge_email)]


class AcmeConfiguration(BodyModel):
    """What an ACME authority is to be; `eabKid` and `eabHmacKey` are what it hands out to those it knows."""

    directory_url: _Url
    account_email: _Email | None = None
    eab_kid: _Handed | None = None
    eab_hmac_key: Annotated[_Handed | None, Field(repr=False)] = None
    ca_certificates: _Pem = ""
    terms_of_service_agreed: Flag = False
    dns_app_connection_id: str | None = None

    @model_validator(mode="after")
    def _judge(self) -> Self:
        if (self.eab_kid is None) != (self.eab_hmac_key is None):
            msg = "eabKid and eabHmacKey are given together or not at all"
            raise ValueError(msg)
        if self.dns_app_connection_id:
            msg = "Challenges are answered over HTTP only: leave out dnsAppConnectionId"
            raise ValueError(msg)
        return self


class CreateAcmeAuthority(BodyModel):
    """POST /api/v1/cert-manager/ca/acme: an account is made there before it is answered."""

    name: _Name
    status: _Settable = AuthorityStatus.ACTIVE
    project_id: OptionalProject = None
    enable_direct_issuance: Flag = True
    configuration: AcmeConfiguration


class _ConfigurationChange(BodyModel):
    ca_certificates: Annotated[_Pem, Zero.COUNTS] | None = None


class UpdateAcmeAuthority(BodyModel):
    """PATCH …/ca/acme/{id}: what is absent stays. Where it is and the account there are for life."""

    name: _Name | None = None
    status: _Settable | None = None
    enable_direct_issuance: Flag | None = None
    configuration: _ConfigurationChange | None = None


class ShownAcmeConfiguration(WireModel):
    """An ACME authority's configuration, with the account that was made there; nothing secret of it."""

    directory_url: str
    account_email: str | None
    account_url: str | None
    eab_kid: str | None
    ca_certificates: str
    terms_of_service: str | None


class AcmeAuthority(WireModel):
    """An ACME authority; bare, as POST, GET, PATCH and DELETE answer it."""

    id: str
    project_id: str
    name: str
    type: AuthorityKind
    status: AuthorityStatus
    enable_direct_issuance: bool
    configuration: ShownAcmeConfiguration
    created_at: WireInstant
    updated_at: WireInstant
