"""Which objects of the API server we speak of: resources, their paths, and keys of single objects."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Self, TypeAlias
from urllib.parse import quote

from pydantic import JsonValue

from keybearer.base.json_reading import mapping_of, text_of
from keybearer.kube.errors import InvalidError

__all__ = [
    "APP_CONNECTIONS",
    "CERTIFICATE_PROFILES",
    "CERTIFICATE_REQUESTS",
    "CERTIFICATE_SIGNING_REQUESTS",
    "CLUSTER_TRUST_BUNDLES",
    "CONFIG_MAPS",
    "CRON_JOBS",
    "CUSTOM_RESOURCE_DEFINITIONS",
    "DAEMON_SETS",
    "DEPLOYMENTS",
    "EVENTS",
    "LEASES",
    "NAMESPACES",
    "PODS",
    "POD_CERTIFICATE_REQUESTS",
    "SECRETS",
    "SECRET_SYNCS",
    "SERVICE_ACCOUNTS",
    "STATEFUL_SETS",
    "JsonObject",
    "ObjectKey",
    "Resource",
]

JsonObject: TypeAlias = dict[str, JsonValue]
"""An object of the API server as its JSON says it. No models: importing the client's costs 28 MiB."""

# Stricter than the API server's own rule (anything but ".", "..", "/" and "%"): no such name can change the
# path it is put into, however it was written in a manifest.
_SEGMENT = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._:-]{0,252}")
# That rule of the API server's (path.IsValidPathSegmentName), for kinds whose names it leaves free; written quoted.
_FREE_SEGMENT = re.compile(r"(?!\.{1,2}\Z)[^/%\x00-\x1f]{1,1024}")


@dataclass(frozen=True, slots=True, order=True)
class ObjectKey:
    """Names one object of a resource; `namespace` is empty for what lives in none."""

    namespace: str
    name: str

    @classmethod
    def of(cls, body: Mapping[str, JsonValue]) -> Self:
        """Return the key of an object, as its metadata says; a part that is missing or no text is empty."""
        meta = mapping_of(body.get("metadata"))
        return cls(text_of(meta.get("namespace")), text_of(meta.get("name")))

    def __str__(self) -> str:
        return f"{self.namespace}/{self.name}" if self.namespace else self.name


@dataclass(frozen=True, slots=True)
class Resource:
    """A kind of object and where the API server serves it.

    Attributes:
        group: empty for the core group.
        version, plural, kind: as manifests and paths spell them.
        namespaced: whether its objects live in namespaces.
        free_names: whether the API server takes any text as a name that fits into a path.
        older_versions: in which we speak of it where the API server doesn't serve `version`, the newest first.
    """

    group: str
    version: str
    plural: str
    kind: str
    namespaced: bool = True
    free_names: bool = False
    older_versions: tuple[str, ...] = ()

    @property
    def versions(self) -> tuple[Resource, ...]:
        """Return it in each version that we speak, the preferred one first."""
        older = (replace(self, version=one, older_versions=()) for one in self.older_versions)
        return (self, *older)

    @property
    def api_version(self) -> str:
        """Return what manifests write as `apiVersion`."""
        return f"{self.group}/{self.version}" if self.group else self.version

    def collection_path(self, namespace: str | None) -> str:
        """Return the path of all objects in a namespace, or of all there are when it is None.

        Raises:
            InvalidError: the namespace can't be a name.
        """
        root = f"/apis/{self.group}/{self.version}" if self.group else f"/api/{self.version}"
        if namespace is None or not self.namespaced:
            return f"{root}/{self.plural}"
        return f"{root}/namespaces/{_segment(namespace, 'namespace')}/{self.plural}"

    def path(self, key: ObjectKey, subresource: str = "") -> str:
        """Return the path of one object.

        Raises:
            InvalidError: its name or namespace can't be one (would leave the path it belongs to).
        """
        name = _quoted(key.name, self.kind) if self.free_names else _segment(key.name, self.kind)
        path = f"{self.collection_path(key.namespace)}/{name}"
        return f"{path}/{subresource}" if subresource else path


def _segment(name: str, what: str) -> str:
    if not _SEGMENT.fullmatch(name):
        raise InvalidError(f"{what}: {name[:64]!r} is no name that Kubernetes allows")
    return name


def _quoted(name: str, what: str) -> str:
    if not _FREE_SEGMENT.fullmatch(name):
        raise InvalidError(f"{what}: {name[:64]!r} is no name that Kubernetes allows")
    return quote(name, safe=":")


APP_CONNECTIONS = Resource("keybearer.dev", "v1alpha1", "appconnections", "AppConnection")
CERTIFICATE_PROFILES = Resource("keybearer.dev", "v1alpha1", "certificateprofiles", "CertificateProfile")
CERTIFICATE_REQUESTS = Resource("cert-manager.io", "v1", "certificaterequests", "CertificateRequest")
CERTIFICATE_SIGNING_REQUESTS = Resource(
    "certificates.k8s.io",
    "v1",
    "certificatesigningrequests",
    "CertificateSigningRequest",
    namespaced=False,
    free_names=True,
)
# The name of a bundle holds that of its signer, and so those of a namespace and an object.
CLUSTER_TRUST_BUNDLES = Resource(
    "certificates.k8s.io",
    "v1",
    "clustertrustbundles",
    "ClusterTrustBundle",
    namespaced=False,
    free_names=True,
    older_versions=("v1beta1",),  # up to Kubernetes 1.36
)
CONFIG_MAPS = Resource("", "v1", "configmaps", "ConfigMap")
CRON_JOBS = Resource("batch", "v1", "cronjobs", "CronJob")
CUSTOM_RESOURCE_DEFINITIONS = Resource(
    "apiextensions.k8s.io", "v1", "customresourcedefinitions", "CustomResourceDefinition", namespaced=False
)
DAEMON_SETS = Resource("apps", "v1", "daemonsets", "DaemonSet")
DEPLOYMENTS = Resource("apps", "v1", "deployments", "Deployment")
EVENTS = Resource("events.k8s.io", "v1", "events", "Event")
LEASES = Resource("coordination.k8s.io", "v1", "leases", "Lease")
NAMESPACES = Resource("", "v1", "namespaces", "Namespace", namespaced=False)
PODS = Resource("", "v1", "pods", "Pod")
POD_CERTIFICATE_REQUESTS = Resource(
    "certificates.k8s.io",
    "v1",
    "podcertificaterequests",
    "PodCertificateRequest",
    older_versions=("v1beta1",),  # up to Kubernetes 1.36
)
SECRETS = Resource("", "v1", "secrets", "Secret")
SECRET_SYNCS = Resource("keybearer.dev", "v1alpha1", "secretsyncs", "SecretSync")
SERVICE_ACCOUNTS = Resource("", "v1", "serviceaccounts", "ServiceAccount")
STATEFUL_SETS = Resource("apps", "v1", "statefulsets", "StatefulSet")
