"""Who asks the service: the identity Secret that a custom resource names, judged before it is used.

A tenant of the cluster is not trusted: the URL must be on the operator's list, plain HTTP only where allowed, and
no message repeats what the Secret holds but the host of a URL that is refused.
"""

from __future__ import annotations

import base64
import ipaddress
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal
from urllib.parse import urlsplit

from pydantic import JsonValue

from keybearer.base.errors import ConfigurationError
from keybearer.controllers.fingerprint import Fingerprinter
from keybearer.controllers.outcome import StalledError

__all__ = [
    "IDENTITY_KEYS",
    "IdentityMethod",
    "ServiceIdentity",
    "ServicePolicy",
    "normalized_url",
    "parse_identity_secret",
    "trim_secret",
]

IdentityMethod = Literal["UniversalAuth", "Ldap", "Kubernetes", "AccessToken"]

_REASON = "IdentityInvalid"
_USUAL_API_AUDIENCES = frozenset(
    {
        "https://kubernetes.default.svc",
        "https://kubernetes.default.svc.cluster.local",
        "kubernetes.default.svc",
    }
)
_VALUE_MAX = 16 * 1024
_CA_MAX = 256 * 1024
_METHODS: tuple[tuple[IdentityMethod, tuple[str, ...]], ...] = (
    ("UniversalAuth", ("clientId", "clientSecret")),
    ("Ldap", ("identityId", "username", "password")),
    ("Kubernetes", ("identityId", "serviceAccountName", "audience")),
    ("AccessToken", ("accessToken",)),
)
_CREDENTIAL_KEYS = frozenset(key for _, keys in _METHODS for key in keys)


@dataclass(frozen=True, slots=True)
class ServicePolicy:
    """Which services the operator may be sent to.

    Attributes:
        default_url: where an identity without `url` goes.
        allowed_urls: other URLs that an identity may name, compared after normalization.
        allow_insecure_http: plain HTTP beyond loopback.
        default_ca_pem: trust for the default URL where an identity brings no `caBundle`.
        api_audiences: audiences of the API server, refused for ServiceAccount tokens; while none is known, no
            token is minted at all.

    Raises:
        ConfigurationError: a URL is none, or the default one is plain HTTP where that is not allowed.
    """

    default_url: str | None
    allowed_urls: frozenset[str] = frozenset()
    allow_insecure_http: bool = False
    default_ca_pem: bytes | None = None
    api_audiences: frozenset[str] = frozenset()

    def __post_init__(self) -> None:
        for option, url in (
            ("--service-url", self.default_url),
            *(("--allow-service-url", allowed) for allowed in self.allowed_urls),
        ):
            if url is not None and not _is_service_url(url):
                raise ConfigurationError(f"{option}: {url!r} is no address such as https://host:port")
        if self.default_url is not None and not self._may_be_asked(normalized_url(self.default_url)):
            raise ConfigurationError(
                "--service-url: plain http is refused beyond loopback; use https, or add --allow-insecure-http"
            )

    def judge(self, where: str, given: str | None) -> str:
        """Return the URL to ask, normalized.

        Args:
            where: which identity gives it, for messages.
            given: what it gives; None asks for the default.

        Raises:
            StalledError: there is none, or it is not allowed.
        """
        default = normalized_url(self.default_url) if self.default_url is not None else None
        if given is None:
            if default is None:
                raise StalledError(
                    _REASON, f"{where}: names no url, and the operator has no default; add the key url"
                )
            return default
        if not _is_service_url(given):
            raise StalledError(_REASON, f"{where}: its url is no address such as https://host:port")
        # From here on only the normalized text is used, so nothing that was cut off can lead elsewhere.
        url = normalized_url(given)
        if url != default and url not in map(normalized_url, self.allowed_urls):
            raise StalledError(
                "UrlNotAllowed",
                f"{where}: its url leads to {urlsplit(url).hostname}, which is not on the operator's list; ask its "
                "administrator for --allow-service-url, or remove the key url to use the default",
            )
        if not self._may_be_asked(url):
            host = urlsplit(url).hostname
            raise StalledError("UrlNotAllowed", f"{where}: its url to {host} is plain http; use https")
        return url

    def trust(self, url: str) -> bytes | None:
        """Return the certificates to trust where an identity brings none; None for the system's."""
        is_default = self.default_url is not None and url == normalized_url(self.default_url)
        return self.default_ca_pem if is_default else None

    def _may_be_asked(self, url: str) -> bool:
        return not url.startswith("http://") or self.allow_insecure_http or _is_loopback(url)


@dataclass(frozen=True, slots=True)
class ServiceIdentity:
    """Credentials for one service; two equal ones share a session, a token and its reads."""

    url: str
    method: IdentityMethod
    credentials: Mapping[str, str] = field(repr=False)
    ca_pem: bytes | None = field(default=None, repr=False)
    namespace: str = ""
    """Where a ServiceAccount token is minted; empty for the other methods, which are the same everywhere."""

    def session_id(self, fingerprinter: Fingerprinter) -> str:
        """Return a keyed name for the session of this identity, safe to keep as a map key."""
        head = (self.url, self.method, self.namespace, (self.ca_pem or b"").hex())
        return fingerprinter.of_mappings("session", head, dict(self.credentials))


def parse_identity_secret(
    data: Mapping[str, JsonValue], *, namespace: str, name: str, policy: ServicePolicy
) -> ServiceIdentity:
    """Return the identity that a Secret describes.

    Args:
        data: the `data` of the Secret: base64 texts.
        namespace: where it is, for messages and for minting tokens.
        name: its name, for messages.
        policy: what is allowed.

    Raises:
        StalledError: something is missing, too much, no text, or not allowed; the message says what to change.
    """
    where = f"identity Secret {namespace}/{name}"
    values = {key: _decode(where, key, value) for key, value in data.items() if key in IDENTITY_KEYS}
    method, credentials = _one_method(where, values)
    if method == "Kubernetes" and not policy.api_audiences:
        raise StalledError(
            _REASON,
            f"{where}: the operator doesn't know the audiences of the API server, so it mints no tokens; ask its "
            "administrator for --api-audience",
        )
    if method == "Kubernetes" and credentials["audience"] in policy.api_audiences | _USUAL_API_AUDIENCES:
        raise StalledError(
            _REASON,
            f"{where}: the audience is one of the API server's, so the token would be good for the cluster "
            "itself; choose an audience of the service",
        )
    url = policy.judge(where, values.get("url"))
    ca_text = values.get("caBundle")
    if ca_text is not None and "-----BEGIN CERTIFICATE-----" not in ca_text:
        raise StalledError(_REASON, f"{where}: caBundle holds no PEM certificate")
    ca_pem = ca_text.encode() if ca_text is not None else policy.trust(url)
    return ServiceIdentity(
        url=url,
        method=method,
        credentials=credentials,
        ca_pem=ca_pem,
        namespace=namespace if method == "Kubernetes" else "",
    )


IDENTITY_KEYS = _CREDENTIAL_KEYS | {"url", "caBundle"}
"""What `parse_identity_secret` uses of a Secret's data."""


def trim_secret(data: Mapping[str, JsonValue]) -> Mapping[str, JsonValue]:
    """Return a Secret's data, as it is encoded; of what is too long for any use, only its length, as a number."""
    return {
        key: len(value) if isinstance(value, str) and len(value) > _encoded_max(key) else value
        for key, value in data.items()
    }


def _encoded_max(key: str) -> int:
    """Return the most characters of Base64 that a value can take: four bytes a character, and PEM has one."""
    return (_CA_MAX if key == "caBundle" else 4 * _VALUE_MAX) * 4 // 3 + 4


def _decode(where: str, key: str, value: JsonValue) -> str:
    limit = _CA_MAX if key == "caBundle" else _VALUE_MAX
    if isinstance(value, int):  # the length is all that is left of it
        raise StalledError(_REASON, f"{where}: {key} is longer than {limit} characters")
    try:
        text = base64.b64decode(value if isinstance(value, str) else "", validate=True).decode()
    except ValueError:
        # The cause is cut: its text could show bytes of the value.
        raise StalledError(_REASON, f"{where}: {key} is no UTF-8 text") from None
    text = text.strip()
    if not text:
        raise StalledError(_REASON, f"{where}: {key} is empty")
    if len(text) > limit:
        raise StalledError(_REASON, f"{where}: {key} is longer than {limit} characters")
    return text


def _one_method(where: str, values: Mapping[str, str]) -> tuple[IdentityMethod, dict[str, str]]:
    present = _CREDENTIAL_KEYS & values.keys()
    whole = [(method, keys) for method, keys in _METHODS if set(keys) <= present]
    if len(whole) == 1 and present == set(whole[0][1]):
        method, keys = whole[0]
        return method, {key: values[key] for key in keys}
    choices = "; ".join("+".join(keys) for _, keys in _METHODS)
    found = ", ".join(sorted(present)) or "none of them"
    raise StalledError(_REASON, f"{where}: give exactly one of these sets of keys: {choices}. Found: {found}")


def normalized_url(url: str) -> str:
    """Return scheme, host and port without trailing `/` or `/api`, as the published clients cut it.

    Raises:
        ValueError: it can't be read as a URL.
    """
    cut = url.strip().rstrip("/").removesuffix("/api").rstrip("/")
    parts = urlsplit(cut)
    return f"{parts.scheme.lower()}://{parts.netloc.lower()}{parts.path}"


def _is_service_url(url: str) -> bool:
    """Tell whether it is scheme, host, perhaps port and path, and nothing else."""
    try:
        parts = urlsplit(url.strip())
        if parts.scheme not in {"http", "https"} or not parts.hostname or parts.port == 0:
            return False
    except ValueError:
        return False
    return "@" not in parts.netloc and not parts.query and not parts.fragment


def _is_loopback(url: str) -> bool:
    host = urlsplit(url).hostname or ""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
