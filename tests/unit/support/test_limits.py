"""A window of requests, and what each vendor's form of it says: the base of all tests of the pace."""

from __future__ import annotations

from datetime import timedelta

import aiohttp
import pytest

from support.remotes.codehost import CodehostCopy
from support.remotes.limits import (
    AZURE,
    CLOUD,
    CODEHOST_PRIMARY,
    CODEHOST_PRIMARY_429,
    CODEHOST_SECONDARY,
    CODEHOST_SECONDARY_429,
    CODEHOST_SECONDARY_BARE,
    EVERYTHING,
    EXTERNAL_INFISICAL,
    FORMS,
    GCP,
    GITLAB,
    GITLAB_EVERYWHERE,
    VAULT,
    VAULT_BARE,
    Form,
    Limit,
)
from support.remotes.serving import served
from support.virtual_time import VirtualTime

HALF_AN_HOUR = timedelta(minutes=30)
RESET = "1772368200"  # 2026-03-01T12:30:00Z, half an hour after virtual time begins
FAR_AWAY = {"x-ratelimit-limit": "5000", "x-ratelimit-remaining": "4000", "x-ratelimit-reset": "1772370000"}
INSTANT = {"x-ratelimit-limit": "100", "x-ratelimit-remaining": "0", "x-ratelimit-reset": RESET}
FROM_NOW = {"x-ratelimit-limit": "100", "x-ratelimit-remaining": "0", "x-ratelimit-reset": "1800"}
OF_GITLAB = {
    "ratelimit-limit": "100",
    "ratelimit-remaining": "0",
    "ratelimit-reset": RESET,
    "ratelimit-resettime": "Sun, 01 Mar 2026 12:30:00 GMT",
}
RETRY = {"retry-after": "1800"}
TOLD: list[tuple[Form, int, dict[str, str], str]] = [
    (CODEHOST_PRIMARY, 403, INSTANT, "API rate limit exceeded"),
    (CODEHOST_PRIMARY_429, 429, INSTANT, "API rate limit exceeded"),
    (CODEHOST_SECONDARY, 403, FAR_AWAY | RETRY, "secondary rate limit"),
    (CODEHOST_SECONDARY_429, 429, FAR_AWAY | RETRY, "secondary rate limit"),
    (CODEHOST_SECONDARY_BARE, 403, FAR_AWAY, "secondary rate limit"),
    (GITLAB, 429, OF_GITLAB | RETRY, "Retry later"),
    (GITLAB_EVERYWHERE, 429, OF_GITLAB | RETRY, "Retry later"),
    (AZURE, 429, RETRY, "Throttled"),
    (GCP, 429, {}, "RESOURCE_EXHAUSTED"),
    (CLOUD, 400, {}, "ThrottlingException"),
    (VAULT, 429, FROM_NOW | RETRY, "quota exceeded"),
    (VAULT_BARE, 429, {}, "quota exceeded"),
    (EXTERNAL_INFISICAL, 429, FROM_NOW | RETRY, "RateLimitExceeded"),
]


def test_a_window_takes_as_many_writes_as_it_says_and_any_number_of_reads() -> None:
    limit = Limit(2, HALF_AN_HOUR, VirtualTime(), VAULT)
    assert limit.headers()["x-ratelimit-remaining"] == "2"
    assert [limit.refusal(method, "/secret") for method in ("PUT", "GET", "DELETE")] == [None] * 3
    assert limit.headers()["x-ratelimit-remaining"] == "0"
    assert limit.refusal("GET", "/secret") is None
    assert limit.refusal("POST", "/v1/auth/approle/login") is None
    assert limit.refusal("POST", "/secret") is not None


def test_where_everything_counts_reads_are_refused_too() -> None:
    limit = Limit(1, HALF_AN_HOUR, VirtualTime(), VAULT, EVERYTHING)
    assert limit.refusal("GET", "/secret") is None
    assert limit.refusal("GET", "/secret") is not None


async def test_the_next_window_begins_with_the_first_request_after_the_last_one_ended() -> None:
    time = VirtualTime()
    limit = Limit(1, HALF_AN_HOUR, time, VAULT)
    limit.refusal("PUT", "/a")
    await time.advance(1799)
    refused = limit.refusal("PUT", "/b")
    assert refused is not None
    assert refused.headers["retry-after"] == "1"
    assert limit.refused == [time.now()]
    await time.advance(601)
    assert limit.refusal("PUT", "/b") is None
    refused = limit.refusal("PUT", "/c")
    assert refused is not None
    assert refused.headers["retry-after"] == "1800"


@pytest.mark.parametrize(("form", "status", "told", "text"), TOLD)
def test_a_refusal_is_told_in_the_vendors_words(
    form: Form, status: int, told: dict[str, str], text: str
) -> None:
    answer = form.refusal(HALF_AN_HOUR, VirtualTime().now())
    assert answer.status == status
    said = {name.lower(): value for name, value in answer.headers.items()}
    of_limits = {name: said[name] for name in said if "ratelimit" in name or name == "retry-after"}
    # What names the limit is of no use to whoever waits.
    names = {"x-ratelimit-used", "x-ratelimit-resource", "ratelimit-name", "ratelimit-observed"}
    assert {name: value for name, value in of_limits.items() if name not in names} == told
    assert text in (answer.text or "")


def test_every_form_belongs_to_a_destination() -> None:
    assert {id(form) for forms in FORMS.values() for form in forms} == {id(form) for form, *_ in TOLD}


async def test_a_copy_counts_down_on_each_answer_and_refuses_until_the_window_is_over() -> None:
    time = VirtualTime()
    copy = CodehostCopy(time)
    copy.visits.limit = limit = Limit(2, HALF_AN_HOUR, time, CODEHOST_PRIMARY, EVERYTHING)
    seen = []
    async with served(copy), aiohttp.ClientSession(copy.url) as session:
        for _ in range(3):
            async with session.get("/user") as answer:
                seen.append((answer.status, answer.headers["x-ratelimit-remaining"]))
        await time.advance(1800)
        async with session.get("/user") as answer:
            seen.append((answer.status, answer.headers["x-ratelimit-remaining"]))
    assert seen == [(415, "1"), (415, "0"), (403, "0"), (415, "1")]
    assert [one.status for one in copy.visits.asked] == [415, 415, 403, 415]
    assert len(limit.refused) == 1
