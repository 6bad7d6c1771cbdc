"""A node of one namespace: runs its pods on this machine, answers for their readiness, and leads Services to them.

What is real: the API server with its admission, Kubernetes' own controllers, tokens of ServiceAccounts, and what
runs. What stands in: this kubelet for a node with an engine; its routes for the network, kube-proxy and DNS. Pods
have one container; probes are asked for readiness only. Mounted objects are read again sooner than by others.
"""

from __future__ import annotations

import itertools
import shutil
import socket
import tempfile
import threading
import time
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType
from typing import Self

from support.kubelet.containers import Container, Relay, Route
from support.kubelet.volumes import PodFiles
from tools.controlplane.controlplane import ControlPlane
from tools.controlplane.ports import LOOPBACK
from tools.local.kube_api import Body, KubeApi, RefusedError

__all__ = ["Kubelet"]

_API_ADDRESS = ("10.96.0.1", 443)
_NODE = "this-machine"
_TURN_SECONDS = 0.1
_PROBE_EVERY_SECONDS = 0.3
_REFRESH_EVERY_SECONDS = 2.0


class Kubelet:
    """Runs pods from `__enter__` to `__exit__`.

    Args:
        plane: the cluster.
        namespace: whose pods run here.
        directory: private to it; volumes of claims outlive pods here.
        image: of all that can be pulled, without the tag.
        outside: addresses of the pods' network (10.0.0.0/8), and where on this machine they lead.
    """

    def __init__(
        self,
        plane: ControlPlane,
        namespace: str,
        directory: Path,
        *,
        image: str,
        outside: Mapping[str, str] | None = None,
    ) -> None:
        self._plane = plane
        self._namespace = namespace
        self._directory = directory
        self._image = image
        self._outside = dict(outside or {})
        self._api = KubeApi(plane.admin_kubeconfig)
        # Paths of Unix sockets are short.
        self._sockets = Path(tempfile.mkdtemp(prefix="kb-"))
        self._containers: dict[str, Container] = {}
        self._stopping: dict[str, float] = {}
        self._probed: dict[str, tuple[float, bool]] = {}
        self._refreshed: dict[str, float] = {}
        self._relays: list[Relay] = []
        self._forwarded: dict[str, int] = {}
        self._serial = itertools.count(1)
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._run, name="kubelet", daemon=True)
        self._failure: BaseException | None = None

    def __enter__(self) -> Self:
        server = self._plane.server_url.removeprefix("https://")
        out = [(_listening(self._sockets / "api"), server)]
        out += [(_listening(self._outside_socket(near)), far) for near, far in self._outside.items()]
        self._relays.append(Relay.start(self._directory, "outward", out))
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._over.set()
        self._thread.join()
        for one in self._containers.values():
            one.kill()
        for relay in self._relays:
            relay.stop()
        self._api.close()
        shutil.rmtree(self._sockets)
        if error is None:
            self.check()

    def check(self) -> None:
        """Raise what kept it from its work, if anything did."""
        if self._failure is not None:
            raise RuntimeError("the kubelet ended") from self._failure

    def forward(self, service: str, port: int) -> int:
        """Return a port of this machine that leads to a Service, as `kubectl port-forward` would."""
        far = str(self._service_socket(service, port))
        if far not in self._forwarded:
            near = socket.create_server((LOOPBACK, 0))
            number = self._forwarded[far] = near.getsockname()[1]
            self._relays.append(Relay.start(self._directory, f"forward-{number}", [(near, far)]))
        return self._forwarded[far]

    def logs(self) -> dict[str, str]:
        """What the pods logged, by their names; of those that are gone as well."""
        return {file.stem: file.read_text() for file in self._directory.glob("*.pod")}

    def told(self) -> str:
        """What the pods logged last, for whoever finds them failing."""
        return "\n".join(f"--- {name}\n{text[-1500:]}" for name, text in self.logs().items())

    # Pods

    def _run(self) -> None:
        try:
            while not self._over.wait(_TURN_SECONDS):
                self._turn()
        except BaseException as error:  # noqa: BLE001 - told to whoever checks
            self._failure = error

    def _turn(self) -> None:
        pods = {one["metadata"]["uid"]: one for one in self._list("pods")}
        for uid in self._containers.keys() - pods.keys():
            self._forget(uid)
        # Whoever is told that a pod is ready finds it behind its Service.
        self._probe(pods)
        self._lead_services(pods)
        for uid, pod in pods.items():
            try:
                self._tend(uid, pod)
            except RefusedError as error:
                # What it names isn't there yet, or it has changed meanwhile: the next turn sees.
                if error.status not in {404, 409}:
                    raise
        self._lead_services(pods)

    def _tend(self, uid: str, pod: Body) -> None:
        container = self._containers.get(uid)
        if "deletionTimestamp" in pod["metadata"]:
            self._stop(uid, pod)
        elif container is None:
            if pod["status"]["phase"] not in {"Succeeded", "Failed"}:
                self._start(uid, pod)
        elif container.status is None:
            self._refresh(uid, pod)
            self._report(uid, pod, "Running", {"running": {"startedAt": pod["status"].get("startTime")}})
        elif pod["spec"]["restartPolicy"] == "Always":
            self._probed.pop(uid, None)
            self._start_container(container, pod)
        else:
            phase = "Failed" if container.status else "Succeeded"
            self._report(uid, pod, phase, {"terminated": {"exitCode": container.status}})
            self._forget(uid)

    def _start(self, uid: str, pod: Body) -> None:
        assert pod["spec"]["containers"][0]["image"].rpartition(":")[0] == self._image
        name = pod["metadata"]["name"]
        if "nodeName" not in pod["spec"]:
            target = {"apiVersion": "v1", "kind": "Node", "name": _NODE}
            binding = {"apiVersion": "v1", "kind": "Binding", "metadata": {"name": name}, "target": target}
            self._api.send("POST", f"{self._path('pods')}/{name}/binding", binding)
            pod["spec"]["nodeName"] = _NODE
        number = next(self._serial)
        directory = self._directory / uid
        directory.mkdir(exist_ok=True)
        ports = [one["containerPort"] for one in pod["spec"]["containers"][0].get("ports", [])]
        container = Container(
            pod,
            ip=f"10.244.{number // 250}.{number % 250 + 1}",
            directory=directory,
            log=self._directory / f"{name}.pod",
            sockets={port: self._sockets / f"{number}-{port}" for port in ports},
        )
        self._start_container(container, pod)
        self._containers[uid] = container

    def _start_container(self, container: Container, pod: Body) -> None:
        files = PodFiles(self._api, pod, self._directory)
        variables = {
            "KUBERNETES_SERVICE_HOST": _API_ADDRESS[0],
            "KUBERNETES_SERVICE_PORT": str(_API_ADDRESS[1]),
            **files.variables(container.spec),
        }
        services = self._list("services")
        own = {str(port) for port in container.sockets}
        routes = [one for one in self._routes(services) if one[0].partition(":")[2] not in own]
        container.start(variables, files.make_volumes(), self._hosts(services, container, pod), routes)

    def _stop(self, uid: str, pod: Body) -> None:
        container = self._containers.get(uid)
        if container is not None and container.status is None:
            if uid not in self._stopping:
                container.ask_to_stop()
                grace = pod["metadata"]["deletionGracePeriodSeconds"]
                self._stopping[uid] = time.monotonic() + grace
            elif time.monotonic() > self._stopping[uid]:
                container.kill()
            return
        self._forget(uid)
        own = {"gracePeriodSeconds": 0, "preconditions": {"uid": uid}}
        self._api.send("DELETE", f"{self._path('pods')}/{pod['metadata']['name']}", own)

    def _forget(self, uid: str) -> None:
        container = self._containers.pop(uid, None)
        if container is not None:
            container.kill()

    def _refresh(self, uid: str, pod: Body) -> None:
        """Bring files of mounted objects in step, from time to time."""
        now = time.monotonic()
        if now - self._refreshed.setdefault(uid, now) > _REFRESH_EVERY_SECONDS:
            self._refreshed[uid] = now
            PodFiles(self._api, pod, self._directory).refresh()

    def _report(self, uid: str, pod: Body, phase: str, state: Body) -> None:
        container = self._containers[uid]
        ready = phase == "Running" and self._is_ready(uid)
        before = {one["type"]: one["status"] for one in pod["status"].get("conditions", [])}
        restarts = container.starts - 1
        reported = next(iter(pod["status"].get("containerStatuses", [])), {"restartCount": 0})
        unchanged = (phase, str(ready), restarts) == (
            pod["status"]["phase"],
            before.get("Ready"),
            reported["restartCount"],
        )
        if unchanged:
            return
        now = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
        told = {"PodScheduled": True, "Initialized": True, "ContainersReady": ready, "Ready": ready}
        status = {
            "phase": phase,
            "podIP": container.ip,
            "podIPs": [{"ip": container.ip}],
            "startTime": pod["status"].get("startTime", now),
            "conditions": [
                {"type": kind, "status": str(holds), "lastTransitionTime": now}
                for kind, holds in told.items()
            ],
            "containerStatuses": [
                {
                    "name": container.spec["name"],
                    "image": container.spec["image"],
                    "imageID": "",
                    "ready": ready,
                    "restartCount": restarts,
                    "state": state,
                }
            ],
        }
        self._api.send("PATCH", f"{self._path('pods')}/{pod['metadata']['name']}/status", {"status": status})

    def _probe(self, pods: Mapping[str, Body]) -> None:
        """Ask those that run whether they are ready, from time to time."""
        for uid, container in self._containers.items():
            asked, _ = self._probed.get(uid, (0.0, False))
            is_going = "deletionTimestamp" in pods[uid]["metadata"] or container.status is not None
            if not is_going and time.monotonic() - asked > _PROBE_EVERY_SECONDS:
                self._probed[uid] = (time.monotonic(), container.answers())

    def _is_ready(self, uid: str) -> bool:
        return self._probed.get(uid, (0.0, False))[1]

    # The network

    def _routes(self, services: list[Body]) -> Iterator[Route]:
        yield f"{_API_ADDRESS[0]}:{_API_ADDRESS[1]}", str(self._sockets / "api")
        for near in self._outside:
            yield near, str(self._outside_socket(near))
        for one in services:
            if one["spec"]["clusterIP"] != "None":
                for port in one["spec"]["ports"]:
                    link = self._service_socket(one["metadata"]["name"], port["port"])
                    yield f"{one['spec']['clusterIP']}:{port['port']}", str(link)
        for container in self._containers.values():
            for number, way_in in container.sockets.items():
                yield f"{container.ip}:{number}", str(way_in)

    def _hosts(self, services: list[Body], container: Container, pod: Body) -> str:
        lines = ["127.0.0.1 localhost", f"{container.ip} {pod['metadata']['name']}"]
        lines.append(f"{_API_ADDRESS[0]} kubernetes.default.svc kubernetes.default.svc.cluster.local")
        for one in services:
            name = f"{one['metadata']['name']}.{self._namespace}"
            address = one["spec"]["clusterIP"]
            found = [address] if address != "None" else [at.ip for at in self._selected(one)]
            lines += [
                f"{ip} {one['metadata']['name']} {name} {name}.svc {name}.svc.cluster.local" for ip in found
            ]
        return "".join(f"{line}\n" for line in lines)

    def _lead_services(self, pods: Mapping[str, Body]) -> None:
        """Let each address of a Service lead to a pod that is ready, if there is one."""
        ready = {uid for uid in pods if self._is_ready(uid) and uid not in self._stopping}
        for one in self._list("services"):
            chosen = [at for at in self._selected(one) if at.pod["metadata"]["uid"] in ready]
            for port in one["spec"]["ports"]:
                link = self._service_socket(one["metadata"]["name"], port["port"])
                target = chosen[0].sockets[chosen[0].port(port["targetPort"])] if chosen else None
                if link.is_symlink() and (target is None or link.readlink() != target):
                    link.unlink()
                if target is not None and not link.is_symlink():
                    link.symlink_to(target)

    def _selected(self, service: Body) -> list[Container]:
        wanted = service["spec"]["selector"].items()
        return [one for one in self._containers.values() if wanted <= one.pod["metadata"]["labels"].items()]

    def _service_socket(self, name: str, port: int) -> Path:
        return self._sockets / f"{name}-{port}"

    def _outside_socket(self, near: str) -> Path:
        return self._sockets / near.replace(":", "-")

    def _list(self, plural: str) -> list[Body]:
        return list(self._api.send("GET", self._path(plural))["items"])

    def _path(self, plural: str) -> str:
        return f"/api/v1/namespaces/{self._namespace}/{plural}"


def _listening(path: Path) -> socket.socket:
    """Return a Unix socket to which one can connect."""
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(str(path))
    listener.listen()
    return listener
