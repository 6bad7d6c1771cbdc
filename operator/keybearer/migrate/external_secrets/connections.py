"""Stores of other providers as AppConnections: to push there, and to bring in what they hold."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import replace

from pydantic import JsonValue

from keybearer.controllers.appconnection.resource import APP_CONNECTION
from keybearer.migrate.fields import Part
from keybearer.migrate.findings import NotCarriedError, Notes
from keybearer.migrate.foreign import ForeignObject
from keybearer.migrate.manifests import draft_of
from keybearer.migrate.settings import slug_of
from keybearer.migrate.surroundings import Conversion, Surroundings

__all__ = ["connection_name", "connection_of"]

_ROLE_ARN = re.compile(r"arn:aws[a-z-]*:iam::[0-9]{12}:role/[A-Za-z0-9+=,.@_/-]{1,576}")
_IMPORT = (
    "Bring its contents in with a SecretSync that has it as destination and the annotation keybearer.dev/request: "
    "import, or with keybearer secrets import; then say where they are: --map-store."
)
_CREDENTIALS_AT_HAND = (
    "Make credentials that are no other program's, put them into a Secret, and write an AppConnection."
)

_IMPORTABLE = ("aws", "azurekv", "openbao", "vault")
"""Providers whose secrets can be read back."""

_Credentials = dict[str, JsonValue]


def connection_name(store: str) -> str:
    """Return the name of a store's AppConnection: the service takes slugs of at most 64 characters."""
    return slug_of(store, fallback="store")


def connection_of(
    one: ForeignObject, provider: str, fields: Part, around: Surroundings, notes: Notes
) -> Conversion:
    """Convert a store of a provider that connections can be made to.

    Raises:
        NotCarriedError: there is no such app, or not with such credentials.
    """
    read = _READERS.get(provider)
    if read is None:
        raise NotCarriedError(
            "spec.provider",
            f"Keybearer has no connection to {provider[:60]}",
            "Bring its contents into the service (keybearer secrets import), and say where they are: --map-store.",
        )
    app, method, credentials = read(fields, notes)
    namespace = _only_namespace(one) if one.kind == "ClusterSecretStore" else one.namespace
    spec: dict[str, JsonValue] = {
        "identityRef": {"name": around.identity(namespace, notes)},
        **_project(one, around),
        "app": app,
        "method": method,
        "credentials": credentials,
    }
    if one.kind == "ClusterSecretStore":
        notes.changed(
            "",
            f"serves namespace {namespace} only, where its credentials are",
            "Copy it where else it is needed.",
        )
    fields.report_rest()
    if provider in _IMPORTABLE:
        notes.step("", "the service reads from its own folders, not from other stores", _IMPORT)
    draft = draft_of(one, APP_CONNECTION, spec, notes)
    return Conversion((replace(draft, namespace=namespace, name=connection_name(one.name)),))


def _project(one: ForeignObject, around: Surroundings) -> dict[str, JsonValue]:
    """Return the project that the connection belongs to: where the person says that the store's contents are.

    Without one, it would belong to the organization, where roles of projects allow nothing.
    """
    place = around.settings.store(one.namespace, one.name)
    return {} if place is None else {"projectSlug": place.project_slug}


def _only_namespace(one: ForeignObject) -> str:
    """Return the namespace of all Secrets that a store for the whole cluster names.

    Raises:
        NotCarriedError: there are several, or none.
    """
    found: set[str] = set()
    waiting: list[JsonValue] = [dict(one.spec)]
    while waiting:
        value = waiting.pop()
        if isinstance(value, list):
            waiting += value
        elif isinstance(value, dict):
            waiting += value.values()
            namespace = value.get("namespace")
            if isinstance(namespace, str) and "name" in value:
                found.add(namespace)
    if len(found) != 1:
        raise NotCarriedError(
            "",
            "an AppConnection stays in one namespace with its credentials, and these name none or several",
            "Write one in each namespace that pushes; " + _IMPORT[:1].lower() + _IMPORT[1:],
        )
    return found.pop()


def _kept(part: Part | None, name: str) -> JsonValue:
    """Return the credential that a selector names; None where there is none."""
    selector = part.part(name) if part is not None else None
    if selector is None:
        return None
    selector.skip("namespace")
    return {"valueFrom": {"secretKeyRef": {"name": selector.text("name"), "key": selector.text("key")}}}


def _plain(text: str | None) -> JsonValue:
    return {"value": text} if text else None


def _given(credentials: Mapping[str, JsonValue]) -> _Credentials:
    return {name: value for name, value in credentials.items() if value is not None}


def _aws(fields: Part, notes: Notes) -> tuple[str, str, _Credentials]:
    fields.skip("region")
    service = fields.text("service") or "SecretsManager"
    if service not in ("ParameterStore", "SecretsManager"):
        raise NotCarriedError(
            fields.where("service"),
            f"the service neither reads nor writes {service[:60]} of AWS",
            "Leave it to External Secrets Operator, or bring its contents into the service.",
        )
    auth = fields.part("auth")
    secret = auth.part("secretRef") if auth is not None else None
    role = fields.text("role")
    if secret is not None:
        if role is not None:
            notes.left_out(
                fields.where("role"),
                "the keys are used as they are, and assume no role",
                "Take keys that may do what the role may, or the method assume-role.",
            )
        return (
            "cloud",
            "access-key",
            _given(
                {
                    "accessKeyId": _kept(secret, "accessKeyIDSecretRef"),
                    "secretAccessKey": _kept(secret, "secretAccessKeySecretRef"),
                }
            ),
        )
    if role is None or _ROLE_ARN.fullmatch(role) is None:
        raise NotCarriedError(
            fields.where("auth"),
            "the service has no ServiceAccount of the cluster to log in with",
            "Give an access key (method access-key) or the ARN of a role (assume-role) in an AppConnection.",
        )
    if auth is not None:
        auth.leave_out(
            "jwt", "the service assumes the role itself", "Let the role trust the service's account."
        )
    return "cloud", "assume-role", {"roleArn": _plain(role)}


def _vault(fields: Part, notes: Notes) -> tuple[str, str, _Credentials]:
    fields.skip("path", "version")
    for name in ("caBundle", "caProvider"):
        if name in fields:
            fields.skip(name)
            notes.step(fields.where(name), "is given to the service", "keybearer serve --outbound-ca FILE.")
    namespace = fields.text("namespace")
    common = _given({"instanceUrl": _plain(fields.text("server")), "namespace": _plain(namespace)})
    auth = fields.part("auth")
    role = auth.part("appRole") if auth is not None else None
    if role is not None:
        if (role.text("path") or "approle").strip("/") != "approle":
            notes.left_out(
                role.where("path"), "the method is looked for at approle", "Mount it there as well."
            )
        role_id = role.text("roleId")
        return (
            "hashicorp-vault",
            "app-role",
            {
                **common,
                **_given(
                    {
                        "roleId": _plain(role_id) or _kept(role, "roleRef"),
                        "secretId": _kept(role, "secretRef"),
                    }
                ),
            },
        )
    if auth is not None and "tokenSecretRef" in auth:
        return (
            "hashicorp-vault",
            "access-token",
            {**common, **_given({"accessToken": _kept(auth, "tokenSecretRef")})},
        )
    raise NotCarriedError(
        fields.where("auth"),
        "the service logs in to Vault by AppRole or a token only",
        "Make an AppRole, put its secret id into a Secret, and write an AppConnection (docs/destinations.md).",
    )


def _azure(fields: Part, _: Notes) -> tuple[str, str, _Credentials]:
    fields.skip("vaultUrl")
    if (fields.text("authType") or "ServicePrincipal") != "ServicePrincipal":
        raise NotCarriedError(
            fields.where("authType"),
            "the service has no identity of the cloud to log in with",
            _CREDENTIALS_AT_HAND,
        )
    secret = fields.part("authSecretRef")
    tenant = fields.text("tenantId")
    credentials = _given(
        {
            "tenantId": _plain(tenant) or _kept(secret, "tenantId"),
            "clientId": _kept(secret, "clientId"),
            "clientSecret": _kept(secret, "clientSecret"),
        }
    )
    if "clientSecret" not in credentials:
        raise NotCarriedError(fields.where("authSecretRef"), "needs a client secret", _CREDENTIALS_AT_HAND)
    return "azure-key-vault", "client-secret", credentials


def _github(fields: Part, _: Notes) -> tuple[str, str, _Credentials]:
    fields.skip("organization", "repository", "environment", "orgSecretVisibility", "uploadURL")
    url = fields.text("url")
    credentials = _given(
        {
            "gitHubAppId": _plain(_id(fields, "appID")),
            "installationId": _plain(_id(fields, "installationID")),
            "privateKey": _kept(fields.part("auth"), "privateKey"),
        }
    )
    host = (url or "").removeprefix("https://").partition("/")[0]
    if host and host not in ("github.com", "api.github.com"):
        credentials["instanceType"] = _plain("server")
        credentials["host"] = _plain(host)
    return "codehost", "github-app", credentials


def _id(fields: Part, name: str) -> str | None:
    """Return a number that is written as one, or as a text."""
    if isinstance(fields.raw(name), str):
        return fields.text(name)
    number = fields.number(name)
    return str(number) if number is not None else None


def _google(fields: Part, _: Notes) -> tuple[str, str, _Credentials]:
    raise NotCarriedError(
        fields.where("auth"),
        "the service logs in to Google by impersonating a service account, not by its key",
        "Let the service's own account impersonate it, and write an AppConnection with serviceAccountEmail.",
    )


_READERS: Mapping[str, Callable[[Part, Notes], tuple[str, str, _Credentials]]] = {
    "aws": _aws,
    "azurekv": _azure,
    "gcpsm": _google,
    "github": _github,
    "vault": _vault,
    "openbao": _vault,
}
