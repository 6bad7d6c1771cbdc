"""Collects refused names and words the message about them; all other names are written.

A run stops only if the remote refuses many names in a row: then the names are not the reason.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from keybearer.destinations.protocol import Refused
from keybearer.domain.syncs.outcomes import MESSAGE_MAX, shortened
from keybearer.domain.syncs.plan import PlanRefusedError

__all__ = ["REFUSALS_MAX", "NamesRefusedError", "Refusals", "told_of_refused"]

REFUSALS_MAX = 20
"""Names that the remote refuses in a row before a run stops."""
_TOLD_MIN = 512
"""Characters reserved for refused names in a message that has more to say."""
_NAME_SHOWN_MAX = 100
_REASON_SHOWN_MAX = 500


class NamesRefusedError(PlanRefusedError):
    """The remote refused so many names in a row that the run stopped."""


class Refusals:
    """The refused names of one run.

    Attributes:
        reasons: why, by name.

    Args:
        planned: names that a rule refused before the first call, with the reason.
    """

    def __init__(self, planned: Mapping[str, str]) -> None:
        self.reasons = dict(planned)
        self._in_a_row = 0

    def add(self, refused: Refused) -> None:
        """Note a refusal of the destination.

        Raises:
            NamesRefusedError: it is the last of too many in a row.
        """
        self.reasons[refused.name] = refused.message
        if refused.is_local:
            return
        self._in_a_row += 1
        if self._in_a_row >= REFUSALS_MAX:
            raise NamesRefusedError(
                _told(
                    f"The destination refused {REFUSALS_MAX} names in a row, so no others were tried. ",
                    [(refused.name, refused.message)],
                    MESSAGE_MAX,
                )
            )

    def end_row(self) -> None:
        """Note that a name was accepted."""
        self._in_a_row = 0


def told_of_refused(reasons: Mapping[str, str], others: Iterable[str] = ()) -> str:
    """Return a message with the number of refused names, the reasons of the first ones, and other messages.

    Args:
        reasons: by name; at least one.
        others: messages that follow.
    """
    number = len(reasons)
    were = "1 secret was" if number == 1 else f"{number:,} secrets were"
    after = "".join(f". {text}" for text in others)
    beginning = f"{were} refused, and all others are in place. "
    told = _told(beginning, sorted(reasons.items()), max(MESSAGE_MAX - len(after), _TOLD_MIN))
    return shortened(told + after, MESSAGE_MAX)


def _told(beginning: str, refused: Iterable[tuple[str, str]], most: int) -> str:
    """Return at most so many characters with as many reasons as fit; names with the same reason share it."""
    by_reason: dict[str, list[str]] = {}
    for name, reason in refused:
        by_reason.setdefault(shortened(reason, _REASON_SHOWN_MAX), []).append(
            f"'{shortened(name, _NAME_SHOWN_MAX)}'"
        )
    left = sum(map(len, by_reason.values()))
    room = most - len(beginning) - len(f"; and {left:,} more")
    parts: list[str] = []
    for reason, names in by_reason.items():
        shown = list(_fitting(names, room - len(f": {reason}; ")))
        if not shown:
            break
        parts.append(f"{', '.join(shown)}: {reason}")
        room -= len(parts[-1]) + len("; ")
        left -= len(shown)
        if len(shown) < len(names):
            break
    if left:
        parts.append(f"and {left:,} more")
    return beginning + "; ".join(parts)


def _fitting(names: Iterable[str], room: int) -> Iterator[str]:
    for name in names:
        room -= len(name) + len(", ")
        if room < 0:
            return
        yield name
