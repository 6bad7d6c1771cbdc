"""Answers to the challenges of authorities elsewhere: what everybody may read who knows the token."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime

from sqlalchemy import delete, insert, select
from sqlalchemy.ext.asyncio import AsyncConnection

from keybearer.base.certificate_terms import RequestStatus
from keybearer.store.tables.certificates import AcmeChallengeRow, CertificateRequestRow

__all__ = ["AcmeChallenges"]


class AcmeChallenges:
    """Repository of answers to challenges (RFC 8555 section 8.3); none of them is secret."""

    def __init__(self, connection: AsyncConnection) -> None:
        self._connection = connection

    async def put(self, request_id: str, answers: Mapping[str, str], now: datetime) -> list[str]:
        """Store what answers each token of a request, and no other any more; return those that another request has.

        Authorities make tokens at random: one that is taken was chosen to take the place of another's. One that
        makes new ones at each look fills no table.
        """
        table = AcmeChallengeRow
        await self._connection.execute(
            delete(table).where(table.request_id == request_id, table.token.not_in(list(answers)))
        )
        found = await self._connection.execute(
            select(table.token, table.request_id).where(table.token.in_(list(answers)))
        )
        known = {row.token: row.request_id for row in found}
        fresh = [
            {"token": token, "request_id": request_id, "key_authorization": answer, "created_at": now}
            for token, answer in answers.items()
            if token not in known
        ]
        if fresh:
            await self._connection.execute(insert(table), fresh)
        return [token for token, owner in known.items() if owner != request_id]

    async def answer(self, token: str) -> str | None:
        """Return what answers a token, as long as its request waits; None else."""
        row, request = AcmeChallengeRow, CertificateRequestRow
        statement = (
            select(row.key_authorization)
            .join(request, request.id == row.request_id)
            .where(row.token == token, request.status == RequestStatus.PENDING_VALIDATION)
        )
        return (await self._connection.execute(statement)).scalar_one_or_none()

    async def drop(self, request_id: str) -> None:
        """Forget the answers of a request: it is over."""
        await self._connection.execute(
            delete(AcmeChallengeRow).where(AcmeChallengeRow.request_id == request_id)
        )

    async def drop_of_the_past(self) -> None:
        """Forget answers of requests that ended otherwise: cancelled, for example."""
        waiting = select(CertificateRequestRow.id).where(
            CertificateRequestRow.status == RequestStatus.PENDING_VALIDATION
        )
        await self._connection.execute(
            delete(AcmeChallengeRow).where(AcmeChallengeRow.request_id.not_in(waiting))
        )
