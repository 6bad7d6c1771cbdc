"""What the client returns of those certificates are for: applications, subscribers (wire.md sections 5.7 and 6)."""

from __future__ import annotations

from dataclasses import dataclass, field

from keybearer.client.certificate_enrollments import (
    AcmeEnrollment,
    ApiEnrollment,
    EstEnrollment,
    ScepEnrollment,
)
from keybearer.client.lenient import Flag, Several, Text, from_wire

__all__ = [
    "Application",
    "ApplicationEnrollment",
    "ApplicationPage",
    "ApplicationProfile",
    "Subscriber",
    "SubscriberBundle",
    "SubscriberCertificate",
]


@from_wire
@dataclass(frozen=True, slots=True, kw_only=True)
class Application:
    """Something that has certificates of its own, from the profiles attached to it."""

    id: str
    name: Text = ""
    project_id: Text = ""
    description: Text = ""
    created_at: Text = ""
    updated_at: Text = ""


@from_wire
@dataclass(frozen=True, slots=True, kw_only=True)
class ApplicationPage:
    """Some of the applications that there are, and how many there are in all, where the service says."""

    applications: tuple[Application, ...]
    total_count: int | None = None


@from_wire
@dataclass(frozen=True, slots=True, kw_only=True)
class ApplicationProfile:
    """A profile that is attached to an application; ids of how its certificates are asked for."""

    application_id: str
    profile_id: str
    profile_slug: Text = ""
    profile_description: Text = ""
    est_config_id: str | None = None
    api_config_id: str | None = None
    acme_config_id: str | None = None
    scep_config_id: str | None = None
    created_at: Text = ""
    updated_at: Text = ""


@from_wire
@dataclass(frozen=True, slots=True, kw_only=True)
class ApplicationEnrollment:
    """How an application asks for certificates of a profile; None for the ways it doesn't."""

    application_id: str
    profile_id: str
    api: ApiEnrollment | None = None
    est: EstEnrollment | None = None
    acme: AcmeEnrollment | None = None
    scep: ScepEnrollment | None = None
    est_configured: Flag = False
    acme_configured: Flag = False
    scep_configured: Flag = False


@from_wire
@dataclass(frozen=True, slots=True, kw_only=True)
class Subscriber:
    """Somebody whose certificates all say the same.

    Attributes:
        status: `active` or `disabled`.
        ttl: how long a certificate is valid, such as `90d`.
        key_usages, extended_key_usages: spelled as in `digitalSignature`, `serverAuth`.
    """

    id: str
    name: str
    project_id: Text = ""
    ca_id: str | None = None
    common_name: Text = ""
    status: Text = ""
    ttl: Text = ""
    subject_alternative_names: Several[str] = ()
    key_usages: Several[str] = ()
    extended_key_usages: Several[str] = ()
    created_at: Text = ""
    updated_at: Text = ""


@from_wire
@dataclass(frozen=True, slots=True, kw_only=True)
class SubscriberCertificate:
    """A certificate that a subscriber was just issued, PEM; with its key unless it came by a signing request."""

    certificate: str
    serial_number: str
    issuing_ca_certificate: Text = ""
    certificate_chain: Text = ""
    private_key: str | None = field(default=None, repr=False)


@from_wire
@dataclass(frozen=True, slots=True, kw_only=True)
class SubscriberBundle:
    """The newest certificate of a subscriber, PEM; with its key unless it came by a signing request."""

    certificate: str
    serial_number: str
    certificate_chain: Text = ""
    private_key: str | None = field(default=None, repr=False)
