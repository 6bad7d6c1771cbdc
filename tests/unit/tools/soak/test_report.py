from __future__ import annotations

from dataclasses import replace

import orjson
import pytest

from tools.soak.freshness import Disturbance, Sample
from tools.soak.memory import Flatness, Stretch
from tools.soak.meters import AuditTail, Calls
from tools.soak.record import Record, buckets, waits
from tools.soak.report import markdown, pictures, unmet, write_report
from tools.soak.verdict import Check

_SAMPLES = [Sample(1.0, 0.2), Sample(2.0, 0.4), Sample(31.0, 12.0)]


@pytest.fixture
def record() -> Record:
    """Return what a short soak found."""
    return Record(
        started_at="2026-01-01T00:00:00+00:00",
        minutes=1.0,
        machine={"memory": "1 GiB"},
        settings={"seed": "1"},
        population=20,
        first_sync_seconds=3.0,
        settled_seconds=2.5,
        checks=[Check("all is well")],
        actions={"source: value changed": 1234},
        disturbances=[
            Disturbance("service killed", 30.0, 35.0, 15.0),
            Disturbance("429 answered", 40.0, 45.0, 15.0),
        ],
        restarted={"operator-1: LeaseLostError: lost": 1},
        freshness=waits(_SAMPLES, _SAMPLES[:2]),
        freshness_over_time=buckets(_SAMPLES),
        repairs=waits([], []),
        memory=[Flatness("service", 200.0, 12.0, 0.3, 5.1)],
        stretches=[Stretch("service", 7, [(0.0, 100.0), (60.0, 101.0)])],
        calls=[Calls(2.0, 2.0, 10, 1, 20, 5)],
        requests={"GET /api/v4/secrets 200": 10},
        writes={"secrets": 20},
        faults=3,
    )


def test_the_page_says_what_held_how_long_changes_took_and_what_was_done(record: Record) -> None:
    page = markdown(record)

    assert "**passed**" in page
    assert "- [x] all is well" in page
    assert "| change to Secret | all | 3 | 0.40 s | 12.00 s | 12.00 s |" in page
    assert "| change to Secret | undisturbed | 2 | 0.20 s | 0.40 s | 0.40 s |" in page
    assert "| edit by hand to repair | all | 0 | | | |" in page
    assert "| service | 200 s | 101 MiB | +12.0 MiB/h | +0.30 MiB | 5.1 MiB | yes |" in page
    assert "| source: value changed | 1,234 |" in page
    assert "| service killed | 1 |" in page
    assert "| operator-1: LeaseLostError: lost | 1 |" in page


def test_what_does_not_hold_fails_the_soak_and_is_named(record: Record) -> None:
    failed = replace(record, checks=[*record.checks, Check("no Secret is left", ("soak-0/left",))])

    assert record.passed
    assert unmet(record) == []
    assert not failed.passed
    assert unmet(failed) == ["no Secret is left: NO: soak-0/left"]
    assert "**FAILED**" in markdown(failed)
    assert "- [ ] no Secret is left: NO: soak-0/left" in markdown(failed)


def test_the_report_is_a_page_pictures_and_figures(
    record: Record, tmp_path_factory: pytest.TempPathFactory
) -> None:
    directory = tmp_path_factory.mktemp("report")
    page = write_report(record, directory)

    assert {one.name for one in directory.iterdir()} == {"report.md", "soak.json", *pictures(record)}
    assert all(f"({name})" in page.read_text() for name in pictures(record))
    kept = orjson.loads((directory / "soak.json").read_bytes())
    assert kept["passed"] is True
    assert kept["freshness"]["all"]["worst"] == 12.0


def test_pictures_tell_kills_from_faults(record: Record) -> None:
    drawn = pictures(record)["memory.svg"]

    assert 'class="span"' in drawn
    assert 'class="soft"' in drawn
    assert "<title>service killed</title>" in drawn


def test_waits_are_gathered_by_when_they_began() -> None:
    assert [(one.at, one.count, one.worst) for one in buckets(_SAMPLES)] == [(0.0, 2, 0.4), (30.0, 1, 12.0)]


def test_each_line_of_the_audit_log_counts_once_and_only_when_it_is_whole(
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    log = tmp_path_factory.mktemp("audit") / "audit.log"
    tail = AuditTail(log)
    line = orjson.dumps({"verb": "create", "objectRef": {"resource": "secrets"}}) + b"\n"
    assert tail.read().writes_total == 0

    log.write_bytes(line + line + line[:10])
    assert tail.read().writes == {"secrets": 2}
    with log.open("ab") as more:
        more.write(line[10:])

    assert tail.read().writes == {"secrets": 1}
    assert tail.read().writes_total == 0
