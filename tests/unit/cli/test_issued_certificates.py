"""Certificates that there are get renewed, revoked, listed and verified."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

import pytest

from keybearer.cli.certificate_finding import all_of
from keybearer.cli.failures import ExitStatus
from keybearer.pki.certificates import text_of_certificates
from keybearer.pki.names import Subject
from support.scripted_server import Reply
from support.x509_house import NOW, certified, root
from unit.cli.certificate_replies import AUTHORITIES, AUTHORITY, BY_SLUG, ISSUED, PROFILE, SERVER_KEY, run


async def test_a_renewed_certificate_and_its_key_go_into_files(tmp_path: Path) -> None:
    cert, key = tmp_path / "tls.crt", tmp_path / "tls.key"
    files = ("--cert-file", str(cert), "--key-file", str(key))
    renewed = {**ISSUED, "certificateId": "c-2", "privateKey": SERVER_KEY, "certificateRequestId": "r-2"}
    asks = await run(tmp_path, "certificates", "renew", "c-1", *files, replies=(Reply(body=renewed),))
    assert (asks.answer.status, asks.lines) == (0, ["POST certificates/c-1/renew"])
    assert (key.read_text(), "c-2 takes the place of c-1" in asks.answer.stderr) == (SERVER_KEY, True)
    assert "cnry-" not in asks.answer.stdout + asks.answer.stderr
    later = {"certificate": None, "certificateRequestId": "r-3"}
    waits = await run(tmp_path, "certificates", "renew", "c-1", replies=(Reply(body=later),))
    assert (waits.answer.status, "Request r-3 waits" in waits.answer.stderr) == (0, True)


async def test_a_certificate_is_revoked_for_a_reason(tmp_path: Path) -> None:
    told = Reply(body={"message": "m", "serialNumber": "0a", "revokedAt": "2026-01-02T03:04:05.000Z"})
    asks = await run(
        tmp_path, *("certificates", "revoke", "c-1", "--reason", "key_compromise", "--yes"), replies=(told,)
    )
    assert (asks.answer.status, asks.bodies) == (0, [{"revocationReason": "KEY_COMPROMISE"}])
    unasked = await run(tmp_path, "certificates", "revoke", "c-1", replies=(told,))
    assert (unasked.answer.status, unasked.lines) == (ExitStatus.USAGE, [])


async def test_certificates_of_a_project_or_of_a_profile_are_listed(tmp_path: Path) -> None:
    one = {"id": "c-1", "serialNumber": "0a", "status": "active", "commonName": "www", "notAfter": "soon"}
    page = Reply(body={"certificates": [one], "totalCount": 1})
    asks = await run(tmp_path, "certificates", "list", "--status", "active", replies=(page,))
    assert asks.answer.status == 0, asks.answer.stderr
    assert asks.lines == ["GET certificates?offset=0&limit=100&status=active"]
    assert [line.split() for line in asks.answer.stdout.splitlines()[1:]] == [
        ["www", "active", "soon", "0a", "c-1"]
    ]
    of_profile = await run(
        tmp_path, *("certificates", "list", "--profile", "web", "--limit", "5"), replies=(BY_SLUG, page)
    )
    assert of_profile.lines[1] == f"GET certificate-profiles/{PROFILE['id']}/certificates?offset=0&limit=5"


AT = NOW.isoformat()


@pytest.fixture(scope="module")
def chains(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path, Path]:
    """Return files: a leaf with its intermediate, the root, and a stranger's root."""
    folder = tmp_path_factory.mktemp("chains")
    anchor = root()
    between = anchor.below()
    leaf = certified(between)
    files = folder / "leaf.pem", folder / "root.pem", folder / "other.pem"
    texts = (
        text_of_certificates((leaf, between.certificate)),
        anchor.certificate.pem,
        root(name="Other").certificate.pem,
    )
    for file, text in zip(files, texts, strict=True):
        file.write_text(text)
    return files


async def test_a_chain_is_verified_without_asking_anybody(
    tmp_path: Path, chains: tuple[Path, Path, Path]
) -> None:
    leaf, anchor, other = map(str, chains)
    trusted = await run(
        tmp_path, *("certificates", "verify", leaf, "--ca-file", anchor, "--at", AT, "--usage", "server_auth")
    )
    assert trusted.answer.status == 0, trusted.answer.stderr
    assert len(trusted.answer.stdout.splitlines()) == 4
    assert trusted.answer.stderr.startswith("Trusted: ")
    assert trusted.lines == []
    for arguments, said in (
        (("--ca-file", other, "--at", AT), "neither in the chain nor trusted"),
        (("--ca-file", anchor, "--at", (NOW + timedelta(days=91)).isoformat()), "expired"),
        (("--ca-file", anchor, "--at", AT, "--usage", "client_auth"), "client_auth"),
    ):
        refused = await run(tmp_path, "certificates", "verify", leaf, *arguments)
        assert (refused.answer.status, refused.answer.stdout) == (ExitStatus.FAILED, "")
        assert said in refused.answer.stderr
        assert "not trusted: " in refused.answer.stderr
    for senseless in ((), ("--ca", "issuing", "--ca-file", anchor), ("--ca-file", anchor, "--at", "noon")):
        assert (await run(tmp_path, "certificates", "verify", leaf, *senseless)).answer.status == 2


async def test_a_certificate_without_subject_is_shown_by_its_names(tmp_path: Path) -> None:
    anchor = root()
    leaf, trusted = tmp_path / "leaf.pem", tmp_path / "root.pem"
    leaf.write_text(certified(anchor, "www.example.com", "example.com", subject=Subject()).pem)
    trusted.write_text(anchor.certificate.pem)
    asks = await run(tmp_path, "certificates", "verify", str(leaf), "--ca-file", str(trusted), "--at", AT)
    assert asks.answer.status == 0, asks.answer.stderr
    shown = asks.answer.stdout.splitlines()[1]
    assert shown.startswith("dns_name www.example.com, dns_name example.com ")


async def test_a_chain_is_verified_against_an_authority_of_the_service(
    tmp_path: Path, chains: tuple[Path, Path, Path]
) -> None:
    leaf, anchor, _ = chains
    told = {"certificate": anchor.read_text(), "certificateChain": "", "serialNumber": "1", "version": 1}
    asks = await run(
        tmp_path,
        *("certificates", "verify", str(leaf), "--ca", "issuing", "--at", AT, "--output", "json"),
        replies=(AUTHORITIES, Reply(body=[told])),
    )
    assert asks.answer.status == 0, asks.answer.stderr
    assert asks.lines == ["GET ca", f"GET ca/internal/{AUTHORITY['id']}/ca-certificates"]
    assert len(asks.answer.json) == 3


@dataclass(frozen=True)
class Numbers:
    """A page of numbers, and how many there are in all where that is told."""

    numbers: Sequence[int]
    total_count: int | None


@pytest.mark.parametrize(
    ("total", "most", "expected"),
    [
        (0, None, [(0, 100)]),
        (100, None, [(0, 100)]),
        (250, None, [(0, 100), (100, 100), (200, 100)]),
        (250, 150, [(0, 100), (100, 50)]),
    ],
)
@pytest.mark.parametrize("told", [True, False], ids=["count told", "count not told"])
def test_pages_are_asked_for_until_there_is_enough(
    total: int, most: int | None, expected: list[tuple[int, int]], *, told: bool
) -> None:
    asked: list[tuple[int, int]] = []

    def page(*, offset: int, limit: int) -> Numbers:
        asked.append((offset, limit))
        return Numbers(range(offset, min(offset + limit, total)), total if told else None)

    assert all_of(page, lambda got: got.numbers, most) == list(
        range(total if most is None else min(most, total))
    )
    assert asked[: len(expected)] == expected
    assert len(asked) <= len(expected) + 1  # a full page may be the last one where nobody tells
