from __future__ import annotations

from keybearer.base.nearest import did_you_mean
from support.rows import each_row

_APPS = ("auth0", "aws", "github", "gitlab")


@each_row(
    ("written", "words", "said"),
    [
        ("awss", _APPS, "; did you mean aws?"),
        ("GitHub", _APPS, "; did you mean github?"),
        ("server auth", ("client_auth", "server_auth"), "; did you mean server_auth?"),
        ("DB_PASWORD", ("DB_USER", "DB_PASSWORD"), "; did you mean DB_PASSWORD?"),
        ("zabbix", _APPS, ""),
        ("aws", (), ""),
    ],
)
def test_the_likest_word_is_named_if_any_is_like_it(written: str, words: tuple[str, ...], said: str) -> None:
    assert did_you_mean(written, words) == said


def test_of_many_words_the_one_of_the_same_length_is_compared() -> None:
    words = ["Z_PASSWORD", *(f"A_{number:04}_OF_ANOTHER_LENGTH" for number in range(5000))]
    assert did_you_mean("Z_PASWORD", words) == "; did you mean Z_PASSWORD?"


def test_words_that_are_long_to_compare_are_not_compared() -> None:
    assert did_you_mean("K" * 249 + "X", ["K" * 250]) == ""
