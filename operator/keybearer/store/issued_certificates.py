"""Certificates that were just issued, with their requests: stored together.

On SQLite, in one go for as many as there are. That what they refer to is still there is seen to by the database's
own references: who meets a change is told so, and the caller stores each by itself, which says what is gone.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass

from keybearer.store.certificate_requests import (
    METADATA_ROWS,
    REQUEST_ROWS,
    CertificateRequest,
    metadata_rows,
)
from keybearer.store.certificates import CERTIFICATE_ROWS, Certificate
from keybearer.store.many_rows import DriverRow

__all__ = ["IssuedRows", "store_issued"]


@dataclass(frozen=True, slots=True)
class IssuedRows:
    """A certificate whose key the service doesn't keep, as the driver takes it."""

    certificate: DriverRow
    request: DriverRow
    metadata: Sequence[DriverRow]

    @classmethod
    def of(
        cls,
        certificate: Certificate,
        request: CertificateRequest,
        metadata: Sequence[tuple[str, str]],
    ) -> IssuedRows:
        """Return the rows of all of it."""
        return cls(
            CERTIFICATE_ROWS.row(certificate, None),
            REQUEST_ROWS.row(request, None),
            metadata_rows(request.id, metadata),
        )


def store_issued(cursor: sqlite3.Cursor, issued: Sequence[IssuedRows]) -> None:
    """Store all of them, as part of a transaction.

    Raises:
        sqlite3.IntegrityError: something that one of them refers to isn't there any more.
    """
    CERTIFICATE_ROWS.insert_with(cursor, [one.certificate for one in issued])
    REQUEST_ROWS.insert_with(cursor, [one.request for one in issued])
    METADATA_ROWS.insert_with(cursor, [row for one in issued for row in one.metadata])
