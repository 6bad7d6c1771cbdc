from __future__ import annotations

import random
from collections.abc import Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st

from keybearer.controllers.fingerprint import Fingerprinter, is_same_content

_texts = st.text(alphabet="01:aé", max_size=3)
_maps = st.dictionaries(_texts, _texts, max_size=2)
_questions = st.tuples(_texts, st.lists(_texts, max_size=3), st.lists(_maps, min_size=1, max_size=3))
Question = tuple[str, list[str], list[Mapping[str, str]]]
_ONE = Fingerprinter(b"1" * 32)


def of(question: Question, fingerprinter: Fingerprinter = _ONE) -> str:
    purpose, head, mappings = question
    return fingerprinter.of_mappings(purpose, head, *mappings)


@given(_questions, _questions)
def test_two_things_have_the_same_fingerprint_only_if_they_are_the_same(
    one: Question, other: Question
) -> None:
    assert (of(one) == of(other)) is (one == other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        pytest.param(("p", ["a", "b"], [{}]), ("p", ["ab"], [{}]), id="texts joined"),
        pytest.param(("p", ["a", "0"], [{}]), ("p", ["a"], [{}, {}]), id="a text like a count"),
        pytest.param(("p", ["1"], [{"0": "0"}]), ("p", [], [{"1": "0"}, {}]), id="a value like a count"),
        pytest.param(("p", [], [{"a": "b"}, {}]), ("p", [], [{}, {"a": "b"}]), id="another mapping"),
        pytest.param(("p", ["1:a"], [{}]), ("p1:a", [], [{}]), id="a purpose that looks like a part"),
        pytest.param(("p", [], [{"a": "b"}]), ("p", [], [{"b": "a"}]), id="key and value swapped"),
    ],
)
def test_forms_that_could_be_confused_are_not(one: Question, other: Question) -> None:
    assert of(one) != of(other)


@given(st.lists(st.tuples(_texts, _texts), max_size=5, unique_by=lambda pair: pair[0]), st.randoms())
def test_the_order_of_keys_does_not_matter(pairs: list[tuple[str, str]], chance: random.Random) -> None:
    shuffled = pairs[:]
    chance.shuffle(shuffled)

    assert of(("p", [], [dict(pairs)])) == of(("p", [], [dict(shuffled)]))


def test_a_fingerprint_is_128_bits_in_hex_and_depends_on_the_key() -> None:
    question: Question = ("data", ["Secret"], [{"A": "cnry-a"}])
    made = of(question)

    assert len(made) == 32
    assert int(made, 16) >= 0
    assert made != of(question, Fingerprinter(b"2" * 32))
    assert made == of(question, Fingerprinter(b"1" * 32)), "all replicas make the same"


def test_a_fingerprinter_keeps_nothing_of_what_it_made_before() -> None:
    fresh = Fingerprinter(b"1" * 32)
    fresh.of_parts("p", ["cnry-before"])

    assert fresh.of_parts("p", ["a"]) == _ONE.of_parts("p", ["a"])


def test_a_short_key_is_refused_by_its_length_alone() -> None:
    with pytest.raises(ValueError, match="has 31 bytes; 32 are needed") as refused:
        Fingerprinter(b"cnry-" + b"x" * 26)
    assert "cnry" not in str(refused.value)


def test_a_fingerprinter_shows_no_key() -> None:
    assert "cnry" not in repr(Fingerprinter(b"cnry-" + b"x" * 27))


def test_what_is_kept_says_under_which_key_it_was_made() -> None:
    other = Fingerprinter(b"2" * 32)
    one, same = (_ONE.of_kept_content("data", [], {"A": "cnry-a"}) for _ in range(2))
    changed = _ONE.of_kept_content("data", [], {"A": "cnry-b"})

    assert (is_same_content(one, same), is_same_content(one, changed)) == (True, False)
    assert is_same_content(one, other.of_kept_content("data", [], {"A": "cnry-a"})) is None
    assert "cnry" not in one


def test_what_was_kept_before_keys_were_named_counts_as_of_the_present_one() -> None:
    now = _ONE.of_kept_content("data", [], {"A": "cnry-a"})

    assert is_same_content(_ONE.of_mappings("data", [], {"A": "cnry-a"}), now)
    assert is_same_content(_ONE.of_mappings("data", [], {"A": "cnry-b"}), now) is False
