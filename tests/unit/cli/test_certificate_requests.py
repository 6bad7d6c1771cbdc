"""Requests for certificates are waited for, found, agreed to and rejected."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest

from keybearer.cli.certificate_files import chain_text
from keybearer.cli.certificate_issuing import wait_for
from keybearer.cli.failures import CommandError, ExitStatus
from keybearer.client import CertificateRequestState
from support.scripted_server import Reply
from unit.cli.certificate_replies import BY_SLUG, ISSUED, PROFILE, run, standing, waiting


async def test_a_key_is_kept_where_its_certificate_comes_later(tmp_path: Path) -> None:
    cert, key = tmp_path / "tls.crt", tmp_path / "tls.key"
    files = ("--cert-file", str(cert), "--key-file", str(key))
    begun = await run(
        tmp_path,
        *("certificates", "issue", "--profile", "web", "--name", "a.example.com", *files),
        replies=(BY_SLUG, waiting()),
    )
    assert begun.answer.status == 0
    assert "certificates fetch r-1" in begun.answer.stderr
    assert (key.exists(), cert.exists()) == (True, False)
    fetched = await run(
        tmp_path,
        *("certificates", "fetch", "r-1", "--cert-file", str(cert)),
        replies=(
            standing("issued", certificate=ISSUED["certificate"], certificateId="c-1", serialNumber="0a"),
            Reply(body={key: ISSUED[key] for key in ("certificate", "certificateChain", "serialNumber")}),
        ),
    )
    assert fetched.answer.status == 0, fetched.answer.stderr
    assert fetched.lines == ["GET certificates/certificate-requests/r-1", "GET certificates/c-1/certificate"]
    assert cert.read_text() == chain_text(ISSUED["certificate"], ISSUED["certificateChain"])


async def test_a_request_that_is_waited_for_ends_as_the_service_says(tmp_path: Path) -> None:
    asked = ("certificates", "issue", "--profile", "web", "--name", "a.example.com", "--show-key", "--wait")
    rejected = await run(
        tmp_path, *asked, replies=(BY_SLUG, waiting(), standing("rejected", errorMessage="not today"))
    )
    assert rejected.answer.status == ExitStatus.REFUSED
    assert "not today" in rejected.answer.stderr


async def test_requests_are_found_by_what_stands_beside_them(tmp_path: Path) -> None:
    found = {"id": "r-1", "status": "failed", "commonName": "www", "errorMessage": "CA is not active"}
    asks = await run(
        tmp_path,
        *("certificates", "search", "www", "--metadata", "team=a", "--status", "failed", "--profile", "web"),
        replies=(BY_SLUG, Reply(body={"certificateRequests": [found], "totalCount": 1})),
    )
    assert asks.answer.status == 0, asks.answer.stderr
    assert asks.bodies[-1] == {
        "offset": 0,
        "limit": 20,
        "search": "www",
        "status": "failed",
        "profileIds": [PROFILE["id"]],
        "metadata": [{"key": "team", "value": "a"}],
    }
    assert "failed: CA is not active" in asks.answer.stdout


APPROVAL = {
    "id": "q-1",
    "status": "pending",
    "certificateRequestId": "r-1",
    "certificateRequestStatus": "pending_approval",
    "extendedKeyUsages": ["client_auth"],
    "basicConstraints": {"isCA": True, "pathLength": 0},
    "requiredApprovals": 2,
    "votes": [{"voterId": "u-1", "verdict": "approve"}],
}
APPROVALS = Reply(body={"approvalRequests": [APPROVAL], "totalCount": 1})
NONE = Reply(status=404, body={"message": "no", "error": "NotFound", "statusCode": 404, "reqId": "x"})


async def test_what_waits_is_listed_and_agreed_to_by_the_id_of_the_request(tmp_path: Path) -> None:
    listed = await run(tmp_path, "certificates", "requests", replies=(APPROVALS,))
    assert listed.lines == ["GET approval-requests?status=pending&offset=0&limit=100"]
    assert "1 of 2" in listed.answer.stdout
    assert "AUTHORITY, client_auth" in listed.answer.stdout
    closed = {**APPROVAL, "status": "approved", "certificateRequestStatus": "issued"}
    agreed = await run(
        tmp_path,
        *("certificates", "approve", "r-1", "--comment", "fine"),
        replies=(NONE, APPROVALS, Reply(body={"approvalRequest": closed})),
    )
    assert agreed.answer.status == 0, agreed.answer.stderr
    assert (agreed.lines[-1], agreed.bodies[-1]) == (
        "POST approval-requests/q-1/approve",
        {"comment": "fine"},
    )
    assert "the request is issued" in agreed.answer.stderr
    unknown = await run(tmp_path, "certificates", "reject", "r-9", replies=(NONE, APPROVALS))
    assert unknown.answer.status == ExitStatus.NOT_FOUND


async def test_a_request_is_rejected_by_the_id_of_its_approval(tmp_path: Path) -> None:
    told = Reply(body={"approvalRequest": {**APPROVAL, "status": "rejected"}})
    asks = await run(
        tmp_path,
        *("certificates", "reject", "q-1"),
        replies=(Reply(body={"approvalRequest": APPROVAL}), told),
    )
    assert asks.lines == ["GET approval-requests/q-1", "POST approval-requests/q-1/reject"]
    assert "Request r-1 is rejected" in asks.answer.stderr


class Requests:
    """Answers with one status after the other, the last for ever; time passes with each wait."""

    def __init__(self, *statuses: str) -> None:
        self.statuses = list(statuses)
        self.seconds = 0.0
        self.told: list[str] = []

    def read(self) -> CertificateRequestState:
        status = self.statuses.pop(0) if len(self.statuses) > 1 else self.statuses[0]
        return CertificateRequestState(status=status)

    def sleep(self, seconds: float) -> None:
        self.seconds += seconds

    def wait(self, seconds: float = 60) -> CertificateRequestState:
        return wait_for(
            "r-1",
            self.read,
            self.told.append,
            patience=timedelta(seconds=seconds),
            sleep=self.sleep,
            monotonic=lambda: self.seconds,
        )


@pytest.mark.parametrize("end", ["issued", "failed", "rejected"])
def test_a_request_is_followed_until_it_ends(end: str) -> None:
    requests = Requests("pending_approval", "pending_approval", "pending", "pending_validation", end)
    assert requests.wait().status == end
    assert requests.told == [
        "request r-1: pending_approval",
        "request r-1: pending",
        "request r-1: pending_validation",
    ]


def test_patience_ends_with_what_to_do_later() -> None:
    requests = Requests("pending")
    with pytest.raises(CommandError, match="still pending after 10 s") as ended:
        requests.wait(10)
    assert ended.value.status is ExitStatus.UNAVAILABLE
    assert "fetch r-1" in ended.value.next_step
    assert 10 <= requests.seconds <= 12
