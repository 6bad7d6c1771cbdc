"""The local control plane behaves like a cluster, and leaves nothing behind."""

from __future__ import annotations

import json
import os
import secrets
import signal
import socket
import stat
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

import psutil
import pytest

from tools.controlplane import ports, servers
from tools.controlplane.commands import ApiServerOptions
from tools.controlplane.controlplane import ControlPlane
from tools.controlplane.errors import ControlPlaneError, KubectlError, ProcessExitedError
from tools.controlplane.ports import free_port
from tools.controlplane.scratch import ScratchDirectory
from tools.local.waiting import PATIENCE_SECONDS, eventually

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

pytestmark = [pytest.mark.deep, pytest.mark.integration]

_SERVERS = {"etcd", "kube-apiserver", "kube-controller-manager"}
_ROOT = Path(__file__).parents[2]


@pytest.fixture
def namespace(control_plane: ControlPlane) -> Iterator[str]:
    """A namespace of the test's own; it goes in the background."""
    name = f"controlplane-{secrets.token_hex(4)}"
    control_plane.kubectl("create", "namespace", name)
    yield name
    control_plane.kubectl("delete", "namespace", name, "--wait=false", "--ignore-not-found")


def test_a_started_control_plane_answers_with_the_pinned_version(control_plane: ControlPlane) -> None:
    version = json.loads(control_plane.kubectl("version", "--output=json"))
    assert control_plane.kubectl("get", "--raw", "/readyz") == "ok"
    assert version["serverVersion"]["gitVersion"] == version["clientVersion"]["gitVersion"]
    assert control_plane.server_url.startswith("https://127.0.0.1:")
    assert control_plane.ca_pem.startswith(b"-----BEGIN CERTIFICATE-----")


def test_pod_certificate_requests_and_trust_bundles_are_served(control_plane: ControlPlane) -> None:
    listed = control_plane.kubectl("api-resources", "--api-group=certificates.k8s.io", "--output=name")
    assert {"clustertrustbundles.certificates.k8s.io", "podcertificaterequests.certificates.k8s.io"} <= set(
        listed.split()
    )


def test_kubeconfig_files_are_readable_by_their_owner_only(
    control_plane: ControlPlane, namespace: str
) -> None:
    control_plane.kubectl("create", "serviceaccount", "reader", f"--namespace={namespace}")
    for path in (
        control_plane.admin_kubeconfig,
        control_plane.service_account_kubeconfig(namespace, "reader"),
    ):
        assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_a_fresh_service_account_is_forbidden_until_a_role_lets_it(
    control_plane: ControlPlane, namespace: str
) -> None:
    control_plane.kubectl("create", "serviceaccount", "reader", f"--namespace={namespace}")
    reader = control_plane.service_account_kubeconfig(namespace, "reader", hours=1)
    with pytest.raises(KubectlError) as refused:
        control_plane.kubectl("get", "secrets", kubeconfig=reader)
    assert (
        f'User "system:serviceaccount:{namespace}:reader" cannot list resource "secrets"'
        in refused.value.stderr
    )

    control_plane.kubectl(
        "create", "role", "reader", "--verb=list", "--resource=secrets", f"--namespace={namespace}"
    )
    control_plane.kubectl(
        *("create", "rolebinding", "reader", "--role=reader", f"--namespace={namespace}"),
        f"--serviceaccount={namespace}:reader",
    )
    # The API server authorizes from a cache that learns of a new binding a moment later.
    _wait_until(lambda: _may_list_secrets(control_plane, reader))


def test_deleting_a_namespace_finishes_and_takes_its_content(control_plane: ControlPlane) -> None:
    control_plane.kubectl("create", "namespace", "short-lived")
    control_plane.kubectl("create", "configmap", "inside", "--namespace=short-lived")
    control_plane.kubectl("delete", "namespace", "short-lived", f"--timeout={PATIENCE_SECONDS:g}s")
    with pytest.raises(KubectlError, match="NotFound"):
        control_plane.kubectl("get", "namespace", "short-lived")


def test_an_object_goes_with_its_owner(control_plane: ControlPlane, namespace: str) -> None:
    control_plane.kubectl("create", "configmap", "owner", f"--namespace={namespace}")
    uid = control_plane.kubectl(
        "get", "configmap", "owner", f"--namespace={namespace}", "--output=jsonpath={.metadata.uid}"
    )
    owner = {"apiVersion": "v1", "kind": "ConfigMap", "name": "owner", "uid": uid}
    metadata = {"name": "owned", "namespace": namespace, "ownerReferences": [owner]}
    control_plane.kubectl(
        "apply",
        "--filename=-",
        input=json.dumps({"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata}),
    )
    control_plane.kubectl("delete", "configmap", "owner", f"--namespace={namespace}")
    control_plane.kubectl(
        "wait",
        "--for=delete",
        "configmap/owned",
        f"--namespace={namespace}",
        f"--timeout={PATIENCE_SECONDS:g}s",
    )


def test_two_control_planes_start_at_once_and_share_nothing() -> None:
    with ControlPlane() as kept, ThreadPoolExecutor() as threads:
        both = [ControlPlane(), ControlPlane()]
        try:
            for started in [threads.submit(cluster.start) for cluster in both]:
                started.result()
            both[0].kubectl("create", "namespace", "only-here")
            assert len({cluster.server_url for cluster in (kept, *both)}) == 3
            for other in (kept, both[1]):
                assert "only-here" not in other.kubectl("get", "namespaces")
        finally:
            for cluster in both:
                cluster.stop()


def test_servers_outlive_the_thread_that_started_them() -> None:
    cluster = ControlPlane()
    with ThreadPoolExecutor(max_workers=1) as threads:
        threads.submit(cluster.start).result()
    try:
        cluster.check()
        assert cluster.kubectl("get", "--raw", "/readyz") == "ok"
    finally:
        cluster.stop()


def test_the_api_server_comes_back_on_its_port_with_its_data() -> None:
    with ControlPlane() as cluster:
        url, first_pid = cluster.server_url, cluster.api_server_pid
        cluster.kubectl("create", "namespace", "kept")
        for take_down in (cluster.kill_api_server, cluster.stop_api_server):
            take_down()
            with pytest.raises(KubectlError, match="was refused"):
                cluster.kubectl("get", "namespaces")
            with pytest.raises(ControlPlaneError, match="is not running"):
                _ = cluster.api_server_pid
            cluster.start_api_server()
            assert "kept" in cluster.kubectl("get", "namespaces")
        assert cluster.server_url == url
        assert cluster.api_server_pid != first_pid


def test_a_port_that_another_program_took_first_is_replaced(monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        ports = iter([other.getsockname()[1], free_port()])
        monkeypatch.setattr(servers, "free_port", lambda: next(ports))
        with ControlPlane() as cluster:
            assert "address already in use" in cluster.log_tail("kube-apiserver", lines=10**6)
            assert cluster.kubectl("get", "--raw", "/readyz") == "ok"


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere two may be given the same one")
def test_a_port_that_was_given_away_is_given_to_nobody_else(monkeypatch: pytest.MonkeyPatch) -> None:
    first = free_port()
    second = free_port()
    # Nobody listens on the first two; their servers may be about to.
    choices = iter([first - ports._LOWEST, second - ports._LOWEST])
    monkeypatch.setattr(secrets, "randbelow", lambda below: next(choices, below // 2))
    assert free_port() not in {first, second}


def test_a_restart_waits_for_a_program_that_borrowed_the_port() -> None:
    with ControlPlane() as cluster, ThreadPoolExecutor() as threads:
        cluster.stop_api_server()
        port = int(cluster.server_url.rpartition(":")[2])
        with socket.create_server(("127.0.0.1", port)):
            restart = threads.submit(cluster.start_api_server)
            _wait_until(lambda: "address already in use" in cluster.log_tail("kube-apiserver"))
        restart.result()
        assert cluster.kubectl("get", "--raw", "/readyz") == "ok"


def test_stop_ends_every_process_and_removes_every_file() -> None:
    with _no_new_children():
        cluster = ControlPlane()
        cluster.start()
        files = cluster.admin_kubeconfig.parent
        assert _server_names(psutil.Process()) >= _SERVERS
        cluster.stop()
        cluster.stop()
    assert not files.exists()


def test_an_exception_in_the_block_leaves_no_process_and_only_the_logs_asked_for(tmp_path: Path) -> None:
    def fail(cluster: ControlPlane) -> None:
        assert _server_names(psutil.Process()) >= _SERVERS
        raise LookupError(cluster.server_url)

    with _no_new_children(), pytest.raises(LookupError), ControlPlane(log_directory=tmp_path) as cluster:
        fail(cluster)
    assert {path.stem for path in tmp_path.iterdir()} == _SERVERS


def test_a_server_that_ends_early_is_reported_with_its_log() -> None:
    cluster = ControlPlane(ApiServerOptions(extra_flags=["--no-such-flag"]))
    with _no_new_children(), pytest.raises(ProcessExitedError, match="unknown flag: --no-such-flag"):
        cluster.start()
    with pytest.raises(ControlPlaneError, match="not started"):
        _ = cluster.server_url


@pytest.mark.parametrize("stopped_by", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
def test_nothing_outlives_a_parent_that_is_stopped_by(stopped_by: signal.Signals, tmp_path: Path) -> None:
    with (tmp_path / "stderr").open("wb") as errors:
        parent = subprocess.Popen(
            [sys.executable, "-m", "tools.controlplane", "run"],
            stdout=subprocess.PIPE,
            stderr=errors,
            cwd=_ROOT,
        )
    with parent:
        assert parent.stdout is not None
        ready = json.loads(parent.stdout.readline())
        children = psutil.Process(parent.pid).children(recursive=True)
        assert _server_names(psutil.Process(parent.pid)) == _SERVERS

        parent.send_signal(stopped_by)
        assert parent.wait(PATIENCE_SECONDS) == (-signal.SIGKILL if stopped_by is signal.SIGKILL else 0)

        survivors = _still_running(children)
        for survivor in survivors:
            survivor.kill()
        assert not survivors
        if stopped_by is not signal.SIGKILL:
            assert not Path(ready["kubeconfig"]).parent.exists()
        assert (tmp_path / "stderr").read_text() == ""


def test_directories_of_killed_runs_are_removed_by_the_next(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    living = ScratchDirectory()
    abandoned = tmp_path / "keybearer-controlplane-abandoned"
    abandoned.mkdir()
    unlocked_yet = tmp_path / "keybearer-controlplane-young"
    unlocked_yet.mkdir()
    long_ago = time.time() - 3600
    for old in (living.path, abandoned):
        os.utime(old, (long_ago, long_ago))

    ScratchDirectory().close()

    assert set(tmp_path.iterdir()) == {living.path, unlocked_yet}
    living.close()


def _may_list_secrets(control_plane: ControlPlane, kubeconfig: Path) -> bool:
    try:
        control_plane.kubectl("get", "secrets", kubeconfig=kubeconfig)
    except KubectlError:
        return False
    return True


def _wait_until(condition: Callable[[], bool]) -> None:
    eventually(condition, awaited="what the test waits for")


@contextmanager
def _no_new_children() -> Iterator[None]:
    before = set(psutil.Process().children())
    yield
    # Other children, such as an operator that other tests share, may start what they need at any time.
    started = set(psutil.Process().children()) - before
    assert not _still_running(started | {one for child in started for one in _descendants(child)})


def _descendants(parent: psutil.Process) -> list[psutil.Process]:
    with suppress(psutil.NoSuchProcess):
        return parent.children(recursive=True)
    return []


def _server_names(parent: psutil.Process) -> set[str]:
    return {name for child in _descendants(parent) if (name := _name_of(child))}


def _name_of(process: psutil.Process) -> str:
    """The name of its program; empty where it has just ended."""
    with suppress(psutil.NoSuchProcess):
        return Path(process.exe()).name
    return ""


def _still_running(processes: set[psutil.Process] | list[psutil.Process]) -> list[psutil.Process]:
    """Those that neither ended nor are zombies, which an init process of a container may never reap."""
    _, alive = psutil.wait_procs(list(processes), timeout=PATIENCE_SECONDS, callback=None)
    return [process for process in alive if process.status() != psutil.STATUS_ZOMBIE]
