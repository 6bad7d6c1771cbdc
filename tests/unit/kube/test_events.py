from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from keybearer.kube.events import EventBook, NewEvent, ObjectReference, Occurrence, RepeatedEvent
from keybearer.kube.resources import SECRET_SYNCS, ObjectKey


def occurrence(uid: str = "u1", reason: str = "ServiceUnavailable", message: str = "no answer") -> Occurrence:
    regarding = ObjectReference(SECRET_SYNCS, ObjectKey("team-a", f"sync-{uid}"), uid)
    return Occurrence(regarding, "Warning", reason, "Reconcile", message)


def test_what_is_said_again_within_ten_minutes_is_counted() -> None:
    book = EventBook()

    assert book.judge(occurrence(), 0) == NewEvent(1)
    assert book.judge(occurrence(), 599) == RepeatedEvent(1, 2)
    assert book.judge(occurrence(), 1198) == RepeatedEvent(1, 3)


def test_the_first_repetition_is_told_at_once_and_later_ones_every_five_minutes() -> None:
    book = EventBook()
    told = {second: verdict for second in range(600) if (verdict := book.judge(occurrence(), second))}

    assert told == {0: NewEvent(1), 1: RepeatedEvent(1, 2), 301: RepeatedEvent(1, 302)}


def test_what_is_said_again_after_ten_minutes_is_a_new_event() -> None:
    book = EventBook()
    book.judge(occurrence(), 0)

    assert book.judge(occurrence(), 601) == NewEvent(2)


def test_another_object_reason_or_message_is_another_event() -> None:
    book = EventBook()
    book.judge(occurrence(), 0)

    assert book.judge(occurrence(uid="u2"), 1) == NewEvent(2)
    assert book.judge(occurrence(reason="Forbidden"), 1) == NewEvent(3)
    assert book.judge(occurrence(message="other"), 1) == NewEvent(4)


def test_one_object_sends_25_at_once_and_then_one_in_five_minutes() -> None:
    book = EventBook()
    sent = [book.judge(occurrence(message=str(number)), 0) for number in range(40)]

    assert sum(verdict is not None for verdict in sent) == 25
    assert book.judge(occurrence(message="x"), 299) is None
    assert book.judge(occurrence(message="x"), 301) is not None
    assert book.judge(occurrence(message="y"), 302) is None


def test_a_noisy_object_does_not_silence_another() -> None:
    book = EventBook()
    for number in range(100):
        book.judge(occurrence(message=str(number)), 0)

    assert isinstance(book.judge(occurrence(uid="quiet"), 0), NewEvent)


def test_repetitions_that_were_held_back_are_in_the_next_count() -> None:
    book = EventBook()
    for _ in range(40):
        book.judge(occurrence(), 0)

    assert book.judge(occurrence(), 301) == RepeatedEvent(1, 41)


def test_a_forgotten_event_is_posted_anew() -> None:
    book = EventBook()
    book.judge(occurrence(), 0)
    book.forget(occurrence())

    assert book.judge(occurrence(), 1) == NewEvent(2)


def test_memory_is_bounded() -> None:
    book = EventBook()
    for number in range(10_000):
        book.judge(occurrence(uid=str(number)), float(number))

    assert len(book._series) == len(book._buckets) == 4096
    assert isinstance(book.judge(occurrence(uid="9999"), 10_000), RepeatedEvent), "the latest are kept"
    assert isinstance(book.judge(occurrence(uid="0"), 10_000), NewEvent), "the oldest went"


@given(st.lists(st.tuples(st.sampled_from("ab"), st.sampled_from("xyz"), st.floats(0, 400)), max_size=200))
def test_no_object_exceeds_its_share_and_counts_only_grow(steps: list[tuple[str, str, float]]) -> None:
    book = EventBook()
    now = 0.0
    sent = {"a": 0, "b": 0}
    counts: dict[int, int] = {}
    for uid, message, pause in steps:
        now += pause
        verdict = book.judge(occurrence(uid=uid, message=message), now)
        sent[uid] += verdict is not None
        if isinstance(verdict, RepeatedEvent):
            assert verdict.count > counts.get(verdict.serial, 1)
            counts[verdict.serial] = verdict.count
    assert max(sent.values()) <= 25 + now / 300
