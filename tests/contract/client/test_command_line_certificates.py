"""The command line against a real service: certificates from an authority to a revocation."""

from __future__ import annotations

import json
import shlex
import stat
import subprocess
from pathlib import Path

import pytest

from contract.client.house import nothing_shown
from keybearer.cli.failures import ExitStatus
from keybearer.pki.certificates import parse_certificates
from keybearer.pki.keys import load_private_key
from support.command_line import Answer, CommandLine
from support.service_fixtures import Project, Service


@pytest.fixture
def pki(keybearer: CommandLine, project: Project) -> CommandLine:
    """Somebody with a root, an authority below it, a policy and a profile `web`, all by hand."""
    line = CommandLine(keybearer.home, {**keybearer.variables, "KEYBEARER_PKI_PROJECT": project.slug})
    for command in (
        ("authorities", "create", "root", "--common-name", "Shop Root"),
        ("authorities", "create", "issuing", "--parent", "root", "--path-length", "0", "--days", "1000"),
        ("policies", "create", "web", "--allow", "dns_name=*.example.com", "--max-ttl", "90d"),
        ("profiles", "create", "web", "--policy", "web", "--ca", "issuing", "--ttl-days", "30"),
    ):
        made = line.here(*command)
        assert made.status == 0, made.stderr
    return line


def approver(service: Service, pki: CommandLine) -> CommandLine:
    """Return somebody else who may approve."""
    who = {
        "KEYBEARER_CLIENT_ID": service.admin.client_id,
        "KEYBEARER_CLIENT_SECRET": service.admin.client_secret,
    }
    return CommandLine(pki.home, {**pki.variables, **who})


def quiet(*answers: Answer) -> None:
    nothing_shown(*(f"{answer.stdout} {answer.stderr}" for answer in answers))
    assert not any("PRIVATE KEY" in answer.stdout + answer.stderr for answer in answers)


def test_what_certificates_come_from_is_shown_changed_and_deleted(pki: CommandLine, tmp_path: Path) -> None:
    shown = pki.here("authorities", "show", "issuing")
    assert ("Shop Root" in shown.stdout, "intermediate" in shown.stdout) == (False, True)
    pem = pki.here("authorities", "show", "issuing", "--pem")
    assert [str(one.subject) for one in parse_certificates(pem.stdout)] == ["CN=issuing", "CN=Shop Root"]
    listed = pki.here("authorities", "list")
    assert {line.split()[0] for line in listed.stdout.splitlines()[1:]} == {"root", "issuing"}
    policy = pki.here("policies", "show", "web")
    assert "*.example.com" in policy.stdout
    profile = pki.here("profiles", "show", "web")
    assert ("issuing" in profile.stdout, "30 days" in profile.stdout) == (True, True)
    assert pki.here("authorities", "renew", "root", "--days", "5000").status == 0
    assert pki.here("authorities", "disable", "issuing").status == 0
    refused = pki.here(
        "certificates",
        "issue",
        "--profile",
        "web",
        "--name",
        "a.example.com",
        "--key-file",
        str(tmp_path / "k"),
    )
    assert refused.status == ExitStatus.REFUSED
    assert pki.here("authorities", "enable", "issuing").status == 0
    assert [line.split()[0] for line in pki.here("policies", "list").stdout.splitlines()[1:]] == ["web"]
    assert [line.split()[0] for line in pki.here("profiles", "list").stdout.splitlines()[1:]] == ["web"]
    assert pki.here("profiles", "delete", "web", "--yes").status == 0
    assert pki.here("policies", "delete", "web", "--yes").status == 0
    assert pki.here("profiles", "show", "web").status == ExitStatus.NOT_FOUND
    assert pki.here("policies", "show", "web").status == ExitStatus.NOT_FOUND
    assert pki.here("authorities", "show", "none").status == ExitStatus.NOT_FOUND


def test_the_commands_that_a_migration_names_put_an_authority_below_that_of_an_issuer(
    pki: CommandLine, tmp_path: Path
) -> None:
    subprocess.run(
        [
            *(
                "openssl",
                "req",
                "-x509",
                "-newkey",
                "ec",
                "-pkeyopt",
                "ec_paramgen_curve:prime256v1",
                "-nodes",
            ),
            *("-keyout", "ca.key", "-out", "internal-ca.pem", "-days", "3650", "-subj", "/CN=Theirs"),
            *("-addext", "keyUsage=critical,keyCertSign,cRLSign"),
        ],
        cwd=tmp_path,
        check=True,
        capture_output=True,
    )
    issuer = {
        "apiVersion": "cert-manager.io/v1",
        "kind": "Issuer",
        "metadata": {"name": "internal", "namespace": "team-a"},
        "spec": {"ca": {"secretName": "internal-ca"}},
    }
    migrated = pki.here("migrate", "-", "--output", "json", stdin=json.dumps(issuer))
    (found,) = json.loads(migrated.stdout)["objects"]
    assert found["verdict"] == "whole"
    (commands,) = (one["commands"] for one in found["findings"] if one["commands"])

    for command in commands:
        if command.startswith("openssl "):
            # bash hands over the key by a pipe; here it is in a file, as kubectl isn't.
            before, _, rest = command.partition("<(")
            signed = [*shlex.split(before), "ca.key", *shlex.split(rest.partition(")")[2])]
            subprocess.run(signed, cwd=tmp_path, check=True, capture_output=True)
            continue
        if command.startswith("kubectl "):
            continue
        given, _, file = command.removeprefix("keybearer ").partition(" > ")
        words = [str(tmp_path / word) if word.endswith(".pem") else word for word in shlex.split(given)]
        answer = pki.here(*words)
        assert answer.status == 0, answer.stderr
        if file:
            (tmp_path / file).write_text(answer.stdout)

    shown = pki.here("authorities", "show", "internal", "--pem")
    assert [str(one.subject) for one in parse_certificates(shown.stdout)] == ["CN=internal", "CN=Theirs"]
    issued = pki.here(
        *("certificates", "issue", "--profile", "internal", "--name", "a.example.com"),
        *("--cert-file", str(tmp_path / "tls.crt"), "--key-file", str(tmp_path / "tls.key")),
    )
    assert issued.status == 0, issued.stderr
    verified = subprocess.run(
        [
            *("openssl", "verify", "-CAfile", "internal-ca.pem", "-untrusted", "tls.crt", "tls.crt"),
        ],
        cwd=tmp_path,
        check=False,
        capture_output=True,
        text=True,
    )
    assert verified.returncode == 0, verified.stderr
    refused = pki.here("authorities", "create", "other", "--signed-elsewhere", "--parent", "root")
    assert refused.status == ExitStatus.USAGE


def test_an_authority_below_another_ends_with_it_unless_it_is_to_end_before(pki: CommandLine) -> None:
    def end_of(name: str) -> str:
        told: str = pki.here("authorities", "show", name, "-o", "json").json["configuration"]["not_after"]
        return told

    made = pki.here("authorities", "create", "second", "--parent", "root")
    assert made.status == 0, made.stderr
    assert end_of("second") == end_of("root")
    assert pki.here("authorities", "renew", "issuing").status == 0
    assert end_of("issuing") == end_of("root")
    # The path of `issuing` ends with it, so that it can't sign another authority.
    refused = pki.here("authorities", "create", "third", "--parent", "issuing")
    assert refused.status == ExitStatus.REFUSED
    listed = pki.here("authorities", "list", "-o", "json").json
    assert sorted(one["name"] for one in listed) == ["issuing", "root", "second"]

    needed = pki.here("authorities", "delete", "root", "--yes")
    assert needed.status == ExitStatus.REFUSED
    assert "issuing, second" in needed.stderr
    assert pki.here("authorities", "delete", "second", "--yes").status == 0
    assert pki.here("authorities", "delete", "root", "--force", "--yes").status == 0


def test_a_certificate_is_issued_verified_renewed_and_revoked(pki: CommandLine, tmp_path: Path) -> None:
    cert, key, new_cert, new_key = (tmp_path / name for name in ("tls.crt", "tls.key", "new.crt", "new.key"))
    issued = pki.here(
        *("certificates", "issue", "--profile", "web", "--name", "www.example.com", "--metadata", "team=a"),
        *("--cert-file", str(cert), "--key-file", str(key), "-o", "json"),
    )
    assert (issued.status, issued.json["status"]) == (0, "issued"), issued.stderr
    leaf, *chain = parse_certificates(cert.read_text())
    assert load_private_key(key.read_text()).public_key == leaf.public_key
    assert stat.S_IMODE(key.stat().st_mode) == 0o600
    assert len(chain) == 2
    trusted = pki.here("certificates", "verify", str(cert), "--ca", "root")
    assert trusted.status == 0, trusted.stderr
    shown = pki.here("certificates", "show", issued.json["certificate_id"])
    assert ("www.example.com" in shown.stdout, "active" in shown.stdout) == (True, True)
    assert trusted.stderr.startswith(f"Trusted: certificate {leaf.serial} leads to CN=Shop Root")
    pairs = ":".join(leaf.serial.upper()[place : place + 2] for place in range(0, len(leaf.serial), 2))
    for serial in (leaf.serial, pairs):
        assert pki.here("certificates", "show", serial).stdout == shown.stdout
    assert pki.here("certificates", "show", leaf.serial[:-1]).status == ExitStatus.NOT_FOUND
    text = pki.here("certificates", "show", issued.json["certificate_id"], "--pem")
    assert parse_certificates(text.stdout) == (leaf, *chain)
    found = pki.here("certificates", "search", "--metadata", "team=a", "-o", "json")
    assert [one["id"] for one in found.json] == [issued.json["certificate_request_id"]]

    kept = pki.here(
        "certificates", "issue", "--profile", "web", "--name", "api.example.com", "--server-key", "-o", "json"
    )
    assert kept.status == 0, kept.stderr
    renewed = pki.here(
        *("certificates", "renew", kept.json["certificate_id"]),
        *("--cert-file", str(new_cert), "--key-file", str(new_key), "-o", "json"),
    )
    assert renewed.status == 0, renewed.stderr
    new_leaf = parse_certificates(new_cert.read_text())[0]
    assert load_private_key(new_key.read_text()).public_key == new_leaf.public_key
    revoked = pki.here(
        "certificates", "revoke", kept.json["certificate_id"], "--reason", "superseded", "--yes"
    )
    assert revoked.status == 0, revoked.stderr
    again = pki.here("certificates", "revoke", kept.json["certificate_id"], "--yes")
    assert again.status == ExitStatus.REFUSED
    gone = pki.here("certificates", "list", "--status", "revoked", "-o", "json")
    assert [one["id"] for one in gone.json] == [kept.json["certificate_id"]]
    of_profile = pki.here("certificates", "list", "--profile", "web", "-o", "json")
    assert {one["id"] for one in of_profile.json} == {
        issued.json["certificate_id"],
        kept.json["certificate_id"],
        renewed.json["certificate_id"],
    }
    quiet(issued, trusted, shown, text, found, kept, renewed, revoked, again, gone, of_profile)


def test_a_request_waits_is_agreed_to_and_fetched(service: Service, pki: CommandLine, tmp_path: Path) -> None:
    cert, key = tmp_path / "tls.crt", tmp_path / "tls.key"
    assert pki.here("profiles", "approval", "web", "--request-ttl", "1d").status == 0
    begun = pki.here(
        *("certificates", "issue", "--profile", "web", "--name", "www.example.com", "--key-file", str(key)),
        *("-o", "json"),
    )
    assert (begun.status, begun.json["status"]) == (0, "pending_approval"), begun.stderr
    request = begun.json["certificate_request_id"]
    waiting = pki.here("certificates", "requests")
    assert (request in waiting.stdout, "0 of 1" in waiting.stdout) == (True, True)
    early = pki.here("certificates", "fetch", request)
    assert (early.status, "pending_approval" in early.stderr) == (0, True)
    own = pki.here("certificates", "approve", request)
    assert own.status == ExitStatus.DENIED
    agreed = approver(service, pki).here("certificates", "approve", request, "--comment", "fine")
    assert (agreed.status, "the request is issued" in agreed.stderr) == (0, True), agreed.stderr
    fetched = pki.here("certificates", "fetch", request, "--cert-file", str(cert), "--wait")
    assert fetched.status == 0, fetched.stderr
    leaf = parse_certificates(cert.read_text())[0]
    assert load_private_key(key.read_text()).public_key == leaf.public_key
    quiet(begun, waiting, early, own, agreed, fetched)


def test_a_request_is_rejected_or_given_up(service: Service, pki: CommandLine) -> None:
    assert pki.here("profiles", "approval", "web").status == 0
    asked = ("certificates", "issue", "--profile", "web", "--server-key", "--name", "www.example.com")
    first, second = (pki.here(*asked, "-o", "json").json["certificate_request_id"] for _ in range(2))
    rejected = approver(service, pki).here("certificates", "reject", first, "--comment", "not this one")
    assert rejected.status == 0, rejected.stderr
    fetched = pki.here("certificates", "fetch", first)
    assert (fetched.status, "rejected" in fetched.stderr) == (ExitStatus.REFUSED, True)
    assert pki.here("certificates", "cancel", second).status == 0
    assert "was failed already" in pki.here("certificates", "cancel", second).stderr
    every = pki.here("certificates", "requests", "--all", "--profile", "web", "-o", "json")
    assert {one["status"] for one in every.json} == {"rejected", "cancelled"}
    assert pki.here("profiles", "approval", "web", "--required", "0").status == 0
    assert pki.here(*asked).status == 0


def test_what_a_policy_forbids_is_refused_with_the_reason(pki: CommandLine, tmp_path: Path) -> None:
    key = tmp_path / "tls.key"
    refused = pki.here(
        "certificates", "issue", "--profile", "web", "--name", "www.example.org", "--key-file", str(key)
    )
    assert refused.status == ExitStatus.REFUSED
    assert "www.example.org" in refused.stderr
