"""What a session reads of a service: folders, empty ones too, projects by their slug, and single versions."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import httpx
import pytest

from keybearer.controllers.listing import SourceSecret
from keybearer.controllers.sources.session import Listing, NotChanged
from unit.controllers.fakes.session_with_service import (
    LIST,
    QUERY,
    SLUG,
    Answer,
    Service,
    failed,
    found,
    listed,
    refused,
    session,
    wire,
)
from unit.controllers.fakes.virtual_loop import in_virtual_time


class TestListing:
    @in_virtual_time
    async def test_what_is_asked_is_what_the_source_says(self) -> None:
        query = replace(
            QUERY, recursive=True, include_imports=False, expand_references=False, tag_slugs=("a", "b")
        )
        service = Service(list=found(wire("A")))
        async with session(service) as one:
            await one.list_source(query, None)

        (request,) = service.seen
        asked = dict(request.url.params)
        assert asked["projectId"] == "shop-id"
        assert (asked["environment"], asked["secretPath"]) == ("dev", "/apps/web")
        assert (asked["recursive"], asked["includeImports"]) == ("true", "false")
        assert (asked["expandSecretReferences"], asked["tagSlugs"]) == ("false", "a,b")
        assert "if-none-match" not in request.headers

    @in_virtual_time
    async def test_imports_come_first_in_their_order_so_that_later_ones_win(self) -> None:
        imports = [
            {
                "secretPath": "/base",
                "environment": "dev",
                "secrets": [wire("X", "cnry-1"), wire("Y", "cnry-2")],
            },
            {"secretPath": "/more", "environment": "prod", "secrets": [wire("X", "cnry-3")]},
        ]
        service = Service(
            list=found(wire("X", "cnry-4", updatedAt="2026-01-02T03:04:05.678Z"), imports=imports)
        )
        async with session(service) as one:
            secrets = listed(await one.list_source(QUERY, None))

        assert [(secret.key, secret.environment, secret.path, secret.value) for secret in secrets] == [
            ("X", "dev", "/base", "cnry-1"),
            ("Y", "dev", "/base", "cnry-2"),
            ("X", "prod", "/more", "cnry-3"),
            ("X", "dev", "/apps/web", "cnry-4"),
        ]
        assert secrets[3].version == 3
        assert secrets[3].updated_at == datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)

    @in_virtual_time
    async def test_a_tag_is_sent_back_and_nothing_changed_is_no_listing(self) -> None:
        service = Service(list=[found(wire("A")), httpx.Response(304)])
        async with session(service) as one:
            first = await one.list_source(QUERY, None)
            assert isinstance(first, Listing)
            assert first.etag == '"tag"'
            assert isinstance(await one.list_source(QUERY, first.etag), NotChanged)

        assert service.seen[1].headers["if-none-match"] == '"tag"'

    @pytest.mark.parametrize("etag", [None, "", '"\u00e4"'], ids=["none", "empty", "no ASCII"])
    @in_virtual_time
    async def test_without_a_usable_tag_each_read_is_a_whole_one(self, etag: str | None) -> None:
        headers = {} if etag is None else {b"ETag": etag.encode()}
        service = Service(list=httpx.Response(200, headers=headers, json={"secrets": [wire("A")]}))
        async with session(service) as one:
            answer = await one.list_source(QUERY, None)

        assert isinstance(answer, Listing)
        assert answer.etag is None

    @in_virtual_time
    async def test_a_hidden_value_is_known_as_hidden(self) -> None:
        async with session(Service(list=found(wire("A", "***", secretValueHidden=True)))) as one:
            (secret,) = listed(await one.list_source(QUERY, None))

        assert secret.hidden

    @pytest.mark.parametrize(
        "text", ["", "soon", "0001-01-01T00:00:00+14:00"], ids=["none", "no time", "no year"]
    )
    @in_virtual_time
    async def test_a_time_that_is_none_is_left_out(self, text: str) -> None:
        async with session(Service(list=found(wire("A", updatedAt=text)))) as one:
            (secret,) = listed(await one.list_source(QUERY, None))

        assert secret.updated_at is None


class TestEmptyFolders:
    @pytest.mark.parametrize(
        ("folders", "exists"),
        [([{"id": "1", "name": "web"}], True), ([{"id": "1", "name": "other"}], False), ([], False)],
    )
    @in_virtual_time
    async def test_an_empty_folder_is_told_from_a_missing_one(
        self, folders: list[Any], *, exists: bool
    ) -> None:
        service = Service(list=found(), folders=httpx.Response(200, json={"folders": folders}))
        async with session(service) as one:
            answer = await one.list_source(QUERY, None)

        assert dict(service.seen[1].url.params)["path"] == "/apps"
        if exists:
            assert listed(answer) == ()
        else:
            assert failed(answer).reason == "SourceNotFound"

    @in_virtual_time
    async def test_the_root_always_exists(self) -> None:
        service = Service(list=found())
        async with session(service) as one:
            assert listed(await one.list_source(replace(QUERY, path="/"), None)) == ()

        assert service.paths == [LIST]

    @in_virtual_time
    async def test_a_folder_with_imports_only_exists(self) -> None:
        block = {"secretPath": "/base", "environment": "dev", "secrets": []}
        service = Service(list=found(imports=[block]))
        async with session(service) as one:
            assert listed(await one.list_source(QUERY, None)) == ()


class TestProjects:
    query = replace(QUERY, project="shop", by_slug=True)

    @in_virtual_time
    async def test_a_slug_is_looked_up_once(self) -> None:
        project = httpx.Response(200, json={"id": "shop-id", "slug": "shop", "name": "Shop"})
        service = Service(slug=project, list=found(wire("A")))
        async with session(service) as one:
            for _ in range(3):
                listed(await one.list_source(self.query, None))

        assert service.paths == [SLUG, LIST, LIST, LIST]
        assert dict(service.seen[1].url.params)["projectId"] == "shop-id"

    @in_virtual_time
    async def test_a_slug_that_leads_nowhere_any_more_is_looked_up_anew(self) -> None:
        projects: list[Answer] = [
            httpx.Response(200, json={"id": name, "slug": "shop", "name": "Shop"}) for name in ("old", "new")
        ]
        service = Service(slug=projects, list=[refused(404), found(wire("A"))])
        async with session(service) as one:
            assert failed(await one.list_source(self.query, None)).reason == "SourceNotFound"
            assert listed(await one.list_source(self.query, None))

        assert dict(service.seen[-1].url.params)["projectId"] == "new"


class TestVersions:
    @in_virtual_time
    async def test_one_version_is_read_by_name(self) -> None:
        service = Service(one=httpx.Response(200, json={"secret": wire("DB", "cnry-old", version=2)}))
        async with session(service) as one:
            secret = await one.read_version(QUERY, "DB", 2)

        assert isinstance(secret, SourceSecret)
        assert (secret.value, secret.version) == ("cnry-old", 2)
        assert dict(service.seen[0].url.params)["version"] == "2"

    @in_virtual_time
    async def test_a_version_that_does_not_exist_is_none(self) -> None:
        async with session(Service(one=refused(404))) as one:
            assert await one.read_version(QUERY, "DB", 2) is None

    @in_virtual_time
    async def test_a_failure_is_told_as_for_a_list(self) -> None:
        async with session(Service(one=refused(503))) as one:
            assert failed(await one.read_version(QUERY, "DB", 2)).reason == "ServiceUnavailable"


@in_virtual_time
async def test_a_supplied_token_is_never_revoked() -> None:
    service = Service(list=found(wire("A")))
    async with session(service) as one:
        await one.list_source(QUERY, None)
        await one.close()

    assert service.paths == [LIST]
