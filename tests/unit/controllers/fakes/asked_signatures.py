"""Objects that ask for a signature, one of each kind, and their answers."""

from __future__ import annotations

import base64

from support.signing_objects import certificate_request, pod_request, request_pem, signing_request
from tools.local.kube_api import Body
from unit.controllers.fakes.signing_world import NAMESPACE, SIGNER

__all__ = ["APPROVED", "DENIED", "PEM", "USER", "kubernetes", "manager", "pem_of", "pod"]

APPROVED: Body = {"conditions": [{"type": "Approved", "status": "True", "reason": "Fine", "message": "m"}]}
DENIED: Body = {"conditions": [{"type": "Denied", "status": "True", "reason": "No", "message": "m"}]}
USER = {"username": "ann", "uid": "u-1", "groups": ["team-a", "system:authenticated"], "extra": {"k": ["v"]}}
PEM = request_pem("web.example.com")


def manager(status: Body | None = APPROVED, pem: str = PEM, **spec: object) -> Body:
    return certificate_request(NAMESPACE, "web-1", pem, profile="web", status=status, spec=spec)


def kubernetes(status: Body | None = APPROVED, pem: str = PEM, signer: str = SIGNER, **spec: object) -> Body:
    return signing_request("csr-1", pem, signer=signer, status=status, spec={**USER, **spec})


def pod(namespace: str = NAMESPACE, pem: str | None = None, signer: str = SIGNER, **spec: object) -> Body:
    return pod_request(namespace, "pcr-1", pem or request_pem(), signer=signer, spec=spec)


def pem_of(body: Body, field: str) -> str:
    return base64.b64decode(body["status"][field]).decode()
