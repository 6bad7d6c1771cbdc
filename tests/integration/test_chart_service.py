"""`keybearer serve`, started as the chart starts it: the same arguments, and files with the same modes."""

from __future__ import annotations

import base64
import json
import os
import secrets
import ssl
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import httpx
import pytest

from support.canary import Canary
from support.chart_values import ROWS
from support.service_fixtures import start_service
from tools.chart.rendering import ROOT, Json, Manifest, only, pods_of, render
from tools.controlplane.ports import free_port
from tools.local.marks import MARK
from tools.local.postgres import PostgresServer
from tools.local.waiting import PATIENCE_SECONDS

pytestmark = [pytest.mark.deep, pytest.mark.integration]

_OTHER_USER = 65532
_CONTAINER = ("spec", "template", "spec", "containers", 0)
_GIVEN_BY_THE_TEST = {"serve", "--data-dir", "--listen", "--probe-listen"}


@dataclass(frozen=True, slots=True)
class _Installed:
    """The service in a pod's stead: its URL, its volume, its CA, and the administrator that was chosen."""

    url: str
    volume: Path
    ca_file: Path
    admin: Mapping[str, str]


@pytest.fixture
def installed(tmp_path: Path, canary: Canary) -> Iterator[_Installed]:
    statefulset = only(render(), "StatefulSet")
    admin = {"clientId": secrets.token_hex(16), "clientSecret": f"{MARK}{secrets.token_hex(32)}"}
    _mount_secrets(tmp_path, {"admin": admin})
    volume = tmp_path / "data"
    volume.mkdir()
    service = start_service(volume / "data", *_arguments(statefulset, tmp_path), scheme="https", anew=True)
    yield _Installed(service.url, volume, tmp_path / "tls" / "ca.crt", admin)
    service.stop()
    canary.watch("log of keybearer serve", service.log.read_text)


def test_the_service_answers_under_the_certificate_of_the_chart(installed: _Installed) -> None:
    trust = ssl.create_default_context(cafile=installed.ca_file)
    answer = httpx.get(f"{installed.url}/api/status", verify=trust, timeout=PATIENCE_SECONDS)
    assert answer.json()["message"] == "Ok"


def test_helm_test_trusts_the_service_under_the_ca_of_the_chart_alone(installed: _Installed) -> None:
    _, script, *_ = only(pods_of(render()), "Pod", "-test").texts("spec", "containers", 0, "args")
    nobody = f"http://127.0.0.1:{free_port()}"
    trusting = _run(script, installed.url, nobody, str(installed.ca_file))
    assert trusting.stderr.startswith(f"the operator at {nobody} doesn't answer"), "the service did"
    distrustful = _run(script, installed.url, nobody)
    assert "CERTIFICATE_VERIFY_FAILED" in distrustful.stderr
    assert trusting.returncode == distrustful.returncode == 1


def _run(script: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run a script as the chart's pod does."""
    command = [sys.executable, "-c", script, *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE_SECONDS, check=False)


def test_no_credential_of_the_administrator_is_on_the_volume(installed: _Installed) -> None:
    files = {path.name: path.read_bytes() for path in installed.volume.rglob("*") if path.is_file()}
    assert "keybearer.db" in files
    assert "admin.json" not in files
    assert "root.key" not in files
    # Its first four characters are kept in clear; whatever byte may follow them is not one of the secret.
    told = installed.admin["clientSecret"][: len(MARK) + 3].encode()
    assert not [name for name, content in files.items() if told in content]


def test_the_quick_start_fills_a_project_and_prints_an_identity_however_often_it_runs(
    installed: _Installed,
) -> None:
    first, second = _prepare(installed), _prepare(installed)
    for manifest in (first, second):
        assert manifest.name == "keybearer-identity"
        assert manifest.mapping("stringData").keys() == {"clientId", "clientSecret"}
    clients = {one.text("stringData", "clientId") for one in (first, second)}
    assert len(clients - {installed.admin["clientId"]}) == 2


def test_two_replicas_serve_one_postgresql(postgres: PostgresServer, tmp_path: Path, canary: Canary) -> None:
    deployment = only(render(ROWS["three services on PostgreSQL"]), "Deployment", "-service")
    name = postgres.create(empty=True)
    admin = {"clientId": secrets.token_hex(16), "clientSecret": f"{MARK}{secrets.token_hex(32)}"}
    _mount_secrets(tmp_path, {"admin": admin, "database": {"url": postgres.url(name)}})
    arguments = list(_arguments(deployment, tmp_path))
    folders = [tmp_path / f"data-{number}" for number in range(2)]
    running = [start_service(folder / "data", *arguments, scheme="https", anew=True) for folder in folders]
    try:
        trust = ssl.create_default_context(cafile=tmp_path / "tls" / "ca.crt")
        with httpx.Client(verify=trust, timeout=PATIENCE_SECONDS, trust_env=False) as client:
            login = client.post(f"{running[0].url}/api/v1/auth/universal-auth/login", json=admin)
            headers = {"authorization": f"Bearer {login.json()['accessToken']}"}
            project = {"projectName": "p", "slug": "made-by-the-first"}
            assert client.post(f"{running[0].url}/api/v1/projects", json=project, headers=headers).is_success
            found = client.get(f"{running[1].url}/api/v1/projects/slug/made-by-the-first", headers=headers)
        assert found.json()["name"] == "p"
        assert [file.name for folder in folders for file in (folder / "data").iterdir()] == ["lock", "lock"]
    finally:
        for service in running:
            service.stop()
            canary.watch("log of keybearer serve", service.log.read_text)
        postgres.drop(name)


def _prepare(installed: _Installed) -> Manifest:
    """What the quick start prints when it is given the administrator's Secret as kubectl prints it."""
    data = {name: base64.b64encode(text.encode()).decode() for name, text in installed.admin.items()}
    program = ROOT / "examples" / "quickstart" / "prepare.py"
    done = subprocess.run(
        [sys.executable, program, f"--url={installed.url}", f"--ca-file={installed.ca_file}"],
        input=json.dumps({"kind": "Secret", "data": data}),
        capture_output=True,
        text=True,
        timeout=PATIENCE_SECONDS,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    items = json.loads(done.stdout)["items"]
    return next(one for one in map(Manifest, items) if one.name == "keybearer-identity")


def _arguments(workload: Manifest, folder: Path) -> Iterator[str]:
    """The arguments after those that the test gives itself, with the folders of the mounts in place."""
    mounts = {
        str(mount["mountPath"]): str(folder / str(mount["name"]))
        for mount in workload.mappings(*_CONTAINER, "volumeMounts")
    }
    arguments = iter(workload.texts(*_CONTAINER, "args"))
    for argument in arguments:
        if argument in _GIVEN_BY_THE_TEST:
            if argument.startswith("--"):
                next(arguments)
            continue
        mount = next((one for one in mounts if argument == one or argument.startswith(f"{one}/")), "")
        yield mounts[mount] + argument.removeprefix(mount) if mount else argument


def _mount_secrets(folder: Path, chosen: Mapping[str, Mapping[str, str]]) -> None:
    """Put the keys of the Secrets into files, as the kubelet does."""
    manifests = render()
    contents: dict[str, Mapping[str, Json]] = {
        "root-key": only(manifests, "Secret", "-root-key").mapping("data"),
        "tls": only(manifests, "Secret", "-tls").mapping("data"),
        **{
            volume: {name: base64.b64encode(text.encode()).decode() for name, text in files.items()}
            for volume, files in chosen.items()
        },
    }
    for name, files in contents.items():
        (folder / name).mkdir()
        for key, value in files.items():
            file = folder / name / key
            file.write_bytes(base64.b64decode(str(value)))
            # In a pod they are another user's, and readable for the pod's group. Only root can make it so here.
            if os.geteuid() == 0:
                os.chown(file, _OTHER_USER, _OTHER_USER)
                file.chmod(0o440)
            else:
                file.chmod(0o400)
