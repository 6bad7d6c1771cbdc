"""Limits of requests as each vendor tells of them: so many in a window of the copy's clock, with the real headers.

A copy takes one by `visits.limit = Limit(100, timedelta(minutes=30), clock, CODEHOST_PRIMARY)`. A single answer is
`CODEHOST_PRIMARY.refusal(wait, now)`. What a form sends is the vendor's documentation, or was seen:

- codehost: https://docs.github.com/en/rest/using-the-rest-api/rate-limits-for-the-rest-api
- gitlab: https://docs.gitlab.com/administration/settings/user_and_ip_rate_limits/#response-headers
- azure: https://learn.microsoft.com/azure/key-vault/general/overview-throttling
- gcp: https://cloud.google.com/secret-manager/quotas, https://google.aip.dev/193
- cloud: https://docs.aws.amazon.com/general/latest/gr/api-retries.html
- vault: seen of OpenBao, which tells nothing until `sys/quotas/config` has `enable_rate_limit_response_headers`
- external-infisical: seen of it; wire.md section 8.3
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from http import HTTPStatus

from aiohttp import web

from keybearer.base.clock import Clock

__all__ = [
    "AZURE",
    "CLOUD",
    "CODEHOST_PRIMARY",
    "CODEHOST_PRIMARY_429",
    "CODEHOST_SECONDARY",
    "CODEHOST_SECONDARY_429",
    "CODEHOST_SECONDARY_BARE",
    "EVERYTHING",
    "EXTERNAL_INFISICAL",
    "FORMS",
    "GCP",
    "GITLAB",
    "GITLAB_EVERYWHERE",
    "VAULT",
    "VAULT_BARE",
    "WRITES",
    "Form",
    "Limit",
    "Standing",
]

WRITES = frozenset({"PUT", "POST", "PATCH", "DELETE"})
EVERYTHING = WRITES | {"GET"}
_LOGINS = re.compile(
    r"^/token|/oauth2/v2.0/token|/approle/login|/universal-auth/login|^/login/oauth/access_token|/access_tokens"
    r"|:generateAccessToken"
)


@dataclass(frozen=True, slots=True)
class Standing:
    """How a caller stands in the window.

    Attributes:
        limit: requests that the window takes.
        remaining: those it still takes.
        resets_at: when the next window begins.
        now: by the copy's clock.
    """

    limit: int
    remaining: int
    resets_at: datetime
    now: datetime

    @property
    def seconds(self) -> int:
        """Until the next window, in whole seconds, so that nobody comes too early."""
        return math.ceil((self.resets_at - self.now).total_seconds())

    @property
    def epoch(self) -> int:
        """The beginning of the next window, in seconds since 1970."""
        return math.ceil(self.resets_at.timestamp())


def _silent(_: Standing) -> dict[str, str]:
    return {}


@dataclass(frozen=True, slots=True)
class Form:
    """How a vendor tells of its limit.

    Attributes:
        status: of a refusal.
        body: of a refusal: JSON, or text.
        told: headers of a refusal.
        told_always: headers of all other answers.
    """

    status: int
    body: Mapping[str, object] | str
    told: Callable[[Standing], dict[str, str]] = _silent
    told_always: Callable[[Standing], dict[str, str]] = _silent

    def refusal(self, wait: timedelta, now: datetime, *, limit: int = 100) -> web.Response:
        """Return what is answered when the next window begins after that time."""
        return self.refused(Standing(limit, 0, now + wait, now))

    def refused(self, standing: Standing) -> web.Response:
        """Return what is answered instead of doing what was asked."""
        headers = self.told(standing)
        if isinstance(self.body, str):
            return web.Response(status=self.status, text=self.body, headers=headers)
        return web.json_response(self.body, status=self.status, headers=headers)


@dataclass
class Limit:
    """So many requests in a window, which begins with the first of them; a refused one takes nothing of it.

    Attributes:
        most: requests that a window takes.
        window: how long it is.
        clock: of the copy.
        form: how it is told.
        methods: of the requests that count; those are refused when it is used up. Logins never count.
        refused: when each refused request came.
    """

    most: int
    window: timedelta
    clock: Clock
    form: Form
    methods: frozenset[str] = WRITES
    refused: list[datetime] = field(default_factory=list)
    _taken: int = 0
    _begun: datetime | None = None

    def refusal(self, method: str, path: str) -> web.Response | None:
        """Return what is answered to such a request if the window is used up; count it otherwise."""
        if method not in self.methods or _LOGINS.search(path):
            return None
        standing = self._standing()
        if standing.remaining == 0:
            self.refused.append(standing.now)
            return self.form.refused(standing)
        self._begun = self._begun or standing.now
        self._taken += 1
        return None

    def headers(self) -> dict[str, str]:
        """Return what every other answer says of it."""
        return self.form.told_always(self._standing())

    def _standing(self) -> Standing:
        now = self.clock.now()
        if self._begun is not None and now >= self._begun + self.window:
            self._begun, self._taken = None, 0
        return Standing(self.most, self.most - self._taken, (self._begun or now) + self.window, now)


# The code host. x-ratelimit-reset is an instant; what tells of a secondary limit has the primary one's headers too.

_PRIMARY_BODY = {
    "message": "API rate limit exceeded for user ID 1.",
    "documentation_url": "https://docs.github.com/rest/overview/rate-limits-for-the-rest-api",
}
_SECONDARY_BODY = {
    "message": "You have exceeded a secondary rate limit. Please wait a few minutes before you try again.",
    "documentation_url": "https://docs.github.com/rest/overview/rate-limits-for-the-rest-api",
}
_HOURLY = 5000
_HOURLY_LEFT = 4000


def _primary(standing: Standing) -> dict[str, str]:
    return {
        "x-ratelimit-limit": str(standing.limit),
        "x-ratelimit-remaining": str(standing.remaining),
        "x-ratelimit-used": str(standing.limit - standing.remaining),
        "x-ratelimit-reset": str(standing.epoch),
        "x-ratelimit-resource": "core",
    }


def _primary_far_away(standing: Standing) -> dict[str, str]:
    return _primary(Standing(_HOURLY, _HOURLY_LEFT, standing.now + timedelta(hours=1), standing.now))


def _secondary(standing: Standing) -> dict[str, str]:
    return {**_primary_far_away(standing), "retry-after": str(standing.seconds)}


CODEHOST_PRIMARY = Form(403, _PRIMARY_BODY, _primary, _primary)
CODEHOST_PRIMARY_429 = Form(429, _PRIMARY_BODY, _primary, _primary)
CODEHOST_SECONDARY = Form(403, _SECONDARY_BODY, _secondary, _primary_far_away)
CODEHOST_SECONDARY_429 = Form(429, _SECONDARY_BODY, _secondary, _primary_far_away)
CODEHOST_SECONDARY_BARE = Form(403, _SECONDARY_BODY, _primary_far_away, _primary_far_away)
"""Nothing but its text tells of it; the vendor asks to wait a minute at least, and longer each time."""


# GitLab. RateLimit-Reset is an instant.


def _gitlab(standing: Standing) -> dict[str, str]:
    return {
        "RateLimit-Name": "throttle_authenticated_api",
        "RateLimit-Limit": str(standing.limit),
        "RateLimit-Observed": str(standing.limit - standing.remaining),
        "RateLimit-Remaining": str(standing.remaining),
        "RateLimit-Reset": str(standing.epoch),
        "RateLimit-ResetTime": format_datetime(standing.resets_at.astimezone(UTC), usegmt=True),
    }


def _gitlab_refused(standing: Standing) -> dict[str, str]:
    return {**_gitlab(standing), "Retry-After": str(standing.seconds)}


GITLAB = Form(429, "Retry later\n", _gitlab_refused)
GITLAB_EVERYWHERE = Form(429, "Retry later\n", _gitlab_refused, _gitlab)
"""As gitlab.com answers: it tells before anything is refused."""


# The clouds.


def _retry_after(standing: Standing) -> dict[str, str]:
    return {"Retry-After": str(standing.seconds)}


AZURE = Form(
    429,
    {
        "error": {
            "code": "Throttled",
            "message": "Request was not processed because too many requests were received.",
        }
    },
    _retry_after,
)
GCP = Form(
    429,
    {
        "error": {
            "code": HTTPStatus.TOO_MANY_REQUESTS,
            "message": "Quota exceeded for quota metric 'Write requests' and limit 'Write requests per minute'.",
            "status": "RESOURCE_EXHAUSTED",
            "details": [
                {
                    "@type": "type.googleapis.com/google.rpc.ErrorInfo",
                    "reason": "RATE_LIMIT_EXCEEDED",
                    "domain": "googleapis.com",
                    "metadata": {"service": "secretmanager.googleapis.com"},
                }
            ],
        }
    },
)
"""Without any header."""
CLOUD = Form(400, {"__type": "ThrottlingException", "message": "Rate exceeded"})
"""Likewise."""


# Vault and the service: x-ratelimit-reset is a number of seconds from now, not an instant.


def _from_now(standing: Standing) -> dict[str, str]:
    return {
        "x-ratelimit-limit": str(standing.limit),
        "x-ratelimit-remaining": str(standing.remaining),
        "x-ratelimit-reset": str(standing.seconds),
    }


def _from_now_refused(standing: Standing) -> dict[str, str]:
    return {**_from_now(standing), "retry-after": str(standing.seconds)}


_QUOTA = {"errors": ['request path "secret/data/app": rate limit quota exceeded']}
VAULT = Form(429, _QUOTA, _from_now_refused, _from_now)
VAULT_BARE = Form(429, _QUOTA)
"""As servers answer by default."""
EXTERNAL_INFISICAL = Form(
    429,
    {
        "reqId": "req-1",
        "statusCode": HTTPStatus.TOO_MANY_REQUESTS,
        "message": "Rate limit exceeded. Please try again in a while",
        "error": "RateLimitExceeded",
    },
    _from_now_refused,
    _from_now,
)

FORMS: Mapping[str, tuple[Form, ...]] = {
    "azure-key-vault": (AZURE,),
    "cloud-parameter-store": (CLOUD,),
    "cloud-secrets-manager": (CLOUD,),
    "codehost": (
        CODEHOST_PRIMARY,
        CODEHOST_PRIMARY_429,
        CODEHOST_SECONDARY,
        CODEHOST_SECONDARY_429,
        CODEHOST_SECONDARY_BARE,
    ),
    "external-infisical": (EXTERNAL_INFISICAL,),
    "gcp-secret-manager": (GCP,),
    "gitlab": (GITLAB, GITLAB_EVERYWHERE),
    "hashicorp-vault": (VAULT, VAULT_BARE),
}
"""What each destination may answer, by its name."""
