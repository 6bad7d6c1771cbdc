"""PKI subscribers (interface.md section 4.10, wire.md section 6); usages in their legacy spelling."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated
from uuid import UUID

from pydantic import Field, StringConstraints

from keybearer.base.certificate_terms import ExtendedKeyUsage, KeyUsage
from keybearer.wire.base import Confidential, WireInstant, WireModel
from keybearer.wire.bodies import BodyModel
from keybearer.wire.certificates.attributes import ExtendedKeyUsages, KeyUsages, SubjectText
from keybearer.wire.certificates.fields import OptionalConfidential, Ttl
from keybearer.wire.limits import (
    CERTIFICATE_ALT_NAMES_MAX,
    CERTIFICATE_AUTHORITY_NAME_MAX,
    CERTIFICATE_SUBJECT_TEXT_MAX,
    SUBSCRIBER_CSR_MAX,
)
from keybearer.wire.slugs import slug_rule, slug_schema
from keybearer.wire.strict import NonEmpty

__all__ = [
    "CreateSubscriber",
    "OrderedCertificate",
    "SignForSubscriber",
    "Subscriber",
    "SubscriberBundle",
    "SubscriberCertificate",
    "SubscriberList",
    "SubscriberProject",
    "SubscriberSigned",
    "SubscriberStatus",
    "UpdateSubscriber",
    "legacy_extended_key_usages",
    "legacy_key_usages",
]

_Name = Annotated[
    str, slug_rule("name", CERTIFICATE_AUTHORITY_NAME_MAX), slug_schema(CERTIFICATE_AUTHORITY_NAME_MAX)
]
_AltNames = Annotated[
    list[Annotated[str, Field(min_length=1, max_length=CERTIFICATE_SUBJECT_TEXT_MAX)]],
    Field(max_length=CERTIFICATE_ALT_NAMES_MAX),
]
_CommonName = Annotated[SubjectText, Field(min_length=1)]


class SubscriberStatus(StrEnum):
    """Whether a subscriber gets certificates."""

    ACTIVE = "active"
    DISABLED = "disabled"


def legacy_key_usages(usages: list[KeyUsage]) -> list[str]:
    """Return usages as these routes spell them."""
    return [usage.legacy_spelling for usage in usages]


def legacy_extended_key_usages(usages: list[ExtendedKeyUsage]) -> list[str]:
    """Return usages as these routes spell them."""
    return [usage.legacy_spelling for usage in usages]


class SubscriberProject(BodyModel):
    """Names the project: body of issue, order, get, update and delete, or their query."""

    project_id: NonEmpty


class CreateSubscriber(BodyModel):
    """POST /api/v1/pki/subscribers."""

    project_id: NonEmpty
    ca_id: UUID
    name: _Name
    common_name: _CommonName
    status: SubscriberStatus = SubscriberStatus.ACTIVE
    ttl: Ttl
    subject_alternative_names: _AltNames = Field(default_factory=list)
    key_usages: KeyUsages = Field(
        default_factory=lambda: [KeyUsage.DIGITAL_SIGNATURE, KeyUsage.KEY_ENCIPHERMENT]
    )
    extended_key_usages: ExtendedKeyUsages = Field(default_factory=list)


class UpdateSubscriber(BodyModel):
    """PATCH …/{name}: what is absent stays."""

    project_id: NonEmpty
    ca_id: UUID | None = None
    name: _Name | None = None
    common_name: _CommonName | None = None
    status: SubscriberStatus | None = None
    ttl: Ttl | None = None
    subject_alternative_names: _AltNames | None = None
    key_usages: KeyUsages | None = None
    extended_key_usages: ExtendedKeyUsages | None = None


class SignForSubscriber(BodyModel):
    """POST …/{name}/sign-certificate."""

    project_id: NonEmpty
    csr: Annotated[
        str,
        StringConstraints(strip_whitespace=True, min_length=1, max_length=SUBSCRIBER_CSR_MAX, pattern=r"\S"),
    ]


class Subscriber(WireModel):
    """A subscriber; bare, as POST, GET, PATCH and DELETE answer it."""

    id: str
    project_id: str
    ca_id: str | None
    name: str
    common_name: str
    status: SubscriberStatus
    ttl: str
    subject_alternative_names: list[str]
    key_usages: list[str]
    extended_key_usages: list[str]
    created_at: WireInstant
    updated_at: WireInstant


class SubscriberList(WireModel):
    """`{subscribers}`, by name."""

    subscribers: list[Subscriber]


class SubscriberSigned(WireModel):
    """Answer of sign-certificate, PEM."""

    certificate: str
    issuing_ca_certificate: str
    certificate_chain: str
    serial_number: str


class SubscriberCertificate(SubscriberSigned):
    """Answer of issue-certificate, PEM."""

    private_key: Confidential


class SubscriberBundle(WireModel):
    """Answer of latest-certificate-bundle, PEM; no key where it came by a signing request."""

    certificate: str
    certificate_chain: str
    private_key: OptionalConfidential
    serial_number: str


class OrderedCertificate(WireModel):
    """Answer of order-certificate."""

    message: str
