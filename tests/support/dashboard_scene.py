"""A cluster as the dashboard may find it: objects with the statuses that an operator writes, and none that runs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import httpx

from keybearer.base.clock import format_instant
from keybearer.kube.resources import LEASES, ObjectKey
from support.command_line import CommandLine
from tools.chart.rendering import only, render
from tools.controlplane.controlplane import ControlPlane
from tools.local.kube_api import Body, KubeApi
from tools.local.marks import MARK
from tools.local.operator_cluster import install_crds

__all__ = ["HIDDEN", "OPERATOR", "VISIBLE", "Scene", "furnished_scene", "running_dashboard"]

VISIBLE, HIDDEN, OPERATOR = "shop", f"{MARK}hidden", "keybearer"
_API = "keybearer.dev/v1alpha1"


def ago(**length: float) -> str:
    """Return the instant that was so long ago; negative lengths lie ahead."""
    return format_instant(datetime.now(UTC) - timedelta(**length))


def _conditions(reason: str, message: str, since: str, *, stalled: bool) -> list[Body]:
    ready = "True" if reason == "Synced" else "False"
    found = [
        {"type": "Ready", "status": ready, "reason": reason, "message": message, "lastTransitionTime": since}
    ]
    if ready == "False":
        kind = "Stalled" if stalled else "Reconciling"
        found.append(
            {
                "type": kind,
                "status": "True",
                "reason": reason,
                "message": message,
                "lastTransitionTime": since,
            }
        )
    return found


class Scene:
    """Makes objects in a cluster whose CRDs are served.

    Args:
        plane: a running cluster, of this scene alone.
        api: its administrator.
    """

    def __init__(self, plane: ControlPlane, api: KubeApi) -> None:
        self.plane = plane
        self.api = api

    def furnish(self) -> None:
        """All that the dashboard's questions are about is there, and in `HIDDEN` what only administrators may see."""
        for name in (VISIBLE, HIDDEN, OPERATOR):
            self.api.create_namespace(name)
        self._syncs()
        self._certificates()
        self._workloads()
        self._operator()
        self._hidden()

    def add(
        self, kind: str, namespace: str, name: str, spec: Mapping[str, Any], status: Mapping[str, Any]
    ) -> None:
        """An object is there with this status."""
        meta = {"name": name, "namespace": namespace}
        self.api.create({"apiVersion": _API, "kind": kind, "metadata": meta, "spec": dict(spec)})
        self.tell(kind, namespace, name, status)

    def tell(self, kind: str, namespace: str, name: str, status: Mapping[str, Any]) -> None:
        """The status of an object is this one, for its present generation."""
        whole = {"observedGeneration": 1, **status}
        self.api.patch(kind, namespace, name, {"status": whole}, subresource="status")

    def sync(
        self, namespace: str, name: str, folder: str, *, reason: str = "Synced", **status: object
    ) -> None:
        """A SecretSync is there that reads a folder."""
        spec = {
            "identityRef": {"name": "keybearer-identity"},
            "source": {"projectSlug": "web-shop", "environment": "prod", "secretPath": folder},
        }
        self.add("SecretSync", namespace, name, spec, {**self.told(reason), **status})

    def told(self, reason: str, message: str = "", *, stalled: bool = True, **diagnosis: str) -> Body:
        """Return a status with this Ready condition, and a diagnosis where one is given."""
        told: Body = {"conditions": _conditions(reason, message, ago(hours=3), stalled=stalled)}
        return {**told, "diagnosis": diagnosis} if diagnosis else told

    def _syncs(self) -> None:
        self.sync(
            VISIBLE,
            "web-database",
            "/apps/web",
            source="prod:/apps/web",
            lastRefreshTime=ago(minutes=2),
            updates="Events",
            keys=[{"key": "DB_PASSWORD", "state": "Synced", "lastChanged": ago(days=4)}],
        )
        self.sync(
            VISIBLE,
            "web-session",
            "/apps/session",
            **self.told(
                "IdentityNotFound",
                "Secret keybearer-identity does not exist.",
                turn="User",
                step="Create the Secret keybearer-identity with the credentials of a machine identity, or correct "
                "identityRef.name.",
                command="kubectl -n shop create secret generic keybearer-identity --from-literal=clientId=CLIENT_ID "
                "--from-file=clientSecret=FILE",
                about="spec.identityRef.name",
            ),
        )
        self.sync(
            VISIBLE,
            "ledger",
            "/finance",
            **self.told(
                "PermissionDenied",
                "The identity may not read folder /finance of project web-shop.",
                stalled=False,
                turn="ServiceAdministrator",
                step="Give the identity a role of the project that allows this.",
                command="keybearer members set CLIENT_ID_OR_NAME --project web-shop --role viewer",
            ),
        )
        self.add(
            "SecretSync",
            VISIBLE,
            "to-aws",
            {
                "identityRef": {"name": "keybearer-identity"},
                "source": {"projectSlug": "web-shop", "environment": "prod", "secretPath": "/apps/web"},
                "destination": "external-infisical",
                "connectionRef": {"name": "other"},
                "destinationConfig": {"projectId": "p-1", "environment": "prod", "secretPath": "/"},
            },
            {
                **self.told("Synced"),
                "sync": {"id": "s-1", "syncStatus": "succeeded", "lastSyncedAt": ago(minutes=7)},
                "push": {"keys": 12},
            },
        )

    def _certificates(self) -> None:
        requests = [
            self._certificate("web", "web-tls", ends=ago(days=-20), renews=ago(days=-10)),
            self._certificate("later", "later-tls", ends=ago(days=-80), renews=ago(days=-60)),
        ]
        spec = {
            "identityRef": {"name": "keybearer-identity"},
            "caRef": {"name": "house"},
            "policyRef": {"name": "web"},
            "certificates": [
                {
                    "name": one["name"],
                    "secretName": one["secretName"],
                    "attributes": {"commonName": "shop.example"},
                }
                for one in requests
            ],
        }
        status = {**self.told("Synced"), "issued": "2/2", "certificateRequests": requests}
        self.add("CertificateProfile", VISIBLE, "web", spec, status)

    def _certificate(self, name: str, secret: str, *, ends: str, renews: str) -> Body:
        return {
            "name": name,
            "secretName": secret,
            "status": "issued",
            "serialNumber": "4f:1a",
            "notBefore": ago(days=70),
            "notAfter": ends,
            "renewalTime": renews,
        }

    def _workloads(self) -> None:
        labels = {"app": "web"}
        container = {
            "name": "web",
            "image": "web",
            "env": [{"name": "PLAIN", "value": f"{MARK}in-a-manifest"}],
            "envFrom": [{"secretRef": {"name": "web-session"}}],
            "volumeMounts": [{"name": "db", "mountPath": "/db"}, {"name": "tls", "mountPath": "/tls"}],
        }
        volumes = [
            {"name": "db", "secret": {"secretName": "web-database"}},
            {"name": "tls", "secret": {"secretName": "web-tls"}},
        ]
        template = {"metadata": {"labels": labels}, "spec": {"containers": [container], "volumes": volumes}}
        self.api.create(
            {
                "apiVersion": "apps/v1",
                "kind": "Deployment",
                "metadata": {"name": "web", "namespace": VISIBLE},
                "spec": {"selector": {"matchLabels": labels}, "template": template},
            }
        )
        for name in ("web-database", "web-session"):
            secret: Body = {
                "apiVersion": "v1",
                "kind": "Secret",
                "metadata": {"name": name, "namespace": VISIBLE},
            }
            self.api.create({**secret, "stringData": {"DB_PASSWORD": f"{MARK}of-a-secret"}})

    def _operator(self) -> None:
        pod = "keybearer-operator-7d9c5-x2x4k"
        # As the chart labels it under another name.
        deployment = only(render({"nameOverride": "secrets"}), "Deployment", "-operator")
        labels = deployment.at("spec", "template", "metadata", "labels")
        self.api.create(
            {
                "apiVersion": "v1",
                "kind": "Pod",
                "metadata": {"name": pod, "namespace": OPERATOR, "labels": labels},
                "spec": {"containers": [{"name": "operator", "image": "keybearer"}]},
            }
        )
        path = LEASES.path(ObjectKey(OPERATOR, "keybearer-operator"))
        lease = {
            "apiVersion": "coordination.k8s.io/v1",
            "kind": "Lease",
            "metadata": {"name": "keybearer-operator", "namespace": OPERATOR},
            "spec": {
                "holderIdentity": f"{pod}_1a2b3c4d",
                "leaseDurationSeconds": 3600,
                "acquireTime": ago(hours=5)[:-1] + ".000000Z",
                "renewTime": ago()[:-1] + ".000000Z",
            },
        }
        self.api.send("POST", f"{path.rpartition('/')[0]}?fieldManager=keybearer", lease)

    def _hidden(self) -> None:
        name = f"{MARK}sync"
        self.sync(HIDDEN, name, f"/{MARK}folder", **self.told("SourceEmpty", f"{MARK}message"))
        template = {
            "metadata": {"labels": {"app": name}},
            "spec": {
                "containers": [{"name": "one", "image": "one", "envFrom": [{"secretRef": {"name": name}}]}]
            },
        }
        self.api.create(
            {
                "apiVersion": "apps/v1",
                "kind": "Deployment",
                "metadata": {"name": name, "namespace": HIDDEN},
                "spec": {"selector": {"matchLabels": {"app": name}}, "template": template},
            }
        )

    def viewer_of(self, namespace: str, user: str) -> Path:
        """Return the kubeconfig of a user who may view what is in a namespace, and nothing else."""
        rights = {
            "apiVersion": "rbac.authorization.k8s.io/v1",
            "kind": "Role",
            "metadata": {"name": user, "namespace": namespace},
            "rules": [
                {"apiGroups": ["keybearer.dev"], "resources": ["*"], "verbs": ["get", "list", "watch"]},
                {
                    "apiGroups": ["apps"],
                    "resources": ["deployments", "statefulsets", "daemonsets"],
                    "verbs": ["get", "list", "watch"],
                },
            ],
        }
        collection = f"/apis/rbac.authorization.k8s.io/v1/namespaces/{namespace}"
        self.api.send("POST", f"{collection}/roles", rights)
        binding = {
            "apiVersion": "rbac.authorization.k8s.io/v1",
            "kind": "RoleBinding",
            "metadata": {"name": user, "namespace": namespace},
            "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": user},
            "subjects": [{"kind": "User", "name": user, "apiGroup": "rbac.authorization.k8s.io"}],
        }
        self.api.send("POST", f"{collection}/rolebindings", binding)
        return self.plane.client_kubeconfig(user, user)


@contextmanager
def furnished_scene() -> Iterator[Scene]:
    """Yield a scene in a cluster of its own, with all its objects."""
    with ControlPlane() as plane, KubeApi(plane.admin_kubeconfig) as api:
        install_crds(plane)
        scene = Scene(plane, api)
        scene.furnish()
        yield scene


@contextmanager
def running_dashboard(home: Path, kubeconfig: Path, *arguments: str) -> Iterator[httpx.Client]:
    """Run `keybearer dashboard` as people do; yield a client whose addresses are below its token."""
    line = CommandLine(home, {"KUBECONFIG": str(kubeconfig)})
    process = line.start("dashboard", "--no-browser", *arguments)
    try:
        assert process.stdout is not None
        address = process.stdout.readline().strip()
        assert address.startswith("http://127.0.0.1:"), process.communicate()[1]
        with httpx.Client(base_url=address, timeout=30) as client:
            yield client
    finally:
        process.terminate()
        out, err = process.communicate()
    assert process.returncode == 0, err
    assert not out
