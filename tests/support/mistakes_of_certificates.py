"""Mistakes in CertificateProfiles."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from support.certificate_objects import certificate
from support.mistakes import Cure, Mistake, Scene, Told
from support.secretsync_objects import secret
from tools.local.kube_api import Body

__all__ = ["MISTAKES_OF_CERTIFICATES"]

_KIND = "CertificateProfile"
_POLICY = "keybearer policies show web --project {project}"


def _profile(*changes: Mapping[str, object], **spec: object) -> Callable[[Scene, str], object]:
    """Return what makes a CertificateProfile of one certificate, but for the changes of it and of the spec."""

    def make(scene: Scene, name: str) -> object:
        return scene.certificates.create(name, _one(name, *changes), **spec)

    return make


def _one(name: str, *changes: Mapping[str, object]) -> Body:
    whole = certificate(name)
    for change in changes:
        whole |= change
    return whole


def _asking(**attributes: object) -> Callable[[Scene, str], object]:
    """Return the same with these attributes of the certificate."""

    def make(scene: Scene, name: str) -> object:
        asked = {"altNames": [{"value": f"{name}.example.com"}], **attributes}
        return scene.certificates.create(name, {"name": name, "attributes": asked})

    return make


def _refused(name: str, cause: str, **attributes: object) -> Mistake:
    told = Told(
        "RequestRefused",
        cause,
        "Change the spec or the policy, as the message says.",
        _POLICY,
        "spec.certificates",
    )
    shown = Cure(shows="web", edit=lambda _: {"certificates": [certificate(name)]}, then="Issued")
    return Mistake(name, _asking(**attributes), told, shown, kind=_KIND)


def _as(role: str | None) -> Callable[[Scene, str], object]:
    def make(scene: Scene, name: str) -> object:
        login = scene.new_login(role)
        return _profile(identityRef={"name": scene.identity(f"{name}-identity", login)})(scene, name)

    return make


def _denied(name: str, role: str | None, cause: str, what: str) -> Mistake:
    told = Told(
        "PermissionDenied",
        cause,
        f"Give the identity a role that may {what}, such as member.",
        f"keybearer members set {{client-id-of-{name}-identity}} --project {{project}} --role member",
        turn="ServiceAdministrator",
    )
    cure = Cure(
        do=lambda scene, _: scene.certificates.ask(name, "sync"),
        then="Issued",
    )
    return Mistake(name, _as(role), told, cure, kind=_KIND)


def _over_a_taken_secret(scene: Scene, name: str) -> object:
    scene.tenant.api.create(secret(scene.tenant.namespace, name, {"A": "cnry-a"}))
    return _profile()(scene, name)


def _delete_the_taken_secret(scene: Scene, _: str) -> None:
    assert all("taken-secret" not in str(one.get("altNames")) for one in scene.certificates.requests())
    scene.tenant.api.delete("Secret", scene.tenant.namespace, "taken-secret")


MISTAKES_OF_CERTIFICATES: tuple[Mistake, ...] = (
    _denied(
        "certificate-no-role",
        None,
        "You are not allowed to read on certificate-policies",
        "look up policy web",
    ),
    _denied(
        "certificate-viewer",
        "viewer",
        "You are not allowed to create on certificate-profiles",
        "create profile {namespace}-certificate-viewer",
    ),
    Mistake(
        "wrong-policy",
        _profile(policyRef={"name": "wbe"}),
        Told(
            "PolicyNotFound",
            "the service has no policy wbe",
            "Correct spec.policyRef.",
            "keybearer policies list --project {project}",
            "spec.policyRef",
        ),
        Cure(shows="web", edit=lambda _: {"policyRef": {"name": "web"}}, then="Issued"),
        kind=_KIND,
    ),
    Mistake(
        "wrong-authority",
        _profile(caRef={"name": "isuing"}),
        Told(
            "AuthorityNotFound",
            "the service has no authority isuing",
            "Correct spec.caRef.",
            "keybearer authorities list --project {project}",
            "spec.caRef",
        ),
        Cure(shows="issuing", edit=lambda _: {"caRef": {"name": "issuing"}}, then="Issued"),
        kind=_KIND,
    ),
    Mistake(
        "wrong-project",
        _profile(projectId=None, projectSlug="keybearer-dmo"),
        Told(
            "ProjectNotFound",
            "project keybearer-dmo doesn't exist",
            "Correct projectSlug, or give the identity a role in the project.",
            "keybearer projects list",
            "spec.projectSlug",
        ),
        Cure(shows="{slug}", edit=lambda scene: {"projectSlug": scene.tenant.project.slug}, then="Issued"),
        kind=_KIND,
    ),
    Mistake(
        "no-such-profile",
        _profile(existing=True, policyRef=None, caRef=None),
        Told(
            "ProfileNotFound",
            "the service has no profile {namespace}-no-such-profile",
            "Correct spec.slug, or remove existing",
            "keybearer profiles list --project {project}",
            "spec.slug",
        ),
        Cure(
            edit=lambda _: {"existing": None, "policyRef": {"name": "web"}, "caRef": {"name": "issuing"}},
            then="Issued",
        ),
        kind=_KIND,
    ),
    Mistake(
        "taken-secret",
        _over_a_taken_secret,
        Told(
            "TargetConflict",
            "Secret taken-secret exists and was not written by this object",
            "Choose another secretName, or set spec.certificates[].adopt",
            "kubectl -n {namespace} get secret taken-secret --show-managed-fields "
            "-o jsonpath='{.metadata.managedFields[*].manager}'",
            "spec.certificates[].secretName",
        ),
        Cure(do=_delete_the_taken_secret, then="Issued"),
        kind=_KIND,
    ),
    _refused(
        "foreign-name",
        'alternative name dns_name "www.elsewhere.example" is not among the allowed values',
        altNames=[{"value": "www.elsewhere.example"}],
        ttl="30d",
    ),
    _refused("long-life", "the lifetime (TTL) is longer than the longest that is allowed, 365d", ttl="900d"),
    _refused("no-life", "TTL is required: give ttl or notAfter, or set ttlDays among the defaults"),
    Mistake(
        "no-request",
        _profile({"attributes": None, "csr": {"secretKeyRef": {"name": "requests", "key": "tls.csr"}}}),
        Told(
            "CsrInvalid",
            "Secret {namespace}/requests doesn't exist",
            "Create Secret requests with the key tls.csr",
            "kubectl -n {namespace} create secret generic requests --from-file=tls.csr=FILE",
            "spec.certificates[].csr.secretKeyRef",
        ),
        # What the file holds is no request: the next diagnosis says so.
        Cure(words=lambda scene: {"FILE": str(scene.home / "template")}, then="CsrInvalid"),
        kind=_KIND,
    ),
    Mistake(
        "no-password",
        _profile({"keystores": {"pkcs12": {"passwordRef": {"name": "passwords", "key": "p12"}}}}),
        Told(
            "KeystorePasswordNotFound",
            "Secret {namespace}/passwords doesn't exist",
            "Create Secret passwords with the key p12",
            "kubectl -n {namespace} create secret generic passwords --from-file=p12=FILE",
            "spec.certificates[].keystores",
        ),
        Cure(words=lambda scene: {"FILE": str(scene.home / "client-secret")}, then="Issued"),
        kind=_KIND,
    ),
    Mistake(
        "planned-certificate",
        _profile(mode="Plan"),
        Told(
            "Planned", "1 of 1 certificates would be dealt with", "set spec.mode to Apply", None, "spec.mode"
        ),
        Cure(edit=lambda _: {"mode": "Apply"}, then="Issued"),
        kind=_KIND,
    ),
)
