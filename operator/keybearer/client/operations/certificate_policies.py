"""Certificate policies (wire.md section 5.5)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any, ClassVar

from pydantic import Field

from keybearer.client.certificate_policies import (
    AlgorithmRule,
    CertificatePolicy,
    CertificatePolicyPage,
    ConstraintRule,
    NameRule,
    UsageRule,
    ValidityRule,
)
from keybearer.client.decoding import decode
from keybearer.client.lenient import from_wire
from keybearer.client.messages import Request, Response, fill, json_body
from keybearer.client.operation import Operation, Repeat
from keybearer.client.operations.certificate_bodies import given_of, listed, without_none
from keybearer.client.operations.certificate_listings import PageOfProject
from keybearer.wire.base import WireModel

__all__ = [
    "CreateCertificatePolicy",
    "DeleteCertificatePolicy",
    "GetCertificatePolicy",
    "ListCertificatePolicies",
    "UpdateCertificatePolicy",
]

_ALL = "/api/v1/cert-manager/certificate-policies"
_ONE = f"{_ALL}/{{}}"


@from_wire
@dataclass(frozen=True, slots=True)
class _PolicyAnswer:
    """`{certificatePolicy}`."""

    certificate_policy: CertificatePolicy


class _Usages(WireModel):
    allowed: list[str] | None = None
    required: list[str] | None = None
    denied: list[str] | None = None


class _Names(_Usages):
    type: str


class _Algorithms(WireModel):
    signature: list[str] | None = None
    key_algorithm: list[str] | None = None


class _Validity(WireModel):
    max: str | None = None
    max_backdate: str | None = None
    max_postdate: str | None = None


class _Constraints(WireModel):
    is_ca: Annotated[str | None, Field(alias="isCA")] = None
    max_path_length: Annotated[int, Field(ge=-1)] | None = None


class _Written(WireModel):
    """Both bodies; what isn't given isn't sent."""

    project_id: str | None = None
    name: Annotated[str, Field(min_length=1, max_length=255)] | None = None
    description: str | None = None
    subject: list[_Names] | None = None
    sans: list[_Names] | None = None
    wildcards: str | None = None
    key_usages: _Usages | None = None
    extended_key_usages: _Usages | None = None
    algorithms: _Algorithms | None = None
    validity: _Validity | None = None
    basic_constraints: _Constraints | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ListCertificatePolicies(PageOfProject[CertificatePolicyPage]):
    """List policies: those that meet all of what is given.

    Attributes:
        project_id: None for the organization's own project for certificates.
        offset, limit: of those found, leave out so many, and return so many, 1 to 100.
        search: stands in the name or the description.
    """

    def request(self) -> Request:
        """Return what to send."""
        return self.asked(_ALL)

    def read(self, response: Response) -> CertificatePolicyPage:
        """Return the page."""
        return decode(response, CertificatePolicyPage)


class _One(Operation[CertificatePolicy]):
    __slots__ = ()

    def read(self, response: Response) -> CertificatePolicy:
        """Return the policy."""
        return decode(response, _PolicyAnswer).certificate_policy


@dataclass(frozen=True, slots=True)
class GetCertificatePolicy(_One):
    """Return a policy by its id; `NotFound` where there is none."""

    repeat: ClassVar[Repeat] = Repeat.FREELY

    policy_id: str

    def request(self) -> Request:
        """Return what to send."""
        return Request("GET", fill(_ONE, self.policy_id))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Rules:
    """What may be asked for: a rule that isn't given allows anything but what must be named, an empty one nothing."""

    description: str | None = None
    subject: Sequence[NameRule] | None = None
    sans: Sequence[NameRule] | None = None
    wildcards: str | None = None
    key_usages: UsageRule | None = None
    extended_key_usages: UsageRule | None = None
    algorithms: AlgorithmRule | None = None
    validity: ValidityRule | None = None
    basic_constraints: ConstraintRule | None = None

    def rules(self) -> dict[str, Any]:
        """Return those that are given, as bodies take them."""
        lists = {"subject": self.subject, "sans": self.sans}
        objects = {
            "key_usages": self.key_usages,
            "extended_key_usages": self.extended_key_usages,
            "algorithms": self.algorithms,
            "validity": self.validity,
            "basic_constraints": self.basic_constraints,
        }
        return {
            **{name: listed(rules) for name, rules in lists.items() if rules is not None},
            **{name: given_of(rule) for name, rule in objects.items() if rule is not None},
            **({} if self.wildcards is None else {"wildcards": self.wildcards}),
        }


@dataclass(frozen=True, slots=True)
class CreateCertificatePolicy(_Rules, _One):
    """Make a policy, and return it.

    A rule that isn't given allows anything but what must be named, an empty one nothing. Authorities must be named,
    and the extended usages `any_purpose`, `code_signing`, `ocsp_signing` and `time_stamping`.

    Attributes:
        name: lower-case letters, digits and hyphens. Where it is taken, the service may change it: see the answer.
        subject, sans: one rule for each kind of name.
        wildcards: `allowed` or `denied`; not given: only where no rule lists names.
        project_id: None for the organization's own project for certificates.
    """

    name: str
    project_id: str | None = field(default=None, kw_only=True)

    def request(self) -> Request:
        """Return what to send."""
        plain = {"project_id": self.project_id, "description": self.description}
        given = {**without_none(plain.items()), **self.rules()}
        return Request("POST", _ALL, body=json_body(lambda: _Written(name=self.name, **given)))


@dataclass(frozen=True, slots=True)
class UpdateCertificatePolicy(_Rules, _One):
    """Change a policy, and return it; what isn't given stays. An empty description takes it away.

    Attributes:
        subject, sans, key_usages: and the others, each as a whole.
    """

    policy_id: str
    name: str | None = field(default=None, kw_only=True)

    def request(self) -> Request:
        """Return what to send."""
        changes = self.rules()
        if self.name is not None:
            changes["name"] = self.name
        if self.description is not None:
            changes["description"] = self.description or None
        body = json_body(lambda: _Written(**changes), nulls=True)
        return Request("PATCH", fill(_ONE, self.policy_id), body=body)


@dataclass(frozen=True, slots=True)
class DeleteCertificatePolicy(_One):
    """Delete a policy, and return what it was."""

    policy_id: str

    def request(self) -> Request:
        """Return what to send."""
        return Request("DELETE", fill(_ONE, self.policy_id))
