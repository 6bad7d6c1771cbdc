"""A folder at another server of this API, a second one of ours too (wire.md section 2).

The server may know the newer routes (v4) or only the older ones (v3). Values are read and written as they are stored:
references in them stay text. A batch is one transaction there.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Annotated, cast
from urllib.parse import urlencode

from pydantic import JsonValue

from keybearer.destinations.app import Answers, App, Issued
from keybearer.destinations.content import field_of, text_of, text_or_none, version_of
from keybearer.destinations.form import DestinationKind, NamedPlaces, Place, config_of
from keybearer.destinations.listing import Listing, Row
from keybearer.destinations.login import log_in
from keybearer.destinations.protocol import Outgoing, Present
from keybearer.destinations.remote import RemoteAnswer, RemoteDeniedError, RemoteError
from keybearer.destinations.session import Call, Session
from keybearer.destinations.table import PutMany, RemoveMany, Table
from keybearer.wire.base import Confidential
from keybearer.wire.credentials import Credentials, Method, Uuid, trimmed
from keybearer.wire.destination_forms import DestinationConfig
from keybearer.wire.instance_url import InstanceUrl
from keybearer.wire.key_schema import KeyNaming
from keybearer.wire.limits import ENVIRONMENT_SLUG_MAX, FOLDER_PATH_MAX

__all__ = ["EXTERNAL_INFISICAL", "ExternalInfisicalConfig", "MachineIdentityCredentials"]

_BATCH = 100
_NEW = {
    "secrets": "/api/v4/secrets",
    "batch": "/api/v4/secrets/batch",
    "project": "projectId",
    "imports": "includeImports",
}
_OLD = {
    "secrets": "/api/v3/secrets/raw",
    "batch": "/api/v3/secrets/batch/raw",
    "project": "workspaceId",
    "imports": "include_imports",
}


class MachineIdentityCredentials(Credentials):
    """What a machine identity logs in with, by Universal Auth (wire.md section 1.2)."""

    instance_url: InstanceUrl
    machine_identity_client_id: Uuid
    machine_identity_client_secret: Annotated[Confidential, trimmed(512)]


class ExternalInfisicalConfig(DestinationConfig):
    """Words of the other server: whether they name something there shows when secrets are carried."""

    project_id: Annotated[str, trimmed(64)]
    environment: Annotated[str, trimmed(ENVIRONMENT_SLUG_MAX)]
    secret_path: Annotated[str, trimmed(FOLDER_PATH_MAX)]


async def _log_in(session: Session) -> Issued:
    """Return a token, and which routes the server has: without the newer ones it answers 404 to them."""
    given = session.credentials_as(MachineIdentityCredentials)
    client_id, client_secret = given.machine_identity_client_id, given.machine_identity_client_secret
    call = Call(
        "POST",
        "/api/v1/auth/universal-auth/login",
        "log the machine identity in",
        body={"clientId": client_id, "clientSecret": client_secret},
        holds_values=True,
    )
    issued = await log_in(session, call, token="accessToken", ends="expiresIn")
    headers = {"Authorization": f"Bearer {issued.parts['token']}"}
    probe = Call("GET", _NEW["secrets"], "say which routes it has", headers=headers)
    answer = await session.ask_without_token(probe, also=lambda found: found.status < 500)
    return replace(issued, parts={**issued.parts, "routes": "old" if answer.status == 404 else "new"})


def _kind(answer: RemoteAnswer) -> type[RemoteError] | None:
    # Most answers hold no such word, and are read only once.
    may_wait = answer.status == 200 and b'"approval"' in answer.body
    waits = may_wait and field_of(answer.json_or_none(), "approval") is not None
    return RemoteDeniedError if waits else None


_APP = App(
    name="external-infisical",
    title="Infisical",
    methods={
        "machine-identity": Method(MachineIdentityCredentials, ("instance_url", "machine_identity_client_id"))
    },
    # People name the server with the API's path as well as without.
    root=lambda session: (
        session.credentials_as(MachineIdentityCredentials).instance_url.rstrip("/").removesuffix("/api")
    ),
    issue=_log_in,
    # Published servers answer 403 for a token that has ended (wire.md section 8.2).
    stale=frozenset({401, 403}),
    answers=Answers(
        who="the server",
        word=lambda content: field_of(content, "error"),
        kind=_kind,
        hints={200: "changes of that folder need somebody's approval at the server, and none was made"},
    ),
)


class _Folder:
    """The calls of one folder, to the routes that the server has."""

    def __init__(self, place: Place) -> None:
        self._session = place.session
        self._config = place.config_as(ExternalInfisicalConfig)
        self._routes = _NEW

    def table(self) -> Table:
        return Table(
            place=f"the folder {self._config.secret_path}",
            prepare=self._choose_routes,
            listing=Listing(first=self._list, rows=lambda page: field_of(page, "secrets"), row=_row),
            write=PutMany(call=self._put, names=_BATCH, versions=_versions),
            remove=RemoveMany(self._remove, _BATCH),
        )

    async def _choose_routes(self) -> None:
        self._routes = _OLD if (await self._session.token())["routes"] == "old" else _NEW

    def _where(self) -> dict[str, JsonValue]:
        given = self._config.where()
        return {self._routes["project"]: given.pop("projectId"), **given}

    def _list(self) -> Call:
        asked = {"viewSecretValue": "true", "expandSecretReferences": "false", "recursive": "false"}
        query = urlencode({**self._where(), **asked, self._routes["imports"]: "false"})
        return Call("GET", f"{self._routes['secrets']}?{query}", "list secrets")

    def _put(self, batch: Sequence[Outgoing]) -> Call:
        items: list[JsonValue] = [{"secretKey": one.name, "secretValue": one.value} for one in batch]
        named = f"the secret '{batch[0].name}'" if len(batch) == 1 else "a batch of secrets"
        body: JsonValue = {**self._where(), "mode": "upsert", "secrets": items}
        return Call("PATCH", self._routes["batch"], f"write {named}", body=body, holds_values=True)

    def _remove(self, names: Sequence[str]) -> Call:
        items: list[JsonValue] = [{"secretKey": name, "type": "shared"} for name in names]
        body: JsonValue = {**self._where(), "secrets": items}
        return Call("DELETE", self._routes["batch"], "remove secrets", body=body, taken=frozenset({404}))


def _versions(answer: RemoteAnswer) -> Mapping[str, str]:
    written = field_of(answer.json(), "secrets")
    items = written if isinstance(written, list) else []
    told = [(text_or_none(one, "secretKey"), version_of(one, "version")) for one in items]
    return {name: version for name, version in told if name and version}


def _row(secret: JsonValue) -> Row | None:
    if (field_of(secret, "type") or "shared") != "shared":
        return None
    if field_of(secret, "secretValueHidden") is True:
        raise RemoteDeniedError(
            "the machine identity may not see the values of secrets there, which a sync needs"
        )
    value = text_of(secret, "secretValue", may_be_empty=True)
    return Row(text_of(secret, "secretKey"), Present(value, version_of(secret, "version")))


def _name(config: DestinationConfig, _: KeyNaming) -> str:
    given = cast("ExternalInfisicalConfig", config)
    return f"{given.project_id}/{given.environment}/{given.secret_path.strip('/')}".rstrip("/")


EXTERNAL_INFISICAL = DestinationKind(
    name="external-infisical",
    title="Infisical",
    app=_APP,
    can_import=True,
    config=config_of(ExternalInfisicalConfig),
    places=NamedPlaces(form="PROJECT/ENVIRONMENT/FOLDER", name=_name),
    open=lambda place: _Folder(place).table(),
)
