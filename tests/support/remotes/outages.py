"""What has to hold of every remote that is written a name at a time, when it goes away in the middle of a run."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import pytest

from keybearer.destinations.remote import RemoteUnavailableError
from support.remotes.pushing import Target

__all__ = ["WRITTEN_BEFORE", "push_through_an_outage"]

WRITTEN_BEFORE = 3
"""Writes that come through before the outage; it ends with the run that it cuts off."""


async def push_through_an_outage(
    target: Target, there: Callable[[], Mapping[str, str]], source: Mapping[str, str], **how: bool
) -> None:
    """Push twice, and see that the first run leaves what was written, and the next one does the rest.

    Args:
        target: where an outage is about to begin.
        there: returns what the place holds.
        source: more than is written before.
        how: of the second push.
    """
    before, after = [*source][:WRITTEN_BEFORE], [*source][WRITTEN_BEFORE:]
    with pytest.raises(RemoteUnavailableError) as caught:
        await target.push(source)
    assert caught.value.is_retryable
    assert "cnry-" not in str(caught.value)
    assert target.written == before
    arrived = [name for name, value in there().items() if value == source[name]]
    assert arrived == before
    await target.push(source, **how)
    assert target.written == after
    assert there() == source
