"""Values that people may set, and values that can't work: one table for all tests of the chart."""

from __future__ import annotations

from collections.abc import Mapping

from support.chart import Json

__all__ = ["REFUSED", "ROWS"]

_CERTIFICATE = "-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n"

_GRANT: Mapping[str, Json] = {
    "namespaces": ["team-a"],
    "projectSlug": "web-shop",
    "environment": "prod",
    "secretPath": "/public",
}

ROWS: Mapping[str, Mapping[str, Json]] = {
    "defaults": {},
    "a service elsewhere": {
        "embeddedService": {"enabled": False},
        "operator": {
            "serviceUrl": "https://secrets.example.com/base",
            "serviceCaBundle": _CERTIFICATE,
            "allowServiceUrls": ["https://other.example.com"],
        },
    },
    "the embedded service, yet an operator for another": {
        "operator": {"serviceUrl": "http://secrets.example.com", "allowInsecureHttp": True}
    },
    "two namespaces only": {"operator": {"namespaces": ["team-a", "team-b"]}},
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
        "rbac": {"aggregateClusterRoles": False},
    },
    "accounts brought by the user": {
        "operator": {"serviceAccount": {"create": False, "name": "my-operator"}},
        "embeddedService": {"serviceAccount": {"create": False, "name": "my-service"}},
    },
    "everything about pods": {
        "nameOverride": "kb",
        "fullnameOverride": "kb",
        "commonLabels": {"team": "platform"},
        "image": {"digest": "sha256:" + "a" * 64, "pullPolicy": "Always"},
        "imagePullSecrets": [{"name": "registry"}],
        "operator": {
            "replicas": 3,
            "workers": 64,
            "log": {"format": "text", "level": "debug"},
            "terminationGracePeriodSeconds": 90,
            "resources": {"requests": {"cpu": "1"}},
            "podLabels": {"a": "b"},
            "podAnnotations": {"c": "d"},
            "priorityClassName": "system-cluster-critical",
            "nodeSelector": {"kubernetes.io/os": "linux"},
            "tolerations": [{"key": "dedicated", "operator": "Exists"}],
            "affinity": {"podAffinity": {}},
            "serviceAccount": {"annotations": {"e": "f"}},
        },
        "embeddedService": {
            "persistence": {"size": "10Gi", "storageClassName": "fast"},
            "tls": {"validityDays": 30},
            "terminationGracePeriodSeconds": 10,
            "podLabels": {"a": "b"},
            "podAnnotations": {"c": "d"},
            "priorityClassName": "system-cluster-critical",
            "nodeSelector": {"kubernetes.io/os": "linux"},
            "tolerations": [{"key": "dedicated", "operator": "Exists"}],
            "affinity": {"podAffinity": {}},
            "serviceAccount": {"annotations": {"e": "f"}},
        },
    },
}

REFUSED: Mapping[str, tuple[Mapping[str, Json], str]] = {
    "a misspelt value": ({"operator": {"replica": 3}}, "additional properties 'replica' not allowed"),
    "no service at all": (
        {"embeddedService": {"enabled": False}},
        "operator.serviceUrl is required when embeddedService.enabled is false",
    ),
    "two replicas that both work": (
        {"operator": {"leaderElection": {"enabled": False}}},
        "operator.replicas must be at most 1",
    ),
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
    "a CA for SQLite": (
        {"embeddedService": {"database": {"ca": {"existingSecret": "my-database-ca"}}}},
        "embeddedService.database.ca says something of embeddedService.database.existingSecret only",
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
    "a log level that is none": ({"operator": {"log": {"level": "verbose"}}}, "/operator/log/level"),
}
