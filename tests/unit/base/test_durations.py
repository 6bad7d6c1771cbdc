from __future__ import annotations

import re
from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from keybearer.base.durations import DURATION_PATTERN, parse_duration
from support.rows import each_row


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("30s", timedelta(seconds=30)),
        ("5m", timedelta(minutes=5)),
        ("12h", timedelta(hours=12)),
        ("0", timedelta()),
        (0, timedelta()),
        ("0s", timedelta()),
        ("007m", timedelta(minutes=7)),
        ("999999999s", timedelta(seconds=999_999_999)),
    ],
)
def test_a_duration_is_read(written: str | int, meant: timedelta) -> None:
    assert parse_duration(written) == meant


@each_row(
    "written",
    [
        "",
        "5",
        5,
        -1,
        "00",
        "5 m",
        " 5m",
        "5m\n",
        "-5m",
        "1h30m",
        "5d",
        "5M",
        "1.5h",
        "\N{ARABIC-INDIC DIGIT FIVE}m",
        "1" * 10 + "s",
    ],
    ids=repr,
)
def test_anything_else_is_refused_with_what_to_write(written: str | int) -> None:
    with pytest.raises(ValueError, match="digits and one unit"):
        parse_duration(written)


@given(st.text(alphabet="0123456789smhd .-\n\N{ARABIC-INDIC DIGIT THREE}", max_size=10))
def test_the_pattern_of_the_crd_and_the_parser_agree(text: str) -> None:
    # The API server's regular expressions (RE2) know no `$` before a final line break, so none here either.
    fits = re.search(DURATION_PATTERN.replace("$", r"\Z"), text) is not None
    try:
        parse_duration(text)
    except ValueError:
        assert not fits
    else:
        assert fits
