"""What the client takes and returns of certificate policies (interface.md section 2.6, wire.md section 5.5)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

from pydantic import Field

from keybearer.client.lenient import Text, from_wire

__all__ = [
    "AlgorithmRule",
    "CertificatePolicy",
    "CertificatePolicyPage",
    "ConstraintRule",
    "NameRule",
    "PolicyBinding",
    "UsageRule",
    "ValidityRule",
]


@from_wire
@dataclass(frozen=True, slots=True, kw_only=True)
class NameRule:
    """What may, must and must not stand in an attribute of the subject, or in names of a kind.

    In names of hosts `*` stands for one label and `**` for any text, in other attributes `*` for any text.

    Attributes:
        type: such as `common_name`, `organization`; of other names `dns_name`, `ip_address`, `email`, `uri`, `upn`.
    """

    type: str
    allowed: Sequence[str] | None = None
    required: Sequence[str] | None = None
    denied: Sequence[str] | None = None


@from_wire
@dataclass(frozen=True, slots=True, kw_only=True)
class UsageRule:
    """Which usages may, must and must not be asked for."""

    allowed: Sequence[str] | None = None
    required: Sequence[str] | None = None
    denied: Sequence[str] | None = None


@from_wire
@dataclass(frozen=True, slots=True, kw_only=True)
class AlgorithmRule:
    """Which algorithms may be asked for, such as `SHA256-ECDSA` and `ECDSA-P256`, or as requests spell them."""

    signature: Sequence[str] | None = None
    key_algorithm: Sequence[str] | None = None


@from_wire
@dataclass(frozen=True, slots=True, kw_only=True)
class ValidityRule:
    """How long a certificate may be valid, such as `90d`; the letters are h, d and y.

    Attributes:
        max_backdate: how long before it is issued it may begin; at least 5 minutes.
        max_postdate: how long after; at least an hour.
    """

    max: str | None = None
    max_backdate: str | None = None
    max_postdate: str | None = None


@from_wire
@dataclass(frozen=True, slots=True, kw_only=True)
class ConstraintRule:
    """Whether a certificate may be one that signs others: `allowed`, `required` or `denied`.

    Attributes:
        max_path_length: how many may stand between it and the last; -1 for any number.
    """

    is_ca: Annotated[str | None, Field(alias="isCA")] = None
    max_path_length: int | None = None


@from_wire
@dataclass(frozen=True, slots=True, kw_only=True)
class CertificatePolicy:
    """What may be asked for.

    A rule that is None allows anything but authorities and usages with power over others, an empty one nothing.

    Attributes:
        wildcards: `allowed` or `denied`; None: certificates for wildcards only where no rule lists names.
    """

    id: str
    name: str
    project_id: Text = ""
    description: Text = ""
    subject: tuple[NameRule, ...] | None = None
    sans: tuple[NameRule, ...] | None = None
    wildcards: str | None = None
    key_usages: UsageRule | None = None
    extended_key_usages: UsageRule | None = None
    algorithms: AlgorithmRule | None = None
    validity: ValidityRule | None = None
    basic_constraints: ConstraintRule | None = None
    created_at: Text = ""
    updated_at: Text = ""


@from_wire
@dataclass(frozen=True, slots=True, kw_only=True)
class CertificatePolicyPage:
    """Some of the policies that there are, and how many there are in all."""

    certificate_policies: tuple[CertificatePolicy, ...]
    total_count: int


@from_wire
@dataclass(frozen=True, slots=True, kw_only=True)
class PolicyBinding:
    """Who binds profiles to a policy, and the authorities that sign by profiles of it alone.

    Attributes:
        profiles_bound_by: `admins` or `members`.
    """

    profiles_bound_by: str
    ca_ids: tuple[str, ...] = ()
