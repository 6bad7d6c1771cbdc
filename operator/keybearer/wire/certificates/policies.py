"""Certificate policies (wire.md section 5.5).

Values are kept in the spelling they were given in, as patterns and algorithms are compared later, not here. A rule
that is left out allows anything but what makes an authority and usages with power over others, an empty one nothing:
so answers leave out what wasn't given.
"""

from __future__ import annotations

import re
from typing import Annotated, Self
from uuid import UUID

from pydantic import AfterValidator, Field, model_validator

from keybearer.base.certificate_terms import (
    BasicConstraintRule,
    BoundBy,
    NameType,
    SubjectField,
    WildcardRule,
)
from keybearer.base.validity import VALIDITY_PATTERN, parse_validity
from keybearer.wire.base import WHOLE, WireInstant, WireModel
from keybearer.wire.certificates.fields import (
    OptionalProject,
    QueryLimit,
    QueryOffset,
    SpelledExtendedKeyUsage,
    SpelledKeyAlgorithm,
    SpelledKeyUsage,
    SpelledSignatureAlgorithm,
)
from keybearer.wire.limits import (
    CERTIFICATE_DESCRIPTION_MAX,
    CERTIFICATE_NAME_MAX,
    CERTIFICATE_PAGE_DEFAULT,
    CERTIFICATE_POLICY_VALUES_MAX,
    CERTIFICATE_SUBJECT_TEXT_MAX,
    POLICY_AUTHORITIES_MAX,
)
from keybearer.wire.slugs import slug_rule, slug_schema

__all__ = [
    "AlgorithmRules",
    "BasicConstraintRules",
    "CertificatePolicy",
    "CertificatePolicyAnswer",
    "CertificatePolicyList",
    "CertificatePolicyQuery",
    "ChangePolicyBinding",
    "CreateCertificatePolicy",
    "ExtendedKeyUsageRules",
    "KeyUsageRules",
    "NameRule",
    "PolicyBinding",
    "PolicyBindingAnswer",
    "PolicyRules",
    "SubjectRule",
    "UpdateCertificatePolicy",
    "ValidityRule",
]

_STARS_MAX = 16


def _judge_pattern(given: str) -> str:
    if given.replace("**", "*").count("*") > _STARS_MAX:
        msg = f"A value holds at most {_STARS_MAX} wildcards"
        raise ValueError(msg)
    return given


_Value = Annotated[
    str, Field(min_length=1, max_length=CERTIFICATE_SUBJECT_TEXT_MAX), AfterValidator(_judge_pattern)
]
_Values = Annotated[list[_Value], Field(max_length=CERTIFICATE_POLICY_VALUES_MAX)]
_RULES_MAX = 20


class SubjectRule(WireModel):
    """What may stand in one attribute of a subject; values may be patterns.

    A common name is a host name or address that `sans` allow, unless a value here that isn't `*` allows it.
    """

    type: SubjectField
    allowed: _Values | None = None
    required: _Values | None = None
    denied: _Values | None = None


class NameRule(WireModel):
    """Which subject alternative names of one kind there may be; values may be patterns.

    In `allowed` and `required`, `*` stands for what belongs to one label of a host, `**` for any characters.
    """

    type: NameType
    allowed: _Values | None = None
    required: _Values | None = None
    denied: _Values | None = None


_KeyUsages = Annotated[list[SpelledKeyUsage], Field(max_length=CERTIFICATE_POLICY_VALUES_MAX)]
_ExtendedKeyUsages = Annotated[list[SpelledExtendedKeyUsage], Field(max_length=CERTIFICATE_POLICY_VALUES_MAX)]


class KeyUsageRules(WireModel):
    """Which key usages there may, must and must not be."""

    allowed: _KeyUsages | None = None
    required: _KeyUsages | None = None
    denied: _KeyUsages | None = None


class ExtendedKeyUsageRules(WireModel):
    """Which extended key usages there may, must and must not be."""

    allowed: _ExtendedKeyUsages | None = None
    required: _ExtendedKeyUsages | None = None
    denied: _ExtendedKeyUsages | None = None


class AlgorithmRules(WireModel):
    """Which algorithms may be used, in either spelling."""

    signature: (
        Annotated[list[SpelledSignatureAlgorithm], Field(max_length=CERTIFICATE_POLICY_VALUES_MAX)] | None
    ) = None
    key_algorithm: (
        Annotated[list[SpelledKeyAlgorithm], Field(max_length=CERTIFICATE_POLICY_VALUES_MAX)] | None
    ) = None


def _judge_validity(given: str) -> str:
    if not re.match(VALIDITY_PATTERN, given, re.ASCII):
        msg = "Max validity must be digits and one of h, d, m and y, for example 90d"
        raise ValueError(msg)
    parse_validity(given)
    return given


_Validity = Annotated[
    str, AfterValidator(_judge_validity), Field(json_schema_extra={"pattern": VALIDITY_PATTERN})
]


class ValidityRule(WireModel):
    """How long certificates may live; `m` are months of 30 days.

    They begin 5 minutes before they are issued at the earliest and an hour after at the latest, unless
    `maxBackdate` and `maxPostdate` say more.
    """

    max: _Validity | None = None
    max_backdate: _Validity | None = None
    max_postdate: _Validity | None = None


class BasicConstraintRules(WireModel):
    """Whether certificates may be authorities themselves; a length of -1 is any."""

    is_ca: Annotated[BasicConstraintRule | None, Field(alias="isCA")] = None
    max_path_length: Annotated[int, Field(ge=-1, le=255), WHOLE] | None = None


class PolicyRules(WireModel):
    """What a policy holds beside its name."""

    subject: Annotated[list[SubjectRule], Field(max_length=_RULES_MAX)] | None = None
    sans: Annotated[list[NameRule], Field(max_length=_RULES_MAX)] | None = None
    wildcards: WildcardRule | None = None
    key_usages: KeyUsageRules | None = None
    extended_key_usages: ExtendedKeyUsageRules | None = None
    algorithms: AlgorithmRules | None = None
    validity: ValidityRule | None = None
    basic_constraints: BasicConstraintRules | None = None

    @model_validator(mode="after")
    def _judge_types(self) -> Self:
        for name, rules in (("subject", self.subject), ("sans", self.sans)):
            kinds = [rule.type for rule in rules or ()]
            if len(set(kinds)) < len(kinds):
                msg = f"{name} holds more than one rule of a type"
                raise ValueError(msg)
        return self


_Name = Annotated[str, slug_rule("name", CERTIFICATE_NAME_MAX), slug_schema(CERTIFICATE_NAME_MAX)]
_Description = Annotated[str, Field(max_length=CERTIFICATE_DESCRIPTION_MAX)]


class CreateCertificatePolicy(PolicyRules):
    """POST /api/v1/cert-manager/certificate-policies."""

    project_id: OptionalProject = None
    name: _Name
    description: _Description | None = None


class UpdateCertificatePolicy(PolicyRules):
    """PATCH …/{id}: what is absent stays; a rule or description that is null is taken away."""

    name: _Name | None = None
    description: _Description | None = None


class CertificatePolicy(PolicyRules):
    """A policy."""

    id: UUID
    project_id: str
    name: str
    description: str | None = None
    created_at: WireInstant
    updated_at: WireInstant


class CertificatePolicyAnswer(WireModel):
    """`{certificatePolicy}`."""

    certificate_policy: CertificatePolicy


class CertificatePolicyList(WireModel):
    """`{certificatePolicies, totalCount}`, by name."""

    certificate_policies: list[CertificatePolicy]
    total_count: int


class CertificatePolicyQuery(WireModel):
    """Query of the list."""

    project_id: OptionalProject = None
    offset: QueryOffset = 0
    limit: QueryLimit = CERTIFICATE_PAGE_DEFAULT
    search: Annotated[str | None, Field(max_length=CERTIFICATE_NAME_MAX)] = None


class ChangePolicyBinding(WireModel):
    """PATCH …/{policyId}/binding, an addition of Keybearer; what is absent or null stays.

    Attributes:
        profiles_bound_by: who has profiles issue by the policy.
        ca_ids: the authorities that sign by it alone, all of them.
    """

    profiles_bound_by: BoundBy | None = None
    ca_ids: Annotated[list[UUID] | None, Field(max_length=POLICY_AUTHORITIES_MAX)] = None


class PolicyBinding(WireModel):
    """Who has profiles issue by a policy, and the authorities that sign by it alone; an addition of Keybearer."""

    profiles_bound_by: BoundBy
    ca_ids: list[UUID]


class PolicyBindingAnswer(WireModel):
    """`{binding}`."""

    binding: PolicyBinding
