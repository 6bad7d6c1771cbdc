"""Access tokens of identities that have something to clean up, kept in a Secret of the operator (decision 0039).

Written only when they change: after a login or a renewal, and when an identity has nothing to clean up any more.
"""

from __future__ import annotations

import base64
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime

from pydantic import BaseModel, ConfigDict, TypeAdapter

from keybearer.base.json_reading import mapping_of, text_of
from keybearer.base.logs import get_logger
from keybearer.kube.errors import NotFoundError
from keybearer.kube.gateway import Gateway
from keybearer.kube.resources import SECRETS, JsonObject, ObjectKey

__all__ = ["CleanupToken", "CleanupTokens"]

_log = get_logger(__name__)

_DATA_KEY = "tokens.json"
_MAX_BYTES = 700 * 1024
"""Of what is kept; with Base64 and what surrounds it, it stays below the 1.5 MiB of one request to etcd."""


@dataclass(frozen=True, slots=True)
class CleanupToken:
    """An access token of one identity.

    Attributes:
        url: of the service, normalized.
        text: the token itself.
        ends_at: when it runs out; None where that isn't known.
        granted: a login of ours got it, so that it is ours to revoke.
        ca_pem: certificates to trust, where the identity brings its own.
    """

    url: str
    text: str = field(repr=False)
    ends_at: datetime | None = field(default=None, compare=False)
    granted: bool = True
    ca_pem: str | None = field(default=None, repr=False)


class _Kept(BaseModel):
    """A token, and of which identity Secrets it is: each as namespace and name."""

    model_config = ConfigDict(hide_input_in_errors=True)

    token: CleanupToken
    identities: list[tuple[str, str]]


_DOCUMENT = TypeAdapter(list[_Kept])


class CleanupTokens:
    """The Secret with the tokens. Only whoever leads writes it.

    Attributes:
        unclaimed: identity Secrets of which an earlier process kept tokens, and that nobody has needed since.
    """

    def __init__(self, gateway: Gateway, key: ObjectKey) -> None:
        self._gateway = gateway
        self._key = key
        self._tokens: Mapping[ObjectKey, CleanupToken] = {}
        self._written: bytes | None = None
        self._overflows = False
        self.unclaimed: set[ObjectKey] = set()

    def __iter__(self) -> Iterator[ObjectKey]:
        return iter(self._tokens)

    def get(self, identity: ObjectKey) -> CleanupToken | None:
        """Return the token that is kept of an identity Secret, or None."""
        return self._tokens.get(identity)

    def use(self, identity: ObjectKey) -> CleanupToken | None:
        """Return the same, for whoever cleans up by it."""
        self.unclaimed.discard(identity)
        return self.get(identity)

    async def load(self) -> None:
        """Take over what an earlier process kept.

        Raises:
            KubeError: the API server refuses or can't be asked.
        """
        body = await self._gateway.get(SECRETS, self._key)
        encoded = text_of(mapping_of((body or {}).get("data")).get(_DATA_KEY))
        try:
            self._written = base64.b64decode(encoded, validate=True)
            self._tokens = _unpacked(self._written) if self._written else {}
        except ValueError:  # of pydantic and of base64 alike
            _log.warning("cleanup_tokens_unreadable", secret=str(self._key))
        self.unclaimed = set(self._tokens)

    async def keep(self, tokens: Mapping[ObjectKey, CleanupToken]) -> None:
        """Keep these, and no others.

        Raises:
            LeaseLostError: another replica leads.
            KubeError: the API server refuses or can't be asked.
        """
        if tokens == self._tokens:
            return
        kept, document = _packed(tokens)
        if len(kept) < len(tokens) and not self._overflows:
            _log.warning("cleanup_tokens_too_large", kept=len(kept), left_out=len(tokens) - len(kept))
        self._overflows = len(kept) < len(tokens)
        if document != self._written:
            await self._write(document)
        self._written, self._tokens = document, kept

    async def _write(self, document: bytes) -> None:
        body: JsonObject = {"data": {_DATA_KEY: base64.b64encode(document).decode()}}
        try:
            await self._gateway.merge_patch(SECRETS, self._key, body)
        except NotFoundError:
            await self._gateway.create(SECRETS, self._key, {"type": "Opaque", **body})


def _packed(tokens: Mapping[ObjectKey, CleanupToken]) -> tuple[Mapping[ObjectKey, CleanupToken], bytes]:
    """Return what there is room for, the smallest first, and the document that says so."""
    identities: dict[CleanupToken, list[ObjectKey]] = {}
    for identity, token in sorted(tokens.items()):
        identities.setdefault(token, []).append(identity)
    kept: dict[ObjectKey, CleanupToken] = {}
    parts: list[bytes] = []
    room = _MAX_BYTES
    pieces = ((_piece(token, of), token, of) for token, of in identities.items())
    for piece, token, of in sorted(pieces, key=lambda one: len(one[0])):
        room -= len(piece) + 1
        if room < 0:
            break
        parts.append(piece)
        kept.update(dict.fromkeys(of, token))
    return kept, b"[" + b",".join(parts) + b"]"


def _piece(token: CleanupToken, of: list[ObjectKey]) -> bytes:
    kept = _Kept(token=token, identities=[(one.namespace, one.name) for one in of])
    return kept.model_dump_json().encode()


def _unpacked(document: bytes) -> Mapping[ObjectKey, CleanupToken]:
    """Return the tokens of a document.

    Raises:
        ValueError: it is none.
    """
    return {
        ObjectKey(namespace, name): kept.token
        for kept in _DOCUMENT.validate_json(document)
        for namespace, name in kept.identities
    }
