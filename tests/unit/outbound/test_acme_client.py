"""What is said to an ACME authority, and what is taken from one that says something else, over real sockets."""

from __future__ import annotations

import asyncio
import base64
import json
import ssl
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import Any

import jwt
import pytest

from keybearer.base.clock import SystemClock
from keybearer.destinations.remote import RemoteRefusedError, RemoteUnavailableError
from keybearer.outbound.acme.account_key import ACCOUNT_KEY, AccountKey, binding_secret
from keybearer.outbound.acme.client import AcmeClient, Binding
from keybearer.outbound.acme.errors import AcmeProblemError
from keybearer.outbound.acme.messages import Identifier, OrderStatus
from keybearer.outbound.acme.way import AcmeWay
from keybearer.pki.keys import generate_private_key
from support.directory import loopback_gate
from support.listening import listening
from support.self_signed import certificate

PROBLEM = "urn:ietf:params:acme:error:"
NAMES = [Identifier(type="dns", value="a.example.com")]


@dataclass
class Authority:
    """Answers by path; remembers what it was sent. Every answer has a nonce, none twice."""

    root: str = ""
    sent: list[tuple[str, str, dict[str, Any]]] = field(default_factory=list)
    answers: dict[str, Callable[[int], tuple[int, Mapping[str, str], object]]] = field(default_factory=dict)
    nonces: int = 0
    has_nonces: bool = True

    def directory(self, **more: object) -> dict[str, object]:
        names = {"newNonce": "nonce", "newAccount": "account", "newOrder": "orders", "revokeCert": "revoke"}
        return {**{name: f"{self.root}/{path}" for name, path in names.items()}, **more}

    def order(self, **more: object) -> dict[str, object]:
        return {"status": "pending", "authorizations": [], "finalize": f"{self.root}/finalize", **more}

    def times(self, path: str) -> int:
        return sum(1 for _, sent, _ in self.sent if sent == path)

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while head := await reader.readuntil(b"\r\n\r\n"):
            method, path, _ = head.split(b"\r\n", 1)[0].decode().split(" ")
            lengths = [line for line in head.split(b"\r\n") if line.lower().startswith(b"content-length:")]
            body = await reader.readexactly(int(lengths[0].split(b":")[1])) if lengths else b""
            self.sent.append((method, path, json.loads(body) if body else {}))
            writer.write(self._answer(method, path))
            await writer.drain()

    def _answer(self, method: str, path: str) -> bytes:
        usual: dict[str, Callable[[int], tuple[int, Mapping[str, str], object]]] = {
            "/dir": lambda _: (200, {}, self.directory()),
            "/nonce": lambda _: (200, {}, ""),
        }
        status, headers, content = {**usual, **self.answers}[path](self.times(path))
        given = {**headers}
        if self.has_nonces:
            self.nonces += 1
            given["Replay-Nonce"] = f"nonce-{self.nonces}"
        body = b"" if method == "HEAD" else json.dumps(content).encode()
        lines = [f"{name}: {value}" for name, value in given.items()]
        return (
            "\r\n".join([f"HTTP/1.1 {status} X", f"Content-Length: {len(body)}", *lines, "", ""]).encode()
            + body
        )


def problem(kind: str, status: int = 400, **more: object) -> tuple[int, Mapping[str, str], object]:
    return status, {}, {"type": PROBLEM + kind, "detail": f"it is {kind}", **more}


def decoded(part: str) -> Any:  # noqa: ANN401 - JSON
    return json.loads(base64.urlsafe_b64decode(part + "=" * (-len(part) % 4)) or b"null")


@pytest.fixture
def key() -> AccountKey:
    return AccountKey(generate_private_key(ACCOUNT_KEY).der())


@asynccontextmanager
async def talking(
    directory: Path, key: AccountKey, *, allow: str = "127.0.0.0/8"
) -> AsyncIterator[tuple[Authority, AcmeClient]]:
    chain, key_file = certificate(directory, serial=7)
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    tls.load_cert_chain(chain, key_file)
    authority = Authority()
    way = AcmeWay(loopback_gate(*([allow] if allow else [])), SystemClock())
    async with listening(authority.serve, tls=tls) as port:
        authority.root = f"https://127.0.0.1:{port}"
        async with way.client(
            f"{authority.root}/dir",
            key,
            account_url=f"{authority.root}/me",
            ca_certificates=chain.read_text(),
        ) as client:
            yield authority, client


class TestSigning:
    async def test_a_request_is_signed_by_the_account_for_its_url_with_a_fresh_nonce(
        self, tmp_path: Path, key: AccountKey
    ) -> None:
        async with talking(tmp_path, key) as (authority, client):
            authority.answers["/orders"] = lambda _: (
                201,
                {"Location": f"{authority.root}/o/1"},
                authority.order(),
            )
            assert await client.place_order(NAMES, "short") == f"{authority.root}/o/1"
            authority.answers["/o/1"] = lambda _: (200, {"Retry-After": "7"}, authority.order(status="ready"))
            polled = await client.order(f"{authority.root}/o/1")
            assert (polled.order.status, polled.wait) == (OrderStatus.READY, timedelta(seconds=7))
            _, _, placed = authority.sent[-2]
            _, _, looked = authority.sent[-1]
            assert decoded(placed["payload"]) == {
                "identifiers": [{"type": "dns", "value": "a.example.com"}],
                "profile": "short",
            }
            assert looked["payload"] == ""
            heads = [decoded(one["protected"]) for one in (placed, looked)]
            assert [head["url"] for head in heads] == [f"{authority.root}/orders", f"{authority.root}/o/1"]
            assert {head["kid"] for head in heads} == {f"{authority.root}/me"}
            assert len({head["nonce"] for head in heads}) == 2
            public = jwt.PyJWK(dict(key.jwk), "ES256")
            for one in (placed, looked):
                compact = f"{one['protected']}.{one['payload']}.{one['signature']}"
                jwt.api_jws.decode(compact, public, ["ES256"])

    async def test_a_new_account_is_signed_with_the_key_itself_and_bound(
        self, tmp_path: Path, key: AccountKey
    ) -> None:
        secret = b"cnry-secret-of-the-account-they-know"
        async with talking(tmp_path, key) as (authority, client):
            authority.answers["/account"] = lambda _: (
                201,
                {"Location": f"{authority.root}/me/2"},
                {"status": "valid"},
            )
            made = await client.register(email="a@example.com", binding=Binding("kid-1", secret))
            assert made == f"{authority.root}/me/2"
            _, _, sent = authority.sent[-1]
            assert decoded(sent["protected"])["jwk"] == dict(key.jwk)
            told = decoded(sent["payload"])
            assert (told["contact"], told["termsOfServiceAgreed"]) == (["mailto:a@example.com"], True)
            bound = told["externalAccountBinding"]
            compact = f"{bound['protected']}.{bound['payload']}.{bound['signature']}"
            assert json.loads(jwt.api_jws.decode(compact, secret, ["HS256"])) == dict(key.jwk)
            head = decoded(bound["protected"])
            assert (head["kid"], head["url"]) == ("kid-1", f"{authority.root}/account")

    def test_a_thumbprint_is_that_of_the_standard(self) -> None:
        # RFC 7638 names members in the order of their letters, without blanks.
        key = AccountKey(generate_private_key(ACCOUNT_KEY).der())
        assert key.key_authorization("t") == f"t.{key.thumbprint}"
        assert len(key.thumbprint) == 43
        assert "d" not in key.jwk

    @pytest.mark.parametrize("text", ["", "no base64!", "c2hvcnQ"], ids=["nothing", "no base64", "short"])
    def test_a_secret_that_cannot_bind_is_refused(self, text: str) -> None:
        with pytest.raises(ValueError, match="is "):
            binding_secret(text)


class TestNonces:
    async def test_a_nonce_that_is_not_taken_is_replaced(self, tmp_path: Path, key: AccountKey) -> None:
        async with talking(tmp_path, key) as (authority, client):
            authority.answers["/o"] = lambda time: (
                problem("badNonce") if time < 3 else (200, {}, authority.order())
            )
            await client.order(f"{authority.root}/o")
            nonces = [decoded(sent["protected"])["nonce"] for _, path, sent in authority.sent if path == "/o"]
            assert len(nonces) == len(set(nonces)) == 3

    async def test_it_ends_with_an_authority_that_takes_none(self, tmp_path: Path, key: AccountKey) -> None:
        async with talking(tmp_path, key) as (authority, client):
            authority.answers["/o"] = lambda _: problem("badNonce")
            with pytest.raises(RemoteUnavailableError, match="none of 10"):
                await client.order(f"{authority.root}/o")
            assert authority.times("/o") == 10

    async def test_one_that_gives_none_is_told(self, tmp_path: Path, key: AccountKey) -> None:
        async with talking(tmp_path, key) as (authority, client):
            authority.has_nonces = False
            with pytest.raises(RemoteUnavailableError, match="no nonce"):
                await client.order(f"{authority.root}/o")


class TestRefusals:
    @pytest.mark.parametrize(
        ("kind", "status", "is_retryable"),
        [
            ("rejectedIdentifier", 400, False),
            ("unauthorized", 403, False),
            ("rateLimited", 429, True),
            ("serverInternal", 500, True),
            ("orderNotReady", 403, True),
            ("somethingNew", 503, True),
        ],
    )
    async def test_a_refusal_says_what_and_whether_it_may_pass(
        self, tmp_path: Path, key: AccountKey, kind: str, status: int, *, is_retryable: bool
    ) -> None:
        async with talking(tmp_path, key) as (authority, client):
            authority.answers["/o"] = lambda _: problem(kind, status)
            with pytest.raises(AcmeProblemError, match=f"it is {kind}") as caught:
                await client.order(f"{authority.root}/o")
            assert (caught.value.kind, caught.value.is_retryable) == (kind, is_retryable)

    async def test_what_is_shown_of_it_is_one_line_of_bounded_length(
        self, tmp_path: Path, key: AccountKey
    ) -> None:
        parts = [{"detail": "not yours\x1b[2J", "identifier": {"type": "dns", "value": "b.example.com"}}]
        async with talking(tmp_path, key) as (authority, client):
            authority.answers["/o"] = lambda _: problem("compound", detail="a\nb", subproblems=parts)
            with pytest.raises(AcmeProblemError) as caught:
                await client.order(f"{authority.root}/o")
            assert str(caught.value) == "a b; b.example.com: not yours [2J"
            authority.answers["/o"] = lambda _: problem("compound", detail="x" * 4000)
            with pytest.raises(AcmeProblemError) as caught:
                await client.order(f"{authority.root}/o")
            assert len(str(caught.value)) == 600

    async def test_a_revocation_that_was_done_before_is_none_to_fail(
        self, tmp_path: Path, key: AccountKey
    ) -> None:
        async with talking(tmp_path, key) as (authority, client):
            authority.answers["/revoke"] = lambda _: problem("alreadyRevoked")
            await client.revoke(b"der", 4)
            assert decoded(authority.sent[-1][2]["payload"]) == {"certificate": "ZGVy", "reason": 4}
            authority.answers["/revoke"] = lambda _: problem("badRevocationReason")
            with pytest.raises(AcmeProblemError, match="badRevocationReason"):
                await client.revoke(b"der", 4)

    async def test_the_gate_lets_nobody_inside(self, tmp_path: Path, key: AccountKey) -> None:
        async with talking(tmp_path, key, allow="") as (authority, client):
            with pytest.raises(RemoteRefusedError, match="--allow-outbound"):
                await client.directory()
            assert authority.sent == []


class TestStrangeAnswers:
    @pytest.mark.parametrize(
        "change",
        [
            {"newOrder": "http://127.0.0.1/orders"},
            {"newOrder": "https://user@127.0.0.1/orders"},
            {"newOrder": "https://127.0.0.1/" + "a" * 2048},
            {"newOrder": 7},
            {"newNonce": None},
        ],
        ids=["without TLS", "with a user", "long", "a number", "none"],
    )
    async def test_a_directory_of_another_form_is_none(
        self, tmp_path: Path, key: AccountKey, change: dict[str, object]
    ) -> None:
        async with talking(tmp_path, key) as (authority, client):
            authority.answers["/dir"] = lambda _: (200, {}, authority.directory(**change))
            with pytest.raises(RemoteUnavailableError, match="is no ACME authority") as caught:
                await client.directory()
            assert "127.0.0.1" not in str(caught.value)

    @pytest.mark.parametrize(
        "change",
        [
            {"status": "unheard-of"},
            {"authorizations": ["https://a/"] * 101},
            {"authorizations": ["ftp://a/"]},
            {"certificate": "http://a/"},
        ],
        ids=["a status of nobody", "too many authorizations", "a strange authorization", "without TLS"],
    )
    async def test_an_order_of_another_form_is_none(
        self, tmp_path: Path, key: AccountKey, change: dict[str, object]
    ) -> None:
        async with talking(tmp_path, key) as (authority, client):
            authority.answers["/o"] = lambda _: (200, {}, authority.order(**change))
            with pytest.raises(RemoteUnavailableError, match="is no ACME authority"):
                await client.order(f"{authority.root}/o")

    async def test_what_is_kept_or_shown_of_it_holds_nothing_that_moves_a_terminal(
        self, tmp_path: Path, key: AccountKey
    ) -> None:
        async with talking(tmp_path, key) as (authority, client):
            authority.answers["/dir"] = lambda _: (
                200,
                {},
                authority.directory(meta={"termsOfService": "https://a/\x1b[2J\x00"}),
            )
            assert (await client.directory()).meta.terms_of_service == "https://a/ [2J "
            authority.answers["/a"] = lambda _: (
                200,
                {},
                {
                    "status": "pending",
                    "identifier": {"type": "dns", "value": "b\x00\x1b" + "x" * 4000},
                    "challenges": [],
                },
            )
            found = await client.authorization(f"{authority.root}/a")
            assert found.identifier.shown == "b  " + "x" * 250

    async def test_an_order_without_a_place_is_none(self, tmp_path: Path, key: AccountKey) -> None:
        async with talking(tmp_path, key) as (authority, client):
            authority.answers["/orders"] = lambda _: (201, {}, authority.order())
            with pytest.raises(RemoteUnavailableError, match="doesn't say where"):
                await client.place_order(NAMES, None)

    async def test_an_answer_is_bounded(self, tmp_path: Path, key: AccountKey) -> None:
        async with talking(tmp_path, key) as (authority, client):
            authority.answers["/o"] = lambda _: (200, {}, {"padding": "a" * 1024 * 1024})
            with pytest.raises(RemoteUnavailableError, match="more than 1 MiB"):
                await client.order(f"{authority.root}/o")

    async def test_a_redirect_is_not_followed(self, tmp_path: Path, key: AccountKey) -> None:
        async with talking(tmp_path, key) as (authority, client):
            authority.answers["/dir"] = lambda _: (302, {"Location": f"{authority.root}/other"}, "")
            with pytest.raises(AcmeProblemError, match="it answered 302"):
                await client.directory()

    async def test_a_server_that_nobody_vouches_for_is_told_nothing(
        self, tmp_path: Path, key: AccountKey
    ) -> None:
        async with talking(tmp_path, key) as (authority, _):
            way = AcmeWay(loopback_gate("127.0.0.0/8"), SystemClock())
            async with way.client(
                f"{authority.root}/dir", key, account_url=None, ca_certificates=""
            ) as unsure:
                with pytest.raises(RemoteUnavailableError):
                    await unsure.directory()
            assert authority.sent == []
