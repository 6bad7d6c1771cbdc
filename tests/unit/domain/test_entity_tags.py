from __future__ import annotations

from dataclasses import replace
from uuid import uuid4

import pytest

from keybearer.base.ids import EnvironmentSlug, FolderPath, IdentityId, OrganizationId
from keybearer.domain.access import ProjectRef
from keybearer.domain.authorization import Principal
from keybearer.domain.secrets.entity_tags import EntityTags, FurtherReach, candidates
from keybearer.domain.secrets.questions import ListSecrets, SecretsAt
from support.rows import each_row

TAGS = EntityTags(b"k" * 32)
WHO = Principal(IdentityId("i"), OrganizationId("o"), "member", 3, "t")
QUERY = ListSecrets(
    at=SecretsAt(ProjectRef(id="p"), EnvironmentSlug("dev"), FolderPath("/")),
    recursive=False,
    expand=True,
    view_value=True,
    include_imports=True,
    tag_slugs=("a", "b"),
    metadata=(("key", "value"),),
)
NOTHING = FurtherReach()
REVISIONS = {"p": 5}
TAG = TAGS.make(WHO, QUERY, NOTHING, REVISIONS)


def test_equal_questions_have_equal_tags() -> None:
    other_token = replace(WHO, token_id="another")
    swapped = replace(QUERY, tag_slugs=("b", "a"))
    by_slug = replace(QUERY, at=replace(QUERY.at, project=ProjectRef(slug="same-project")))
    assert TAGS.make(other_token, swapped, NOTHING, REVISIONS) == TAG
    assert TAGS.make(WHO, by_slug, NOTHING, REVISIONS) == TAG


@each_row(
    ("who", "query", "revisions"),
    [
        pytest.param(replace(WHO, identity_id=IdentityId("j")), QUERY, REVISIONS, id="another identity"),
        pytest.param(replace(WHO, permission_revision=4), QUERY, REVISIONS, id="other permissions"),
        pytest.param(WHO, replace(QUERY, recursive=True), REVISIONS, id="recursive"),
        pytest.param(WHO, replace(QUERY, expand=False), REVISIONS, id="without expansion"),
        pytest.param(WHO, replace(QUERY, view_value=False), REVISIONS, id="masked"),
        pytest.param(WHO, replace(QUERY, include_imports=False), REVISIONS, id="without imports"),
        pytest.param(WHO, replace(QUERY, tag_slugs=("a",)), REVISIONS, id="other tags"),
        pytest.param(WHO, replace(QUERY, metadata=(("key", None),)), REVISIONS, id="a key alone"),
        pytest.param(WHO, replace(QUERY, metadata=(("key", ""),)), REVISIONS, id="an empty value"),
        pytest.param(
            WHO, replace(QUERY, at=replace(QUERY.at, path=FolderPath("/a"))), REVISIONS, id="another path"
        ),
        pytest.param(
            WHO,
            replace(QUERY, at=replace(QUERY.at, environment=EnvironmentSlug("prod"))),
            REVISIONS,
            id="another environment",
        ),
        pytest.param(WHO, QUERY, {"p": 6}, id="a moved project"),
        pytest.param(WHO, QUERY, {"q": 5}, id="another project"),
        pytest.param(WHO, QUERY, {"p": 5, "q": 1}, id="one project more"),
    ],
)
def test_whatever_an_answer_depends_on_changes_its_tag(
    who: Principal, query: ListSecrets, revisions: dict[str, int]
) -> None:
    assert TAGS.make(who, query, NOTHING, revisions) != TAG


def test_another_key_makes_other_tags() -> None:
    assert EntityTags(b"x" * 32).make(WHO, QUERY, NOTHING, REVISIONS) != TAG


@pytest.mark.parametrize("names", [False, True], ids=["no slug looked up", "slugs looked up"])
@pytest.mark.parametrize("count", [0, 1, 32])
def test_a_tag_says_which_projects_its_answer_reached(count: int, *, names: bool) -> None:
    reach = FurtherReach(frozenset(str(uuid4()) for _ in range(count)), names)
    tag = TAGS.make(WHO, QUERY, reach, REVISIONS)
    assert tag.startswith('"')
    assert tag.endswith('"')
    assert TAGS.reach_of(tag) == reach


def test_a_tag_of_too_many_projects_says_nothing() -> None:
    reach = FurtherReach(frozenset(str(uuid4()) for _ in range(33)), names=True)
    tag = TAGS.make(WHO, QUERY, reach, REVISIONS)
    assert len(tag) < 50
    assert TAGS.reach_of(tag) is None


@pytest.mark.parametrize("tag", ['"x.y"', '"x.!!!"', "*.", '"a.b.c.d.é"', '"' + ".n" * 100 + '"', ""])
def test_a_foreign_tag_is_read_without_harm(tag: str) -> None:
    TAGS.reach_of(tag)


@pytest.mark.parametrize(
    ("header", "tags"),
    [
        pytest.param(None, [], id="no header"),
        pytest.param('"a"', ['"a"'], id="one"),
        pytest.param('"a", W/"b"', ['"a"', '"b"'], id="two, one weak"),
        pytest.param(",".join(['"a"'] * 100), ['"a"'] * 8, id="too many are cut"),
    ],
)
def test_the_header_holds_a_few_tags(header: str | None, tags: list[str]) -> None:
    assert candidates(header) == tags
