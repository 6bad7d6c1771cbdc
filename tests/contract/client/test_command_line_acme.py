"""The command line and an authority elsewhere that speaks ACME, by way of a real service."""

from __future__ import annotations

import base64
import json
import shlex
from collections.abc import Iterator
from pathlib import Path

import pytest

from contract.client.house import nothing_shown
from keybearer.cli.failures import ExitStatus
from keybearer.pki.certificates import parse_certificates
from support.acme_house import AcmeHouse, acme_house
from support.command_line import CommandLine
from support.pebble import BINDING_KEY, BINDING_SECRET

pytestmark = pytest.mark.deep


@pytest.fixture
def acme(tmp_path: Path) -> Iterator[AcmeHouse]:
    with acme_house(tmp_path / "acme", needs_binding=True) as house:
        yield house


def test_an_account_is_made_and_a_certificate_waited_for(acme: AcmeHouse, tmp_path: Path) -> None:
    service = acme.service
    line = CommandLine(
        tmp_path,
        {
            "KEYBEARER_URL": service.url,
            "KEYBEARER_CLIENT_ID": service.admin.client_id,
            "KEYBEARER_CLIENT_SECRET": service.admin.client_secret,
            "KEYBEARER_PKI_PROJECT": "my-pki",
        },
    )
    ca_file, cert, key = (tmp_path / name for name in ("ca.pem", "tls.crt", "tls.key"))
    ca_file.write_text(acme.pebble.ca_certificates)
    assert line.here("projects", "create", "C", "--slug", "my-pki", "--for-certificates").status == 0
    create = (
        *("authorities", "create", "public", "--kind", "acme", "--directory", acme.pebble.directory_url),
        *("--ca-certificates", str(ca_file), "--email", "ops@example.com", "--eab-kid", BINDING_KEY),
    )
    refused = line.here(*create, KEYBEARER_EAB_KEY=BINDING_SECRET)
    assert (refused.status, "termsOfServiceAgreed" in refused.stderr) == (ExitStatus.REFUSED, True)
    made = line.here(*create, "--agree-to-terms", "--eab-key-file", "-", stdin=f"{BINDING_SECRET}\n")
    assert made.status == 0, made.stderr
    assert "Authority public is active" in made.stderr
    shown = line.here("authorities", "show", "public")
    assert acme.pebble.directory_url in shown.stdout
    assert BINDING_KEY in shown.stdout
    for word in ("disable", "enable"):
        assert line.here("authorities", word, "public").status == 0
    for command in (
        ("policies", "create", "web", "--allow", "dns_name=*.example.com"),
        ("profiles", "create", "web", "--policy", "web", "--ca", "public"),
    ):
        assert line.here(*command).status == 0
    issued = line.here(
        *("certificates", "issue", "--profile", "web", "--name", "www.example.com", "--wait"),
        *("--cert-file", str(cert), "--key-file", str(key)),
    )
    assert issued.status == 0, issued.stderr
    leaf, *above = parse_certificates(cert.read_text())
    assert [name.value for name in leaf.alternative_names] == ["www.example.com"]
    assert len(above) == 1
    assert line.here("authorities", "delete", "public", "--yes").status == ExitStatus.REFUSED
    assert line.here("profiles", "delete", "web", "--yes").status == 0
    assert line.here("authorities", "delete", "public", "--yes").status == 0
    nothing_shown(*(f"{answer.stdout} {answer.stderr}" for answer in (refused, made, shown, issued)))


def test_the_commands_that_a_migration_names_make_authority_policy_and_profile(
    acme: AcmeHouse, tmp_path: Path
) -> None:
    service = acme.service
    line = CommandLine(
        tmp_path,
        {
            "KEYBEARER_URL": service.url,
            "KEYBEARER_CLIENT_ID": service.admin.client_id,
            "KEYBEARER_CLIENT_SECRET": service.admin.client_secret,
            "KEYBEARER_PKI_PROJECT": "my-pki",
        },
    )
    assert line.here("projects", "create", "C", "--slug", "my-pki", "--for-certificates").status == 0
    issuer = {
        "apiVersion": "cert-manager.io/v1",
        "kind": "ClusterIssuer",
        "metadata": {"name": "public"},
        "spec": {
            "acme": {
                "server": acme.pebble.directory_url,
                "email": "ops@example.com",
                "caBundle": base64.b64encode(acme.pebble.ca_certificates.encode()).decode(),
                "externalAccountBinding": {
                    "keyID": BINDING_KEY,
                    "keySecretRef": {"name": "eab", "key": "key"},
                },
                "solvers": [
                    {"http01": {"ingress": {}}, "selector": {"dnsZones": ["example.com"]}},
                ],
            }
        },
    }
    migrated = line.here("migrate", "-", "--output", "json", stdin=json.dumps(issuer))
    (found,) = json.loads(migrated.stdout)["objects"]
    assert found["verdict"] == "whole"
    (commands,) = (one["commands"] for one in found["findings"] if one["commands"])
    fetch_ca, *making = commands

    # What kubectl would fetch from the cluster.
    ca_file = shlex.split(fetch_ca)[-1]
    (tmp_path / ca_file).write_text(acme.pebble.ca_certificates)
    for command in making:
        fetched, is_piped, last = command.rpartition("| keybearer ")
        words = shlex.split(last if is_piped else command.removeprefix("keybearer "))
        words = [str(tmp_path / ca_file) if word == ca_file else word for word in words]
        made = line.here(*words, stdin=f"{BINDING_SECRET}\n" if "get secret eab" in fetched else None)
        assert made.status == 0, made.stderr

    issued = line.here(
        *("certificates", "issue", "--profile", "public", "--name", "www.example.com", "--wait"),
        *("--cert-file", str(tmp_path / "tls.crt"), "--key-file", str(tmp_path / "tls.key")),
    )
    assert issued.status == 0, issued.stderr
    elsewhere = line.here(
        *("certificates", "issue", "--profile", "public", "--name", "www.example.org", "--show-key"),
    )
    assert "www.example.org" in elsewhere.stderr
    assert elsewhere.status == ExitStatus.REFUSED


@pytest.mark.parametrize(
    ("given", "told"),
    [
        (("--kind", "acme"), "needs --directory"),
        (("--kind", "acme", "--parent", "root", "--country", "DE"), "takes no --parent, --country"),
        (("--directory", "https://a", "--agree-to-terms"), "takes no --directory, --agree-to-terms"),
    ],
    ids=["no directory", "a parent", "a directory of one of our own"],
)
def test_what_the_other_kind_has_is_refused(tmp_path: Path, given: tuple[str, ...], told: str) -> None:
    line = CommandLine(tmp_path, {"KEYBEARER_URL": "http://127.0.0.1:1", "KEYBEARER_TOKEN": "cnry-token"})
    answer = line.here("authorities", "create", "public", *given)
    assert answer.status == ExitStatus.USAGE
    assert told in answer.stderr
