"""The parts of the kind CertificateProfile, wired once; what knows X.509 is loaded when there is a first object.

Who has no certificates of the service has no use for the library that makes keys, which takes some MiB and a tenth of
a second.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import partial
from random import Random
from typing import TYPE_CHECKING

from keybearer.base.clock import Clock
from keybearer.controllers.access import ServiceAccess
from keybearer.controllers.certificateprofile.reasons import Reason
from keybearer.controllers.certificateprofile.remote import RemoteCertificates
from keybearer.controllers.certificateprofile.resource import CertificateProfileSpec
from keybearer.controllers.certificateprofile.status import CertificateProfileStatus
from keybearer.controllers.cluster_identity import ClusterIdentity
from keybearer.controllers.fingerprint import Fingerprinter
from keybearer.controllers.issuance.profile import IssuingProfile
from keybearer.controllers.issuance.service import OpenedService
from keybearer.controllers.objects import ObjectStore, ObservedObject
from keybearer.controllers.reading import read_spec, read_status
from keybearer.controllers.references import References
from keybearer.controllers.target.apply import TargetWriter
from keybearer.controllers.target.restart import WorkloadRestarter
from keybearer.controllers.telemetry import Telemetry
from keybearer.controllers.work import WorkItem, WorkKey
from keybearer.controllers.workers import RunResult
from keybearer.kube.gateway import Gateway

if TYPE_CHECKING:
    from keybearer.controllers.certificateprofile.reconcile import CertificateProfileReconciler

__all__ = ["CertificateProfiles", "OpenService", "ProfilesGiven", "issuing_profile"]

OpenService = Callable[[WorkKey, CertificateProfileSpec], Awaitable[OpenedService]]
"""Returns the service through the identity of a profile, which must already follow its Secret."""


def issuing_profile(seen: ObservedObject, open_service: OpenService) -> IssuingProfile:
    """Return the profile as signers see it.

    Raises:
        StalledError: its spec can't be read.
    """
    spec, status = read_spec(seen, CertificateProfileSpec), read_status(seen, CertificateProfileStatus)
    slug = spec.remote_slug(seen.key.name)
    there = status.profile
    if there is not None and there.slug != slug:
        there = None  # the spec names another one by now, which its own reconcile has not found yet
    return IssuingProfile(
        slug=slug,
        service_id=there.id if there is not None else None,
        authority=there.ca_id if there is not None else None,
        mode=spec.mode,
        application_id=spec.application_id,
        anchors=tuple(one.anchors for one in status.authorities),
        former_anchors=tuple(one.anchors for one in status.former_authorities),
        open_service=partial(open_service, seen.key, spec),
    )


@dataclass(frozen=True, slots=True)
class ProfilesGiven:
    """What certificates share with the rest of the operator."""

    clock: Clock
    rng: Random
    gateway: Gateway
    access: ServiceAccess
    references: References
    objects: ObjectStore
    writer: TargetWriter
    restarter: WorkloadRestarter
    cluster: ClusterIdentity
    fingerprinter: Fingerprinter
    telemetry: Telemetry


class CertificateProfiles:
    """Reconciles the objects of the kind.

    Attributes:
        on_written: told of each object whose status was written.
        publishes: tells whether the authorities of profiles are published in trust bundles.
    """

    def __init__(self, given: ProfilesGiven) -> None:
        self._given = given
        self._reconciler: CertificateProfileReconciler | None = None
        self.on_written: Callable[[WorkKey], None] = lambda _: None
        self.publishes: Callable[[], bool] = lambda: False

    def for_signers(self, seen: ObservedObject) -> IssuingProfile:
        """Return a profile as signers see it.

        Raises:
            StalledError: its spec can't be read.
        """
        return issuing_profile(seen, self._open_service)

    async def _open_service(self, follower: WorkKey, spec: CertificateProfileSpec) -> OpenedService:
        """Return the service through the identity of a profile, which must already follow its Secret.

        Raises:
            StalledError: the identity Secret is missing, or can't be used; or there is no such project.
            WaitingError: the service can't be asked for the project.
            KubeError: the API server can't be asked.
        """
        session = await self._given.access.named_session(follower, spec.identity_ref.name)
        project_id = await session.named_project(
            spec.project_id, spec.project_slug, missing=Reason.PROJECT_NOT_FOUND
        )
        return OpenedService(RemoteCertificates(session), project_id)

    async def reconcile(self, item: WorkItem, reconcile_id: str) -> RunResult:
        """Run once for a key.

        Raises:
            LeaseLostError: another replica leads.
        """
        if self._reconciler is None:
            self._reconciler = self._make()
        return await self._reconciler.reconcile(item, reconcile_id)

    def forget(self, key: WorkKey) -> None:
        """Forget all that is kept of an object that is gone."""
        if self._reconciler is not None:
            self._reconciler.forget(key)

    def _written(self, key: WorkKey) -> None:
        self.on_written(key)

    def _publishes(self) -> bool:
        return self.publishes()

    def _make(self) -> CertificateProfileReconciler:
        from keybearer.controllers.certificateprofile.gather import ProfileGatherer
        from keybearer.controllers.certificateprofile.reconcile import CertificateProfileReconciler

        given = self._given
        return CertificateProfileReconciler(
            clock=given.clock,
            gateway=given.gateway,
            objects=given.objects,
            gatherer=ProfileGatherer(given.access, given.references),
            writer=given.writer,
            restarter=given.restarter,
            cluster=given.cluster,
            fingerprinter=given.fingerprinter,
            telemetry=given.telemetry,
            rng=given.rng,
            seen_by_others=self._written,
            publishes=self._publishes,
        )
