"""Authorities are made, signed by their parents, renewed and deleted, or it is said why not."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from keybearer.base.clock import format_instant
from keybearer.cli.failures import ExitStatus
from support.scripted_server import Reply
from unit.cli.certificate_replies import AUTHORITIES, AUTHORITY, ID, run


def _valid_for(days: int, **more: str) -> Reply:
    """An authority whose certificate ends in so many days."""
    told = {"notAfter": format_instant(datetime.now(UTC) + timedelta(days=days)), **more}
    return Reply(body={**AUTHORITY, "configuration": told})


MADE = {**AUTHORITY, "id": "ca-9", "name": "shop", "status": "pending-certificate"}
SIGNED = Reply(body={"certificate": "pem", "certificateChain": "", "serialNumber": "1", "certId": "x"})


async def test_an_intermediate_is_made_and_signed_by_its_parent(tmp_path: Path) -> None:
    asks = await run(
        tmp_path,
        *("authorities", "create", "shop", "--parent", "issuing", "--path-length", "0", "--country", "DE"),
        replies=(
            AUTHORITIES,
            _valid_for(7300),
            Reply(body=MADE),
            SIGNED,
            Reply(body={**MADE, "status": "active"}),
        ),
    )
    assert asks.answer.status == 0, asks.answer.stderr
    assert asks.lines == [
        "GET ca",
        f"GET ca/internal/{AUTHORITY['id']}",
        "POST ca/internal",
        "POST ca/internal/ca-9/certificate",
        "GET ca/internal/ca-9",
    ]
    told = asks.bodies[2]["configuration"]
    assert (told["type"], told["commonName"], told["country"], told["maxPathLength"]) == (
        "intermediate",
        "shop",
        "DE",
        0,
    )
    assert "notAfter" not in told
    assert asks.bodies[3]["parentCaId"] == AUTHORITY["id"]
    assert "is active" in asks.answer.stderr


async def test_an_intermediate_that_cannot_be_signed_does_not_stay(tmp_path: Path) -> None:
    refusal = Reply(400, body={"message": "The path is too long", "error": "BadRequest"})
    asks = await run(
        tmp_path,
        *("authorities", "create", "shop", "--parent", "issuing"),
        replies=(AUTHORITIES, _valid_for(100), Reply(body=MADE), refusal, Reply(body=MADE)),
    )
    assert asks.answer.status == ExitStatus.REFUSED
    assert "The path is too long" in asks.answer.stderr
    assert asks.lines[-2:] == ["POST ca/internal/ca-9/certificate", "DELETE ca/internal/ca-9"]


async def test_what_is_left_without_a_certificate_all_the_same_is_named(tmp_path: Path) -> None:
    refusals = (Reply(400, body={"message": "no"}), Reply(403, body={"message": "not you"}))
    asks = await run(
        tmp_path,
        *("authorities", "create", "shop", "--parent", "issuing"),
        replies=(AUTHORITIES, _valid_for(100), Reply(body=MADE), *refusals),
    )
    assert asks.answer.status == ExitStatus.REFUSED
    assert "keybearer authorities delete ca-9" in asks.answer.stderr


@pytest.mark.parametrize(
    ("command", "more"),
    [
        pytest.param(("create", "shop", "--parent", "issuing"), {}, id="a new one"),
        pytest.param(("renew", "issuing"), {"parentCaId": ID.format(7)}, id="one that is renewed"),
    ],
)
async def test_an_authority_that_would_outlive_its_parent_is_refused_before_anything_is_asked_for(
    tmp_path: Path, command: tuple[str, ...], more: dict[str, str]
) -> None:
    replies = (AUTHORITIES, _valid_for(90, **more), *([_valid_for(90)] if more else []))

    asks = await run(tmp_path, "authorities", *command, "--days", "91", replies=replies)

    assert asks.answer.status == ExitStatus.USAGE
    assert "leave --days out" in asks.answer.stderr
    assert all(line.startswith("GET ") for line in asks.lines)


async def test_who_deletes_an_authority_is_told_which_stand_below_it(tmp_path: Path) -> None:
    below = {
        **AUTHORITY,
        "id": ID.format(8),
        "name": "shop",
        "configuration": {"parentCaId": AUTHORITY["id"]},
    }
    asks = await run(
        tmp_path, "authorities", "delete", "issuing", replies=(AUTHORITIES, Reply(body=[AUTHORITY, below]))
    )
    assert asks.answer.status == ExitStatus.USAGE
    assert "It signed for shop" in asks.answer.stderr
    assert asks.lines == ["GET ca", "GET ca/internal"]


async def test_an_authority_without_a_certificate_signs_no_other(tmp_path: Path) -> None:
    asks = await run(
        tmp_path,
        *("authorities", "create", "shop", "--parent", "issuing"),
        replies=(AUTHORITIES, Reply(body={**AUTHORITY, "status": "pending-certificate"})),
    )
    assert asks.answer.status == ExitStatus.USAGE
    assert "has no certificate yet" in asks.answer.stderr


@pytest.mark.parametrize("command", [("create", "shop", "--parent", "issuing"), ("renew", "issuing")])
async def test_an_authority_elsewhere_is_neither_renewed_nor_a_parent(
    tmp_path: Path, command: tuple[str, ...]
) -> None:
    elsewhere = Reply(body={"certificateAuthorities": [{**AUTHORITY, "type": "acme"}]})

    asks = await run(tmp_path, "authorities", *command, replies=(elsewhere,))

    assert (asks.answer.status, asks.lines) == (ExitStatus.USAGE, ["GET ca"])
    assert "is of type acme" in asks.answer.stderr


async def test_a_root_signs_itself_at_once(tmp_path: Path) -> None:
    asks = await run(tmp_path, "authorities", "create", "root", replies=(Reply(body=AUTHORITY),))
    assert asks.lines == ["POST ca/internal"]
    assert asks.bodies[0]["configuration"]["type"] == "root"
    assert "notAfter" in asks.bodies[0]["configuration"]
