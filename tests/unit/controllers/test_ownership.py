"""keybearer.controllers.ownership."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from keybearer.controllers.ownership import Ownership, is_own, mark_of, marked, ownership_of

_OURS = mark_of("cluster-1", "uid-1")
_ROOM = 256


@given(st.text(max_size=200) | st.none())
def test_what_was_marked_is_ours_whatever_people_wrote_and_fits_into_a_description(text: str | None) -> None:
    description = marked(text, _OURS)

    assert ownership_of(description, _OURS) is Ownership.OURS
    assert ownership_of(description, mark_of("cluster-1", "uid-2")) is Ownership.OTHERS
    assert ownership_of(description, mark_of("cluster-2", "uid-1")) is Ownership.OTHERS
    assert len(description) <= _ROOM


@pytest.mark.parametrize(
    "description",
    [
        None,
        "",
        "Where releases go",
        "[keybearer]",
        f"[keybearer {_OURS}] and more",
        f"[keybearer {_OURS[:-1]}]",
        f"x[keybearer {_OURS}]",
    ],
)
def test_without_a_whole_mark_at_its_end_it_is_nobody_s(description: str | None) -> None:
    assert ownership_of(description, _OURS) is Ownership.NOBODY


@pytest.mark.parametrize(
    ("mark", "takes_unmarked", "is_taken"),
    [
        (_OURS, False, True),
        (_OURS, True, True),
        (None, False, False),
        (None, True, True),
        (mark_of("cluster-1", "uid-2"), False, False),
        (mark_of("cluster-1", "uid-2"), True, False),
    ],
)
def test_an_object_changes_its_own_and_what_nobody_marks_only_where_it_may(
    mark: str | None, *, takes_unmarked: bool, is_taken: bool
) -> None:
    description = "Releases" if mark is None else marked("Releases", mark)
    assert is_own(description, _OURS, takes_unmarked=takes_unmarked) is is_taken
