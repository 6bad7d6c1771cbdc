"""Mistakes in identity Secrets, and in the rights of identities."""

from __future__ import annotations

from collections.abc import Callable

from support.mistakes import Cure, Mistake, Scene, Told, sync_of
from support.operator_fixtures import REMOTE_INSECURE_URL
from support.secretsync_objects import secret

__all__ = ["MISTAKES_OF_IDENTITIES"]

_LOOK = "kubectl -n {namespace} describe secret "


def _reader(identity: str) -> Callable[[Scene, str], object]:
    return sync_of(identityRef={"name": identity}, target={"name": f"{identity}-target"})


def _reading_as(**changes: str) -> Callable[[Scene, str], object]:
    """Return what makes a SecretSync, and an identity Secret of its name with a login's keys but for the changes."""

    def make(scene: Scene, name: str) -> object:
        identity = scene.identity(name, scene.admin.new_login(scene.tenant.project.id), **changes)
        return _reader(identity)(scene, name)

    return make


def _reading_with(**keys: str) -> Callable[[Scene, str], object]:
    """Return the same with these keys alone."""

    def make(scene: Scene, name: str) -> object:
        scene.identity(name, None, **keys)
        return _reader(name)(scene, name)

    return make


def _corrected(name: str) -> Cure:
    """The keys are what they are to be, after a look at those that there are."""
    return Cure(shows="Name:", do=lambda scene, _: _write_login(scene, name))


def _write_login(scene: Scene, name: str) -> None:
    login = scene.admin.new_login(scene.tenant.project.id).as_secret()
    body = secret(scene.tenant.namespace, name, login)
    held = scene.tenant.api.get("Secret", scene.tenant.namespace, name).get("data", {})
    scene.tenant.api.patch(
        "Secret", scene.tenant.namespace, name, {"data": {**dict.fromkeys(held), **body["data"]}}
    )


def _invalid(name: str, cause: str, step: str, make: Callable[[Scene, str], object]) -> Mistake:
    told = Told("IdentityInvalid", cause, f"Correct Secret {name}: {step}", _LOOK + name, f"Secret {name}")
    return Mistake(name, make, told, _corrected(name))


def _without_a_role(scene: Scene, name: str) -> object:
    scene.identity(name, scene.admin.new_login())
    return _reader(name)(scene, name)


def _losing_its_role(scene: Scene, name: str) -> object:
    """It was Ready with a role, and is next compared in an hour."""
    login = scene.new_login("viewer")
    made = _reader(scene.identity(name, login))(scene, name)
    scene.tenant.until_ready(name)
    scene.tenant.until_updates(name)
    scene.admin.client.memberships.put_identity(
        login.identity_id, project_id=scene.tenant.project.id, roles=("no-access",)
    )
    return made


MISTAKES_OF_IDENTITIES: tuple[Mistake, ...] = (
    Mistake(
        "wrong-secret",
        _reading_as(clientSecret="cnry-wrong"),
        Told(
            "CredentialsRejected",
            "refuses the credentials: Invalid credentials",
            "Put a fresh client secret into Secret wrong-secret.",
            "keybearer identities client-secret create {client-id-of-wrong-secret} --manifest wrong-secret "
            "| kubectl -n {namespace} apply --server-side --force-conflicts -f -",
            "Secret wrong-secret, key clientSecret",
        ),
        Cure(),
    ),
    Mistake(
        "no-role",
        _without_a_role,
        Told(
            "PermissionDenied",
            "You are not allowed to read on secrets",
            "Give the identity a role that may read {project}/dev:/, such as viewer.",
            "keybearer members set {client-id-of-no-role} --project {project} --role viewer",
            turn="ServiceAdministrator",
        ),
        Cure(do=lambda scene, _: _ask(scene, "no-role")),
    ),
    Mistake(
        "lost-role",
        _losing_its_role,
        Told(
            "PermissionDenied",
            "You are not allowed to read on secrets",
            "Give the identity a role that may read {project}/dev:/, such as viewer.",
            "keybearer members set {client-id-of-lost-role} --project {project} --role viewer",
            turn="ServiceAdministrator",
        ),
        # Nobody asks: the operator looks again within a minute.
        Cure(),
    ),
    Mistake(
        "no-identity",
        sync_of(identityRef={"name": "absent"}),
        Told(
            "IdentityNotFound",
            "identity Secret {namespace}/absent doesn't exist",
            "Create the Secret absent with the credentials of a machine identity",
            "kubectl -n {namespace} create secret generic absent --from-literal=clientId=CLIENT_ID "
            "--from-file=clientSecret=FILE",
            "spec.identityRef.name",
        ),
        Cure(
            words=lambda scene: {
                "CLIENT_ID": scene.tenant.login.client_id,
                "FILE": str(scene.home / "client-secret"),
            }
        ),
    ),
    _invalid(
        "keys-in-snake-case",
        "Found: client_id, client_secret; rename client_id to clientId",
        "rename client_id to clientId, rename client_secret to clientSecret.",
        _reading_with(client_id="cnry-a", client_secret="cnry-b"),
    ),
    _invalid(
        "half-a-login", "Found: clientId; add clientSecret", "add clientSecret.", _reading_with(clientId="a")
    ),
    _invalid(
        "no-audience",
        "; add audience",
        "add audience.",
        _reading_with(identityId="a", serviceAccountName="b"),
    ),
    _invalid(
        "two-logins",
        "Found: accessToken, clientId, clientSecret",
        "give it one of the sets of keys",
        _reading_as(accessToken="cnry-c"),
    ),
    _invalid("no-keys", "Found: no keys", "give it one of the sets of keys", _reading_with()),
    _invalid(
        "other-keys",
        "Found: secret, token, user",
        "give it one",
        _reading_with(user="a", secret="b", token="c"),
    ),
    _invalid(
        "empty-value", "clientSecret is empty", "give clientSecret a value.", _reading_as(clientSecret="")
    ),
    _invalid(
        "no-address",
        "its url is no address such as https://host:port",
        "give url an address such as https://host:port, or remove the key.",
        _reading_as(url="secrets.example.com"),
    ),
    _invalid(
        "no-certificate",
        "caBundle holds no PEM certificate",
        "give caBundle certificates as PEM, or remove the key.",
        _reading_as(caBundle="cnry"),
    ),
    Mistake(
        "foreign-service",
        _reading_as(url="https://evil.example.com"),
        Told(
            "UrlNotAllowed",
            "its url leads to evil.example.com, which is not on the operator's list",
            "Remove the key url from Secret foreign-service",
            "kubectl -n {namespace} patch secret foreign-service --type=json "
            '-p=\'[{"op":"remove","path":"/data/url"}]\'',
            "Secret foreign-service, key url",
        ),
        Cure(),
    ),
    Mistake(
        "plain-http",
        _reading_as(url=REMOTE_INSECURE_URL),
        Told(
            "UrlNotAllowed",
            "is plain http; use https",
            "Give the key url of Secret plain-http an address with https, or remove the key.",
            "kubectl -n {namespace} patch secret plain-http --type=json "
            '-p=\'[{"op":"remove","path":"/data/url"}]\'',
            "Secret plain-http, key url",
        ),
        Cure(),
    ),
    Mistake(
        "bad-token",
        _reading_with(accessToken="cnry-none"),
        Told(
            "CredentialsRejected",
            "The provided access token is malformed",
            "Put an access token that is still valid into Secret bad-token.",
            None,
            "Secret bad-token, key accessToken",
        ),
        Cure(do=lambda scene, _: _put_a_token(scene)),
    ),
    Mistake(
        "no-audiences-known",
        _reading_with(identityId="a", serviceAccountName="default", audience="keybearer.test"),
        Told(
            "IdentityInvalid",
            "the operator doesn't know the audiences of the API server",
            "Start the operator with --api-audience",
            turn="ClusterAdministrator",
        ),
    ),
)


def _ask(scene: Scene, name: str) -> None:
    """A person asks the operator to look again: what was changed in the service, no event tells."""
    scene.tenant.request(name)


def _put_a_token(scene: Scene) -> None:
    token = scene.admin.new_token(scene.tenant.login)
    data = secret(scene.tenant.namespace, "bad-token", {"accessToken": token})["data"]
    scene.tenant.api.patch("Secret", scene.tenant.namespace, "bad-token", {"data": data})
