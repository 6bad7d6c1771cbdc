"""What a search has planned and seen, in files that outlive it: a search that was cut off goes on from them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypedDict

import orjson

from tools.explore.plans import Act, Disturbance, Plan
from tools.explore.run import Outcome, Verdict

__all__ = ["Ledger", "Line", "read_plan"]


class Line(TypedDict):
    """A run, as a line of the file says it."""

    number: int
    plan: str
    verdict: str
    findings: list[str]
    seconds: float


@dataclass(frozen=True, slots=True)
class Ledger:
    """Files in one directory.

    Attributes:
        directory: theirs alone.
    """

    directory: Path

    @property
    def results(self) -> Path:
        """Return where each run is a line of JSON."""
        return self.directory / "results.jsonl"

    @property
    def page(self) -> Path:
        """Return where the report is."""
        return self.directory / "report.md"

    @property
    def _plans(self) -> Path:
        return self.directory / "plans.json"

    def begin(self, plans: Sequence[Plan]) -> None:
        """These are the plans from now on, and none was run."""
        self.directory.mkdir(parents=True, exist_ok=True)
        self._plans.write_bytes(
            orjson.dumps({str(one.number): str(one) for one in plans}, option=orjson.OPT_INDENT_2)
        )
        self.results.write_bytes(b"")

    def plans(self) -> list[Plan]:
        """Return the plans; none where no search began."""
        if not self._plans.exists():
            return []
        kept: dict[str, str] = orjson.loads(self._plans.read_bytes())
        return [read_plan(text, int(number)) for number, text in kept.items()]

    def add(self, plan: Plan, outcome: Outcome) -> None:
        """A run has ended."""
        line = Line(
            number=plan.number,
            plan=str(plan),
            verdict=outcome.verdict,
            findings=list(outcome.findings),
            seconds=round(outcome.seconds, 2),
        )
        with self.results.open("ab") as file:
            file.write(orjson.dumps(line) + b"\n")

    def lines(self) -> list[Line]:
        """Return the newest line of each plan, by number."""
        if not self.results.exists():
            return []
        newest: dict[int, Line] = {}
        for text in self.results.read_bytes().splitlines():
            line: Line = orjson.loads(text)
            newest[line["number"]] = line
        return [newest[number] for number in sorted(newest)]

    def write_page(self, head: Mapping[str, str]) -> None:
        """The report tells of all lines.

        Args:
            head: what to say of the search itself.
        """
        lines, plans = self.lines(), self.plans()
        planned = Counter(_group_of(str(one)) for one in plans)
        told = ["# Search for the next hole", ""]
        told += [f"- {name}: {text}" for name, text in head.items()]
        told += [f"- plans: {len(plans)}, of which {len(lines)} were run", ""]
        told += ["| scenario | plans | " + " | ".join(Verdict) + " |", "|---|---|" + "---|" * len(Verdict)]
        for group, number in planned.items():
            count = Counter(one["verdict"] for one in lines if _group_of(one["plan"]) == group)
            told.append(f"| {group} | {number} | " + " | ".join(str(count[one]) for one in Verdict) + " |")
        for title, verdict in (
            ("Violations", Verdict.VIOLATED),
            ("Known", Verdict.KNOWN),
            ("Not reached", Verdict.NOT_REACHED),
        ):
            told += ["", f"## {title}", ""]
            for one in (line for line in lines if line["verdict"] == verdict):
                told.append(f"- {one['number']}: {one['plan']}")
                told += (f"  - {finding}" for finding in one["findings"])
        self.page.write_text("\n".join(told) + "\n")


def _group_of(plan: str) -> str:
    """Return the scenario of a plan; of fields, all of a kind."""
    scenario = plan.partition(" / ")[0]
    return " ".join(scenario.split()[:2]) if scenario.startswith("field ") else scenario


def read_plan(text: str, number: int = 0) -> Plan:
    """Return the plan that its text says.

    Raises:
        ValueError: it is none.
    """
    scenario, _, rest = text.partition(" / ")
    if rest == "undisturbed":
        return Plan(number, scenario, ())
    return Plan(number, scenario, tuple(_read_disturbances(rest.split(" + "))))


def _read_disturbances(texts: Iterable[str]) -> Iterable[Disturbance]:
    for text in texts:
        moment, _, act = text.rpartition(": ")
        yield Disturbance(moment, Act(act))
