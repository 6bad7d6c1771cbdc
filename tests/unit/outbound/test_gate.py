from __future__ import annotations

import asyncio
import ipaddress
from collections.abc import Sequence

import pytest

from keybearer.outbound.addresses import Address
from keybearer.outbound.allowed import parse_allowed
from keybearer.outbound.errors import OutboundFailedError, OutboundRefusedError
from keybearer.outbound.gate import Gate
from support.listening import listening


class Answers:
    """A resolver that answers otherwise each time, as a rebinding name does."""

    def __init__(self, *answers: Sequence[str]) -> None:
        self._answers = list(answers)
        self.asked: list[str] = []

    async def __call__(self, host: str, port: int) -> Sequence[Address]:  # noqa: ARG002 - a resolver's arguments
        self.asked.append(host)
        if not self._answers:
            raise OSError("no such name")
        return [ipaddress.ip_address(text) for text in self._answers.pop(0)]


def gate(*answers: Sequence[str], allow: Sequence[str] = ()) -> Gate:
    return Gate(parse_allowed(allow), Answers(*answers))


@pytest.mark.parametrize(
    "host",
    [
        "127.0.0.1",
        "169.254.169.254",
        "[::1]",
        "::ffff:169.254.169.254",
        "10.0.0.1",
        "64:ff9b::a9fe:a9fe",
        "168.63.129.16",
    ],
)
async def test_an_inner_address_is_refused_without_asking_anybody(host: str) -> None:
    with pytest.raises(OutboundRefusedError, match="--allow-outbound"):
        await gate().check(host, 443)


@pytest.mark.parametrize(
    "answer", ["127.0.0.1", "169.254.169.254", "10.9.8.7", "::1", "fe80::1", "168.63.129.16"]
)
async def test_a_name_that_leads_inside_is_refused(answer: str) -> None:
    with pytest.raises(OutboundRefusedError):
        await gate([answer]).check("rebind.example.com", 443)


async def test_a_name_with_inner_and_outer_addresses_is_called_at_the_outer_ones_only() -> None:
    place = await gate(["169.254.169.254", "8.8.8.8", "::1"]).check("both.example.com", 443)
    assert place.addresses == (ipaddress.ip_address("8.8.8.8"),)
    assert not place.listed


async def test_a_listed_place_inside_is_let_through_and_said_to_be_listed() -> None:
    place = await gate(["10.0.0.7", "10.9.9.9"], allow=["10.0.0.0/24"]).check("LDAP.example.com.", 636)
    assert (place.host, place.addresses, place.listed) == (
        "ldap.example.com",
        (ipaddress.ip_address("10.0.0.7"),),
        True,
    )


async def test_a_name_is_resolved_once_and_few_of_its_addresses_are_tried() -> None:
    answers = Answers([f"8.8.8.{number}" for number in range(1, 20)])
    place = await Gate(parse_allowed([]), answers).check("many.example.com", 443)
    assert len(place.addresses) == 4
    assert answers.asked == ["many.example.com"]


async def test_a_name_without_addresses_fails() -> None:
    with pytest.raises(OutboundFailedError, match="resolved"):
        await gate().check("nowhere.example.com", 443)


@pytest.mark.parametrize("host", ["0x7f.1", "2130706433", "127.1", "localhost"])
async def test_other_spellings_of_loopback_are_refused_after_the_system_read_them(host: str) -> None:
    with pytest.raises(OutboundRefusedError, match="loopback"):
        await Gate(parse_allowed([])).check(host, 443)


async def test_an_address_that_takes_no_connection_is_followed_by_the_next() -> None:
    async def hang_up(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.close()

    async with listening(hang_up) as port:
        going = gate(["127.0.0.2", "127.0.0.1"], ["127.0.0.2"], allow=["127.0.0.0/8"])
        connected = await going.connect(await going.check("two.example.com", port))
        assert connected.getpeername() == ("127.0.0.1", port)
        connected.close()
        with pytest.raises(OutboundFailedError, match="reached"):
            await going.connect(await going.check("one.example.com", port))
