"""What a signer is asked, whichever kind of object asks: one shape for all three. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from enum import Enum
from typing import Final

from pydantic import JsonValue

from keybearer.controllers.signers.usages import Usages
from keybearer.controllers.work import WorkKey
from keybearer.kube.resources import (
    CERTIFICATE_REQUESTS,
    CERTIFICATE_SIGNING_REQUESTS,
    POD_CERTIFICATE_REQUESTS,
    ObjectKey,
    Resource,
)

__all__ = ["SOURCES", "Approval", "Asked", "Flaw", "Requester", "work_key"]

SOURCES: Final[Mapping[str, Resource]] = {
    resource.kind: resource
    for resource in (CERTIFICATE_REQUESTS, CERTIFICATE_SIGNING_REQUESTS, POD_CERTIFICATE_REQUESTS)
}
"""The kinds of objects that ask, by their names."""


class Approval(Enum):
    """What was decided on whether it may be signed."""

    GIVEN = "given"
    AWAITED = "awaited"
    DENIED = "denied"


@dataclass(frozen=True, slots=True)
class Requester:
    """Who made the request, as the API server authenticated them."""

    username: str
    uid: str = ""
    groups: tuple[str, ...] = ()
    extra: Mapping[str, tuple[str, ...]] = field(default_factory=dict, repr=False)


@dataclass(frozen=True, slots=True)
class Flaw:
    """Why a request can't be signed, whatever its profile says.

    Attributes:
        reason: one word in CamelCase.
        message: for whoever made the request.
    """

    reason: str
    message: str


@dataclass(frozen=True, slots=True)
class Asked:
    """An open request that is meant for one of our profiles.

    Attributes:
        kind: of the object.
        object: its key.
        uid: its UID: goes with the request to the service, so that it is asked for once.
        resource_version: in which state it was read; what is written goes to that state only.
        profile: the profile that is to sign.
        approval: whether it may be signed.
        csr_pem: the signing request.
        lifetime: asked for; None leaves it to the profile.
        usages: asked for.
        is_ca: a certificate is asked for that can sign others.
        requester: whose right to use the profile is to be reviewed; None where the approval covers it.
        flaw: why it can't be signed.
        conditions: those of the object, of which a merge patch sends all.
        told: reason and message that the object shows already.
        inherited: it was there before this process looked: another one may have ordered its certificate already.
    """

    kind: str
    object: ObjectKey
    uid: str
    resource_version: str
    profile: ObjectKey
    approval: Approval
    csr_pem: str
    lifetime: timedelta | None
    usages: Usages
    is_ca: bool = False
    requester: Requester | None = None
    flaw: Flaw | None = None
    conditions: tuple[Mapping[str, JsonValue], ...] = field(default=(), repr=False)
    told: tuple[str, str] | None = None
    inherited: bool = False

    @property
    def key(self) -> WorkKey:
        """Return what the queue calls it."""
        return work_key(self.kind, self.object, self.profile)


def work_key(kind: str, found: ObjectKey, profile: ObjectKey) -> WorkKey:
    """Return the queue's key of a request: one without a namespace has its share of work in the profile's."""
    return WorkKey(kind, found.namespace or profile.namespace, found.name)
