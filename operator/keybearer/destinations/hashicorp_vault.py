"""A secret of a KV engine of HashiCorp Vault or OpenBao, version 1 or 2: each of its keys is a name.

https://developer.hashicorp.com/vault/api-docs/secret/kv and .../auth/approle (2026-11-25). Servers bound how much
JSON one request may hold, so a large secret of version 2 is patched in pieces; version 1 has no patch, and such a
secret is refused. With version 2 each write holds only for the version that was read (check-and-set).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Annotated, cast

from pydantic import AfterValidator, JsonValue, StringConstraints

from keybearer.destinations.app import Answers, App, Issued, checked_by, in_header
from keybearer.destinations.content import exact_object, field_of, says
from keybearer.destinations.document import Document, DocumentChange, Found
from keybearer.destinations.form import DestinationKind, NamedPlaces, Place, config_of
from keybearer.destinations.login import log_in
from keybearer.destinations.remote import (
    RemoteAnswer,
    RemoteDeniedError,
    RemoteMissingError,
    RemoteRefusedError,
    RemoteUnavailableError,
    segment,
)
from keybearer.destinations.session import Call, Session
from keybearer.wire.base import Confidential
from keybearer.wire.credentials import Credentials, Method, trimmed
from keybearer.wire.destination_forms import DestinationConfig
from keybearer.wire.instance_url import InstanceUrl
from keybearer.wire.key_schema import KeyNaming
from keybearer.wire.strict import BlankIsAbsent

__all__ = ["HASHICORP_VAULT", "AccessTokenCredentials", "AppRoleCredentials", "VaultConfig"]

_STRINGS = 800
"""Strings of one request, keys counted: 400 keys with their values. OpenBao takes 1,000 by default since 2.4.1
(`max_request_json_strings` of its listener); Vault takes 10,000 keys since 1.20.3 (`max_json_object_entry_count`)."""
_STRINGS_MIN = 50
_TOO_MANY = says(400, "exceeded maximum number of strings"), says(400, "exceeds allowed entry count")


_Namespace = Annotated[
    str,
    StringConstraints(strip_whitespace=True, max_length=512, pattern="^[!-~]*$"),
    AfterValidator(lambda text: text.strip("/")),
]


class _VaultCredentials(Credentials):
    instance_url: InstanceUrl
    namespace: Annotated[_Namespace | None, BlankIsAbsent] = None


class AccessTokenCredentials(_VaultCredentials):
    """A token of the server, which is not renewed here."""

    access_token: Annotated[Confidential, trimmed(4096)]


class AppRoleCredentials(_VaultCredentials):
    """A role's pair of ids, with the method mounted at its usual place, `approle`."""

    role_id: Annotated[str, trimmed(4096)]
    secret_id: Annotated[Confidential, trimmed(4096)]


def _within(text: str) -> str:
    bare = text.strip("/")
    if not bare or any(part in ("", ".", "..") for part in bare.split("/")):
        raise ValueError("needs names between its slashes, none of them . or ..")
    return bare


def _path(text: str) -> str:
    if not re.fullmatch(r"[a-zA-Z0-9._/-]+", bare := _within(text)):
        raise ValueError("can only contain letters, digits, dots, hyphens, underscores and single slashes")
    return bare


class VaultConfig(DestinationConfig):
    """Slashes around either are dropped."""

    mount: Annotated[str, trimmed(128), AfterValidator(_within)]
    path: Annotated[str, trimmed(128), AfterValidator(_path)]


async def _log_in(session: Session) -> Issued:
    given = session.credentials_as(AppRoleCredentials)
    call = Call(
        "POST",
        "/v1/auth/approle/login",
        "log the role in at auth/approle",
        body={"role_id": given.role_id, "secret_id": given.secret_id},
        holds_values=True,
        explain=lambda _: "roleId and secretId give no token at auth/approle",
    )
    return await log_in(session, call, token="auth.client_token", ends="auth.lease_duration")


def _headers(credentials: Credentials) -> Mapping[str, str]:
    namespace = credentials.namespace if isinstance(credentials, _VaultCredentials) else None
    named = {"X-Vault-Namespace": namespace} if namespace else {}
    return {"Accept": "application/json", "X-Vault-Request": "true", **named}


def _said(content: JsonValue) -> JsonValue:
    errors = field_of(content, "errors")
    return "; ".join(text for text in errors if isinstance(text, str)) if isinstance(errors, list) else None


_is_upgrading = says(400, "from non-versioned to versioned data")
"""The engine was just mounted, or its version was just raised."""
_is_not_shown = says(403, "preflight")
_is_too_large = says(500, "value being too large")
_was_changed = says(400, "check-and-set")


_APP = App(
    name="hashicorp-vault",
    title="Hashicorp Vault",
    methods={
        "access-token": Method(AccessTokenCredentials, ("instance_url", "namespace")),
        "app-role": Method(AppRoleCredentials, ("instance_url", "namespace", "role_id")),
    },
    root=lambda session: session.credentials_as(_VaultCredentials).instance_url.rstrip("/"),
    static=lambda given: given.access_token if isinstance(given, AccessTokenCredentials) else None,
    issue=_log_in,
    stale=frozenset({401, 403}),
    headers=_headers,
    authorize=in_header("X-Vault-Token"),
    check=checked_by(
        Call(
            "GET",
            "/v1/auth/token/lookup-self",
            "look the access token up",
            denials=frozenset({403}),
            explain=lambda _: (
                "an access token must be of this server and namespace, and its policies must allow "
                "auth/token/lookup-self"
            ),
        )
    ),
    answers=Answers(
        who="Vault",
        message=_said,
        is_busy=_is_upgrading,
        hints={
            403: "the token is no good there, or its policies don't allow it",
            503: "it may be sealed, or not the active one",
        },
    ),
)


class _Secret:
    """One secret; its keys are named by the key schema, and those of others stay."""

    def __init__(self, place: Place) -> None:
        self._session = place.session
        self._config = place.config_as(VaultConfig)
        self._place = f"{self._config.mount}/{self._config.path}"
        self._is_versioned: bool | None = None
        self._may_patch = True
        self._strings = _STRINGS

    def document(self) -> Document:
        return Document(
            place=f"the secret {self._place}", read=self._read, write=self._write, chunk=self._chunk
        )

    async def _read(self) -> Found | None:
        call = Call("GET", await self._url(), f"read {self._place}", taken=frozenset({404}))
        answer = await self._session.ask(call)
        content = _content(answer).get("data") if answer.body else None
        version = field_of(content, "metadata", "version") if self._is_versioned else None
        if answer.status == 404:
            # A version that was deleted is still the last one, and the next write has to follow it.
            return Found({}, version) if isinstance(version, int) else None
        data = field_of(content, "data") if self._is_versioned else content
        if not isinstance(data, dict):
            raise RemoteUnavailableError(f"Vault answers a read of {self._place} without data")
        return Found(data, version if isinstance(version, int) else 0)

    def _chunk(self, change: DocumentChange) -> int | None:
        is_large = _count(dict(change.whole)) > self._strings
        return self._strings // 2 if self._is_versioned and self._may_patch and is_large else None

    async def _write(self, change: DocumentChange) -> Found | None:
        version = change.found.version if change.found is not None else 0
        is_patch = change.is_piece and change.found is not None and bool(change.found.data)
        data = change.entries if is_patch else change.whole
        # Version 1 holds no secret without keys.
        method = "PATCH" if is_patch else "POST" if data or self._is_versioned else "DELETE"
        body: JsonValue = dict(data) or None
        if self._is_versioned:
            body = {"options": {"cas": version}, "data": dict(data)}
        call = Call(
            method,
            await self._url(),
            f"write {self._place}",
            body=body,
            headers={"Content-Type": "application/merge-patch+json"} if is_patch else {},
            holds_values=True,
        )
        answer = await self._session.ask(
            call, also=lambda found: self._is_to_be_tried_anew(found, len(data), is_patch=is_patch)
        )
        if not 200 <= answer.status < 300:
            return None
        written = field_of(answer.json_or_none(), "data", "version")
        return Found(change.whole, written if isinstance(written, int) else None)

    def _is_to_be_tried_anew(self, answer: RemoteAnswer, keys: int, *, is_patch: bool) -> bool:
        """Return whether a refused write may do after another look at the secret; note what it says of the next one.

        Raises:
            RemoteRefusedError: it never will, and the text says what to change.
        """
        if is_patch and answer.status in (403, 405):
            # Policies grant `patch` apart from the rest, and servers before 1.9 know none: the whole may be taken.
            self._may_patch = False
            return True
        if any(says_so(answer) for says_so in _TOO_MANY):
            self._send_less(keys)
            return True
        if answer.status == 413 or _is_too_large(answer):
            raise RemoteRefusedError(
                f"the secret {self._place} would be larger than the server takes (Vault answers {answer.status}): "
                "sync a smaller folder to it, or raise max_entry_size of its storage and max_request_size of its "
                "listener"
            )
        return (is_patch and answer.status == 404) or (_was_changed(answer) and bool(self._is_versioned))

    def _send_less(self, keys: int) -> None:
        told = f"Vault takes fewer than the {keys:,} keys of {self._place} in one request"
        if not self._is_versioned:
            raise RemoteRefusedError(
                f"{told}, and version 1 of the engine has no other way: use an engine of version 2, or raise "
                "max_request_json_strings of the server's listener (OpenBao takes 500 keys by default)"
            )
        if not self._may_patch:
            raise RemoteRefusedError(
                f"{told}: grant the capability patch on it, so that it is written in pieces"
            )
        if self._strings <= _STRINGS_MIN:
            raise RemoteRefusedError(told)
        self._strings //= 2

    async def _url(self) -> str:
        if self._is_versioned is None:
            self._is_versioned = await self._look_up_version()
        path = f"{self._config.mount}/{'data/' if self._is_versioned else ''}{self._config.path}"
        return f"/v1/{_quoted(path)}"

    async def _look_up_version(self) -> bool:
        mount = self._config.mount
        path, to = f"/v1/sys/internal/ui/mounts/{_quoted(mount)}", f"show the secrets engine at {mount}"
        answer = await self._session.ask(Call("GET", path, to), also=_is_not_shown)
        if _is_not_shown(answer):
            raise RemoteDeniedError(
                f"Vault shows no secrets engine at {mount}: none is there, or the token may do nothing in it"
            )
        engine = _content(answer).get("data")
        if field_of(engine, "path") != f"{mount}/":
            raise RemoteMissingError(f"Vault has no secrets engine at {mount}")
        if (kind := field_of(engine, "type")) not in ("kv", "generic"):
            raise RemoteRefusedError(f"the secrets engine at {mount} is of type {kind!s:.40}, not kv")
        return field_of(engine, "options", "version") == "2"


def _count(content: JsonValue) -> int:
    """Return how many strings the server will count: keys and texts, at any depth."""
    count, left = 0, [content]
    while left:
        match left.pop():
            case str():
                count += 1
            case dict() as inner:
                count += len(inner)
                left += inner.values()
            case list() as inner:
                left += inner
            case _:
                pass
    return count


def _content(answer: RemoteAnswer) -> dict[str, JsonValue]:
    content = exact_object(answer.body)
    if content is None:
        raise RemoteUnavailableError(f"Vault answers {answer.status} with something other than a JSON object")
    return content


def _quoted(path: str) -> str:
    return "/".join(map(segment, path.split("/")))


def _name(config: DestinationConfig, _: KeyNaming) -> str:
    given = cast("VaultConfig", config)
    return f"{given.mount}/{given.path}"


HASHICORP_VAULT = DestinationKind(
    name="hashicorp-vault",
    title="Hashicorp Vault",
    app=_APP,
    can_import=True,
    config=config_of(VaultConfig),
    places=NamedPlaces(form="MOUNT/PATH", name=_name),
    open=lambda place: _Secret(place).document(),
)
