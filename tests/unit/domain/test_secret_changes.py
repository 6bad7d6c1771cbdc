"""What changes of secrets ask for, before anything is stored."""

from __future__ import annotations

import pytest

from keybearer.base.ids import EnvironmentSlug, FolderPath
from keybearer.domain.access import ProjectRef
from keybearer.domain.errors import InvalidError
from keybearer.domain.secrets.changes import (
    ChangedSecret,
    NewSecret,
    require_new_name,
    runs_of,
    secret_of_change,
)
from keybearer.domain.secrets.questions import SecretsAt


def at(path: str) -> SecretsAt:
    return SecretsAt(ProjectRef(id="project"), EnvironmentSlug("dev"), FolderPath(path))


HERE, THERE = at("/"), at("/there")


@pytest.mark.parametrize(
    ("changes", "lengths"),
    [
        pytest.param([], [], id="nothing makes no run"),
        pytest.param([(HERE, "A"), (HERE, "B")], [2], id="different keys go together"),
        pytest.param([(HERE, "A"), (THERE, "A")], [2], id="one key of two folders is two secrets"),
        pytest.param(
            [(HERE, "A"), (HERE, "A")], [1, 1], id="the same secret again waits for its first change"
        ),
        pytest.param([(HERE, f"K{number}") for number in range(201)], [100, 100, 1], id="runs are bounded"),
    ],
)
def test_changes_that_do_not_meet_are_stored_at_once(
    changes: list[tuple[SecretsAt, str]], lengths: list[int]
) -> None:
    asked = [(place, ChangedSecret(key)) for place, key in changes]
    runs = list(runs_of(asked))
    assert [len(run) for run in runs] == lengths
    assert [one for run in runs for one in run] == asked


def test_a_rename_comes_alone_and_in_its_turn() -> None:
    asked = [
        (HERE, ChangedSecret("A")),
        (HERE, ChangedSecret("B", new_key="C")),
        (HERE, ChangedSecret("D")),
        (HERE, ChangedSecret("E")),
    ]
    assert [[change.key for _, change in run] for run in runs_of(asked)] == [["A"], ["B"], ["D", "E"]]


def test_an_empty_new_name_is_refused() -> None:
    with pytest.raises(InvalidError, match="cannot be empty"):
        require_new_name(ChangedSecret("A", new_key=" "))


def test_a_secret_made_by_a_change_has_the_new_name_and_no_empty_reminder() -> None:
    change = ChangedSecret("A", "cnry-1", new_key="B", reminder_note="", reminder_repeat_days=0)
    assert secret_of_change(change) == NewSecret("B", "cnry-1")
