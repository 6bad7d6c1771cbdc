"""Who asked the API server for what: its audit log, and rules of RBAC, in the same words."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from support.log_lines import whole_lines
from tools.chart.rendering import Json, Manifest

__all__ = ["Ask", "AuditLog", "Grant", "grants_of"]

_ROLES = {"ClusterRoleBinding": "ClusterRole", "RoleBinding": "Role"}


@dataclass(frozen=True, slots=True, order=True)
class Grant:
    """One verb on one resource; `namespace` and `name` are empty where the rule is for all."""

    resource: str
    """`group/plural` or `group/plural/subresource`; nothing before the first slash for the core group."""
    verb: str
    namespace: str = ""
    name: str = ""

    def allows(self, ask: Ask) -> bool:
        """Tell whether the grant covers what was asked for."""
        return (
            (self.resource, self.verb) == (ask.resource, ask.verb)
            and self.namespace in ("", ask.namespace)
            and self.name in ("", ask.name)
        )


@dataclass(frozen=True, slots=True, order=True)
class Ask:
    """What somebody asked for, and whether the rules allowed it."""

    resource: str
    verb: str
    namespace: str
    name: str
    allowed: bool


@dataclass(frozen=True, slots=True)
class AuditLog:
    """The audit log of an API server that was started with `flags`."""

    file: Path

    def flags(self, namespaces: Iterable[str]) -> list[str]:
        """Flags of kube-apiserver: requests of these namespaces' ServiceAccounts are written down, without bodies."""
        policy = self.file.with_suffix(".policy.json")
        groups = [f"system:serviceaccounts:{name}" for name in namespaces]
        rules = [{"level": "Metadata", "userGroups": groups}, {"level": "None"}]
        policy.write_text(
            json.dumps(
                {
                    "apiVersion": "audit.k8s.io/v1",
                    "kind": "Policy",
                    # A watch has begun, and was allowed, when its answer has.
                    "omitStages": ["RequestReceived"],
                    "rules": rules,
                }
            )
        )
        # Blocking: what was answered is written down.
        return [f"--audit-policy-file={policy}", f"--audit-log-path={self.file}", "--audit-log-mode=blocking"]

    def asked_by(self, namespace: str, account: str) -> frozenset[Ask]:
        """What a ServiceAccount asked for so far, of resources."""
        user = f"system:serviceaccount:{namespace}:{account}"
        # A line that is half written is another asker's: ours are there when they are answered.
        lines = map(json.loads, whole_lines(self.file.read_text().splitlines(keepends=True)))
        return frozenset(
            ask for line in lines if line["user"]["username"] == user for ask in _asks(line) if ask.resource
        )


def _asks(line: Mapping[str, Any]) -> Iterator[Ask]:
    about = line.get("objectRef", {})
    plural = "/".join(filter(None, (about.get("resource"), about.get("subresource"))))
    if not plural:
        return  # discovery and versions, which everybody may ask for
    resource = f"{about.get('apiGroup', '')}/{plural}"
    where = "" if about.get("resource") == "namespaces" else about.get("namespace", "")
    allowed = line["annotations"]["authorization.k8s.io/decision"] == "allow"
    name = about.get("name", "")
    yield Ask(resource, line["verb"], where, name, allowed)
    if line["verb"] == "patch" and line.get("responseStatus", {}).get("code") == 201:
        # A server-side apply of what isn't there: the API server asks the rules for `create` as well.
        yield Ask(resource, "create", where, name, allowed)


def grants_of(manifests: Iterable[Manifest], namespace: str, account: str) -> frozenset[Grant]:
    """What the roles among these manifests give a ServiceAccount, by their bindings."""
    manifests = list(manifests)
    return frozenset(
        grant
        for binding in manifests
        if binding.kind in _ROLES and _is_bound(binding, namespace, account)
        for role in manifests
        if (role.kind, role.name, role.namespace)
        == (_ROLES[binding.kind], binding.text("roleRef", "name"), binding.namespace)
        for rule in role.mappings("rules")
        for grant in _granted(rule, role.namespace)
    )


def _is_bound(binding: Manifest, namespace: str, account: str) -> bool:
    return any(
        (one["kind"], one["namespace"], one["name"]) == ("ServiceAccount", namespace, account)
        for one in binding.mappings("subjects")
    )


def _granted(rule: Mapping[str, Json], namespace: str) -> Iterator[Grant]:
    for group in _texts(rule["apiGroups"]):
        for plural in _texts(rule["resources"]):
            # The rule for a namespace itself stands in a Role of it, and its name says all.
            where = "" if plural == "namespaces" else namespace
            for verb in _texts(rule["verbs"]):
                for name in _texts(rule.get("resourceNames", [""])):
                    yield Grant(f"{group}/{plural}", verb, where, name)


def _texts(found: Json) -> list[str]:
    assert isinstance(found, list)
    return [str(one) for one in found]
