"""What became of the requests that were made: of those whose id is noted, and of those that were only begun."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from keybearer.base.certificate_terms import CertificateStatus, RevocationReason
from keybearer.controllers.certificateprofile.abreast import Abreast
from keybearer.controllers.certificateprofile.case import Case
from keybearer.controllers.certificateprofile.setting import Setting
from keybearer.controllers.issuance.service import IssuedCertificate, RequestState
from keybearer.controllers.underway import UnknownOrders
from keybearer.pki.certificates import parse_certificate
from keybearer.pki.errors import PkiError
from keybearer.pki.keys import PublicKey

__all__ = ["is_given_up", "look_for_revoked", "look_up_requests"]

_KEY_STAYS_GOOD = frozenset(
    {
        RevocationReason.AFFILIATION_CHANGED,
        RevocationReason.CA_COMPROMISE,
        RevocationReason.CERTIFICATE_HOLD,
        RevocationReason.CESSATION_OF_OPERATION,
        RevocationReason.PRIVILEGE_WITHDRAWN,
        RevocationReason.SUPERSEDED,
    }
)
"""Reasons that say nothing against the key. Who gives none may mean it."""


async def look_for_revoked(setting: Setting, cases: Sequence[Case], abreast: Abreast) -> None:
    """Tell the cases whose stored certificate was revoked in the service, those too for which another is asked.

    Raises:
        ReconcileError: the service can't be asked.
    """
    scene = setting.scene
    stored = {case.entry.id: case for case in cases if _is_of_its_request(case)}
    wanted = {request_id for request_id in stored if request_id is not None}
    if wanted:
        found = await scene.service.requests_of(
            scene.marks, setting.profile.id, scene.project_id, wanted=wanted
        )
        for state in found:
            case = stored.get(state.id)
            if case is not None:
                _take_in(case, state)
    others = [case for case in cases if case.entry.certificate_id is not None and case.entry.id not in wanted]
    await abreast.take(_look_at_former(setting, case) for case in others)


async def _look_at_former(setting: Setting, case: Case) -> None:
    """Tell a case whose status shows another request, or none, what became of the certificate it has."""
    scene = setting.scene
    for state in await scene.service.requests_of(
        scene.marks_of(case.name), setting.profile.id, scene.project_id
    ):
        if state.certificate_id == case.entry.certificate_id:
            _take_in(case, state)
            if case.entry.id is None and _is_of_its_request(case):
                case.say(id=state.id)  # found with the others from now on


async def is_given_up(setting: Setting, case: Case, key: PublicKey) -> bool:
    """Tell whether a key may be used no more: a certificate for it was revoked, perhaps because it is compromised.

    All that were ever issued for the certificate are looked at, so that nothing has to be remembered: neither a
    restart nor a copy that comes back brings such a key into use again.

    Raises:
        ReconcileError: the service can't be asked.
    """
    scene = setting.scene
    for state in await scene.service.requests_of(
        scene.marks_of(case.name), setting.profile.id, scene.project_id
    ):
        if state.certificate_id is None or state.certificate_status is not CertificateStatus.REVOKED:
            continue
        if await scene.service.revocation_reason(state.certificate_id) in _KEY_STAYS_GOOD:
            continue
        issued = await scene.service.bundle(state.certificate_id)
        if issued is None or _key_of(issued) in (None, key):
            return True
    return False


def _key_of(issued: IssuedCertificate) -> PublicKey | None:
    try:
        return parse_certificate(issued.certificate).public_key
    except PkiError:
        return None


def _take_in(case: Case, state: RequestState) -> None:
    if state.certificate_id == case.entry.certificate_id:
        case.say(revoked=True if state.certificate_status is CertificateStatus.REVOKED else None)


async def look_up_requests(
    setting: Setting, cases: Sequence[Case], abreast: Abreast, orders: UnknownOrders, now: datetime
) -> None:
    """Tell the cases how the requests of open attempts stand, those too whose id nobody noted.

    Args:
        setting: what the round is about.
        cases: the certificates.
        abreast: bounds the searches.
        orders: those of which nobody knows what became of them.
        now: the present.

    Raises:
        ReconcileError: the service can't be asked.
    """
    open_cases = [case for case in cases if case.open_attempt is not None]
    known = {case.entry.id for case in open_cases if _knows_request(case) and case.entry.id is not None}
    states: dict[str, RequestState] = {}
    if known:
        found = await setting.scene.service.requests_of(
            setting.scene.marks, setting.profile.id, setting.scene.project_id, wanted=known
        )
        states = {state.id: state for state in found}
    for case in open_cases:
        if _knows_request(case) and case.entry.id is not None:
            case.request = states.get(case.entry.id)
    await abreast.take(_find(setting, case, orders, now) for case in open_cases if case.request is None)


async def _find(setting: Setting, case: Case, orders: UnknownOrders, now: datetime) -> None:
    attempt = case.open_attempt
    if attempt is None:
        return
    found = await setting.scene.service.requests_of(
        setting.scene.marks_of(case.name, attempt), setting.profile.id, setting.scene.project_id
    )
    case.request = found[0] if found else None
    which = setting.scene.order_of(case.name, attempt)
    if case.request is not None:
        orders.found(*which)
        case.say(revision=attempt.revision, need=attempt.need)
        case.told(case.request, now)
        return
    # What the keyring notes and we have sent nothing of, another process may have sent.
    wait = orders.missed(*which, inherited=True)
    case.settled_at = None if wait is None else now + wait


def _is_of_its_request(case: Case) -> bool:
    """Tell whether the stored certificate is that of the request that the status shows."""
    entry = case.entry
    return entry.certificate_id is not None and entry.revision == entry.certificate_revision


def _knows_request(case: Case) -> bool:
    attempt = case.open_attempt
    return attempt is not None and case.entry.id is not None and case.entry.revision == attempt.revision
