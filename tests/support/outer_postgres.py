"""The PostgreSQL of the page on installing, at the name that it has there: a server of this machine, by TLS."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from support.postgres_tls import tls_in_front_of
from support.self_signed import certificate
from tools.local.postgres import PostgresServer
from tools.node.cluster import NodeCluster

__all__ = ["DATABASE_URL", "lead_to_database", "outer_postgres"]

DATABASE_URL = "postgresql://keybearer:PASSWORD@postgres.databases.svc/keybearer"
"""As the page has it; the server believes the user without looking at the password."""
_HOST, _DATABASE = "postgres.databases.svc", "keybearer"
_PORT = 5432


@contextmanager
def outer_postgres(address: str, directory: Path) -> Iterator[tuple[int, Path]]:
    """Yield the port and the CA of a server with an empty database of the page's name.

    Args:
        address: of this machine, for pods.
        directory: gets the CA and the server's key.
    """
    server = PostgresServer()
    try:
        server.start()
        server.execute("postgres", f"CREATE DATABASE {_DATABASE} TEMPLATE template0")
        chain, key = certificate(directory, 7, _HOST)
        with tls_in_front_of(server, chain, key, address) as port:
            yield port, chain
    finally:
        server.stop()


def lead_to_database(cluster: NodeCluster, port: int) -> None:
    """The page's name leads pods to that port of this machine; in a namespace of its own."""
    name, space = _HOST.removesuffix(".svc").split(".")
    meta = {"namespace": space, "name": name}
    manifests = [
        {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": space}},
        {
            "apiVersion": "v1",
            "kind": "Service",
            "metadata": meta,
            "spec": {"ports": [{"name": "postgresql", "port": _PORT, "targetPort": port}]},
        },
        {
            "apiVersion": "discovery.k8s.io/v1",
            "kind": "EndpointSlice",
            "metadata": {**meta, "labels": {"kubernetes.io/service-name": name}},
            "addressType": "IPv4",
            "ports": [{"name": "postgresql", "port": port}],
            "endpoints": [{"addresses": [cluster.address]}],
        },
    ]
    listed = {"apiVersion": "v1", "kind": "List", "items": manifests}
    cluster.plane.kubectl("create", "--filename=-", input=json.dumps(listed))
