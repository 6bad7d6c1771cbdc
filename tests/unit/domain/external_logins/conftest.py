"""A service whose logins ask somebody else, with a clock that the test turns."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from keybearer.domain.auth_methods import AuthMethods
from keybearer.domain.authentication import Authentication
from keybearer.domain.bootstrap import AdminCredentials, bootstrap
from keybearer.domain.external_logins import ExternalLogins
from keybearer.domain.identities import Identities
from keybearer.domain.lockouts import Lockouts
from keybearer.domain.outbound import Outbound, OutboundSettings, outbound_of
from keybearer.domain.server_keys import RootKeySource, unlock
from keybearer.outbound.own_account import OwnAccount
from keybearer.outbound.urls import OutboundUrl
from keybearer.store.database import Database
from support.databases import sqlite_with_tables
from support.virtual_time import VirtualTime
from unit.domain.external_logins.house import House, People, Reviews


@pytest.fixture
async def house(tmp_path: Path) -> AsyncIterator[House]:
    clock = VirtualTime()
    database = Database(sqlite_with_tables(tmp_path), clock)
    await database.prepare()
    keys = await unlock(database, RootKeySource(tmp_path / "root.key"))
    made: list[AdminCredentials] = []
    await bootstrap(database, keys, clock, made.append)
    authentication = Authentication(database, keys, clock)
    issued = await authentication.login_universal(made[0].client_id, made[0].client_secret, None, "127.0.0.1")
    admin = await authentication.authenticate(issued.text, "127.0.0.1")
    identity = await Identities(database, keys, clock).create(
        admin,
        "web",
        made[0].organization_id,
        "no-access",  # type: ignore[arg-type] # a role's word
    )
    account = tmp_path / "account"
    account.mkdir()
    (account / "token").write_text("cnry-own-token\n")
    (account / "ca.crt").write_text("")
    reviews, people = Reviews(), People()
    own = OwnAccount(OutboundUrl("https", "kubernetes.default.svc", 443, ""), account)
    ways = outbound_of(OutboundSettings(), clock)
    outbound = Outbound(reviews, people, ways.remotes, ways.acme, own)
    logins = ExternalLogins(database, keys, outbound, clock)
    methods = AuthMethods(database, Lockouts(keys), clock)
    yield House(
        clock,
        admin,
        made[0],
        identity.id,
        authentication,
        methods,
        logins,
        reviews,
        people,
        database,
        account,
    )
    await database.close()
