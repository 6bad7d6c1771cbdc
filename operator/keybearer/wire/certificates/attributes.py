"""What a certificate is to hold (interface.md section 4.5, wire.md section 5.1)."""

from __future__ import annotations

from typing import Annotated, Self

from pydantic import AfterValidator, Field, model_validator

from keybearer.wire.base import WHOLE, Flag, WireModel
from keybearer.wire.bodies import BodyModel, Zero
from keybearer.wire.certificates.fields import (
    AnyExtendedKeyUsage,
    AnyKeyAlgorithm,
    AnyKeyUsage,
    AnySignatureAlgorithm,
    GivenDate,
    Ttl,
)
from keybearer.wire.certificates.names import GivenAltName
from keybearer.wire.limits import (
    CERTIFICATE_ALT_NAMES_MAX,
    CERTIFICATE_ALT_NAMES_TEXT_MAX,
    CERTIFICATE_DOMAIN_COMPONENTS_MAX,
    CERTIFICATE_SUBJECT_TEXT_MAX,
    CERTIFICATE_USAGES_MAX,
)

__all__ = [
    "AltNames",
    "BasicConstraints",
    "CertificateAttributes",
    "DomainComponents",
    "ExtendedKeyUsages",
    "KeyUsages",
    "SubjectText",
]

SubjectText = Annotated[str, Field(max_length=CERTIFICATE_SUBJECT_TEXT_MAX)]
"""An attribute of a subject."""


def _judge_components(given: list[str]) -> list[str]:
    if any("," in component for component in given):
        msg = "A domain component can't contain a comma"
        raise ValueError(msg)
    if len(",".join(given)) > CERTIFICATE_SUBJECT_TEXT_MAX:
        msg = f"Domain components must be at most {CERTIFICATE_SUBJECT_TEXT_MAX} characters together"
        raise ValueError(msg)
    return given


DomainComponents = Annotated[
    list[Annotated[str, Field(min_length=1, max_length=CERTIFICATE_SUBJECT_TEXT_MAX)]],
    Field(max_length=CERTIFICATE_DOMAIN_COMPONENTS_MAX),
    AfterValidator(_judge_components),
]


def _judge_names(given: list[GivenAltName]) -> list[GivenAltName]:
    if len(",".join(name.value for name in given)) > CERTIFICATE_ALT_NAMES_TEXT_MAX:
        msg = f"Alternative names must be at most {CERTIFICATE_ALT_NAMES_TEXT_MAX} characters together"
        raise ValueError(msg)
    return given


AltNames = Annotated[
    list[GivenAltName], Field(max_length=CERTIFICATE_ALT_NAMES_MAX), AfterValidator(_judge_names)
]
KeyUsages = Annotated[list[AnyKeyUsage], Field(max_length=CERTIFICATE_USAGES_MAX)]
ExtendedKeyUsages = Annotated[list[AnyExtendedKeyUsage], Field(max_length=CERTIFICATE_USAGES_MAX)]


class BasicConstraints(WireModel):
    """Whether a certificate is an authority itself, and how many may stand below it."""

    is_ca: Annotated[Flag, Field(alias="isCA")] = False
    path_length: Annotated[int, Field(ge=0, le=255), WHOLE] | None = None


_AskedText = Annotated[SubjectText, Zero.COUNTS]


class CertificateAttributes(BodyModel):
    """What is asked for. A field that is null clears the profile's default, one that is absent takes it.

    An empty text of the subject clears it as well.

    `model_fields_set` tells the two apart.
    """

    common_name: _AskedText | None = None
    organization: _AskedText | None = None
    organizational_unit: _AskedText | None = None
    country: _AskedText | None = None
    state: _AskedText | None = None
    locality: _AskedText | None = None
    domain_components: DomainComponents | None = None
    key_usages: KeyUsages | None = None
    extended_key_usages: ExtendedKeyUsages | None = None
    alt_names: AltNames | None = None
    signature_algorithm: AnySignatureAlgorithm | None = None
    key_algorithm: AnyKeyAlgorithm | None = None
    ttl: Ttl | None = None
    not_before: GivenDate | None = None
    not_after: GivenDate | None = None
    basic_constraints: BasicConstraints | None = None

    @model_validator(mode="after")
    def _judge_lifetime(self) -> Self:
        if self.ttl is not None and (self.not_before is not None or self.not_after is not None):
            msg = "Cannot specify both TTL and notBefore/notAfter. Use either one or the other"
            raise ValueError(msg)
        if self.not_before is not None and self.not_after is not None and self.not_before >= self.not_after:
            msg = "notBefore must be earlier than notAfter"
            raise ValueError(msg)
        return self
