"""docs/migration.md: each worked example gives what the page says."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest
from typer.testing import CliRunner

from keybearer.cli.main import app
from keybearer.migrate.refused import REFUSED
from keybearer.migrate.registry import _CONVERTERS, Project
from keybearer.migrate.settings import Settings
from support.migration import migrate_text

PAGE = (Path(__file__).parents[3] / "docs" / "migration.md").read_text(encoding="utf-8")
EXAMPLES = re.findall(
    r"`([a-z-]+\.yaml)`:\n\n```yaml\n(.*?)```\n\n    \$ keybearer migrate (.*?) > keybearer\.yaml\n\n"
    r"```text\n(.*?)```\n\n`keybearer\.yaml` is then:\n\n```yaml\n(.*?)```",
    PAGE,
    re.DOTALL,
)
_TOGETHER = {
    "CertificateRequest",
    "Challenge",
    "HCPAuth",
    "HCPVaultSecretsApp",
    "Order",
    "Password",
    "UUID",
    "VaultAuthGlobal",
}


def test_there_is_an_example_of_each_project() -> None:
    projects = {one.project for _, given, *_ in EXAMPLES for one in migrate_text(given, Settings()).outcomes}
    assert projects == set(Project)


@pytest.mark.parametrize(
    ("file", "given", "arguments", "report", "manifests"), EXAMPLES, ids=[example[0] for example in EXAMPLES]
)
def test_an_example_gives_what_the_page_says(
    file: str,
    given: str,
    arguments: str,
    report: str,
    manifests: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    Path(file).write_text(given, encoding="utf-8")

    done = CliRunner().invoke(app, ["migrate", *shlex.split(arguments)])

    assert done.exit_code == 0
    assert done.stdout == manifests
    assert done.stderr.split() == report.split()  # folded to the page there, one line each here


def test_the_page_names_every_kind_that_is_converted_or_refused() -> None:
    for _, kind in {*_CONVERTERS, *REFUSED}:
        # Those of the cluster, and what is made for minutes only, are told together.
        if not kind.startswith("Cluster") and kind not in _TOGETHER:
            assert kind in PAGE, kind
