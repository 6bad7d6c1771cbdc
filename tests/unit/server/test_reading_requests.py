from __future__ import annotations

import pytest
from fastapi.exceptions import RequestValidationError
from starlette.requests import Request

from keybearer.domain.access import ProjectRef
from keybearer.server.errors import BadRequestError
from keybearer.server.queries import parameters_of, query_of
from keybearer.server.routes.bodies import metadata_pairs, project_ref, secrets_at, tag_slugs
from keybearer.wire.secrets import GetSecretQuery, ListSecretsQuery, ListSecretsV4Query


def asked(query: bytes) -> Request:
    return Request({"type": "http", "query_string": query, "headers": []})


def test_defaults_are_those_of_the_published_service() -> None:
    query = query_of(asked(b"environment=dev&workspaceSlug=s"), ListSecretsQuery)
    assert (query.secret_path, query.view_secret_value, query.expand_secret_references) == ("/", True, True)
    assert (query.recursive, query.include_imports) == (False, True)


@pytest.mark.parametrize("name", ["includeImports", "include_imports"])
def test_imports_are_switched_by_either_name(name: str) -> None:
    query = query_of(asked(f"projectId=p&environment=dev&{name}=false".encode()), ListSecretsV4Query)
    assert query.include_imports is False


def test_of_a_key_given_twice_the_last_value_counts() -> None:
    assert query_of(asked(b"environment=dev&environment=prod"), ListSecretsQuery).environment == "prod"


def test_bytes_that_are_no_text_do_no_harm() -> None:
    assert query_of(asked(b"environment=%FF\xff"), ListSecretsQuery).environment


def test_a_violation_keeps_no_input() -> None:
    with pytest.raises(RequestValidationError) as refused:
        query_of(asked(b"version=cnry-version"), GetSecretQuery)
    assert "cnry" not in str(refused.value.errors())


def test_parameters_are_described_without_references() -> None:
    described = parameters_of(GetSecretQuery)
    assert "$ref" not in str(described)


@pytest.mark.parametrize(
    ("text", "pairs"),
    [
        pytest.param("", (), id="nothing"),
        pytest.param("key=a,value=b", (("a", "b"),), id="a pair"),
        pytest.param("key=a", (("a", None),), id="a key alone"),
        pytest.param("value=b", ((None, "b"),), id="a value alone"),
        pytest.param(
            "key=a,value=b=c| key=d", (("a", "b=c"), ("d", None)), id="two, one with an equals sign"
        ),
    ],
)
def test_metadata_filters_are_read(text: str, pairs: tuple[tuple[str | None, str | None], ...]) -> None:
    assert metadata_pairs(text) == pairs


@pytest.mark.parametrize("text", ["cnry-x", "name=a", "key=", "key=a|", "|".join(["key=a"] * 11)])
def test_a_metadata_filter_that_cannot_be_read_is_refused_without_repeating_it(text: str) -> None:
    with pytest.raises(BadRequestError) as refused:
        metadata_pairs(text)
    assert "cnry" not in str(refused.value)


def test_tag_slugs_are_parted_by_commas() -> None:
    assert tag_slugs(" a, b,,c ") == ("a", "b", "c")


def test_an_id_counts_before_a_slug() -> None:
    query = query_of(asked(b"workspaceId=p&workspaceSlug=s&environment=dev&secretPath=a/"), ListSecretsQuery)
    at = secrets_at(query)
    assert (at.project, at.environment, at.path) == (ProjectRef("p", "s"), "dev", "/a")
    assert str(project_ref(query)) == "ID 'p'"
