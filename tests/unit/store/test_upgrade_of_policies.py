"""Policies of an earlier version keep what their certificates show that they relied on, on both databases."""

from __future__ import annotations

import time
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from alembic import command
from sqlalchemy import Connection, MetaData, select, text
from sqlalchemy.ext.asyncio import create_async_engine
from structlog.testing import capture_logs

from keybearer.base.certificate_terms import ExtendedKeyUsage, NameType
from keybearer.store.engines import database_url, sqlite_url
from keybearer.store.migrate import migration_config
from keybearer.store.migrations.bounds_of_policies import Seen, bounded
from keybearer.wire.certificates.policies import PolicyRules
from support.databases import OwnDatabase
from support.rows import each_row
from tools.local.postgres import PostgresServer

HOUR = 3_600_000
HOSTS = [{"type": "dns_name", "allowed": ["*.example.com"]}]
UNNAMED = "extendedKeyUsages: any_purpose, code_signing, time_stamping"
Rules = dict[str, Any]


def seen(*names: str, common_names: tuple[str, ...] = (), usages: tuple[str, ...] = ()) -> Seen:
    found = Seen(common_names=set(common_names))
    found.note_names(names)
    found.note_usages(usages)
    return found


KEPT: dict[str, tuple[Rules, Seen, Rules]] = {
    "nothing, where nothing relied on it": ({"sans": HOSTS}, seen("a.example.com"), {}),
    "nothing, where anything is allowed": ({}, seen("*.example.com", "a.b.example.com"), {}),
    "more than one label": (
        {"sans": HOSTS},
        seen("a.example.com", "a.b.example.com"),
        {"sans": [{"type": "dns_name", "allowed": ["**.example.com"]}]},
    ),
    "wildcards": ({"sans": HOSTS}, seen("*.example.com"), {"wildcards": "allowed"}),
    "wildcards of any depth": (
        {"sans": HOSTS},
        seen("*.b.example.com"),
        {"sans": [{"type": "dns_name", "allowed": ["**.example.com"]}], "wildcards": "allowed"},
    ),
    "wildcards that are common names": (
        {"subject": [{"type": "common_name", "allowed": ["*.example.com"]}]},
        seen(common_names=("*.example.com",)),
        {"wildcards": "allowed"},
    ),
    "mailboxes of hosts below": (
        {"sans": [{"type": "email", "required": ["*@*.example.com"]}]},
        seen("web@a.b.example.com"),
        {"sans": [{"type": "email", "required": ["**@**.example.com"]}]},
    ),
    "hosts of URIs": (
        {"sans": [{"type": "uri", "allowed": ["https://*.example.com/*"]}]},
        seen("https://a.b.example.com/c"),
        {"sans": [{"type": "uri", "allowed": ["https://**.example.com/**"]}]},
    ),
    "no URI that can't be compared": (
        {"sans": [{"type": "uri", "allowed": ["spiffe://td/ns/*"]}]},
        seen("spiffe://td/ns/../root"),
        {},
    ),
    "common names that follow no rule": (
        {"sans": HOSTS},
        seen("a.example.com", common_names=("Jane Doe", "a.example.com", "api")),
        {
            "subject": [
                {"type": "common_name", "allowed": ["*", "Jane Doe", "api"]},
                *(
                    {"type": field, "allowed": ["*"]}
                    for field in (
                        "organization",
                        "organizational_unit",
                        "country",
                        "state",
                        "locality",
                        "domain_component",
                    )
                ),
            ]
        },
    ),
    "common names under a rule for any": (
        {"subject": [{"type": "common_name", "allowed": ["*"]}], "sans": HOSTS},
        seen(common_names=("Jane Doe", "b.example.org")),
        {"subject": [{"type": "common_name", "allowed": ["*", "Jane Doe", "b.example.org"]}]},
    ),
    "common names under a rule that denies": (
        {"subject": [{"type": "common_name", "denied": ["root"]}], "sans": HOSTS},
        seen(common_names=("Jane Doe",)),
        {"subject": [{"type": "common_name", "denied": ["root"], "allowed": ["*", "Jane Doe"]}]},
    ),
    "odd common names under a pattern": (
        {"subject": [{"type": "common_name", "allowed": ["*.example.com"]}], "sans": HOSTS},
        seen(common_names=("web,O=x.example.com",)),
        {"subject": [{"type": "common_name", "allowed": ["*.example.com", "web,O=x.example.com"]}]},
    ),
    "no common name that is denied": (
        {"sans": [{"type": "dns_name", "denied": ["admin.example.com"]}]},
        seen(common_names=("admin.example.com",)),
        {"subject": None},
    ),
    "usages of which nothing was said": (
        {},
        seen(usages=("code_signing", "server_auth")),
        {
            "extendedKeyUsages": {
                "allowed": ["client_auth", "code_signing", "email_protection", "server_auth"]
            }
        },
    ),
    "usages beside denied ones": (
        {"extendedKeyUsages": {"denied": ["client_auth"]}},
        seen(usages=("timeStamping",)),
        {
            "extendedKeyUsages": {
                "denied": ["client_auth"],
                "allowed": ["client_auth", "email_protection", "server_auth", "time_stamping"],
            }
        },
    ),
    "usages that are named": (
        {"extendedKeyUsages": {"allowed": ["code_signing"]}},
        seen(usages=("code_signing",)),
        {},
    ),
    "dates": (
        {"validity": {"max": "90d"}},
        Seen(back=timedelta(days=2), ahead=timedelta(hours=30, minutes=1)),
        {"validity": {"max": "90d", "maxBackdate": "48h", "maxPostdate": "31h"}},
    ),
    "no dates that are usual": ({}, Seen(back=timedelta(minutes=5, seconds=1), ahead=timedelta(0)), {}),
}


@each_row(("rules", "found", "changes"), KEPT.values(), ids=KEPT)
def test_what_a_policy_relied_on_is_kept(rules: Rules, found: Seen, changes: Rules) -> None:
    before = repr(rules)
    result = bounded(rules, found)
    if "subject" in changes and changes["subject"] is None:
        assert all("admin.example.com" not in told for told in result.keeps)
        return
    assert result.rules == {**rules, **changes}
    assert bool(result.keeps) is bool(changes)
    assert repr(rules) == before


def test_no_name_that_somebody_chose_becomes_a_pattern() -> None:
    hostile = seen(common_names=("**", "*", "Jane ?", "a*b"))
    assert bounded({"sans": HOSTS}, hostile).keeps == []
    assert (
        bounded({"subject": [{"type": "common_name", "allowed": ["*"]}], "sans": HOSTS}, hostile).keeps == []
    )


def test_rules_stay_such_as_a_policy_may_have() -> None:
    starry, long = "*a." * 16 + "example.com", "*." + "a" * 249 + ".org"
    listed = [starry, long, *(f"{number}.example.com" for number in range(198))]
    rules = {"subject": [{"type": "common_name", "allowed": [*listed[:-1], "*"]}], "sans": HOSTS}
    rules["sans"] = [{"type": "dns_name", "allowed": listed}]
    result = bounded(
        rules, seen("b.ca." + "a." * 15 + "example.com", "c.b.a.org", common_names=("Jane Doe",))
    )
    PolicyRules.model_validate(result.rules)
    many = {"subject": [{"type": "common_name", "allowed": ["*"]}], "sans": HOSTS}
    result = bounded(many, seen(common_names=tuple(f"Jane {number}" for number in range(300))))
    PolicyRules.model_validate(result.rules)
    assert result.rules["subject"][0]["allowed"] == ["*", "**"]


def test_what_is_closed_is_told() -> None:
    rules = {"sans": [*HOSTS, {"type": "uri", "allowed": ["spiffe://td/*"]}]}
    assert bounded(rules, Seen()).closes == [
        "dns_name: *.example.com allows one label",
        "uri: spiffe://td/* allows one label of the host, and no query",
        "uri: dot segments, user, fragment, encoded slashes",
        "wildcards",
        "common_name: what is neither a host nor among the alternative names",
        UNNAMED,
    ]
    assert bounded({"extendedKeyUsages": {}}, Seen()).closes == []


def test_kinds_of_names_are_told_apart() -> None:
    found = seen("10.0.0.1", "2001:db8::1", "a.example.com", "web@example.com", "urn:x:1")
    assert found.names == {
        NameType.IP_ADDRESS: {"10.0.0.1", "2001:db8::1"},
        NameType.DNS_NAME: {"a.example.com"},
        NameType.EMAIL: {"web@example.com"},
        NameType.URI: {"urn:x:1"},
    }
    assert seen(usages=("codeSigning", "new")).usages == {ExtendedKeyUsage.CODE_SIGNING}


@pytest.fixture
def old(database_kind: str, request: pytest.FixtureRequest) -> Iterator[OwnDatabase]:
    """Yield a database without tables."""
    if database_kind == "sqlite":
        yield OwnDatabase()
        return
    server: PostgresServer = request.getfixturevalue("postgres")
    name = server.create(empty=True)
    yield OwnDatabase(server, name)
    server.drop(name)


_NOW = int(time.time() * 1000)
_POLICIES: dict[str, Rules] = {
    "used": {"sans": HOSTS, "validity": {"max": "90d"}},
    "unused": {"sans": HOSTS},
    "expired": {"sans": HOSTS},
    "filled": {},
}


def _certificate(number: int, policy: str, **more: object) -> dict[str, object]:
    made = _NOW - HOUR
    return {
        "id": f"c-{number}",
        "project_id": "p",
        "profile_id": f"profile-of-{policy}",
        "serial_number": f"{number}",
        "fingerprint": "f",
        "public_key_fingerprint": "k",
        "common_name": "",
        "alt_names": "",
        "friendly_name": "",
        "subject": {},
        "key_usages": [],
        "extended_key_usages": [],
        "key_algorithm": "EC_prime256v1",
        "signature_algorithm": "ECDSA-SHA256",
        "is_ca": False,
        "not_before": made - HOUR // 12,
        "not_after": _NOW + 24 * HOUR,
        "certificate": "",
        "chain": "",
        "is_revoked": False,
        "created_at": made,
        "updated_at": made,
        **more,
    }


_CERTIFICATES = [
    _certificate(1, "used", alt_names="*.example.com,a.b.example.com"),
    _certificate(2, "used", not_before=_NOW + 47 * HOUR, not_after=_NOW + 90 * HOUR),
    _certificate(3, "expired", alt_names="*.example.com", not_after=_NOW - HOUR // 2),
    _certificate(4, "expired", alt_names="*.example.com", is_revoked=True),
]


def _fill(connection: Connection) -> None:
    command.upgrade(migration_config(connection), "0020")
    there = MetaData()
    there.reflect(connection)

    def add(table: str, *rows: dict[str, object]) -> None:
        connection.execute(there.tables[table].insert(), list(rows))

    at = {"created_at": _NOW, "updated_at": _NOW}
    add(
        "organizations",
        {"id": "o", "name": "Home", "slug": "home", "names_revision": 1, "created_at": _NOW},
    )
    add(
        "projects",
        {
            "id": "p",
            "organization_id": "o",
            "name": "P",
            "slug": "p-slug",
            "type": "cert-manager",
            "auto_capitalization": False,
            "has_delete_protection": False,
            "revision": 1,
            **at,
        },
    )
    for name, rules in _POLICIES.items():
        add("certificate_policies", {"id": name, "project_id": "p", "name": name, "rules": rules, **at})
        defaults = {"extendedKeyUsages": ["code_signing"]} if name == "filled" else None
        add(
            "certificate_profiles",
            {
                "id": f"profile-of-{name}",
                "project_id": "p",
                "policy_id": name,
                "slug": name,
                "issuer_type": "self-signed",
                "enrollment_type": "api",
                "defaults": defaults,
                **at,
            },
        )
    add("certificates", *_CERTIFICATES)


def _rules(connection: Connection) -> dict[str, Rules]:
    there = MetaData()
    there.reflect(connection)
    table = there.tables["certificate_policies"]
    return {row.name: row.rules for row in connection.execute(select(table.c.name, table.c.rules))}


def _upgraded(connection: Connection) -> dict[str, Rules]:
    command.upgrade(migration_config(connection), "0021")
    return _rules(connection)


def _downgraded(connection: Connection) -> dict[str, Rules]:
    command.downgrade(migration_config(connection), "0020")
    return _rules(connection)


@pytest.mark.every_database
async def test_policies_are_moved_with_what_their_certificates_hold(old: OwnDatabase, tmp_path: Path) -> None:
    url = sqlite_url(tmp_path / "keybearer.db") if old.url is None else database_url(old.url)
    engine = create_async_engine(url)
    async with engine.begin() as connection:
        await connection.run_sync(_fill)
    with capture_logs() as logs:
        async with engine.begin() as connection:
            found = await connection.run_sync(_upgraded)
    wide = {"sans": [{"type": "dns_name", "allowed": ["**.example.com"]}]}
    assert found == {
        "used": {**wide, "wildcards": "allowed", "validity": {"max": "90d", "maxPostdate": "48h"}},
        "unused": _POLICIES["unused"],
        "expired": _POLICIES["expired"],
        "filled": {
            "extendedKeyUsages": {
                "allowed": ["client_auth", "code_signing", "email_protection", "server_auth"]
            }
        },
    }
    told = {(line["event"], line["name"]): line for line in logs if "name" in line}
    assert told["certificate_policy_keeps", "used"]["keeps"] == [
        "dns_name: *.example.com is **.example.com now",
        "wildcards: allowed",
        "validity.maxPostdate: 48h",
    ]
    assert "wildcards" in told["certificate_policy_closes", "unused"]["closes"]
    assert ("certificate_policy_keeps", "unused") not in told
    async with engine.begin() as connection:
        back = await connection.run_sync(_downgraded)
        assert (await connection.execute(text("SELECT count(*) FROM certificates"))).scalar_one() == 4
    await engine.dispose()
    assert back["used"] == {**wide, "validity": {"max": "90d"}}
