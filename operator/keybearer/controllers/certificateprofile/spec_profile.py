"""What a CertificateProfile's spec says of the profile itself: what it refers to, and what it fills in."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from keybearer.base.certificate_terms import (
    ExtendedKeyUsage,
    KeyAlgorithm,
    KeyUsage,
    SignatureAlgorithm,
)
from keybearer.controllers.certificateprofile.spec_certificate import AltName, SubjectText
from keybearer.controllers.custom_resource import ResourceModel, RuledModel, rule

__all__ = ["AuthorityChange", "NameOrId", "ProfileDefaults"]


class NameOrId(RuledModel):
    """Something of the service, by its name or its id."""

    name: Annotated[str | None, Field(min_length=1, max_length=255, description="Its name.")] = None
    id: Annotated[str | None, Field(min_length=1, max_length=64, description="Its id.")] = None

    @rule(cel="has(self.name) != has(self.id)", message="give exactly one of name and id")
    def _has_one_form(self) -> bool:
        return (self.name is None) != (self.id is None)

    def __str__(self) -> str:
        """Return how messages call it."""
        return self.name if self.name is not None else f"of id {self.id}"


class BasicConstraints(ResourceModel):
    """Whether certificates may sign others."""

    is_ca: Annotated[bool, Field(alias="isCA", description="Whether they are authorities.")] = False
    path_length: Annotated[
        int | None, Field(ge=0, le=255, description="How many authorities may follow below.")
    ] = None


class ProfileDefaults(ResourceModel):
    """What certificates of the profile say where a request doesn't (interface.md section 2.6)."""

    ttl_days: Annotated[int | None, Field(ge=1, le=36500, description="Days that they are valid.")] = None
    common_name: Annotated[SubjectText | None, Field(description="The common name.")] = None
    key_algorithm: Annotated[
        KeyAlgorithm | None, Field(strict=False, description="Kind and size of keys that the service makes.")
    ] = None
    signature_algorithm: Annotated[
        SignatureAlgorithm | None, Field(strict=False, description="How they are signed.")
    ] = None
    key_usages: Annotated[
        tuple[Annotated[KeyUsage, Field(strict=False)], ...] | None,
        Field(strict=False, max_length=20, description="What their keys may be used for."),
    ] = None
    extended_key_usages: Annotated[
        tuple[Annotated[ExtendedKeyUsage, Field(strict=False)], ...] | None,
        Field(strict=False, max_length=20, description="What they may be used for."),
    ] = None
    basic_constraints: Annotated[
        BasicConstraints | None, Field(description="Whether they may sign others.")
    ] = None
    organization: Annotated[SubjectText | None, Field(description="The organization.")] = None
    organizational_unit: Annotated[SubjectText | None, Field(description="The unit of it.")] = None
    country: Annotated[SubjectText | None, Field(description="The country, as two capital letters.")] = None
    state: Annotated[SubjectText | None, Field(description="The state or province.")] = None
    locality: Annotated[SubjectText | None, Field(description="The town.")] = None
    subject_alt_names: Annotated[
        tuple[AltName, ...] | None,
        Field(strict=False, max_length=100, description="Further names."),
    ] = None
    domain_components: Annotated[
        tuple[Annotated[str, Field(min_length=1, max_length=255)], ...] | None,
        Field(strict=False, max_length=50, description="Domain components, from the outermost inwards."),
    ] = None


class AuthorityChange(ResourceModel):
    """How certificates follow when the profile's authority has another key."""

    per_hour: Annotated[
        int,
        Field(
            ge=1,
            le=3600,
            description="How many certificates an hour are issued anew. Until the last one is, ca.crt of all holds "
            "the old authority and the new one.",
        ),
    ] = 60
