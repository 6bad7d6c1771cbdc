from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from keybearer.base.ids import IdentityId
from keybearer.domain.lifetimes import SLOW_FACTOR, failed_again, is_locked, on_present_terms, token_terms
from keybearer.store.records import AccessToken, GrantedTerms, LoginFailures, UniversalAuth

NOW = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
TOKEN = AccessToken(
    id="t",
    identity_id=IdentityId("i"),
    auth_method="universal-auth",
    client_secret_id=None,
    ttl=100,
    max_ttl=1000,
    period=0,
    num_uses=0,
    num_uses_limit=0,
    trusted_ips=(),
    created_at=NOW,
    renewed_at=None,
    expires_at=None,
)
AUTH = UniversalAuth(
    identity_id=IdentityId("i"),
    id="u",
    client_id="c",
    access_token_ttl=100,
    access_token_max_ttl=1000,
    access_token_num_uses_limit=0,
    access_token_period=0,
    access_token_trusted_ips=(),
    client_secret_trusted_ips=(),
    lockout_enabled=True,
    lockout_threshold=3,
    lockout_duration_seconds=300,
    lockout_counter_reset_seconds=30,
    created_at=NOW,
    updated_at=NOW,
)


@pytest.mark.parametrize(
    ("ttl", "max_ttl", "period", "told"),
    [
        pytest.param(100, 1000, 0, (100, 100, 1000), id="the TTL ends it"),
        pytest.param(100, 0, 0, (100, 100, 315_360_000), id="without max TTL the TTL ends it"),
        pytest.param(0, 1000, 0, (1000, 1000, 1000), id="without TTL the max TTL ends it"),
        pytest.param(0, 0, 0, (None, 315_360_000, 315_360_000), id="without both it has no end"),
        pytest.param(100, 1000, 60, (60, 60, 1_000_000_000), id="a periodic token lives its period"),
    ],
)
def test_a_tokens_terms_follow_its_configuration(
    ttl: int, max_ttl: int, period: int, told: tuple[int | None, int, int]
) -> None:
    terms = token_terms(replace(TOKEN, ttl=ttl, max_ttl=max_ttl, period=period), NOW)
    ends = None if terms.expires_at is None else int((terms.expires_at - NOW).total_seconds())
    assert (ends, terms.expires_in, terms.max_ttl) == told


@given(
    ttl=st.integers(0, 315_360_000),
    max_ttl=st.integers(0, 315_360_000),
    period=st.integers(0, 1000),
    age=st.integers(0, 1000),
)
def test_the_time_told_is_positive_and_never_past_the_end(
    ttl: int, max_ttl: int, period: int, age: int
) -> None:
    now = NOW + timedelta(seconds=age)
    terms = token_terms(replace(TOKEN, ttl=ttl, max_ttl=max_ttl, period=period), now)
    assert terms.expires_in >= 1
    if period == 0 and max_ttl > 0:
        assert terms.expires_at is not None
        assert terms.expires_at <= NOW + timedelta(seconds=max_ttl)


NONE = LoginFailures(
    digest=b"d",
    account=b"a",
    failures=0,
    last_failure_at=None,
    slow_failures=0,
    slow_since=None,
    locked_until=None,
    expires_at=NOW,
)


def fail(former: LoginFailures, after: int) -> LoginFailures:
    return failed_again(AUTH, former, NOW + timedelta(seconds=after))


def locked(failures: LoginFailures, after: int) -> bool:
    return is_locked(AUTH, failures, NOW + timedelta(seconds=after))


def test_the_third_failure_in_a_row_locks_for_the_duration() -> None:
    twice = fail(fail(NONE, 0), 10)
    assert not locked(twice, 10)
    thrice = fail(twice, 20)
    assert locked(thrice, 319)
    assert not locked(thrice, 320)


def test_failures_far_apart_do_not_add_up_at_once() -> None:
    assert fail(fail(fail(NONE, 0), 31), 62).failures == 1


def test_after_a_lockout_the_count_begins_anew() -> None:
    locked_out = fail(fail(fail(NONE, 0), 1), 2)
    assert fail(locked_out, 400).failures == 1


def test_two_tries_every_31_seconds_lock_for_an_hour() -> None:
    counter, at, tries = NONE, 0, 0
    while not locked(counter, at):
        counter, tries = fail(counter, at), tries + 1
        at += 1 if tries % 2 else 31
    assert tries == SLOW_FACTOR * AUTH.lockout_threshold
    assert locked(counter, at + 3500)


def test_failures_of_another_day_do_not_count() -> None:
    counter = NONE
    for _ in range(SLOW_FACTOR * AUTH.lockout_threshold - 1):
        counter = fail(counter, 0) if counter.slow_failures == 0 else replace(fail(counter, 60), failures=0)
    assert fail(counter, 86_400).slow_failures == 1


@given(st.lists(st.integers(0, 4000), min_size=1, max_size=60))
def test_a_counter_is_kept_while_it_says_something(pauses: list[int]) -> None:
    counter, at = NONE, 0
    for pause in pauses:
        at += pause
        if not locked(counter, at):
            counter = fail(counter, at)
        assert counter.locked_until is None or counter.locked_until <= counter.expires_at
        assert counter.slow_failures < SLOW_FACTOR * AUTH.lockout_threshold


def test_without_lockout_nothing_is_ever_locked() -> None:
    never = replace(AUTH, lockout_enabled=False)
    assert not is_locked(never, fail(fail(fail(NONE, 0), 1), 2), NOW + timedelta(seconds=3))


@pytest.mark.parametrize(
    ("terms", "ends_after"),
    [
        pytest.param(GrantedTerms(60, 1000, 0, 0, ()), 60, id="a shorter TTL"),
        pytest.param(GrantedTerms(500, 30, 0, 0, ()), 30, id="a shorter max TTL"),
        pytest.param(GrantedTerms(0, 0, 40, 0, ()), 40, id="a period"),
        pytest.param(GrantedTerms(500, 1000, 0, 0, ()), 100, id="a longer TTL"),
        pytest.param(GrantedTerms(0, 0, 0, 0, ()), 100, id="no end"),
    ],
)
def test_a_token_ends_by_the_present_terms_and_no_later_than_promised(
    terms: GrantedTerms, ends_after: int
) -> None:
    token = replace(TOKEN, expires_at=NOW + timedelta(seconds=100))
    assert on_present_terms(token, terms).expires_at == NOW + timedelta(seconds=ends_after)


def test_a_shorter_ttl_counts_from_the_last_renewal() -> None:
    renewed = replace(TOKEN, renewed_at=NOW + timedelta(seconds=90), expires_at=NOW + timedelta(seconds=190))
    present = on_present_terms(renewed, GrantedTerms(60, 1000, 0, 0, ()))
    assert present.expires_at == NOW + timedelta(seconds=150)
