"""A CertificateProfile as signers see it: they issue certificates from it and do not own it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

from keybearer.controllers.issuance.service import OpenedService
from keybearer.controllers.mode import Mode
from keybearer.controllers.objects import ObservedObject

__all__ = ["IssuingProfile", "ReadProfile"]


@dataclass(frozen=True, slots=True)
class IssuingProfile:
    """What the manifest and its own reconcile say of a profile.

    Attributes:
        slug: its name in the service.
        service_id: of it in the service; None until its own reconcile has found or made it.
        authority: the id of the authority that signs; None where it isn't known, or certificates sign themselves.
        mode: what is done with what was planned.
        application_id: for which application certificates are issued.
        anchors: what is trusted of its authorities, each as PEM.
        former_anchors: what is trusted besides, of authorities whose certificates have not all ended.
        open_service: returns the service through the identity of the profile, which its own reconcile must follow
            already. Raises ReconcileError where the identity can't be used, KubeError where the API server can't be
            asked.
    """

    slug: str
    service_id: str | None
    authority: str | None
    mode: Mode
    application_id: str | None
    anchors: tuple[str, ...]
    former_anchors: tuple[str, ...]
    open_service: Callable[[], Awaitable[OpenedService]] = field(repr=False, compare=False)


ReadProfile = Callable[[ObservedObject], IssuingProfile]
"""Reads a CertificateProfile; raises StalledError where its spec can't be read. The kind gives it."""
