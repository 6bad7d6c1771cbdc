"""What whoever runs the service says of the ways out of it."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from keybearer.base.clock import SystemClock
from keybearer.base.errors import ConfigurationError
from keybearer.destinations.cloud_credentials import AccessKeyCredentials
from keybearer.destinations.gitlab import GITLAB, AccessTokenCredentials
from keybearer.destinations.remote import RemoteRefusedError, RemoteRequest
from keybearer.domain.outbound import Outbound, OutboundSettings, Remotes, outbound_of
from keybearer.outbound.errors import OutboundRefusedError
from keybearer.outbound.ldap import DirectoryAccess
from keybearer.outbound.ldap_filter import parse_filter
from keybearer.outbound.token_review import ReviewedToken
from keybearer.outbound.trust import trust
from keybearer.outbound.urls import OutboundUrl
from support.listening import listening
from support.remotes.opened import check
from support.self_signed import certificate

KEY = {"accessKeyId": "id", "secretAccessKey": "cnry-own-key"}


@asynccontextmanager
async def answering(body: bytes = b"{}") -> AsyncIterator[tuple[int, list[bytes]]]:
    """Answer every request on loopback so, over connections that stay open; yield the port and the requests."""
    seen: list[bytes] = []

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while True:
            seen.append(await reader.readuntil(b"\r\n\r\n"))
            writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%b" % (len(body), body))
            await writer.drain()

    async with listening(serve) as port:
        yield port, seen


def remotes_of(settings: OutboundSettings) -> Remotes:
    return outbound_of(settings, SystemClock()).remotes


def refusal(settings: OutboundSettings) -> str:
    with pytest.raises(ConfigurationError) as caught:
        outbound_of(settings, SystemClock())
    assert "cnry" not in str(caught.value)
    return str(caught.value)


def test_by_default_nothing_is_somewhere_else() -> None:
    context = remotes_of(OutboundSettings()).context("organization", "cloud")
    assert (context.organization_id, context.endpoints, context.own_credentials) == ("organization", {}, {})


def test_all_connections_share_one_way_out_and_its_tokens() -> None:
    remotes = remotes_of(OutboundSettings())
    one, other = remotes.context("a", "cloud"), remotes.context("b", "gitlab")
    assert one.http is other.http
    assert one.short_lived is other.short_lived


class TestEndpoints:
    def test_an_app_is_where_it_is_said_to_be_by_either_of_its_names(self) -> None:
        given = ("cloud=http://127.0.0.1:5000/", "github = https://HOST.example.com:8443/base")
        assert remotes_of(OutboundSettings(app_endpoints=given)).endpoints == {
            "cloud": "http://127.0.0.1:5000",
            "codehost": "https://host.example.com:8443/base",
        }

    async def test_connections_of_the_app_may_call_what_lies_there_and_nothing_else(self) -> None:
        async with answering() as (port, seen):
            endpoint = f"http://127.0.0.1:{port}/gitlab"
            remotes = remotes_of(OutboundSettings(app_endpoints=(f"gitlab={endpoint}",)))
            http = remotes.context("organization", "gitlab").http
            for url in (endpoint, f"{endpoint}/api/v4/user?page=1"):
                assert (await http.send(RemoteRequest("GET", url))).status == 200
            for url in (
                f"http://127.0.0.1:{port}/admin",
                f"{endpoint}/../admin",
                f"{endpoint}/%2e%2e/admin",
                f"https://127.0.0.1:{port}/gitlab",
                "http://127.0.0.1:2/gitlab",
            ):
                with pytest.raises(RemoteRefusedError, match="--allow-outbound"):
                    await http.send(RemoteRequest("GET", url))
            await remotes.close()
        assert len(seen) == 2

    async def test_a_url_that_a_caller_names_for_another_app_doesnt_lead_there(self) -> None:
        async with answering() as (port, seen):
            settings = OutboundSettings(
                app_endpoints=(f"cloud=http://127.0.0.1:{port}", "codehost=http://127.0.0.1:1")
            )
            remotes = remotes_of(settings)
            context = remotes.context("organization", "cloud")
            # The connection to the endpoint is kept alive, and taken by nobody else.
            assert (await context.http.send(RemoteRequest("GET", context.endpoints["cloud"]))).status == 200
            named = AccessTokenCredentials(
                access_token="cnry-token",
                access_token_type="personal",
                instance_url=f"http://127.0.0.1:{port}",
            )
            for app in ("gitlab", "codehost", "hashicorp-vault"):
                with pytest.raises(RemoteRefusedError, match="--allow-outbound"):
                    await check(GITLAB, named, remotes.context("organization", app))
            await remotes.close()
        assert len(seen) == 1

    async def test_what_is_listed_may_be_called_by_all(self) -> None:
        async with answering() as (port, seen):
            settings = OutboundSettings(
                allow=("127.0.0.0/8",), app_endpoints=(f"cloud=http://127.0.0.1:{port}/x",)
            )
            remotes = remotes_of(settings)
            for app in ("cloud", "gitlab"):
                http = remotes.context("organization", app).http
                assert (await http.send(RemoteRequest("GET", f"http://127.0.0.1:{port}/"))).status == 200
            await remotes.close()
        assert len(seen) == 2

    @pytest.mark.parametrize(
        ("given", "told"),
        [
            (("http://127.0.0.1",), "begins with no APP=; apps are azure-key-vault, cloud, codehost"),
            (("unknown=http://127.0.0.1",), "begins with no APP="),
            (("cloud=ftp://127.0.0.1",), "--app-endpoint of cloud must be https:// or http://"),
            (("cloud=http://u:cnry-password@127.0.0.1",), "must be https:// or http://"),
            (("cloud=http://a", "aws=http://b"), "names cloud twice"),
        ],
    )
    def test_what_says_nothing_is_refused(self, given: tuple[str, ...], told: str) -> None:
        assert told in refusal(OutboundSettings(app_endpoints=given))


class TestOwnAccount:
    def outbound(self, port: int) -> Outbound:
        settings = OutboundSettings(account_dir=Path("unused"), account_api=f"http://127.0.0.1:{port}/k8s/")
        return outbound_of(settings, SystemClock())

    async def test_its_api_server_is_asked_for_reviews_and_for_nothing_else(self) -> None:
        async with answering(b'{"status": {"authenticated": true}}') as (port, seen):
            outbound = self.outbound(port)
            assert outbound.own_account is not None
            api = outbound.own_account.api

            async def review(server: OutboundUrl) -> ReviewedToken:
                return await outbound.reviews.review(
                    server, "cnry-jwt", audience="", reviewer="cnry-reviewer", trusted=trust("")
                )

            assert (await review(api)).authenticated
            for server in (replace(api, path=""), replace(api, path="/k8s/other"), replace(api, port=1)):
                with pytest.raises(OutboundRefusedError, match="--allow-outbound"):
                    await review(server)
            assert len(seen) == 1
            assert b"POST /k8s/apis/authentication.k8s.io/v1/tokenreviews" in seen[0]

    async def test_neither_connections_nor_directories_lead_to_it(self) -> None:
        async with answering() as (port, seen):
            outbound = self.outbound(port)
            url = f"http://127.0.0.1:{port}/k8s/apis/authentication.k8s.io/v1/tokenreviews"
            with pytest.raises(RemoteRefusedError, match="--allow-outbound"):
                await outbound.remotes.context("organization", "gitlab").http.send(RemoteRequest("POST", url))
            access = DirectoryAccess(
                url=OutboundUrl("ldap", "127.0.0.1", port, ""),
                trusted=trust(""),
                demands_tls=False,
                bind_dn="cn=reader",
                bind_password="cnry-password",
                search_base="dc=example",
            )
            with pytest.raises(OutboundRefusedError, match="--allow-outbound"):
                await outbound.directory.authenticate(access, parse_filter("(uid=ada)"), "cnry-password", ())
            await outbound.close()
        assert seen == []


class TestOwnCredentials:
    def test_they_are_read_from_their_file(self, tmp_path: Path) -> None:
        file = tmp_path / "cloud.json"
        file.write_text(json.dumps(KEY))
        remotes = remotes_of(OutboundSettings(app_credentials=(f"cloud={file}",)))
        assert remotes.own_credentials == {"cloud": AccessKeyCredentials.model_validate(KEY)}
        assert "cnry" not in repr((remotes, remotes.context("organization", "cloud")))

    @pytest.mark.parametrize(
        ("content", "told"),
        [
            (json.dumps({**KEY, "accessKeyId": ""}), "see to accessKeyId in"),
            (json.dumps({**KEY, "extra": "cnry-extra"}), "see to extra in"),
            ("cnry-no-json", "see to the file in"),
        ],
    )
    def test_a_file_that_holds_something_else_is_told_without_it(
        self, tmp_path: Path, content: str, told: str
    ) -> None:
        file = tmp_path / "cloud.json"
        file.write_text(content)
        assert told in refusal(OutboundSettings(app_credentials=(f"cloud={file}",)))

    def test_a_file_that_is_not_there_is_told(self, tmp_path: Path) -> None:
        assert "can't be read from" in refusal(
            OutboundSettings(app_credentials=(f"cloud={tmp_path / 'none'}",))
        )

    def test_an_app_that_needs_none_is_told(self, tmp_path: Path) -> None:
        given = OutboundSettings(app_credentials=(f"idp={tmp_path / 'none'}",))
        assert "none of its methods rests on anything" in refusal(given)


class TestTrust:
    def test_a_file_with_certificates_is_taken(self, tmp_path: Path) -> None:
        chain, _ = certificate(tmp_path, 1)
        remotes_of(OutboundSettings(ca_file=chain))

    def test_a_file_that_holds_none_is_told(self, tmp_path: Path) -> None:
        (tmp_path / "ca.pem").write_text("cnry-no-certificate")
        assert "holds no PEM certificate" in refusal(OutboundSettings(ca_file=tmp_path / "ca.pem"))
        assert "can't be read" in refusal(OutboundSettings(ca_file=tmp_path / "none.pem"))
