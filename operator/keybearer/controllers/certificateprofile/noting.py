"""What must survive is noted before it is needed: the attempts of a round with their keys, in one write."""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from keybearer.controllers.certificateprofile.abreast import Abreast
from keybearer.controllers.certificateprofile.case import Case
from keybearer.controllers.certificateprofile.decisions import Decision, Keep, Mint, Post, Wait
from keybearer.controllers.certificateprofile.keyring import KeptAttempt
from keybearer.controllers.certificateprofile.reasons import Reason
from keybearer.controllers.certificateprofile.request_lookup import is_given_up
from keybearer.controllers.certificateprofile.setting import Setting
from keybearer.controllers.certificateprofile.signing import Made, Wish, make
from keybearer.controllers.certificateprofile.status import Need
from keybearer.controllers.certificateprofile.storage import CertificateStorage
from keybearer.controllers.effect_budget import spend
from keybearer.controllers.outcome import ReconcileError
from keybearer.kube.errors import AlreadyExistsError
from keybearer.pki.keys import PrivateKey

__all__ = ["Noting"]

_BUDGET = 60
"""What the attempts of one round may cost, where a key on a curve is 1: a round takes seconds, not minutes."""


@dataclass(slots=True)
class Noting:
    """Begins the attempts of a round.

    Attributes:
        setting: what the round is about.
        storage: keeps the keyring.
        abreast: bounds what is asked of the service.
        now: the present.
        more: whether attempts were left for the next round.
        minted: how many of those begun count against the budget for lost keys.
    """

    setting: Setting
    storage: CertificateStorage
    abreast: Abreast
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
        await self.abreast.take(self._require_target(case) for _, case, _ in chosen)
        await self.abreast.take(
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
            if spent > _BUDGET and chosen:
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
            await self.setting.scene.service.cancel(step.cancel or case.entry.id or "")
        except ReconcileError as error:
            case.trouble = error

    async def _noted(self, chosen: Sequence[tuple[Case, Mint]]) -> list[tuple[Case, Mint]]:
        """Put the attempts into the keyring, with a key where the operator makes it; return those that could be."""
        kept: dict[str, PrivateKey] = {}
        await self.abreast.take(self._keep_key(case, kept) for case, _ in chosen)
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
                and not await is_given_up(self.setting, case, key.public_key)
            ):
                kept[case.name] = key
        except ReconcileError as error:
            case.trouble = error

    def _note(self, case: Case, step: Mint, made: Made | None) -> None:
        # The tag is random, so that no attempt of another life of the object is taken for this one.
        tag = secrets.token_hex(4)
        issues = spend(case.entry.issues, case.limit, self.now)
        attempt = KeptAttempt(case.next_revision, tag, case.desired.digest, self.now, step.need, issues)
        self.storage.keyring = self.storage.keyring.begun(
            case.name, attempt, None if made is None else made.key.der()
        )
        case.begin(attempt, made)
