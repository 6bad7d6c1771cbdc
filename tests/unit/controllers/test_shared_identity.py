from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from pydantic import ValidationError

from keybearer.base.errors import ConfigurationError
from keybearer.controllers.shared_identity import SharedGrant, may_use_shared_identity, read_grants
from keybearer.controllers.sources.query import SourceQuery
from support.rows import each_row

_QUERY = SourceQuery("shop-id", by_slug=False, environment="dev", path="/apps/web")


def grant(**fields: Any) -> SharedGrant:  # noqa: ANN401 - fields as the file has them
    whole = {"namespaces": ["team-a"], "projectId": "shop-id", "environment": "dev", **fields}
    return SharedGrant.model_validate({name: value for name, value in whole.items() if value is not None})


def test_by_default_nobody_may_read_anything() -> None:
    assert not may_use_shared_identity((), "team-a", {}, _QUERY)


@pytest.mark.parametrize(
    ("path", "asked", "covered"),
    [
        pytest.param("/", "/", True, id="the root covers itself"),
        pytest.param("/", "/apps/web", True, id="and all below"),
        pytest.param("/apps", "/apps", True, id="a folder covers itself"),
        pytest.param("/apps/", "/apps", True, id="with or without a final slash"),
        pytest.param("/apps", "/apps/web/db", True, id="and what is below"),
        pytest.param("/apps", "/apps2", False, id="not what only begins alike"),
        pytest.param("/apps", "/", False, id="not what is above"),
        pytest.param("/apps", "/Apps", False, id="paths have a case"),
        pytest.param("apps", "/apps", False, id="a path without its slash covers nothing"),
    ],
)
def test_a_grant_covers_its_path_and_what_is_below(path: str, asked: str, *, covered: bool) -> None:
    assert grant(secretPath=path).covers(replace(_QUERY, path=asked)) is covered


@pytest.mark.parametrize(
    ("environment", "asked", "covered"),
    [
        pytest.param("dev", "dev", True, id="the same"),
        pytest.param("dev", "dev2", False, id="the whole name"),
        pytest.param("dev-*", "dev-eu", True, id="a star"),
        pytest.param("d?v", "dev", True, id="a question mark"),
        pytest.param("*", "prod", True, id="any"),
        pytest.param("DEV", "dev", False, id="names have a case"),
    ],
)
def test_environments_are_globs(environment: str, asked: str, *, covered: bool) -> None:
    assert grant(environment=environment).covers(replace(_QUERY, environment=asked)) is covered


@pytest.mark.parametrize(
    ("fields", "project", "by_slug", "covered"),
    [
        pytest.param({"projectId": "shop-id"}, "shop-id", False, True, id="id by id"),
        pytest.param({"projectId": "shop"}, "shop", True, False, id="a slug that looks like the id"),
        pytest.param({"projectId": None, "projectSlug": "shop"}, "shop", True, True, id="slug by slug"),
        pytest.param(
            {"projectId": None, "projectSlug": "shop"}, "shop", False, False, id="an id like the slug"
        ),
        pytest.param({"projectId": "shop-id"}, "other", False, False, id="another project"),
        pytest.param({"projectId": "*"}, "shop-id", False, False, id="projects are no globs"),
    ],
)
def test_a_project_is_named_as_the_source_names_it(
    fields: dict[str, Any], project: str, *, by_slug: bool, covered: bool
) -> None:
    query = replace(_QUERY, project=project, by_slug=by_slug)

    assert grant(**fields).covers(query) is covered


@each_row(
    ("fields", "namespace", "labels", "admitted"),
    [
        pytest.param({}, "team-a", {}, True, id="by name"),
        pytest.param({}, "team-b", {}, False, id="another name"),
        pytest.param({"namespaces": ["team-*"]}, "team-b", {}, True, id="by glob"),
        pytest.param({"namespaces": ["team-*"]}, "xteam-b", {}, False, id="of the whole name"),
        pytest.param(
            {"namespaces": None, "namespaceLabels": {"tier": "gold"}}, "any", {"tier": "gold", "x": "y"}, True,
            id="by label",
        ),
        pytest.param(
            {"namespaces": None, "namespaceLabels": {"tier": "gold"}}, "any", {"tier": "tin"}, False,
            id="another value",
        ),
        pytest.param({"namespaces": None, "namespaceLabels": {"tier": "gold"}}, "any", {}, False, id="no label"),
        pytest.param(
            {"namespaces": None, "namespaceLabels": {"a": "1", "b": "2"}}, "any", {"a": "1"}, False,
            id="all labels count",
        ),
        pytest.param(
            {"namespaceLabels": {"tier": "gold"}}, "team-a", {}, False, id="name and label: both must hold",
        ),
        pytest.param(
            {"namespaceLabels": {"tier": "gold"}}, "other", {"tier": "gold"}, False, id="the label alone",
        ),
    ],
)  # fmt: skip
def test_whom_a_grant_admits(
    fields: dict[str, Any], namespace: str, labels: dict[str, str], *, admitted: bool
) -> None:
    assert grant(**fields).admits(namespace, labels) is admitted


def test_one_grant_must_admit_and_cover_not_two_half_of_it_each() -> None:
    admits = grant(environment="prod")
    covers = grant(namespaces=["team-b"])

    assert not may_use_shared_identity((admits, covers), "team-a", {}, _QUERY)
    assert may_use_shared_identity((admits, covers, grant()), "team-a", {}, _QUERY)


@pytest.mark.parametrize(
    "fields",
    [
        pytest.param({"namespaces": None}, id="for nobody in particular"),
        pytest.param({"namespaces": []}, id="for an empty list"),
        pytest.param({"namespaces": [""]}, id="for an empty name"),
        pytest.param({"projectId": None}, id="no project"),
        pytest.param({"projectSlug": "shop"}, id="two projects"),
        pytest.param({"environment": None}, id="no environment"),
        pytest.param({"environment": ""}, id="an empty environment"),
        pytest.param({"secretPath": ""}, id="an empty path"),
        pytest.param({"secretpath": "/apps"}, id="a misspelt field, which would widen the grant"),
    ],
)
def test_a_grant_that_is_not_whole_is_refused(fields: dict[str, Any]) -> None:
    with pytest.raises(ValidationError) as refused:
        grant(**fields)
    assert "input_value" not in str(refused.value)


def test_grants_are_read_from_yaml() -> None:
    (grant,) = read_grants("- {namespaces: [team-a], projectSlug: shop, environment: dev}")

    assert (grant.namespaces, grant.project_slug, grant.secret_path) == (["team-a"], "shop", "/")


@pytest.mark.parametrize(
    "document",
    [
        pytest.param("cnry-not-a-list", id="a secret that was named by mistake"),
        pytest.param("- {namespaces: [a], environment: cnry-dev}", id="a grant without a project"),
        pytest.param("- {unknown: cnry-x}", id="an unknown field"),
        pytest.param("{cnry: [", id="no YAML"),
    ],
)
def test_what_is_no_list_of_grants_is_refused_without_showing_it(document: str) -> None:
    with pytest.raises(ConfigurationError, match="--shared-grants") as refused:
        read_grants(document)

    assert "cnry" not in str(refused.value)
