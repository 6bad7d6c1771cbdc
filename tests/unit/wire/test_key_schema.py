"""keybearer.wire.key_schema: names of keys in a destination (wire.md section 3.4)."""

from __future__ import annotations

import re

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from keybearer.wire.key_schema import KEY_SCHEMA_PATTERN, KeyNaming, check_key_schema, may_be_of
from support.rows import each_row

AROUND = st.text("abcXYZ019_-/", max_size=6)
SLUGS = st.from_regex(r"[a-z0-9]+(-[a-z0-9]+)?", fullmatch=True)
KEYS = st.text("ABcd_09-.=+/", min_size=1, max_size=12)


@st.composite
def schemas(draw: st.DrawFn) -> str:
    """Return a schema that is right."""
    parts = [draw(AROUND), "{{secretKey}}", draw(AROUND)]
    return "".join(parts) if draw(st.booleans()) else draw(telling_environment(parts))


@st.composite
def telling_environment(draw: st.DrawFn, parts: list[str]) -> str:
    """Return a schema of these parts, with the environment somewhere between them."""
    at = draw(st.sampled_from([0, 1, 2, 3]))
    return "".join([*parts[:at], "{{environment}}", *parts[at:]])


def takes(naming: KeyNaming, key: str) -> bool:
    """Return whether the key stays on the one level that a schema with a path speaks of."""
    return "/" not in key or "/" not in naming.prefix + naming.suffix


@given(schemas(), SLUGS, KEYS)
def test_a_key_comes_back_from_its_name(schema: str, environment: str, key: str) -> None:
    naming = KeyNaming.of(check_key_schema(schema), environment)
    assume(takes(naming, key))
    assert naming.key_of(naming.name_of(key)) == key


@given(schemas(), SLUGS, st.text("ABcd_09-/", max_size=30))
def test_a_name_that_the_schema_does_not_make_belongs_to_others(
    schema: str, environment: str, name: str
) -> None:
    naming = KeyNaming.of(schema, environment)
    key = naming.key_of(name)
    if key is None:
        # None of its keys would have been called so.
        inner = name[len(naming.prefix) : len(name) - len(naming.suffix)]
        assert not inner or not takes(naming, inner) or naming.name_of(inner) != name
    else:
        assert key
        assert naming.name_of(key) == name


# `dev` begins like `dev-2`, and a key may begin with `-2`: only slugs of one length can't be mistaken.
@given(
    telling_environment(["a_", "{{secretKey}}", "-b"]) | telling_environment(["", "{{secretKey}}", ""]),
    st.permutations(["dev", "tst", "prd", "d-v"]),
    KEYS,
)
def test_names_of_another_environment_do_not_match(schema: str, slugs: list[str], key: str) -> None:
    one, other, *_ = slugs
    assert KeyNaming.of(schema, one).key_of(KeyNaming.of(schema, other).name_of(key)) is None


@given(KEYS, SLUGS)
def test_without_a_schema_a_key_is_its_name(key: str, environment: str) -> None:
    naming = KeyNaming.of(None, environment)
    assert naming.name_of(key) == key == naming.key_of(key)


@each_row(
    ("schema", "environment", "name", "key"),
    [
        ("{{environment}}/{{secretKey}}", "dev", "dev/A", "A"),
        ("{{environment}}/{{secretKey}}", "dev", "dev/A/B", None),
        ("{{environment}}/{{secretKey}}", "dev", "dev/", None),
        ("{{environment}}/{{secretKey}}", "dev", "prod/A", None),
        ("PRE_{{secretKey}}", "dev", "PRE_A/B", "A/B"),
        ("PRE_{{secretKey}}", "dev", "pre_A", None),
        ("{{secretKey}}_{{environment}}", "dev", "A_dev", "A"),
        ("{{secretKey}}_{{environment}}", "dev", "_dev", None),
        ("aa{{secretKey}}aa", "dev", "aaa", None),
        ("aa{{secretKey}}aa", "dev", "aaaa", None),
        ("aa{{secretKey}}aa", "dev", "aaaaa", "a"),
    ],
)
def test_names_are_read(schema: str, environment: str, name: str, key: str | None) -> None:
    assert KeyNaming.of(schema, environment).key_of(name) == key


@given(schemas())
def test_a_right_schema_is_taken(schema: str) -> None:
    assert check_key_schema(schema) == schema
    assert re.search(KEY_SCHEMA_PATTERN, schema)


@each_row(
    "schema",
    [
        "",
        "KEY",
        "{{environment}}",
        "{{ secretKey }}",
        "{{secretKey}}{{secretKey}}",
        "{{environment}}{{environment}}{{secretKey}}",
        "a.{{secretKey}}",
        "{{secretKey}}\n",
        "{{secretKey}}{{other}}",
        "{{sec{{secretKey}}retKey}}",
        "{{{{secretKey}}}}",
        "{{secret{{environment}}Key}}",
    ],
)
def test_another_schema_is_refused(schema: str) -> None:
    with pytest.raises(
        ValueError, match=r"^Key schema must include exactly one \{\{secretKey\}\} placeholder\."
    ):
        check_key_schema(schema)
    assert re.search(KEY_SCHEMA_PATTERN.replace("$", r"\Z"), schema) is None


@given(st.lists(st.sampled_from(["{{secretKey}}", "{{environment}}", "a", "/", "{", " "]), max_size=5))
def test_the_pattern_of_descriptions_says_the_same(parts: list[str]) -> None:
    schema = "".join(parts)
    try:
        check_key_schema(schema)
    except ValueError:
        assert not re.search(KEY_SCHEMA_PATTERN, schema)
    else:
        assert re.search(KEY_SCHEMA_PATTERN, schema)


@given(KEYS, AROUND, AROUND)
def test_a_name_may_be_of_the_key_that_it_was_made_from_whatever_its_case(
    key: str, prefix: str, suffix: str
) -> None:
    name = KeyNaming(prefix, suffix).name_of(key)
    assert may_be_of(name, {key, "another"})


def test_a_name_is_of_no_key_that_it_does_not_hold_unless_there_are_too_many_to_compare() -> None:
    assert not may_be_of("OLD_A", {"B", "OLD_AB"})
    assert may_be_of("OLD_A", {f"KEY_{number}" for number in range(101)})
