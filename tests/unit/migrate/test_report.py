"""What is told of a migration: mappings that matched nothing, and lines that end where their text does."""

from __future__ import annotations

import json
import shlex

import pytest
import yaml
from typer.testing import CliRunner, Result

from keybearer.cli.main import app

GIVEN = """\
apiVersion: external-secrets.io/v1
kind: ExternalSecret
metadata: {name: a-name-longer-than-the-other, namespace: team-a}
spec:
  secretStoreRef: {name: vault}
  data: [{secretKey: a, remoteRef: {key: b, version: v3}}]
---
apiVersion: external-secrets.io/v1
kind: ExternalSecret
metadata: {name: b, namespace: team-a}
spec:
  secretStoreRef: {name: aws}
  data: [{secretKey: a, remoteRef: {key: b}}]
"""


def run(*arguments: str) -> Result:
    return CliRunner().invoke(app, ["migrate", "-", *arguments], input=GIVEN)


@pytest.mark.parametrize(
    "mappings",
    [
        pytest.param(["vualt=webshop/prod"], id="mistyped"),
        pytest.param(["vault=webshop/prod", "team-b/vault=webshop/dev"], id="of another namespace"),
        pytest.param(
            ["team-a/vault=webshop/prod", "vault=webshop/dev"], id="a wider one where all have a narrower"
        ),
    ],
)
def test_a_mapping_that_matches_nothing_is_told_with_the_names_that_there_are(mappings: list[str]) -> None:
    options = [part for one in mappings for part in ("--map-store", one)]
    unused = mappings[-1].partition("=")[0]

    done = run(*options)
    assert done.exit_code == 0
    warning = f"warning: --map-store {unused}=... matches nothing: what was read names vault, aws"
    assert [line for line in done.stderr.splitlines() if line.startswith("warning")] == [warning]

    told = json.loads(run(*options, "--output", "json").stdout)
    assert told["unusedMappings"] == [{"option": "--map-store", "name": unused}]


def test_a_mapping_of_a_kind_that_is_not_there_is_told() -> None:
    done = run("--map-issuer", "ca=web")
    assert "warning: --map-issuer ca=... matches nothing: what was read names nothing" in done.stderr


@pytest.mark.parametrize(
    "options",
    [
        ["--map-store", "*=webshop/prod"],
        ["--map-store", "vault=webshop/prod", "--map-store", "team-a/aws=webshop/prod"],
    ],
    ids=["all others", "each by its name"],
)
def test_a_mapping_that_is_used_or_for_all_others_is_not_told(options: list[str]) -> None:
    assert "warning" not in run(*options, "--map-issuer", "*=web").stderr


@pytest.mark.parametrize("width", ["40", "200"])
def test_no_line_ends_in_blanks(width: str) -> None:
    done = CliRunner(env={"COLUMNS": width}).invoke(app, ["migrate", "-"], input=GIVEN)
    lines = done.stderr.splitlines()
    assert [line for line in lines if line != line.rstrip()] == []
    assert lines[0] == "OBJECT                                              CARRIED  BECOMES"
    assert lines[2].split() == ["ExternalSecret", "team-a/b", "in", "part", "SecretSync", "team-a/b"]


ISSUER = """\
apiVersion: cert-manager.io/v1
kind: Issuer
metadata: {name: public, namespace: team-a}
spec:
  acme:
    server: https://acme.example.com/directory
    email: "--project=x\\u001b[2J $(id) ops@example.com"
    solvers: [{http01: {ingress: {}}}]
"""


def test_commands_are_whole_lines_that_a_shell_takes_as_they_were_meant() -> None:
    done = CliRunner(env={"COLUMNS": "40"}).invoke(app, ["migrate", "-"], input=ISSUER)

    (line,) = (one for one in done.stderr.splitlines() if "authorities create" in one)
    words = shlex.split(line)
    assert words[:6] == ["keybearer", "authorities", "create", "public", "--kind", "acme"]
    # It can be no option of its own, and moves no cursor.
    (email,) = (word for word in words if "ops@example.com" in word)
    assert email.startswith("--email=--project=x")
    assert "$(id)" in email
    assert "\x1b" not in done.stderr

    told = json.loads(CliRunner().invoke(app, ["migrate", "-", "--output", "json"], input=ISSUER).stdout)
    (commands,) = (one["commands"] for one in told["objects"][0]["findings"] if one["commands"])
    assert [shlex.split(command)[1] for command in commands] == ["authorities", "policies", "profiles"]


_STORE = """\
apiVersion: external-secrets.io/v1
kind: SecretStore
metadata: {name: aws-sm, namespace: team-a}
spec:
  provider:
    aws:
      service: SecretsManager
      region: eu-central-1
      auth:
        secretRef:
          accessKeyIDSecretRef: {name: aws, key: id}
          secretAccessKeySecretRef: {name: aws, key: key}
"""


@pytest.mark.parametrize(
    ("mapping", "project"),
    [(["--map-store", "aws-sm=webshop/prod"], "webshop"), ([], None)],
    ids=["mapped", "not"],
)
def test_a_connection_belongs_to_the_project_that_its_store_is_mapped_to(
    mapping: list[str], project: str | None
) -> None:
    done = CliRunner().invoke(app, ["migrate", "-", "--connections", *mapping], input=_STORE)
    (connection,) = yaml.safe_load_all(done.stdout)
    assert connection["kind"] == "AppConnection"
    assert connection["spec"].get("projectSlug") == project


def test_a_store_whose_contents_are_in_the_service_gets_a_connection_only_when_asked() -> None:
    done = CliRunner().invoke(app, ["migrate", "-", "--map-store", "aws-sm=webshop/prod"], input=_STORE)
    assert done.stdout == ""
    assert "SecretStore team-a/aws-sm  whole    -" in done.stderr
    assert "No AppConnection is written: nothing needs one, unless" in done.stderr
    assert "migrate --connections" in done.stderr


def test_a_target_stays_until_the_person_says_that_they_will_not_go_back() -> None:
    def target_of(*options: str, spec: str) -> dict[str, object]:
        given = (
            "apiVersion: external-secrets.io/v1\nkind: ExternalSecret\nmetadata: {name: web, namespace: team-a}\n"
            f"spec: {{secretStoreRef: {{name: vault}}, data: [{{secretKey: a, remoteRef: {{key: b}}}}], {spec}}}\n"
        )
        done = CliRunner().invoke(app, ["migrate", "-", *options], input=given)
        told = "is written with onDelete: Retain" in done.stderr
        (manifest,) = yaml.safe_load_all(done.stdout)
        target: dict[str, object] = manifest["spec"].get("target", {})
        assert told is (target.get("onDelete") == "Retain" and "Orphan" not in spec)
        return target

    assert target_of(spec="")["onDelete"] == "Retain"
    assert target_of(spec="target: {creationPolicy: Orphan}")["onDelete"] == "Retain"
    assert "onDelete" not in target_of("--no-adopt", spec="")


def test_before_it_works_the_other_operator_stops_and_the_secret_is_freed_in_this_order() -> None:
    given = """\
apiVersion: external-secrets.io/v1
kind: ExternalSecret
metadata: {name: web, namespace: team-a}
spec:
  secretStoreRef: {name: vault}
  target: {name: web-secrets}
  data: [{secretKey: a, remoteRef: {key: b}}]
"""
    done = CliRunner().invoke(app, ["migrate", "-", "--output", "json"], input=given)
    (one,) = json.loads(done.stdout)["objects"]
    stop, free = [finding for finding in one["findings"] if finding.get("commands")]
    assert stop["commands"] == ["kubectl -n external-secrets scale deployment external-secrets --replicas=0"]
    (command,) = free["commands"]
    assert shlex.split(command) == [
        *("kubectl", "-n", "team-a", "patch", "secret", "web-secrets"),
        *("--type=merge", "-p"),
        (
            '{"metadata":{"ownerReferences":null,"labels":{"reconcile.external-secrets.io/managed":null,'
            '"reconcile.external-secrets.io/created-by":null},'
            '"annotations":{"reconcile.external-secrets.io/data-hash":null}}}'
        ),
    ]
    assert "Don't delete ExternalSecret web before" in free["remedy"]


def test_a_secret_that_the_other_operator_merges_into_is_not_freed() -> None:
    given = GIVEN.replace("spec:\n", "spec:\n  target: {creationPolicy: Merge}\n")
    done = CliRunner().invoke(app, ["migrate", "-"], input=given)
    assert "ownerReferences" not in done.stderr


_FOLDERS = """\
apiVersion: external-secrets.io/v1
kind: ExternalSecret
metadata: {name: web, namespace: team-a}
spec:
  secretStoreRef: {name: vault}
  data:
    - {secretKey: DB_USER, remoteRef: {key: apps/web, property: user}}
    - {secretKey: password, remoteRef: {key: apps/web, property: password}}
---
apiVersion: external-secrets.io/v1
kind: ExternalSecret
metadata: {name: job, namespace: team-a}
spec:
  secretStoreRef: {name: vault}
  target: {template: {data: {url: "db://{{ .user }}:{{ .token }}"}}}
  data:
    - {secretKey: user, remoteRef: {key: apps/web, property: user}}
    - {secretKey: token, remoteRef: {key: apps/web, property: token}}
"""


def test_each_folder_to_fill_is_named_once_with_its_secrets_and_commands() -> None:
    options = ["migrate", "-", "--map-store", "vault=webshop/prod"]
    told = json.loads(CliRunner().invoke(app, [*options, "-o", "json"], input=_FOLDERS).stdout)

    (folder,) = told["folders"]
    create, from_secret, from_file = map(shlex.split, folder.pop("commands"))
    assert folder == {
        "projectSlug": "webshop",
        "environment": "prod",
        "path": "/apps/web",
        "secrets": ["password", "token", "user"],
    }
    where = ["--project", "webshop", "--env", "prod"]
    assert create == ["keybearer", "folders", "create", "/apps/web", *where]
    # What the other operator wrote has these values, under the names that it gave them.
    assert from_secret == [
        *("kubectl", "-n", "team-a", "get", "secret", "web", "-o", "json", "|", "jq"),
        (
            '.data | {"user": .["DB_USER"], "password": .["password"]} | '
            "with_entries(select(.value != null) | .value |= @base64d)"
        ),
        *("|", "keybearer", "secrets", "import", "-", "--format", "json", *where, "--path", "/apps/web"),
    ]
    # What it made of them by a template hasn't.
    assert from_file == ["keybearer", "secrets", "import", "FILE", *where, "--path", "/apps/web"]

    lines = CliRunner().invoke(app, options, input=_FOLDERS).stderr.splitlines()
    at = lines.index("Fill these folders of the service first")
    assert lines[at + 1] == "  webshop/prod/apps/web: password, token, user"
    assert [shlex.split(line) for line in lines[at + 2 : at + 5]] == [create, from_secret, from_file]


def test_a_property_with_a_dot_is_either_a_name_or_a_path_and_is_told() -> None:
    given = _FOLDERS.replace("property: password", "property: db.port")
    done = CliRunner().invoke(app, ["migrate", "-", "--map-store", "vault=webshop/prod"], input=given)
    assert (
        "is either one name with dots, db.port, or a path in the JSON of db; the path is taken" in done.stderr
    )
    assert "write key: db.port, without property" in done.stderr


def test_a_store_of_the_service_needs_nothing_filled() -> None:
    given = f"""\
{_FOLDERS}---
apiVersion: external-secrets.io/v1
kind: SecretStore
metadata: {{name: vault, namespace: team-a}}
spec:
  provider: {{infisical: {{secretsScope: {{projectSlug: shop, environmentSlug: prod}}}}}}
"""
    assert (
        json.loads(CliRunner().invoke(app, ["migrate", "-", "-o", "json"], input=given).stdout)["folders"]
        == []
    )
