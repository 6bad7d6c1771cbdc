"""Secrets of a vault of Azure: one per key.

https://learn.microsoft.com/rest/api/keyvault/secrets and
https://learn.microsoft.com/entra/identity-platform/v2-oauth2-client-creds-grant-flow (2026-11-23). Names there are
letters, digits and hyphens, upper and lower case are the same, and underscores are written as hyphens. What is
deleted can be recovered for a while, and has to be before its name can be used again.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from datetime import timedelta
from typing import Annotated, cast
from urllib.parse import urlsplit

from pydantic import JsonValue

from keybearer.destinations.app import Answers, App, Issued
from keybearer.destinations.form import (
    CustomPut,
    DestinationKind,
    Listing,
    LookUp,
    Place,
    Remove,
    Row,
    Spelling,
    Table,
    Unusable,
    config_of,
)
from keybearer.destinations.name_rules import NameRules
from keybearer.destinations.protocol import Outgoing, Present, Traits
from keybearer.destinations.remote import (
    Limits,
    RemoteAnswer,
    RemoteDeniedError,
    RemoteRefusedError,
    RemoteUnavailableError,
    field_of,
    segment,
)
from keybearer.destinations.session import Call, Session
from keybearer.wire.base import Confidential
from keybearer.wire.credentials import Credentials, Method, Uuid, trimmed
from keybearer.wire.destination_forms import DestinationConfig
from keybearer.wire.instance_url import InstanceUrl

__all__ = ["AZURE_KEY_VAULT", "ClientSecretCredentials", "KeyVaultConfig"]

_VERSION = "api-version=7.4"
_VAULTS = ".vault.azure.net"
_PORTS = {"http": 80, "https": 443}
_RECOVERIES = 10
_RECOVERABLE = "ObjectIsDeletedButRecoverable"


class ClientSecretCredentials(Credentials):
    """A client secret of an app registration, which is not renewed here."""

    tenant_id: Uuid
    client_id: Uuid
    client_secret: Annotated[Confidential, trimmed(256)]


class KeyVaultConfig(DestinationConfig):
    """Where the vault is, as its own page shows it."""

    vault_base_url: InstanceUrl


async def _log_in(session: Session) -> Issued:
    given = session.credentials_as(ClientSecretCredentials)
    call = Call(
        method="POST",
        path=f"{session.root('https://login.microsoftonline.com')}/{segment(given.tenant_id)}/oauth2/v2.0/token",
        to="log the app registration in",
        form={
            "grant_type": "client_credentials",
            "client_id": given.client_id,
            "client_secret": given.client_secret,
            "scope": "https://vault.azure.net/.default",
        },
        holds_values=True,
    )
    answer = await session.ask_without_token(call, also=lambda found: found.status in (400, 401, 403))
    content = answer.json_or_none()
    if answer.status in (400, 401, 403):
        word, told = field_of(content, "error"), str(field_of(content, "error_description"))
        said = [word] if isinstance(word, str) and re.fullmatch("[A-Za-z_]{1,64}", word) else []
        said += re.findall("^AADSTS[0-9]{1,10}", told)
        named = f" ({', '.join(said)})" if said else ""
        raise RemoteDeniedError(
            "Azure doesn't take the credentials: look at tenantId, clientId and clientSecret, which is the secret's "
            f"value and not its id, and whether it has ended{named}"
        )
    token, lasts = field_of(content, "access_token"), field_of(content, "expires_in")
    if not isinstance(token, str) or not isinstance(lasts, int):
        raise RemoteUnavailableError("Azure answers a login without a token")
    return Issued({"token": token}, session.now() + timedelta(seconds=max(0, min(lasts, 3600))))


def _words(content: JsonValue) -> str:
    """Return the words of an error, the outer one first: `Conflict, ObjectIsDeletedButRecoverable`."""
    error, found = field_of(content, "error"), list[str]()
    while isinstance(error, dict) and len(found) < 3:
        word = error.get("code")
        found += [word] if isinstance(word, str) and re.fullmatch("[A-Za-z_]{1,64}", word) else []
        error = error.get("innererror")
    return ", ".join(found)


def _waits(answer: RemoteAnswer) -> bool:
    """Return whether to come later; a vault answers 409 while it deletes or recovers a name."""
    is_conflict = answer.status == 409 and _RECOVERABLE not in _words(answer.json_or_none())
    return answer.status == 429 or is_conflict


_APP = App(
    name="azure-key-vault",
    title="Azure Key Vault",
    methods={"client-secret": Method(ClientSecretCredentials, ("tenant_id", "client_id"))},
    root=lambda _: "",
    issue=_log_in,
    answers=Answers(
        who="the vault",
        word=_words,
        message=lambda content: field_of(content, "error", "message"),
        limits=Limits(is_throttled=_waits, unsaid_wait=timedelta(seconds=2)),
        hints={
            401: "the token is of another tenant than the connection's",
            403: "that takes a role or an access policy that lets them get, list, set, delete and recover secrets, "
            "and a firewall that lets the service in",
        },
    ),
)


class _Secrets:
    """The secrets of one vault, but those that are disabled and those of certificates."""

    def __init__(self, place: Place) -> None:
        self._session, self._naming = place.session, place.naming
        self._base = place.config_as(KeyVaultConfig).vault_base_url.rstrip("/")
        parts = urlsplit(self._base)
        is_vault = parts.scheme == "https" and not parts.path and (parts.hostname or "").endswith(_VAULTS)
        # The token is good for every vault that the app registration may use: it goes to vaults only, unless the
        # operator of the service has a cloud of their own.
        if not is_vault and _APP.name not in place.session.context.endpoints:
            raise RemoteRefusedError(
                f"vaultBaseUrl has to be https://NAME{_VAULTS}: the credentials go to Azure's vaults only"
            )

    def table(self) -> Table:
        return Table(
            place="the vault",
            listing=Listing(
                first=lambda: self._call("GET", "secrets", "list its secrets", f"{_VERSION}&maxresults=25"),
                rows=lambda page: field_of(page, "value"),
                row=_row,
                following=self._next,
            ),
            look_up=LookUp(
                call=lambda name: self._call("GET", f"secrets/{name}", f"show the secret '{name}'"),
                present=_present,
                taken=lambda answer: answer.status == 404 or _is_disabled(answer),
            ),
            write=CustomPut(self._put),
            remove=Remove(
                lambda name: replace(
                    self._call("DELETE", f"secrets/{segment(name)}", f"delete the secret '{name}'"),
                    taken=frozenset({404}),
                )
            ),
            spelling=Spelling(spelt=_hyphened, fold=lambda name: _hyphened(name).lower(), read=self._name_of),
        )

    def _call(self, method: str, path: str, to: str, query: str = _VERSION) -> Call:
        return Call(method=method, path=f"{self._base}/{path}?{query}", to=to)

    def _next(self, answer: RemoteAnswer, _: int) -> Call | None:
        link = field_of(answer.json(), "nextLink")
        if not isinstance(link, str) or not link:
            return None
        if _origin(link) != _origin(self._base):
            raise RemoteUnavailableError("the vault says that its list goes on at another place")
        return self._call("GET", "secrets", "list its secrets", urlsplit(link).query)

    async def _put(self, one: Outgoing, _known: bool | None) -> str | None:  # noqa: FBT001 - as `CustomPut` has it
        """Return the version that was made, once a deleted secret of that name is recovered."""
        call = self._call("PUT", f"secrets/{one.name}", f"write the secret '{one.name}'")
        call = replace(call, body={"value": one.value}, holds_values=True)
        for _ in range(_RECOVERIES):
            answer = await self._session.ask(call, also=lambda found: found.status == 409)
            if answer.status != 409:
                return _part(answer.json(), 3)
            # It may have been purged meanwhile, or somebody is recovering it.
            to = f"recover the deleted secret '{one.name}', whose name is to be used again"
            recover = self._call("POST", f"deletedsecrets/{one.name}/recover", to)
            await self._session.ask(replace(recover, taken=frozenset({404, 409})))
            await self._session.pause(timedelta(seconds=2))
        raise RemoteUnavailableError(f"the vault goes on recovering the secret '{one.name}'")

    def _name_of(self, vault_name: str) -> str:
        """Return what the key schema calls a secret; one that it doesn't make is called as in the vault."""
        prefix, suffix = _hyphened(self._naming.prefix), _hyphened(self._naming.suffix)
        key = vault_name.removeprefix(prefix).removesuffix(suffix)
        is_made = key and len(key) + len(prefix) + len(suffix) == len(vault_name)
        return self._naming.name_of(key) if is_made else vault_name


def _hyphened(name: str) -> str:
    return name.replace("_", "-")


def _row(one: JsonValue) -> Row:
    name = _part(one, 2)
    if not name or not re.fullmatch("[0-9A-Za-z-]{1,127}", name):
        raise RemoteUnavailableError("the vault lists a secret without a name")
    if field_of(one, "managed") is True:
        return Row(name, Unusable("belongs to a certificate"))
    is_enabled = field_of(one, "attributes", "enabled") is not False
    return Row(name, Present(None) if is_enabled else Unusable("is disabled"))


def _is_disabled(answer: RemoteAnswer) -> bool:
    return answer.status == 403 and "SecretDisabled" in _words(answer.json_or_none())


def _present(name: str, answer: RemoteAnswer) -> Present | Unusable | None:
    if answer.status == 404:
        return None
    if _is_disabled(answer):
        return Unusable("is disabled")
    value = field_of(answer.json(), "value")
    if not isinstance(value, str):
        raise RemoteUnavailableError(f"the vault answers without the value of the secret '{name}'")
    return Present(value, _part(answer.json(), 3))


def _part(secret: JsonValue, index: int) -> str | None:
    """Return a part of the path of an id: `https://…/secrets/NAME/VERSION`."""
    identity = field_of(secret, "id")
    try:
        parts = urlsplit(identity).path.split("/") if isinstance(identity, str) else []
    except ValueError:
        parts = []
    return parts[index] if len(parts) > index and parts[1] == "secrets" else None


def _origin(url: str) -> tuple[str, str | None, int | None]:
    try:
        parts = urlsplit(url)
        return parts.scheme.lower(), parts.hostname, parts.port or _PORTS.get(parts.scheme)
    except ValueError:
        return "", None, None


def _same_place(config: DestinationConfig) -> Mapping[str, JsonValue]:
    return {"vaultBaseUrl": cast("KeyVaultConfig", config).vault_base_url.rstrip("/").lower()}


AZURE_KEY_VAULT = DestinationKind(
    name="azure-key-vault",
    title="Azure Key Vault",
    app=_APP,
    can_import=True,
    config=config_of(KeyVaultConfig),
    place=_same_place,
    traits=lambda _: Traits(
        rules=NameRules(
            pattern="[0-9A-Za-z_-]{1,127}",
            words="letters, digits, hyphens and underscores, which are written as hyphens, 127 at most",
            value_bytes_max=25_000,
        )
    ),
    open=lambda place: _Secrets(place).table(),
)
