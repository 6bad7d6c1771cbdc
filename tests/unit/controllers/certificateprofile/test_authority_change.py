"""keybearer.controllers.certificateprofile.authorities and budget."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from keybearer.controllers.certificateprofile.authorities import ANNOUNCED, Rolling, plan_wave, trusted
from keybearer.controllers.certificateprofile.status import AuthorityStatus, LostKeys, Wave
from keybearer.controllers.certificateprofile.trigger import mints_left, with_mints

_NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
_HOUR = timedelta(hours=1)


def _authority(key: str) -> AuthorityStatus:
    return AuthorityStatus(key=key, anchors=f"pem of {key}")


def _wave(
    signed_by: dict[str, str | None], before: Wave | None, now: datetime, per_hour: int = 60
) -> Rolling:
    return plan_wave("uid", "new", signed_by, before, per_hour=per_hour, now=now)


def test_no_wave_runs_where_all_are_of_the_authority_or_of_none_or_it_is_not_known() -> None:
    assert _wave({"a": "new", "b": None}, None, _NOW) == Rolling()
    assert plan_wave("uid", None, {"a": "old"}, None, per_hour=60, now=_NOW) == Rolling()


def test_a_wave_is_announced_before_it_rolls() -> None:
    begun = _wave({"a": "old"}, None, _NOW)

    assert begun.names == frozenset()
    assert begun.wave == Wave(authority="new", started_at=_NOW)
    assert begun.again_at == _NOW + ANNOUNCED
    assert _wave({"a": "old"}, begun.wave, _NOW + ANNOUNCED - timedelta(seconds=1)).names == frozenset()
    assert _wave({"a": "old"}, begun.wave, _NOW + ANNOUNCED).names == {"a"}


def test_two_hundred_roll_at_the_pace_that_is_set_and_none_is_left() -> None:
    late: dict[str, str | None] = {f"c{number}": "old" for number in range(200)}
    wave, now, rolled_at = _wave(late, None, _NOW).wave, _NOW, []
    while late:
        now += timedelta(seconds=10)
        rolling = _wave(late, wave, now)
        wave = rolling.wave
        for name in rolling.names:
            del late[name]
            rolled_at.append(now)
    in_an_hour = max(sum(at <= one < at + _HOUR for one in rolled_at) for at in rolled_at)
    assert in_an_hour <= 61
    assert now - _NOW < timedelta(hours=4)


def test_a_wave_that_slept_does_not_roll_all_at_once() -> None:
    late: dict[str, str | None] = {f"c{number}": "old" for number in range(200)}
    wave = Wave(authority="new", started_at=_NOW, rolled_at=_NOW + ANNOUNCED)

    assert len(_wave(late, wave, _NOW + timedelta(days=1)).names) == 10


def test_yet_another_authority_begins_another_wave() -> None:
    before = Wave(authority="newer", started_at=_NOW - _HOUR)
    assert _wave({"a": "old"}, before, _NOW).wave == Wave(authority="new", started_at=_NOW)


def test_old_and_new_are_trusted_until_the_last_old_one_is_gone() -> None:
    new, old = _authority("new"), _authority("old")

    assert trusted(new, [old], ["old", "new"]) == (new, old)
    assert trusted(new, [new, old], ["new"]) == (new,)
    assert trusted(None, [old], ["old"]) == (old,)


def test_the_same_key_with_another_certificate_takes_the_place_of_the_old_one() -> None:
    renewed = AuthorityStatus(key="old", anchors="renewed")
    assert trusted(renewed, [_authority("old")], ["old"]) == (renewed,)


def test_a_budget_is_used_within_an_hour_and_whole_again_after_it() -> None:
    used = with_mints(None, 2, _NOW)
    used = with_mints(used, 1, _NOW + timedelta(minutes=30))

    assert mints_left(used, 5, _NOW + timedelta(minutes=59)) == (2, _NOW + _HOUR)
    assert mints_left(used, 2, _NOW + timedelta(minutes=59)) == (0, _NOW + _HOUR)
    assert mints_left(used, 5, _NOW + _HOUR) == (5, None)
    assert with_mints(used, 0, _NOW + _HOUR) is None


def test_an_hour_noted_by_a_clock_that_was_ahead_does_not_count() -> None:
    assert mints_left(LostKeys(since=_NOW + _HOUR, minted=9), 5, _NOW) == (5, None)
