"""What bodies about certificates have in common: values of the client in the wire's spelling."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import Field

from keybearer.client.certificate_enrollments import EstEnrollment, ScepEnrollment
from keybearer.wire.base import WireModel

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

__all__ = [
    "AcmeBody",
    "AltNameBody",
    "ApiBody",
    "ConstraintsBody",
    "EstBody",
    "MetadataBody",
    "ScepBody",
    "given_of",
    "listed",
    "secrets_of",
    "without_none",
]


class AltNameBody(WireModel):
    """An `AltName`."""

    value: Annotated[str, Field(min_length=1)]
    type: str | None = None


class MetadataBody(WireModel):
    """`CertificateMetadata`."""

    key: Annotated[str, Field(min_length=1)]
    value: str


class ConstraintsBody(WireModel):
    """`BasicConstraints`."""

    is_ca: Annotated[bool, Field(alias="isCA")]
    path_length: Annotated[int, Field(ge=0)] | None = None


class ApiBody(WireModel):
    """`ApiEnrollment`."""

    auto_renew: bool
    renew_before_days: Annotated[int, Field(ge=1, le=30)] | None = None


class EstBody(WireModel):
    """`EstEnrollment`."""

    passphrase: Annotated[str, Field(min_length=1, repr=False)]
    disable_bootstrap_ca_validation: bool
    ca_chain: str | None = None


class AcmeBody(WireModel):
    """`AcmeEnrollment`."""

    skip_dns_ownership_verification: bool
    skip_eab_binding: bool


class ScepBody(WireModel):
    """`ScepEnrollment`."""

    challenge_password: Annotated[str | None, Field(repr=False)] = None
    include_ca_cert_in_response: bool
    allow_cert_based_renewal: bool


def secrets_of(est: EstEnrollment | None, scep: ScepEnrollment | None) -> tuple[str, ...]:
    """Return the texts of configurations that no error may repeat."""
    given = ("" if est is None else est.passphrase, "" if scep is None else scep.challenge_password)
    return tuple(text for text in given if text)


def given_of(value: DataclassInstance) -> dict[str, Any]:
    """Return the fields of a value that say something, and of values within it."""
    return asdict(value, dict_factory=without_none)


def listed(values: Sequence[DataclassInstance]) -> list[dict[str, Any]]:
    """Return the fields of each value."""
    return [given_of(value) for value in values]


def without_none(fields: Iterable[tuple[str, Any]]) -> dict[str, Any]:
    """Return the fields that say something."""
    return {name: value for name, value in fields if value is not None}
