"""Brings a target to what is desired: looks, plans and writes until what is there is what was planned upon."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from keybearer.controllers.outcome import StalledError, WaitingError
from keybearer.controllers.target.apply import TargetWriter
from keybearer.controllers.target.decisions import PlanContext, TargetAction, TargetPlan, Verdict
from keybearer.controllers.target.desired import DesiredTarget
from keybearer.controllers.target.observed import PresentTarget
from keybearer.controllers.target.plan import plan_target
from keybearer.controllers.target.reasons import TargetReason
from keybearer.controllers.target.rivals import Rivals
from keybearer.controllers.target.spec import CreationPolicy, WriteRules
from keybearer.kube.errors import (
    AlreadyExistsError,
    ConflictError,
    ForbiddenError,
    InvalidError,
    NotFoundError,
)

__all__ = ["Converged", "Convergence", "Start"]

_ATTEMPTS = 4
"""Looks at the target before a run gives up on finding it as planned upon; others may write at the same time."""


@dataclass(frozen=True, slots=True)
class Start:
    """What is known of a target before the first look at it.

    Attributes:
        blind: nothing is believed to be there: it is created without a look. POST touches nothing that exists.
        found: as it was read in this run, where it was: it isn't read again.
        repairs: a status says that just this was written before: what has to be written now makes good what others
            did. What this process wrote last counts as well, as a status that can't be written says nothing.
    """

    blind: bool = False
    found: PresentTarget | None = None
    repairs: bool = False


@dataclass(frozen=True, slots=True)
class Converged:
    """How it ended.

    Attributes:
        plan: what was planned at last; carried out, if it has an action.
        present: what it was planned upon; None: nothing was there, as far as was looked.
    """

    plan: TargetPlan
    present: PresentTarget | None


class Convergence:
    """Brings targets to what is desired; keeps nothing between two of them."""

    def __init__(self, writer: TargetWriter, rivals: Rivals) -> None:
        self._writer = writer
        self._rivals = rivals

    async def bring_about(
        self,
        desired: DesiredTarget,
        rules: WriteRules,
        context: PlanContext,
        *,
        carry_out: Callable[[TargetAction], Awaitable[None]],
        prepare: Callable[[TargetPlan], Awaitable[None]] | None = None,
        start: Start = Start(),
    ) -> Converged:
        """Write the target where it isn't as desired, unless something stands against that.

        Args:
            desired: what it should be.
            rules: what its owner's spec lets be done.
            context: what else counts; what others have to do with the target is found out here.
            carry_out: does what was planned.
            prepare: is awaited with what is planned, before each time that anything is written.
            start: what is known before the first look.

        Raises:
            ReconcileError: others write it at the same time, or manage fields of it.
            KubeError: the API server refuses or can't be asked.
        """
        merging = rules.policy is CreationPolicy.MERGE
        # Whether a merge is complete shows in who manages which key, not in what the whole looks like.
        expected = None if merging else desired.fingerprint
        repairs = start.repairs or self._writer.wrote(desired, context.owner_uid)
        for attempt in range(_ATTEMPTS):
            # What a run has not read is only created then: a POST replaces nothing.
            blind = (start.blind or (rules.as_found and start.found is None)) and not attempt
            present = None if attempt else start.found
            if present is None and not blind:
                present = await self._writer.look(
                    desired.key, context.owner_uid, expected=expected, thorough=attempt > 0
                )
            context = await self._rivals.completed(context, desired.key, present, rules)
            planned = plan_target(desired, present, rules, context)
            if attempt and rules.as_found and present is not None and planned.action is not None:
                break  # It has changed since the run read it: the next run plans on what is there by then.
            is_repair = repairs and planned.action is not None
            if is_repair and not self._writer.take_repair(present, desired.key, context.owner_uid):
                planned = TargetPlan(verdict=Verdict(TargetReason.CONTESTED, "", stalled=False))
            if planned.action is None:
                hands_off = merging or planned.left_alone
                there = None if present is None or hands_off else present.fingerprint
                self._writer.expect(desired.key, there)
                return Converged(planned, present)
            if prepare is not None:
                await prepare(planned)
            try:
                await carry_out(planned.action)
            except (AlreadyExistsError, ConflictError) as error:
                _refuse_contested(error)
                continue
            except (NotFoundError, ForbiddenError, InvalidError) as error:
                # Quotas and admission refuse a POST before anybody has looked whether the object exists.
                if attempt or not (blind or isinstance(error, NotFoundError)):
                    raise
                continue
            self._writer.tell_of_changes(desired, planned.changes, rules, context.owner_uid)
            return Converged(planned, present)
        raise WaitingError(
            TargetReason.CONFLICT,
            f"{desired.key.kind} {desired.key.name} is being written by somebody else at the same time; "
            "it is tried again",
        )


def _refuse_contested(error: AlreadyExistsError | ConflictError) -> None:
    """Raise where it is no race that another look settles, but fields that somebody else manages."""
    if isinstance(error, ConflictError) and error.causes:
        message = f"{error}; leave these to it in the spec, or take them from it"
        raise StalledError(TargetReason.CONFLICT, message) from error
