"""What a service answers to logins and to requests with a token, and the request that tests make."""

from __future__ import annotations

import httpx

from keybearer.client import AsyncKeybearer, Keybearer, Secret, UniversalAuth
from unit.client.harness import Runner, secret_body

__all__ = ["KUBERNETES", "LDAP", "LISTED", "LOGIN", "RENEW", "REVOKE", "SECRETS", "WHO", "listed", "refused"]

LOGIN = "/api/v1/auth/universal-auth/login"
KUBERNETES = "/api/v1/auth/kubernetes-auth/login"
LDAP = "/api/v1/auth/ldap-auth/login"
RENEW = "/api/v1/auth/token/renew"
REVOKE = "/api/v1/auth/token/revoke"
SECRETS = "/api/v4/secrets"
WHO = UniversalAuth("id-1", "cnry-client-secret")
LISTED = httpx.Response(200, json={"secrets": [secret_body("A")]})


def refused(status: int = 401, error: str = "UnauthorizedError") -> httpx.Response:
    return httpx.Response(status, json={"reqId": "r", "statusCode": status, "message": "no", "error": error})


async def listed(runner: Runner, client: AsyncKeybearer | Keybearer) -> list[Secret]:
    return await runner.of(client.secrets.list(project_id="p-1", environment="dev"))
