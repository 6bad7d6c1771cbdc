from __future__ import annotations

from datetime import UTC, datetime

from keybearer.base.ids import IdentityId, OrganizationId
from keybearer.domain.authorization import Principal
from keybearer.domain.principals import CheckedToken, PrincipalCache, token_digest
from keybearer.store.revisions import Changes, RevisionBook

NOW = datetime(2026, 1, 2, tzinfo=UTC)


def checked(identity: str = "i", token: str = "t") -> CheckedToken:
    return CheckedToken(Principal(IdentityId(identity), OrganizationId("o"), "member", 1, token), NOW, ())


def filled() -> tuple[PrincipalCache, bytes]:
    cache, digest = PrincipalCache(), token_digest("cnry-token")
    cache.keep(digest, checked(), monotonic=0.0, generation=cache.generation)
    return cache, digest


def test_a_checked_token_is_found_for_ten_seconds() -> None:
    cache, digest = filled()
    assert cache.find(digest, 9.9) == checked()
    assert cache.find(digest, 10.0) is None


def test_a_commit_that_changes_the_identity_drops_it() -> None:
    cache, digest = filled()
    cache.forget(Changes(identities={IdentityId("i")}))
    assert cache.find(digest, 0.0) is None


def test_a_commit_that_revokes_the_token_drops_it() -> None:
    cache, digest = filled()
    cache.forget(Changes(tokens={"t"}))
    assert cache.find(digest, 0.0) is None


def test_what_may_have_been_missed_drops_everything_and_what_was_being_checked() -> None:
    cache, digest = filled()
    generation = cache.generation
    cache.clear()
    assert cache.find(digest, 0.0) is None
    cache.keep(digest, checked(), monotonic=0.0, generation=generation)
    assert cache.find(digest, 0.0) is None


def test_a_commit_about_others_keeps_it() -> None:
    cache, digest = filled()
    cache.forget(Changes(revisions={"p": 2}, identities={IdentityId("j")}, tokens={"u"}))
    assert cache.find(digest, 0.0) == checked()


def test_a_check_that_a_commit_overtook_is_not_kept() -> None:
    cache, digest = PrincipalCache(), token_digest("cnry-token")
    generation = cache.generation
    cache.forget(Changes(tokens={"t"}))
    cache.keep(digest, checked(), monotonic=0.0, generation=generation)
    assert cache.find(digest, 0.0) is None


def test_the_cache_is_bounded() -> None:
    cache = PrincipalCache()
    for number in range(10_001):
        cache.keep(token_digest(str(number)), checked(), monotonic=0.0, generation=0)
    assert cache.find(token_digest("0"), 0.0) is None
    assert cache.find(token_digest("10000"), 0.0) == checked()


def test_tokens_themselves_are_not_kept() -> None:
    assert b"cnry" not in token_digest("cnry-token")


def test_a_revision_book_only_goes_forward() -> None:
    book = RevisionBook()
    book.observe({"p": 5})
    book.observe({"p": 4})
    assert book.stands([("p", 5)])
    book.publish(Changes(revisions={"p": 6}))
    assert not book.stands([("p", 5)])


def test_what_was_never_seen_does_not_stand() -> None:
    assert not RevisionBook().stands([("p", 1)])
    assert RevisionBook().stands([])
