"""Requests for certificates in a cluster: who makes and approves them, and what they are told."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager

from support.certificate_objects import Certificates
from support.signing_objects import request_pem, signer_of, signing_request
from tools.controlplane.controlplane import ControlPlane
from tools.local.kube_api import Body, KubeApi
from tools.local.waiting import eventually

__all__ = ["HOST", "Asking", "conditions_of", "requests_of", "until_told", "user_who_signs"]

HOST = "front.example.com"
"""That requests ask for, unless they say otherwise."""


@contextmanager
def user_who_signs(certificates: Certificates, plane: ControlPlane) -> Iterator[str]:
    """Yield a user who may ask for certificates, and sign with the profile `web`."""
    where = certificates.tenant.namespace
    name = f"user-of-{where}"
    rules = ["--verb=create", "--resource=certificatesigningrequests"]
    plane.kubectl("create", "clusterrole", name, *rules)
    plane.kubectl("create", "clusterrolebinding", name, f"--clusterrole={name}", f"--user={name}")
    sign = ["--verb=sign", "--resource=certificateprofiles.keybearer.dev", "--resource-name=web"]
    plane.kubectl("create", "role", "signs-web", f"--namespace={where}", *sign)
    plane.kubectl(
        "create", "rolebinding", "signs-web", f"--namespace={where}", "--role=signs-web", f"--user={name}"
    )
    yield name
    plane.kubectl("delete", "clusterrole,clusterrolebinding", name)


def conditions_of(body: Body) -> dict[str, Body]:
    """The conditions of an object by their types."""
    return {one["type"]: one for one in body.get("status", {}).get("conditions", [])}


def requests_of(certificates: Certificates, asker: Body) -> list[Body]:
    """The requests that the service has for an object."""
    mark = {"key": "keybearer.dev/request", "value": asker["metadata"]["uid"]}
    body = {"projectId": certificates.tenant.project.id, "metadata": [mark]}
    path = "/api/v1/cert-manager/certificates/certificate-requests/search"
    listed: list[Body] = certificates.admin.send("POST", path, body)["certificateRequests"]
    return listed


def until_told(api: KubeApi, asker: Body, reason: str) -> str:
    """Return what an Event about an object says, once there is one with the reason."""
    where = asker["metadata"].get("namespace", "default")
    uid = asker["metadata"]["uid"]

    def told() -> dict[str, str]:
        found = (one for one in api.list("Event", where) if one.get("regarding", {}).get("uid") == uid)
        return {one["reason"]: one["note"] for one in found}

    return eventually(
        lambda: told().get(reason),
        awaited=f"an Event {reason} about {asker['kind']} {asker['metadata']['name']}",
        told=lambda: f"there are {sorted(told())}",
    )


class Asking:
    """Asks for certificates by CertificateSigningRequests."""

    def __init__(self, certificates: Certificates, plane: ControlPlane, user: str) -> None:
        self._certificates = certificates
        self._plane = plane
        self._user = user
        self._where = certificates.tenant.namespace

    def ask(self, name: str, pem: str = "", *, user: str = "", approve: bool = True, **spec: object) -> str:
        """A request exists, for `HOST` unless a signing request is given; return its name."""
        whole = f"{self._where}-{name}"
        signer = signer_of(self._where, "web")
        body = signing_request(whole, pem or request_pem(HOST), signer=signer, spec=spec)
        self._plane.kubectl("create", "--filename=-", f"--as={user or self._user}", input=json.dumps(body))
        if approve:
            self._plane.kubectl("certificate", "approve", whole)
        return whole

    def get(self, name: str) -> Body:
        """The request as it is now."""
        return self._certificates.tenant.api.get("CertificateSigningRequest", "", name)

    def until(self, name: str, kind: str) -> Body:
        """Return it once it has a certificate (no kind), or a condition of the kind."""

        def probe() -> Body | None:
            found = self.get(name)
            is_there = (
                bool(found["status"].get("certificate")) if kind == "" else kind in conditions_of(found)
            )
            return found if is_there else None

        return eventually(
            probe, awaited=kind or "a certificate", told=lambda: str(conditions_of(self.get(name)))
        )
