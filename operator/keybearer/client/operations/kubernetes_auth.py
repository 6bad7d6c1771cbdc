"""How identities log in with the token of a ServiceAccount (wire.md sections 1.2 and 1.4)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

from keybearer.client.actors import KubernetesAuthSettings
from keybearer.client.decoding import decode
from keybearer.client.lenient import from_wire
from keybearer.client.messages import Request, Response, fill, json_body
from keybearer.client.operation import Operation, Repeat
from keybearer.client.operations.login_settings import TokenTerms, given
from keybearer.wire import auth_methods as wire

__all__ = ["AttachKubernetesAuth", "DetachKubernetesAuth", "GetKubernetesAuth", "UpdateKubernetesAuth"]

_SETTINGS = "/api/v1/auth/kubernetes-auth/identities/{}"


@from_wire
@dataclass(frozen=True, slots=True)
class _KubernetesAuthAnswer:
    """`{identityKubernetesAuth}`."""

    identity_kubernetes_auth: KubernetesAuthSettings


class _Settings(Operation[KubernetesAuthSettings]):
    __slots__ = ()

    def read(self, response: Response) -> KubernetesAuthSettings:
        """Return the settings."""
        return decode(response, _KubernetesAuthAnswer).identity_kubernetes_auth


@dataclass(frozen=True, slots=True)
class GetKubernetesAuth(_Settings):
    """Return how an identity logs in; `NotFound` where it has no Kubernetes auth."""

    repeat: ClassVar[Repeat] = Repeat.FREELY

    identity_id: str

    def request(self) -> Request:
        """Return what to send."""
        return Request("GET", fill(_SETTINGS, self.identity_id))


@dataclass(frozen=True, slots=True)
class _Terms(TokenTerms, _Settings):
    """What both writes can set.

    Attributes:
        ca_cert: PEM certificates to trust for the host.
        token_reviewer_jwt: what the service asks the host with; without one, the token that logs in.
        allowed_namespaces, allowed_names: patterns with `*`, parted by commas; all by default.
        allowed_audience: any by default.
    """

    identity_id: str
    ca_cert: str | None = field(default=None, kw_only=True)
    token_reviewer_jwt: str | None = field(default=None, repr=False, kw_only=True)
    allowed_namespaces: str | None = field(default=None, kw_only=True)
    allowed_names: str | None = field(default=None, kw_only=True)
    allowed_audience: str | None = field(default=None, kw_only=True)

    def confidential(self) -> tuple[str, ...]:
        """Return the reviewer's token."""
        return (self.token_reviewer_jwt,) if self.token_reviewer_jwt else ()


@dataclass(frozen=True, slots=True)
class AttachKubernetesAuth(_Terms):
    """Let ServiceAccounts of the cluster at `kubernetes_host` log in as an identity, and return the settings.

    Durations in seconds, 0 without end or limit; what isn't given has the service's default.
    """

    kubernetes_host: str = field(kw_only=True)

    def request(self) -> Request:
        """Return what to send."""
        body = json_body(lambda: wire.KubernetesAuthConfig(**given(self)))
        return Request("POST", fill(_SETTINGS, self.identity_id), body=body)


@dataclass(frozen=True, slots=True)
class UpdateKubernetesAuth(_Terms):
    """Change how an identity logs in, and return the settings; what isn't given stays.

    An empty `token_reviewer_jwt` takes the reviewer away; another host or `ca_cert` needs it again.
    """

    kubernetes_host: str | None = field(default=None, kw_only=True)

    def request(self) -> Request:
        """Return what to send."""
        terms = given(self)
        if self.token_reviewer_jwt == "":
            terms["token_reviewer_jwt"] = None
        body = json_body(lambda: wire.UpdateKubernetesAuth(**terms), nulls=True)
        return Request("PATCH", fill(_SETTINGS, self.identity_id), body=body)


@dataclass(frozen=True, slots=True)
class DetachKubernetesAuth(_Settings):
    """Take Kubernetes auth from an identity, with the tokens it gave, and return what the settings were."""

    identity_id: str

    def request(self) -> Request:
        """Return what to send."""
        return Request("DELETE", fill(_SETTINGS, self.identity_id))
