"""Takes back what left the spec, or goes with the object: Secrets first, then certificates in the service.

In two phases, for whoever still reads a Secret would go on with a revoked certificate: it is deleted before. What is
still to be revoked stands in the status until the service has said so.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

from keybearer.base.certificate_terms import CertificateStatus, RevocationReason
from keybearer.controllers.certificateprofile.secrets_of_profile import ProfileSecrets
from keybearer.controllers.certificateprofile.setting import Scene
from keybearer.controllers.certificateprofile.status import CertificateRequestStatus, Revocation
from keybearer.controllers.issuance.service import CertificateService
from keybearer.controllers.objects import TargetKey
from keybearer.controllers.outcome import ReconcileError

__all__ = ["Removal", "Revoked"]

_REVOCATIONS_MAX = 400


@dataclass(frozen=True, slots=True)
class Revoked:
    """What came of revoking.

    Attributes:
        left: what is still to be revoked.
        trouble: why it could not be.
    """

    left: tuple[Revocation, ...] = ()
    trouble: ReconcileError | None = None


class Removal:
    """Takes certificates back."""

    def __init__(self, secrets: ProfileSecrets) -> None:
        self._secrets = secrets

    async def retire(
        self,
        scene: Scene,
        entries: Iterable[CertificateRequestStatus],
        still_named: Collection[str],
        now: datetime,
    ) -> tuple[Revocation, ...]:
        """Delete the Secrets of certificates that are no longer wanted, and return what is to be revoked of them.

        Args:
            scene: the run.
            entries: what the status says of them.
            still_named: names of Secrets that the object keeps other certificates, or its keys, in.
            now: the present.

        Raises:
            ReconcileError: the service can't be asked.
            KubeError: the API server refuses or can't be asked.
        """
        due: list[Revocation] = []
        for entry in entries:
            if entry.secret_name not in still_named:
                target = TargetKey("Secret", scene.seen.key.namespace, entry.secret_name)
                await self._secrets.retire(target, scene.seen.uid)
            if entry.revoke_on_delete or entry.is_open:
                due += await self._end_requests(scene, entry, now)
        return tuple(due)

    async def revoke(self, due: Sequence[Revocation], service: CertificateService) -> Revoked:
        """Revoke; what can't be is left for another time."""
        left: list[Revocation] = []
        trouble: ReconcileError | None = None
        for one in due:
            try:
                await service.revoke(one.certificate_id, RevocationReason.CESSATION_OF_OPERATION)
            except ReconcileError as error:
                left.append(one)
                trouble = error
        return Revoked(tuple(left[:_REVOCATIONS_MAX]), trouble)

    @staticmethod
    async def _end_requests(scene: Scene, entry: CertificateRequestStatus, now: datetime) -> list[Revocation]:
        """Cancel what is open, and return what was ever issued for the certificate and is still active."""
        known = scene.previous.profile
        if known is None:
            return []
        marks = scene.marks_of(entry.name)
        due: list[Revocation] = []
        for request in await scene.service.requests_of(marks, known.id, scene.project_id):
            if not request.status.is_final:
                await scene.service.cancel(request.id)
            is_active = request.certificate_status in (None, CertificateStatus.ACTIVE)
            if entry.revoke_on_delete and request.certificate_id is not None and is_active:
                due.append(
                    Revocation(certificate_id=request.certificate_id, since=now.replace(microsecond=0))
                )
        return due
