"""Signs requests to the cloud: AWS Signature Version 4 (the vendor's "Create a signed AWS API request"). Pure.

No light library does it on Python 3.11; tests hold this against the vendor's own.
"""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from urllib.parse import quote, urlsplit

__all__ = ["CloudKey", "Scope", "sign"]

_ALGORITHM = "AWS4-HMAC-SHA256"
_END = "aws4_request"
_DEFAULT_PORTS = {"http": 80, "https": 443}


@dataclass(frozen=True, slots=True)
class CloudKey:
    """What a request is signed with; a session token goes with keys that hold for a while only."""

    access_key_id: str
    secret_access_key: str = field(repr=False)
    session_token: str | None = field(default=None, repr=False)


@dataclass(frozen=True, slots=True)
class Scope:
    """Where a signature is good: one service of one region."""

    service: str
    region: str


def sign(
    method: str,
    url: str,
    headers: Mapping[str, str],
    content: bytes,
    *,
    key: CloudKey,
    scope: Scope,
    now: datetime,
) -> dict[str, str]:
    """Return the headers of the request with the date, the token and the signature; all of them are signed.

    Args:
        method: in upper case.
        url: absolute; its host is signed as `Host`, with the port unless it is the usual one.
        headers: of the request, without `Host`.
        content: the body.
        key: signs.
        scope: what the request is for.
        now: the instant of the request; the cloud takes it for some minutes.
    """
    stamp = now.astimezone(UTC).strftime("%Y%m%dT%H%M%SZ")
    added = {"X-Amz-Date": stamp}
    if key.session_token is not None:
        added["X-Amz-Security-Token"] = key.session_token
    sent = {**headers, **added}
    signed = sorted(
        {"host": _host(url), **{name.lower(): " ".join(v.split()) for name, v in sent.items()}}.items()
    )
    names = ";".join(name for name, _ in signed)
    canonical = "\n".join(
        [
            method,
            _path(url),
            _query(url),
            *(f"{name}:{value}" for name, value in signed),
            "",
            names,
            hashlib.sha256(content).hexdigest(),
        ]
    )
    place = f"{stamp[:8]}/{scope.region}/{scope.service}/{_END}"
    digest = hashlib.sha256(canonical.encode()).hexdigest()
    signature = _mac(_signing_key(key, place), f"{_ALGORITHM}\n{stamp}\n{place}\n{digest}").hex()
    credential = f"{key.access_key_id}/{place}"
    sent["Authorization"] = (
        f"{_ALGORITHM} Credential={credential}, SignedHeaders={names}, Signature={signature}"
    )
    return sent


def _signing_key(key: CloudKey, place: str) -> bytes:
    made = f"AWS4{key.secret_access_key}".encode()
    for part in place.split("/"):
        made = _mac(made, part)
    return made


def _mac(key: bytes, text: str) -> bytes:
    return hmac.new(key, text.encode(), hashlib.sha256).digest()


def _host(url: str) -> str:
    parts = urlsplit(url)
    host = parts.hostname or ""
    if ":" in host:
        host = f"[{host}]"
    return host if parts.port in (None, _DEFAULT_PORTS.get(parts.scheme)) else f"{host}:{parts.port}"


def _path(url: str) -> str:
    """Return the path without empty and dotted steps, quoted once more: what stands in the URL is quoted already."""
    path = urlsplit(url).path
    steps: list[str] = []
    for step in path.split("/"):
        if step == "..":
            del steps[-1:]
        elif step not in ("", "."):
            steps.append(step)
    end = "/" if steps and path.endswith("/") else ""
    return quote(f"/{'/'.join(steps)}{end}", safe="/~")


def _query(url: str) -> str:
    query = urlsplit(url).query
    if not query:
        return ""
    pairs = (pair.partition("=") for pair in query.split("&"))
    return "&".join(f"{name}={value}" for name, value in sorted((name, value) for name, _, value in pairs))
