"""What whoever runs the service says of the ways out of it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from keybearer.base.clock import SystemClock
from keybearer.base.errors import ConfigurationError
from keybearer.domain.outbound import OutboundSettings, Remotes, outbound_of
from keybearer.outbound.remote import RemoteRefusedError, RemoteRequest, RemoteUnavailableError
from keybearer.wire.connections.cloud import AccessKeyCredentials
from support.self_signed import certificate

KEY = {"accessKeyId": "id", "secretAccessKey": "cnry-own-key"}


def remotes_of(settings: OutboundSettings) -> Remotes:
    return outbound_of(settings, SystemClock()).remotes


def refusal(settings: OutboundSettings) -> str:
    with pytest.raises(ConfigurationError) as caught:
        outbound_of(settings, SystemClock())
    assert "cnry" not in str(caught.value)
    return str(caught.value)


def test_by_default_nothing_is_somewhere_else() -> None:
    context = remotes_of(OutboundSettings()).context("organization")
    assert (context.organization_id, context.endpoints, context.own_credentials) == ("organization", {}, {})


def test_all_connections_share_one_way_out_and_its_tokens() -> None:
    remotes = remotes_of(OutboundSettings())
    one, other = remotes.context("a"), remotes.context("b")
    assert one.http is other.http
    assert one.short_lived is other.short_lived


class TestEndpoints:
    def test_an_app_is_where_it_is_said_to_be_by_either_of_its_names(self) -> None:
        given = ("cloud=http://127.0.0.1:5000/", "github = https://HOST.example.com:8443/base")
        assert remotes_of(OutboundSettings(app_endpoints=given)).endpoints == {
            "cloud": "http://127.0.0.1:5000",
            "codehost": "https://host.example.com:8443/base",
        }

    async def test_it_may_be_called_there_and_only_there(self) -> None:
        remotes = remotes_of(OutboundSettings(app_endpoints=("cloud=http://127.0.0.1:1/",)))
        with pytest.raises(RemoteUnavailableError, match="reached"):
            await remotes.http.send(RemoteRequest("GET", "http://127.0.0.1:1/"))
        with pytest.raises(RemoteRefusedError):
            await remotes.http.send(RemoteRequest("GET", "http://127.0.0.1:2/"))
        await remotes.close()

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


class TestOwnCredentials:
    def test_they_are_read_from_their_file(self, tmp_path: Path) -> None:
        file = tmp_path / "cloud.json"
        file.write_text(json.dumps(KEY))
        remotes = remotes_of(OutboundSettings(app_credentials=(f"cloud={file}",)))
        assert remotes.own_credentials == {"cloud": AccessKeyCredentials.model_validate(KEY)}
        assert "cnry" not in repr((remotes, remotes.context("organization")))

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
