"""Who binds profiles to certificate policies, and authorities of one policy; additions to the interface."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Annotated, ClassVar

from pydantic import Field

from keybearer.base.certificate_terms import BoundBy
from keybearer.client.certificate_policies import PolicyBinding
from keybearer.client.decoding import decode
from keybearer.client.lenient import from_wire
from keybearer.client.messages import Request, Response, fill, json_body
from keybearer.client.operation import Operation, Repeat
from keybearer.wire.base import WireModel

__all__ = ["ChangePolicyBinding", "GetPolicyBinding"]

_BINDING = "/api/v1/cert-manager/certificate-policies/{}/binding"


@from_wire
@dataclass(frozen=True, slots=True)
class _Answer:
    """`{binding}`."""

    binding: PolicyBinding


class _Written(WireModel):
    profiles_bound_by: BoundBy | None = None
    ca_ids: Annotated[list[str] | None, Field(max_length=100)] = None


class _BindingOf(Operation[PolicyBinding]):
    __slots__ = ()

    def read(self, response: Response) -> PolicyBinding:
        """Return the binding."""
        return decode(response, _Answer).binding


@dataclass(frozen=True, slots=True)
class GetPolicyBinding(_BindingOf):
    """Return who binds profiles to a policy, and its authorities; a service that isn't Keybearer answers 404."""

    repeat: ClassVar[Repeat] = Repeat.FREELY

    policy_id: str

    def request(self) -> Request:
        """Return what to send."""
        return Request("GET", fill(_BINDING, self.policy_id))


@dataclass(frozen=True, slots=True)
class ChangePolicyBinding(_BindingOf):
    """Change a binding, and return it; what isn't given stays.

    Attributes:
        profiles_bound_by: who has profiles issue by the policy: `admins` or `members`.
        ca_ids: all the authorities that sign by profiles of this policy alone.
    """

    policy_id: str
    profiles_bound_by: str | None = field(default=None, kw_only=True)
    ca_ids: Sequence[str] | None = field(default=None, kw_only=True)

    def request(self) -> Request:
        """Return what to send."""
        body = json_body(
            lambda: _Written(
                profiles_bound_by=None if self.profiles_bound_by is None else BoundBy(self.profiles_bound_by),
                ca_ids=None if self.ca_ids is None else list(self.ca_ids),
            )
        )
        return Request("PATCH", fill(_BINDING, self.policy_id), body=body)
