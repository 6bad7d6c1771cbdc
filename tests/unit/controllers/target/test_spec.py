"""keybearer.controllers.target.spec; what the API server refuses of a whole spec is in the corpus."""

from __future__ import annotations

import pytest

from keybearer.controllers.target.spec import is_target_key


@pytest.mark.parametrize("name", ["a", "A-b_c.d", "a" * 253, ".dockercfg", "a..b"])
def test_kubernetes_takes_the_name_as_a_key(name: str) -> None:
    assert is_target_key(name)


@pytest.mark.parametrize("name", ["", "a" * 254, ".", "..", "..a", "a b", "a\n", "ä", "a/b"])
def test_kubernetes_takes_the_name_for_no_key(name: str) -> None:
    assert not is_target_key(name)
