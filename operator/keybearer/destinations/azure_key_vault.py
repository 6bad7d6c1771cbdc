"""Secrets of a vault of Azure: one per key.

https://learn.microsoft.com/rest/api/keyvault/secrets and
https://learn.microsoft.com/entra/identity-platform/v2-oauth2-client-creds-grant-flow (2026-11-23). Names there are
letters, digits and hyphens, upper and lower case are the same, and underscores are written as hyphens. What is
deleted can be recovered for a while, and must be before its name can be used again.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Annotated, cast

from pydantic import JsonValue

from keybearer.destinations.app import Answers, App, Issued
from keybearer.destinations.content import field_of, part_of, says, text_of
from keybearer.destinations.form import DestinationKind, NamedPlaces, Place, config_of
from keybearer.destinations.listing import LookUp, Row, Unusable, by_token
from keybearer.destinations.login import client_credentials, log_in
from keybearer.destinations.name_rules import NameRules
from keybearer.destinations.protocol import Outgoing, Present, Traits
from keybearer.destinations.remote import RemoteAnswer, RemoteRefusedError
from keybearer.destinations.session import Call, Session
from keybearer.destinations.table import Preparation, Put, Remove, Spelling, Table
from keybearer.wire.base import Confidential
from keybearer.wire.credentials import Credentials, Method, Uuid, trimmed
from keybearer.wire.destination_forms import DestinationConfig
from keybearer.wire.instance_url import InstanceUrl
from keybearer.wire.key_schema import KeyNaming

__all__ = ["AZURE_KEY_VAULT", "ClientSecretCredentials", "KeyVaultConfig"]

_VERSION = "api-version=7.4"
_VAULT = re.compile(r"https://[0-9a-z.-]+\.vault\.azure\.net(:[0-9]+)?", re.IGNORECASE)
_ID_NAME = "https?://[^/]+/secrets/([0-9A-Za-z-]{1,127})(?:/.*)?"
_ID_VERSION = "https?://[^/]+/secrets/[^/]+/([^/]+)"


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
    call = client_credentials(
        f"{session.root('https://login.microsoftonline.com')}/{given.tenant_id}/oauth2/v2.0/token",
        (given.client_id, given.client_secret),
        to="log the app registration in",
        scope="https://vault.azure.net/.default",
        explain=_explain_login,
    )
    return await log_in(session, call, token="access_token", ends="expires_in")


def _explain_login(answer: RemoteAnswer) -> str:
    content = answer.json_or_none()
    # The words of OAuth and of Azure; the rest of what it says may repeat the secret.
    words = re.findall("^[a-z_]{1,64}$", str(field_of(content, "error")))
    words += re.findall("^AADSTS[0-9]{1,10}", str(field_of(content, "error_description")))
    told = f" ({', '.join(words)})" if words else ""
    return (
        "check tenantId, clientId and clientSecret: it must be the value of the secret, not its id, and must not "
        f"have expired{told}"
    )


def _words(content: JsonValue) -> str:
    """Return the words of an error, the outer one first: `Conflict, ObjectIsDeletedButRecoverable`."""
    codes = (field_of(content, "error", *["innererror"] * depth, "code") for depth in range(3))
    return ", ".join(code for code in codes if isinstance(code, str))


_is_deleted = says(409, "ObjectIsDeletedButRecoverable")
"""The name is that of a deleted secret, which can be recovered."""
_is_disabled = says(403, "SecretDisabled")


_APP = App(
    name="azure-key-vault",
    title="Azure Key Vault",
    methods={"client-secret": Method(ClientSecretCredentials, ("tenant_id", "client_id"))},
    root=lambda _: "",
    issue=_log_in,
    answers=Answers(
        who="Azure",
        word=_words,
        message=lambda content: field_of(content, "error", "message"),
        # A vault that deletes or recovers a secret refuses its name until that is done.
        is_busy=lambda answer: answer.status == 409 and not _is_deleted(answer),
        hints={
            401: "the token is of another tenant than the connection's",
            403: "that takes a role or an access policy that lets them get, list, set, delete and recover secrets, "
            "and a firewall that lets the service in",
        },
    ),
)


def _table(place: Place) -> Table:
    """Return the secrets of one vault, but those that are disabled and those of certificates."""
    vault = place.config_as(KeyVaultConfig).vault_base_url.rstrip("/")
    # The token is good for every vault that the app registration may use: it goes to vaults only, unless the
    # operator of the service has a cloud of their own.
    if not _VAULT.fullmatch(vault) and _APP.name not in place.session.context.endpoints:
        raise RemoteRefusedError(
            "vaultBaseUrl must be https://NAME.vault.azure.net: the credentials go to Azure's vaults only"
        )
    return Table(
        place=f"the vault {vault.partition('://')[2]}",
        root=vault,
        listing=by_token(_page, "nextLink", lambda content: field_of(content, "value"), _row),
        look_up=LookUp(
            call=lambda name: Call("GET", _path(name), f"show the secret '{name}'"),
            present=_present,
            taken=_is_disabled,
        ),
        write=Put(
            call=_write,
            version=lambda answer: part_of(answer.json(), "id", _ID_VERSION),
            preparation=Preparation(call=_recover, is_needed=_is_deleted),
        ),
        remove=Remove(lambda name: Call("DELETE", _path(name), f"delete the secret '{name}'")),
        spelling=Spelling(
            spelt=lambda name: name.replace("_", "-"), fold=lambda name: name.replace("_", "-").lower()
        ),
    )


def _path(name: str) -> str:
    return f"/secrets/{name}?{_VERSION}"


def _page(link: str) -> Call:
    # Where a link leads is not followed: whatever it says, the vault itself is asked.
    query = link.partition("?")[2] or f"{_VERSION}&maxresults=25"
    return Call("GET", f"/secrets?{query}", "list the secrets")


def _write(one: Outgoing) -> Call:
    to = f"write the secret '{one.name}'"
    return Call("PUT", _path(one.name), to, body={"value": one.value}, holds_values=True)


def _recover(one: Outgoing) -> Call:
    path, to = f"/deletedsecrets/{one.name}/recover?{_VERSION}", f"recover the deleted secret '{one.name}'"
    # It may have been purged meanwhile.
    return Call("POST", path, to, taken=frozenset({404}))


def _row(one: JsonValue) -> Row:
    name = part_of(one, "id", _ID_NAME)
    if field_of(one, "managed") is True:
        return Row(name, Unusable("belongs to a certificate"))
    is_enabled = field_of(one, "attributes", "enabled") is not False
    return Row(name, Present(None) if is_enabled else Unusable("is disabled"))


def _present(_: str, answer: RemoteAnswer) -> Present | Unusable:
    if _is_disabled(answer):
        return Unusable("is disabled")
    content = answer.json()
    return Present(text_of(content, "value", may_be_empty=True), part_of(content, "id", _ID_VERSION))


def _same_place(config: DestinationConfig) -> Mapping[str, JsonValue]:
    return {field: str(url).rstrip("/").lower() for field, url in config.where().items()}


def _name(config: DestinationConfig, naming: KeyNaming) -> str:
    host = cast("KeyVaultConfig", config).vault_base_url.partition("://")[2].rstrip("/")
    return f"{host}/{naming.name_of('*').replace('_', '-')}"


AZURE_KEY_VAULT = DestinationKind(
    name="azure-key-vault",
    title="Azure Key Vault",
    app=_APP,
    can_import=True,
    config=config_of(KeyVaultConfig),
    places=NamedPlaces(form="HOST/NAME", name=_name, knows_case=False),
    place=_same_place,
    traits=lambda _: Traits(
        rules=NameRules(
            pattern="[0-9A-Za-z_-]{1,127}",
            words="letters, digits, hyphens and underscores, which are written as hyphens, 127 at most",
            value_bytes_max=25_000,
        )
    ),
    open=_table,
)
