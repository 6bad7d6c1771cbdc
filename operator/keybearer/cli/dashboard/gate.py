"""Decides which requests to the dashboard are answered at all. Pure.

The page is on loopback, where every program of the machine and every website in its browsers can send requests.
So a request must know the token, must name the dashboard's own address (DNS rebinding), and must not come from
another website.
"""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from http import HTTPStatus

__all__ = ["HEADERS", "Gate", "new_token"]

_CONTENT = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
HEADERS: Mapping[str, str] = {
    "Cache-Control": "no-store",
    "Content-Security-Policy": _CONTENT,
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "Server": "keybearer",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
}
"""Of every answer, refusals included."""

_TOKEN_BYTES = 32
_METHODS = ("GET", "HEAD")
_OWN_SITES = ("none", "same-origin")


def new_token() -> str:
    """Return a token that nobody can guess: 256 random bits as text for an address."""
    return secrets.token_urlsafe(_TOKEN_BYTES)


@dataclass(frozen=True, slots=True)
class Gate:
    """Knows the token and the address of one dashboard.

    Attributes:
        token: the first part of each path.
        port: that the dashboard listens on.
    """

    token: str
    port: int

    @property
    def hosts(self) -> tuple[str, str]:
        """The values of Host that mean this dashboard."""
        return f"127.0.0.1:{self.port}", f"localhost:{self.port}"

    @property
    def address(self) -> str:
        """The address of the page."""
        return f"http://{self.hosts[0]}/{self.token}/"

    def judge(self, method: str, path: str, headers: Mapping[str, str]) -> str | HTTPStatus:
        """Return the path below the token that is asked for, or the status of the refusal.

        Args:
            method: of the request.
            path: without the query, percent-encoded as it came.
            headers: of the request; names are found in any case.
        """
        host = headers.get("Host", "")
        if host not in self.hosts or headers.get("Origin", f"http://{host}") != f"http://{host}":
            return HTTPStatus.FORBIDDEN
        if method not in _METHODS:
            return HTTPStatus.METHOD_NOT_ALLOWED
        given, slash, rest = path.removeprefix("/").partition("/")
        # Both as bytes: the comparison takes only ASCII as text, and a path can have bytes that are not UTF-8.
        is_known = secrets.compare_digest(given.encode(errors="surrogateescape"), self.token.encode())
        if not (is_known and slash):
            return HTTPStatus.NOT_FOUND
        is_page = not rest and headers.get("Sec-Fetch-Mode", "navigate") == "navigate"
        if not is_page and headers.get("Sec-Fetch-Site", "none") not in _OWN_SITES:
            return HTTPStatus.FORBIDDEN
        return rest
