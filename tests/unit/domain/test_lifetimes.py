from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from keybearer.base.ids import IdentityId
from keybearer.domain.lifetimes import is_locked, lockout_after, token_terms
from keybearer.store.records import AccessToken, UniversalAuth

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
    failures=0,
    last_failure_at=None,
    locked_until=None,
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


def fail(auth: UniversalAuth, after: int) -> UniversalAuth:
    counter = lockout_after(auth, NOW + timedelta(seconds=after))
    return replace(
        auth,
        failures=counter.failures,
        last_failure_at=counter.last_failure_at,
        locked_until=counter.locked_until,
    )


def test_the_third_failure_in_a_row_locks_for_the_duration() -> None:
    twice = fail(fail(AUTH, 0), 10)
    assert not is_locked(twice, NOW + timedelta(seconds=10))
    thrice = fail(twice, 20)
    assert is_locked(thrice, NOW + timedelta(seconds=319))
    assert not is_locked(thrice, NOW + timedelta(seconds=320))


def test_failures_far_apart_do_not_add_up() -> None:
    assert fail(fail(fail(AUTH, 0), 31), 62).failures == 1


def test_after_a_lockout_the_count_begins_anew() -> None:
    locked = fail(fail(fail(AUTH, 0), 1), 2)
    assert fail(locked, 400).failures == 1


def test_without_lockout_nothing_is_ever_locked() -> None:
    never = replace(AUTH, lockout_enabled=False)
    assert not is_locked(fail(fail(fail(never, 0), 1), 2), NOW + timedelta(seconds=3))
