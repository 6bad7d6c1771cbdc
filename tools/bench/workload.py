"""What is synced: sources in the service, and SecretSyncs spread over namespaces that want them."""

from __future__ import annotations

import base64
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

__all__ = ["Dimensions", "Key", "Source", "Sync", "Workload", "encoded"]

Key = tuple[str, str]
"""Namespace and name."""

IDENTITY_SECRET = "service-identity"


@dataclass(frozen=True, slots=True)
class Dimensions:
    """How much there is of everything."""

    syncs: int = 1000
    sources: int = 10
    keys: int = 5
    namespaces: int = 10


@dataclass(frozen=True, slots=True)
class Source:
    """One folder of the service and the values in it."""

    project_id: str
    environment: str
    path: str
    values: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Sync:
    """One SecretSync; its Secret bears the same name."""

    namespace: str
    name: str
    source: int

    @property
    def key(self) -> Key:
        """Namespace and name."""
        return self.namespace, self.name


@dataclass(frozen=True, slots=True)
class Workload:
    """SecretSyncs over sources.

    Attributes:
        label: starts the names of its namespaces, so that several can stand in one cluster.
        sources: in the order that `Sync.source` counts.
        interval: refreshInterval of every SecretSync.
    """

    label: str
    dimensions: Dimensions
    sources: tuple[Source, ...]
    interval: str = "5m"

    @property
    def namespaces(self) -> tuple[str, ...]:
        """All namespaces, in order."""
        return tuple(f"{self.label}-{number}" for number in range(self.dimensions.namespaces))

    def syncs(self) -> Iterator[Sync]:
        """Yield all SecretSyncs: each namespace wants each source, as far as the numbers allow."""
        namespaces = self.namespaces
        for number in range(self.dimensions.syncs):
            yield Sync(
                namespace=namespaces[number % len(namespaces)],
                name=f"sync-{number:05}",
                source=number // len(namespaces) % len(self.sources),
            )

    def manifest(self, sync: Sync) -> dict[str, object]:
        """Return the SecretSync as a user would write it."""
        source = self.sources[sync.source]
        return {
            "apiVersion": "keybearer.dev/v1alpha1",
            "kind": "SecretSync",
            "metadata": {"name": sync.name, "namespace": sync.namespace},
            "spec": {
                "identityRef": {"name": IDENTITY_SECRET},
                "source": {
                    "projectId": source.project_id,
                    "environment": source.environment,
                    "secretPath": source.path,
                },
                "refreshInterval": self.interval,
            },
        }


def encoded(values: Mapping[str, str]) -> dict[str, str]:
    """Return the `data` of a Secret that holds these values."""
    return {key: base64.b64encode(value.encode()).decode() for key, value in values.items()}
