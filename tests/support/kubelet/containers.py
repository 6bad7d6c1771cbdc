"""Containers of pods as processes of this machine, and their sockets; see `sandbox`."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import socket
import ssl
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from tools.chart.rendering import ROOT
from tools.controlplane.process import spawn
from tools.local.kube_api import Body
from tools.local.waiting import PROBE_SECONDS

__all__ = ["Container", "Relay", "Route", "can_contain"]

_SANDBOX = Path(__file__).with_name("sandbox.py")
_PROBES = ("startupProbe", "readinessProbe", "livenessProbe")
# As the Dockerfile has it, with the program of this interpreter's environment.
_IMAGE = {
    "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.defpath}",
    "HOME": "/tmp",  # noqa: S108 - of the container
    "PYTHONDONTWRITEBYTECODE": "1",
    "PYTHONUNBUFFERED": "1",
}
_UNVERIFIED = ssl.create_default_context()
_UNVERIFIED.check_hostname = False
_UNVERIFIED.verify_mode = ssl.CERT_NONE
# Those above come before what lies below them.
_IMAGE_PATHS = sorted({sys.prefix, sys.base_prefix, str(ROOT)}, key=len)

Route = tuple[str, str]
"""Where to listen and where that leads: HOST:PORT, or the path of a Unix socket."""


@dataclass(frozen=True, slots=True)
class Relay:
    """Passes connections on until it is stopped."""

    process: subprocess.Popen[bytes]

    @classmethod
    def start(cls, directory: Path, name: str, ways: Sequence[tuple[socket.socket, str]]) -> Relay:
        """Take over sockets that listen already, and where each leads: who connects at once is served, if later."""
        with contextlib.ExitStack() as stack:
            listening = [(stack.enter_context(near).fileno(), far) for near, far in ways]
            return cls(
                _spawn(directory, name, {"listening": listening}, inherited=[one for one, _ in listening])
            )

    def stop(self) -> None:
        """Its addresses are free."""
        self.process.kill()
        self.process.wait()


@dataclass(slots=True)
class Container:
    """The one container of a pod; started any number of times.

    Args:
        pod: as the API server has it.
        ip: of the pod.
        directory: of the pod alone.
        log: grows with each start.
        sockets: by port of the container.
    """

    pod: Body
    ip: str
    directory: Path
    log: Path
    sockets: Mapping[int, Path]
    starts: int = 0
    _process: subprocess.Popen[bytes] | None = None

    @property
    def spec(self) -> Body:
        """What the pod says of it."""
        containers: list[Body] = self.pod["spec"]["containers"]
        assert len(containers) == 1, "one container in a pod is all that there is here"
        return containers[0]

    def start(
        self, variables: Mapping[str, str], volumes: Mapping[str, Path], hosts: str, routes: Sequence[Route]
    ) -> None:
        """Run its program, with what was read for it."""
        security = self.spec["securityContext"]
        assert security["readOnlyRootFilesystem"] is True, "others aren't made here"
        assert security["capabilities"]["drop"] == ["ALL"], "others aren't made here"
        root = self.directory / "root"
        root.mkdir(exist_ok=True)
        names = self.directory / "hosts"
        names.write_text(hosts)
        mounts: list[Body] = [
            {"target": "/dev/shm", "source": None, "readOnly": False},  # noqa: S108 - of the container
            {"target": "/etc/hosts", "source": str(names), "readOnly": True},
        ]
        for one in self.spec.get("volumeMounts", []):
            assert not one.get("subPath"), "none are made here"
            source = str(volumes[one["name"]])
            mounts.append(
                {"target": one["mountPath"], "source": source, "readOnly": one.get("readOnly", False)}
            )
        if not any(one["target"] == _IMAGE["HOME"] for one in mounts):
            mounts.append({"target": _IMAGE["HOME"], "source": None, "readOnly": True})
        for way_in in self.sockets.values():
            way_in.unlink(missing_ok=True)
        inward = [(str(way_in), f"127.0.0.1:{port}") for port, way_in in self.sockets.items()]
        container = {
            "argv": [*self.spec["command"], *self.spec["args"]],
            "environment": {**_IMAGE, **variables},
            "directory": _IMAGE["HOME"],
            "hostname": self.pod["metadata"]["name"],
            "groups": [self.pod["spec"]["securityContext"].get("fsGroup", os.getegid())],
            "root": str(root),
            "mounts": mounts,
            "image": _IMAGE_PATHS,
        }
        self.starts += 1
        description = {"routes": [*routes, *inward], "container": container}
        self._process = _spawn(self.directory, "container", description, log=self.log)

    @property
    def status(self) -> int | None:
        """How it ended; None while it runs."""
        assert self._process is not None
        return self._process.poll()

    def ask_to_stop(self) -> None:
        """It was sent SIGTERM."""
        assert self._process is not None
        self._process.send_signal(signal.SIGTERM)

    def kill(self) -> None:
        """It has ended."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()

    def answers(self) -> bool:
        """Tell whether each probe that it has is answered well."""
        return all(self._is_answered(self.spec[name]["httpGet"]) for name in _PROBES if name in self.spec)

    def port(self, named: str | int) -> int:
        """Return the number of a port of the container."""
        if isinstance(named, int):
            return named
        ports: list[Body] = self.spec["ports"]
        return next(int(one["containerPort"]) for one in ports if one["name"] == named)

    def _is_answered(self, request: Body) -> bool:
        """Ask once, on a connection of its own; as kubelets do, without a look at the certificate."""
        ask = f"GET {request['path']} HTTP/1.1\r\nHost: {self.ip}\r\nConnection: close\r\n\r\n"
        try:
            with contextlib.ExitStack() as stack:
                stream = stack.enter_context(socket.socket(socket.AF_UNIX))
                stream.settimeout(PROBE_SECONDS)
                stream.connect(str(self.sockets[self.port(request["port"])]))
                if request.get("scheme") == "HTTPS":
                    stream = stack.enter_context(_UNVERIFIED.wrap_socket(stream))
                stream.sendall(ask.encode())
                status = stack.enter_context(stream.makefile("rb")).readline().split()
        except OSError:
            return False
        return len(status) > 1 and status[1].startswith(b"2")


def can_contain(directory: Path) -> bool:
    """Tell whether this machine lets us make containers: Linux 5.12 or newer, and namespaces for us."""
    if sys.platform != "linux":
        return False
    root = directory / "root"
    root.mkdir()
    container = {
        "argv": ["true"],
        "environment": _IMAGE,
        "directory": "/",
        "hostname": "tried",
        "groups": [os.getegid()],
        "root": str(root),
        "mounts": [],
        "image": [],
    }
    return _spawn(directory, "tried", {"routes": [], "container": container}).wait() == 0


def _spawn(
    directory: Path,
    name: str,
    description: Mapping[str, object],
    *,
    log: Path | None = None,
    inherited: Sequence[int] = (),
) -> subprocess.Popen[bytes]:
    file = directory / f"{name}.json"
    file.touch(mode=0o600)
    file.write_text(json.dumps(description))
    command: list[str | Path] = [sys.executable, "-I", "-S", _SANDBOX, file]
    with (log or directory / f"{name}.log").open("ab") as output:
        return spawn(command, output=output, environment={}, inherited=inherited)
