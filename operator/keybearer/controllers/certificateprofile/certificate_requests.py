"""Requests for certificates: noted with what must survive before they are sent, and looked up afterwards."""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from keybearer.base.certificate_terms import CertificateStatus, RevocationReason
from keybearer.controllers.certificateprofile.case import Case
from keybearer.controllers.certificateprofile.context import RoundContext
from keybearer.controllers.certificateprofile.desired import Made, Wish, make
from keybearer.controllers.certificateprofile.reasons import Reason
from keybearer.controllers.certificateprofile.secret_contents import KeptAttempt
from keybearer.controllers.certificateprofile.status import Need
from keybearer.controllers.certificateprofile.storage import CertificateStorage
from keybearer.controllers.certificateprofile.trigger import Decision, Keep, Mint, Post, Wait
from keybearer.controllers.concurrency import Concurrency
from keybearer.controllers.issuance.service import IssuedCertificate, RequestState
from keybearer.controllers.outcome import ReconcileError
from keybearer.controllers.underway import UnknownOrders
from keybearer.kube.errors import AlreadyExistsError
from keybearer.pki.certificates import parse_certificate
from keybearer.pki.errors import PkiError
from keybearer.pki.keys import PrivateKey, PublicKey

__all__ = ["Noting", "is_given_up", "look_for_revoked", "look_up_requests"]

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
_ROUND_COST_MAX = 60
"""What the attempts of one round may cost, where a key on a curve is 1: a round takes seconds, not minutes."""


async def look_for_revoked(context: RoundContext, cases: Sequence[Case], concurrency: Concurrency) -> None:
    """Tell the cases whose stored certificate was revoked in the service, those too for which another is asked.

    Raises:
        ReconcileError: the service can't be asked.
    """
    run = context.run
    stored = {case.entry.id: case for case in cases if _is_of_its_request(case)}
    wanted = {request_id for request_id in stored if request_id is not None}
    if wanted:
        found = await run.service.requests_of(run.marks, context.profile.id, run.project_id, wanted=wanted)
        for state in found:
            case = stored.get(state.id)
            if case is not None:
                _take_in(case, state)
    others = [case for case in cases if case.entry.certificate_id is not None and case.entry.id not in wanted]
    await concurrency.run(_look_at_former(context, case) for case in others)


async def _look_at_former(context: RoundContext, case: Case) -> None:
    """Tell a case whose status shows another request, or none, what became of the certificate it has."""
    run = context.run
    for state in await run.service.requests_of(run.marks_of(case.name), context.profile.id, run.project_id):
        if state.certificate_id == case.entry.certificate_id:
            _take_in(case, state)
            if case.entry.id is None and _is_of_its_request(case):
                case.say(id=state.id)  # found with the others from now on


async def is_given_up(context: RoundContext, case: Case, key: PublicKey) -> bool:
    """Tell whether a key may be used no more: a certificate for it was revoked, perhaps because it is compromised.

    All that were ever issued for the certificate are looked at, by whichever profile, so that nothing has to be
    remembered: neither a restart nor a copy that comes back brings such a key into use again.

    Raises:
        ReconcileError: the service can't be asked.
    """
    run = context.run
    for state in await run.service.requests_of(run.marks_of(case.name), None, run.project_id):
        if state.certificate_id is None or state.certificate_status is not CertificateStatus.REVOKED:
            continue
        if await run.service.revocation_reason(state.certificate_id) in _KEY_STAYS_GOOD:
            continue
        issued = await run.service.bundle(state.certificate_id)
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
    context: RoundContext,
    cases: Sequence[Case],
    concurrency: Concurrency,
    orders: UnknownOrders,
    now: datetime,
) -> None:
    """Tell the cases how the requests of open attempts stand, those too whose id nobody noted.

    Args:
        context: what the round is about.
        cases: the certificates.
        concurrency: bounds the searches.
        orders: those of which nobody knows what became of them.
        now: the present.

    Raises:
        ReconcileError: the service can't be asked.
    """
    open_cases = [case for case in cases if case.open_attempt is not None]
    known = {case.entry.id for case in open_cases if _knows_request(case) and case.entry.id is not None}
    states: dict[str, RequestState] = {}
    if known:
        found = await context.run.service.requests_of(
            context.run.marks, context.profile.id, context.run.project_id, wanted=known
        )
        states = {state.id: state for state in found}
    for case in open_cases:
        if _knows_request(case) and case.entry.id is not None:
            case.request = states.get(case.entry.id)
    await concurrency.run(_find(context, case, orders, now) for case in open_cases if case.request is None)


async def _find(context: RoundContext, case: Case, orders: UnknownOrders, now: datetime) -> None:
    attempt = case.open_attempt
    if attempt is None:
        return
    found = await context.run.service.requests_of(
        context.run.marks_of(case.name, attempt), context.profile.id, context.run.project_id
    )
    case.request = found[0] if found else None
    which = context.run.order_of(case.name, attempt)
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


@dataclass(slots=True)
class Noting:
    """Begins the attempts of a round.

    Attributes:
        context: what the round is about.
        storage: keeps the keyring.
        concurrency: bounds what is asked of the service.
        now: the present.
        more: whether attempts were left for the next round.
        minted: how many of those begun count against the budget for lost keys.
    """

    context: RoundContext
    storage: CertificateStorage
    concurrency: Concurrency
    now: datetime
    more: bool = False
    minted: int = 0

    async def begin(
        self, cases: Sequence[Case], decisions: Sequence[Decision], *, is_first: bool
    ) -> list[Decision]:
        """Note down the attempts that are decided upon, and return what is decided by then.

        Args:
            cases: the certificates.
            decisions: about them, in their order.
            is_first: nothing is believed to be noted yet, so that the keyring wasn't read.

        Raises:
            AlreadyExistsError: something is noted where nothing was believed to be. Nothing was written, and the
                cases are as they were.
            ReconcileError: the keyring can't be written.
            KubeError: the API server refuses or can't be asked.
        """
        settled = list(decisions)
        chosen = self._within_budget(cases, settled)
        if not chosen:
            return settled
        before = [(case, case.entry, case.kept, case.request) for _, case, _ in chosen]
        await self.storage.look_for_absent([case for _, case, _ in chosen])
        await self.concurrency.run(self._require_target(case) for _, case, _ in chosen)
        await self.concurrency.run(
            self._end_former(case, step)
            for _, case, step in chosen
            if case.trouble is None and (step.cancel is not None or case.entry.is_open)
        )
        noted = await self._noted([(case, step) for _, case, step in chosen if case.trouble is None])
        if noted:
            try:
                await self.storage.write_keyring(is_first=is_first)
            except AlreadyExistsError:
                for case, entry, kept, request in before:
                    case.take_back(entry, kept, request)
                raise
        self.minted = sum(step.need is Need.KEY_LOST for _, step in noted)
        begun = {case.name for case, _ in noted}
        for place, case, _ in chosen:
            attempt = case.view(self.now, key_held=True).attempt
            # What could not even be noted is left to another round.
            step = Post(attempt) if case.name in begun and attempt is not None else Keep()
            settled[place] = replace(settled[place], step=step)
        return settled

    def _within_budget(self, cases: Sequence[Case], settled: list[Decision]) -> list[tuple[int, Case, Mint]]:
        """Return which attempts are begun, with their places; the others are made to wait."""
        spent = 0
        chosen: list[tuple[int, Case, Mint]] = []
        for place, (case, decision) in enumerate(zip(cases, settled, strict=True)):
            if not isinstance(decision.step, Mint):
                continue
            spent += case.desired.cost
            if spent > _ROUND_COST_MAX and chosen:
                self.more = True
                settled[place] = replace(decision, step=Wait(Reason.ISSUING, self.now))
            else:
                chosen.append((place, case, decision.step))
        return chosen

    async def _require_target(self, case: Case) -> None:
        """Have no certificate issued that could not be stored."""
        try:
            await self.storage.require_target(case)
        except ReconcileError as error:
            case.trouble = error

    async def _end_former(self, case: Case, step: Mint) -> None:
        """Cancel the request that this attempt takes the place of."""
        try:
            await self.context.run.service.cancel(step.cancel or case.entry.id or "")
        except ReconcileError as error:
            case.trouble = error

    async def _noted(self, chosen: Sequence[tuple[Case, Mint]]) -> list[tuple[Case, Mint]]:
        """Put the attempts into the keyring, with a key where the operator makes it; return those that could be."""
        kept: dict[str, PrivateKey] = {}
        await self.concurrency.run(self._keep_key(case, kept) for case, _ in chosen)
        chosen = [(case, step) for case, step in chosen if case.trouble is None]
        needy = [case for case, _ in chosen if case.desired.makes_key]
        made = await make([Wish(case.desired, kept.get(case.name)) for case in needy])
        of_case = {case.name: one for case, one in zip(needy, made, strict=True)}
        noted: list[tuple[Case, Mint]] = []
        for case, step in chosen:
            one = of_case.get(case.name)
            if isinstance(one, ReconcileError):
                case.trouble = one
                continue
            self._note(case, step, one)
            noted.append((case, step))
        return noted

    async def _keep_key(self, case: Case, kept: dict[str, PrivateKey]) -> None:
        """Find the key that is to stay, unless it may be used no more."""
        key = self.storage.key_of(case) if case.desired.keeps_key else None
        try:
            if (
                key is not None
                and key.algorithm is case.desired.entry.key.algorithm
                and not await is_given_up(self.context, case, key.public_key)
            ):
                kept[case.name] = key
        except ReconcileError as error:
            case.trouble = error

    def _note(self, case: Case, step: Mint, made: Made | None) -> None:
        # The tag is random, so that no attempt of another life of the object is taken for this one.
        tag = secrets.token_hex(4)
        attempt = KeptAttempt(
            case.next_revision, tag, case.desired.digest, self.now, step.need, case.spent(self.now)
        )
        self.storage.keyring = self.storage.keyring.begun(
            case.name, attempt, None if made is None else made.key.der()
        )
        case.begin(attempt, made)
