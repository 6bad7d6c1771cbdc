"""The SecretSyncs of a storm, and what may be in their targets at any moment."""

from __future__ import annotations

import base64
import itertools
from collections.abc import Iterator
from dataclasses import dataclass

from chaos.storm_sources import ChangingSource
from support.secretsync_objects import secret, secret_sync
from support.tenant import IDENTITY, Tenant
from tools.local.kube_api import Body, KubeApi

__all__ = ["Member", "Population"]

_THEIRS = {"THEIRS": "cnry-theirs"}
"""What others keep in Secrets that members merge into."""
_MERGING, _CONFIG_MAP, _IMMUTABLE = 7, 8, 9
"""Of ten members one each; the others own plain Secrets."""
_BACKUP = ".keybearer-backup-"


@dataclass(frozen=True, slots=True)
class Member:
    """One SecretSync.

    Attributes:
        kind: of its target.
        merges: its target is somebody else's.
        recreates: its target is away for a moment at each change.
    """

    namespace: str
    name: str
    target: str
    source: ChangingSource
    kind: str = "Secret"
    merges: bool = False
    recreates: bool = False

    @property
    def key(self) -> tuple[str, str, str]:
        """Its target."""
        return (self.kind, self.namespace, self.target)


class Population:
    """Members over several tenants; some leave and others come while the storm lasts."""

    def __init__(self, api: KubeApi, tenants: list[Tenant], sources: list[ChangingSource]) -> None:
        self._api = api
        self._tenants = tenants
        self._sources = sources
        self._serial = itertools.count()
        self.members: dict[tuple[str, str, str], Member] = {}
        self.departed: dict[tuple[str, str, str], Member] = {}
        """Targets that no member has any more, and that may take a while to go."""

    def add(self) -> None:
        """One member more."""
        number = next(self._serial)
        tenant = self._tenants[number % len(self._tenants)]
        place, kind_number = f"member-{number}", number % 10
        target: Body = {"name": place}
        if kind_number == _MERGING:
            target["creationPolicy"] = "Merge"
            self._api.create(secret(tenant.namespace, place, _THEIRS))
        elif kind_number == _CONFIG_MAP:
            target["kind"] = "ConfigMap"
        elif kind_number == _IMMUTABLE:
            target |= {"immutable": True, "recreate": True}
        member = Member(
            tenant.namespace,
            place,
            place,
            self._sources[number % len(self._sources)],
            kind=str(target.get("kind", "Secret")),
            merges=kind_number == _MERGING,
            recreates=kind_number == _IMMUTABLE,
        )
        spec = {
            "identityRef": {"name": IDENTITY},
            "source": tenant.source(secretPath=member.source.path),
            "refreshInterval": "10s",
            "target": target,
        }
        self._api.create(secret_sync(tenant.namespace, place, spec))
        self.members[member.key] = member

    def remove(self, member: Member) -> None:
        """The member leaves; what it owns is to go."""
        self._api.delete("SecretSync", member.namespace, member.name)
        del self.members[member.key]
        self.departed[member.key] = member

    def rename(self, member: Member) -> None:
        """The member writes to another target; the old one is to go."""
        renamed = Member(
            member.namespace,
            member.name,
            f"{member.target}-renamed",
            member.source,
            kind=member.kind,
            recreates=member.recreates,
        )
        patch = {"spec": {"target": {"name": renamed.target}}}
        self._api.patch("SecretSync", member.namespace, member.name, patch)
        del self.members[member.key]
        self.departed[member.key] = member
        self.members[renamed.key] = renamed

    def violations(self, *, settled: bool) -> list[str]:
        """What is wrong with the targets now; names and keys only.

        Args:
            settled: all must be there in their newest revision, and nothing else. Otherwise each may be in any
                revision that was ever committed, and may not be there yet.
        """
        found = dict(self._targets())
        wrong: list[str] = []
        for key, data in found.items():
            # The backup of a target that is being recreated holds what that holds, and is gone in the end.
            of = key if settled else (key[0], key[1], key[2].partition(_BACKUP)[0])
            member = self.members.get(of) or (None if settled else self.departed.get(of))
            if member is None:
                departed = self.departed.get(key)
                if departed is None or not departed.merges or data != _THEIRS:
                    wrong.append(f"{key} is left over")
                continue
            wrong += _judge(member, data, settled=settled)
        missing = (self.members.keys() - found.keys()) if settled else ()
        return [*wrong, *(f"{key} is missing" for key in missing)]

    def _targets(self) -> Iterator[tuple[tuple[str, str, str], dict[str, str]]]:
        for tenant in self._tenants:
            for body in self._api.list("Secret", tenant.namespace):
                name = body["metadata"]["name"]
                if name != IDENTITY:
                    encoded = body.get("data") or {}
                    data = {key: base64.b64decode(text).decode() for key, text in encoded.items()}
                    yield ("Secret", tenant.namespace, name), data
            for body in self._api.list("ConfigMap", tenant.namespace):
                name = body["metadata"]["name"]
                if name != "kube-root-ca.crt":
                    yield ("ConfigMap", tenant.namespace, name), dict(body.get("data") or {})


def _judge(member: Member, data: dict[str, str], *, settled: bool) -> list[str]:
    own = dict(data)
    if member.merges:
        theirs = {key: own.pop(key, None) for key in _THEIRS}
        if theirs != _THEIRS:
            return [f"{member.key} lost keys of somebody else"]
        if not own and not settled:
            return []
    revision = member.source.revision_of(own)
    if revision is None:
        return [f"{member.key} holds what its source never held; keys {sorted(data)}"]
    if settled and revision != member.source.newest:
        return [f"{member.key} is at revision {revision}, its source at {member.source.newest}"]
    return []
