from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from keybearer.kube.references import ReferenceBook
from keybearer.kube.resources import ObjectKey

DB = ObjectKey("team-a", "db")
WEB = ObjectKey("team-a", "web")
OTHER = ObjectKey("team-b", "db")


def book_of(**owners: list[ObjectKey]) -> ReferenceBook[str]:
    book: ReferenceBook[str] = ReferenceBook()
    for owner, keys in owners.items():
        book.follow(owner, keys)
    return book


def test_all_owners_of_a_changed_object_are_named() -> None:
    book = book_of(one=[DB], two=[DB, WEB], three=[WEB])

    assert book.changed(DB, "5") == {"one", "two"}


def test_a_version_that_an_owner_has_read_does_not_call_it_back() -> None:
    book = book_of(one=[DB], two=[DB])
    book.seen("one", DB, "5")

    assert book.changed(DB, "5") == {"two"}


def test_of_two_readers_only_the_one_who_read_before_the_change_is_called_back() -> None:
    book = book_of(early=[DB], late=[DB])
    book.seen("early", DB, "5")
    book.seen("late", DB, "6")

    assert book.changed(DB, "6") == {"early"}


def test_the_same_change_is_told_once() -> None:
    book = book_of(one=[DB])

    assert book.changed(DB, "5") == {"one"}
    assert book.changed(DB, "5") == frozenset()


def test_a_deleted_object_is_told_to_those_who_saw_it() -> None:
    book = book_of(one=[DB], two=[DB])
    book.seen("one", DB, "5")

    assert book.changed(DB, None) == {"one"}, "the other has not read it, or knows that it is missing"


def test_foreign_objects_leave_nothing_behind() -> None:
    book = book_of(one=[DB])
    for number in range(1000):
        assert book.changed(ObjectKey("team-a", f"foreign-{number}"), "1") == frozenset()

    assert len(book) == 1


def test_following_nothing_forgets_the_owner() -> None:
    book = book_of(one=[DB], two=[DB])
    book.follow("one", [])
    book.follow("two", [WEB])

    assert book.changed(DB, "5") == frozenset()
    assert len(book) == 1


def test_following_again_keeps_the_version_that_was_read() -> None:
    book = book_of(one=[DB])
    book.seen("one", DB, "5")
    book.follow("one", [DB, WEB])

    assert book.changed(DB, "5") == frozenset()


def test_what_was_read_of_an_object_that_is_no_longer_followed_is_ignored() -> None:
    book = book_of(one=[DB])
    book.seen("one", WEB, "5")
    book.seen("nobody", DB, "5")

    assert len(book) == 1
    assert book.changed(DB, "5") == {"one"}


def test_only_objects_that_someone_saw_can_be_found_missing() -> None:
    book = book_of(one=[DB, WEB, OTHER])
    book.seen("one", DB, "5")
    book.seen("one", OTHER, "6")

    assert book.existing(None) == {DB, OTHER}
    assert book.existing("team-a") == {DB}


class World:
    """Two objects, a watch that delivers late, and owners who read again when they are called back."""

    def __init__(self) -> None:
        self.book = book_of(one=[DB], two=[DB, WEB])
        self.state: dict[ObjectKey, str | None] = {DB: None, WEB: None}
        self.views: dict[tuple[str, ObjectKey], str | None] = {}
        self.underway: list[tuple[ObjectKey, str | None]] = []
        for owner, key in (("one", DB), ("two", DB), ("two", WEB)):
            self.read(owner, key)

    def write(self, key: ObjectKey, version: str | None) -> None:
        if version is not None or self.state[key] is not None:
            self.state[key] = version
            self.underway.append((key, version))

    def read(self, owner: str, key: ObjectKey) -> None:
        self.views[owner, key] = self.state[key]
        self.book.seen(owner, key, self.state[key])

    def deliver(self) -> None:
        if self.underway:
            key, version = self.underway.pop(0)
            for owner in self.book.changed(key, version):
                self.read(owner, key)


@given(
    st.lists(st.tuples(st.sampled_from(["write", "delete", "read", "deliver"]), st.booleans()), max_size=60)
)
def test_no_owner_is_left_with_an_outdated_view(steps: list[tuple[str, bool]]) -> None:
    world = World()
    for number, (what, choice) in enumerate(steps):
        key = DB if choice else WEB
        match what:
            case "write":
                world.write(key, str(number))
            case "delete":
                world.write(key, None)
            case "read":
                world.read("two", key)
            case _:
                world.deliver()
    while world.underway:
        world.deliver()

    assert world.views == {(owner, key): world.state[key] for owner, key in world.views}
