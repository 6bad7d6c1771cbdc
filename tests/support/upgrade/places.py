"""Places that syncs of an earlier version pushed to, the same for who writes its database and for who upgrades it.

What proves who asks is the same each time, so that connections of the written database still hold. Places that a
connection or a sync names by their address are elsewhere each time: `moves` says so.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from keybearer.base.clock import SystemClock
from keybearer.destinations.cloud_credentials import AccessKeyCredentials
from keybearer.destinations.remote import segment
from support.remotes.azure import AzureCopy
from support.remotes.beside import served_beside
from support.remotes.codehost import CodehostCopy, HeldSecret, SecretsPlace
from support.remotes.gcp import GcpCopy, GcpSecret, GcpVersion, new_key
from support.remotes.gitlab import GitLabCopy, Variable, VariablesPlace
from support.remotes.moto import CloudFixture, CloudProxy
from support.remotes.other_service import OtherFolder
from support.remotes.vault import VERSION_2, VaultServer
from support.service_proxy import ServiceProxy
from support.upgrade.cloud import CLOUD_KEY, cloud_places
from support.upgrade.place import Json, OldPlace
from tools.local.moto import Moto

__all__ = ["OldPlaces", "old_places"]

_TENANT = "11111111-2222-4333-8444-555555555555"
_CLIENT = "66666666-7777-4888-8999-aaaaaaaaaaaa"
_OWN = "keybearer@ops.iam.gserviceaccount.com"
_VAULT_TOKEN = "cnry-token-of-vault"
_SHOP = "projects/shop"


@dataclass(frozen=True)
class OldPlaces:
    """All of them, and what a service is told at its start so that it reaches them.

    Attributes:
        places: by their titles.
        killed: a repository of the code host, while the old service wrote to which it was killed.
        failed: a project of GitLab to which the old service never pushed, because it answered nothing but 502.
        stuck: another one that began to answer so later, when there was nothing new to push.
        flags: of `keybearer serve`.
    """

    places: Mapping[str, OldPlace]
    codehost: CodehostCopy
    gitlab: GitLabCopy
    gcp: GcpCopy
    killed: OldPlace
    failed: OldPlace
    stuck: OldPlace
    flags: tuple[str, ...]

    @property
    def all(self) -> tuple[OldPlace, ...]:
        """Also those whose push had not ended."""
        return (*self.places.values(), self.killed, self.failed, self.stuck)


@contextmanager
def old_places(directory: Path, moto: Moto, vault: VaultServer, other: OtherFolder) -> Iterator[OldPlaces]:
    """Yield all places, empty.

    Args:
        directory: for a file with what the service itself has at Google.
        moto: is forgotten all that it holds.
        vault: gets an engine of its own.
        other: a folder of another service.
    """
    with ExitStack() as running:
        gitlab, codehost = GitLabCopy(), CodehostCopy(SystemClock())
        azure, gcp = AzureCopy(), GcpCopy()
        for copy in (gitlab, codehost, azure, gcp):
            running.enter_context(served_beside(copy))
        gitlab.tokens, codehost.tokens = {"glpat-cnry-old": "api"}, {"ghp_cnry-old": True}
        azure.clients = {f"{_TENANT}/{_CLIENT}": "cnry-secret-of-the-client"}
        azure.rights = set(azure.clients)
        key, gcp.keys[_OWN] = new_key()
        own = directory / "own.json"
        own.write_text(json.dumps({"type": "service_account", "client_email": _OWN, "private_key": key}))
        moto.ask("fresh")
        moto.ask("user", name="keybearer", actions=["*"], partition="aws", key=CLOUD_KEY)
        proxy = running.enter_context(CloudProxy(moto))
        cloud = CloudFixture(moto, proxy, AccessKeyCredentials.model_validate(CLOUD_KEY))
        before_vault = running.enter_context(ServiceProxy(vault.url))
        places = [
            _gitlab(
                gitlab, "gitlab", {"scope": "project", "projectId": "acme/shop"}, schema="APP_{{secretKey}}"
            ),
            _gitlab(
                gitlab,
                "gitlab-hidden",
                {"scope": "group", "groupId": "acme", "shouldMaskSecrets": True, "shouldHideSecrets": True},
            ),
            _codehost(codehost, "codehost", "shop"),
            _azure(azure),
            _gcp(gcp),
            *cloud_places(cloud),
            running.enter_context(_vault(vault, before_vault)),
            _other(other),
        ]
        yield OldPlaces(
            {place.title: place for place in places},
            codehost,
            gitlab,
            gcp,
            _codehost(codehost, "killed", "killed"),
            _gitlab(gitlab, "failed", {"scope": "project", "projectId": "acme/failed"}),
            _gitlab(gitlab, "stuck", {"scope": "project", "projectId": "acme/stuck"}),
            (
                *("--app-endpoint", f"gitlab={gitlab.url}", "--app-endpoint", f"codehost={codehost.url}"),
                *("--app-endpoint", f"azure-key-vault={azure.url}", "--app-endpoint", f"gcp={gcp.url}"),
                *("--app-credentials", f"gcp={own}", "--app-endpoint", f"cloud={proxy.url}"),
                *("--allow-outbound", "127.0.0.0/8"),
            ),
        )


def _gitlab(copy: GitLabCopy, title: str, config: Json, schema: str | None = None) -> OldPlace:
    is_group = config["scope"] == "group"
    there: VariablesPlace = copy.group(config["groupId"]) if is_group else copy.project(config["projectId"])
    path = f"/groups/{config['groupId']}/" if is_group else f"/projects/{segment(config['projectId'])}/"

    def restore(held: Json) -> None:
        there.variables = [Variable(**one) for one in held["variables"]]

    return OldPlace(
        title,
        "gitlab",
        "gitlab",
        "access-token",
        {"accessToken": "glpat-cnry-old", "accessTokenType": "personal"},
        config,
        there.values,
        there.put,
        # In a group, a variable that wasn't listed is created at first; that it exists is no change.
        lambda: sum(
            path in one.line and one.method != "GET" and one.status < 400 for one in copy.visits.asked
        ),
        lambda: {"variables": [vars(one) for one in there.variables]},
        restore,
        {} if schema is None else {"keySchema": schema},
    )


def _codehost(copy: CodehostCopy, title: str, repo: str) -> OldPlace:
    there: SecretsPlace = copy.repository("acme", repo)

    def left() -> Json:
        return {name: [one.value, one.updated_at.isoformat()] for name, one in there.secrets.items()}

    def restore(held: Json) -> None:
        there.secrets.clear()
        for name, (value, at) in held.items():
            instant = datetime.fromisoformat(at)
            there.secrets[name] = HeldSecret(value, instant, instant)

    return OldPlace(
        title,
        "codehost",
        "codehost",
        "pat",
        {"personalAccessToken": "ghp_cnry-old"},
        {"scope": "repository", "owner": "acme", "repo": repo},
        there.values,
        lambda name, value: copy.put(there, name, value),
        lambda: sum(f"/acme/{repo}/" in line for line in copy.visits.writes()),
        left,
        restore,
    )


def _azure(copy: AzureCopy) -> OldPlace:
    def restore(held: Json) -> None:
        copy.secrets.clear()
        for name, value in held.items():
            copy.put(name, value)

    return OldPlace(
        "azure",
        "azure-key-vault",
        "azure-key-vault",
        "client-secret",
        {"tenantId": _TENANT, "clientId": _CLIENT, "clientSecret": "cnry-secret-of-the-client"},
        {"vaultBaseUrl": copy.url},
        copy.values,
        copy.put,
        lambda: sum("oauth2" not in line for line in copy.visits.writes()),
        copy.values,
        restore,
        moves=True,
    )


def _gcp(copy: GcpCopy) -> OldPlace:
    def put(name: str, value: str) -> None:
        copy.projects[_SHOP][name] = GcpSecret({"automatic": {}}, [GcpVersion(value.encode())])

    def restore(held: Json) -> None:
        copy.projects = {_SHOP: {}}
        for name, value in held.items():
            put(name, value)

    copy.projects = {_SHOP: {}}
    return OldPlace(
        "gcp",
        "gcp-secret-manager",
        "gcp",
        "service-account-impersonation",
        {},
        {"scope": "global", "projectId": "shop"},
        lambda: copy.values(_SHOP),
        put,
        lambda: sum("/secrets" in line for line in copy.visits.writes()),
        lambda: copy.values(_SHOP),
        restore,
    )


@contextmanager
def _vault(server: VaultServer, proxy: ServiceProxy) -> Iterator[OldPlace]:
    server.mount("shop", VERSION_2)
    server.call(
        "PUT",
        "sys/policies/acl/shop",
        {"policy": 'path "shop/*" { capabilities = ["create", "read", "update", "patch", "delete"] }'},
        status=204,
    )
    token = {"id": _VAULT_TOKEN, "policies": ["shop"], "ttl": "1h"}
    server.call("POST", "auth/token/create", token)

    def values() -> Json:
        answer = server.root.get("/v1/shop/data/app")
        found: Json = {} if answer.status_code == 404 else answer.json()["data"]["data"]
        return found

    def put_all(held: Json) -> None:
        server.call("POST", "shop/data/app", {"data": held})

    yield OldPlace(
        "vault",
        "hashicorp-vault",
        "hashicorp-vault",
        "access-token",
        {"instanceUrl": proxy.url, "accessToken": _VAULT_TOKEN},
        {"mount": "shop", "path": "app"},
        values,
        lambda name, value: put_all({**values(), name: value}),
        lambda: sum(one.method != "GET" for one in proxy.requests()),
        values,
        put_all,
        moves=True,
    )
    server.call("POST", "auth/token/revoke", {"token": _VAULT_TOKEN}, status=204)
    server.call("DELETE", "sys/mounts/shop", status=204)


def _other(folder: OtherFolder) -> OldPlace:
    return OldPlace(
        "other",
        "external-infisical",
        "external-infisical",
        "machine-identity",
        folder.credentials.model_dump(by_alias=True),
        folder.config.model_dump(by_alias=True),
        lambda: folder.values,
        lambda name, value: folder.put(**{name: value}),
        lambda: len(folder.changes()),
        lambda: folder.values,
        lambda held: folder.put(**held),
        moves=True,
    )
