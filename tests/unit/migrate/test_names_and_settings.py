"""Rules for renaming, places of options, durations."""

from __future__ import annotations

import re
from datetime import timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from keybearer.base.errors import ConfigurationError
from keybearer.controllers.secretsync.key_choice import compile_renamer
from keybearer.migrate.durations import parse_go_duration
from keybearer.migrate.key_names import rename_of_regexp, rename_of_template, schema_of_regexp, search_pattern
from keybearer.migrate.settings import (
    IssuerPlace,
    Place,
    Settings,
    project_slug_of,
    read_issuers,
    read_places,
    slug_of,
)
from support.rows import each_row


def go_replaced(source: str, target: str, name: str) -> str:
    """Rewrite a name as Go's ReplaceAllString does, for the expressions of these tests."""
    template = re.sub(r"\$\{?(\d)\}?", r"\\g<\1>", target)
    if source in ("(.*)", ".*"):  # Go finds no empty match right after another
        source = f"^{source}$"
    return re.sub(source, template, name)


@settings(max_examples=60)
@given(
    rule=st.sampled_from(
        [
            ("^DB_", "database."),
            ("^(A+)(.)", "${2}-$1-"),
            ("_PROD$", ""),
            ("([A-Z])_([a-z]*)$", "$2.${1}"),
            ("^x(.*)y$", "[$1]"),
            ("(.*)", "pre-$1-post"),
            (".*", "all"),
            ("^[(]a", "b"),
        ]
    ),
    name=st.text("AaxyDB_(-PRO", min_size=1, max_size=9),
)
def test_a_rule_renames_as_theirs_does(rule: tuple[str, str], name: str) -> None:
    source, target = rule
    written = rename_of_regexp(source, target)
    assert isinstance(written, dict)
    renamer = compile_renamer(str(written["from"]), str(written["to"]), "keys.rename")
    assert (renamer(name) or name) == go_replaced(source, target, name)


@each_row(
    ("source", "target"),
    [
        pytest.param("-", "_", id="anywhere in a name"),
        pytest.param("^a|b$", "c", id="alternatives"),
        pytest.param("^(?i)a", "b", id="flags"),
        pytest.param("^a", "$name", id="a named group"),
        pytest.param("^(a)", "$2", id="a group that isn't there"),
        pytest.param("^(a)", "$" + "1" * 5000, id="a group of more digits than Python converts"),
        pytest.param("^(a)", "${01}", id="a group with a zero before it, which Go doesn't know"),
        pytest.param("a\\$", "b", id="a dollar that is escaped"),
        pytest.param("^" + "(a)" * 9, "$1", id="too many groups"),
        pytest.param("^" + "a" * 300, "b", id="too long"),
    ],
)
def test_what_one_rule_can_not_do_is_refused(source: str, target: str) -> None:
    assert rename_of_regexp(source, target) is None


def test_templates_and_schemas_that_put_a_text_around_names() -> None:
    assert rename_of_template("A_{{ .value }}_B") == {"from": "/^.*$/", "to": "A_\\0_B"}
    assert rename_of_template("{{ .value | upper }}") is None
    assert schema_of_regexp("^", "web/") == "web/{{secretKey}}"
    assert schema_of_regexp("(.*)", "web-$1") == "web-{{secretKey}}"
    assert schema_of_regexp("^db-", "web-") is None
    assert schema_of_regexp("^", "web.") is None
    assert search_pattern(".*") == "*"
    assert search_pattern("^A") == "/^A/"
    assert search_pattern("a" * 300) is None


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("1h0m0s", 3600),
        ("90s", 90),
        ("1.5h", 5400),
        ("500ms", 0),
        ("0", 0),
        ("0s", 0),
        ("2d", 172_800),
        ("1w", 604_800),
    ],
)
def test_durations_are_read_as_go_reads_them(text: str, seconds: int) -> None:
    assert parse_go_duration(text) == timedelta(seconds=seconds)


@pytest.mark.parametrize("text", ["", "5", "h", "1h 2m", "-1h", "1y", "9" * 70 + "h", "9000h", "1e3s"])
def test_what_is_no_duration_is_none(text: str) -> None:
    assert parse_go_duration(text) is None


def test_places_are_found_by_namespace_then_name_then_for_all() -> None:
    places = read_places("--map-store", ["vault=first/dev", "team/vault=other/dev/x/y/", "*=third/prod_1"])
    chosen = Settings(stores=places, issuers=read_issuers("--map-issuer", ["ca=our-pki/web", "*=other"]))
    assert chosen.store("team", "vault") == Place("other", "dev", "/x/y")
    assert chosen.store("other", "vault") == Place("first", "dev", "/")
    assert chosen.store("", "aws") == Place("third", "prod_1", "/")
    assert str(chosen.store("team", "vault")) == "other/dev/x/y"
    assert chosen.issuer("team", "ca") == IssuerPlace("web", "our-pki")
    assert chosen.issuer("team", "x") == IssuerPlace("other")
    assert Settings().store("team", "vault") is None


@pytest.mark.parametrize(
    "text", ["vault", "=a/b", "vault=a", "vault=A/b", "vault=a/b/c d", "vault=a/b/../c", "vault="]
)
def test_a_place_that_is_none_names_its_option(text: str) -> None:
    with pytest.raises(ConfigurationError, match=r"--map-store: .* is no NAME=PROJECT/ENVIRONMENT"):
        read_places("--map-store", [text])


@pytest.mark.parametrize("text", ["ca", "=web", "ca=", "ca=Pki/web", "ca=a/b/c", "ca=a/"])
def test_a_profile_that_is_none_names_its_option(text: str) -> None:
    with pytest.raises(ConfigurationError, match=r"--map-issuer: .* is no NAME=PROFILE"):
        read_issuers("--map-issuer", [text])


def test_a_name_twice_and_a_wrong_identity_are_refused() -> None:
    with pytest.raises(ConfigurationError, match="each name once"):
        read_places("--map-store", ["a=first/c", "a=other/e"])
    with pytest.raises(ConfigurationError, match="--identity: 'No Name' is no name of a Secret"):
        Settings(identity="No Name")


@pytest.mark.parametrize("slug", ["shop", "a" * 37])
def test_a_project_that_the_service_would_refuse_is_refused_with_the_bounds(slug: str) -> None:
    told = f"project '{slug}' of .* must have 5 to 36 characters"
    with pytest.raises(ConfigurationError, match=f"--map-store: {told}"):
        read_places("--map-store", [f"vault={slug}/prod"])
    with pytest.raises(ConfigurationError, match=f"--map-issuer: {told}"):
        read_issuers("--map-issuer", [f"ca={slug}/web"])


@pytest.mark.parametrize(
    ("name", "slug"),
    [("aws", "aws-secrets"), ("team-a-vault", "team-a-vault"), ("x" * 35 + "-y", "x" * 35)],
)
def test_a_project_that_is_assumed_has_a_slug_that_the_service_takes(name: str, slug: str) -> None:
    assert project_slug_of(name) == slug


def test_slugs_are_small_letters_digits_and_single_hyphens() -> None:
    assert slug_of("Team A__vault.Prod") == "team-a-vault-prod"
    assert slug_of("___") == "secrets"
    assert len(slug_of("a-" * 100)) <= 64
