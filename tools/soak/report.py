"""The report of a soak: a page of Markdown, three pictures and the figures as JSON."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from tools.bench.samples import Summary
from tools.soak.chart import Colour, Panel, Series, Span, chart
from tools.soak.disturbances import ALL
from tools.soak.record import Record, Waits, save

__all__ = ["markdown", "pictures", "unmet", "write_report"]

_ROUTES = 12
_ABOUT_FRESHNESS = """From the service's answer to a change to the event of each Secret that depends on it. A change
counts as undisturbed when nothing was killed, restarted or failing as it was made, nor within 10 s afterwards, nor
so shortly before that it may still be felt."""


def write_report(record: Record, directory: Path) -> Path:
    """The directory holds `report.md`, `soak.json` and the pictures; return the page."""
    for name, picture in pictures(record).items():
        (directory / name).write_text(picture)
    save(record, directory / "soak.json")
    page = directory / "report.md"
    page.write_text(markdown(record))
    return page


def pictures(record: Record) -> dict[str, str]:
    """Return the pictures by their file names."""
    spans = [
        Span(one.began / 60, one.ended / 60, one.kind, soft=one.kind in ALL and not ALL[one.kind].kills)
        for one in record.disturbances
    ]
    ends = [point[0] for stretch in record.stretches for point in stretch.points]
    minutes = max([record.minutes, *(end / 60 for end in ends)])

    def drawn(title: str, *panels: Panel) -> str:
        return chart(title, panels, spans, minutes)

    return {
        "freshness.svg": drawn("Freshness over time", _freshness(record)),
        "memory.svg": drawn("Memory over time", _memory(record)),
        "calls.svg": drawn("Requests over time", *_calls(record)),
    }


def _freshness(record: Record) -> Panel:
    over_time = record.freshness_over_time
    return Panel(
        "Seconds from a change in the source to each Secret",
        (
            Series("worst", "orange", [(one.at / 60, one.worst) for one in over_time], dots=True),
            Series("p99", "purple", [(one.at / 60, one.p99) for one in over_time]),
            Series("p50", "blue", [(one.at / 60, one.p50) for one in over_time]),
        ),
        logarithmic=True,
    )


def _memory(record: Record) -> Panel:
    colours: Mapping[str, Colour] = {"operator-1": "blue", "operator-2": "green"}
    return Panel(
        "Resident memory in MiB, a line for each life",
        [
            Series(program, colours.get(program, "orange"), [(at / 60, mib) for at, mib in stretch.points])
            for stretch in record.stretches
            for program in [stretch.job.partition(",")[0]]
        ],
    )


def _calls(record: Record) -> tuple[Panel, Panel]:
    def per_second(name: str) -> list[tuple[float, float]]:
        return [(one.at / 60, getattr(one, name) / one.seconds) for one in record.calls]

    return (
        Panel(
            "Requests to the service, a second",
            (
                Series("answered", "blue", per_second("answered")),
                Series("refused or cut", "orange", per_second("refused")),
            ),
        ),
        Panel(
            "Requests to the API server, a second",
            (Series("writes", "green", per_second("writes")), Series("reads", "purple", per_second("reads"))),
        ),
    )


def markdown(record: Record) -> str:
    """Return the page."""
    verdict = "**passed**" if record.passed else "**FAILED**"
    settled = (
        "never" if record.settled_seconds is None else f"{record.settled_seconds:.1f} s after the last action"
    )
    lines = [
        "# Soak",
        "",
        f"Run of {record.started_at}: {verdict}. {record.minutes:.1f} minutes, {record.population:,} SecretSyncs.",
        f"First sync {record.first_sync_seconds:.1f} s; everything right {settled}.",
        "",
        *_table(("machine and settings", ""), {**record.machine, **record.settings}),
        "## Checks",
        "",
        *(f"- [{'x' if check.holds else ' '}] {check}" for check in record.checks),
        "",
        "## Freshness",
        "",
        _ABOUT_FRESHNESS,
        "",
        "![Freshness over time](freshness.svg)",
        "",
        *_waits_table({"change to Secret": record.freshness, "edit by hand to repair": record.repairs}),
        "## Memory",
        "",
        "![Memory over time](memory.svg)",
        "",
        *_memory_table(record),
        "## Calls",
        "",
        "![Requests over time](calls.svg)",
        "",
        *_table(("to the service", "requests"), _most(record.requests)),
        *_table(("to the API server", "writes"), _most(record.writes)),
        "## What was done",
        "",
        *_table(("action", "times"), dict(sorted(record.actions.items()))),
        *_table(("disturbance", "times"), _counted(one.kind for one in record.disturbances)),
        *_table(("ended by itself, and was started again", "times"), record.restarted),
        f"{record.faults:,} requests met a fault of the proxy.",
        "",
    ]
    return "\n".join(lines)


def _waits_table(rows: Mapping[str, Waits]) -> list[str]:
    lines = ["| what | when | count | p50 | p99 | worst |", "|---|---|---|---|---|---|"]
    for name, kinds in rows.items():
        lines += [_waits_row(name, "all", kinds.all), _waits_row(name, "undisturbed", kinds.undisturbed)]
    return [*lines, ""]


def _waits_row(name: str, when: str, summary: Summary | None) -> str:
    if summary is None:
        return f"| {name} | {when} | 0 | | | |"
    figures = " | ".join(f"{value:.2f} s" for value in (summary.p50, summary.p99, summary.worst))
    return f"| {name} | {when} | {summary.count:,} | {figures} |"


def _memory_table(record: Record) -> list[str]:
    lines = [
        "| program | seen | at its peak | second half: slope | growth | at most | flat |",
        "|---|---|---|---|---|---|---|",
    ]
    peaks: dict[str, float] = {}
    for stretch in record.stretches:
        highest = max((mib for _, mib in stretch.points), default=0.0)
        peaks[stretch.job] = max(peaks.get(stretch.job, 0.0), highest)
    lines += [
        f"| {one.job} | {one.seconds:.0f} s | {peaks.get(one.job, 0.0):.0f} MiB | {one.mib_per_hour:+.1f} MiB/h "
        f"| {one.growth_mib:+.2f} MiB | {one.limit_mib:.1f} MiB | {'yes' if one.flat else 'NO'} |"
        for one in record.memory
    ]
    return [*lines, ""]


def _table(head: tuple[str, str], rows: Mapping[str, object]) -> list[str]:
    if not rows:
        return []
    lines = [f"| {head[0]} | {head[1]} |", "|---|---|"]
    return [*lines, *(f"| {name} | {_told(value)} |" for name, value in rows.items()), ""]


def _told(value: object) -> str:
    return f"{value:,}" if isinstance(value, int) else str(value)


def _most(counts: Mapping[str, int]) -> dict[str, int]:
    ordered = sorted(counts.items(), key=lambda pair: -pair[1])
    rest = sum(count for _, count in ordered[_ROUTES:])
    return dict(ordered[:_ROUTES]) | ({"others": rest} if rest else {})


def _counted(names: Iterable[str]) -> dict[str, int]:
    found: dict[str, int] = {}
    for name in names:
        found[name] = found.get(name, 0) + 1
    return dict(sorted(found.items()))


def unmet(record: Record) -> Sequence[str]:
    """Return what doesn't hold."""
    return [str(check) for check in record.checks if not check.holds]
