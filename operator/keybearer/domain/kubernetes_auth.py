"""Kubernetes auth: its terms, and what a reviewed token must be (wire.md section 1.2). Pure."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from keybearer.base.clock import Clock
from keybearer.base.globs import listed_globs, matches_any
from keybearer.base.ids import IdentityId, new_uuid
from keybearer.domain.addresses import EVERY_ADDRESS, networks
from keybearer.domain.errors import InvalidError, SchemaViolationError, UnauthenticatedError
from keybearer.domain.login_terms import given_fields, require_readable, require_sensible_terms
from keybearer.outbound.own_account import OwnAccount
from keybearer.outbound.token_review import ReviewedToken
from keybearer.outbound.trust import trust
from keybearer.outbound.urls import HTTP_PORTS, OutboundUrl, parse_url
from keybearer.store.auth_methods import KubernetesAuth
from keybearer.wire.auth_methods import TokenReviewer

__all__ = [
    "KUBERNETES_AUTH",
    "REVIEW_ERROR",
    "KubernetesAuthChange",
    "KubernetesAuthTerms",
    "api_of",
    "changed_kubernetes_auth",
    "kubernetes_auth_of",
    "require_allowed",
    "review_refused",
    "reviewer_of",
]

KUBERNETES_AUTH = "kubernetes-auth"
REVIEW_ERROR = "KubernetesTokenReviewError"
"""The word of `error` where a review says no, or doesn't come about."""
_NOT_AUTHENTICATED = "Kubernetes token not authenticated"
_REVIEW_REFUSED = (
    f"{_NOT_AUTHENTICATED}: no reviewer's token is set, so the token asked the API server for its own review, and "
    "was refused. A token for an audience of its own always is: set a reviewer's token"
)
_ACCOUNT = ("system", "serviceaccount")


@dataclass(frozen=True, slots=True)
class KubernetesAuthTerms:
    """What is set of Kubernetes auth; seconds, with the defaults of wire.md section 1.2."""

    host: str
    ca_pem: str = ""
    reviewer_token: str | None = field(default=None, repr=False)
    allowed_namespaces: str = ""
    allowed_names: str = ""
    allowed_audience: str = ""
    access_token_ttl: int = 2_592_000
    access_token_max_ttl: int = 2_592_000
    access_token_num_uses_limit: int = 0
    access_token_period: int = 0
    access_token_trusted_ips: tuple[str, ...] = EVERY_ADDRESS


@dataclass(frozen=True, slots=True)
class KubernetesAuthChange:
    """What changes; None leaves a field as it is, an empty reviewer token removes it."""

    host: str | None = None
    ca_pem: str | None = None
    reviewer_token: str | None = field(default=None, repr=False)
    allowed_namespaces: str | None = None
    allowed_names: str | None = None
    allowed_audience: str | None = None
    access_token_ttl: int | None = None
    access_token_max_ttl: int | None = None
    access_token_num_uses_limit: int | None = None
    access_token_period: int | None = None
    access_token_trusted_ips: tuple[str, ...] | None = None


def kubernetes_auth_of(identity_id: IdentityId, terms: KubernetesAuthTerms, clock: Clock) -> KubernetesAuth:
    """Return a configuration on these terms.

    Raises:
        SchemaViolationError: host or CA certificate can't be used.
        InvalidError: the terms contradict each other, or a trusted address is none.
    """
    now = clock.now()
    auth = KubernetesAuth(
        identity_id=identity_id,
        id=new_uuid(),
        host=terms.host,
        ca_pem=terms.ca_pem,
        reviewer_token=terms.reviewer_token or None,
        allowed_namespaces=terms.allowed_namespaces,
        allowed_names=terms.allowed_names,
        allowed_audience=terms.allowed_audience,
        access_token_ttl=terms.access_token_ttl,
        access_token_max_ttl=terms.access_token_max_ttl,
        access_token_num_uses_limit=terms.access_token_num_uses_limit,
        access_token_period=terms.access_token_period,
        access_token_trusted_ips=networks(terms.access_token_trusted_ips),
        created_at=now,
        updated_at=now,
    )
    _require_usable(auth)
    return auth


def changed_kubernetes_auth(
    former: KubernetesAuth, change: KubernetesAuthChange, clock: Clock
) -> KubernetesAuth:
    """Return the configuration with what is given of the change.

    Raises:
        SchemaViolationError: host or CA certificate can't be used.
        InvalidError: the terms contradict each other, a trusted address is none, or the reviewer's token, which is
            never shown, would be sent to another host than the one it was given for.
    """
    auth = replace(former, **given_fields(change), updated_at=clock.now())
    auth = replace(auth, reviewer_token=auth.reviewer_token or None)
    _require_usable(auth)
    elsewhere = api_of(auth).origin != api_of(former).origin or auth.ca_pem != former.ca_pem
    if auth.reviewer_token is not None and change.reviewer_token is None and elsewhere:
        raise InvalidError("Give tokenReviewerJwt again, or null, when kubernetesHost or caCert changes")
    return auth


def api_of(auth: KubernetesAuth) -> OutboundUrl:
    """Return where its API server is."""
    return parse_url(auth.host, HTTP_PORTS)


def reviewer_of(auth: KubernetesAuth, own: OwnAccount | None) -> TokenReviewer:
    """Return whose token asks the API server for reviews; `own` is the service's ServiceAccount, if it has one."""
    if auth.reviewer_token is not None:
        return "stored-token"
    return "service-account" if own is not None and api_of(auth) == own.api else "login-token"


def review_refused(auth: KubernetesAuth) -> UnauthenticatedError:
    """Return the refusal of a token that had to ask for its own review, and that the API server doesn't know."""
    return UnauthenticatedError(_REVIEW_REFUSED, name=REVIEW_ERROR, attempted=auth.identity_id)


def require_allowed(auth: KubernetesAuth, reviewed: ReviewedToken) -> None:
    """Let pass a token of a ServiceAccount that may log in.

    Raises:
        UnauthenticatedError: it is no good, no ServiceAccount's, or not of an allowed namespace, name or audience.
    """
    if not reviewed.authenticated:
        raise UnauthenticatedError(_NOT_AUTHENTICATED, name=REVIEW_ERROR, attempted=auth.identity_id)
    *kind, namespace, name = reviewed.username.split(":") if reviewed.username.count(":") == 3 else ("", "")
    denied = None
    if tuple(kind) != _ACCOUNT or not namespace or not name:
        denied = "the token belongs to no ServiceAccount."
    elif not matches_any(listed_globs(auth.allowed_namespaces), namespace):
        denied = "K8s namespace not allowed."
    elif not matches_any(listed_globs(auth.allowed_names), name):
        denied = "K8s name not allowed."
    elif auth.allowed_audience and auth.allowed_audience not in reviewed.audiences:
        denied = "K8s audience not allowed."
    if denied is not None:
        raise UnauthenticatedError(f"Access denied: {denied}", attempted=auth.identity_id)


def _require_usable(auth: KubernetesAuth) -> None:
    require_readable("kubernetesHost", lambda: api_of(auth))
    require_readable("caCert", lambda: trust(auth.ca_pem))
    for listed, name in (
        (auth.allowed_namespaces, "allowedNamespaces"),
        (auth.allowed_names, "allowedNames"),
    ):
        if listed and not listed_globs(listed):
            # Only nothing at all means everybody.
            raise SchemaViolationError(f"{name} lists nothing; leave it empty to allow all", field=name)
    require_sensible_terms(auth)
