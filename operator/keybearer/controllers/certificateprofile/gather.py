"""Collects what a CertificateProfile is made of: the session, the project, requests of others, and passwords."""

from __future__ import annotations

import base64
from collections.abc import Iterator

from keybearer.controllers.access import ServiceAccess
from keybearer.controllers.certificateprofile.contents import Passwords
from keybearer.controllers.certificateprofile.named_project import named_project_id
from keybearer.controllers.certificateprofile.reasons import Reason
from keybearer.controllers.certificateprofile.remote import RemoteCertificates
from keybearer.controllers.certificateprofile.resource import CertificateProfileSpec
from keybearer.controllers.certificateprofile.spec_certificate import Certificate
from keybearer.controllers.outcome import StalledError
from keybearer.controllers.references import References
from keybearer.controllers.secret_key_ref import SecretKeyRef
from keybearer.controllers.service_session import ServiceSession
from keybearer.controllers.work import WorkKey

__all__ = ["ProfileGatherer"]

_CSR_MAX = 4096
_PASSWORD_MAX = 1024


class ProfileGatherer:
    """Gathers for one CertificateProfile after the other; holds no state of its own."""

    def __init__(self, access: ServiceAccess, references: References) -> None:
        self._access = access
        self._references = references

    def follow(self, follower: WorkKey, spec: CertificateProfileSpec) -> None:
        """Have the CertificateProfile reconciled when a Secret that it names changes."""
        named = frozenset(ref.name for entry in spec.certificates for ref in _references_of(entry))
        self._references.follow(follower, secrets=named | {spec.identity_ref.name}, config_maps=frozenset())

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
        return await named_project_id(session, spec)

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
            raise StalledError(reason, f"{what}: key {ref.key} of Secret {ref.name} is empty")
        return text

    async def _text(
        self, follower: WorkKey, ref: SecretKeyRef, what: str, reason: Reason, length_max: int
    ) -> str:
        where = f"{what}: Secret {follower.namespace}/{ref.name}"
        data = await self._references.secret(follower, ref.name, frozenset({ref.key}))
        if data is None:
            raise StalledError(reason, f"{where} doesn't exist; create it, or correct the reference")
        if ref.key not in data:
            raise StalledError(reason, f"{where} has no key {ref.key}; add it, or correct the reference")
        encoded = data[ref.key]
        try:
            text = base64.b64decode(encoded if isinstance(encoded, str) else "", validate=True).decode()
        except ValueError:
            # The cause is cut: its text could show bytes of the value.
            raise StalledError(reason, f"{where}: key {ref.key} is no UTF-8 text") from None
        if isinstance(encoded, int) or len(text) > length_max:
            raise StalledError(reason, f"{where}: key {ref.key} is longer than {length_max} characters")
        return text


def _references_of(entry: Certificate) -> Iterator[SecretKeyRef]:
    if entry.csr is not None and entry.csr.secret_key_ref is not None:
        yield entry.csr.secret_key_ref
    if entry.keystores is not None:
        for keystore in (entry.keystores.pkcs12, entry.keystores.jks):
            if keystore is not None:
                yield keystore.password_ref
