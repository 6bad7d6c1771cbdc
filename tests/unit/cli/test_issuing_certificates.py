"""A certificate is asked for with a key made here or there, and both go where they were told to."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest

from keybearer.base.certificate_terms import ExtendedKeyUsage, KeyAlgorithm, KeyUsage, NameType
from keybearer.cli.certificate_files import chain_text
from keybearer.cli.certificate_issuing import signing_request
from keybearer.cli.failures import ExitStatus
from keybearer.client import CertificateAttributes
from keybearer.pki.keys import load_private_key
from keybearer.pki.signing_requests import parse_signing_request
from support.scripted_server import Reply
from unit.cli.certificate_replies import BY_SLUG, ISSUED, PROFILE, SERVER_KEY, issued, run


async def test_a_key_is_made_here_and_only_its_request_is_sent(tmp_path: Path) -> None:
    cert, key = tmp_path / "tls.crt", tmp_path / "tls.key"
    asks = await run(
        tmp_path,
        *("certificates", "issue", "--profile", "web", "--name", "www.example.com", "--name", "10.0.0.1"),
        *("--common-name", "www.example.com", "--usage", "server_auth", "--ttl", "30d"),
        *("--metadata", "team=a", "--cert-file", str(cert), "--key-file", str(key)),
        replies=(BY_SLUG, issued()),
    )
    assert asks.answer.status == 0, asks.answer.stderr
    assert asks.lines == ["GET certificate-profiles/slug/web", "POST certificates"]
    body = asks.bodies[1]
    assert body["profileId"] == PROFILE["id"]
    assert (body["attributes"], body["metadata"]) == ({"ttl": "30d"}, [{"key": "team", "value": "a"}])
    request = parse_signing_request(body["csr"])
    assert request.subject.common_name == "www.example.com"
    assert [(name.type, name.value) for name in request.alternative_names] == [
        (NameType.DNS_NAME, "www.example.com"),
        (NameType.IP_ADDRESS, "10.0.0.1"),
    ]
    assert request.extended_key_usages == (ExtendedKeyUsage.SERVER_AUTH,)
    assert load_private_key(key.read_text()).public_key == request.public_key
    assert stat.S_IMODE(key.stat().st_mode) == 0o600
    assert cert.read_text() == chain_text(ISSUED["certificate"], ISSUED["certificateChain"])
    assert "PRIVATE KEY" not in asks.answer.stdout + asks.answer.stderr
    assert str(key) in asks.answer.stderr


async def test_without_files_the_chain_is_printed_and_the_key_only_when_asked(tmp_path: Path) -> None:
    shown = await run(
        tmp_path,
        *("certificates", "issue", "--profile", PROFILE["id"], "--name", "a.example.com", "--show-key"),
        replies=(BY_SLUG, issued()),
    )
    assert shown.answer.stdout.startswith(ISSUED["certificate"])
    assert "PRIVATE KEY" in shown.answer.stdout
    kept = await run(
        tmp_path,
        *("certificates", "issue", "--profile", "web", "--server-key", "--common-name", "a.example.com"),
        *("--output", "json"),
        replies=(BY_SLUG, issued(privateKey=SERVER_KEY)),
    )
    assert kept.bodies[1] == {
        "profileId": PROFILE["id"],
        "attributes": {"commonName": "a.example.com"},
    }
    assert kept.answer.json["certificate_id"] == "c-1"
    assert kept.answer.json["private_key"] is None
    assert "cnry-" not in kept.answer.stdout + kept.answer.stderr


async def test_the_key_that_the_service_made_goes_into_a_file_of_its_own(tmp_path: Path) -> None:
    key = tmp_path / "tls.key"
    asks = await run(
        tmp_path,
        *("certificates", "issue", "--profile", "web", "--server-key", "--name", "a.example.com"),
        *("--key-algorithm", "RSA_2048", "--key-usage", "digital_signature", "--key-file", str(key)),
        replies=(BY_SLUG, issued(privateKey=SERVER_KEY)),
    )
    assert asks.answer.status == 0, asks.answer.stderr
    assert asks.bodies[1]["attributes"] == {
        "altNames": [{"value": "a.example.com"}],
        "keyUsages": ["digital_signature"],
        "keyAlgorithm": "RSA_2048",
    }
    assert key.read_text() == SERVER_KEY
    assert stat.S_IMODE(key.stat().st_mode) == 0o600
    assert "cnry-" not in asks.answer.stdout + asks.answer.stderr


async def test_a_signing_request_is_sent_as_it_is(tmp_path: Path) -> None:
    csr, _ = signing_request(CertificateAttributes(common_name="a"), KeyAlgorithm.EC_P256)
    asks = await run(
        tmp_path,
        *("certificates", "issue", "--profile", "web", "--csr", "-"),
        replies=(BY_SLUG, issued()),
        stdin=csr,
    )
    assert asks.answer.status == 0, asks.answer.stderr
    assert asks.bodies[1]["csr"] == csr


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        pytest.param(("--name", "a.example.com"), "--key-file FILE", id="nowhere for the key"),
        pytest.param(("--csr", "-", "--show-key"), "no key to be made", id="no key of a request"),
        pytest.param(("--csr", "-", "--name", "a.example.com"), "stands in the signing request", id="both"),
        pytest.param(("--key-file", "/nonexistent/key"), "no directory", id="no place for the key"),
        pytest.param(
            ("--cert-file", "new.pem", "--key-file", "./new.pem"),
            "two files",
            id="one file for both",
        ),
        pytest.param(("--show-key", "--metadata", "team"), "not KEY=VALUE", id="no metadata"),
    ],
)
async def test_what_makes_no_sense_is_refused_before_anything_is_asked(
    tmp_path: Path, arguments: tuple[str, ...], said: str
) -> None:
    asks = await run(
        tmp_path, "certificates", "issue", "--profile", "web", *arguments, replies=(BY_SLUG,), stdin="csr"
    )
    assert (asks.answer.status, asks.lines) == (ExitStatus.USAGE, [])
    assert said in asks.answer.stderr


async def test_a_file_that_is_there_is_not_replaced_unless_told(tmp_path: Path) -> None:
    key = tmp_path / "tls.key"
    key.write_text("mine")
    asked = ("certificates", "issue", "--profile", "web", "--name", "a.example.com", "--key-file", str(key))
    refused = await run(tmp_path, *asked, replies=(BY_SLUG, issued()))
    assert (refused.answer.status, refused.lines, key.read_text()) == (ExitStatus.USAGE, [], "mine")
    forced = await run(tmp_path, *asked, "--force", replies=(BY_SLUG, issued()))
    assert forced.answer.status == 0, forced.answer.stderr
    assert "PRIVATE KEY" in key.read_text()


@pytest.mark.parametrize(
    ("status", "kept"), [pytest.param(400, 0, id="refused"), pytest.param(503, 1, id="who knows")]
)
async def test_without_a_certificate_the_old_key_stays_and_the_fresh_one_is_not_lost(
    tmp_path: Path, status: int, kept: int
) -> None:
    folder = tmp_path / "tls"
    folder.mkdir()
    key = folder / "tls.key"
    key.write_text("mine")
    failed = Reply(status=status, body={"message": "no", "error": "E", "statusCode": status, "reqId": "x"})
    asked = ("certificates", "issue", "--profile", "web", "--name", "a.example.com", "--key-file", str(key))
    asks = await run(tmp_path, *asked, "--force", replies=(BY_SLUG, failed))
    assert asks.answer.status != 0
    assert key.read_text() == "mine"
    beside = [file for file in folder.iterdir() if file != key]
    assert len(beside) == kept
    for file in beside:
        assert (str(file) in asks.answer.stderr, stat.S_IMODE(file.stat().st_mode)) == (True, 0o600)
        load_private_key(file.read_text())


@pytest.mark.parametrize(
    ("certificate", "chain", "text"),
    [
        ("leaf", None, "leaf\n"),
        ("leaf\n", "ca\n", "leaf\nca\n"),
        ("self\n", "self", "self\n"),
        ("leaf", "", "leaf\n"),
    ],
)
def test_a_chain_holds_each_certificate_once(certificate: str, chain: str | None, text: str) -> None:
    assert chain_text(certificate, chain) == text


def test_a_signing_request_asks_for_what_was_said() -> None:
    request, key = signing_request(
        CertificateAttributes(
            common_name="a", organization="Shop", country="DE", key_usages=(KeyUsage.DIGITAL_SIGNATURE,)
        ),
        KeyAlgorithm.EC_P384,
    )
    read = parse_signing_request(request)
    assert str(read.subject) == "CN=a,O=Shop,C=DE"
    assert read.key_usages == frozenset({KeyUsage.DIGITAL_SIGNATURE})
    assert load_private_key(key).algorithm is KeyAlgorithm.EC_P384
