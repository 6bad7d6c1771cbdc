"""The `ETag` of a list, computed from revisions instead of values (RFC 9110 section 8.8.3).

The tag is an HMAC over all the answer depends on. Which further projects it reached through references stands
in the tag itself, so that a later request with `If-None-Match` is answered from revisions alone: no value is
opened, by whichever replica, also after a restart.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
from collections.abc import Mapping
from dataclasses import dataclass
from uuid import UUID

import orjson

from keybearer.domain.authorization import Principal
from keybearer.domain.secrets.questions import ListSecrets

__all__ = ["EntityTags", "FurtherReach", "candidates"]

_FORMAT = 3
_MAC_BYTES = 16
_MAX_FURTHER = 32
_MAX_CANDIDATES = 8
_NAMES_MARK = "n"
_UNBOUNDED_MARK = "x"


@dataclass(frozen=True, slots=True)
class FurtherReach:
    """What an answer reached beside its own project: other projects, and whether slugs were looked up."""

    projects: frozenset[str] = frozenset()
    names: bool = False


class EntityTags:
    """Makes tags and reads the reach of those that come back."""

    def __init__(self, key: bytes) -> None:
        self._key = key

    def make(
        self, principal: Principal, query: ListSecrets, reach: FurtherReach, revisions: Mapping[str, int]
    ) -> str:
        """Return the tag, in its quotes. `revisions` by project id, by organization id for the names."""
        normalized = [
            _FORMAT,
            principal.identity_id,
            principal.permission_revision,
            query.at.environment,
            query.at.path,
            query.recursive,
            query.expand,
            query.view_value,
            query.include_imports,
            query.personal_overrides,
            sorted(query.tag_slugs),
            sorted(
                [key is not None, key or "", value is not None, value or ""] for key, value in query.metadata
            ),
            sorted(revisions.items()),
        ]
        mac = hmac.digest(self._key, orjson.dumps(normalized), hashlib.sha256)[:_MAC_BYTES]
        return f'"{_text(mac)}{_written(reach)}"'

    def reach_of(self, tag: str) -> FurtherReach | None:
        """Return what a tag of ours says it reached; None where it says nothing readable.

        Nothing is believed yet: only a tag that is made again equal is.
        """
        _, *marks = tag.strip('"').split(".")
        names = _NAMES_MARK in marks
        ids = [mark for mark in marks if mark != _NAMES_MARK]
        if len(ids) > _MAX_FURTHER or _UNBOUNDED_MARK in ids:
            return None
        try:
            return FurtherReach(frozenset(str(UUID(bytes=_bytes(mark))) for mark in ids), names)
        except ValueError:
            return None


def candidates(if_none_match: str | None) -> list[str]:
    """Return the tags of an `If-None-Match` header, weak ones as strong (RFC 9110 section 13.1.2)."""
    if not if_none_match:
        return []
    parts = if_none_match.split(",", _MAX_CANDIDATES)[:_MAX_CANDIDATES]
    return [part.strip().removeprefix("W/") for part in parts]


def _written(reach: FurtherReach) -> str:
    if len(reach.projects) > _MAX_FURTHER:
        return f".{_UNBOUNDED_MARK}"
    marks = [_text(UUID(project).bytes) for project in sorted(reach.projects)]
    return "".join(f".{mark}" for mark in ([_NAMES_MARK] if reach.names else []) + marks)


def _text(raw: bytes) -> str:
    return base64.urlsafe_b64encode(raw).rstrip(b"=").decode()


def _bytes(text: str) -> bytes:
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
