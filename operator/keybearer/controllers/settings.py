"""What one operator process is told, once, by its command line."""

from __future__ import annotations

from datetime import timedelta
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from keybearer.controllers.shared_identity import SharedGrant

__all__ = ["OperatorSettings"]


class OperatorSettings(BaseModel):
    """Settings of the operator.

    Attributes:
        kubeconfig: path of a kubeconfig; None for the ServiceAccount of the pod.
        namespaces: served namespaces; none serves all.
        service_url: where identities without `url` go.
        service_ca_pem: trust for it, in PEM; None for the system's.
        allowed_service_urls: other services that an identity may name.
        allow_insecure_http: plain HTTP beyond loopback.
        api_audiences: audiences of the API server, for which no ServiceAccount token is ever minted.
        shared_client_id, shared_client_secret: Universal Auth of the shared identity.
        shared_grants: who may use it, for what.
        cluster_id: tells this cluster from others on the same service; None for the UID of kube-system.
        workers: reconciles at the same time.
        resync_interval: from one comparison with complete lists to the next.
        leader_election: hold a Lease; without it no other replica may run.
        lease_namespace: where Lease, fingerprint key and cleanup tokens live; None for the operator's own namespace.
        lease_name: name of the Lease; the operator's own Secrets are named after it.
        metrics_listen: HOST:PORT of probes and metrics.
        allowed_target_types: types of Secrets beyond the usual ones.
        drain_seconds: how long reconciles under way may take after SIGTERM.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True)

    kubeconfig: str | None = None
    namespaces: tuple[str, ...] = ()
    service_url: str | None = None
    service_ca_pem: Annotated[bytes | None, Field(repr=False)] = None
    allowed_service_urls: frozenset[str] = frozenset()
    allow_insecure_http: bool = False
    api_audiences: frozenset[str] = frozenset()
    shared_client_id: Annotated[str | None, Field(repr=False)] = None
    shared_client_secret: Annotated[str | None, Field(repr=False)] = None
    shared_grants: tuple[SharedGrant, ...] = ()
    cluster_id: Annotated[str | None, Field(min_length=1, max_length=128)] = None
    workers: Annotated[int, Field(ge=1, le=256)] = 32
    resync_interval: timedelta = timedelta(minutes=5)
    leader_election: bool = True
    lease_namespace: str | None = None
    lease_name: str = "keybearer-operator"
    metrics_listen: str = "127.0.0.1:8081"
    allowed_target_types: frozenset[str] = frozenset()
    drain_seconds: Annotated[float, Field(gt=0, le=600)] = 25.0
