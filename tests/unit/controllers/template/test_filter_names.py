from __future__ import annotations

from keybearer.controllers.template.filter_names import FILTER_NAMES
from keybearer.controllers.template.filters import FILTERS


def test_the_names_are_those_of_the_filters() -> None:
    assert sorted(FILTER_NAMES) == sorted(FILTERS)
