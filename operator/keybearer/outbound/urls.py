"""URLs that the service calls: scheme, host, port and an optional path, nothing else. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import unquote, urlsplit

from keybearer.outbound.addresses import plain_address

__all__ = ["HTTP_PORTS", "LDAP_PORTS", "OutboundUrl", "folded_host", "parse_url"]

HTTP_PORTS: Mapping[str, int] = {"https": 443, "http": 80}
LDAP_PORTS: Mapping[str, int] = {"ldaps": 636, "ldap": 389}
_MAX_HOST = 253


@dataclass(frozen=True, slots=True)
class OutboundUrl:
    """A URL to call. `host` is a folded name or an address without brackets; `path` has no slash at its end."""

    scheme: str
    host: str
    port: int
    path: str

    @property
    def origin(self) -> tuple[str, str, int]:
        """Scheme, host and port, which are equal for URLs of the same server."""
        return self.scheme, self.host, self.port

    @property
    def place(self) -> str:
        """Host and port, as `--allow-outbound` writes them."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{host}:{self.port}"

    def holds(self, other: OutboundUrl) -> bool:
        """Return whether the other URL is this one or below it, however a server reads its path."""
        if self.origin != other.origin:
            return False
        if not self.path:
            return True
        plain = unquote(unquote(other.path)).replace("\\", "/")
        if {".", ".."} & {segment.partition(";")[0] for segment in plain.split("/")}:
            return False  # servers differ in how they resolve these
        return f"{other.path}/".startswith(f"{self.path}/")


def folded_host(host: str) -> str:
    """Return the host as it is compared: small letters, no dot at the end, no brackets."""
    return host.strip("[]").lower().rstrip(".")


def parse_url(text: str, ports: Mapping[str, int]) -> OutboundUrl:
    """Return the URL of a text.

    Args:
        text: as a caller wrote it.
        ports: the allowed schemes, each with its default port.

    Raises:
        ValueError: it is no such URL; the message doesn't repeat it, because it may contain a password.
    """
    schemes = " or ".join(f"{scheme}://" for scheme in ports)
    wrong = ValueError(f"must be {schemes} with a host, perhaps a port, and neither user, query nor fragment")
    if any(not "!" <= character <= "~" or character == "\\" for character in text.strip()):
        raise wrong
    try:
        parts = urlsplit(text.strip())
        host, port = folded_host(parts.hostname or ""), parts.port
    except ValueError:
        raise wrong from None
    if parts.scheme not in ports or not host or len(host) > _MAX_HOST or port == 0:
        raise wrong
    if "@" in parts.netloc or parts.query or parts.fragment or "?" in text or "#" in text:
        raise wrong
    if "%" in host or (":" in host and plain_address(host) is None):
        raise wrong
    return OutboundUrl(parts.scheme, host, port or ports[parts.scheme], parts.path.rstrip("/"))
