from __future__ import annotations

from datetime import UTC, datetime

import pytest
from prometheus_client import CollectorRegistry

from keybearer.controllers.certificate_metrics import CertificateFacts, CertificateMetrics
from keybearer.controllers.work import WorkKey

_PROFILE = WorkKey("CertificateProfile", "team-a", "web")
_LABELS = {"namespace": "team-a", "profile": "web", "certificate": "front", "secret": "front-tls"}
_NAMES = ("not_before_timestamp_seconds", "not_after_timestamp_seconds", "renewal_timestamp_seconds", "ready")


class Board:
    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        self.metrics = CertificateMetrics(self.registry)

    def values(self) -> list[float | None]:
        return [self.registry.get_sample_value(f"keybearer_certificate_{name}", _LABELS) for name in _NAMES]


@pytest.fixture
def board() -> Board:
    return Board()


def test_a_certificate_is_told_with_its_instants(board: Board) -> None:
    first, last, renewal = (datetime(2026, 11, day, tzinfo=UTC) for day in (1, 30, 20))
    facts = CertificateFacts(
        "front", "front-tls", ready=True, not_before=first, not_after=last, renewal=renewal
    )
    board.metrics.show(_PROFILE, [facts])

    assert board.values() == [first.timestamp(), last.timestamp(), renewal.timestamp(), 1.0]


def test_each_kind_is_told_with_the_one_version_that_is_served(board: Board) -> None:
    for version in ("v1beta1", "none", "v1"):
        board.metrics.is_served("ClusterTrustBundle", version)
    board.metrics.is_served("PodCertificateRequest", "none")

    (family,) = (one for one in board.registry.collect() if one.name == "keybearer_served_version")
    told = {(one.labels["kind"], one.labels["version"]): one.value for one in family.samples}
    assert told == {("ClusterTrustBundle", "v1"): 1, ("PodCertificateRequest", "none"): 1}


def test_one_that_was_not_issued_yet_has_no_instants_but_is_not_ready(board: Board) -> None:
    board.metrics.show(_PROFILE, [CertificateFacts("front", "front-tls", ready=False)])

    assert board.values() == [None, None, None, 0.0]


@pytest.mark.parametrize("forgotten", [True, False], ids=["profile forgotten", "shown without it"])
def test_what_is_gone_is_told_no_more(board: Board, *, forgotten: bool) -> None:
    board.metrics.show(_PROFILE, [CertificateFacts("front", "front-tls", ready=True)])
    if forgotten:
        board.metrics.forget(_PROFILE)
    else:
        board.metrics.show(_PROFILE, [])

    assert board.values() == [None] * 4


def test_requests_are_counted_by_source_and_status(board: Board) -> None:
    for status in ("pending_approval", "issued", "issued"):
        board.metrics.request_is("CertificateRequest", status)

    name = "keybearer_certificate_requests_total"
    counted = {
        status: board.registry.get_sample_value(name, {"source": "CertificateRequest", "status": status})
        for status in ("pending_approval", "issued")
    }
    assert counted == {"pending_approval": 1.0, "issued": 2.0}
