"""Collects what a CertificateProfile is made of: session, project, and certificates as Secrets and status tell."""

from __future__ import annotations

import base64
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from keybearer.base.certificate_terms import RequestStatus
from keybearer.controllers.access import ServiceAccess
from keybearer.controllers.certificateprofile.case import Case, new_entry
from keybearer.controllers.certificateprofile.desired import ProfileScope, describe_certificate
from keybearer.controllers.certificateprofile.policy import Authority
from keybearer.controllers.certificateprofile.profile_secrets import ProfileSecrets
from keybearer.controllers.certificateprofile.reasons import Reason
from keybearer.controllers.certificateprofile.remote import RemoteCertificates
from keybearer.controllers.certificateprofile.resource import CertificateProfileSpec
from keybearer.controllers.certificateprofile.secret_contents import (
    CA_KEY,
    CERTIFICATE_KEY,
    Passwords,
    form_digest,
    origins_of,
)
from keybearer.controllers.certificateprofile.spec_certificate import Certificate
from keybearer.controllers.certificateprofile.status import (
    CertificateProfileStatus,
    CertificateRequestStatus,
)
from keybearer.controllers.certificateprofile.targets import keyring_name
from keybearer.controllers.fingerprint import Fingerprinter
from keybearer.controllers.issuance.service import PresentProfile
from keybearer.controllers.issuance.timing import renewal_time, spread
from keybearer.controllers.objects import ObservedObject, TargetKey
from keybearer.controllers.outcome import StalledError
from keybearer.controllers.references import References
from keybearer.controllers.secret_key_ref import SecretKeyRef, remedy_of_absent
from keybearer.controllers.service_session import ServiceSession
from keybearer.controllers.target.observed import PresentTarget
from keybearer.controllers.work import WorkKey
from keybearer.pki.certificates import parse_certificates
from keybearer.pki.chains import ordered_chain
from keybearer.pki.errors import PkiError

__all__ = ["Broken", "CaseBuilder", "ProfileGatherer", "recall_entry"]

_CSR_MAX = 4096
_PASSWORD_MAX = 1024


class ProfileGatherer:
    """Gathers for one CertificateProfile after the other; holds no state of its own."""

    def __init__(self, access: ServiceAccess, references: References) -> None:
        self._access = access
        self._references = references

    def follow(self, follower: WorkKey, spec: CertificateProfileSpec, *, targets: bool = False) -> None:
        """Reconcile the CertificateProfile when a Secret that it names changes.

        Args:
            follower: the CertificateProfile.
            spec: its spec.
            targets: also when somebody changes or deletes a Secret that stores a certificate.
        """
        named = {ref.name for entry in spec.certificates for ref in _references_of(entry)}
        if targets:
            named.update(entry.target_name for entry in spec.certificates)
        secrets = frozenset(named | {spec.identity_ref.name})
        self._references.follow(follower, secrets=secrets, config_maps=frozenset())

    async def await_targets(self, follower: WorkKey, spec: CertificateProfileSpec) -> None:
        """Follow the Secrets that store certificates too, from their present state on.

        Raises:
            ObjectGoneError: the CertificateProfile was forgotten meanwhile.
            KubeError: the API server can't be asked.
        """
        self.follow(follower, spec, targets=True)
        for entry in spec.certificates:
            await self._references.secret(follower, entry.target_name, frozenset())

    def forget(self, follower: WorkKey) -> None:
        """End all that the CertificateProfile follows."""
        self._references.forget(follower)

    async def session(
        self, follower: WorkKey, spec: CertificateProfileSpec, *, cleans_up: bool = False
    ) -> ServiceSession:
        """Return the session of its identity; `cleans_up` as with `ServiceAccess.named_session`.

        Raises:
            StalledError: the identity Secret is missing, or can't be used.
            KubeError: the API server can't be asked.
        """
        return await self._access.named_session(follower, spec.identity_ref.name, cleans_up=cleans_up)

    def service(self, session: ServiceSession) -> RemoteCertificates:
        """Return the service as an identity sees it."""
        return RemoteCertificates(session)

    async def project_id(self, session: ServiceSession, spec: CertificateProfileSpec) -> str | None:
        """Return the id of the project that the spec names; None where it names none.

        Raises:
            StalledError: there is none of that slug.
            WaitingError: the service can't be asked.
        """
        return await session.named_project(
            spec.project_id, spec.project_slug, missing=Reason.PROJECT_NOT_FOUND
        )

    async def csr(self, follower: WorkKey, entry: Certificate) -> str | None:
        """Return the certificate signing request that an entry names; None where it names none.

        Raises:
            StalledError: it isn't where the entry says.
            KubeError: the API server can't be asked.
        """
        if entry.csr is None or entry.csr.secret_key_ref is None:
            return None if entry.csr is None else entry.csr.value
        what = f"the request of certificate {entry.name}"
        return await self._text(follower, entry.csr.secret_key_ref, what, Reason.CSR_INVALID, _CSR_MAX)

    async def passwords(self, follower: WorkKey, entry: Certificate) -> Passwords:
        """Return the passwords of an entry's keystores.

        Raises:
            StalledError: one isn't where the entry says.
            KubeError: the API server can't be asked.
        """
        if entry.keystores is None:
            return Passwords()
        pkcs12, jks = entry.keystores.pkcs12, entry.keystores.jks
        return Passwords(
            None if pkcs12 is None else await self._password(follower, pkcs12.password_ref, entry.name),
            None if jks is None else await self._password(follower, jks.password_ref, entry.name),
        )

    async def _password(self, follower: WorkKey, ref: SecretKeyRef, name: str) -> str:
        what = f"the keystore password of certificate {name}"
        reason = Reason.KEYSTORE_PASSWORD_NOT_FOUND
        text = await self._text(follower, ref, what, reason, _PASSWORD_MAX)
        # Files end with a line break, and no password does.
        text = text.removesuffix("\n").removesuffix("\r")
        if not text:
            raise StalledError(
                reason, f"{what}: key {ref.key} of Secret {ref.name} is empty; give it a value"
            )
        return text

    async def _text(
        self, follower: WorkKey, ref: SecretKeyRef, what: str, reason: Reason, length_max: int
    ) -> str:
        where = f"{what}: Secret {follower.namespace}/{ref.name}"
        data = await self._references.secret(follower, ref.name, frozenset({ref.key}))
        if data is None:
            raise StalledError(
                reason,
                f"{where} doesn't exist; create it, or correct the reference",
                remedy=remedy_of_absent(ref, _FIELDS[reason], has_secret=False),
            )
        if ref.key not in data:
            raise StalledError(
                reason,
                f"{where} has no key {ref.key}; add it, or correct the reference",
                remedy=remedy_of_absent(ref, _FIELDS[reason], has_secret=True),
            )
        encoded = data[ref.key]
        try:
            text = base64.b64decode(encoded if isinstance(encoded, str) else "", validate=True).decode()
        except ValueError:
            # The cause is cut: its text could show bytes of the value.
            raise StalledError(reason, f"{where}: key {ref.key} is no UTF-8 text; correct it") from None
        if isinstance(encoded, int) or len(text) > length_max:
            raise StalledError(
                reason, f"{where}: key {ref.key} is longer than {length_max} characters; shorten it"
            )
        return text


_FIELDS: Mapping[Reason, str] = {
    Reason.CSR_INVALID: "spec.certificates[].csr.secretKeyRef",
    Reason.KEYSTORE_PASSWORD_NOT_FOUND: "spec.certificates[].keystores",
}
"""Which field names the Secret of a text."""


def _references_of(entry: Certificate) -> Iterator[SecretKeyRef]:
    if entry.csr is not None and entry.csr.secret_key_ref is not None:
        yield entry.csr.secret_key_ref
    if entry.keystores is not None:
        for keystore in (entry.keystores.pkcs12, entry.keystores.jks):
            if keystore is not None:
                yield keystore.password_ref


def recall_entry(case: Case, present: PresentTarget, uid: str) -> CertificateRequestStatus | None:
    """Return what the status is to say of a certificate; None where its Secret doesn't tell."""
    origins = origins_of(present.body, case.name)
    if origins is None:
        return None
    try:
        encoded = present.data.get(CERTIFICATE_KEY, "")
        leaf, *above = parse_certificates(base64.b64decode(encoded, validate=True).decode())
        trusted = parse_certificates(base64.b64decode(present.data.get(CA_KEY, ""), validate=True).decode())
    except (PkiError, ValueError):
        return None
    path = ordered_chain(leaf, (*above, *trusted))
    entry = case.desired.entry
    return case.entry.model_copy(
        update={
            "revision": origins.revision,
            "status": RequestStatus.ISSUED,
            "certificate_id": origins.certificate_id,
            "certificate_revision": origins.revision,
            "serial_number": leaf.serial,
            "not_before": leaf.not_before,
            "not_after": leaf.not_after,
            "renewal_time": None
            if entry.asked.not_after is not None
            else renewal_time(leaf.not_before, leaf.not_after, entry.renew_before, spread(uid, case.name)),
            "spec": origins.digest,
            "authority": None if len(path) < 2 else Authority(path[1:]).key,
            "fingerprint": present.fingerprint,
            "keystores": case.keystores,
        }
    )


@dataclass(frozen=True, slots=True)
class Broken:
    """A certificate that can't be asked for as it is described."""

    entry: CertificateRequestStatus
    trouble: StalledError


class CaseBuilder:
    """Builds the case of one certificate after the other; holds no state of its own."""

    def __init__(
        self, gatherer: ProfileGatherer, secrets: ProfileSecrets, fingerprinter: Fingerprinter
    ) -> None:
        self._gatherer = gatherer
        self._secrets = secrets
        self._fingerprinter = fingerprinter

    async def build(
        self,
        seen: ObservedObject,
        spec: CertificateProfileSpec,
        previous: CertificateProfileStatus,
        profile: PresentProfile,
    ) -> tuple[list[Case], list[Broken]]:
        """Return the certificates that can be asked for, and those that can't be as they are described.

        Raises:
            KubeError: the API server can't be asked.
        """
        scope = ProfileScope(profile.id, spec.application_id, profile.defaults)
        known = {entry.name: entry for entry in previous.certificate_requests}
        cases: list[Case] = []
        broken: list[Broken] = []
        for entry in spec.certificates:
            before = known.get(entry.name)
            try:
                _require_no_keyring(seen, entry)
                desired = describe_certificate(entry, scope, await self._gatherer.csr(seen.key, entry))
                passwords = await self._gatherer.passwords(seen.key, entry)
            except StalledError as error:
                shown = before or CertificateRequestStatus(name=entry.name, secret_name=entry.target_name)
                broken.append(Broken(shown, error))
                continue
            case = Case(
                desired,
                new_entry(desired, before),
                passwords=passwords,
                keystores=form_digest(entry.keystores, entry.secret_template, passwords, self._fingerprinter),
            )
            await self._look(seen, case)
            cases.append(case)
        return cases, broken

    async def _look(self, seen: ObservedObject, case: Case) -> None:
        """Find out what became of the Secret, and of a status that was lost what can be read from it."""
        key = TargetKey("Secret", seen.key.namespace, case.desired.entry.target_name)
        shown = self._secrets.fingerprint_seen(key)
        if shown is None and case.has_certificate:
            # Gone, or not yet shown by a watch that has just begun.
            case.present = await self._secrets.look_at_own(key, seen.uid)
            shown = None if case.present is None else case.present.fingerprint
        if shown is not None and not case.has_certificate:
            present = await self._secrets.look_at_own(key, seen.uid)
            recalled = None if present is None else recall_entry(case, present, seen.uid)
            if recalled is not None:
                case.entry, case.present = recalled, present
        case.see(shown)


def _require_no_keyring(seen: ObservedObject, entry: Certificate) -> None:
    name = keyring_name(seen.key.name)
    if entry.target_name == name:
        raise StalledError(
            Reason.SPEC_INVALID,
            f"certificate {entry.name}: Secret {name} holds the keys of this object; choose another secretName",
        )
