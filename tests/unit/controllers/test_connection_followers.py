"""keybearer.controllers.connection_followers."""

from __future__ import annotations

from keybearer.controllers.connection_followers import ConnectionFollowers
from keybearer.controllers.work import Lane, WorkKey

_ONE, _TWO = (WorkKey("SecretSync", "team-a", name) for name in ("one", "two"))


def test_who_uses_a_connection_is_called_until_it_uses_another() -> None:
    called: list[tuple[WorkKey, Lane]] = []
    followers = ConnectionFollowers(lambda key, lane: called.append((key, lane)))
    followers.follow(_ONE, "store")
    followers.follow(_TWO, "store")
    followers.changed(WorkKey("AppConnection", "team-b", "store"))
    assert called == []

    followers.changed(WorkKey("AppConnection", "team-a", "store"))
    assert {key for key, _ in called} == {_ONE, _TWO}
    assert {lane for _, lane in called} == {Lane.URGENT}

    followers.follow(_ONE, "other")
    followers.follow(_TWO, None)
    called.clear()
    followers.changed(WorkKey("AppConnection", "team-a", "store"))
    assert called == []
    followers.changed(WorkKey("AppConnection", "team-a", "other"))
    assert called == [(_ONE, Lane.URGENT)]


def test_a_connection_is_called_when_it_loses_a_user_for_it_may_wait_to_be_deleted() -> None:
    called: list[tuple[WorkKey, Lane]] = []
    followers = ConnectionFollowers(lambda key, lane: called.append((key, lane)))
    followers.follow(_ONE, "store")
    followers.follow(_ONE, "store")
    followers.follow(_TWO, None)
    assert called == []

    followers.follow(_ONE, None)

    assert called == [(WorkKey("AppConnection", "team-a", "store"), Lane.URGENT)]
