"""What the dashboard keeps: bounded, and gone as soon as the user may not list it."""

from __future__ import annotations

import asyncio

from keybearer.cli.dashboard.inventory import Changes, Shelf, all_notes
from keybearer.kube.resources import SECRET_SYNCS, JsonObject, ObjectKey

A, B, C = (ObjectKey(*key) for key in (("team-a", "one"), ("team-a", "two"), ("team-b", "three")))


def name_of(body: JsonObject) -> str:
    return str(body["name"])


def shelf(*keys: ObjectKey, most: int = 100) -> Shelf[str]:
    made = Shelf(SECRET_SYNCS, name_of, lambda: None, most=most)
    for key in keys:
        made.changed(key, {"name": key.name})
    return made


def test_objects_come_and_go() -> None:
    kept = shelf(A, B)
    kept.gone(A, None)
    assert dict(kept.kept) == {B: "two"}
    assert kept.existing("team-b") == set()


def test_what_is_too_much_is_counted_and_said() -> None:
    kept = shelf(A, B, C, most=2)
    assert set(kept.kept) == {A, B}
    assert kept.notes == ("1 more secretsyncs are not shown. Choose a namespace with --namespace.",)
    kept.gone(C, None)
    assert not kept.notes


def test_what_has_room_again_is_not_counted_as_left_out() -> None:
    kept = shelf(A, B, C, most=2)
    kept.gone(A, None)
    kept.changed(C, {"name": "three"})
    assert (set(kept.kept), kept.left_out) == ({B, C}, 0)


def test_a_listing_of_one_namespace_keeps_the_count_of_another() -> None:
    kept = shelf(A, B, C, most=2)
    kept.existing("team-a")
    assert kept.left_out == 1
    kept.existing("team-b")
    assert kept.left_out == 0


def test_a_refusal_forgets_what_was_seen_and_names_none_of_it() -> None:
    kept = shelf(A, B, C)
    kept.follow(None, lambda: "forbidden")
    kept.refuse(None)
    assert kept.kept == {}
    assert kept.notes == ("secretsyncs of all namespaces are not visible: you may not list and watch them.",)


def test_a_refusal_of_all_namespaces_leaves_the_one_that_is_visible() -> None:
    kept = shelf(A, C)
    kept.follow(None, lambda: None)
    kept.follow("team-a", lambda: None)
    kept.refuse(None)
    assert set(kept.kept) == {A}
    kept.changed(A, {"name": "again"})
    kept.refuse(None)
    assert set(kept.kept) == {A}


def test_a_right_that_is_given_ends_the_note() -> None:
    kept = shelf()
    kept.follow(None, lambda: None)
    kept.refuse(None)
    kept.admit(None)
    assert all_notes(kept, kept) == ()


def test_an_outage_is_said_and_what_was_seen_stays() -> None:
    kept = shelf(A)
    kept.follow(None, lambda: "no answer")
    assert kept.notes == ("secretsyncs of all namespaces can't be followed now: no answer",)
    assert set(kept.kept) == {A}


async def test_who_waits_for_a_change_is_woken_by_it() -> None:
    changes = Changes()
    waiting = asyncio.create_task(changes.after(0))
    await asyncio.sleep(0)
    assert not waiting.done()
    changes.tell()
    assert await waiting == 1
