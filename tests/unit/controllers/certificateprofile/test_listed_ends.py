"""When the certificates of a profile end, as the service lists them."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta
from typing import cast

import pytest

from keybearer.client import AsyncKeybearer, Certificate, CertificatePage
from keybearer.controllers.certificateprofile.remote import RemoteCertificates
from keybearer.controllers.outcome import StalledError, WaitingError
from keybearer.controllers.service_session import ServiceSession

_BEGIN = datetime(2026, 3, 1, tzinfo=UTC)


class _Profiles:
    """Lists so many certificates, the newest first: one for each hour, which live for a day."""

    def __init__(self, count: int) -> None:
        self.count, self.asked = count, list[int]()

    async def list_certificates(
        self, profile_id: str, *, offset: int, limit: int, status: str
    ) -> CertificatePage:
        assert (profile_id, status) == ("profile-1", "active")
        self.asked.append(offset)
        hours = list(reversed(range(self.count)))[offset : offset + limit]
        return CertificatePage(certificates=tuple(map(_certificate, hours)), total_count=self.count)


class _Session:
    """Performs what it is asked with a client that has nothing but profiles."""

    def __init__(self, profiles: _Profiles, refusal: Exception | None = None) -> None:
        self.certificate_profiles, self._refusal = profiles, refusal

    async def perform(
        self, act: Callable[[AsyncKeybearer], Awaitable[object]], what: str, *, many: bool = False
    ) -> object:
        del what, many
        if self._refusal is not None:
            raise self._refusal
        return await act(cast("AsyncKeybearer", self))


def _certificate(hour: int) -> Certificate:
    issued = _BEGIN + timedelta(hours=hour)
    ends = issued + timedelta(days=1)
    return Certificate(
        id=str(hour),
        status="active",
        serial_number="0a",
        created_at=issued.isoformat(),
        not_after=ends.isoformat(),
    )


def _remote(profiles: _Profiles, refusal: Exception | None = None) -> RemoteCertificates:
    return RemoteCertificates(cast("ServiceSession", _Session(profiles, refusal)))


async def test_all_pages_are_read_and_what_was_issued_later_is_left_out() -> None:
    profiles = _Profiles(250)

    ends = await _remote(profiles).ends_of("profile-1", issued_before=_BEGIN + timedelta(hours=200))

    assert ends is not None
    assert profiles.asked == [0, 100, 200]
    assert (len(ends), max(ends)) == (201, _BEGIN + timedelta(hours=224))


async def test_where_they_are_too_many_nobody_can_tell() -> None:
    profiles = _Profiles(2_001)

    assert await _remote(profiles).ends_of("profile-1", issued_before=_BEGIN) is None
    assert len(profiles.asked) == 20


async def test_where_they_may_not_be_seen_nobody_can_tell() -> None:
    refusal = StalledError("PermissionDenied", "not you")

    assert await _remote(_Profiles(1), refusal).ends_of("profile-1", issued_before=_BEGIN) is None


async def test_a_service_that_is_away_is_told() -> None:
    with pytest.raises(WaitingError):
        await _remote(_Profiles(1), WaitingError("ServiceUnavailable", "timed out")).ends_of(
            "profile-1", issued_before=_BEGIN
        )
