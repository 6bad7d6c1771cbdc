"""What the texts of secrets name: found once for each change, then judged, kept and bound."""

from __future__ import annotations

from collections.abc import Sequence

from keybearer.base.slices import in_slices
from keybearer.domain.secrets.expansion import referring_text, target_of
from keybearer.domain.secrets.references import Named, named_by
from keybearer.store.records import Secret

__all__ = ["Naming", "names_of"]

Naming = tuple[Secret, Named]
"""A secret with what its text names, seen from where the secret is."""


async def names_of(secrets: Sequence[Secret]) -> list[Naming]:
    """Return the secrets, each with what its text names."""
    found: list[Naming] = []
    async for some in in_slices(secrets):
        found += [(secret, named_by(referring_text(secret), target_of(secret))) for secret in some]
    return found
