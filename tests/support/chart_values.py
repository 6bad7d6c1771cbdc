"""Values that people may set, and values that can't work: one table for all tests of the chart."""

from __future__ import annotations

import tarfile
from collections.abc import Mapping
from pathlib import Path

import yaml

from tools.chart.rendering import ROOT, Json

__all__ = ["MONITORED", "REFUSED", "ROWS", "SIGNERS", "VERSION_BEFORE", "app_version"]

VERSION_BEFORE = ROOT / "tests" / "golden" / "charts" / "keybearer-0.1.0.tgz"
"""The chart that today's replaces, as `helm package` made it."""

SIGNERS = ("certManager", "certificateSigningRequests", "podCertificates", "trustBundles")

_CERTIFICATE = "-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n"

_GRANT: Mapping[str, Json] = {
    "namespaces": ["team-a"],
    "projectSlug": "web-shop",
    "environment": "prod",
    "secretPath": "/public",
}

_MONITORING: Mapping[str, Json] = {
    "monitoring": {
        "serviceMonitor": {
            "enabled": True,
            "labels": {"release": "prometheus"},
            "interval": "30s",
            "scrapeTimeout": "10s",
        },
        "prometheusRule": {
            "enabled": True,
            "labels": {"release": "prometheus"},
            "alertLabels": {"team": "platform"},
            "runbookUrl": "https://runbooks.example.com/keybearer",
        },
        "dashboard": {"enabled": True, "annotations": {"grafana_folder": "Platform"}},
    }
}

MONITORED: Mapping[str, Json] = {**_MONITORING, "embeddedService": {"backup": {"enabled": True}}}

_ROWS: Mapping[str, Mapping[str, Json]] = {
    "defaults": {},
    "a service elsewhere": {
        "embeddedService": {"enabled": False},
        "operator": {
            "serviceUrl": "https://secrets.example.com/base",
            "serviceCaBundle": _CERTIFICATE,
            "allowServiceUrls": ["https://other.example.com"],
        },
    },
    "a service elsewhere over plain http": {
        "embeddedService": {"enabled": False},
        "operator": {"serviceUrl": "http://secrets.example.com", "allowInsecureHttp": True},
    },
    "little memory, and all forms of places": {
        "operator": {"resources": {"requests": {"memory": "64Mi"}, "limits": {"memory": "64Mi"}}},
        "embeddedService": {
            "resources": {"requests": {"memory": "64Mi"}, "limits": {"memory": "67108864"}},
            "allowOutbound": [
                "10.0.0.0/8",
                "fd00::/8",
                "ldap.example.com:636",
                "[fd00::7]:636",
                "192.168.0.1/32",
            ],
        },
    },
    "two namespaces only": {"operator": {"namespaces": ["team-a", "team-b"], "clusterId": "edge"}},
    "a shared identity with grants": {
        "operator": {
            "sharedIdentity": {"existingSecret": "shared"},
            "sharedGrants": [
                _GRANT,
                {
                    "namespaces": ["web-*"],
                    "namespaceLabels": {"team": "web"},
                    "projectId": "8a0d",
                    "environment": "dev",
                    "secretPath": "/",
                },
            ],
        }
    },
    "one replica without a Lease": {"operator": {"replicas": 1, "leaderElection": {"enabled": False}}},
    "ServiceAccount tokens and more target types": {
        "operator": {"allowServiceAccountTokens": True, "allowTargetTypes": ["example.com/token"]}
    },
    "a signer for cert-manager, which approves by itself": {
        "operator": {
            "signers": {
                "certManager": {"enabled": True, "approver": {"namespace": "pki", "name": "cert-manager"}}
            }
        }
    },
    "every signer, and no restarts": {
        "operator": {
            "rolloutRestart": {"enabled": False},
            "signers": {name: {"enabled": True} for name in SIGNERS},
        }
    },
    "two namespaces with all that they can have, and grants by label": {
        "operator": {
            "namespaces": ["team-a", "keybearer-system"],
            "clusterId": "edge",
            "allowServiceAccountTokens": True,
            "refreshMounts": {"enabled": True},
            "signers": {"certManager": {"enabled": True}},
            "sharedIdentity": {"existingSecret": "shared"},
            "sharedGrants": [
                {"namespaceLabels": {"team": "a"}, "projectId": "8a0d", "environment": "dev"},
            ],
        },
        "uninstall": {"deleteCustomResources": True, "timeoutSeconds": 60},
    },
    "secrets brought by the user": {
        "embeddedService": {
            "rootKey": {"existingSecret": "my-root-key", "key": "key"},
            "admin": {"existingSecret": "my-admin"},
            "tls": {"existingSecret": "my-tls"},
        }
    },
    "a claim brought by the user, and another port": {
        "embeddedService": {"persistence": {"existingClaim": "my-claim"}, "port": 8443}
    },
    "three services on PostgreSQL": {
        "embeddedService": {"replicas": 3, "database": {"existingSecret": "my-database"}}
    },
    "one service on PostgreSQL, with its CA": {
        "embeddedService": {
            "database": {
                "existingSecret": "my-database",
                "key": "uri",
                "ca": {"existingSecret": "my-database-ca", "key": "my-ca.crt"},
            },
        }
    },
    "TokenReviews and no roles for users": {
        "embeddedService": {
            "tokenReviews": {"enabled": True},
            "allowOutbound": ["10.0.0.0/8", "ldap.example.com:636", "[fd00::7]:636"],
        },
        "destinationsFrom": ["acme-for-keybearer", "their.store"],
        "rbac": {"aggregateClusterRoles": False},
    },
    "accounts brought by the user": {
        "operator": {"serviceAccount": {"create": False, "name": "my-operator"}},
        "embeddedService": {"serviceAccount": {"create": False, "name": "my-service"}},
    },
    "closed networks": {
        "operator": {"allowServiceUrls": ["https://other.example.com:8443", "https://third.example.com"]},
        "networkPolicy": {
            "enabled": True,
            "apiServerPorts": [6443],
            "dnsPorts": [53, 5353],
            "operator": {
                "metricsFrom": [
                    {"namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": "monitoring"}}}
                ],
                "extraEgress": [{"to": [{"ipBlock": {"cidr": "10.1.0.0/16"}}], "ports": [{"port": 8200}]}],
            },
            "service": {
                "from": [{"podSelector": {"matchLabels": {"app": "ci"}}}],
                "egress": [{"ports": [{"port": 5432, "protocol": "TCP"}]}],
            },
        },
    },
    "closed networks, a service elsewhere, and nobody who reads metrics": {
        "embeddedService": {"enabled": False},
        "operator": {"serviceUrl": "https://secrets.example.com:9443"},
        "networkPolicy": {"enabled": True},
        "tests": {"enabled": False},
        "uninstall": {"waitForFinalizers": False},
    },
    "all that watches": _MONITORING,
    "all that watches, backups too": MONITORED,
    "backups with everything, in closed networks": {
        "podSecurity": {"seLinuxLevel": "s0:c123,c456"},
        "imagePullSecrets": [{"name": "registry"}],
        "networkPolicy": {"enabled": True},
        "embeddedService": {
            "nodeSelector": {"kubernetes.io/os": "linux"},
            "tolerations": [{"key": "dedicated", "operator": "Exists"}],
            "affinity": {"podAffinity": {}},
            "backup": {
                "enabled": True,
                "schedule": "*/15 1-5 * * mon-fri",
                "timeZone": "Europe/Berlin",
                "keep": 3,
                "suspend": True,
                "timeoutSeconds": 600,
                "persistence": {"size": "100Gi", "storageClassName": "slow"},
                "resources": {"requests": {"memory": "32Mi"}},
                "podLabels": {"a": "b"},
                "podAnnotations": {"c": "d"},
            },
        },
    },
    "backups of PostgreSQL, in closed networks": {
        "embeddedService": {
            "replicas": 2,
            "database": {
                "existingSecret": "my-database",
                "key": "uri",
                "ca": {"existingSecret": "my-database-ca"},
            },
            "backup": {"enabled": True, "postgresql": {"image": "registry.example.com/postgres:17"}},
        },
        "networkPolicy": {
            "enabled": True,
            "service": {"egress": [{"ports": [{"port": 5432, "protocol": "TCP"}]}]},
        },
    },
    "claims brought by the user, of data and of backups": {
        "embeddedService": {
            "persistence": {"existingClaim": "my-claim"},
            "backup": {"enabled": True, "persistence": {"existingClaim": "my-backups"}},
        }
    },
    "everything about pods": {
        "nameOverride": "kb",
        "fullnameOverride": "kb",
        "commonLabels": {"team": "platform"},
        "commonAnnotations": {"example.com/owner": "platform"},
        "podSecurity": {"runAsUser": None, "runAsGroup": None, "fsGroup": 1000},
        "image": {"digest": "sha256:" + "a" * 64, "pullPolicy": "Always"},
        "imagePullSecrets": [{"name": "registry"}],
        "operator": {
            "replicas": 3,
            "workers": 64,
            "log": {"format": "text", "level": "debug"},
            "extraArgs": ["--api-audience=https://kubernetes.default.svc"],
            "terminationGracePeriodSeconds": 90,
            "resources": {"requests": {"cpu": "1"}},
            "podLabels": {"a": "b"},
            "podAnnotations": {"c": "d"},
            "priorityClassName": "system-cluster-critical",
            "nodeSelector": {"kubernetes.io/os": "linux"},
            "tolerations": [{"key": "dedicated", "operator": "Exists"}],
            "affinity": {"podAffinity": {}},
            "labels": {"i": "j"},
            "annotations": {"k": "l"},
            "extraEnv": [
                {"name": "TZ", "value": "UTC"},
                {"name": "NODE", "valueFrom": {"fieldRef": {"fieldPath": "spec.nodeName"}}},
            ],
            "extraVolumes": [{"name": "extra", "configMap": {"name": "extra"}}],
            "extraVolumeMounts": [{"name": "extra", "mountPath": "/etc/extra", "readOnly": True}],
            "probes": {"liveness": {"periodSeconds": 20}},
            "podDisruptionBudget": {"enabled": False},
            "topologySpreadConstraints": [
                {
                    "maxSkew": 2,
                    "topologyKey": "topology.kubernetes.io/zone",
                    "whenUnsatisfiable": "DoNotSchedule",
                },
                {
                    "maxSkew": 1,
                    "topologyKey": "kubernetes.io/hostname",
                    "whenUnsatisfiable": "ScheduleAnyway",
                    "labelSelector": {"matchLabels": {"app": "other"}},
                },
            ],
            "serviceAccount": {"annotations": {"e": "f"}},
        },
        "embeddedService": {
            "persistence": {"size": "10Gi", "storageClassName": "fast"},
            "tls": {"validityDays": 30},
            "log": {"format": "text", "level": "debug"},
            "extraArgs": ["--sync-workers=5"],
            "terminationGracePeriodSeconds": 10,
            "podLabels": {"a": "b"},
            "podAnnotations": {"c": "d"},
            "priorityClassName": "system-cluster-critical",
            "nodeSelector": {"kubernetes.io/os": "linux"},
            "tolerations": [{"key": "dedicated", "operator": "Exists"}],
            "affinity": {"podAffinity": {}},
            "labels": {"i": "j"},
            "annotations": {"k": "l"},
            "extraEnv": [
                {"name": "TZ", "value": "UTC"},
                {"name": "NODE", "valueFrom": {"fieldRef": {"fieldPath": "spec.nodeName"}}},
            ],
            "extraVolumes": [{"name": "extra", "configMap": {"name": "extra"}}],
            "extraVolumeMounts": [{"name": "extra", "mountPath": "/etc/extra", "readOnly": True}],
            "probes": {"liveness": {"periodSeconds": 20}},
            "podDisruptionBudget": {"enabled": False},
            "topologySpreadConstraints": [
                {
                    "maxSkew": 2,
                    "topologyKey": "topology.kubernetes.io/zone",
                    "whenUnsatisfiable": "DoNotSchedule",
                },
                {
                    "maxSkew": 1,
                    "topologyKey": "kubernetes.io/hostname",
                    "whenUnsatisfiable": "ScheduleAnyway",
                    "labelSelector": {"matchLabels": {"app": "other"}},
                },
            ],
            "serviceAccount": {"annotations": {"e": "f"}},
        },
    },
}

_AT_ONCE = (
    "every signer, and no restarts",
    "TokenReviews and no roles for users",
    "ServiceAccount tokens and more target types",
    "a shared identity with grants",
    "secrets brought by the user",
    "one service on PostgreSQL, with its CA",
    "closed networks",
    "all that watches",
    "everything about pods",
)


def app_version(package: Path) -> str:
    """The version of the image that a packaged chart asks for."""
    return str(_packed(package, "Chart.yaml")["appVersion"])


def _packed(package: Path, name: str) -> Mapping[str, Json]:
    """A YAML file of a packaged chart."""
    with tarfile.open(package) as archive:
        file = archive.extractfile(f"keybearer/{name}")
        assert file is not None
        found: Mapping[str, Json] = yaml.safe_load(file)
    return found


def _merged(*rows: Mapping[str, Json]) -> Mapping[str, Json]:
    """Values of all rows, as Helm merges several files."""
    merged: dict[str, Json] = {}
    for row in rows:
        for key, value in row.items():
            before = merged.get(key)
            if isinstance(before, Mapping) and isinstance(value, Mapping):
                merged[key] = _merged(before, value)
            else:
                merged[key] = value
    return merged


ROWS: Mapping[str, Mapping[str, Json]] = {
    **_ROWS,
    # Who copied it when they installed that version.
    "the whole file of the version before": _packed(VERSION_BEFORE, "values.yaml"),
    "nearly all values at once": _merged(*(_ROWS[name] for name in _AT_ONCE)),
}

REFUSED: Mapping[str, tuple[Mapping[str, Json], str]] = {
    "a misspelt value": ({"operator": {"replica": 3}}, "additional properties 'replica' not allowed"),
    "no service at all": (
        {"embeddedService": {"enabled": False}},
        "operator.serviceUrl is required when embeddedService.enabled is false",
    ),
    "a service over plain http": (
        {"embeddedService": {"enabled": False}, "operator": {"serviceUrl": "http://secrets.example.com"}},
        (
            "operator.serviceUrl is http://, which carries secret values in clear text: use https://, or set "
            "operator.allowInsecureHttp"
        ),
    ),
    "a place without a scheme": (
        {"embeddedService": {"publicUrl": "pki.example.com"}},
        "/embeddedService/publicUrl",
    ),
    "a place with a query": (
        {"embeddedService": {"publicUrl": "http://pki.example.com/?q"}},
        "/embeddedService/publicUrl",
    ),
    "two replicas that both work": (
        {"operator": {"leaderElection": {"enabled": False}}},
        "operator.replicas must be at most 1",
    ),
    "values of the version before, reused without the new ones": (
        {"networkPolicy": None, "uninstall": None},
        "missing properties 'networkPolicy', 'uninstall'",
    ),
    "single namespaces of a cluster without a name": (
        {"operator": {"namespaces": ["team-a"]}},
        "operator.clusterId is required with operator.namespaces",
    ),
    "a signer across the cluster for single namespaces": (
        {
            "operator": {
                "namespaces": ["team-a"],
                "clusterId": "edge",
                "signers": {"podCertificates": {"enabled": True}},
            }
        },
        "operator.signers.podCertificates needs rights across the cluster",
    ),
    "a volume over one of ours": (
        {"embeddedService": {"extraVolumes": [{"name": "root-key", "emptyDir": {}}]}},
        "/embeddedService/extraVolumes/0/name",
    ),
    "a variable with two values": (
        {"operator": {"extraEnv": [{"name": "A", "value": "b", "valueFrom": {"fieldRef": {}}}]}},
        "/operator/extraEnv/0",
    ),
    "a toleration that is none": (
        {"operator": {"tolerations": [{"keys": "a"}]}},
        "additional properties 'keys' not allowed",
    ),
    "a root user": ({"podSecurity": {"runAsUser": 0}}, "/podSecurity/runAsUser"),
    "an alert after no time": (
        {"monitoring": {"prometheusRule": {"notReadyFor": "0m"}}},
        "/monitoring/prometheusRule/notReadyFor",
    ),
    "a label that Kubernetes refuses": ({"commonLabels": {"a": "b c"}}, "/commonLabels/a"),
    "several services on one volume": (
        {"embeddedService": {"replicas": 2}},
        "/embeddedService/replicas",
    ),
    "a volume for PostgreSQL": (
        {
            "embeddedService": {
                "database": {"existingSecret": "my-database"},
                "persistence": {"existingClaim": "my-claim"},
            }
        },
        "embeddedService.persistence.existingClaim is of SQLite only",
    ),
    "backups of PostgreSQL without pg_dump": (
        {"embeddedService": {"database": {"existingSecret": "my-database"}, "backup": {"enabled": True}}},
        "embeddedService.backup.postgresql.image is required",
    ),
    "pg_dump for SQLite": (
        {"embeddedService": {"backup": {"enabled": True, "postgresql": {"image": "postgres:17"}}}},
        "embeddedService.backup.postgresql says something of embeddedService.database.existingSecret only",
    ),
    "backups on the volume that they are of": (
        {
            "embeddedService": {
                "persistence": {"existingClaim": "my-claim"},
                "backup": {"enabled": True, "persistence": {"existingClaim": "my-claim"}},
            }
        },
        'is "my-claim", the service\'s own volume',
    ),
    "backups of which none is kept": (
        {"embeddedService": {"backup": {"keep": 0}}},
        "/embeddedService/backup/keep",
    ),
    "a schedule that is none": (
        {"embeddedService": {"backup": {"schedule": "daily"}}},
        "/embeddedService/backup/schedule",
    ),
    "a CA for SQLite": (
        {"embeddedService": {"database": {"ca": {"existingSecret": "my-database-ca"}}}},
        "embeddedService.database.ca needs embeddedService.database.existingSecret",
    ),
    "the URL itself, with its password": (
        {"embeddedService": {"database": {"url": "postgresql://user:password@host/name"}}},
        "additional properties 'url' not allowed",
    ),
    "a URL that is none": ({"operator": {"serviceUrl": "secrets.example.com"}}, "/operator/serviceUrl"),
    "a private key among public certificates": (
        {"operator": {"serviceCaBundle": _CERTIFICATE + "-----BEGIN PRIVATE KEY-----"}},
        "/operator/serviceCaBundle",
    ),
    "a grant for nobody in particular": (
        {"operator": {"sharedGrants": [{k: v for k, v in _GRANT.items() if k != "namespaces"}]}},
        "missing property 'namespaces'",
    ),
    "a grant of two projects": (
        {"operator": {"sharedGrants": [{**_GRANT, "projectId": "8a0d"}]}},
        "/operator/sharedGrants/0",
    ),
    "a type of Secret that mints credentials": (
        {"operator": {"allowTargetTypes": ["kubernetes.io/service-account-token"]}},
        "/operator/allowTargetTypes/0",
    ),
    "no account": (
        {"operator": {"serviceAccount": {"create": False}}},
        "operator.serviceAccount.name is required",
    ),
    "an operator for another service than the embedded one": (
        {"operator": {"serviceUrl": "https://secrets.example.com"}},
        "operator.serviceUrl is set while embeddedService.enabled is true, .*: set embeddedService.enabled to false",
    ),
    "an identity that nobody may use": (
        {"operator": {"sharedIdentity": {"existingSecret": "shared"}}},
        "operator.sharedIdentity.existingSecret is set without operator.sharedGrants, .*: list in",
    ),
    "grants of no identity": (
        {"operator": {"sharedGrants": [_GRANT]}},
        "operator.sharedGrants is set without operator.sharedIdentity.existingSecret, .*: name its Secret",
    ),
    "one who approves for a signer that is off": (
        {"operator": {"signers": {"certManager": {"approver": {"name": "cert-manager"}}}}},
        "operator.signers.certManager.approver.name is set while .* is false: set enabled to true",
    ),
    "an operator with too little memory to start": (
        {"operator": {"resources": {"limits": {"memory": "16Mi"}}}},
        "operator.resources.limits.memory is 16Mi, .*: give it 64Mi or more",
    ),
    "a service with too little memory to start": (
        {"embeddedService": {"resources": {"limits": {"memory": "512Ki"}}}},
        "embeddedService.resources.limits.memory is 512Ki, .*: give it 64Mi or more",
    ),
    "a range of addresses that is none": (
        {"embeddedService": {"allowOutbound": ["10.0.0.0/33"]}},
        "/embeddedService/allowOutbound/0",
    ),
    "a long range of addresses that is none": (
        {"embeddedService": {"allowOutbound": ["fd00::/129"]}},
        "/embeddedService/allowOutbound/0",
    ),
    "a name that Kubernetes refuses": ({"fullnameOverride": "This_Is_Bad"}, "/fullnameOverride"),
    "a short name that Kubernetes refuses": ({"nameOverride": "9-lives"}, "/nameOverride"),
    "no port of the API server": ({"networkPolicy": {"apiServerPorts": []}}, "/networkPolicy/apiServerPorts"),
    "a log level that is none": ({"operator": {"log": {"level": "verbose"}}}, "/operator/log/level"),
}
