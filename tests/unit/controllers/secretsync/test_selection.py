from __future__ import annotations

import json
from collections.abc import Callable
from datetime import UTC, datetime
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from keybearer.controllers.listing import SourceSecret
from keybearer.controllers.secretsync import payload
from keybearer.controllers.secretsync.reasons import KeyProblemReason
from keybearer.controllers.secretsync.selection import (
    KeysRefusedError,
    Selection,
    SourceContent,
    is_light,
    pinned_versions,
    place,
    refuse_blocked,
    select,
)
from keybearer.controllers.secretsync.spec import KeySelection, Source
from support.rows import each_row


def _secret(
    key: str,
    value: str = "cnry-value",
    *,
    path: str = "/",
    environment: str = "dev",
    version: int = 1,
    hidden: bool = False,
) -> SourceSecret:
    return SourceSecret(key, value, path, environment, version, None, hidden)


def _source(keys: dict[str, Any] | None = None, **fields: object) -> Source:
    return Source.model_validate({"projectId": "shop", "environment": "dev", "keys": keys or {}, **fields})


def _select(keys: dict[str, Any] | None, *secrets: SourceSecret) -> Selection:
    return select([SourceContent(_source(keys), secrets)])


def _data(selection: Selection) -> dict[str, bytes]:
    return {entry.target_key: entry.value for entry in selection.entries}


def _reasons(selection: Selection) -> list[tuple[str, KeyProblemReason]]:
    return [(problem.key, problem.reason) for problem in selection.problems]


def test_everything_is_taken_by_default_with_where_it_comes_from() -> None:
    at = datetime(2026, 1, 1, tzinfo=UTC)
    secret = SourceSecret("HOST", "cnry-host", "/db", "dev", 7, at)

    (entry,) = select([SourceContent(_source(secretPath="/db"), [secret])]).entries

    assert (entry.target_key, entry.value) == ("HOST", b"cnry-host")
    assert (entry.source_ref, entry.version, entry.updated_at) == ("dev:/db/HOST", 7, at)


@pytest.mark.parametrize(
    ("keys", "taken"),
    [
        ({"include": ["DB_*"]}, ["DB_HOST", "DB_PORT"]),
        ({"include": ["/T$/"]}, ["DB_HOST", "DB_PORT", "ROOT"]),
        ({"exclude": ["DB_*"]}, ["ROOT"]),
        ({"include": ["DB_*"], "exclude": ["/PORT/"]}, ["DB_HOST"]),
        ({"include": []}, []),
        ({"include": [], "items": [{"key": "ROOT"}]}, ["ROOT"]),
        ({"exclude": ["*"], "items": [{"key": "ROOT"}]}, ["ROOT"]),
    ],
)
def test_patterns_take_and_leave(keys: dict[str, Any], taken: list[str]) -> None:
    selection = _select(keys, _secret("ROOT"), _secret("DB_PORT"), _secret("DB_HOST"))

    assert [entry.target_key for entry in selection.entries] == taken
    assert selection.problems == ()


def test_the_first_rename_that_matches_is_applied() -> None:
    rename = [{"from": "DB_HOST", "to": "host"}, {"from": "/DB_(.*)/", "to": r"db.\1"}]

    selection = _select({"rename": rename}, _secret("DB_HOST"), _secret("DB_PORT"), _secret("X"))

    assert [entry.target_key for entry in selection.entries] == ["X", "db.PORT", "host"]


def test_items_stand_in_place_of_their_plain_form_and_in_as_many_as_are_asked_for() -> None:
    items = [
        {"key": "DB", "as": "host", "property": "host"},
        {"key": "DB", "as": "port", "property": "port"},
        {"key": "STORE", "decode": "Base64"},
        {"key": "APP_NAME"},
    ]
    rename = [{"from": "/APP_(.*)/", "to": r"\1"}]

    selection = _select(
        {"items": items, "rename": rename},
        _secret("DB", '{"host": "cnry-host", "port": 5432}'),
        _secret("STORE", "Y25yeS3/"),
        _secret("APP_NAME", "cnry-name"),
        _secret("OTHER"),
    )

    assert _data(selection) == {
        "host": b"cnry-host",
        "port": b"5432",
        "STORE": b"cnry-\xff",
        "NAME": b"cnry-name",
        "OTHER": b"cnry-value",
    }


def test_similar_names_are_suggested_for_the_first_missing_items() -> None:
    missing = [f"PASWORD_{number}" for number in range(20)]

    selection = _select({"items": [{"key": key} for key in missing]}, _secret("PASSWORD_0"))

    told = ["did you mean PASSWORD_0?" in problem.message for problem in selection.problems]
    assert told == [True] * 5 + [False] * 15


def test_a_pinned_item_is_read_in_its_version_and_no_other() -> None:
    keys = {
        "items": [
            {"key": "A", "version": 2},
            {"key": "A", "version": 2, "as": "again"},
            {"key": "B", "version": 9},
        ]
    }
    source = _source(keys)

    selection = select(
        [SourceContent(source, [_secret("A", "cnry-new", version=3)], [_secret("A", "cnry-old", version=2)])]
    )

    assert pinned_versions(source.keys) == (("A", 2), ("B", 9))
    assert _data(selection) == {"A": b"cnry-old", "again": b"cnry-old"}
    assert _reasons(selection) == [("B", KeyProblemReason.KEY_NOT_FOUND)]
    assert "B in version 9" in selection.problems[0].message


def test_later_sources_win_and_each_that_lost_is_reported() -> None:
    contents = [
        SourceContent(_source(secretPath=f"/{name}"), [_secret("A", f"cnry-{name}", path=f"/{name}")])
        for name in ("one", "two", "three")
    ]

    selection = select(contents)

    assert _data(selection) == {"A": b"cnry-three"}
    assert [problem.source_ref for problem in selection.problems] == ["dev:/one/A", "dev:/two/A"]
    assert not any(problem.blocking for problem in selection.problems)
    assert (
        selection.problems[1].message == "dev:/three/A is used and dev:/two/A is not: both become the key A"
    )


def test_in_a_recursive_source_the_later_path_wins_whatever_the_order_of_the_answer() -> None:
    secrets = [
        _secret("A", "cnry-b", path="/b"),
        _secret("A", "cnry-a", path="/a"),
        _secret("A", "cnry-root"),
    ]
    source = _source(recursive=True)

    for answer in (secrets, secrets[::-1]):
        selection = select([SourceContent(source, answer)])
        assert _data(selection) == {"A": b"cnry-b"}
        assert _reasons(selection) == [("A", KeyProblemReason.CLASH)] * 2


def test_an_import_yields_to_the_folder_and_an_earlier_import_to_a_later_one() -> None:
    own = _secret("A", "cnry-own", path="/app")
    imports = [_secret(key, f"cnry-{path}", path=f"/{path}") for path in ("x", "y") for key in ("A", "B")]

    selection = select([SourceContent(_source(secretPath="/app"), [own, *imports])])

    assert _data(selection) == {"A": b"cnry-own", "B": b"cnry-y"}
    assert {reason for _, reason in _reasons(selection)} == {KeyProblemReason.IMPORT_OVERRIDDEN}
    assert [problem.source_ref for problem in selection.problems] == ["dev:/x/A", "dev:/x/B", "dev:/y/A"]


def test_a_secret_that_is_listed_twice_does_not_clash_with_itself() -> None:
    selection = select(
        [SourceContent(_source(recursive=True), [_secret("A", path="/x"), _secret("A", path="/x")])]
    )

    assert selection.problems == ()


def test_two_names_that_are_renamed_alike_clash() -> None:
    selection = _select(
        {"rename": [{"from": "/(DB|CACHE)_HOST/", "to": "host"}]}, _secret("DB_HOST"), _secret("CACHE_HOST")
    )

    assert [entry.source_ref for entry in selection.entries] == ["dev:/DB_HOST"]
    assert [(problem.key, problem.source_ref) for problem in selection.problems] == [
        ("host", "dev:/CACHE_HOST")
    ]


def test_a_single_item_wins_over_what_patterns_took() -> None:
    selection = _select({"items": [{"key": "B", "as": "A"}]}, _secret("A", "cnry-a"), _secret("B", "cnry-b"))

    assert _data(selection) == {"A": b"cnry-b"}
    assert _reasons(selection) == [("A", KeyProblemReason.CLASH)]


def test_a_hidden_value_is_a_problem_and_never_the_mask_that_stands_in_its_place() -> None:
    selection = _select(None, _secret("A", "<hidden-by-infisical>", hidden=True), _secret("B"))

    assert _data(selection) == {"B": b"cnry-value"}
    assert _reasons(selection) == [("A", KeyProblemReason.VALUE_HIDDEN)]
    assert selection.problems[0].blocking


def test_a_hidden_value_that_is_not_taken_is_nobodys_problem() -> None:
    assert _select({"exclude": ["A"]}, _secret("A", hidden=True)).problems == ()


def test_a_winner_that_fails_does_not_give_its_place_to_the_loser() -> None:
    contents = [
        SourceContent(_source(secretPath="/one"), [_secret("A", "cnry-old", path="/one")]),
        SourceContent(_source(secretPath="/two"), [_secret("A", path="/two", hidden=True)]),
    ]

    selection = select(contents)

    assert selection.entries == ()
    assert _reasons(selection) == [("A", KeyProblemReason.CLASH), ("A", KeyProblemReason.VALUE_HIDDEN)]


def test_an_item_that_the_source_has_not_is_named() -> None:
    selection = _select({"include": [], "items": [{"key": "A"}]})

    assert _reasons(selection) == [("A", KeyProblemReason.KEY_NOT_FOUND)]
    assert selection.problems[0].message == "dev:/ has no secret A; create it, or correct keys.items"


def test_a_secret_with_the_property_in_its_name_is_suggested() -> None:
    selection = _select({"include": [], "items": [{"key": "db", "property": "port"}]}, _secret("db.port"))

    assert _reasons(selection) == [("db", KeyProblemReason.KEY_NOT_FOUND)]
    assert "write key: db.port, without property" in selection.problems[0].message


def test_a_value_that_is_not_what_an_item_says_is_reported_without_the_value() -> None:
    selection = _select({"items": [{"key": "A", "property": "x"}]}, _secret("A", "cnry-text"))

    assert _reasons(selection) == [("A", KeyProblemReason.INVALID_VALUE)]
    assert "cnry" not in repr(selection)


def test_a_pattern_that_is_none_blocks_and_is_named() -> None:
    selection = _select({"include": ["/(/"]}, _secret("A"))

    assert selection.entries == ()
    assert _reasons(selection) == [("dev:/", KeyProblemReason.INVALID_PATTERN)]
    assert selection.problems[0].message.startswith("source.keys.include[0]: pattern '/(/' is refused")


@pytest.mark.parametrize(
    ("keys", "said"),
    [
        ({"exclude": ["A", "/(/"]}, "sources[1].keys.exclude[1]: pattern '/(/' is refused"),
        (
            {"rename": [{"from": "/(/", "to": "x"}]},
            "sources[1].keys.rename[0].from: pattern '/(/' is refused",
        ),
        (
            {"rename": [{"from": "A", "to": "x"}, {"from": "/a/", "to": "\\1"}]},
            "sources[1].keys.rename[1].to: the replacement of pattern '/a/' may refer",
        ),
    ],
)
def test_the_field_of_a_pattern_that_is_none_is_named(keys: dict[str, Any], said: str) -> None:
    (problem,) = select([SourceContent(_source(keys), [_secret("A")], field="sources[1]")]).problems

    assert problem.message.startswith(said)


def test_patterns_made_to_be_slow_are_refused_before_they_run_over_many_names() -> None:
    include = [f"/[ab]*a[ab]{{{count}}}$/" for count in range(100, 110)]
    secrets = [_secret("ab" * 200 + str(number)) for number in range(2000)]

    selection = _select({"include": include}, *secrets)

    assert _reasons(selection) == [("dev:/", KeyProblemReason.INVALID_PATTERN)]
    assert "too large for the 2000 secrets" in selection.problems[0].message


def test_the_sources_of_a_run_share_what_patterns_may_cost() -> None:
    source = _source({"include": [f"/[ab]*a[ab]{{{count}}}$/" for count in range(100, 110)]})
    contents = [
        SourceContent(source, [_secret("ab" * 100 + str(number)) for number in range(50)]) for _ in range(20)
    ]
    assert _reasons(select(contents[:1])) == [], "one alone is fine"

    selection = select(contents)

    assert {reason for _, reason in _reasons(selection)} == {KeyProblemReason.INVALID_PATTERN}
    assert "narrower or fewer sources" in selection.problems[0].message


def test_a_json_value_is_parsed_once_for_all_its_items(monkeypatch: pytest.MonkeyPatch) -> None:
    parsed: list[str] = []

    def parse(value: str) -> object:
        parsed.append(value)
        return json.loads(value)

    monkeypatch.setattr(payload, "_parse", parse)
    one, other = ('{"p": "cnry-1", "q": "cnry-2"}', '{"p": "cnry-3", "q": "cnry-4"}')
    items = [
        {"key": key, "property": name, "as": f"{key}-{name}-{number}"}
        for number in range(10)
        for name in "pq"
        for key in ("ONE", "OTHER")
    ]

    selection = _select({"include": [], "items": items}, _secret("ONE", one), _secret("OTHER", other))

    assert len(selection.entries) == 40
    assert _data(selection)["OTHER-q-9"] == b"cnry-4"
    assert parsed == [one, other]


def test_too_much_json_blocks_and_says_what_to_do() -> None:
    secrets = [
        _secret(f"K{number}", json.dumps({"p": f"cnry-{number}", "rest": "x" * 1_000_000}))
        for number in range(6)
    ]
    items = [{"key": secret.key, "property": "p"} for secret in secrets]

    selection = _select({"include": [], "items": items}, *secrets)

    assert _reasons(selection) == [
        ("K4", KeyProblemReason.TOO_LARGE),
        ("K5", KeyProblemReason.TOO_LARGE),
    ]
    assert "4 MiB of JSON" in selection.problems[0].message
    assert all(problem.blocking for problem in selection.problems)


@each_row(
    ("keys", "secrets", "light"),
    [
        pytest.param({}, [_secret("A")] * 200, True, id="what most have"),
        pytest.param({"include": ["DB_*"]}, [_secret("A")] * 200, True, id="a glob"),
        pytest.param({}, [_secret("A")] * 201, False, id="many secrets"),
        pytest.param({"include": ["/^A/"]}, [_secret("A")], False, id="an expression"),
        pytest.param({"exclude": ["/^A/"]}, [_secret("A")], False, id="an expression that excludes"),
        pytest.param({"rename": [{"from": "/A/", "to": "B"}]}, [_secret("A")], False, id="one that renames"),
        pytest.param({"include": ["A*"] * 11}, [_secret("A")] * 200, False, id="globs for many names"),
        pytest.param({"include": ["A*" * 126] * 8}, [_secret("A")], False, id="long globs"),
        pytest.param({}, [_secret("A", "x" * 300_000)], False, id="a large value"),
        pytest.param({"items": [{"key": "A"}]}, [_secret("A", "x" * 10_000)], True, id="an item"),
        pytest.param({"items": [{"key": "B"}]}, [_secret("A")], False, id="an item that is missing"),
        pytest.param(
            {"items": [{"key": "A", "property": "p"}]},
            [_secret("A", "x" * 10_000)],
            True,
            id="a property of it",
        ),
        pytest.param(
            {"items": [{"key": "A", "property": "p"}, {"key": "A", "property": "q"}]},
            [_secret("A", "x" * 10_000)],
            False,
            id="two properties of it",
        ),
    ],
)
def test_only_what_takes_little_time_is_light(
    keys: dict[str, Any], secrets: list[SourceSecret], *, light: bool
) -> None:
    assert is_light([SourceContent(_source(keys), secrets)]) is light


def test_what_is_light_counts_over_all_sources() -> None:
    content = SourceContent(_source(), [_secret("A")] * 150)

    assert is_light([content])
    assert not is_light([content, content])


_NAMES = st.sampled_from(["A", "B", "AB", "DB_A", "DB_B", "my key"])
_SECRETS = st.lists(
    st.builds(
        _secret,
        _NAMES,
        st.just("cnry-value") | st.just("not base64") | st.just('{"p": "cnry-p"}'),
        path=st.sampled_from(["/", "/x", "/x/y"]),
        environment=st.sampled_from(["dev", "base"]),
        version=st.integers(1, 3),
        hidden=st.booleans(),
    ),
    max_size=12,
    unique_by=place,
)
_KEYS = st.fixed_dictionaries(
    {
        "include": st.lists(st.sampled_from(["*", "A*", "/B/", "DB_?"]), max_size=2),
        "exclude": st.lists(st.sampled_from(["A", "/^DB/"]), max_size=1),
        "rename": st.lists(
            st.sampled_from([{"from": "/DB_(.*)/", "to": r"\1"}, {"from": "A", "to": "B"}]), max_size=2
        ),
        "items": st.lists(
            st.fixed_dictionaries(
                {"key": _NAMES},
                optional={
                    "as": st.sampled_from(["A", "z"]),
                    "property": st.just("p"),
                    "decode": st.just("Base64"),
                },
            ),
            max_size=3,
        ),
    }
)
_CONTENTS = st.lists(
    st.builds(
        SourceContent,
        st.builds(_source, _KEYS, recursive=st.booleans(), secretPath=st.sampled_from(["/", "/x"])),
        _SECRETS,
    ),
    max_size=3,
)


def _excluded(secret: SourceSecret, keys: KeySelection) -> bool:
    """Say what the patterns say, one by one and not by the code under test."""
    rules: dict[str, Callable[[str], bool]] = {
        "*": bool,
        "A*": lambda name: name.startswith("A"),
        "/B/": lambda name: "B" in name,
        "DB_?": lambda name: name.startswith("DB_") and len(name) == 4,
        "A": lambda name: name == "A",
        "/^DB/": lambda name: name.startswith("DB"),
    }
    if any(item.key == secret.key for item in keys.items):
        return False
    taken = any(rules[pattern](secret.key) for pattern in keys.include)
    return not taken or any(rules[pattern](secret.key) for pattern in keys.exclude)


@given(_CONTENTS)
def test_no_secret_is_dropped_without_a_word(contents: list[SourceContent]) -> None:
    selection = select(contents)

    accounted = {entry.source_ref for entry in selection.entries}
    accounted |= {problem.source_ref for problem in selection.problems if problem.source_ref}
    for content in contents:
        for secret in content.secrets:
            assert _excluded(secret, content.source.keys) or place(secret) in accounted


@given(_CONTENTS)
def test_each_key_of_the_target_is_given_once_and_in_order(contents: list[SourceContent]) -> None:
    keys = [entry.target_key for entry in select(contents).entries]

    assert keys == sorted(set(keys))


@given(_CONTENTS, st.randoms())
def test_the_order_of_an_answer_does_not_matter_but_for_imports(
    contents: list[SourceContent], random: Random
) -> None:
    def shuffled(content: SourceContent) -> SourceContent:
        own = [one for one in content.secrets if one.environment == "dev"]
        rest = [one for one in content.secrets if one.environment != "dev"]
        random.shuffle(own)
        return SourceContent(content.source, [*own, *rest])

    def direct(content: SourceContent) -> SourceContent:
        recursive = content.source.model_copy(update={"recursive": True, "secret_path": "/"})
        return SourceContent(recursive, content.secrets)

    whole = [direct(content) for content in contents]

    assert _data(select(map(shuffled, whole))) == _data(select(whole))


@given(_CONTENTS)
def test_what_the_last_source_gives_is_what_the_target_has(contents: list[SourceContent]) -> None:
    alone = select(contents[-1:])
    together = _data(select(contents))

    assert all(together[entry.target_key] == entry.value for entry in alone.entries)


@given(_CONTENTS)
def test_selecting_shows_no_value(contents: list[SourceContent]) -> None:
    assert "cnry" not in repr(select(contents)) + repr(contents)


def test_the_command_about_a_missing_secret_names_the_source_that_lacks_it() -> None:
    first = SourceContent(_source(secretPath="/shop"), [_secret("A", path="/shop")])
    wanted = {"include": [], "items": [{"key": "TOKEN"}]}
    second = SourceContent(_source(wanted, secretPath="/shop/db"), [_secret("B", path="/shop/db")])

    with pytest.raises(KeysRefusedError) as refused:
        refuse_blocked(select([first, second]).problems)

    assert refused.value.remedy is not None
    assert refused.value.remedy.command.endswith(" --path /shop/db")
