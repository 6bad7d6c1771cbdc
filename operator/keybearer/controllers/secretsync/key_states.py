"""The state of each key, for `status.keys`, and the refusal where some can't become keys."""

from __future__ import annotations

from collections.abc import Mapping

from keybearer.controllers.outcome import StalledError
from keybearer.controllers.secretsync.key_problems import KeyProblem
from keybearer.controllers.secretsync.selection import Selection
from keybearer.controllers.secretsync.status import KeyState, KeyStatus

__all__ = ["KeysRefusedError", "key_states", "refuse_blocked"]

_KEY_MAX = 512
"""What `status.keys[].key` takes; a foreign service may name its secrets longer."""


class KeysRefusedError(StalledError):
    """Some secrets can't become keys; carries the state of each for the status."""

    def __init__(self, reason: str, message: str, problems: list[KeyProblem]) -> None:
        super().__init__(reason, message)
        self.keys = tuple(_problem_state(problem) for problem in problems)


def refuse_blocked(problems: tuple[KeyProblem, ...]) -> None:
    """Return if no problem keeps the target from being written.

    Raises:
        KeysRefusedError: one does.
    """
    blocking = [problem for problem in problems if problem.blocking]
    if not blocking:
        return
    first = blocking[0]
    more = f" (and {len(blocking) - 1} more, see status.keys)" if len(blocking) > 1 else ""
    raise KeysRefusedError(first.reason.value, f"{first.message}{more}", blocking)


def key_states(selection: Selection, data: Mapping[str, bytes]) -> tuple[KeyStatus, ...]:
    """Return the state of each key if that data is written: of those with a problem, and of those that are in it."""
    states = [_problem_state(problem) for problem in selection.problems]
    written = set(data)
    for entry in selection.entries:
        if entry.target_key in written:
            written.discard(entry.target_key)
            states.append(
                KeyStatus(
                    key=entry.target_key,
                    state=KeyState.SYNCED,
                    version=entry.version,
                    last_changed=entry.updated_at,
                    source=entry.source_ref,
                )
            )
    states += [KeyStatus(key=name, state=KeyState.SYNCED, source="template") for name in sorted(written)]
    return tuple(states)


def _problem_state(problem: KeyProblem) -> KeyStatus:
    return KeyStatus(
        key=problem.key[:_KEY_MAX],
        state=KeyState.FAILED if problem.blocking else KeyState.OVERRIDDEN,
        reason=problem.reason.value,
        message=problem.message,
        source=problem.source_ref,
    )
