from __future__ import annotations

import random

import pytest

from tools.bench.workload import encoded
from tools.soak.ledger import SourceLedger, digest_of


def _grown(seed: int, changes: int) -> tuple[SourceLedger, list[dict[str, str]]]:
    """Return a ledger after so many changes, and what the source held after each."""
    ledger, rng = SourceLedger(3, keys=4), random.Random(seed)  # noqa: S311 - repeats itself
    held = []
    for number in range(changes):
        change = ledger.first() if number == 0 else ledger.next_change(rng)
        before = dict(ledger.values)
        ledger.asked(change)
        ledger.committed(change)
        expected = {**before, **change.values}
        for name in change.removed:
            del expected[name]
        assert ledger.values == expected
        held.append(expected)
    return ledger, held


@pytest.mark.parametrize("seed", range(5))
def test_contents_tell_the_revision_whatever_was_changed_made_and_deleted(seed: int) -> None:
    ledger, held = _grown(seed, 400)

    assert [ledger.revision_of(digest_of(encoded(values))) for values in held] == list(range(1, 401))
    assert ledger.revision == 400


def test_secrets_come_and_go_few_at_a_time() -> None:
    _, held = _grown(1, 400)

    sizes = {len(values) for values in held}
    assert sizes == {4, 5, 6, 7}


def test_contents_that_never_were_have_no_revision() -> None:
    ledger, held = _grown(1, 5)
    mixture = {**held[3], "KEY_0": "cnry-of-nobody"}

    assert ledger.revision_of(digest_of(encoded(mixture))) is None


def test_a_change_that_was_not_asked_for_is_no_revision_yet() -> None:
    ledger, _ = _grown(1, 5)
    change = ledger.next_change(random.Random(0))  # noqa: S311 - repeats itself

    assert ledger.revision_of(digest_of(encoded(change.after))) is None


def test_a_digest_keeps_keys_and_values_apart() -> None:
    assert digest_of({"AB": "C"}) != digest_of({"A": "BC"})
    assert digest_of({"A": "B", "C": "D"}) == digest_of({"C": "D", "A": "B"})
    assert digest_of({"A": "B", "C": "D"}) != digest_of({"A": "D", "C": "B"})
