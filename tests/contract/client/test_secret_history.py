"""The versions of a secret are listed, and the value of one comes back; values are shown only where asked for."""

from __future__ import annotations

import pytest

from contract.client.house import nothing_shown
from keybearer.cli.failures import ExitStatus
from support.command_line import CommandLine
from support.service_fixtures import ProjectSecrets

NAME = "DB_PASSWORD"


@pytest.fixture
def changed(keybearer: CommandLine) -> CommandLine:
    for value in ("cnry-one", "cnry-two", "${OTHER} cnry-three"):
        made = keybearer.here("secrets", "set", NAME, stdin=value)
        assert made.status == 0, made.stderr
    commented = keybearer.here("secrets", "set", NAME, "--comment", "c", stdin="${OTHER} cnry-three")
    assert commented.status == 0, commented.stderr
    return keybearer


def test_versions_are_listed_with_what_changed_and_without_values(changed: CommandLine) -> None:
    listed = changed.here("secrets", "history", NAME)
    rows = [line.split() for line in listed.stdout.splitlines()[1:]]
    assert [row[:2] for row in rows][:3] == [["4", "comment"], ["3", "value"], ["2", "value"]]
    assert rows[3][0] == "1"
    nothing_shown(listed.stdout, listed.stderr)
    as_json = changed.here("secrets", "history", NAME, "-o", "json")
    nothing_shown(as_json.stdout)
    assert [one["version"] for one in as_json.json] == [4, 3, 2, 1]
    newest = changed.here("secrets", "history", NAME, "--limit", "1")
    assert [line.split()[:2] for line in newest.stdout.splitlines()[1:]] == [["4", "comment"]]


def test_values_of_versions_are_shown_as_they_were_stored(changed: CommandLine) -> None:
    shown = changed.here("secrets", "history", NAME, "--show", "-o", "json").json
    assert [one["secret_value"] for one in shown][1:] == ["${OTHER} cnry-three", "cnry-two", "cnry-one"]
    assert "cnry-two" in changed.here("secrets", "history", NAME, "--show").stdout


def test_a_value_comes_back_as_a_new_version(changed: CommandLine, secrets: ProjectSecrets) -> None:
    unasked = changed.here("secrets", "rollback", NAME, "--to", "2")
    assert unasked.status == ExitStatus.USAGE
    back = changed.here("secrets", "rollback", NAME, "--to", "2", "--yes")
    assert (back.status, "version 5" in back.stderr) == (0, True), back.stderr
    nothing_shown(back.stdout, back.stderr)
    assert secrets.values() == {NAME: "cnry-two"}
    assert changed.here("secrets", "get", NAME, "-o", "json").json["secret_comment"] == "c"
    # A text with a reference comes back as the text, not as what it named.
    secrets.create("OTHER", "cnry-other")
    assert changed.here("secrets", "rollback", NAME, "--to", "3", "--yes").status == 0
    newest = changed.here("secrets", "history", NAME, "--limit", "1", "--show", "-o", "json").json
    assert newest[0]["secret_value"] == "${OTHER} cnry-three"


def test_a_reference_to_nothing_is_not_made_anew(changed: CommandLine) -> None:
    refused = changed.here("secrets", "rollback", NAME, "--to", "3", "--yes")
    assert (refused.status, "names a secret that doesn't exist" in refused.stderr) == (
        ExitStatus.REFUSED,
        True,
    )
    nothing_shown(refused.stdout, refused.stderr)


def test_a_version_that_is_not_there_is_said_with_how_to_list_them(changed: CommandLine) -> None:
    refused = changed.here("secrets", "rollback", NAME, "--to", "99", "--yes")
    assert refused.status == ExitStatus.NOT_FOUND
    assert refused.stderr.endswith("  List the versions: keybearer secrets history NAME\n")
    missing = changed.here("secrets", "history", "NONE")
    assert (missing.status, "keybearer secrets list" in missing.stderr) == (ExitStatus.NOT_FOUND, True)
