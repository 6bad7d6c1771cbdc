"""Whatever is asked of the queue in any order, it holds what a plain model of it holds."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from keybearer.controllers.work import Lane, WorkKey
from unit.controllers.fakes.chance import SteadyChance
from unit.controllers.fakes.virtual_loop import VirtualLoop
from unit.controllers.fakes.virtual_queue import EXACT, key, new_queue

_NAMESPACES = ("a", "b")
_KEYS = [key(name, namespace) for namespace in _NAMESPACES for name in ("1", "2", "3")]


class QueueMachine(RuleBasedStateMachine):
    """The queue against a model that knows nothing of order but lanes: sets of keys, and instants."""

    def __init__(self) -> None:
        super().__init__()
        self.loop = VirtualLoop()
        with self._on_loop():
            self.queue = new_queue()
        self.waiting: dict[WorkKey, Lane] = {}
        self.running: dict[WorkKey, Lane | None] = {}
        self.due: dict[WorkKey, tuple[float, Lane]] = {}

    def teardown(self) -> None:
        with self._on_loop():
            self.queue.close()
        self.loop.close()

    @contextmanager
    def _on_loop(self) -> Iterator[None]:
        """Let code that asks for the running loop find ours, without running it."""
        asyncio._set_running_loop(self.loop)
        try:
            yield
        finally:
            asyncio._set_running_loop(None)

    @rule(key=st.sampled_from(_KEYS), lane=st.sampled_from(list(Lane)))
    def add(self, key: WorkKey, lane: Lane) -> None:
        with self._on_loop():
            self.queue.add(key, lane)
        self._model_add(key, lane)

    def _model_add(self, key: WorkKey, lane: Lane) -> None:
        self.due.pop(key, None)
        if key in self.running:
            again = self.running[key]
            self.running[key] = lane if again is None else min(again, lane)
        else:
            self.waiting[key] = min(self.waiting.get(key, lane), lane)

    @rule(
        key=st.sampled_from(_KEYS),
        seconds=st.integers(min_value=1, max_value=50),
        lane=st.sampled_from(list(Lane)),
    )
    def add_after(self, key: WorkKey, seconds: int, lane: Lane) -> None:
        with self._on_loop():
            self.queue.add_after(key, timedelta(seconds=seconds), lane)
        self._model_add_after(key, seconds, lane)

    def _model_add_after(self, key: WorkKey, seconds: float, lane: Lane) -> None:
        due = self.loop.time() + seconds
        if key not in self.due or due < self.due[key][0]:
            self.due[key] = (due, lane)

    @rule(seconds=st.integers(min_value=0, max_value=40))
    def let_time_pass(self, seconds: int) -> None:
        self.loop.run_until_complete(asyncio.sleep(seconds))
        self.loop.run_until_complete(asyncio.sleep(0))  # timers of this very instant
        for one, (due, lane) in list(self.due.items()):
            if due <= self.loop.time():
                self._model_add(one, lane)

    @precondition(lambda self: self.waiting)
    @rule()
    def take(self) -> None:
        item = self.loop.run_until_complete(self.queue.take())
        assert item.key not in self.running, "a key is never worked on twice at a time"
        assert self.waiting.pop(item.key) is item.lane
        self.running[item.key] = None

    @precondition(lambda self: self.running)
    @rule(data=st.data(), failed=st.booleans())
    def done(self, data: st.DataObject, failed: bool) -> None:  # noqa: FBT001 - drawn by hypothesis
        key = data.draw(st.sampled_from(sorted(self.running, key=str)))
        with self._on_loop():
            self.queue.done(key, failed=failed)
            failures = self.queue.failures(key)
        again = self.running.pop(key)
        if failed:
            self._model_add_after(key, EXACT.delay(failures, SteadyChance()).total_seconds(), Lane.REFRESH)
        if again is not None:
            self._model_add(key, again)

    @rule(key=st.sampled_from(_KEYS))
    def forget(self, key: WorkKey) -> None:
        self.queue.forget(key)
        self.waiting.pop(key, None)
        self.due.pop(key, None)
        if key in self.running:
            self.running[key] = None

    @invariant()
    def holds_what_the_model_holds(self) -> None:
        assert len(self.queue) == len(self.waiting)
        assert self.queue.running == len(self.running)
        assert self.queue.depth() == {
            lane: sum(one is lane for one in self.waiting.values()) for lane in Lane
        }


TestQueueAgainstAModel = QueueMachine.TestCase
TestQueueAgainstAModel.settings = settings(max_examples=40, stateful_step_count=40)
