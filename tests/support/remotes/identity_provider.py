"""A copy of the token endpoint of an identity provider (wire.md section 4.2; RFC 6749 sections 4.4 and 5)."""

from __future__ import annotations

from dataclasses import dataclass, field

from aiohttp import web

from support.remotes.serving import Visits

__all__ = ["IdentityProviderCopy"]


@dataclass
class IdentityProviderCopy:
    """A provider with clients that may have tokens for audiences.

    Attributes:
        clients: secrets by client id.
        audiences: that tokens are given for.
        token_type: of the tokens it gives.
    """

    clients: dict[str, str] = field(default_factory=dict, repr=False)
    audiences: set[str] = field(default_factory=lambda: {"https://tenant.example.com/api/v2/"})
    token_type: str = "Bearer"
    visits: Visits = field(default_factory=Visits)
    url: str = ""

    @property
    def domain(self) -> str:
        """Its host and port."""
        return self.url.partition("//")[2]

    def credentials(
        self, client_id: str = "client", client_secret: str = "cnry-client-secret"
    ) -> dict[str, str]:
        """Make a client, and return the credentials of a connection."""
        self.clients[client_id] = client_secret
        return {
            "domain": self.domain,
            "clientId": client_id,
            "clientSecret": client_secret,
            "audience": min(self.audiences),
        }

    def routes(self) -> list[web.RouteDef]:
        """Return what it answers to."""
        return [web.post("/oauth/token", self._token)]

    async def _token(self, request: web.Request) -> web.Response:
        if request.content_type != "application/x-www-form-urlencoded":
            return _refused(400, "invalid_request", "the body is no form")
        form = await request.post()
        if form.get("grant_type") != "client_credentials":
            return _refused(400, "unsupported_grant_type", "no such grant")
        client_id, secret, audience = (
            str(form.get(name, "")) for name in ("client_id", "client_secret", "audience")
        )
        if not secret or self.clients.get(client_id) != secret:
            # As bad as it gets: what was sent comes back.
            return _refused(401, "access_denied", f"Unauthorized: {client_id} {secret}")
        if audience not in self.audiences:
            return _refused(403, "access_denied", f"Service not enabled within domain: {audience}")
        answer = {
            "access_token": "cnry-token-of-the-provider",
            "expires_in": 86_400,
            "token_type": self.token_type,
        }
        return web.json_response(answer)


def _refused(status: int, word: str, text: str) -> web.Response:
    return web.json_response({"error": word, "error_description": text}, status=status)
