from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import cast

import pytest

from keybearer.controllers import access as module
from keybearer.controllers.access import ServiceAccess
from keybearer.controllers.identity import ServiceIdentity, ServicePolicy
from keybearer.controllers.outcome import StalledError
from keybearer.controllers.references import References
from keybearer.controllers.service_session import ServiceSession
from keybearer.controllers.sessions import SessionOpener
from keybearer.controllers.shared_identity import SharedGrant
from keybearer.controllers.sources.query import SourceQuery
from keybearer.controllers.work import WorkKey
from keybearer.kube.errors import UnavailableError
from keybearer.kube.reference_watch import ReferenceWatch
from unit.controllers.fakes.chance import SteadyChance
from unit.controllers.fakes.gateway import FakeGateway
from unit.controllers.fakes.source_session import FakeSession, listing
from unit.controllers.fakes.targets import FINGERPRINTER
from unit.controllers.fakes.virtual_loop import LoopClock, in_virtual_time
from unit.controllers.fakes.world import FakeWatch, secret

_QUERY = SourceQuery("shop", by_slug=False, environment="dev", path="/")
_WEB, _API = (WorkKey("SecretSync", "team-a", name) for name in ("web", "api"))
_SHARED = ServiceIdentity(
    "https://keybearer.example.com", "UniversalAuth", {"clientId": "cnry-i", "clientSecret": "cnry-s"}
)


def grant(**fields: object) -> SharedGrant:
    return SharedGrant.model_validate({"projectId": "shop", "environment": "dev", **fields})


class Desk:
    def __init__(self, *grants: SharedGrant, shared: ServiceIdentity | None = None) -> None:
        self.gateway = FakeGateway()
        self.opened: list[ServiceIdentity] = []
        self.sessions: list[FakeSession] = []
        self.references = References(
            self.gateway,
            lambda *_: None,
            lambda resource, on_change: cast("ReferenceWatch[WorkKey]", FakeWatch(resource, on_change)),
        )
        self.access = ServiceAccess(
            clock=LoopClock(),
            gateway=self.gateway,
            references=self.references,
            fingerprinter=FINGERPRINTER,
            policy=ServicePolicy("https://keybearer.example.com"),
            open_session=self._open,
            shared=shared,
            grants=grants,
        )

    def _open(self, session_id: str, identity: ServiceIdentity) -> ServiceSession:
        self.opened.append(identity)
        self.sessions.append(FakeSession(listing(), session_id=session_id))
        return cast("ServiceSession", self.sessions[-1])

    async def session(self, who: WorkKey = _WEB, identity: str | None = "login") -> ServiceSession:
        names = frozenset() if identity is None else frozenset({identity})
        self.references.follow(who, secrets=names, config_maps=frozenset())
        return await self.access.session(who, identity, _QUERY)


async def refusal(desk: Desk, who: WorkKey = _WEB, identity: str | None = "login") -> StalledError:
    with pytest.raises(StalledError) as refused:
        await desk.session(who, identity)
    assert not desk.opened
    return refused.value


@in_virtual_time
async def test_equal_credentials_share_a_session_whatever_secret_holds_them() -> None:
    desk = Desk()
    desk.gateway.put(secret("login", {"accessToken": "cnry-token"}))
    desk.gateway.put(secret("copy", {"accessToken": "cnry-token"}))
    one = await desk.session(_WEB)

    assert await desk.session(_WEB) is one
    assert await desk.session(_API, "copy") is one
    assert len(desk.opened) == 1


@in_virtual_time
async def test_other_credentials_are_another_session() -> None:
    desk = Desk()
    desk.gateway.put(secret("login", {"accessToken": "cnry-1"}))
    one = await desk.session()
    desk.gateway.put(secret("login", {"accessToken": "cnry-2"}))
    desk.references.forget(_WEB)

    assert await desk.session() is not one
    assert desk.sessions[0].id != desk.sessions[1].id


@in_virtual_time
async def test_a_missing_identity_says_what_to_create() -> None:
    error = await refusal(Desk())

    assert error.reason == "IdentityNotFound"
    assert "identity Secret team-a/login doesn't exist" in error.message


@in_virtual_time
async def test_an_identity_that_can_not_be_used_is_refused_each_time() -> None:
    desk = Desk()
    desk.gateway.put(secret("login", {"clientId": "cnry-half"}))

    for _ in range(2):
        assert (await refusal(desk)).reason == "IdentityInvalid"


@in_virtual_time
async def test_an_identity_of_which_no_client_can_be_made_names_its_secret_each_time() -> None:
    desk = Desk()
    bundle = "-----BEGIN CERTIFICATE-----\ncnry\n-----END CERTIFICATE-----"
    desk.gateway.put(
        secret("login", {"clientId": "cnry-id", "clientSecret": "cnry-secret", "caBundle": bundle})
    )
    desk.access._open_session = SessionOpener(LoopClock(), desk.gateway, SteadyChance()).open
    for _ in range(2):
        error = await refusal(desk)

        assert error.reason == "IdentityInvalid"
        assert error.message == (
            "identity Secret team-a/login can't be used: caBundle holds a certificate that can't be read; correct it"
        )


@in_virtual_time
async def test_without_a_shared_identity_an_identity_must_be_named() -> None:
    error = await refusal(Desk(grant(namespaces=["*"])), identity=None)

    assert error.reason == "SharedIdentityRefused"
    assert "name an identity Secret in identityRef" in error.message


@in_virtual_time
async def test_the_shared_identity_is_for_those_who_were_granted_it() -> None:
    desk = Desk(grant(namespaces=["team-a"]), shared=_SHARED)
    await desk.session(identity=None)

    assert desk.opened == [_SHARED]
    desk.opened.clear()
    stranger = WorkKey("SecretSync", "team-b", "web")
    assert (await refusal(desk, stranger, None)).reason == "SharedIdentityRefused"


@in_virtual_time
async def test_labels_of_namespaces_are_asked_for_only_where_grants_need_them_and_kept_for_a_while() -> None:
    desk = Desk(grant(namespaceLabels={"tier": "gold"}), shared=_SHARED)
    gold = {"kind": "Namespace", "metadata": {"namespace": "", "name": "team-a", "labels": {"tier": "gold"}}}
    desk.gateway.put(gold)  # type: ignore[arg-type]
    asked = 0

    def count(verb: str, kind: str) -> None:
        nonlocal asked
        asked += (verb, kind) == ("get", "Namespace")

    desk.gateway.before = count
    for _ in range(5):
        await desk.session(identity=None)
    assert asked == 1

    desk.gateway.remove("Namespace", "team-a", "")
    await asyncio.sleep(31)
    desk.opened.clear()
    assert (await refusal(desk, identity=None)).reason == "SharedIdentityRefused"
    assert asked == 2


@in_virtual_time
async def test_labels_are_kept_of_a_bounded_number_of_namespaces(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_LABELS_MAX", 10)
    desk = Desk(grant(namespaceLabels={"tier": "gold"}), shared=_SHARED)
    for number in range(25):
        await refusal(desk, WorkKey("SecretSync", f"team-{number}", "web"), None)

    assert len(desk.access._labels) <= 10


@in_virtual_time
async def test_a_cluster_that_can_not_be_asked_is_no_refusal() -> None:
    desk = Desk(grant(namespaceLabels={"tier": "gold"}), shared=_SHARED)
    desk.gateway.fail("get", "Namespace", UnavailableError("no answer"))
    with pytest.raises(UnavailableError):
        await desk.session(identity=None)


@in_virtual_time
async def test_sessions_that_nobody_uses_are_closed_after_a_while_and_others_stay() -> None:
    desk = Desk()
    for name in ("login", "other"):
        desk.gateway.put(secret(name, {"accessToken": f"cnry-{name}"}))
    used = (await desk.session()).id
    await desk.session(_API, "other")
    sweeping = asyncio.create_task(desk.access.run(lambda: {used}))
    await asyncio.sleep(250)
    assert not any(one.is_closed for one in desk.sessions)
    await asyncio.sleep(200)

    assert [one.is_closed for one in desk.sessions] == [False, True]
    await desk.session(_API, "other")
    assert len(desk.sessions) == 3, "it is opened anew when it is needed again"
    sweeping.cancel()
    with suppress(asyncio.CancelledError):
        await sweeping


@in_virtual_time
async def test_closing_closes_every_session() -> None:
    desk = Desk()
    for name in ("login", "other"):
        desk.gateway.put(secret(name, {"accessToken": f"cnry-{name}"}))
        await desk.session(_WEB, name)
    await desk.access.close()

    assert [one.is_closed for one in desk.sessions] == [True, True]
