"""What was read of the database and still holds, as long as nothing else was written since.

Only where this process alone writes, that is with SQLite, is it known when that is over: with the next commit of
whatever kind, of which the database tells before its writer is answered. With PostgreSQL nothing is kept.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Hashable
from typing import Generic, TypeVar

from keybearer.store.database import Database
from keybearer.store.revisions import Changes

__all__ = ["KeptAnswers"]

_T = TypeVar("_T")
_MAX_ANSWERS = 256


class KeptAnswers(Generic[_T]):
    """Answers to questions, by what they ask for; bounded in number."""

    def __init__(self, database: Database) -> None:
        self._is_sole = database.sole_process
        self._answers: OrderedDict[Hashable, _T] = OrderedDict()
        self.generation = 0
        database.revisions.subscribe(self._forget)

    def find(self, question: Hashable) -> _T | None:
        """Return the answer that holds, if one is kept."""
        return self._answers.get(question)

    def keep(self, question: Hashable, answer: _T, *, generation: int) -> None:
        """Keep an answer, unless something was written since `generation` was read, before it was asked for."""
        if not self._is_sole or generation != self.generation:
            return
        self._answers[question] = answer
        if len(self._answers) > _MAX_ANSWERS:
            self._answers.popitem(last=False)

    def _forget(self, _: Changes) -> None:
        self.generation += 1
        self._answers.clear()
