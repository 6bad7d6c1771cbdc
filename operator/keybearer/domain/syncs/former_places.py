"""Decides whether a former place of a sync may be the present one, and words the messages about it. Pure.

A changed configuration doesn't always lead to another place: a second connection may lead to the same account, and a
parameter has one name below a path and another below the root. What such a place holds was just pushed and must not
be removed. So before a former place is cleared, the listing of the present one from before the push is compared with
what the sync left.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from datetime import datetime

from pydantic import JsonValue

from keybearer.base.clock import format_instant
from keybearer.destinations.protocol import Outgoing, Present
from keybearer.domain.syncs.outcomes import counted, shortened
from keybearer.domain.syncs.plan import Ledger
from keybearer.wire.key_schema import KeyNaming, may_be_of

__all__ = ["alike", "as_left", "kept_back", "resembling", "told_alike", "told_failure"]

_DESCRIBED_MAX = 120
_REASON_MAX = 250


def as_left(left: Ledger, listing: Mapping[str, Present], wanted: Mapping[str, Outgoing]) -> frozenset[str]:
    """Return the names that the present place holds exactly as the sync left them at the former one.

    Values are compared with the source where they can be read back, otherwise versions with those of the ledger.

    Args:
        left: what the sync wrote at the former place.
        listing: what the present place holds.
        wanted: what it should hold.
    """
    return frozenset(
        name
        for name, push in left.items()
        if (present := listing.get(name)) is not None
        and (outgoing := wanted.get(name)) is not None
        and (
            present.value == outgoing.value
            if present.value is not None
            else present.version is not None and present.version == push.remote_version
        )
    )


def resembling(left: Collection[str], listing: Collection[str], held: Collection[str]) -> frozenset[str]:
    """Return which of our names at the present place end like one of those at the former place.

    Args:
        left: names at the former place.
        listing: names that the present place holds.
        held: names that belong to the sync there.
    """
    ends = {_end_of(name) for name in left}
    return frozenset(name for name in held if name in listing and _end_of(name) in ends)


def alike(
    left: Collection[str],
    former: Mapping[str, Present],
    listing: Mapping[str, Present],
    suspects: Collection[str],
) -> frozenset[str]:
    """Return the names whose content at the former place equals that of a suspect at the present one.

    Args:
        left: names at the former place.
        former: what it holds.
        listing: what the present place holds.
        suspects: as `resembling` found them.
    """
    contents = {(_end_of(name), listing[name].value, listing[name].version) for name in suspects}
    return frozenset(
        name
        for name in left
        if (present := former.get(name)) is not None
        and (_end_of(name), present.value, present.version) in contents
    )


def kept_back(left: Collection[str], keys: Collection[str], naming: KeyNaming) -> frozenset[str]:
    """Return the names of these keys at a former place, whatever their case; also such as an older key schema made.

    Args:
        left: names at the former place.
        keys: of the source.
        naming: of keys at the former place.
    """
    names = {naming.name_of(key).casefold() for key in keys}
    return frozenset(
        name
        for name in left
        if name.casefold() in names or (naming.key_of(name) is None and may_be_of(name, keys))
    )


def _end_of(name: str) -> str:
    return name.rpartition("/")[2].casefold()


def told_alike(count: int, config: Mapping[str, JsonValue]) -> str:
    """Return the message about names that stay because both places may be the same."""
    return (
        f"{counted(count)} of the former place ({_described(config)}) {'is' if count == 1 else 'are'} here just as "
        f"there, so that both may be one place, and stayed"
    )


def told_failure(
    count: int,
    config: Mapping[str, JsonValue],
    connection: str,
    reason: str,
    next_attempt_at: datetime | None,
) -> str:
    """Return the message about names that could not be removed yet; without an instant there is no next attempt."""
    again = "" if next_attempt_at is None else f"the next attempt is at {format_instant(next_attempt_at)}; "
    return (
        f"{counted(count)} at the former place ({_described(config)}; connection '{connection}') could not be "
        f"removed: {shortened(reason, _REASON_MAX)}; {again}to leave them there, set disableSecretDeletion"
    )


def _described(config: Mapping[str, JsonValue]) -> str:
    fields = (f"{name} {value}" for name, value in config.items() if isinstance(value, (str, int)))
    return shortened(", ".join(fields), _DESCRIBED_MAX)
