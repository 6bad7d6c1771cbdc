"""A place that takes so many requests: how it says so, and what it takes of sizes and names."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

from keybearer.store.secret_syncs import JobStatus
from support.conformance.interposed import CallKind, received
from support.conformance.remote_under_test import RemoteUnderTest
from support.conformance.scenario import Scenario, numbered
from support.conformance.scene import Scene
from support.remotes.limits import Form, Limit, Standing

__all__ = ["SCENARIOS"]

_HALF_AN_HOUR = timedelta(minutes=30)
_SECOND = timedelta(seconds=1)
"""Instants are told in whole seconds."""
_USED_UP = Standing(1, 0, datetime(2026, 1, 1, tzinfo=UTC) + _HALF_AN_HOUR, datetime(2026, 1, 1, tzinfo=UTC))
"""A window of which nothing is left: what a form says of it shows what the form says at all."""

_HEADERS: dict[str, Callable[[Standing], dict[str, str]]] = {
    "Retry-After in seconds": lambda at: {"Retry-After": str(at.seconds)},
    "Retry-After as a date": lambda at: {
        "Retry-After": format_datetime((at.resets_at + _SECOND).astimezone(UTC), usegmt=True)
    },
    "X-RateLimit-Reset as an instant": lambda at: {
        "X-RateLimit-Remaining": "0",
        "X-RateLimit-Reset": str(at.epoch),
    },
    "X-RateLimit-Reset in seconds": lambda at: {
        "X-RateLimit-Remaining": "0",
        "X-RateLimit-Reset": str(at.seconds),
    },
    "RateLimit-Reset": lambda at: {"RateLimit-Remaining": "0", "RateLimit-Reset": str(at.seconds)},
    "RateLimit": lambda at: {"RateLimit": f'"default";r=0;t={at.seconds}'},
    "only when": lambda at: {"X-RateLimit-Reset": str(at.epoch)},
}


async def a_throttled_push_waits_as_long_as_each_form_of_header_says(scene: Scene) -> None:
    http, clock = scene.http, scene.clock
    await scene.put(numbered(2))
    await scene.create()
    http.forget()
    await scene.put({"KEY_001": "cnry-new"})
    await scene.notice()
    # The headers under test replace those of the vendor, so that only they say how long to wait.
    base = next((form for form in scene.under_test.forms if form.status == 429), scene.under_test.forms[0])
    for name, headers in _HEADERS.items():
        form, begun_at = replace(base, told=headers), clock.now()
        http.interpose(lambda form=form: received(form.refusal(_HALF_AN_HOUR, clock.now())), CallKind.WRITE)  # type: ignore[misc] # bound now
        await scene.step()
        progress = await scene.progress()
        assert progress.status == JobStatus.PENDING, (name, progress)
        job = await scene.put_off()
        assert _HALF_AN_HOUR - _SECOND <= job.due_at - begun_at <= _HALF_AN_HOUR + 3 * _SECOND, name
        asked = len(http.sent)
        clock.move(job.due_at - clock.now() - _SECOND)
        await scene.step()
        assert len(http.sent) == asked, name
        clock.move(_SECOND)
    await scene.settle()
    await scene.succeeded()
    assert http.tried(CallKind.WRITE) == len(_HEADERS) + 1
    scene.holds_all()


async def every_refusal_that_the_vendor_answers_at_a_limit_is_waited_for(scene: Scene) -> None:
    await scene.put(numbered(2))
    await scene.create()
    for number, form in enumerate(scene.under_test.forms):
        scene.http.forget()
        for kind in (CallKind.READ, CallKind.WRITE):
            scene.http.interpose(
                lambda form=form: received(form.refusal(timedelta(seconds=90), scene.clock.now())),  # type: ignore[misc] # bound now
                kind,
            )
        await scene.put({"KEY_001": f"cnry-{number}"})
        await scene.trigger()
        await scene.succeeded()
        assert (scene.http.tried(CallKind.WRITE), scene.http.count(CallKind.WRITE)) == (2, 1)
        scene.holds_all()


async def a_limit_is_met_once_in_a_window_and_never_where_it_is_told_of_beforehand(scene: Scene) -> None:
    # One form of each kind.
    forms = {_is_told_beforehand(form): form for form in reversed(scene.under_test.forms)}
    for number, form in enumerate(forms.values()):
        await _fills_windows(scene, 7, most=3, form=form, mark=f"{number}-")
        scene.clock.move(_HALF_AN_HOUR)


async def three_hundred_keys_take_three_windows_of_a_hundred_writes(scene: Scene) -> None:
    await _fills_windows(scene, 300, most=100, form=scene.under_test.forms[0])


def _is_told_beforehand(form: Form) -> bool:
    return bool(form.told_always(_USED_UP))


async def _fills_windows(scene: Scene, count: int, *, most: int, form: Form, mark: str = "") -> None:
    batch = scene.under_test.batch
    most = most if batch == 1 else 1
    writes = count if batch == 1 else math.ceil(count / batch) if batch else 1
    limit = scene.http.limit = Limit(most, _HALF_AN_HOUR, scene.clock, form)
    await scene.put(numbered(count, mark=mark))
    scene.http.forget()
    await (scene.trigger() if scene.sync_id else scene.create())
    await scene.succeeded()
    scene.holds_all()
    assert scene.http.count(CallKind.WRITE) == writes, scene.http.count(CallKind.WRITE)
    windows = math.ceil(writes / most)
    if _is_told_beforehand(form):
        assert limit.refused == []
    elif form.told(_USED_UP):
        assert len(limit.refused) == windows - 1


async def a_push_that_is_throttled_for_ever_is_put_off_again_and_again(scene: Scene) -> None:
    form = scene.under_test.forms[0]
    scene.http.interpose(
        lambda: received(form.refusal(timedelta(hours=1), scene.clock.now())), CallKind.WRITE, times=-1
    )
    await scene.put(numbered(2))
    await scene.make()
    for _ in range(3):
        await scene.step()
        job = await scene.put_off()
        # A limit is no refusal of a name.
        assert "failed" not in {state for state, _ in (await scene.states()).values()}
        scene.clock.move(job.due_at - scene.clock.now())
    scene.http.get_well()
    await scene.settle()
    await scene.succeeded()
    scene.holds_all()


def _takes_one_at_a_time(under_test: RemoteUnderTest) -> bool:
    return under_test.batch != 0


SCENARIOS = (
    Scenario(a_throttled_push_waits_as_long_as_each_form_of_header_says),
    Scenario(every_refusal_that_the_vendor_answers_at_a_limit_is_waited_for),
    Scenario(a_limit_is_met_once_in_a_window_and_never_where_it_is_told_of_beforehand, _takes_one_at_a_time),
    Scenario(three_hundred_keys_take_three_windows_of_a_hundred_writes, _takes_one_at_a_time, is_long=True),
    Scenario(a_push_that_is_throttled_for_ever_is_put_off_again_and_again),
)
