"""`keybearer init` beside a real API server, operator and service: from nothing to a Secret in sync."""

from __future__ import annotations

import json
import signal
import socket
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from secrets import token_hex

import pytest
import yaml

from keybearer.client import ClientSecret
from support.canary import Canary
from support.command_line import PROGRAM, Answer, CommandLine, in_conversation
from support.operator_fixtures import Installation
from support.outlets import Outlets
from support.secretsync_objects import decoded, identity_secret, secret
from tools.local.kube_api import Body, KubeApi, RefusedError
from tools.local.marks import find_mark
from tools.local.secrets_service import ServiceAdmin
from tools.local.waiting import PATIENCE_SECONDS, eventually

pytestmark = pytest.mark.integration

FAILED, USAGE, DENIED, REFUSED = 1, 2, 4, 7
IDENTITY = "keybearer-identity"


@dataclass(frozen=True)
class Newcomer:
    """Somebody with an administrator's login and kubeconfig, and nothing in service or cluster."""

    line: CommandLine
    api: KubeApi
    admin: ServiceAdmin
    name: str
    """Of project and namespace."""

    def init(self, *more: str, **variables: str) -> Answer:
        """Run it, with a first secret on standard input; no value is shown."""
        flags = [f"--project={self.name}", "--env=dev", f"--namespace={self.name}", "--name=web"]
        secret = ["--first-secret=GREETING=-"]
        answer = self.line.here("init", *flags, *secret, *more, stdin="cnry-greeting\n", **variables)
        assert find_mark(answer.stdout + answer.stderr) is None
        held = self.api.find("Secret", self.name, IDENTITY)
        for text in () if held is None else decoded(held).values():
            assert text not in answer.stdout + answer.stderr
        return answer

    def versions(self) -> list[str]:
        kinds = {"Secret": IDENTITY, "SecretSync": "web"}
        return [
            self.api.get(kind, self.name, name)["metadata"]["resourceVersion"] for kind, name in kinds.items()
        ]

    def client_secrets(self) -> int:
        return len(self._client_secrets())

    def live_client_secrets(self) -> int:
        return sum(not one.is_client_secret_revoked for one in self._client_secrets())

    def _client_secrets(self) -> Sequence[ClientSecret]:
        identities = self.admin.client.identities
        (own,) = (one for one in identities.list() if one.name == f"keybearer-{self.name}")
        return identities.client_secrets.list(own.id)


@pytest.fixture
def newcomer(installation: Installation, tmp_path: Path, canary: Canary) -> Newcomer:
    login = installation.admin.login
    line = CommandLine(
        tmp_path,
        {
            "KUBECONFIG": str(installation.cluster.plane.admin_kubeconfig),
            "KEYBEARER_URL": installation.service.url,
            "KEYBEARER_CLIENT_ID": login.client_id,
            "KEYBEARER_CLIENT_SECRET": login.client_secret,
        },
    )
    name = f"newcomer-{token_hex(4)}"
    outlets = Outlets.from_now(installation.cluster.api, [installation.operator], [installation.service])
    outlets.show_to(canary, {login.client_secret})
    return Newcomer(line, installation.cluster.api, installation.admin, name)


def test_everything_is_made_and_the_second_time_nothing_changes(newcomer: Newcomer) -> None:
    first = newcomer.init("--yes", "--output=json")
    assert first.status == 0, first.stderr
    assert (first.json["ready"], first.json["reason"]) == (True, "Synced")
    assert f"apply Namespace {newcomer.name}" in first.stderr
    assert f"make the project {newcomer.name}" in first.stderr
    assert decoded(newcomer.api.get("Secret", newcomer.name, "web")) == {"GREETING": "cnry-greeting"}

    before = newcomer.versions()
    second = newcomer.init("--output=json")
    assert (second.status, second.json["changes"]) == (0, []), second.stderr
    assert (newcomer.versions(), newcomer.client_secrets()) == (before, 1)


def test_run_again_it_keeps_the_folder_and_names_each_field_that_changes(newcomer: Newcomer) -> None:
    first = newcomer.init("--yes", "--path=/apps/web")
    assert first.status == 0, first.stderr

    def path() -> object:
        return newcomer.api.get("SecretSync", newcomer.name, "web")["spec"]["source"]["secretPath"]

    before = newcomer.versions()
    second = newcomer.init("--output=json")
    assert (second.status, second.json["changes"]) == (0, []), second.stderr
    assert (path(), newcomer.versions()) == ("/apps/web", before)

    told = newcomer.init("--dry-run", "--path=/")
    assert "which changes spec.source.secretPath /apps/web -> /" in told.stderr
    assert path() == "/apps/web"
    moved = newcomer.init("--yes", "--path=/")
    assert (moved.status, path()) == (0, "/"), moved.stderr


def test_at_a_terminal_it_asks_for_all_and_logs_in(newcomer: Newcomer) -> None:
    login = newcomer.admin.login
    environment = {name: text for name, text in newcomer.line.environment.items() if "KEYBEARER" not in name}
    answers = [
        ("Address of the service", newcomer.line.variables["KEYBEARER_URL"], False),
        ("Email, or client id", login.client_id, False),
        ("Client secret", login.client_secret, True),
        ("Project", newcomer.name, False),
        ("Environment", "dev", False),
        ("Namespace", newcomer.name, False),
        ("client-secret or kubernetes", "client-secret", False),
        ("Make these changes?", "y", False),
        ("Name of a first secret", "GREETING", False),
        ("Value of GREETING", "cnry-greeting", True),
    ]
    status, shown = in_conversation([str(PROGRAM), "init"], environment, answers)
    assert status == 0, shown
    assert find_mark(shown) is None
    assert login.client_secret not in shown
    assert "kind: SecretSync" in shown
    # Nobody types a secret before they know what becomes of it.
    assert shown.index("store a first secret in the folder, which init asks for next") < shown.index(
        "Value of"
    )
    assert f"SecretSync {newcomer.name}/{newcomer.name} is Ready" in shown
    held = newcomer.api.get("Secret", newcomer.name, newcomer.name)
    assert decoded(held) == {"GREETING": "cnry-greeting"}


def test_what_is_missing_is_made_again_and_nothing_else(newcomer: Newcomer) -> None:
    assert newcomer.init("--yes").status == 0
    newcomer.api.delete("Secret", newcomer.name, IDENTITY)
    again = newcomer.init("--yes", "--output=json")
    assert (again.status, again.json["ready"]) == (0, True), again.stderr
    assert [one.partition(": ")[2] for one in again.json["changes"]] == [
        "make a client secret for it",
        f"apply Secret {newcomer.name}/{IDENTITY}",
    ]
    assert newcomer.client_secrets() == 2


def test_credentials_that_the_service_refuses_are_replaced(newcomer: Newcomer) -> None:
    assert newcomer.init("--yes").status == 0
    identities = newcomer.admin.client.identities
    (own,) = (one for one in identities.list() if one.name == f"keybearer-{newcomer.name}")
    (used,) = identities.client_secrets.list(own.id)
    identities.client_secrets.revoke(own.id, used.id)
    again = newcomer.init("--yes", "--output=json")
    assert (again.status, again.json["ready"]) == (0, True), again.stderr
    assert any("client secret" in one for one in again.json["changes"])


def test_an_identity_that_is_locked_for_now_gets_no_second_client_secret(newcomer: Newcomer) -> None:
    assert newcomer.init("--yes").status == 0
    before = newcomer.versions()
    client_id = decoded(newcomer.api.get("Secret", newcomer.name, IDENTITY))["clientId"]
    wrong = ["login", "--client-id", client_id, "--client-secret-file", "-"]
    for _ in range(3):
        assert newcomer.line.here(*wrong, stdin="cnry-wrong").status != 0
    again = newcomer.init("--yes")
    assert (again.status, "locked" in again.stderr) == (REFUSED, True), again.stderr
    assert (newcomer.versions()[0], newcomer.client_secrets()) == (before[0], 1)


def test_an_identity_that_has_more_rights_than_needed_is_told_before_it_is_used(newcomer: Newcomer) -> None:
    client = newcomer.admin.client
    (organization,) = client.organizations.list()
    client.identities.create(f"keybearer-{newcomer.name}", organization_id=organization.id, role="admin")
    answer = newcomer.init("--dry-run")
    assert answer.status == 0, answer.stderr
    assert "although it is an administrator of the whole organization" in answer.stderr


def test_a_deployment_that_only_looks_like_an_operator_does_not_count(newcomer: Newcomer) -> None:
    newcomer.api.create_namespace(newcomer.name)
    labels = {"app.kubernetes.io/part-of": "keybearer", "app.kubernetes.io/component": "operator"}
    template = {
        "metadata": {"labels": {"x": "y"}},
        "spec": {"containers": [{"name": "x", "image": "x", "args": ["operator"]}]},
    }
    newcomer.api.create(
        {
            "apiVersion": "apps/v1",
            "kind": "Deployment",
            "metadata": {"namespace": newcomer.name, "name": "x", "labels": labels},
            "spec": {"replicas": 0, "selector": {"matchLabels": {"x": "y"}}, "template": template},
        }
    )
    try:
        answer = newcomer.init("--yes", "--output=json")
    finally:
        newcomer.api.delete("Deployment", newcomer.name, "x")
    assert answer.status == 0, answer.stderr
    assert "No visible one may read Secrets there" in answer.stderr


def test_a_dry_run_prints_manifests_without_the_secret_and_changes_nothing(newcomer: Newcomer) -> None:
    answer = newcomer.init("--dry-run")
    assert answer.status == 0, answer.stderr
    documents: list[Body] = [one for one in yaml.safe_load_all(answer.stdout) if one]
    assert [one["kind"] for one in documents] == ["Namespace", "SecretSync"]
    assert "never shows its values" in answer.stdout
    assert newcomer.api.find("Namespace", "", newcomer.name) is None
    assert newcomer.name not in {one.slug for one in newcomer.admin.client.projects.list()}


def test_an_empty_folder_is_told_with_the_command_that_fills_it(newcomer: Newcomer) -> None:
    flags = [f"--project={newcomer.name}", "--env=dev", f"--namespace={newcomer.name}", "--yes"]
    answer = newcomer.line.here("init", *flags)
    assert answer.status == FAILED
    assert f"keybearer secrets set NAME --project {newcomer.name} --env dev" in answer.stderr


@contextmanager
def secrets_that_take_long(newcomer: Newcomer, installation: Installation) -> Iterator[socket.socket]:
    """Have the API server ask somebody who never answers about Secrets of the namespace; yield who is asked."""
    newcomer.api.create_namespace(newcomer.name)
    with socket.create_server(("127.0.0.1", 0)) as asked:
        webhook = {
            "name": f"{newcomer.name}.tests.keybearer.dev",
            "admissionReviewVersions": ["v1"],
            "sideEffects": "None",
            "failurePolicy": "Fail",
            "timeoutSeconds": 5,
            "clientConfig": {"url": f"https://127.0.0.1:{asked.getsockname()[1]}/"},
            "namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": newcomer.name}},
            "rules": [
                {"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["secrets"]}
            ],
        }
        manifest = json.dumps(
            {
                "apiVersion": "admissionregistration.k8s.io/v1",
                "kind": "ValidatingWebhookConfiguration",
                "metadata": {"name": webhook["name"]},
                "webhooks": [webhook],
            }
        )
        plane = installation.cluster.plane
        plane.kubectl("apply", "--filename=-", input=manifest)
        try:
            probe = secret(newcomer.name, "probe", {"C": "cnry-probe"})

            def is_asked() -> bool:
                try:
                    newcomer.api.create(probe, dry_run=True)
                except RefusedError:
                    return True
                return False

            eventually(is_asked, awaited="the webhook at work")
            asked.setblocking(False)  # noqa: FBT003 - the standard library's
            with suppress(BlockingIOError):
                while True:
                    asked.accept()[0].close()  # of probes
            asked.settimeout(PATIENCE_SECONDS)
            yield asked
        finally:
            plane.kubectl("delete", "--filename=-", input=manifest)


def test_a_client_secret_that_is_not_in_the_cluster_is_revoked_when_a_signal_ends_init(
    newcomer: Newcomer, installation: Installation
) -> None:
    flags = [f"--project={newcomer.name}", "--env=dev", f"--namespace={newcomer.name}", "--yes"]
    with secrets_that_take_long(newcomer, installation) as asked:
        process = newcomer.line.start("init", *flags)
        connection = asked.accept()[0]
        process.terminate()
        _, told = process.communicate()
        connection.close()
    assert process.returncode == 128 + signal.SIGTERM, told
    assert newcomer.live_client_secrets() == 0
    assert newcomer.api.find("Secret", newcomer.name, IDENTITY) is None


def test_nothing_is_made_without_consent(newcomer: Newcomer) -> None:
    answer = newcomer.init()
    assert (answer.status, "--yes" in answer.stderr) == (USAGE, True)
    assert newcomer.api.find("Namespace", "", newcomer.name) is None


def test_missing_options_are_named_where_nobody_can_be_asked(newcomer: Newcomer) -> None:
    answer = newcomer.line.here("init", "--env=dev", "--yes")
    assert answer.status == USAGE
    assert "missing: --project, --namespace" in answer.stderr


def test_the_identity_secret_of_others_is_not_replaced(newcomer: Newcomer) -> None:
    newcomer.api.create_namespace(newcomer.name)
    held = {"clientId": "of-others", "clientSecret": "cnry-of-others"}
    newcomer.api.create(identity_secret(newcomer.name, IDENTITY, held))
    answer = newcomer.init("--yes")
    assert (answer.status, "--identity-secret" in answer.stderr) == (REFUSED, True)
    assert decoded(newcomer.api.get("Secret", newcomer.name, IDENTITY)) == held
    assert newcomer.name not in {one.slug for one in newcomer.admin.client.projects.list()}


def test_a_sync_that_does_not_become_ready_shows_its_next_step(newcomer: Newcomer) -> None:
    newcomer.api.create_namespace(newcomer.name)
    newcomer.api.create(secret(newcomer.name, "web", {"OTHER": "cnry-of-others"}))
    answer = newcomer.init("--yes")
    diagnosis = newcomer.api.get("SecretSync", newcomer.name, "web")["status"]["diagnosis"]
    assert (answer.status, "TargetConflict" in answer.stderr) == (FAILED, True)
    assert diagnosis["step"] in answer.stderr
    told = newcomer.init("--yes", "--output=json")
    assert (told.status, told.json["diagnosis"]["step"]) == (FAILED, diagnosis["step"])


def test_rights_that_are_missing_are_named_before_anything_is_made(
    newcomer: Newcomer, installation: Installation
) -> None:
    plane = installation.cluster.plane
    newcomer.api.create_namespace(newcomer.name)
    kubeconfig = plane.service_account_kubeconfig(newcomer.name, "default")
    plane.kubectl(
        *("create", "rolebinding", "look", "--clusterrole=view"),
        *(f"--serviceaccount={newcomer.name}:default", f"--namespace={newcomer.name}"),
    )
    plane.kubectl(
        *("create", "clusterrole", f"look-{newcomer.name}", "--verb=get", "--resource=namespaces"),
    )
    plane.kubectl(
        *("create", "clusterrolebinding", f"look-{newcomer.name}", f"--clusterrole=look-{newcomer.name}"),
        f"--serviceaccount={newcomer.name}:default",
    )
    answer = newcomer.init("--yes", KUBECONFIG=str(kubeconfig))
    assert answer.status == DENIED, answer.stderr
    assert "create secrets" in answer.stderr
    assert "patch secretsyncs" in answer.stderr
    assert newcomer.name not in {one.slug for one in newcomer.admin.client.projects.list()}


@pytest.mark.parametrize("more", [("--yes",), ("--dry-run",)], ids=["for real", "a dry run"])
def test_all_options_that_can_not_be_are_told_at_once(newcomer: Newcomer, more: tuple[str, ...]) -> None:
    before = {one.slug for one in newcomer.admin.client.projects.list()}
    answer = newcomer.init("--project=abc", "--env=Dev_1", "--path=/a b", "--identity-secret=No_Name", *more)
    assert answer.status == USAGE
    assert "--project: must have at least 5 characters" in answer.stderr
    for option in ("--env: ", "--path: ", "--identity-secret: "):
        assert option in answer.stderr
    assert {one.slug for one in newcomer.admin.client.projects.list()} == before
