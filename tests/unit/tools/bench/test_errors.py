from __future__ import annotations

from tools.bench.errors import BenchError, NotInTimeError, causes


def test_every_single_error_of_nested_groups_is_told_with_its_notes() -> None:
    first, second = BenchError("the first"), BenchError("the second")
    first.add_note("a note on the first")
    group = ExceptionGroup("outer", [first, ExceptionGroup("inner", [second])])
    group.add_note("a note on all")

    assert list(causes(group)) == ["the first", "a note on the first", "the second", "a note on all"]


def test_of_a_long_text_the_first_line_and_the_end_are_told() -> None:
    text = "\n".join(["it ended; its log:", *(f"line {number}" for number in range(100))])

    (told,) = causes(BenchError(text))

    lines = told.splitlines()
    assert lines[0] == "it ended; its log:"
    assert lines[-1] == "line 99"
    assert len(lines) < 20


def test_long_lines_are_cut() -> None:
    (told,) = causes(BenchError("x" * 1000))

    assert len(told) < 300


def test_what_was_not_seen_in_time_is_counted_and_the_first_few_are_named() -> None:
    error = NotInTimeError("all Secrets", 5, [f"n/sync-{number}" for number in range(50)])

    assert "within 5 s; 50 missing: n/sync-0, n/sync-1" in str(error)
    assert "n/sync-49" not in str(error)
    assert str(error).endswith("...")
