"""`make explore`: status 0 when no plan violates anything, and nearly all of them were reached.

Ctrl-C ends it; `--resume` goes on with the plans that were not run yet.
"""

from __future__ import annotations

import argparse
import asyncio
import secrets
import shutil
import signal
import sys
import time
from collections import Counter
from dataclasses import dataclass, replace
from pathlib import Path

import uvloop
from rich.console import Console

from tools.bench.errors import BenchError, causes
from tools.bench.machine import held_directory
from tools.controlplane.errors import ControlPlaneError
from tools.explore.field_scenarios import FIELDS
from tools.explore.ledger import Ledger, read_plan
from tools.explore.mutants import MUTANTS, mutant_program
from tools.explore.plans import Plan, field_plans, pairs_of, plans_of
from tools.explore.run import Outcome, Runs, Verdict, reached_too_few
from tools.explore.scenarios import CATALOGUE
from tools.explore.search import Options, learn, learned_for, open_runs, run_all
from tools.soak.outlets import leak_in

__all__ = ["main"]

_DIRECTORY = Path(__file__).parents[2] / "build" / "explore"
_COLOURS = {
    Verdict.PASSED: "green",
    Verdict.VIOLATED: "red",
    Verdict.KNOWN: "yellow",
    Verdict.NOT_REACHED: "yellow",
}
_LINE_EACH_SECONDS = 30.0


@dataclass(frozen=True, slots=True)
class _Asked:
    """What the command line asks for.

    Attributes:
        plans: numbers or texts of the plans to replay; empty for all.
        pairs: how many random pairs; None for each single disturbance once.
        seed: of the pairs.
        resumes: whether a search that was cut off goes on.
        scenarios: the only ones; all where there are none.
    """

    directory: Path
    plans: tuple[str, ...]
    pairs: int | None
    seed: int
    resumes: bool
    scenarios: tuple[str, ...]
    mutant: str
    calm: int
    mortal: int


def main(arguments: list[str] | None = None) -> int:
    """Return the exit status: 0 when nothing was found, 1 when something was, or the search could not be made."""
    asked = _asked(_parser().parse_args(arguments))
    console = Console(width=None if sys.stdout.isatty() else 200, soft_wrap=True, highlight=False)
    found: bool | None = None
    try:
        with held_directory(asked.directory), asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
            found = runner.run(_explore(asked, console))
    except* (BenchError, ControlPlaneError, ValueError) as error:
        for cause in causes(error):
            console.print(f"the search could not go on: {cause}", style="red", markup=False)
    except* (asyncio.CancelledError, KeyboardInterrupt):
        console.print("ended; go on with EXPLORE_RESUME=1", style="red")
    return 0 if found is False else 1


async def _explore(asked: _Asked, console: Console) -> bool:
    """Return whether anything was found; SIGINT and SIGTERM end it in good order."""
    searching = asyncio.current_task()
    for number in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(number, lambda: searching and searching.cancel())
    ledger = Ledger(asked.directory)
    logs = asked.directory / "run"
    shutil.rmtree(logs, ignore_errors=True)
    program = mutant_program(asked.mutant) if asked.mutant else ()
    options = Options(logs, asked.calm, asked.mortal, program=program)
    console.print("starting control plane, service and operators", markup=False)
    async with open_runs(options) as runs:
        if asked.plans:
            outcomes = await _replay(asked, ledger, runs, console)
            return any(one.verdict in (Verdict.VIOLATED, Verdict.NOT_REACHED) for one in outcomes)
        began = time.monotonic()
        lines = await _search(asked, ledger, runs, console)
        minutes = (time.monotonic() - began) / 60
    leaks = [leak for log in sorted(logs.glob("operator-*.log")) if (leak := leak_in(log))]
    for leak in leaks:
        console.print(f"a value of a secret is in {leak}", style="red", markup=False)
    count = Counter(line["verdict"] for line in ledger.lines())
    ledger.write_page(
        {
            "mode": "each disturbance once"
            if asked.pairs is None
            else f"{asked.pairs} random pairs, seed {asked.seed}",
            "took": f"{minutes:.1f} minutes, {lines} runs",
        }
    )
    told = ", ".join(f"{number} {verdict}" for verdict, number in count.items())
    console.print(f"{told}; report: {ledger.page}", markup=False)
    missed, of = count[Verdict.NOT_REACHED], count.total()
    too_few = reached_too_few(missed=missed, of=of, are_pairs=asked.pairs is not None)
    if too_few:
        console.print(
            f"{missed} of {of} plans were not reached, which is too many: the rest shows nothing",
            style="red",
            markup=False,
        )
    return bool(count[Verdict.VIOLATED] or leaks or too_few)


async def _search(asked: _Asked, ledger: Ledger, runs: Runs, console: Console) -> int:
    """Run what is planned, and return how many runs that took."""
    chosen = asked.scenarios or tuple(CATALOGUE)
    plans = ledger.plans() if asked.resumes else []
    if plans:
        done = {line["number"] for line in ledger.lines()}
        plans = [one for one in plans if one.number not in done]
        chosen = tuple(dict.fromkeys(learned_for(one) for one in plans))
    count: Counter[str] = Counter()
    began = told_at = time.monotonic()
    failed: list[tuple[Plan, Outcome]] = []

    def note_failure(plan: Plan, outcome: Outcome) -> None:
        failed.append((plan, outcome))
        _tell(plan, outcome, console)

    console.print(f"learning {len(chosen)} scenarios", markup=False)
    baselines = await learn(runs, chosen, note_failure)
    if not plans:
        moments = {name: one.moments for name, one in baselines.items()}
        plans = plans_of(moments)
        first = len(plans) + 1
        if asked.pairs is None:
            plans += field_plans((name for name, one in FIELDS.items() if one.like in chosen), first)
        else:
            plans = pairs_of(moments, asked.pairs, asked.seed, first)
        ledger.begin(plans)
    plans = [one for one in plans if learned_for(one) in baselines]
    console.print(f"running {len(plans)} plans", markup=False)

    def note(plan: Plan, outcome: Outcome) -> None:
        nonlocal told_at
        ledger.add(plan, outcome)
        count[outcome.verdict] += 1
        if outcome.verdict is Verdict.VIOLATED:
            _tell(plan, outcome, console)
        if time.monotonic() - told_at > _LINE_EACH_SECONDS:
            told_at = time.monotonic()
            told = ", ".join(f"{number} {verdict}" for verdict, number in count.items())
            console.print(f"{told_at - began:5.0f} s  {told}, of {len(plans)}", markup=False)

    for number, (plan, outcome) in enumerate(failed, 1):
        ledger.add(replace(plan, number=-number), outcome)
    await run_all(runs, plans, baselines, note)
    return count.total()


async def _replay(asked: _Asked, ledger: Ledger, runs: Runs, console: Console) -> list[Outcome]:
    outcomes: list[Outcome] = []

    def note(plan: Plan, outcome: Outcome) -> None:
        outcomes.append(outcome)
        _tell(plan, outcome, console)
        for moment in outcome.moments:
            console.print(f"      {moment}", markup=False)

    plans = [await _plan_of(text, ledger, runs) for text in asked.plans]
    baselines = await learn(runs, dict.fromkeys(map(learned_for, plans)), note)
    await run_all(runs, [one for one in plans if learned_for(one) in baselines], baselines, note)
    return outcomes


async def _plan_of(text: str, ledger: Ledger, runs: Runs) -> Plan:
    """Return the plan of this number, as the last search counted, or of this text.

    Raises:
        ValueError: there is none.
    """
    if not text.isdecimal():
        plan = read_plan(text)
        if plan.scenario not in {**CATALOGUE, **FIELDS}:
            raise ValueError(f"there is no scenario {plan.scenario}: {', '.join(CATALOGUE)}")
        return plan
    plans = ledger.plans()
    if not plans:
        baselines = await learn(runs, CATALOGUE, lambda *_: None)
        plans = plans_of({name: one.moments for name, one in baselines.items()})
    for plan in plans:
        if plan.number == int(text):
            return plan
    raise ValueError(f"there is no plan {text}: they go to {max(one.number for one in plans)}")


def _tell(plan: Plan, outcome: Outcome, console: Console) -> None:
    console.print(
        f"{outcome.verdict} in {outcome.seconds:.1f} s: {plan.number}: {plan}",
        style=_COLOURS[outcome.verdict],
        markup=False,
    )
    for finding in outcome.findings:
        console.print(f"    {finding}", markup=False)


def _asked(given: argparse.Namespace) -> _Asked:
    return _Asked(
        given.directory,
        tuple(given.plan),
        given.plans,
        given.seed,
        given.resume,
        tuple(given.scenario),
        given.mutant,
        given.calm,
        given.mortal,
    )


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m tools.explore", description=__doc__)
    parser.add_argument(
        "--plan", action="append", default=[], help="replay this one, by number or text; repeatable"
    )
    parser.add_argument(
        "--plans", type=int, help="so many random pairs of disturbances instead of each one once"
    )
    parser.add_argument("--seed", type=int, default=secrets.randbelow(2**31), help="of the pairs")
    parser.add_argument("--resume", action="store_true", help="go on with a search that was cut off")
    parser.add_argument(
        "--scenario", action="append", default=[], choices=list(CATALOGUE), help="only this; repeatable"
    )
    parser.add_argument(
        "--mutant", default="", choices=["", *MUTANTS], help="an operator that lacks a safeguard"
    )
    parser.add_argument("--calm", type=int, default=10, help="runs at once that kill nobody")
    parser.add_argument("--mortal", type=int, default=3, help="operators that are killed")
    parser.add_argument("--directory", type=Path, default=_DIRECTORY, help="for results, report and logs")
    return parser


if __name__ == "__main__":
    sys.exit(main())
