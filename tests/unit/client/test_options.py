from __future__ import annotations

import os
from datetime import timedelta

import pytest

from keybearer.client import AsyncKeybearer, ClientOptions, InvalidArgument, Keybearer
from keybearer.client.options import base_url_of
from support.rows import each_row


@pytest.mark.parametrize(
    ("given", "used"),
    [
        pytest.param("https://kb.example.com", "https://kb.example.com", id="plain"),
        pytest.param("https://kb.example.com/", "https://kb.example.com", id="slash"),
        pytest.param("https://kb.example.com/api", "https://kb.example.com", id="api"),
        pytest.param("https://kb.example.com/api/", "https://kb.example.com", id="api and slash"),
        pytest.param(
            "https://kb.example.com/secrets/api", "https://kb.example.com/secrets", id="below a path"
        ),
        pytest.param(" http://127.0.0.1:8080 ", "http://127.0.0.1:8080", id="plain http, spaces around"),
        pytest.param("http://[::1]:8080/", "http://[::1]:8080", id="IPv6"),
        pytest.param(
            "https://kb.example.com/myapi", "https://kb.example.com/myapi", id="a path that ends in api"
        ),
    ],
)
def test_the_address_is_cut_as_published_clients_cut_it(given: str, used: str) -> None:
    assert base_url_of(given) == used


@each_row(
    "given",
    [
        pytest.param("", id="nothing"),
        pytest.param("kb.example.com", id="no scheme"),
        pytest.param("ftp://kb.example.com", id="another scheme"),
        pytest.param("https://", id="no host"),
        pytest.param("https://user:cnry-pw@kb.example.com", id="credentials"),
        pytest.param("https://kb.example.com/?a=cnry-b", id="a query"),
        pytest.param("https://kb.example.com/#cnry-x", id="a fragment"),
        pytest.param("https://kb.example.com:cnry-port", id="no port"),
        pytest.param("https://[::1", id="half an address"),
        pytest.param("https://kb.example.com/a b", id="a space"),
        pytest.param("https://kb example.com", id="a space in the host"),
    ],
)
def test_what_is_no_address_of_a_service_is_refused_without_repeating_it(given: str) -> None:
    with pytest.raises(InvalidArgument, match="address") as error:
        Keybearer(given)
    assert "cnry-" not in str(error.value)


@pytest.mark.parametrize(
    "wrong",
    [
        {"timeout": timedelta()},
        {"timeout": timedelta(seconds=-1)},
        {"max_response_bytes": 0},
        {"user_agent": ""},
        {"user_agent": "a\r\nX-Evil: 1"},
        {"user_agent": "käse"},
    ],
    ids=str,
)
def test_options_out_of_bounds_are_refused(wrong: dict[str, object]) -> None:
    with pytest.raises(InvalidArgument):
        ClientOptions(**wrong)  # type: ignore[arg-type]


def test_the_defaults_are_those_of_the_interface() -> None:
    options = ClientOptions()
    assert options.timeout == timedelta(seconds=10)
    assert options.max_response_bytes == 64 * 1024 * 1024
    assert options.process_env is os.environ  # noqa: TID251 - the default is what is asked


def test_the_repr_of_options_shows_no_environment() -> None:
    assert "process_env" not in repr(ClientOptions(process_env={"A": "cnry-v"}))


async def test_a_client_needs_no_event_loop_to_be_made() -> None:
    with Keybearer("http://service"):
        pass
    async with AsyncKeybearer("http://service"):
        pass
