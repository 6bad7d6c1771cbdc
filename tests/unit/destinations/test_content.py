"""How answers of remotes are read."""

from __future__ import annotations

import orjson
import pytest
from pydantic import JsonValue

from keybearer.destinations.content import exact_object, says
from keybearer.destinations.remote import RemoteAnswer


def answer(status: int, content: JsonValue) -> RemoteAnswer:
    return RemoteAnswer(status, {}, orjson.dumps(content))


@pytest.mark.parametrize(
    ("status", "content", "is_said"),
    [
        pytest.param(400, {"message": {"key": ["was taken"]}}, True, id="that status and text"),
        pytest.param(409, {"message": {"key": ["was taken"]}}, False, id="another status"),
        pytest.param(400, {"message": {"value": ["was taken"]}}, False, id="in another field"),
        pytest.param(400, "was taken", False, id="no object"),
    ],
)
def test_what_an_answer_says_in_a_field(status: int, content: JsonValue, *, is_said: bool) -> None:
    assert says(400, "taken", "message", "key")(answer(status, content)) is is_said


@pytest.mark.parametrize(("status", "is_said"), [(400, True), (500, False)])
def test_what_an_answer_says_anywhere(status: int, *, is_said: bool) -> None:
    assert says(400, "taken")(RemoteAnswer(status, {}, b"<p>taken")) is is_said
    assert not says(400, "taken")(RemoteAnswer(status, {}, b""))


def test_whole_numbers_of_any_size_stay_exact() -> None:
    assert exact_object(f'{{"a": {10**30}, "b": [1.5, null]}}') == {"a": 10**30, "b": [1.5, None]}


@pytest.mark.parametrize("text", ["", "[]", "null", '{"a": NaN}', '{"a": "\\ud800"}', '{"a":' * 10_000])
def test_what_is_no_json_object_is_none(text: str) -> None:
    assert exact_object(text) is None
