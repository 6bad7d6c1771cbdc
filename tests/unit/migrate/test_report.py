"""What is told of a migration: mappings that matched nothing, and lines that end where their text does."""

from __future__ import annotations

import json

import pytest
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
        pytest.param(["vualt=shop/prod"], id="mistyped"),
        pytest.param(["vault=shop/prod", "team-b/vault=shop/dev"], id="of another namespace"),
        pytest.param(
            ["team-a/vault=shop/prod", "vault=shop/dev"], id="a wider one where all have a narrower"
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
        ["--map-store", "*=shop/prod"],
        ["--map-store", "vault=shop/prod", "--map-store", "team-a/aws=shop/prod"],
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
