"""Logs in as an identity would, to learn whether the service accepts its credentials."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

from keybearer.client import NO_RETRIES, ClientOptions, Keybearer, SuppliedToken

if TYPE_CHECKING:
    from keybearer.controllers.identity import ServiceIdentity
    from keybearer.kube.gateway import Gateway

__all__ = ["log_in", "service_account_token"]

_TOKEN_LIFETIME = timedelta(minutes=10)
"""The shortest that an API server grants."""


async def service_account_token(gateway: Gateway, identity: ServiceIdentity) -> str:
    """Return a fresh token of the ServiceAccount that logs in as an identity.

    Raises:
        NotFoundError: there is no such ServiceAccount.
        ForbiddenError: we may not create tokens for it.
        KubeError: the API server refuses, or can't be asked.
    """
    made = await gateway.token_request(
        identity.namespace,
        identity.credentials["serviceAccountName"],
        audience=identity.credentials["audience"],
        lifetime=_TOKEN_LIFETIME,
    )
    return made.token


def log_in(
    url: str, ca_pem: bytes | None, identity: ServiceIdentity, jwt: str, *, program: str, timeout: timedelta
) -> None:
    """Log in, and revoke the token.

    Args:
        url: of the service.
        ca_pem: certificates to trust there; None for the system's.
        identity: who logs in.
        jwt: token of its ServiceAccount; empty for other methods.
        program: that tries, for the service's log.
        timeout: of the login.

    Raises:
        ClientError: the service refuses, or can't be asked.
    """
    options = ClientOptions(
        ca_pem=ca_pem, timeout=timeout, retry=NO_RETRIES, user_agent=f"keybearer-cli/{program}"
    )
    held = identity.credentials
    given = SuppliedToken(held["accessToken"]) if identity.method == "AccessToken" else None
    with Keybearer(url, given, options=options) as client:
        match identity.method:
            case "UniversalAuth":
                client.auth.universal_auth.login(held["clientId"], held["clientSecret"])
            case "Kubernetes":
                client.auth.kubernetes.login(held["identityId"], jwt)
            case "Ldap":
                client.auth.ldap.login(held["identityId"], held["username"], held["password"])
            case "AccessToken":
                client.auth.check()
