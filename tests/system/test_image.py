"""The container image: what is in it, and that both programs run from it as a cluster runs them."""

from __future__ import annotations

import json
import os
import re
import shlex
import ssl
import stat
import subprocess
import sys
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path

import httpx
import pytest
import yaml
from cyclonedx.schema import SchemaVersion

from keybearer.client import Keybearer, UniversalAuth
from support.built_image import BuiltImage, unpacked_image
from support.canary import Canary
from support.image_pods import arguments_of, mount_secrets, secret_of
from support.releases import RELEASE_SECONDS, Release
from support.secretsync_objects import decoded, namespace, secret_sync
from tools.chart.rendering import ROOT, Manifest, only, render
from tools.controlplane.controlplane import ControlPlane
from tools.controlplane.ports import free_port
from tools.local.kube_api import KubeApi
from tools.local.operator_cluster import install_operator
from tools.local.waiting import PATIENCE, PATIENCE_SECONDS, PROBE_SECONDS, eventually

# The first one waits for a base and for the release.
pytestmark = [pytest.mark.system, pytest.mark.timeout(RELEASE_SECONDS)]

_SIZE_MAX_MIB = 230
_BILL = "usr/local/share/sbom/keybearer.cdx.json"
_CONFIG = "/etc/keybearer"
_TENANT = "team-a"
_PRIVATE_KEY = re.compile(rb"-----BEGIN [A-Z ]*PRIVATE KEY-----\s+[A-Za-z0-9+/=]{16}")
# What tells whoever looks for it that nothing is missing: all modules of ours, and all distributions.
_LOAD_EVERYTHING = """
import importlib, importlib.metadata, json, pkgutil, keybearer
for module in pkgutil.walk_packages(keybearer.__path__, "keybearer."):
    if not module.name.endswith((".__main__", ".migrations.env")):
        importlib.import_module(module.name)
import asyncpg, uvloop, httptools
print(json.dumps({one.name: one.version for one in importlib.metadata.distributions()}))
"""
_WRITE = """
import errno, json, os
found = {}
for place in ("/", "/opt/keybearer", "/tmp", "/var/lib/keybearer"):
    try:
        open(os.path.join(place, "file"), "w").close()
        found[place] = "written"
    except OSError as error:
        found[place] = errno.errorcode[error.errno]
print(json.dumps(found))
"""


@pytest.fixture(scope="module")
def image(released: Release) -> Iterator[BuiltImage]:
    """Yield the image of the release that all tests of releases share."""
    with unpacked_image(released.image, released.bill_of_image) as unpacked:
        yield unpacked


@pytest.fixture(scope="module")
def files(image: BuiltImage) -> list[Path]:
    """Return everything that is in the image, directories and links included."""
    return sorted(image.root.rglob("*"))


def test_service_and_operator_run_from_it_with_what_the_chart_gives_them(
    image: BuiltImage, tmp_path: Path, canary: Canary
) -> None:
    manifests = render()
    service, operator = only(manifests, "StatefulSet"), only(manifests, "Deployment", "-operator")
    config = [tmp_path / "service", tmp_path / "operator"]
    for workload, folder in zip((service, operator), config, strict=True):
        folder.mkdir()
        mount_secrets(workload, manifests, _CONFIG, folder, image.user)
    volume = tmp_path / "data"
    volume.mkdir(mode=0o700)
    os.chown(volume, image.user, image.user)
    tmp_path.chmod(0o755)
    with ControlPlane() as plane, KubeApi(plane.admin_kubeconfig) as api:
        rights = install_operator(plane, api).kubeconfig
        kubeconfig = config[1] / "kubeconfig"
        kubeconfig.write_bytes(rights.read_bytes())
        os.chown(kubeconfig, 0, image.user)
        kubeconfig.chmod(0o440)
        port, probes = free_port(), free_port()
        serving = image.process(
            "service",
            arguments_of(
                service,
                {"--listen": f"127.0.0.1:{port}", "--probe-listen": f"127.0.0.1:{free_port()}"},
            ),
            tmp_path / "service.log",
            [(config[0], _CONFIG, False), (volume, "/var/lib/keybearer", True)],
        )
        operating = image.process(
            "operator",
            arguments_of(
                operator,
                {"--service-url": f"https://127.0.0.1:{port}", "--metrics-listen": f"127.0.0.1:{probes}"},
            ),
            tmp_path / "operator.log",
            [(config[1], _CONFIG, False)],
            {"KUBECONFIG": f"{_CONFIG}/kubeconfig"},
        )
        trusted = config[0] / "ca.crt"
        trusted.write_bytes(secret_of(manifests, "keybearer-service-tls")["ca.crt"])
        trust = ssl.create_default_context(cafile=trusted)
        try:
            serving.start()
            serving.wait_until(
                lambda: _answer(f"https://127.0.0.1:{port}/api/status", trust) == 200,
                awaited="answer under the chart's certificate",
                within=PATIENCE,
            )
            operating.start()
            operating.wait_until(
                lambda: _answer(f"http://127.0.0.1:{probes}/readyz", trust) == 200,
                awaited="become ready",
                within=PATIENCE,
            )
            for process in (serving, operating):
                assert _privileges(process.pid) == (str(image.user), "1", "0" * 16)

            prepared = _prepared(f"https://127.0.0.1:{port}", trusted, manifests)
            api.create(namespace(_TENANT))
            plane.kubectl("apply", f"--namespace={_TENANT}", "--filename=-", input=prepared)
            # Templates are rendered by a process of their own, which the operator starts from the image.
            api.create(secret_sync(_TENANT, "web", _SYNC))
            arrived = eventually(
                lambda: api.find("Secret", _TENANT, "web"), awaited="the Secret", told=operating.log_tail
            )
            assert decoded(arrived) == {"url": "postgresql://web@db.example.com"}
        finally:
            operating.terminate(grace=PATIENCE)
            serving.terminate(grace=PATIENCE)
    assert '"operator_stopped"' in operating.log_since_start()
    assert "keybearer.db" in {path.name for path in (volume / "data").iterdir()}
    for name in ("service", "operator"):
        canary.watch(f"log of {name}", (tmp_path / f"{name}.log").read_text)


def test_backup_and_restore_run_from_it_as_the_page_on_operations_says(
    image: BuiltImage, tmp_path: Path, canary: Canary
) -> None:
    backup, restore, mounted_at = _commands_of_operations()
    volume, saved = tmp_path / "volume", tmp_path / "backup.db"
    volume.mkdir(mode=0o700)
    os.chown(volume, image.user, image.user)
    tmp_path.chmod(0o755)
    mounts = [(volume, mounted_at, True)]
    port = free_port()
    serving = image.process(
        "service",
        ["serve", "--data-dir", f"{mounted_at}/data", "--listen", f"127.0.0.1:{port}"],
        tmp_path / "service.log",
        mounts,
    )
    canary.watch("log of the service", (tmp_path / "service.log").read_text)

    def run(command: list[str], given: Path | None = None, printed: Path | None = None) -> tuple[int, str]:
        with (given or Path(os.devnull)).open("rb") as stdin, (printed or Path(os.devnull)).open("wb") as out:
            done = subprocess.run(
                image.command(command[1:], mounts, entrypoint=command[:1]),
                stdin=stdin,
                stdout=out,
                stderr=subprocess.PIPE,
                text=True,
                timeout=PATIENCE_SECONDS,
                check=False,
            )
        return done.returncode, done.stderr

    def start() -> None:
        serving.start()
        serving.wait_until(
            lambda: _answer(f"http://127.0.0.1:{port}/api/status", ssl.create_default_context()) == 200,
            awaited="answer",
            within=PATIENCE,
        )

    try:
        start()
        admin = json.loads((volume / "data" / "admin.json").read_text())
        login = UniversalAuth(admin["clientId"], admin["clientSecret"])
        with Keybearer(f"http://127.0.0.1:{port}", login) as client:
            project = client.projects.create("my-shop", slug="my-shop").id
            client.secrets.create("BEFORE", "cnry-before", project_id=project, environment="dev")
            status, told = run(backup, printed=saved)
            assert (status, f"Backed up {saved.stat().st_size} bytes" in told) == (0, True), told
            client.secrets.create("AFTER", "cnry-after", project_id=project, environment="dev")
        status, told = run(restore, given=saved)
        assert (status, "is in use by another keybearer serve" in told) == (2, True), told
        serving.terminate(grace=PATIENCE)
        status, told = run(restore, given=saved)
        assert (status, f"Restored {saved.stat().st_size} bytes" in told) == (0, True), told
        start()
        with Keybearer(f"http://127.0.0.1:{port}", login) as client:
            found = client.secrets.list(project_id=project, environment="dev")
        assert {one.secret_key: one.secret_value for one in found} == {"BEFORE": "cnry-before"}
    finally:
        serving.terminate(grace=PATIENCE)
    assert {path.name for path in (volume / "data").iterdir()} == {
        *("admin.json", "keybearer.db", "lock", "root.key"),
    }


def _commands_of_operations() -> tuple[list[str], list[str], str]:
    """What the page has run in the service's pod, and in the one for restoring, and where that mounts the volume."""
    page = (ROOT / "docs" / "operations.md").read_text()
    (backup,) = re.findall(r"kubectl .* exec keybearer-service-0 -- (keybearer backup .*) > backup\.db", page)
    (manifest,) = re.findall(r"^### A pod for restoring\n+```yaml\n(.*?)^```", page, re.DOTALL | re.MULTILINE)
    (container,) = yaml.safe_load(manifest)["spec"]["containers"]
    assert (container["stdin"], container["stdinOnce"]) == (True, True)
    (mount,) = container["volumeMounts"]
    return shlex.split(backup), [*container["command"], *container["args"]], mount["mountPath"]


_SYNC: Mapping[str, object] = {
    "identityRef": {"name": "keybearer-identity"},
    "source": {"projectSlug": "keybearer-demo", "environment": "dev"},
    "target": {"template": {"data": {"url": "postgresql://{{ DB_USER }}@{{ DB_HOST }}"}}},
}


def _prepared(url: str, trusted: Path, manifests: list[Manifest]) -> str:
    """What the quick start prints: identities of a project that is filled by then."""
    admin = only(manifests, "Secret", "-service-admin")
    done = subprocess.run(
        [
            sys.executable,
            ROOT / "examples" / "quickstart" / "prepare.py",
            f"--url={url}",
            f"--ca-file={trusted}",
        ],
        input=json.dumps(admin.body),
        capture_output=True,
        text=True,
        timeout=PATIENCE_SECONDS,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def _answer(url: str, trust: ssl.SSLContext) -> int | None:
    try:
        return httpx.get(url, verify=trust, timeout=PROBE_SECONDS, trust_env=False).status_code
    except httpx.TransportError:
        return None


def _privileges(pid: int) -> tuple[str, ...]:
    """Whom the process runs as, whether it can gain rights, and those that it has."""
    lines = (line.partition(":") for line in Path(f"/proc/{pid}/status").read_text().splitlines())
    said = {name: value.split() for name, _, value in lines}
    return said["Uid"][1], said["NoNewPrivs"][0], said["CapEff"][0]


def test_its_entrypoint_is_the_command_line(image: BuiltImage) -> None:
    version = re.search(r'^version = "(.*)"', (ROOT / "pyproject.toml").read_text(), re.MULTILINE)
    assert version is not None
    assert image.run("--version").strip() == version[1]
    assert "operator" in image.run("--help")
    for program in ("serve", "operator"):
        assert "--log-format" in image.run(program, "--help")
    assert image.config["Cmd"] == ["--help"]


def test_everything_of_ours_can_be_loaded_from_it(image: BuiltImage) -> None:
    assert "asyncpg" in json.loads(image.run("-c", _LOAD_EVERYTHING, entrypoint=["python"]))


def test_only_its_tmp_can_be_written(image: BuiltImage) -> None:
    assert json.loads(image.run("-c", _WRITE, entrypoint=["python"])) == {
        "/": "EROFS",
        "/opt/keybearer": "EROFS",
        "/tmp": "written",  # noqa: S108 - the image's own
        "/var/lib/keybearer": "EROFS",
    }


def test_it_says_what_it_is(image: BuiltImage, released: Release) -> None:
    labels = image.config["Labels"]
    assert isinstance(labels, dict)
    said = {name.removeprefix("org.opencontainers.image."): text for name, text in labels.items()}
    assert (said["title"], said["licenses"]) == ("keybearer", "Apache-2.0")
    assert said["version"] == released.version == image.run("--version").strip()
    assert said["revision"] == released.commit.name
    assert said["created"] == datetime.fromtimestamp(released.commit.seconds, UTC).strftime(
        "%Y-%m-%dT%H:%M:%SZ"
    )
    assert image.config["User"] == "65532:65532"


def test_nothing_but_python_can_be_started_in_it(image: BuiltImage, files: list[Path]) -> None:
    programs = {
        str(path.relative_to(image.root))
        for path in files
        if path.is_file()
        and not path.is_symlink()
        and path.stat().st_mode & stat.S_IXUSR
        and ".so" not in path.suffixes
        and path.suffix != ".py"
        and path.read_bytes().startswith((b"\x7fELF", b"#!"))  # wheels carry texts that are marked as well
    }
    minor = re.search(r"python3\.\d+", " ".join(programs))
    assert minor is not None, programs
    loader = {name for name in programs if re.search(r"/ld-linux[^/]*$", name)}
    commands = {name for name in programs if re.fullmatch("opt/keybearer/bin/(.*-)?keybearer", name)}
    assert commands
    assert programs - loader - commands == {f"usr/bin/{minor[0]}"}


def test_nothing_can_be_installed_in_it(files: list[Path]) -> None:
    modules = {
        path.name
        for path in files
        if path.parent.match("*/site-packages") or path.parent.match("*/python3.*")
    }
    assert "keybearer" in modules
    assert not [name for name in modules if re.match(r"(pip|setuptools|wheel|ensurepip|distutils)\b", name)]


def test_its_files_are_roots_and_nobody_may_change_them(image: BuiltImage, files: list[Path]) -> None:
    owned = {str(path.relative_to(image.root)) for path in files if path.lstat().st_uid != 0}
    assert owned == {"var/lib/keybearer"}
    marked = [path for path in files if path.lstat().st_mode & (stat.S_ISUID | stat.S_ISGID)]
    assert marked == []
    writable = {
        str(path.relative_to(image.root))
        for path in files
        if not path.is_symlink() and path.stat().st_mode & (stat.S_IWGRP | stat.S_IWOTH)
    }
    assert writable == {"tmp"}


def test_no_secret_and_no_setting_of_the_build_is_in_it(
    image: BuiltImage, files: list[Path], base_of_images: Path
) -> None:
    keys = [path for path in files if path.is_file() and _PRIVATE_KEY.search(path.read_bytes())]
    assert keys == []
    assert [path for path in files if "pip.conf" in path.name or path.match("*/run/secrets/*")] == []
    # The authorities are those of the base, not those that the build was told to trust.
    bundle = "etc/ssl/certs/ca-certificates.crt"
    of_base = subprocess.run(
        ["tar", "--extract", "--to-stdout", f"--file={base_of_images}", f"./{bundle}"],
        capture_output=True,
        timeout=PATIENCE_SECONDS,
        check=True,
    ).stdout
    assert (image.root / bundle).read_bytes() == of_base
    assert {name for name in image.environment if name.startswith(("PIP", "HTTP", "http"))} == set()


def test_its_bill_of_materials_names_all_that_is_in_it(image: BuiltImage) -> None:
    from cyclonedx.validation.json import JsonStrictValidator  # noqa: PLC0415 - it takes seconds to load

    written = image.bill.read_text()
    assert written == (image.root / _BILL).read_text()
    assert JsonStrictValidator(SchemaVersion.V1_6).validate_str(written) is None
    bill = json.loads(written)
    root = bill["metadata"]["component"]
    installed = json.loads(image.run("-c", _LOAD_EVERYTHING, entrypoint=["python"]))
    kinds: dict[str, dict[str, str]] = {}
    for component in bill["components"]:
        kind = re.match(r"pkg:([a-z]+)/", component["purl"])
        assert kind is not None, component
        kinds.setdefault(kind[1], {})[component["name"]] = component["version"]
    assert kinds["pypi"] | {root["name"]: root["version"]} == installed
    records = image.root / "var/lib/dpkg/status.d"
    assert kinds["deb"] == {
        record.name: re.findall(r"^Version: (.*)$", record.read_text(), re.MULTILINE)[0]
        for record in records.iterdir()
    }
    assert {"libc6", "libssl3", "ca-certificates"} <= kinds["deb"].keys()
    # For lawyers, too.
    for name in kinds["deb"]:
        assert (image.root / "usr/share/doc" / name / "copyright").is_file()


def test_it_is_small(image: BuiltImage, files: list[Path]) -> None:
    size = sum(path.stat().st_size for path in files if path.is_file() and not path.is_symlink()) / 2**20
    assert size < _SIZE_MAX_MIB, f"{size:.0f} MiB in {image.root}"
