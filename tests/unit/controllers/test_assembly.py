"""keybearer.controllers.assembly: the tables that it wires."""

from __future__ import annotations

from keybearer.controllers.assembly import TARGETS_OF
from keybearer.controllers.kinds import RESOURCES


def test_each_kind_says_which_targets_it_has() -> None:
    assert TARGETS_OF.keys() == RESOURCES.keys()
