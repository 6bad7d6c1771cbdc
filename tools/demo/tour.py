"""The steps of the demo. Each does what a user would do, and goes on only when its effect was observed."""

from __future__ import annotations

import contextlib
import json
import secrets
import signal
import ssl
import subprocess
import sys
from pathlib import Path
from types import TracebackType
from typing import Self

from rich.markup import escape

from keybearer.client import Keybearer, UniversalAuth
from keybearer.controllers.crds import CUSTOM_RESOURCES
from tools.demo.cluster import Cluster
from tools.demo.console import DemoError, Stage
from tools.demo.programs import Program, keybearer
from tools.demo.web import WebServer, ask
from tools.local.moto import Moto
from tools.local.waiting import PATIENCE_SECONDS

__all__ = ["Tour"]

_ROOT = Path(__file__).resolve().parents[2]
_NAMESPACE = "keybearer-demo"
_PROJECT = "keybearer-demo"
_SYNC = "web-database"
_PUSH = "web-parameters"
_PKI_PROJECT = "keybearer-demo-pki"
_PROFILE, _TLS_SECRET, _HOST = "web", "web-tls", "www.demo.example"
_CERTIFICATE = "certificate.yaml"
_REGION, _PARAMETERS = "eu-central-1", "/keybearer-demo/"
_WITHIN = f"--timeout={PATIENCE_SECONDS:.0f}s"


class Tour:
    """Runs the programs of the demo, and ends them."""

    def __init__(self, stage: Stage, cluster: Cluster, folder: Path) -> None:
        self._stage = stage
        self._cluster = cluster
        self._folder = folder
        self._programs = contextlib.ExitStack()
        self._admin: dict[str, str] = {}
        self._made_namespace = False
        self._store_or_none: Moto | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        leaves = self._made_namespace and not self._cluster.is_ours
        try:
            if leaves:
                self._delete_objects()
        except DemoError as left:
            if error is None:
                raise
            self._stage.console.print(
                f"[bold red]Not all objects went:[/] {escape(str(left))}", soft_wrap=True
            )
        finally:
            self._programs.close()
            if leaves:
                self._cluster.kubectl("delete", "namespace", _NAMESPACE, "--wait=false")
                self._stage.observed(
                    f"namespace {_NAMESPACE} is being deleted; the custom resources stay in the cluster"
                )

    def run(self) -> None:
        """Go through all steps.

        Raises:
            DemoError: something was not observed.
        """
        self._install_crds()
        self._start_service()
        self._start_operator()
        self._sync()
        self._change_at_source()
        self._edit_by_hand()
        self._apply_more_examples()
        self._push_to_a_store()
        self._serve_https()

    def stay(self) -> None:
        """Leave everything up until Ctrl-C, and say how to go on."""
        values = {
            "service": self._admin["url"],
            "credentials": str(self._folder / "service" / "admin.json"),
            "operator log": str(self._folder / "operator.log"),
        }
        self._stage.table("\nStill running; in another terminal:", values)
        for line in (
            f"export KUBECONFIG={self._cluster.kubeconfig}",
            f"kubectl -n {_NAMESPACE} get secretsyncs,certificateprofiles",
        ):
            self._stage.console.print(f"  {line}", soft_wrap=True)
        self._stage.console.print("\nPress Ctrl-C to stop and remove everything.")
        signal.pause()

    def _install_crds(self) -> None:
        with self._stage.step("Install the custom resources") as observed:
            self._cluster.kubectl("apply", "--server-side", "-f", str(_ROOT / "crds"))
            # Not `kubectl wait`, which fails where a CRD has no conditions yet; nor others that may be there.
            self._cluster.wait_until("the Established custom resources", self._are_established)
            observed("CRDs Established: secretsyncs, appconnections and certificateprofiles.keybearer.dev")
            if self._cluster.kubectl("get", "namespace", _NAMESPACE, "--ignore-not-found", "-o", "name"):
                raise DemoError(
                    f"namespace {_NAMESPACE} exists already: another demo may be running there; "
                    f"end it, or `kubectl delete namespace {_NAMESPACE}`, and try again"
                )
            self._cluster.kubectl(
                "create", "-f", "-", given=json.dumps(_manifest("Namespace", _NAMESPACE, "v1"))
            )
            self._made_namespace = True

    def _delete_objects(self) -> None:
        """The operator has let go of every object: without it they, and so their namespace, would stay."""
        kinds = ",".join(one.name for one in CUSTOM_RESOURCES)
        self._cluster.kubectl("-n", _NAMESPACE, "delete", kinds, "--all", _WITHIN)

    def _are_established(self) -> bool:
        names = [one.name for one in CUSTOM_RESOURCES]
        listed = json.loads(self._cluster.kubectl("get", "crd", *names, "-o", "json"))["items"]
        conditions = [one.get("status", {}).get("conditions") or [] for one in listed]
        return all(
            any((one["type"], one["status"]) == ("Established", "True") for one in told)
            for told in conditions
        )

    @property
    def _store(self) -> Moto:
        """The store that secrets are pushed to: the cloud's interface, served on this machine."""
        if self._store_or_none is None:
            self._store_or_none = Moto()
            self._programs.callback(self._store_or_none.close)
        return self._store_or_none

    def _start_service(self) -> None:
        with self._stage.step("Start the service and fill two projects") as observed:
            data = self._folder / "service"
            service = Program(
                "keybearer serve",
                [
                    *(keybearer(), "serve", "--data-dir", str(data), "--listen", "127.0.0.1:0"),
                    *("--allow-outbound", "127.0.0.0/8", "--app-endpoint", f"cloud={self._store.url}"),
                ],
                self._folder / "service.log",
            )
            self._programs.callback(service.stop)
            url = service.ready_line()["url"]
            credentials = (data / "admin.json").read_text()
            self._admin = {**json.loads(credentials), "url": url}
            observed(f"the service answers at {url}")
            prepare = [sys.executable, str(_ROOT / "examples/quickstart/prepare.py"), "--url", url]
            done = subprocess.run(prepare, input=credentials, capture_output=True, text=True, check=False)
            if done.returncode:
                raise DemoError(f"examples/quickstart/prepare.py: {done.stderr.strip()}")
            self._cluster.kubectl("-n", _NAMESPACE, "apply", "-f", "-", given=done.stdout)
            observed(f"project {_PROJECT} is filled, and a reader's credentials are in {_NAMESPACE}")
            observed(f"project {_PKI_PROJECT} has {self._pki()}")

    def _start_operator(self) -> None:
        with self._stage.step("Start the operator") as observed:
            operator = Program(
                "keybearer operator",
                [
                    *(keybearer(), "operator", "--service-url", self._admin["url"]),
                    *(
                        # Here alone: who tries another operator beside the demo's finds the rest of the cluster free.
                        "--namespace",
                        _NAMESPACE,
                        "--metrics-listen",
                        "127.0.0.1:0",
                        "--lease-namespace",
                        _NAMESPACE,
                        "--log-format",
                        "json",
                    ),
                ],
                self._folder / "operator.log",
                {"KUBECONFIG": self._cluster.kubeconfig},
            )
            self._programs.callback(operator.stop)

            def leads() -> bool:
                operator.check()
                return bool(
                    self._cluster.kubectl(
                        *(
                            "-n",
                            _NAMESPACE,
                            "get",
                            "lease",
                            "keybearer-operator",
                            "--ignore-not-found",
                            "-o",
                            "name",
                        )
                    )
                )

            self._cluster.wait_until("the operator's Lease", leads, seconds=PATIENCE_SECONDS)
            observed("the operator holds its Lease")

    def _sync(self) -> None:
        with self._stage.step("Apply a SecretSync of ten lines") as observed:
            manifest = _ROOT / "examples/quickstart/secretsync.yaml"
            self._stage.output(f"kubectl apply -f {manifest.relative_to(_ROOT)}", manifest.read_text())
            self._cluster.kubectl("-n", _NAMESPACE, "apply", "-f", str(manifest))
            self._cluster.kubectl(
                *("-n", _NAMESPACE, "wait", "--for=condition=Ready", f"secretsync/{_SYNC}", _WITHIN)
            )
            observed("condition Ready is True")
            expected = self._source()
            found = self._cluster.secret(_NAMESPACE, _SYNC)
            if found != expected:
                raise DemoError(f"Secret {_SYNC} has the keys {sorted(found)}, expected {sorted(expected)}")
            observed(f"Secret {_SYNC} holds, byte for byte, the {len(found)} secrets of the source")
            self._stage.table(f"Secret {_SYNC}", found)

    def _change_at_source(self) -> None:
        with self._stage.step("Change a value in the service and ask for it now") as observed:
            value = f"changed-{secrets.token_hex(6)}"
            with self._client() as client:
                project = client.projects.get_by_slug(_PROJECT)
                client.secrets.update(
                    "DB_PASSWORD", project_id=project.id, environment="dev", secret_value=value
                )
            self._cluster.kubectl(
                *("-n", _NAMESPACE, "annotate", f"secretsync/{_SYNC}", "--overwrite"),
                *("keybearer.dev/request=sync", f"keybearer.dev/requestedAt={secrets.token_hex(4)}"),
            )
            took = self._cluster.wait_until(
                "the changed value in the Secret", lambda: self._password() == value
            )
            observed(f"DB_PASSWORD={value} arrived in the Secret within {took:.2f} s")

    def _edit_by_hand(self) -> None:
        with self._stage.step("Edit the Secret by hand") as observed:
            before = self._cluster.secret(_NAMESPACE, _SYNC)
            patch = json.dumps({"stringData": {"DB_PASSWORD": "edited-by-hand"}})
            self._cluster.kubectl("-n", _NAMESPACE, "patch", "secret", _SYNC, "--patch", patch)
            took = self._cluster.wait_until(
                "the restored Secret", lambda: self._cluster.secret(_NAMESPACE, _SYNC) == before
            )
            observed(f"the edit was undone within {took:.2f} s")
            self._cluster.kubectl("-n", _NAMESPACE, "delete", "secret", _SYNC)
            took = self._cluster.wait_until(
                "the recreated Secret", lambda: self._cluster.secret(_NAMESPACE, _SYNC) == before
            )
            observed(f"deleted, it was back within {took:.2f} s")

    def _apply_more_examples(self) -> None:
        with self._stage.step("Apply the other examples and look at all of them") as observed:
            for manifest in sorted((_ROOT / "examples").glob("*.yaml")):
                if manifest.name != _CERTIFICATE:
                    self._cluster.kubectl("-n", _NAMESPACE, "apply", "-f", str(manifest))

            def settled() -> bool:
                return all(_is_settled(one) for one in self._objects("secretsyncs,certificateprofiles"))

            self._cluster.wait_until("a verdict on every SecretSync and CertificateProfile", settled)
            columns = self._cluster.kubectl("-n", _NAMESPACE, "get", "secretsyncs")
            self._stage.output(f"kubectl -n {_NAMESPACE} get secretsyncs", columns)
            header = columns.splitlines()[0].split()
            if header[:5] != ["NAME", "SOURCE", "TARGET", "DESTINATION", "READY"]:
                raise DemoError(f"kubectl shows the columns {header}")
            observed("each SecretSync says where it reads, what it writes and whether it is Ready")

    def _push_to_a_store(self) -> None:
        with self._stage.step("Give the key of a store, and find the secrets there") as observed:
            self._store.ask("fresh")
            key = self._store.ask("user", name="keybearer", actions=["*"], partition="aws")
            secret = {**_manifest("Secret", "store-key", "v1"), "stringData": key}
            self._cluster.kubectl("-n", _NAMESPACE, "apply", "-f", "-", given=json.dumps(secret))
            self._cluster.kubectl(
                *("-n", _NAMESPACE, "wait", "--for=condition=Ready", "appconnection/store", _WITHIN)
            )
            observed("the store takes the key: AppConnection store is Ready")
            self._cluster.kubectl(
                *("-n", _NAMESPACE, "wait", "--for=condition=Ready", f"secretsync/{_PUSH}", _WITHIN)
            )
            expected = self._source()
            held = {
                name.removeprefix(_PARAMETERS): one["value"]
                for name, one in self._store.ask("parameters", region=_REGION).items()
            }
            if held != expected:
                raise DemoError(f"the store holds {sorted(held)}, expected {sorted(expected)}")
            observed(f"the {len(held)} secrets of the folder are parameters under {_PARAMETERS}")
            value = f"pushed-{secrets.token_hex(6)}"
            with self._client() as client:
                project = client.projects.get_by_slug(_PROJECT)
                client.secrets.update(
                    "DB_PASSWORD", project_id=project.id, environment="dev", secret_value=value
                )
            took = self._cluster.wait_until(
                "the changed value in the store",
                lambda: (
                    self._store.ask("parameters", region=_REGION)[f"{_PARAMETERS}DB_PASSWORD"]["value"]
                    == value
                ),
            )
            observed(f"DB_PASSWORD={value} arrived in the store within {took:.2f} s")

    def _serve_https(self) -> None:
        with self._stage.step("Ask for a certificate, and serve HTTPS with it") as observed:
            manifest = _ROOT / "examples" / _CERTIFICATE
            self._stage.output(f"kubectl apply -f {manifest.relative_to(_ROOT)}", manifest.read_text())
            self._cluster.kubectl("-n", _NAMESPACE, "apply", "-f", str(manifest))
            profile = f"certificateprofile/{_PROFILE}"
            self._cluster.kubectl("-n", _NAMESPACE, "wait", "--for=condition=Ready", profile, _WITHIN)
            columns = self._cluster.kubectl("-n", _NAMESPACE, "get", "certificateprofiles")
            self._stage.output(f"kubectl -n {_NAMESPACE} get certificateprofiles", columns)
            secret = self._cluster.secret(_NAMESPACE, _TLS_SECRET)
            if sorted(secret) != ["ca.crt", "tls.crt", "tls.key"]:
                raise DemoError(f"Secret {_TLS_SECRET} has the keys {sorted(secret)}")
            observed(f"Secret {_TLS_SECRET} holds {', '.join(sorted(secret))}")
            server = WebServer(self._folder)
            self._programs.callback(server.stop)
            server.load(secret)
            server.start()
            first = ask(server.port, _HOST, secret["ca.crt"])
            observed(f"https://{_HOST}, {first.text!r}: a client that trusts ca.crt accepts it")
            try:
                ask(server.port, _HOST, None)
            except ssl.SSLCertVerificationError as error:
                observed(f"a client that doesn't, hangs up: {error.verify_message}")
            else:
                raise DemoError("a client that doesn't trust ca.crt accepted the server")
            self._cluster.kubectl(
                *("-n", _NAMESPACE, "annotate", profile, "--overwrite"),
                *("keybearer.dev/request=renew", f"keybearer.dev/requestedAt={secrets.token_hex(4)}"),
            )
            took = self._cluster.wait_until(
                "the renewed certificate",
                lambda: self._cluster.secret(_NAMESPACE, _TLS_SECRET).get("tls.crt") != secret["tls.crt"],
            )
            server.load(self._cluster.secret(_NAMESPACE, _TLS_SECRET))
            second = ask(server.port, _HOST, secret["ca.crt"])
            if second.serial_number == first.serial_number:
                raise DemoError("the server shows the certificate that it had before")
            observed(f"renewed on request within {took:.2f} s; the same client accepts the new one")

    def _pki(self) -> str:
        """Return what the project for certificates has; the service is asked."""
        with self._client() as client:
            project = client.projects.get_by_slug(_PKI_PROJECT)
            authorities = client.certificate_authorities.list_internal(project_id=project.id)
            policies = client.certificate_policies.list(project_id=project.id).certificate_policies
        active = [one.name for one in authorities if one.status == "active"]
        if not active or not policies:
            raise DemoError(f"project {_PKI_PROJECT} has no active authority, or no policy")
        return f"the authority {active[0]} and the policy {policies[0].name}"

    def _client(self) -> Keybearer:
        return Keybearer(
            self._admin["url"], UniversalAuth(self._admin["clientId"], self._admin["clientSecret"])
        )

    def _source(self) -> dict[str, str]:
        with self._client() as client:
            project = client.projects.get_by_slug(_PROJECT)
            listed = client.secrets.list(project_id=project.id, environment="dev")
        return {secret.secret_key: secret.secret_value for secret in listed}

    def _password(self) -> str | None:
        return self._cluster.secret(_NAMESPACE, _SYNC).get("DB_PASSWORD")

    def _objects(self, kinds: str) -> list[dict[str, dict[str, object]]]:
        listed = json.loads(self._cluster.kubectl("-n", _NAMESPACE, "get", kinds, "-o", "json"))
        items: list[dict[str, dict[str, object]]] = listed["items"]
        return items


def _manifest(kind: str, name: str, api_version: str) -> dict[str, object]:
    return {"apiVersion": api_version, "kind": kind, "metadata": {"name": name}}


def _is_settled(one: dict[str, dict[str, object]]) -> bool:
    """Tell whether it is Ready, or waits by design.

    A plan waits for approval or for another name, a push for the key of its store.
    """
    conditions = one.get("status", {}).get("conditions")
    reasons = {
        (condition["status"], condition["reason"])
        for condition in (conditions if isinstance(conditions, list) else [])
        if condition["type"] == "Ready"
    }
    settled = {
        *(("True", reason) for reason in ("Synced", "Issued")),
        *(("False", reason) for reason in ("Planned", "ConnectionNotReady", "PolicyViolated")),
    }
    return bool(settled & reasons)
