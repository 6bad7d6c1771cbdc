"""The certificates of a manifest, as a round takes them up: what is described, and what became of each Secret."""

from __future__ import annotations

from dataclasses import dataclass

from keybearer.controllers.certificateprofile.case import Case, new_entry
from keybearer.controllers.certificateprofile.contents import keystores_digest
from keybearer.controllers.certificateprofile.desired import ProfileScope, describe_certificate
from keybearer.controllers.certificateprofile.gather import ProfileGatherer
from keybearer.controllers.certificateprofile.reasons import Reason
from keybearer.controllers.certificateprofile.recall import recall_entry
from keybearer.controllers.certificateprofile.resource import CertificateProfileSpec
from keybearer.controllers.certificateprofile.secrets_of_profile import ProfileSecrets
from keybearer.controllers.certificateprofile.spec_certificate import Certificate
from keybearer.controllers.certificateprofile.status import (
    CertificateProfileStatus,
    CertificateRequestStatus,
)
from keybearer.controllers.certificateprofile.targets import keyring_name
from keybearer.controllers.fingerprint import Fingerprinter
from keybearer.controllers.issuance.service import PresentProfile
from keybearer.controllers.objects import ObservedObject, TargetKey
from keybearer.controllers.outcome import StalledError

__all__ = ["Broken", "CaseBuilder"]


@dataclass(frozen=True, slots=True)
class Broken:
    """A certificate that can't be asked for as it is described."""

    entry: CertificateRequestStatus
    trouble: StalledError


class CaseBuilder:
    """Takes up one certificate after the other; holds no state of its own."""

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
                keystores=keystores_digest(entry.keystores, passwords, self._fingerprinter),
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
