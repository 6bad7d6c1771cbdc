"""Keys and passphrases in rows of a project: sealed under its data key, bound to the row and to what they are for."""

from __future__ import annotations

from keybearer.base.ids import ProjectId
from keybearer.store.keys import Keys
from keybearer.store.sealing.envelope import Ciphertext, Plaintext, associate

__all__ = [
    "ACME_ACCOUNT_KEY",
    "ACME_BINDING_SECRET",
    "AUTHORITY_KEY",
    "CERTIFICATE_KEY",
    "ENROLLMENT_SECRET",
    "REQUEST_KEY",
    "ProjectSeals",
    "seal_identity",
]

AUTHORITY_KEY = "certificate authority key"
CERTIFICATE_KEY = "certificate key"
REQUEST_KEY = "certificate request key"
ENROLLMENT_SECRET = "enrollment secret"
ACME_ACCOUNT_KEY = "acme account key"
ACME_BINDING_SECRET = "acme external account binding"
"""What each is bound to when it is sealed, beside its project and record."""


def seal_identity(purpose: str, project_id: str, record_id: str) -> bytes:
    """Return the associated data of an envelope."""
    return associate(purpose, project_id, record_id)


class ProjectSeals:
    """Seals and opens what is secret of a row of a project."""

    def __init__(self, keys: Keys) -> None:
        self._keys = keys

    async def seal(self, purpose: str, project_id: ProjectId, record_id: str, plain: bytes) -> Ciphertext:
        """Return the envelope; its key isn't deleted before this unit ends."""
        key = await self._keys.active(project_id)
        return key.seal(Plaintext(plain), seal_identity(purpose, project_id, record_id))

    async def open(self, purpose: str, project_id: str, record_id: str, envelope: bytes) -> bytes:
        """Return what was sealed.

        Raises:
            UnsealError: the envelope was changed, or belongs to another record; the database is damaged.
        """
        key = await self._keys.key_of(envelope)
        return key.open(Ciphertext(envelope), seal_identity(purpose, project_id, record_id))
