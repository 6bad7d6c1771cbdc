from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from keybearer.controllers.template.protocol import (
    OUTPUT_MAX_BYTES,
    Failure,
    Request,
    TemplateFault,
    read_answer,
    read_request,
    write_answer,
    write_request,
)

_KEYS = frozenset({"a", "b"})
_VALUES = st.dictionaries(st.text(), st.binary())


@given(st.dictionaries(st.text(), st.text()), _VALUES)
def test_a_request_arrives_as_it_was_sent(templates: dict[str, str], values: dict[str, bytes]) -> None:
    arrived = read_request(write_request(Request(templates, values)))

    assert (arrived.templates, arrived.values) == (templates, values)


@given(st.fixed_dictionaries({"a": st.binary(), "b": st.binary()}))
def test_outputs_arrive_as_they_were_sent(outputs: dict[str, bytes]) -> None:
    assert read_answer(write_answer(outputs), _KEYS) == outputs


def test_a_failure_arrives_as_it_was_sent() -> None:
    failure = Failure(TemplateFault.UNDEFINED_VARIABLE, "a", 3, "HOST")

    assert read_answer(write_answer(failure), _KEYS) == failure


@given(
    st.binary()
    | st.recursive(st.none() | st.integers() | st.text(), st.lists).map(json.dumps).map(str.encode)
)
def test_whatever_else_a_child_writes_is_no_answer(written: bytes) -> None:
    with pytest.raises(ValueError, match="the sandbox gave no answer"):
        read_answer(written, _KEYS)


@pytest.mark.parametrize(
    "outputs",
    [
        pytest.param({"a": b""}, id="a key is missing"),
        pytest.param({"a": b"", "b": b"", "c": b""}, id="a key was not asked for"),
        pytest.param({"a": b"x" * OUTPUT_MAX_BYTES, "b": b"x"}, id="it is too much"),
    ],
)
def test_an_answer_that_does_not_fit_the_request_is_refused(outputs: dict[str, bytes]) -> None:
    with pytest.raises(ValueError, match="other keys than it was asked for, or too much"):
        read_answer(write_answer(outputs), _KEYS)


def test_a_failure_is_trusted_no_further_than_its_bounds() -> None:
    failure = Failure(TemplateFault.FAILED, "cnry-other-key", -1, "x" * 257)

    assert read_answer(write_answer(failure), _KEYS) == Failure(TemplateFault.FAILED)


def test_a_request_shows_no_value() -> None:
    assert "cnry" not in repr(Request({"a": "cnry-template"}, {"A": b"cnry-value"}))
