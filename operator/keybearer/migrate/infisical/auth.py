"""Who reads: authentication within an object (v1alpha1), or in objects of their own (v1beta1)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from keybearer.migrate.fields import Part
from keybearer.migrate.findings import Notes
from keybearer.migrate.foreign import ForeignObject
from keybearer.migrate.surroundings import CARRIED_ELSEWHERE, Conversion, Surroundings

__all__ = [
    "GROUP",
    "Login",
    "convert_auth",
    "convert_connection",
    "judge_address",
    "login_of",
    "login_of_object",
]

GROUP = "secrets.infisical.com"

_LOGINS: Mapping[str, str] = {
    "kubernetesAuth": "identityId, serviceAccountName and audience",
    "ldapAuth": "identityId, username and password",
}
"""Those that Keybearer has under other names of keys, and what its Secret then holds."""
_UNKNOWN = ("awsIamAuth", "azureAuth", "gcpIdTokenAuth", "gcpIamAuth")
_OLD = ("serviceToken", "serviceAccount")
_LOGINS_OF_OBJECTS = ("universal", "kubernetes", "ldap", "awsIam", "azure", "gcpIdToken", "gcpIam")
_ORDER = ("universalAuth", *_LOGINS, *_UNKNOWN, *_OLD)


@dataclass(frozen=True, slots=True)
class Login:
    """Who reads.

    Attributes:
        secret: a Secret with the keys clientId and clientSecret; None where there is none.
        namespace: where it is.
        scope: what is read, where authentication says so.
    """

    secret: str | None
    namespace: str
    scope: Part | None


def login_of(spec: Part, around: Surroundings, notes: Notes, *, in_namespace: str) -> Login:
    """Return who reads an object of v1alpha1, and note what must be made for it.

    Args:
        spec: of the object.
        around: everything that was read.
        notes: of the object.
        in_namespace: where the identity must be.
    """
    spec.leave_out("tokenSecretReference", "service tokens are not known", "Use a machine identity.")
    auth = spec.part("authentication")
    given = [name for name in _ORDER if auth is not None and name in auth]
    if auth is None or not given:
        around.identity(in_namespace, notes, field="spec.authentication")
        return Login(None, "", None)
    first, *others = given
    for name in others:
        auth.leave_out(
            name, "a second login has no use", "Of several, the first that Keybearer has is taken."
        )
    login = auth.part(first)
    if login is None:
        return Login(None, "", None)
    scope = login.part("secretsScope")
    ref = login.part("credentialsRef") or login.part("serviceTokenSecretReference")
    secret, namespace = (
        (ref.text("secretName"), ref.text("secretNamespace") or "") if ref is not None else (None, "")
    )
    _note_login(first, login, around, notes)
    if first != "universalAuth":
        login.forget()
        return Login(None, "", scope)
    if secret is None or (namespace and in_namespace and namespace != in_namespace):
        around.identity(in_namespace, notes, field=login.path)
        return Login(None, "", scope)
    return Login(secret, namespace, scope)


def _note_login(name: str, login: Part, around: Surroundings, notes: Notes) -> None:
    identity = around.settings.identity
    if name in _LOGINS:
        notes.step(
            login.path, "needs a Secret of another form", f"Make a Secret {identity} with {_LOGINS[name]}."
        )
    elif name != "universalAuth":
        notes.left_out(
            login.path,
            "is a login that Keybearer doesn't have",
            f"Make a Secret {identity} with clientId and clientSecret of the machine identity.",
        )


def login_of_object(
    ref: Part | None, one: ForeignObject, around: Surroundings, notes: Notes, *, in_namespace: str
) -> str:
    """Return the Secret of the identity that an InfisicalAuth leads to, and note what must be made for it."""
    name = ref.text("name") if ref is not None else None
    namespace = (ref.text("namespace") if ref is not None else None) or one.namespace
    field = ref.path if ref is not None else "spec.infisicalAuthRef"
    auth = around.inventory.find(GROUP, "InfisicalAuth", namespace, name or "")
    if auth is None:
        notes.step(
            field, "names an InfisicalAuth that was not given", "Give its manifest as well, or --identity."
        )
        return around.identity(in_namespace, notes, field=field)
    found = _universal_secret(auth)
    if found is None:
        return around.settings.identity  # what it must hold is said of the InfisicalAuth
    if (found[1] or auth.namespace) in (in_namespace, ""):
        return found[0]
    return around.identity(in_namespace, notes, field=field)


def _universal_secret(auth: ForeignObject) -> tuple[str, str] | None:
    """Return name and namespace of the Secret if its keys are called as an identity's are."""
    universal = auth.read(Notes()).part("universal")
    if universal is None:
        return None
    found: list[tuple[str | None, str]] = []
    for name, key in (("clientIdRef", "clientId"), ("clientSecretRef", "clientSecret")):
        ref = universal.part(name)
        if ref is None or ref.text("key") != key:
            return None
        found.append((ref.text("name"), ref.text("namespace") or ""))
    secret, namespace = found[0]
    return (secret, namespace) if secret is not None and found[0] == found[1] else None


def judge_address(spec: Part, notes: Notes) -> None:
    """Note where the address of the service, and whom to trust, are said from now on."""
    for name in ("hostAPI", "address", "tls"):
        if name in spec:
            spec.skip(name)
            notes.step(
                spec.where(name),
                "is said by the operator or the identity, not by the manifest",
                "Give the operator --service-url (and --service-ca-file), or the Secret of the identity the keys url "
                "and caBundle.",
            )


def convert_auth(one: ForeignObject, around: Surroundings, notes: Notes) -> Conversion:
    """Convert an InfisicalAuth: what names it names the Secret of its credentials from now on."""
    spec = one.read(notes)
    method = spec.text("method") or ""
    connection = spec.part("infisicalConnectionRef")
    if connection is not None:
        connection.skip("name", "namespace")
    identity = around.settings.identity
    for name in _LOGINS_OF_OBJECTS:
        login = spec.part(name)
        if login is None:
            continue
        if name != "universal":
            login.forget()
        if name == "universal":
            for field in ("clientIdRef", "clientSecretRef"):
                ref = login.part(field)
                if ref is not None:
                    ref.skip("name", "namespace", "key")
            if _universal_secret(one) is None:
                notes.step(
                    login.path,
                    "has keys of other names",
                    f"Make a Secret {identity} with clientId and clientSecret.",
                )
        elif name in ("kubernetes", "ldap"):
            notes.step(
                login.path,
                "needs a Secret of another form",
                f"Make a Secret {identity} with {_LOGINS[name + 'Auth']}.",
            )
        else:
            notes.left_out(
                login.path,
                f"{method[:40]} is a login that Keybearer doesn't have",
                f"Make a Secret {identity} with clientId and clientSecret of the machine identity.",
            )
    spec.report_rest()
    return CARRIED_ELSEWHERE


def convert_connection(one: ForeignObject, around: Surroundings, notes: Notes) -> Conversion:  # noqa: ARG001 - one form for all
    """Convert an InfisicalConnection: the operator or the identity says where the service is."""
    spec = one.read(notes)
    judge_address(spec, notes)
    spec.report_rest()
    return CARRIED_ELSEWHERE
