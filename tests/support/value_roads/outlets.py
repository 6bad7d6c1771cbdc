"""The kinds of destinations that syncs carry values to: how each is connected, and what lies there."""

from __future__ import annotations

import json
import secrets
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from keybearer.base.clock import SystemClock
from support.remotes.azure import AzureCopy
from support.remotes.codehost import CodehostCopy
from support.remotes.gcp import GcpCopy, new_key
from support.remotes.gitlab import GitLabCopy
from support.remotes.moto import REGION, CloudProxy
from support.remotes.other_service import OtherProject
from support.remotes.vault import VERSION_2, VaultEngines
from tools.local.moto import Moto

__all__ = ["KINDS", "Copies", "Outlet", "outlet_of"]

Json = dict[str, Any]
KINDS = (
    "hashicorp-vault",
    "external-infisical",
    "cloud-parameter-store",
    "cloud-secrets-manager",
    "codehost",
    "gitlab",
    "gcp-secret-manager",
    "azure-key-vault",
)
_PAT, _GITLAB_TOKEN = "ghp_cnry-admin", "glpat-cnry-admin"
_OWN = "keybearer@ops.iam.gserviceaccount.com"
_TENANT, _CLIENT = "11111111-2222-4333-8444-555555555555", "66666666-7777-4888-8999-aaaaaaaaaaaa"


@dataclass(frozen=True)
class Outlet:
    """A kind of destination.

    Attributes:
        app, method, credentials: of its connections.
        config: of a place of this name.
        shown: what the place of this name holds, as text.
        put: writes one value there as somebody else; None where nothing can be brought back.
    """

    kind: str
    app: str
    method: str
    credentials: Mapping[str, str] = field(repr=False)
    config: Callable[[str], Json]
    shown: Callable[[str], str]
    put: Callable[[str, str, str], object] | None = None


@dataclass
class Copies:
    """Served copies of remotes that no program of is at hand."""

    codehost: CodehostCopy = field(default_factory=lambda: CodehostCopy(SystemClock()))
    gitlab: GitLabCopy = field(default_factory=GitLabCopy)
    gcp: GcpCopy = field(default_factory=GcpCopy)
    azure: AzureCopy = field(default_factory=AzureCopy)

    def open(self) -> Json:
        """Let the service in; return its own credentials at Google's cloud."""
        self.codehost.tokens = {_PAT: True}
        self.gitlab.tokens = {_GITLAB_TOKEN: "api"}
        key, self.gcp.keys[_OWN] = new_key()
        self.azure.clients = {f"{_TENANT}/{_CLIENT}": "cnry-secret"}
        self.azure.rights = set(self.azure.clients)
        return {"type": "service_account", "client_email": _OWN, "private_key": key}


def outlet_of(
    kind: str,
    organization_id: str,
    copies: Copies,
    ask_for: Callable[[str], Any],
) -> Outlet:
    """Return the outlet; `ask_for` gives a running remote by the name of its fixture."""
    match kind:
        case "hashicorp-vault":
            return _vault(ask_for("vault_engines"))
        case "external-infisical":
            return _other_service(ask_for("other_project"))
        case "cloud-parameter-store" | "cloud-secrets-manager":
            return _cloud(kind, ask_for("moto"), ask_for("standing_proxy"))
        case "codehost":
            return _codehost(copies.codehost)
        case "gitlab":
            return _gitlab(copies.gitlab)
        case "gcp-secret-manager":
            return _gcp(copies.gcp, organization_id)
        case "azure-key-vault":
            vault = copies.azure
            return Outlet(
                kind,
                kind,
                "client-secret",
                {"tenantId": _TENANT, "clientId": _CLIENT, "clientSecret": "cnry-secret"},
                lambda _: {"vaultBaseUrl": vault.url},
                lambda _: json.dumps(vault.values()),
                lambda _, key, value: vault.put(key.replace("_", "-"), value),
            )
        case _:
            raise ValueError(f"say how syncs to {kind} are tried, in support/value_roads/outlets.py")


def _vault(engines: VaultEngines) -> Outlet:
    mount, root = engines.mounts[VERSION_2], engines.server.root

    def put(name: str, key: str, value: str) -> None:
        root.post(f"/v1/{mount}/data/{name}", json={"data": {key: value}}).raise_for_status()

    return Outlet(
        "hashicorp-vault",
        "hashicorp-vault",
        "access-token",
        {"instanceUrl": engines.server.url, "accessToken": engines.token},
        lambda name: {"mount": mount, "path": name},
        lambda name: root.get(f"/v1/{mount}/data/{name}").text,
        put,
    )


def _codehost(host: CodehostCopy) -> Outlet:
    def config(name: str) -> Json:
        host.repository("roads", name)
        return {"scope": "repository", "owner": "roads", "repo": name}

    return Outlet(
        "codehost",
        "codehost",
        "pat",
        {"personalAccessToken": _PAT},
        config,
        lambda name: json.dumps(host.repository("roads", name).values()),
    )


def _gitlab(lab: GitLabCopy) -> Outlet:
    def config(name: str) -> Json:
        lab.project(f"roads/{name}")
        return {"scope": "project", "projectId": f"roads/{name}"}

    return Outlet(
        "gitlab",
        "gitlab",
        "access-token",
        {"accessToken": _GITLAB_TOKEN, "accessTokenType": "project", "instanceUrl": lab.url},
        config,
        lambda name: json.dumps(lab.project(f"roads/{name}").values()),
    )


def _other_service(other: OtherProject) -> Outlet:
    known: set[str] = set()

    def config(name: str) -> Json:
        if name not in known:
            other.secrets.folder(f"/{name}")
            known.add(name)
        return {"projectId": other.secrets.project.id, "environment": "dev", "secretPath": f"/{name}"}

    def put(name: str, key: str, value: str) -> None:
        config(name)
        other.write(key, value, f"/{name}")

    return Outlet(
        "external-infisical",
        "external-infisical",
        "machine-identity",
        other.credentials.model_dump(by_alias=True),
        config,
        # As text: what the other service would make of a reference is its own.
        lambda name: json.dumps(other.secrets.values(path=f"/{name}", expandSecretReferences="false")),
        put,
    )


def _cloud(kind: str, moto: Moto, proxy: CloudProxy) -> Outlet:
    assert proxy.url
    key = moto.ask("user", name=f"roads-{secrets.token_hex(4)}", actions=["*"], partition="aws")
    if kind == "cloud-parameter-store":

        def shown(name: str) -> str:
            found = moto.ask("parameters", region=REGION)
            return json.dumps(
                {key: one["value"] for key, one in found.items() if key.startswith(f"/{name}/")}
            )

        return Outlet(
            kind,
            "cloud",
            "access-key",
            key,
            lambda name: {"region": REGION, "path": f"/{name}/"},
            shown,
            lambda name, key, value: moto.ask(
                "put_parameter", name=f"/{name}/{key}", value=value, region=REGION
            ),
        )

    return Outlet(
        kind,
        "cloud",
        "access-key",
        key,
        lambda name: {"region": REGION, "mappingBehavior": "many-to-one", "secretName": name},
        lambda name: str(moto.ask("secrets", region=REGION).get(name, {}).get("value")),
        lambda name, key, value: moto.ask(
            "put_secret", name=name, value=json.dumps({key: value}), region=REGION
        ),
    )


def _gcp(gcp: GcpCopy, organization_id: str) -> Outlet:
    suffix = "-".join(organization_id.split("-")[:2])
    email = f"syncs-{suffix}@shop.iam.gserviceaccount.com"
    gcp.impersonators, gcp.rights = {email: {_OWN}}, {email}

    def config(name: str) -> Json:
        gcp.projects.setdefault(f"projects/{name}", {})
        return {"scope": "global", "projectId": name}

    return Outlet(
        "gcp-secret-manager",
        "gcp",
        "service-account-impersonation",
        {"serviceAccountEmail": email},
        config,
        lambda name: json.dumps(gcp.values(f"projects/{name}")) if f"projects/{name}" in gcp.projects else "",
    )
