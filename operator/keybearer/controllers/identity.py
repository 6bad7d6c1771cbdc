"""Who asks the service: the identity Secret that a custom resource names, judged before it is used.

A tenant of the cluster is not trusted: the URL must be on the operator's list, plain HTTP only where allowed, and
no message repeats what the Secret holds but the host of a URL that is refused.
"""

from __future__ import annotations

import base64
import heapq
import ipaddress
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal
from urllib.parse import urlsplit

from pydantic import JsonValue

from keybearer.base.errors import ConfigurationError
from keybearer.controllers.custom_resource import Turn
from keybearer.controllers.fingerprint import Fingerprinter
from keybearer.controllers.outcome import StalledError
from keybearer.controllers.remedy import Remedy

__all__ = [
    "IDENTITY_KEYS",
    "USUAL_API_AUDIENCES",
    "IdentityMethod",
    "ServiceIdentity",
    "ServicePolicy",
    "is_loopback",
    "is_whole",
    "normalized_url",
    "parse_identity_secret",
    "trim_secret",
]

IdentityMethod = Literal["UniversalAuth", "Ldap", "Kubernetes", "AccessToken"]

_REASON = "IdentityInvalid"
USUAL_API_AUDIENCES = frozenset(
    {
        "https://kubernetes.default.svc",
        "https://kubernetes.default.svc.cluster.local",
        "kubernetes.default.svc",
    }
)
"""Audiences of most API servers."""
_LOOK_AT_KEYS = "kubectl -n {namespace} describe secret {identity}"
"""Shows names and sizes, and no values."""
_REMOVE_URL = (
    'kubectl -n {namespace} patch secret {identity} --type=json -p=\'[{"op":"remove","path":"/data/url"}]\''
)
_VALUE_MAX = 16 * 1024
_FOUND_MAX = 10
"""Names of keys that a message spells out."""
_CA_MAX = 256 * 1024
_METHODS: tuple[tuple[IdentityMethod, tuple[str, ...]], ...] = (
    ("UniversalAuth", ("clientId", "clientSecret")),
    ("Ldap", ("identityId", "username", "password")),
    ("Kubernetes", ("identityId", "serviceAccountName", "audience")),
    ("AccessToken", ("accessToken",)),
)
_CREDENTIAL_KEYS = frozenset(key for _, keys in _METHODS for key in keys)


def is_whole(keys: Collection[str]) -> bool:
    """Return whether these keys hold the credentials of a login."""
    return any(set(of_one).issubset(keys) for _, of_one in _METHODS)


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
            raise _wrong_value(
                f"{where}: its url is no address such as https://host:port",
                "url",
                "an address such as https://host:port, or remove the key",
            )
        # From here on only the normalized text is used, so nothing that was cut off can lead elsewhere.
        url = normalized_url(given)
        if url != default and url not in map(normalized_url, self.allowed_urls):
            raise StalledError(
                "UrlNotAllowed",
                f"{where}: its url leads to {urlsplit(url).hostname}, which is not on the operator's list; ask its "
                "administrator for --allow-service-url, or remove the key url to use the default",
                remedy=Remedy(
                    "Remove the key url from Secret {identity}, or have the operator started with "
                    "--allow-service-url.",
                    _REMOVE_URL,
                    about="Secret {identity}, key url",
                ),
            )
        if not self._may_be_asked(url):
            host = urlsplit(url).hostname
            raise StalledError(
                "UrlNotAllowed",
                f"{where}: its url to {host} is plain http; use https",
                remedy=Remedy(
                    "Give the key url of Secret {identity} an address with https, or remove the key.",
                    _REMOVE_URL,
                    about="Secret {identity}, key url",
                ),
            )
        return url

    def trust(self, url: str) -> bytes | None:
        """Return the certificates to trust where an identity brings none; None for the system's."""
        is_default = self.default_url is not None and url == normalized_url(self.default_url)
        return self.default_ca_pem if is_default else None

    def _may_be_asked(self, url: str) -> bool:
        return not url.startswith("http://") or self.allow_insecure_http or is_loopback(url)


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
    method, credentials = _one_method(where, values, sorted(data))
    if method == "Kubernetes" and not policy.api_audiences:
        raise StalledError(
            _REASON,
            f"{where}: the operator doesn't know the audiences of the API server, so it mints no tokens; ask its "
            "administrator for --api-audience",
            remedy=Remedy(
                "Start the operator with --api-audience, or let it read the API server's configuration.",
                turn=Turn.CLUSTER_ADMINISTRATOR,
            ),
        )
    if method == "Kubernetes" and credentials["audience"] in policy.api_audiences | USUAL_API_AUDIENCES:
        raise StalledError(
            _REASON,
            f"{where}: the audience is one of the API server's, so the token would be good for the cluster "
            "itself; choose an audience of the service",
            remedy=Remedy(
                "Give the key audience of Secret {identity}, and the Kubernetes auth of the identity, another "
                "audience.",
                "keybearer identities kubernetes-auth show IDENTITY_ID",
                about="Secret {identity}, key audience",
            ),
        )
    url = policy.judge(where, values.get("url"))
    ca_text = values.get("caBundle")
    if ca_text is not None and "-----BEGIN CERTIFICATE-----" not in ca_text:
        raise _wrong_value(
            f"{where}: caBundle holds no PEM certificate",
            "caBundle",
            "certificates as PEM, or remove the key",
        )
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


def trim_secret(
    data: Mapping[str, JsonValue], parts: Collection[str] | None = IDENTITY_KEYS
) -> Mapping[str, JsonValue]:
    """Return what is kept of a Secret's data, as it is encoded.

    A value that is too long for any use becomes its length, as a number. Some keys that were not asked for stay with
    0 instead of their value, so that a message can name them.

    Args:
        data: of the Secret.
        parts: keys that were asked for; None for all.
    """
    wanted = data.keys() if parts is None else data.keys() & set(parts)
    used = {
        key: len(value) if isinstance(value, str) and len(value) > _encoded_max(key) else value
        for key, value in data.items()
        if key in wanted
    }
    return {**dict.fromkeys(heapq.nsmallest(_FOUND_MAX + 1, data.keys() - wanted), 0), **used}


def _encoded_max(key: str) -> int:
    """Return the most characters of Base64 that a value can take: four bytes a character, and PEM has one."""
    return (_CA_MAX if key == "caBundle" else 4 * _VALUE_MAX) * 4 // 3 + 4


def _decode(where: str, key: str, value: JsonValue) -> str:
    limit = _CA_MAX if key == "caBundle" else _VALUE_MAX
    if isinstance(value, int):  # the length is all that is left of it
        raise _too_long(where, key, limit)
    try:
        text = base64.b64decode(value if isinstance(value, str) else "", validate=True).decode()
    except ValueError:
        # The cause is cut: its text could show bytes of the value.
        raise _wrong_value(f"{where}: {key} is no UTF-8 text", key, "a text in UTF-8") from None
    text = text.strip()
    if not text:
        raise _wrong_value(f"{where}: {key} is empty", key, "a value")
    if len(text) > limit:
        raise _too_long(where, key, limit)
    return text


def _too_long(where: str, key: str, limit: int) -> StalledError:
    return _wrong_value(
        f"{where}: {key} is longer than {limit} characters", key, f"a value of at most {limit} characters"
    )


def _wrong_value(message: str, key: str, wanted: str) -> StalledError:
    step = f"Correct Secret {{identity}}: give {key} {wanted}."
    return StalledError(_REASON, message, remedy=Remedy(step, _LOOK_AT_KEYS, about="Secret {identity}"))


def _one_method(
    where: str, values: Mapping[str, str], given: Sequence[str]
) -> tuple[IdentityMethod, dict[str, str]]:
    present = _CREDENTIAL_KEYS & values.keys()
    whole = [(method, keys) for method, keys in _METHODS if set(keys) <= present]
    if len(whole) == 1 and present == set(whole[0][1]):
        method, keys = whole[0]
        return method, {key: values[key] for key in keys}
    choices = "; ".join("+".join(keys) for _, keys in _METHODS)
    # The names of a Secret's keys are no secret; a list of them is cut.
    found = ", ".join(given[:_FOUND_MAX]) + (" and more" if len(given) > _FOUND_MAX else "")
    raise StalledError(
        _REASON,
        f"{where}: give exactly one of these sets of keys: {choices}. Found: {found or 'no keys'}"
        f"{_meant(present, given)}",
        remedy=_rename(present, given),
    )


def _meant(present: Collection[str], given: Sequence[str]) -> str:
    """Return the end of a sentence that names the keys to rename, or the missing keys."""
    wrong = _spelt_otherwise(given)
    if wrong:
        return "; " + ", ".join(f"rename {key} to {meant}" for key, meant in wrong.items())
    begun = [keys for _, keys in _METHODS if present and set(present) < set(keys)]
    if len(begun) == 1:
        return f"; add {' and '.join(key for key in begun[0] if key not in present)}"
    return ""


def _rename(present: Collection[str], given: Sequence[str]) -> Remedy:
    step = _meant(present, given).removeprefix("; ")
    if not step:
        step = "give it one of the sets of keys that the message names, and no keys of another set"
    return Remedy(f"Correct Secret {{identity}}: {step}.", _LOOK_AT_KEYS, about="Secret {identity}")


def _spelt_otherwise(given: Sequence[str]) -> dict[str, str]:
    """Return the right name of each key that differs from it only in case, `_` and `-`."""
    ours = {_plain(key): key for key in IDENTITY_KEYS}
    meant = {key: ours[_plain(key)] for key in given if key not in IDENTITY_KEYS and _plain(key) in ours}
    return {key: own for key, own in meant.items() if own not in given}


def _plain(key: str) -> str:
    return key.casefold().replace("_", "").replace("-", "")


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


def is_loopback(url: str) -> bool:
    """Return whether an address leads to this machine."""
    host = urlsplit(url).hostname or ""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
