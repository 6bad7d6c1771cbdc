"""The command line against a real service, as processes: what it does, says, and never shows."""

from __future__ import annotations

import json
import os
import signal
import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from contract.client.house import nothing_shown
from keybearer.client import Keybearer, SuppliedToken, Unauthenticated
from support.canary import Canary
from support.command_line import PROGRAM, CommandLine, at_a_terminal
from support.service_fixtures import (
    Credentials,
    Project,
    ProjectSecrets,
    Service,
    start_service,
)
from tools.local.waiting import PATIENCE_SECONDS, eventually

VALUE = "cnry-value"


def test_somebody_logs_in_works_and_logs_out(
    service: Service, project: Project, who: Credentials, tmp_path: Path
) -> None:
    keybearer = CommandLine(tmp_path, {"KEYBEARER_PROJECT": project.slug, "KEYBEARER_ENVIRONMENT": "dev"})
    nobody = keybearer("secrets", "list")
    assert (nobody.status, "keybearer login" in nobody.stderr) == (3, True)
    file = tmp_path / "secret"
    file.write_text(who.client_secret + "\n")
    logged_in = keybearer(
        "login", "--url", f"{service.url}/", "--client-id", who.client_id, "--client-secret-file", str(file)
    )
    assert (logged_in.status, logged_in.stdout) == (0, "")
    assert str(keybearer.login_file) in logged_in.stderr
    assert stat.S_IMODE(keybearer.login_file.stat().st_mode) == 0o600
    assert who.client_secret not in keybearer.login_file.read_text()
    assert keybearer("secrets", "list", "-o", "json").json == []
    empty, missing = keybearer("secrets", "list"), keybearer("secrets", "list", "--path", "/nope")
    assert (empty.status, empty.stdout, "Nothing found" in empty.stderr) == (0, "", True)
    assert (missing.status, "there is no folder /nope in environment dev" in missing.stderr) == (5, True)
    elsewhere = keybearer("secrets", "list", KEYBEARER_URL="http://127.0.0.1:1")
    assert (elsewhere.status, service.url in elsewhere.stderr) == (3, True)
    token = _token(keybearer)
    assert token not in logged_in.stderr
    assert keybearer("logout").status == 0
    assert not keybearer.login_file.exists()
    with Keybearer(service.url, SuppliedToken(token)) as client, pytest.raises(Unauthenticated):
        client.auth.check()
    assert keybearer("logout").status == 0


def test_a_person_logs_in_with_a_password(service: Service, project: Project, tmp_path: Path) -> None:
    email, password = f"{project.slug}@example.com", "cnry-correct horse"
    admin = service.admin_client()
    admin.json("POST", "/api/v1/users", json={"email": email, "password": password})
    body = {"emails": [email], "roleSlugs": ["member"]}
    admin.json("POST", f"/api/v1/projects/{project.id}/memberships", json=body)
    keybearer = CommandLine(tmp_path, {"KEYBEARER_URL": service.url})
    wrong = keybearer(
        "login", "--email", email, KEYBEARER_PASSWORD="cnry-wrong password", KEYBEARER_CLIENT_ID="of-ci"
    )
    assert (wrong.status, keybearer.login_file.exists()) == (3, False)
    assert keybearer("login", "--email", email, "--password-file", "-", stdin=password + "\n").status == 0
    listed = keybearer("projects", "list", "-o", "json")
    assert [one["slug"] for one in listed.json] == [project.slug]
    nothing_shown(wrong.stderr, keybearer.login_file.read_text())


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        pytest.param(["--url", "https://k"], "--client-id", id="as nobody"),
        pytest.param(["--url", "https://k", "--client-id", "c", "--email", "e"], "--client-id", id="as two"),
        pytest.param(["--url", "http://example.com", "--client-id", "c"], "plain http", id="in the clear"),
        pytest.param(
            ["--url", "https://k", "--client-id", "c"], "KEYBEARER_CLIENT_SECRET", id="nobody to ask"
        ),
        pytest.param(["--url", "ftp://k", "--client-id", "c"], "https://host", id="no address"),
        pytest.param(["--client-id", "c"], "--url", id="nobody to ask for the address"),
        pytest.param(
            ["--url", "http://u:cnry-p@k", "--client-id", "c"],
            "can't hold credentials",
            id="password in the address",
        ),
        pytest.param(
            ["--url", "https://k", "--client-id", "c", "--ca-file", "/nonexistent"],
            "can't be read",
            id="no CA",
        ),
    ],
)
def test_a_login_that_can_not_work_says_why(arguments: list[str], said: str, tmp_path: Path) -> None:
    answer = CommandLine(tmp_path)("login", *arguments)
    assert (answer.status, said in answer.stderr) == (2, True)
    nothing_shown(answer.stderr)


def test_values_are_set_from_standard_input_and_files_and_hidden_unless_asked(
    keybearer: CommandLine, secrets: ProjectSecrets, tmp_path: Path
) -> None:
    piped = keybearer("secrets", "set", "PIPED", stdin=VALUE + "\n")
    file = tmp_path / "value"
    file.write_text(f"{VALUE}\nof two lines\n")
    read = keybearer("secrets", "set", "READ", "--file", str(file), "--comment", "c")
    again = keybearer("secrets", "set", "PIPED", "-o", "json", stdin=f"{VALUE}-2\n")
    assert (piped.status, read.status, again.json["version"]) == (0, 0, 2)
    assert secrets.values() == {"PIPED": f"{VALUE}-2", "READ": f"{VALUE}\nof two lines\n"}
    listed, shown = keybearer("secrets", "list"), keybearer("secrets", "list", "--show")
    alone, plain = keybearer("secrets", "get", "PIPED"), keybearer("secrets", "get", "PIPED", "--plain")
    as_json = keybearer("secrets", "get", "PIPED", "-o", "json")
    assert "PIPED" in listed.stdout
    assert VALUE in shown.stdout
    assert plain.stdout == f"{VALUE}-2"
    assert as_json.json["secret_key"] == "PIPED"
    assert "secret_value" not in as_json.json
    assert keybearer("secrets", "get", "PIPED", "-o", "json", "--show").json["secret_value"] == f"{VALUE}-2"
    nothing_shown(listed.stdout, alone.stdout, as_json.stdout, piped.stderr, read.stderr, again.stdout)


def test_an_argument_is_taken_for_a_value_only_when_asked(
    keybearer: CommandLine, secrets: ProjectSecrets
) -> None:
    refused = keybearer("secrets", "set", f"A={VALUE}")
    assert (refused.status, "--literal" in refused.stderr) == (2, True)
    nothing_shown(refused.stderr)
    assert keybearer("secrets", "set", f"A={VALUE}=b", "--literal").status == 0
    assert secrets.values() == {"A": f"{VALUE}=b"}
    assert keybearer("secrets", "set", "A", "--literal").status == 2


def test_secrets_are_deleted_together_and_only_when_meant(
    keybearer: CommandLine, secrets: ProjectSecrets
) -> None:
    secrets.create("A", VALUE)
    secrets.create("B", VALUE)
    unasked = keybearer("secrets", "delete", "A")
    assert (unasked.status, "--yes" in unasked.stderr) == (2, True)
    assert keybearer("secrets", "delete", "A", "NONE", "--yes").status == 5
    assert set(secrets.values()) == {"A", "B"}
    assert keybearer("secrets", "delete", "A", "B", "--yes").status == 0
    assert secrets.values() == {}


@pytest.mark.parametrize("form", ["env", "yaml"])
def test_an_export_is_imported_whole(
    form: str, keybearer: CommandLine, secrets: ProjectSecrets, tmp_path: Path
) -> None:
    values = {
        "PLAIN": VALUE,
        "LINES": f"-----BEGIN-----\n{VALUE}\n-----END-----\n",
        "ODD": f'{VALUE} "b" $c #d \\n \t\u00e4',
        "QUOTED": f"{VALUE}'s; e #f",
        "EMPTY": "",
    }
    for key, value in values.items():
        secrets.create(key, value)
    file = tmp_path / f"out.{form}"
    exported = keybearer("secrets", "export", "--file", str(file))
    assert (exported.status, exported.stdout, stat.S_IMODE(file.stat().st_mode)) == (0, "", 0o600)
    printed = keybearer("secrets", "export", "--format", form)
    assert printed.stdout == file.read_text()
    assert keybearer("secrets", "export", "--file", str(file)).status == 2
    unchanged = keybearer("secrets", "import", str(file), "-o", "json")
    assert unchanged.json == {"created": 0, "updated": 0, "unchanged": len(values)}
    secrets.update("PLAIN", secretValue="cnry-other")
    imported = keybearer("secrets", "import", str(file), "--env", "staging", "-o", "json")
    assert imported.json == {"created": len(values), "updated": 0, "unchanged": 0}
    assert secrets.values(environment="staging") == values
    updated = keybearer("secrets", "import", "-", "--format", form, "-o", "json", stdin=file.read_text())
    assert updated.json == {"created": 0, "updated": 1, "unchanged": len(values) - 1}
    nothing_shown(exported.stderr, unchanged.stdout, unchanged.stderr, imported.stderr, updated.stderr)


def test_an_import_of_many_goes_in_batches(
    keybearer: CommandLine, secrets: ProjectSecrets, tmp_path: Path
) -> None:
    file = tmp_path / "many.env"
    file.write_text("".join(f"KEY_{number}={VALUE}-{number}\n" for number in range(250)))
    assert keybearer("secrets", "import", str(file), "-o", "json").json["created"] == 250
    assert len(secrets.values()) == 250


def test_a_file_that_can_not_be_read_is_told_without_what_it_holds(
    keybearer: CommandLine, tmp_path: Path
) -> None:
    file = tmp_path / "bad.env"
    file.write_text(f"A={VALUE}\nB='{VALUE}\n")
    answer = keybearer("secrets", "import", str(file))
    assert (answer.status, "line 2" in answer.stderr) == (2, True)
    nothing_shown(answer.stderr)


def test_a_refusal_of_the_service_shows_no_value(keybearer: CommandLine) -> None:
    answer = keybearer("secrets", "set", "A:B", stdin=VALUE)
    assert answer.status == 7
    assert "colon" in answer.stderr
    nothing_shown(answer.stderr)


def test_hidden_values_are_not_passed_for_real_ones(
    service: Service, project: Project, keybearer: CommandLine, secrets: ProjectSecrets
) -> None:
    secrets.create("A", VALUE)
    seer = service.create_identity(roles={project.id: "no-access"})
    grant = {"identityId": seer.identity_id, "actions": ["read"], "environment": "dev"}
    service.admin_client().json("POST", f"/api/v1/projects/{project.id}/grants", json=grant)
    them = {
        "KEYBEARER_CLIENT_ID": seer.client_id,
        "KEYBEARER_CLIENT_SECRET": seer.client_secret,
        "KEYBEARER_PROJECT": project.id,  # a grant for secrets opens no project to be looked up by slug
    }
    assert "(hidden)" in keybearer("secrets", "list", "--show", **them).stdout
    for command in (["secrets", "export"], ["run", "true"]):
        answer = keybearer(*command, **them)
        assert (answer.status, answer.stdout) == (4, "")


def test_a_program_runs_with_the_secrets_and_its_status_is_ours(
    keybearer: CommandLine, secrets: ProjectSecrets
) -> None:
    secrets.create("SECRET", f"{VALUE}\nof two lines")
    secrets.create("HOME", "cnry-not-this")
    script = (
        "import os, sys; print(os.environ['SECRET'] == sys.stdin.read(), 'cnry' in os.environ['HOME'], "
        "sorted(name for name in os.environ if name in ('KEYBEARER_CLIENT_SECRET', 'KEYBEARER_TOKEN'))); sys.exit(7)"
    )
    ran = keybearer("run", "--", sys.executable, "-c", script, stdin=f"{VALUE}\nof two lines")
    assert (ran.status, ran.stdout, ran.stderr) == (7, "True False []\n", "")
    overridden = keybearer("run", "--override", "--", sys.executable, "-c", script, stdin="")
    assert overridden.stdout == "False True []\n"


@pytest.mark.parametrize(
    ("command", "status"), [(["no-such-program-here"], 127), (["/etc/passwd"], 126), (["/"], 126)]
)
def test_a_program_that_can_not_be_run_ends_as_in_shells(
    command: list[str], status: int, keybearer: CommandLine
) -> None:
    answer = keybearer("run", "--", *command)
    assert (answer.status, command[0] in answer.stderr) == (status, True)


@pytest.fixture
def sleeper(keybearer: CommandLine, secrets: ProjectSecrets) -> Iterator[subprocess.Popen[str]]:
    secrets.create("SECRET", VALUE)
    program = "import signal, sys; print('up', flush=True); signal.pause()"
    process = keybearer.start("run", "--", sys.executable, "-c", program)
    yield process
    process.kill()
    process.communicate()


def test_a_signal_reaches_the_program(sleeper: subprocess.Popen[str]) -> None:
    assert sleeper.stdout is not None
    assert sleeper.stdout.readline() == "up\n"
    sleeper.send_signal(signal.SIGTERM)
    assert sleeper.wait(PATIENCE_SECONDS) == -signal.SIGTERM


def test_the_program_takes_our_place_and_no_argument_shows_a_value(sleeper: subprocess.Popen[str]) -> None:
    assert sleeper.stdout is not None
    assert sleeper.stdout.readline() == "up\n"
    seen = psutil.Process(sleeper.pid)
    assert seen.cmdline()[0] == sys.executable
    assert seen.children() == []
    nothing_shown(" ".join(seen.cmdline()))


def test_a_program_sees_a_closed_pipe_as_usual(keybearer: CommandLine) -> None:
    process = keybearer.start("run", "--", "yes")
    assert process.stdout is not None
    assert process.stdout.readline() == "y\n"
    process.stdout.close()
    assert process.wait(PATIENCE_SECONDS) == -signal.SIGPIPE
    assert process.stderr is not None
    process.stderr.close()


def test_ctrl_c_ends_a_command_as_in_shells(keybearer: CommandLine, tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    process = keybearer.start("secrets", "set", "SLOW", "--file", str(pipe))
    with pipe.open("w"):
        # Python notes a signal that comes between its last look and the system call only after that call.
        seen = psutil.Process(process.pid)
        eventually(
            lambda: seen.status() == psutil.STATUS_SLEEPING, awaited="a command that waits for the pipe"
        )
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=PATIENCE_SECONDS)
    assert (process.returncode, "Traceback" in err) == (130, False)


def test_arguments_of_our_own_processes_never_hold_a_value(
    keybearer: CommandLine, secrets: ProjectSecrets, tmp_path: Path
) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    process = keybearer.start("secrets", "set", "SLOW", "--file", str(pipe))
    with pipe.open("w") as writer:
        seen = psutil.Process(process.pid)
        nothing_shown(" ".join(seen.cmdline()), *(f"{name}" for name in seen.environ()))
        writer.write(VALUE)
    out, err = process.communicate(timeout=PATIENCE_SECONDS)
    assert process.returncode == 0
    assert secrets.values() == {"SLOW": VALUE}
    nothing_shown(out, err)


def test_projects_environments_and_folders_are_made_and_deleted(
    service: Service, keybearer: CommandLine
) -> None:
    admin = {
        "KEYBEARER_CLIENT_ID": service.admin.client_id,
        "KEYBEARER_CLIENT_SECRET": service.admin.client_secret,
    }
    made = keybearer("projects", "create", "Shop", "-o", "json", **admin).json
    place = {**admin, "KEYBEARER_PROJECT": made["slug"]}
    assert keybearer("environments", "create", "qa", "--name", "Quality", **place).status == 0
    listed = keybearer("environments", "list", "-o", "json", **place).json
    assert [one["slug"] for one in listed] == ["dev", "staging", "prod", "qa"]
    assert keybearer("folders", "create", "/apps/web", "--env", "qa", **place).status == 0
    folders = keybearer("folders", "list", "--recursive", "--env", "qa", "-o", "json", **place).json
    assert [one["path"] for one in folders] == ["/apps", "/apps/web"]
    assert keybearer("folders", "delete", "/apps", "--env", "qa", "--yes", **place).status == 7
    assert keybearer("folders", "delete", "/apps", "--force", "--env", "qa", "--yes", **place).status == 0
    assert keybearer("environments", "delete", "qa", "--yes", **place).status == 0
    assert keybearer("projects", "delete", made["slug"], "--yes", **place).status == 0
    assert keybearer("environments", "list", **place).status == 5


def test_an_identity_is_made_with_what_it_logs_in_with(
    service: Service, project: Project, keybearer: CommandLine
) -> None:
    admin = {
        "KEYBEARER_CLIENT_ID": service.admin.client_id,
        "KEYBEARER_CLIENT_SECRET": service.admin.client_secret,
    }
    identity = keybearer("identities", "create", "ci", "-p", project.slug, "-o", "json", **admin).json
    made = keybearer("identities", "client-secret", "create", identity["id"], "-o", "json", **admin).json
    assert made["client_id"] == identity["client_id"]
    them = {"KEYBEARER_CLIENT_ID": made["client_id"], "KEYBEARER_CLIENT_SECRET": made["client_secret"]}
    assert keybearer("secrets", "list", **them).status == 0
    assert keybearer("secrets", "set", "A", stdin=VALUE, **them).status == 4
    listed = keybearer("identities", "client-secret", "list", identity["id"], **admin)
    assert made["id"] in listed.stdout
    assert made["client_secret"] not in listed.stdout
    revoke = ["identities", "client-secret", "revoke", identity["id"], made["id"], "--yes"]
    assert keybearer(*revoke, **admin).status == 0
    assert keybearer("secrets", "list", **them).status == 3
    assert identity["id"] in keybearer("identities", "list", **admin).stdout
    assert keybearer("identities", "delete", identity["id"], "--yes", **admin).status == 0


def test_the_audit_log_is_shown(service: Service, project: Project, keybearer: CommandLine) -> None:
    assert keybearer("secrets", "set", "A", stdin=VALUE).status == 0
    admin = {
        "KEYBEARER_CLIENT_ID": service.admin.client_id,
        "KEYBEARER_CLIENT_SECRET": service.admin.client_secret,
    }
    shown = keybearer("audit", "-p", project.slug, "--since", "1h", **admin)
    assert shown.status == 0
    assert "secretKey" in shown.stdout
    nothing_shown(shown.stdout)
    assert keybearer("audit", "--since", "soon", **admin).status == 2


def test_a_service_that_is_not_there_is_status_6(
    keybearer: CommandLine, tmp_path: Path, canary: Canary
) -> None:
    running = start_service(tmp_path / "data")
    canary.watch("log of keybearer serve", running.log.read_text)
    url = running.url
    running.stop()
    answer = keybearer("secrets", "list", KEYBEARER_URL=url)
    assert (answer.status, "can't be reached" in answer.stderr) == (6, True)


def test_the_shell_needs_no_terminal_colours(keybearer: CommandLine, secrets: ProjectSecrets) -> None:
    secrets.create("A", VALUE)
    assert "\x1b" not in keybearer("secrets", "list").stdout


def test_a_prompt_shows_nothing_of_what_is_typed(keybearer: CommandLine, secrets: ProjectSecrets) -> None:
    status, seen = at_a_terminal(
        [str(PROGRAM), "secrets", "set", "TYPED"], keybearer.environment, prompt="Value of TYPED", typed=VALUE
    )
    assert status == 0
    nothing_shown(seen)
    assert secrets.values() == {"TYPED": VALUE}


def _token(keybearer: CommandLine) -> str:
    return str(json.loads(keybearer.login_file.read_text())["access_token"])


def test_nothing_to_read_is_no_empty_value_unless_that_is_meant(keybearer: CommandLine) -> None:
    keybearer("secrets", "set", "KEPT", stdin=VALUE)
    refused = keybearer("secrets", "set", "KEPT")
    assert refused.status == 2
    assert "--allow-empty" in refused.stderr
    assert keybearer("secrets", "get", "KEPT", "--plain").stdout == VALUE
    assert keybearer("secrets", "set", "KEPT", "--allow-empty").status == 0
    assert keybearer("secrets", "get", "KEPT", "--plain").stdout == ""


def test_half_a_pair_of_credentials_is_not_replaced_by_the_login_that_is_kept(keybearer: CommandLine) -> None:
    answer = keybearer("projects", "list", KEYBEARER_CLIENT_SECRET="")
    assert answer.status == 2
    assert "KEYBEARER_CLIENT_SECRET is missing" in answer.stderr


def test_a_folder_without_secrets_is_told_of(keybearer: CommandLine) -> None:
    for command in (("run", "--path", "/typo", "--", "true"), ("secrets", "export", "--path", "/typo")):
        answer = keybearer(*command)
        assert answer.status == 0
        assert "There are no secrets in dev:/typo." in answer.stderr
