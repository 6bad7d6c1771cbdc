"""What everybody may ask who knows a token: the answer to a challenge of an ACME authority (RFC 8555 section 8.3)."""

from __future__ import annotations

from keybearer.domain.certificates.shared_questions import SharedQuestions
from keybearer.domain.errors import NotFoundError
from keybearer.store.database import Database

__all__ = ["AcmeChallenges"]


class AcmeChallenges:
    """Answers challenges of requests that wait for their validation."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._questions: SharedQuestions[str | None] = SharedQuestions()

    async def answer(self, token: str) -> str:
        """Return what answers the token; those who ask at the same moment share one look.

        Raises:
            NotFoundError: no request that waits has it.
        """

        async def read() -> str | None:
            async with self._database.reading() as unit:
                return await unit.acme_challenges.answer(token)

        found = await self._questions.ask(token, read)
        if found is None:
            raise NotFoundError("No certificate request waits for this challenge")
        return found
