"""Operators that want one Lease, in a cluster whose audit log says who wrote what, and when."""

from __future__ import annotations

import itertools
import json
import sys
import time
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Self

from support import pod_operator
from support.api_audit import AuditLog
from support.audited_requests import AuditedRequest, AuditedRequests, credential_of, subject_of
from support.preloaded import PRELOADED
from support.projected_token import ProjectedToken
from support.secretsync_objects import decoded, namespace
from support.service_proxy import ServiceProxy
from support.tenant import IDENTITY, Tenant, open_tenant
from tools.chart.rendering import Json
from tools.controlplane.commands import ApiServerOptions
from tools.controlplane.controlplane import ControlPlane
from tools.local.kube_api import KubeApi, RefusedError
from tools.local.marks import find_mark
from tools.local.operator_cluster import OPERATOR_LEASE, OperatorCluster, install_operator
from tools.local.operator_process import OperatorProcess
from tools.local.secrets_service import RestartableService, ServiceAdmin
from tools.local.waiting import PATIENCE_SECONDS, eventually

__all__ = ["LEASE_SECONDS", "RENEW_DEADLINE", "RETRY_SECONDS", "TAKEOVER_SECONDS", "LeaderScene", "Replica"]

LEASE_SECONDS = 15
"""A Lease that is not released may be taken when it was not renewed for so long."""
RENEW_DEADLINE = timedelta(seconds=10)
"""A leader that was not let renew it for so long ends."""
RETRY_SECONDS = 2
"""The shortest pause between two looks at it that find it taken."""
TAKEOVER_SECONDS = LEASE_SECONDS + PATIENCE_SECONDS
"""Until one that waited leads, on a machine that does other things as well."""
_NAMESPACE = "led"
_HOME = "keybearer-ha"
_FOLDERS = 4
_JUST_BEGUN = (429, 503)
"""What an API server answers of custom resources whose storage it is still opening."""


@dataclass(frozen=True, slots=True)
class Replica:
    """An operator, and how the audit log names its token."""

    operator: OperatorProcess
    credential: str


class LeaderScene:
    """All of it while the block runs; a test asks for operators of its own, and ends them by `end_all`.

    Args:
        directory: private to it.
        objects: SecretSyncs, over a few folders.
    """

    def __init__(self, directory: Path, objects: int = 20) -> None:
        self._directory = directory
        self._objects = objects
        self._stack = ExitStack()
        self._serial = itertools.count(1)
        self._replicas: list[Replica] = []
        audit = AuditLog(directory / "audit.jsonl")
        self.plane = ControlPlane(ApiServerOptions(extra_flags=audit.flags([_HOME])))
        self.audit = AuditedRequests(audit)
        self.service = RestartableService(directory, launch=PRELOADED)
        self.admin: ServiceAdmin
        self.proxy: ServiceProxy
        self.cluster: OperatorCluster
        self.tenant: Tenant

    def __enter__(self) -> Self:
        with self._stack as stack:
            service = stack.enter_context(self.service)
            self.admin = stack.enter_context(ServiceAdmin(service))
            self.proxy = stack.enter_context(ServiceProxy(service.url))
            stack.enter_context(self.plane)
            api = stack.enter_context(KubeApi(self.plane.admin_kubeconfig))
            api.create(namespace(_NAMESPACE))
            values: Mapping[str, Json] = {"operator": {"namespaces": [_NAMESPACE], "clusterId": "led"}}
            self.cluster = install_operator(self.plane, api, values, where=_HOME)
            stack.callback(self.end_all)
            self._populate(api)
            self._stack = stack.pop_all()
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def _populate(self, api: KubeApi) -> None:
        project = self.admin.new_project("leaders")
        self.tenant = open_tenant(api, _NAMESPACE, project, self.admin.new_login(project.id))
        for number in range(_FOLDERS):
            project.folder(f"/f{number}")
        for number in range(self._objects):
            self.add(f"s{number}", number)

    def add(self, name: str, folder: int = 0) -> None:
        """One SecretSync more."""
        self.tenant.sync(name, source=self.tenant.source(secretPath=f"/f{folder % _FOLDERS}"))

    def start(self, name: str, *, wait: bool = True) -> Replica:
        """An operator with a token of its own, which `name` and a number name."""
        account = subject_of(self.cluster.kubeconfig)
        kubeconfig = self.plane.service_account_kubeconfig(*account)
        return self._started(kubeconfig, credential_of(kubeconfig), name, (), wait=wait)

    def start_in_pod(self, name: str, token: ProjectedToken, credential: str) -> Replica:
        """An operator with the token that is mounted."""
        program = (sys.executable, Path(pod_operator.__file__), token.directory, token.server)
        return self._started(self.cluster.kubeconfig, credential, name, program, wait=True)

    def mount(self) -> ProjectedToken:
        """A folder for the operator's token, as a pod has it."""
        directory = self._directory / f"pod-{next(self._serial)}"
        return ProjectedToken.mount(self.plane, directory, *subject_of(self.cluster.kubeconfig))

    def pair(self) -> tuple[Replica, Replica]:
        """One that leads, and one that waits: those that are left of before, and new ones for what is missing."""
        running = [one for one in self._replicas if one.operator.running] or [self.start("replica")]
        first = eventually(
            lambda: next((one for one in running if one.operator.leads), None),
            awaited="a leader",
            within=TAKEOVER_SECONDS,
        )
        second = next((one for one in running if one is not first), None) or self.start("replica")
        assert not second.operator.leads
        return first, second

    def change(self) -> str:
        """All sources have a new value, which is returned."""
        value = f"cnry-{next(self._serial)}"
        for number in range(_FOLDERS):
            self.tenant.project.store({"KEY": value}, path=f"/f{number}")
        return value

    def follows(self, value: str) -> bool:
        """Whether every Secret holds this value and nothing else, and there are as many as there should be."""
        found = {
            one["metadata"]["name"]: decoded(one)
            for one in self.tenant.api.list("Secret", _NAMESPACE)
            if one["metadata"]["name"] != IDENTITY
        }
        wanted = {one["metadata"]["name"] for one in self.tenant.api.list("SecretSync", _NAMESPACE)}
        return found == {name: {"KEY": value} for name in wanted}

    def until_followed(self, value: str, within: float = PATIENCE_SECONDS) -> None:
        """Every Secret holds this value."""

        def probe() -> bool:
            try:
                return self.follows(value)
            except RefusedError as refusal:
                if refusal.status not in _JUST_BEGUN:
                    raise
                return False

        eventually(probe, awaited="the newest value in every Secret", within=within)

    def until_leads(self, replica: Replica) -> float:
        """The one leads; return the seconds that took."""
        began = time.monotonic()
        eventually(
            lambda: replica.operator.leads,
            awaited="a new leader",
            within=TAKEOVER_SECONDS,
            told=lambda: replica.operator.log()[-2000:],
        )
        return time.monotonic() - began

    def transitions(self) -> int:
        """How often the Lease has changed hands."""
        spec = self.tenant.api.get("Lease", self.cluster.namespace, OPERATOR_LEASE)["spec"]
        return int(spec["leaseTransitions"])

    def took_lease(self, replica: Replica) -> AuditedRequest:
        """The request by which the replica got the Lease."""
        return self.audit.lease_kept_by(replica.credential)[0]

    def unrenewed_at_end(self, replica: Replica) -> timedelta:
        """How long it was since its last renewal that was accepted when it ended because of its Lease."""
        told = [
            json.loads(line) for line in replica.operator.log().splitlines() if '"operator_failed"' in line
        ]
        last = self.audit.lease_kept_by(replica.credential)[-1]
        return datetime.fromisoformat(told[-1]["timestamp"]) - last.received_at

    def looks_before_taking(self, first: Replica, second: Replica) -> int:
        """How often the second asked for the Lease from the last word of the first to its own first one."""
        last, taken = self.audit.lease_kept_by(first.credential)[-1], self.took_lease(second)
        return sum(
            one.reads_lease and last.answered_at < one.received_at < taken.received_at
            for one in self.audit.of(second.credential)
        )

    def end_all(self) -> None:
        """No operator runs, and none of them has logged a value."""
        replicas, self._replicas = self._replicas, []
        for replica in replicas:
            if replica.operator.running:
                replica.operator.kill()
        # One that was killed has released nothing: the next test is not about its Lease.
        if replicas:
            self.plane.kubectl(
                "delete",
                "lease",
                OPERATOR_LEASE,
                f"--namespace={self.cluster.namespace}",
                "--ignore-not-found",
            )
        for replica in replicas:
            assert find_mark(replica.operator.log()) is None

    def _started(
        self, kubeconfig: Path, credential: str, name: str, program: tuple[str | Path, ...], *, wait: bool
    ) -> Replica:
        flags = [f"--service-url={self.proxy.url}", *self.cluster.lease_flags(), f"--namespace={_NAMESPACE}"]
        operator = OperatorProcess(
            kubeconfig,
            self._directory,
            flags,
            f"{name}-{next(self._serial)}",
            program=program,
            launch=None if program else PRELOADED,
        )
        replica = Replica(operator, credential)
        self._replicas.append(replica)
        operator.start(wait=wait)
        return replica
