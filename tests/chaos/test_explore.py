"""A few plans of the search for holes; all of them are `make explore`."""

from __future__ import annotations

from pathlib import Path

import pytest

from support.preloaded import PRELOADED
from tools.explore.ledger import read_plan
from tools.explore.plans import Plan
from tools.explore.run import Outcome, Verdict
from tools.explore.search import Options, learn, learned_for, open_runs, run_all

pytestmark = [pytest.mark.deep, pytest.mark.integration]

_PLANS = (
    "first sync / write POST secrets/web#1: killed after it",
    "first sync / write PATCH secretsyncs/status/web#1: answer lost",
    "recreate / write DELETE secrets/web#1: killed before it",
    "recreate / write DELETE secrets/web#1: killed after it",
    "recreate / write POST secrets/web#1: answer 500",
    "recreate / event DELETED secrets(labels)/web#1: delivered twice",
    "made anew under one name / event DELETED secretsyncs/web#1: event delayed",
    "change / write PATCH secrets/web#2: killed after it",
    "merge / write PATCH secrets/theirs#1: answer 409",
    "renewal / write PATCH secrets/tls#1: answer 500",
    "renewal / write PATCH secrets/tls#1: killed after it",
    (
        "renewal / write PATCH secrets/web.certificate-keys#1: delayed 20 s + "
        "call POST /api/v1/cert-manager/certificates#1: delayed 20 s"
    ),
    "push / call POST /api/v1/secret-syncs/cloud-parameter-store#1: answer lost",
)


async def test_a_disturbance_at_the_most_delicate_moments_leaves_no_trace(tmp_path: Path) -> None:
    plans = [read_plan(text, number) for number, text in enumerate(_PLANS, 1)]
    seen: list[tuple[Plan, Outcome]] = []
    options = Options(tmp_path, calm=5, mortal=2, launch=PRELOADED)
    async with open_runs(options) as runs:
        baselines = await learn(
            runs, dict.fromkeys(map(learned_for, plans)), lambda plan, run: seen.append((plan, run))
        )
        assert seen == []
        await run_all(runs, plans, baselines, lambda plan, run: seen.append((plan, run)))

    wrong = {
        str(plan): "; ".join((run.verdict, *run.findings))
        for plan, run in seen
        if run.verdict != Verdict.PASSED
    }
    assert not wrong, "\n".join(f"{plan}: {found}" for plan, found in wrong.items())
    assert len(seen) == len(plans)
