"""What the metrics tell of certificates: those that profiles keep, how requests for them go, and by which kinds.

Reconcilers feed it; a scrape reads it. Nothing is computed before anybody asks.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime

from prometheus_client import CollectorRegistry, Counter
from prometheus_client.core import GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from keybearer.controllers.work import WorkKey

__all__ = ["CertificateFacts", "CertificateMetrics"]

_LABELS = ("namespace", "profile", "certificate", "secret")


@dataclass(frozen=True, slots=True)
class CertificateFacts:
    """One certificate of a profile.

    Attributes:
        name: of the entry in the profile's `certificates`.
        secret: the Secret that holds it.
        ready: it is there, good and as asked for.
        not_before, not_after: of the certificate in the Secret; None while there is none.
        renewal: when the next one is asked for; None where none will be.
    """

    name: str
    secret: str
    ready: bool
    not_before: datetime | None = None
    not_after: datetime | None = None
    renewal: datetime | None = None


class CertificateMetrics(Collector):
    """Gauges of certificates and a counter of requests, in the operator's registry."""

    def __init__(self, registry: CollectorRegistry) -> None:
        self._facts: dict[WorkKey, tuple[CertificateFacts, ...]] = {}
        self._requests = Counter(
            "keybearer_certificate_requests",
            "Requests for certificates that came into this status, by what asked for them.",
            ["source", "status"],
            registry=registry,
        )
        self._versions: dict[str, str] = {}
        registry.register(self)

    def show(self, profile: WorkKey, certificates: Iterable[CertificateFacts]) -> None:
        """Tell these certificates of a profile from now on, and no others of it."""
        facts = tuple(certificates)
        if facts:
            self._facts[profile] = facts
        else:
            self.forget(profile)

    def forget(self, profile: WorkKey) -> None:
        """Tell no certificate of this profile any more."""
        self._facts.pop(profile, None)

    def request_is(self, source: str, status: str) -> None:
        """Count a request that came into a status.

        Args:
            source: the kind of object that asked: CertificateProfile, CertificateRequest and so on.
            status: as the service says it (interface.md section 2.5), or `denied` where it was never asked.
        """
        self._requests.labels(source, status).inc()

    def is_served(self, kind: str, version: str) -> None:
        """Tell in which version the API server serves a kind of others that signers use, or `none`."""
        self._versions[kind] = version

    def describe(self) -> Iterator[Metric]:
        """Return the families without a sample: the registry asks for their names."""
        yield from self._families()

    def collect(self) -> Iterator[Metric]:
        """Return a sample of each gauge for each certificate that has the instant, and one for each kind."""
        not_after, not_before, renewal, ready, served = families = self._families()
        for profile, certificates in self._facts.items():
            for one in certificates:
                labels = (profile.namespace, profile.name, one.name, one.secret)
                ready.add_metric(labels, float(one.ready))
                for family, instant in (
                    (not_after, one.not_after),
                    (not_before, one.not_before),
                    (renewal, one.renewal),
                ):
                    if instant is not None:
                        family.add_metric(labels, instant.timestamp())
        for kind, version in self._versions.items():
            served.add_metric((kind, version), 1)
        yield from families

    @staticmethod
    def _families() -> tuple[GaugeMetricFamily, ...]:
        return (
            GaugeMetricFamily(
                "keybearer_certificate_not_after_timestamp_seconds",
                "When the certificate ends.",
                labels=_LABELS,
            ),
            GaugeMetricFamily(
                "keybearer_certificate_not_before_timestamp_seconds",
                "When the certificate began.",
                labels=_LABELS,
            ),
            GaugeMetricFamily(
                "keybearer_certificate_renewal_timestamp_seconds",
                "When the next certificate is asked for.",
                labels=_LABELS,
            ),
            GaugeMetricFamily(
                "keybearer_certificate_ready",
                "1 while the certificate is in its Secret, good, not revoked and as asked for.",
                labels=_LABELS,
            ),
            GaugeMetricFamily(
                "keybearer_served_version",
                "1 for the version in which a kind that signers use is served, or for `none`.",
                labels=("kind", "version"),
            ),
        )
