"""How certificates of a profile are asked for: over this API, by EST, ACME or SCEP (wire.md section 5.4)."""

from __future__ import annotations

from dataclasses import dataclass, field

from keybearer.client.lenient import Flag, Text, from_wire

__all__ = [
    "AcmeBinding",
    "AcmeEnrollment",
    "ApiEnrollment",
    "EstEnrollment",
    "ScepEnrollment",
]


@from_wire
@dataclass(frozen=True, slots=True, kw_only=True)
class ApiEnrollment:
    """Certificates are asked for over this API, and may renew by themselves, so many days before they end."""

    auto_renew: Flag = False
    renew_before_days: int | None = None
    id: Text = ""


@from_wire
@dataclass(frozen=True, slots=True, kw_only=True)
class EstEnrollment:
    """Certificates are asked for by EST; the passphrase is never told again.

    Attributes:
        ca_chain: PEM of who vouches for the certificates that devices begin with.
    """

    passphrase: Text = field(default="", repr=False)
    disable_bootstrap_ca_validation: Flag = False
    ca_chain: str | None = None
    id: Text = ""


@from_wire
@dataclass(frozen=True, slots=True, kw_only=True)
class AcmeEnrollment:
    """Certificates are asked for by ACME."""

    skip_dns_ownership_verification: Flag = False
    skip_eab_binding: Flag = False
    id: Text = ""


@from_wire
@dataclass(frozen=True, slots=True, kw_only=True)
class ScepEnrollment:
    """Certificates are asked for by SCEP; the password is never told again."""

    challenge_password: str | None = field(default=None, repr=False)
    include_ca_cert_in_response: bool = True
    allow_cert_based_renewal: bool = True
    id: Text = ""


@from_wire
@dataclass(frozen=True, slots=True, kw_only=True)
class AcmeBinding:
    """What an ACME client proves with that it may have an account: an id, and a key in base64url."""

    eab_kid: str
    eab_secret: str = field(repr=False)
