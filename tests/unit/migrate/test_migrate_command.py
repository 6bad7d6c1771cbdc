"""`keybearer migrate`: what goes where, and how it ends."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from typer.testing import CliRunner, Result

from keybearer.cli import migrate_files
from keybearer.cli.main import app

WHOLE = """\
apiVersion: secrets.infisical.com/v1alpha1
kind: InfisicalSecret
metadata: {name: web, namespace: team-a}
spec:
  authentication:
    universalAuth:
      credentialsRef: {secretName: reader, secretNamespace: team-a}
      secretsScope: {projectSlug: shop, envSlug: prod, secretsPath: /}
  managedSecretReference: {secretName: web, secretNamespace: team-a, creationPolicy: Owner}
"""
LOSSY = """\
apiVersion: external-secrets.io/v1
kind: ExternalSecret
metadata: {name: api, namespace: team-a}
spec:
  secretStoreRef: {name: vault}
  data: [{secretKey: key, remoteRef: {key: api, version: v3}}]
"""
REFUSED = "{apiVersion: secrets.hashicorp.com/v1beta1, kind: VaultDynamicSecret, metadata: {name: lease}}\n"
OTHERS = "apiVersion: v1\nkind: Secret\nmetadata: {name: s}\nstringData: {a: cnry-in-a-secret}\n"


def run(*arguments: str, given: str = "") -> Result:
    return CliRunner().invoke(app, ["migrate", *arguments], input=given)


def documents(output: str) -> list[dict[str, Any]]:
    return list(yaml.safe_load_all(output))


def test_manifests_go_to_standard_output_and_what_is_lost_to_standard_error() -> None:
    done = run("-", "--map-store", "vault=webshop/prod/vault", given=f"{WHOLE}---\n{LOSSY}---\n{OTHERS}")

    assert done.exit_code == 0
    assert [one["metadata"]["name"] for one in documents(done.stdout)] == ["web", "api"]
    assert documents(done.stdout)[1]["spec"]["source"]["secretPath"] == "/vault"
    assert "spec.data[0].remoteRef.version" in done.stderr
    assert "2 objects: 1 whole, 1 in part, 0 not; 1 other was passed over" in done.stderr
    assert "cnry" not in done.output


def test_what_is_to_do_is_told_once_for_all_who_need_it() -> None:
    second = LOSSY.replace("name: api", "name: other")
    done = run("-", "--map-store", "*=webshop/prod", given=f"{LOSSY}---\n{second}")

    told = [line for line in done.stderr.splitlines() if "keybearer-identity" in line]
    assert len(told) == 1
    assert told[0].startswith("  ExternalSecret team-a/api and 1 more: needs a Secret keybearer-identity")


@pytest.mark.parametrize(
    ("given", "status"),
    [
        pytest.param(WHOLE, 0, id="all whole"),
        pytest.param(f"{WHOLE}---\n{OTHERS}", 0, id="others don't count"),
        pytest.param(LOSSY, 1, id="in part"),
        pytest.param(f"{WHOLE}---\n{REFUSED}", 1, id="not at all"),
        pytest.param(f"{WHOLE}---\na: b: c\n", 2, id="not read whole"),
    ],
)
def test_strict_ends_well_only_if_everything_was_carried_over_whole(given: str, status: int) -> None:
    done = run("-", "--strict", given=given)
    assert done.exit_code == status
    assert "web" in done.stdout or given is LOSSY  # what can be written is written all the same


def test_without_strict_a_loss_is_told_and_ends_well() -> None:
    assert run("-", given=REFUSED).exit_code == 0


def test_a_file_that_is_no_yaml_is_named_with_its_line_and_the_others_are_read(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text("a: cnry-broken: c\n")
    (tmp_path / "b.yml").write_text(WHOLE)
    (tmp_path / "c.yaml").write_bytes(b"\xff\xfe\x00cnry")

    done = run(str(tmp_path))

    assert done.exit_code == 2
    assert [one["metadata"]["name"] for one in documents(done.stdout)] == ["web"]
    assert f"{tmp_path / 'a.yaml'}: line 1 is no YAML" in done.stderr
    assert f"{tmp_path / 'c.yaml'}: is no text in UTF-8" in done.stderr
    assert "cnry" not in done.output


def test_a_directory_is_read_with_what_is_below_and_links_lead_nowhere(tmp_path: Path) -> None:
    below = tmp_path / "team" / "deep"
    below.mkdir(parents=True)
    (below / "web.yaml").write_text(WHOLE)
    (tmp_path / "api.json").write_text(json.dumps(yaml.safe_load(LOSSY)))
    (tmp_path / "notes.txt").write_text("a: b: c")
    (below / "round").symlink_to(tmp_path)

    done = run(str(tmp_path), "--output", "json")

    assert done.exit_code == 0
    told = json.loads(done.stdout)
    assert [one["file"] for one in told["objects"]] == [str(tmp_path / "api.json"), str(below / "web.yaml")]


def test_programs_get_verdicts_findings_and_manifests_in_one_document() -> None:
    told = json.loads(run("-", "--output", "json", given=f"{WHOLE}---\n{LOSSY}---\n{REFUSED}").stdout)

    assert told["summary"] == {
        "objects": 3,
        "whole": 1,
        "part": 1,
        "not": 1,
        "passedOver": 0,
        "unreadable": 0,
    }
    lossy = told["objects"][1]
    assert {name: lossy[name] for name in ("kind", "namespace", "name", "document", "verdict")} == {
        "kind": "ExternalSecret",
        "namespace": "team-a",
        "name": "api",
        "document": 2,
        "verdict": "part",
    }
    assert lossy["becomes"] == [{"kind": "SecretSync", "namespace": "team-a", "name": "api"}]
    (version,) = [one for one in lossy["findings"] if one["field"] == "spec.data[0].remoteRef.version"]
    assert version["effect"] == "left out"
    assert version["why"]
    assert version["remedy"]
    assert [one["manifest"]["kind"] for one in told["manifests"]] == ["SecretSync", "SecretSync"]


def test_each_object_gets_a_file_and_none_is_replaced_without_force(tmp_path: Path) -> None:
    target = tmp_path / "new"
    done = run("-", "--output-dir", str(target), given=f"{WHOLE}---\n{LOSSY}")
    assert done.exit_code == 0
    names = ["team-a_secretsync_api.yaml", "team-a_secretsync_web.yaml"]
    assert sorted(path.name for path in target.iterdir()) == names
    assert "ExternalSecret team-a/api" in done.stdout
    first = (target / names[1]).read_text()
    assert yaml.safe_load(first)["metadata"]["name"] == "web"

    (target / names[1]).write_text("mine")
    (target / names[0]).unlink()
    again = run("-", "--output-dir", str(target), given=f"{WHOLE}---\n{LOSSY}")
    assert again.exit_code == 2
    assert "exists" in again.stderr
    assert [path.name for path in target.iterdir()] == [names[1]]  # nothing was written

    forced = run("-", "--output-dir", str(target), "--force", "--output", "json", given=WHOLE)
    assert (target / names[1]).read_text() == first
    assert json.loads(forced.stdout)["manifests"][0]["file"] == names[1]


def test_a_name_that_leads_out_of_the_directory_is_none(tmp_path: Path) -> None:
    done = run(
        "-",
        "--output-dir",
        str(tmp_path / "new"),
        given=WHOLE.replace("name: web,", "name: ../../web,").replace("secretName: web", "secretName: x"),
    )
    assert done.exit_code == 0
    assert list((tmp_path / "new").iterdir()) == []
    assert "metadata.name" in done.stdout


def test_a_label_that_kubernetes_refuses_is_not_written() -> None:
    done = run("-", given=WHOLE.replace("namespace: team-a}", "namespace: team-a, labels: {a: b c}}", 1))
    assert done.stdout == ""
    assert "metadata.labels left out: are none that Kubernetes takes" in done.stderr


@pytest.mark.parametrize(
    ("arguments", "given", "status", "said"),
    [
        pytest.param(["/nonexistent/x"], "", 2, "/nonexistent/x can't be read", id="no such file"),
        pytest.param(["-"], OTHERS, 5, "there is no object of an operator that is known", id="nothing to do"),
        pytest.param(["-"], "", 5, "there is no object", id="empty"),
        pytest.param(["-", "--map-store", "a"], WHOLE, 2, "--map-store: 'a' is no", id="an option"),
        pytest.param(["-", "--identity", "A"], WHOLE, 2, "--identity: 'A'", id="an identity"),
        pytest.param(
            ["-", "--output-dir", "/nonexistent/a/b"], WHOLE, 2, "--output-dir: ", id="no directory"
        ),
    ],
)
def test_what_can_not_be_used_is_told_in_one_line(
    arguments: list[str], given: str, status: int, said: str
) -> None:
    done = run(*arguments, given=given)
    assert done.exit_code == status
    assert f"keybearer migrate: {said}" in done.stderr
    assert done.stdout == ""


def test_files_are_bounded_each_and_together(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("a.yaml", "b.yaml"):
        (tmp_path / name).write_text(WHOLE)
    monkeypatch.setattr(migrate_files, "FILE_MAX_BYTES", len(WHOLE) - 1)
    assert "is longer than" in run(str(tmp_path)).stderr
    monkeypatch.setattr(migrate_files, "FILE_MAX_BYTES", len(WHOLE))
    assert run(str(tmp_path)).exit_code == 0
    monkeypatch.setattr(migrate_files, "TOTAL_MAX_BYTES", 2 * len(WHOLE) - 1)
    assert "give fewer at a time" in run(str(tmp_path)).stderr
    monkeypatch.setattr(migrate_files, "FILES_MAX", 1)
    assert "more than 1 files" in run(str(tmp_path)).stderr


def test_what_would_steer_a_terminal_is_not_printed() -> None:
    done = run("-", given=REFUSED.replace("lease", '"\\e[31mred"'))
    assert done.exit_code == 0
    assert "\x1b" not in done.output


def test_targets_take_over_unless_told_otherwise() -> None:
    (adopting,) = documents(run("-", given=WHOLE).stdout)
    (gentle,) = documents(run("-", "--no-adopt", given=WHOLE).stdout)
    assert adopting["spec"]["target"]["adopt"] is True
    assert "adopt" not in gentle["spec"]["target"]
