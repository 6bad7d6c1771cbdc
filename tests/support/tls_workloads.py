"""A TLS server in a pod, which takes up its files when they change, and a client that asks it all the time."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager

from support.real_nodes import pod, until_ready
from support.workloads import Asking
from tools.local.kube_api import Body
from tools.local.waiting import PROBE_SECONDS
from tools.node.cluster import NodeCluster

__all__ = ["TLS_PORT", "shaking_hands", "tls_server"]

TLS_PORT = 8443
_PYTHON = "/opt/keybearer/bin/python"
# The kubelet changes all files of a volume at once, by the link `..data`. What is gone meanwhile is read anew.
_SERVER = f"""
import os, socket, ssl, threading
def loaded(of):
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(f"/etc/tls/{{of}}/tls.crt", f"/etc/tls/{{of}}/tls.key")
    return of, context
def serve(connection, context):
    with connection, context.wrap_socket(connection, server_side=True) as stream:
        stream.sendall(b"served")
of, context = loaded(os.readlink("/etc/tls/..data"))
listener = socket.create_server(("", {TLS_PORT}))
while True:
    connection, _ = listener.accept()
    while (now := os.readlink("/etc/tls/..data")) != of:
        try:
            of, context = loaded(now)
        except FileNotFoundError:
            continue
    threading.Thread(target=serve, args=(connection, context), daemon=True).start()
"""
_CLIENT = """
import socket, ssl, sys, time
host, port, seconds = sys.argv[1], int(sys.argv[2]), float(sys.argv[3])
context = ssl.create_default_context(cafile="/etc/tls/ca.crt")
answered = False
while True:
    try:
        with socket.create_connection((host, port), seconds) as connection:
            with context.wrap_socket(connection, server_hostname=host) as stream:
                assert stream.recv(6) == b"served"
                print(f"serial-{int(stream.getpeercert()['serialNumber'], 16)}", flush=True)
                answered = True
    except (OSError, AssertionError) as error:
        # A node learns of a new Service a moment after its pods are ready: nothing counts before the first answer.
        if answered:
            print("refused", type(error).__name__, flush=True)
    time.sleep(0.05)
"""


def tls_server(namespace: str, name: str, image: str, secret: str) -> Body:
    """A pod that serves with the certificate of a Secret.

    Args:
        namespace: of both.
        name: of the pod, and its label `app`.
        image: that of the release: it has Python.
        secret: of type kubernetes.io/tls.
    """
    probe = {"tcpSocket": {"port": TLS_PORT}, "periodSeconds": 1}
    return _python(namespace, name, image, secret, [_SERVER], readinessProbe=probe)


@contextmanager
def shaking_hands(
    cluster: NodeCluster, namespace: str, image: str, secret: str, host: str, port: int
) -> Iterator[Asking]:
    """Yield a pod that verifies the server by `ca.crt` of the Secret: it logs `serial-...`, or `refused` and why."""
    made = Asking(cluster, namespace, "shaking-hands")
    arguments = [_CLIENT, host, str(port), f"{PROBE_SECONDS:g}"]
    body = _python(namespace, made.name, image, secret, arguments)
    cluster.plane.kubectl("create", "--filename=-", input=json.dumps(body))
    until_ready(cluster, namespace, made.name)
    made.until_more()
    yield made


def _python(
    namespace: str, name: str, image: str, secret: str, arguments: list[str], **container: object
) -> Body:
    volumes = [{"name": "tls", "secret": {"secretName": secret}}]
    return pod(
        namespace,
        name,
        "",
        volumes=volumes,
        container={
            "image": image,
            "imagePullPolicy": "Never",
            "command": [_PYTHON, "-c", *arguments],
            "volumeMounts": [{"name": "tls", "mountPath": "/etc/tls", "readOnly": True}],
            **container,
        },
    )
