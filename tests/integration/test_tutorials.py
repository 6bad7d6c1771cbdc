"""The tutorials, as they are pasted into a shell, with a service and an operator on this machine.

`NEEDS_MORE` are the commands that need pods, an Ingress controller or a release; `tests/system/node` installs those.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest
import yaml

from support.pasted import Shell, blocks, yaml_with
from support.service_fixtures import ServiceProcess, start_service
from tools.chart.rendering import ROOT
from tools.controlplane.controlplane import ControlPlane
from tools.local.moto import Moto
from tools.local.operator_cluster import install_crds
from tools.local.operator_process import OperatorProcess

pytestmark = [pytest.mark.deep, pytest.mark.integration]

_TUTORIALS = ROOT / "docs" / "tutorials"
_IMPORT = ROOT / "docs" / "how-to" / "import.md"
_SERVICE, _NAMESPACE = "tutorials", "demo"
_THIS_CLUSTER = "https://kubernetes.default.svc"
_KEY_OF_AWS = "kubectl -n demo create secret generic aws-key --from-env-file=/dev/stdin"
_FENCED = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)
"""What a page only shows."""
_KEY_IN_A_FILE = '{"accessKeyId": "AKIA...", "secretAccessKey": "..."}'
_LOGIN = """\
field() { python3 -c "import json; print(json.load(open('$ADMIN'))['$1'])"; }
field clientSecret | keybearer login --url "$(field url)" --client-id "$(field clientId)" --client-secret-file -
"""
NEEDS_MORE = ("rollout status", "curl --cacert", "helm upgrade")


@dataclass(frozen=True)
class House:
    """A shell that is logged in, and what stands for what the pages leave to the reader."""

    shell: Shell
    in_place_of: Mapping[str, str]

    def paste(self, page: str | Path) -> str:
        """Run the commands of a page (a tutorial, or any by its whole path), and return what they print."""
        wanted = [
            block
            for block in blocks(_FENCED.sub("", (_TUTORIALS / page).read_text()))
            if not any(one in block for one in NEEDS_MORE)
        ]
        script = "\n".join(wanted)
        for written, here in self.in_place_of.items():
            script = script.replace(written, here)
        return self.shell.run(script)


_USER: Mapping[str, object] = {"name": "keybearer", "actions": ["*"], "partition": "aws"}


@pytest.fixture(scope="module")
def cloud() -> Iterator[Moto]:
    store = Moto()
    yield store
    store.close()


@pytest.fixture(scope="module")
def cloud_key(cloud: Moto) -> dict[str, str]:
    """Return the access key that the pages are given."""
    cloud.ask("fresh")
    key: dict[str, str] = cloud.ask("user", **_USER)
    return key


@pytest.fixture
def moto(cloud: Moto, cloud_key: dict[str, str]) -> Moto:
    """Return the store, empty but for its user."""
    cloud.ask("fresh")
    cloud.ask("user", **_USER, key=cloud_key)
    return cloud


@pytest.fixture(scope="module")
def service(
    control_plane: ControlPlane, cloud: Moto, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[ServiceProcess]:
    folder = tmp_path_factory.mktemp("tutorials")
    account = folder / "serviceaccount"
    account.mkdir()
    control_plane.kubectl("create", "namespace", _SERVICE)
    control_plane.kubectl("create", "serviceaccount", "service", f"--namespace={_SERVICE}")
    control_plane.kubectl(
        "create", "clusterrole", _SERVICE, "--verb=create", "--resource=tokenreviews.authentication.k8s.io"
    )
    control_plane.kubectl(
        *("create", "clusterrolebinding", _SERVICE, f"--clusterrole={_SERVICE}"),
        f"--serviceaccount={_SERVICE}:service",
    )
    (account / "token").write_text(
        control_plane.kubectl("create", "token", "service", f"--namespace={_SERVICE}")
    )
    (account / "ca.crt").write_bytes(control_plane.ca_pem)
    running = start_service(
        folder / "data",
        *(f"--service-account-dir={account}", f"--service-account-api={control_plane.server_url}"),
        *("--allow-outbound", "127.0.0.0/8", "--app-endpoint", f"cloud={cloud.url}"),
    )
    yield running
    running.stop()
    control_plane.kubectl("delete", "clusterrolebinding,clusterrole", _SERVICE)
    control_plane.kubectl("delete", "namespace", _SERVICE, "--wait=false")


@pytest.fixture(scope="module")
def house(
    control_plane: ControlPlane,
    service: ServiceProcess,
    cloud_key: dict[str, str],
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[House]:
    folder = tmp_path_factory.mktemp("shell")
    install_crds(control_plane)
    control_plane.kubectl("create", "namespace", _NAMESPACE)
    operator = OperatorProcess(
        control_plane.admin_kubeconfig,
        folder,
        [
            *(f"--service-url={service.url}", f"--api-audience={_THIS_CLUSTER}"),
            *(f"--namespace={_NAMESPACE}", f"--lease-namespace={_NAMESPACE}"),
        ],
    )
    operator.start()
    shell = Shell(folder / "checkout", control_plane.admin_kubeconfig)
    shell.run(_LOGIN.replace("$ADMIN", str(service.data_dir / "admin.json")))
    key = folder / "aws-key"
    key.write_text("".join(f"{name}={value}\n" for name, value in cloud_key.items()))
    yield House(
        shell,
        {
            _THIS_CLUSTER: control_plane.server_url,
            _KEY_OF_AWS: _KEY_OF_AWS.replace("/dev/stdin", str(key)),
            _KEY_IN_A_FILE: json.dumps(cloud_key),
        },
    )
    control_plane.kubectl("delete", "clusterrolebinding", "keybearer-reviewer", "--ignore-not-found")
    control_plane.kubectl(
        "delete", "serviceaccount", "keybearer-reviewer", "--namespace=kube-system", "--ignore-not-found"
    )
    # Another page has a namespace of this name: it is gone before the operator, who removes finalizers, ends.
    control_plane.kubectl("delete", "namespace", _NAMESPACE)
    operator.terminate()


def test_a_deployment_is_restarted_when_its_secret_changes(house: House) -> None:
    printed = house.paste("deployment.md")
    assert "secretsync.keybearer.dev/shop condition met" in printed
    assert "new-db.example.com" in printed
    assert "keybearer.dev/restarted-for: shop:" in printed


def test_a_certificate_for_an_ingress_is_issued_and_renewed(house: House) -> None:
    printed = house.paste("ingress-tls.md")
    assert "shop.crt: OK" in printed
    assert "1 of 1 certificates are issued and valid" in printed


def test_an_identity_logs_in_with_a_service_account(house: House) -> None:
    printed = house.paste("kubernetes-auth.md")
    assert "secretsync.keybearer.dev/by-token condition met" in printed
    assert "db.example.com" in printed
    assert "login-identity-kubernetes-auth" in printed


def test_a_folder_is_pushed_to_aws(house: House, moto: Moto) -> None:
    printed = house.paste("aws-secrets-manager.md")
    assert "appconnection.keybearer.dev/aws condition met" in printed
    assert "succeeded" in printed
    held = moto.ask("secrets", region="eu-central-1")
    assert sorted(held) == ["shop-DB_HOST", "shop-DB_PASSWORD"]
    assert json.dumps(held["shop-DB_HOST"]).count("new-db.example.com") == 1


def test_what_aws_holds_is_imported_and_stays_there(house: House, moto: Moto) -> None:
    whole = json.dumps({"user": "web", "port": 5432})
    for name, value in (("apps/web", whole), ("shop-DB_HOST", "db.example.com"), ("unrelated", "cnry")):
        moto.ask("put_secret", region="eu-central-1", name=name, value=value)
    held = moto.ask("secrets", region="eu-central-1")

    printed = house.paste(_IMPORT)

    for name in ("user", "port", "DB_HOST"):
        assert name in printed
    assert "unrelated" not in printed
    assert moto.ask("secrets", region="eu-central-1") == held


def test_the_manifests_of_the_import_are_taken_by_the_api_server(house: House) -> None:
    manifests = yaml_with(_IMPORT, "kind: SecretSync")
    assert [one["kind"] for one in yaml.safe_load_all(manifests)] == ["AppConnection", "SecretSync"]
    command = "kubectl -n demo create --dry-run=server --validate=strict -o name -f -"
    taken = house.shell.run(command, given=manifests)
    assert taken.split() == ["appconnection.keybearer.dev/aws", "secretsync.keybearer.dev/shop-with-aws"]
