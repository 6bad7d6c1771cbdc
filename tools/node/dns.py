"""The cluster's DNS: CoreDNS in a pod, behind the Service that kubelets name in pods' resolv.conf."""

from __future__ import annotations

import json

from tools.node.settings import CLUSTER_DNS, CLUSTER_DOMAIN

__all__ = ["DNS_NAMESPACE", "DNS_WORKLOAD", "dns_manifests"]

DNS_NAMESPACE, DNS_WORKLOAD = "kube-system", "coredns"

_LABELS = {"k8s-app": "kube-dns"}
_META = {"namespace": DNS_NAMESPACE, "name": DNS_WORKLOAD}
# There is nobody to ask about other names: they don't exist, at once.
_COREFILE = f"""
.:53 {{
    errors
    ready :8181
    kubernetes {CLUSTER_DOMAIN} in-addr.arpa ip6.arpa {{
        pods insecure
        ttl 5
    }}
    template ANY ANY . {{
        rcode NXDOMAIN
    }}
}}
"""


def dns_manifests(image: str) -> str:
    """All that it takes, for `kubectl apply`."""
    return json.dumps({"apiVersion": "v1", "kind": "List", "items": [*_rights(), *_workload(image)]})


def _rights() -> list[dict[str, object]]:
    lists = {"verbs": ["list", "watch"]}
    role = {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "system:coredns"}
    return [
        {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": _META},
        {
            "apiVersion": "rbac.authorization.k8s.io/v1",
            "kind": "ClusterRole",
            "metadata": {"name": "system:coredns"},
            "rules": [
                {"apiGroups": [""], "resources": ["services", "pods", "namespaces"], **lists},
                {"apiGroups": ["discovery.k8s.io"], "resources": ["endpointslices"], **lists},
            ],
        },
        {
            "apiVersion": "rbac.authorization.k8s.io/v1",
            "kind": "ClusterRoleBinding",
            "metadata": {"name": "system:coredns"},
            "roleRef": role,
            "subjects": [{"kind": "ServiceAccount", "namespace": DNS_NAMESPACE, "name": DNS_WORKLOAD}],
        },
    ]


def _workload(image: str) -> list[dict[str, object]]:
    ports = [
        {"name": "dns", "port": 53, "protocol": "UDP"},
        {"name": "dns-tcp", "port": 53, "protocol": "TCP"},
    ]
    container = {
        "name": DNS_WORKLOAD,
        "image": image,
        "imagePullPolicy": "Never",
        "args": ["-conf", "/etc/coredns/Corefile"],
        "securityContext": {
            "allowPrivilegeEscalation": False,
            "capabilities": {"drop": ["ALL"], "add": ["NET_BIND_SERVICE"]},
            "readOnlyRootFilesystem": True,
        },
        "readinessProbe": {"httpGet": {"path": "/ready", "port": 8181}, "periodSeconds": 1},
        "volumeMounts": [{"name": "config", "mountPath": "/etc/coredns", "readOnly": True}],
    }
    pod = {
        "serviceAccountName": DNS_WORKLOAD,
        "dnsPolicy": "Default",
        "priorityClassName": "system-cluster-critical",
        "terminationGracePeriodSeconds": 1,
        "containers": [container],
        "volumes": [{"name": "config", "configMap": {"name": DNS_WORKLOAD}}],
    }
    return [
        {"apiVersion": "v1", "kind": "ConfigMap", "metadata": _META, "data": {"Corefile": _COREFILE}},
        {
            "apiVersion": "apps/v1",
            "kind": "Deployment",
            "metadata": {**_META, "labels": _LABELS},
            "spec": {
                "selector": {"matchLabels": _LABELS},
                "template": {"metadata": {"labels": _LABELS}, "spec": pod},
            },
        },
        {
            "apiVersion": "v1",
            "kind": "Service",
            "metadata": {"namespace": DNS_NAMESPACE, "name": "kube-dns", "labels": _LABELS},
            "spec": {"clusterIP": CLUSTER_DNS, "selector": _LABELS, "ports": ports},
        },
    ]
