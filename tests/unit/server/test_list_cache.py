from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import cast

from keybearer.base.ids import IdentityId, OrganizationId
from keybearer.domain.authorization import Principal
from keybearer.domain.secrets.questions import Reached
from keybearer.server.list_cache import ListCache, ListedAnswer
from keybearer.store.database import Database
from keybearer.store.revisions import Changes, RevisionBook

WHO = Principal(IdentityId("i"), OrganizationId("o"), "member", 1, "t")
KEY = ListCache.key(WHO, "/api/v4/secrets", b"projectId=p")


@dataclass
class OnlyRevisions:
    """What of a database the cache looks at."""

    revisions: RevisionBook = field(default_factory=RevisionBook)

    async def still_stand(self, revisions: Iterable[tuple[str, int]]) -> bool:
        return self.revisions.stands(revisions)


def cache_on(database: OnlyRevisions) -> ListCache:
    return ListCache(cast("Database", database))


def answer(body: bytes | None = b"cnry-body", revision: int = 1) -> ListedAnswer:
    return ListedAnswer('"tag"', Reached((("p", revision),)), body)


def seen() -> OnlyRevisions:
    database = OnlyRevisions()
    database.revisions.observe({"p": 1})
    return database


async def test_an_answer_is_found_while_its_revisions_stand() -> None:
    database = seen()
    cache = cache_on(database)
    cache.keep(KEY, answer())
    assert await cache.find(KEY) == answer()
    database.revisions.publish(Changes(revisions={"p": 2}))
    assert await cache.find(KEY) is None


async def test_other_permissions_and_questions_find_nothing() -> None:
    cache = cache_on(seen())
    cache.keep(KEY, answer())
    later = Principal(WHO.identity_id, WHO.organization_id, "member", 2, "t")
    assert await cache.find(ListCache.key(later, "/api/v4/secrets", b"projectId=p")) is None
    assert await cache.find(ListCache.key(WHO, "/api/v3/secrets/raw", b"projectId=p")) is None
    assert await cache.find(ListCache.key(WHO, "/api/v4/secrets", b"projectId=q")) is None


async def test_the_cache_is_bounded_in_bytes_and_lets_go_of_what_is_unused() -> None:
    cache = cache_on(seen())
    keys = [ListCache.key(WHO, "/", str(number).encode()) for number in range(40)]
    for key in keys:
        cache.keep(key, answer(b"x" * 1024 * 1024))
        await cache.find(keys[0])
    found = [key for key in keys if await cache.find(key) is not None]
    assert 25 < len(found) < 32
    assert keys[0] in found
    assert keys[1] not in found


async def test_a_huge_answer_is_not_kept() -> None:
    cache = cache_on(seen())
    cache.keep(KEY, answer(b"x" * 3 * 1024 * 1024))
    assert await cache.find(KEY) is None


async def test_keeping_again_replaces_and_counts_once() -> None:
    cache = cache_on(seen())
    for _ in range(100):
        cache.keep(KEY, answer(b"x" * 1024 * 1024))
    assert await cache.find(KEY) is not None


def test_a_body_does_not_show_in_a_repr() -> None:
    assert "cnry" not in repr(answer())
