"""What the search finds and docs/open-points.md tells of already: it is counted apart, and is no news."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

__all__ = ["KNOWN", "Known", "all_known"]


@dataclass(frozen=True, slots=True)
class Known:
    """A weakness that is written down.

    Attributes:
        plan: matches the text of plans in which it shows.
        finding: matches the whole of each finding that it causes.
        why: what it is, in the words of the open points.
    """

    plan: re.Pattern[str]
    finding: re.Pattern[str]
    why: str


KNOWN = (
    Known(
        re.compile(r"^adopt / .*: (killed|answer lost|delayed)"),
        re.compile(r"SecretSync/web\.status\.target\.removals\[.*: nothing instead of .*"),
        "the guard forgets what an adoption removed whose status was not written",
    ),
    Known(
        re.compile(
            r"^first certificate / .*write (POST secrets/tls#\d+: killed after it"
            r"|PATCH certificateprofiles/status/web#\d+: (killed before it|answer 409|answer 500))"
        ),
        re.compile(
            r"CertificateProfile/web\.status\.certificateRequests\[tls\]\."
            r"(id|issues.*|need|requestedAt): (nothing|'\[\]') instead of .*"
        ),
        "where the status of a first certificate was not written, the next one lacks the id of the request, when and "
        "why it was made, and its count; the budget goes by the Secret of keys",
    ),
    Known(
        re.compile(r"^merge / .*secrets/theirs#\d+: delayed"),
        re.compile(r"Secret/theirs\.(data|metadata\.labels)\..*: .* instead of nothing"),
        "a merge that was held up until its SecretSync had gone comes all the same",
    ),
)


def all_known(plan: str, findings: Sequence[str]) -> bool:
    """Tell whether there are findings, and each of them is known of such a plan."""
    return bool(findings) and all(
        any(one.plan.search(plan) and one.finding.fullmatch(finding) for one in KNOWN) for finding in findings
    )
