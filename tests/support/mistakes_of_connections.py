"""Mistakes in AppConnections."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from uuid import uuid4

from support.mistakes import Cure, Mistake, Scene, Told
from tools.local.kube_api import Body

__all__ = ["MISTAKES_OF_CONNECTIONS"]

_KIND = "AppConnection"
_SECRET = "machineIdentityClientSecret"


def _connection(**spec: object) -> Callable[[Scene, str], object]:
    return lambda scene, name: scene.connections.create(name, **spec)


def _credentials(scene: Scene, **changes: object) -> Body:
    """The credentials that lead to the far service, but for the changes; None leaves a field out."""
    good = {
        "instanceUrl": {"value": scene.connections.url},
        "machineIdentityClientId": scene.connections.from_secret("clientId"),
        _SECRET: scene.connections.from_secret("clientSecret"),
    }
    return {name: value for name, value in {**good, **changes}.items() if value is not None}


def _with(**changes: object) -> Callable[[Scene, str], object]:
    return lambda scene, name: scene.connections.create(name, credentials=_credentials(scene, **changes))


def _good_credentials(scene: Scene) -> Mapping[str, object]:
    # A merge patch removes no field of another name by itself.
    return {"credentials": {"url": None, **_credentials(scene)}}


_CORRECTED = Cure(edit=_good_credentials, then="Connected")
_OF_THE_APP = "Correct the credentials or the address as the message says."


def _invalid(name: str, cause: str, **changes: object) -> Mistake:
    told = Told(
        "CredentialsInvalid",
        cause,
        "Correct the field of spec.credentials that the message names.",
        None,
        "spec.credentials",
    )
    edit = _good_credentials if name != "secret-in-clear" else _taken_from_the_secret
    return Mistake(name, _with(**changes), told, Cure(edit=edit, then="Connected"), kind=_KIND)


def _taken_from_the_secret(scene: Scene) -> Mapping[str, object]:
    return {"credentials": {_SECRET: {"value": None, **scene.connections.from_secret("clientSecret")}}}


def _with_the_client_id_of_the_secret(scene: Scene) -> Mapping[str, object]:
    of_the_secret = scene.connections.from_secret("clientId")
    return {"credentials": {"machineIdentityClientId": {"value": None, **of_the_secret}}}


def _as(role: str | None) -> Callable[[Scene, str], object]:
    def make(scene: Scene, name: str) -> object:
        login = scene.new_login(role)
        return scene.connections.create(name, identityRef={"name": scene.identity(name, login)})

    return make


def _denied(name: str, role: str | None, cause: str, what: str) -> Mistake:
    told = Told(
        "PermissionDenied",
        cause,
        f"Give the identity a role that may {what}, such as admin.",
        f"keybearer members set {{client-id-of-{name}}} --project {{project}} --role admin",
        turn="ServiceAdministrator",
    )
    cure = Cure(
        do=lambda scene, _: _ask(scene, name),
        then="Connected",
    )
    return Mistake(name, _as(role), told, cure, kind=_KIND)


def _ask(scene: Scene, name: str) -> None:
    asked: Body = {"metadata": {"annotations": {"keybearer.dev/requestedAt": "after the command"}}}
    scene.tenant.api.patch(_KIND, scene.tenant.namespace, name, asked)


MISTAKES_OF_CONNECTIONS: tuple[Mistake, ...] = (
    Mistake(
        "wrong-app",
        _connection(app="awss"),
        Told(
            "UnknownApp",
            "spec.app awss is none of auth0, aws, azure-key-vault, external-infisical, gcp, github, gitlab",
            "Correct spec.app.",
            "keybearer connections options",
            "spec.app",
        ),
        Cure(shows="external-infisical", edit=lambda _: {"app": "external-infisical"}, then="Connected"),
        kind=_KIND,
    ),
    Mistake(
        "wrong-method",
        _connection(method="machine-identify"),
        Told(
            "UnknownApp",
            "machine-identity; did you mean machine-identity?",
            "Correct spec.method.",
            "keybearer connections options",
            "spec.method",
        ),
        Cure(shows="machine-identity", edit=lambda _: {"method": "machine-identity"}, then="Connected"),
        kind=_KIND,
    ),
    _invalid(
        "secret-in-clear",
        f"spec.credentials.{_SECRET} is secret: put it into a Secret",
        **{_SECRET: {"value": "cnry-in-clear"}},
    ),
    _invalid("lacks-a-field", f"spec.credentials.{_SECRET} is required", **{_SECRET: None}),
    _invalid(
        "unknown-field",
        "spec.credentials.url is not a field that exists",
        url={"value": "https://secrets.example.com"},
    ),
    Mistake(
        "no-such-secret",
        _with(**{_SECRET: {"valueFrom": {"secretKeyRef": {"name": "far-login", "key": "clientSecret"}}}}),
        Told(
            "CredentialsNotFound",
            "Secret {namespace}/far-login doesn't exist",
            f"Create Secret far-login with the key clientSecret, or correct spec.credentials.{_SECRET}.",
            "kubectl -n {namespace} create secret generic far-login --from-file=clientSecret=FILE",
            f"spec.credentials.{_SECRET}",
        ),
        Cure(words=lambda scene: {"FILE": str(scene.home / "far-secret")}, then="Connected"),
        kind=_KIND,
    ),
    Mistake(
        "no-such-key-of-it",
        _with(**{_SECRET: {"valueFrom": {"secretKeyRef": {"name": "remote-login", "key": "secret"}}}}),
        Told(
            "CredentialsNotFound",
            "Secret {namespace}/remote-login has no key secret",
            f"Add the key secret to Secret remote-login, or correct spec.credentials.{_SECRET}.",
            "kubectl -n {namespace} describe secret remote-login",
            f"spec.credentials.{_SECRET}",
        ),
        Cure(shows="clientSecret:", edit=_good_credentials, then="Connected"),
        kind=_KIND,
    ),
    _denied(
        "connection-no-role", None, "You are not allowed to read on app-connections", "look up connections"
    ),
    _denied(
        "connection-member",
        "member",
        "You are not allowed to create on app-connections",
        "create connection connection-member",
    ),
    Mistake(
        "nobody-there",
        _with(instanceUrl={"value": "http://127.0.0.1:9"}),
        Told("ConnectionRefused", "the host can't be reached", _OF_THE_APP, None, "spec.credentials"),
        _CORRECTED,
        kind=_KIND,
    ),
    Mistake(
        "private-address",
        _with(instanceUrl={"value": "http://10.1.1.1:9"}),
        Told(
            "ConnectionRefused",
            "the host has only private addresses",
            "Have the service started with --allow-outbound and the address",
            None,
            "spec.credentials",
            "ServiceAdministrator",
        ),
        _CORRECTED,
        kind=_KIND,
    ),
    Mistake(
        # Not a wrong secret of the right client id: a few tries would lock it, also for the other rows.
        "wrong-far-client-id",
        _with(machineIdentityClientId={"value": str(uuid4())}),
        Told("ConnectionRefused", "doesn't take the credentials", _OF_THE_APP, None, "spec.credentials"),
        Cure(edit=_with_the_client_id_of_the_secret, then="Connected"),
        kind=_KIND,
    ),
)
