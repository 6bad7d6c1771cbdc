from __future__ import annotations

import base64

import pytest

from keybearer.base.errors import ConfigurationError
from keybearer.controllers.fingerprint import Fingerprinter
from keybearer.controllers.fingerprint_key import load_fingerprinter
from keybearer.kube.errors import ForbiddenError
from keybearer.kube.resources import ObjectKey
from unit.controllers.fakes.gateway import FakeGateway
from unit.controllers.fakes.targets import Body

_KEY = ObjectKey("keybearer", "keybearer-operator-fingerprint-key")


def kept(**data: object) -> Body:
    return {"kind": "Secret", "metadata": {"namespace": _KEY.namespace, "name": _KEY.name}, "data": data}


def mark_of(fingerprinter: Fingerprinter) -> str:
    return fingerprinter.of_parts("test", ["x"])


async def test_the_first_start_makes_a_key_and_every_later_one_finds_it() -> None:
    gateway = FakeGateway()
    first = await load_fingerprinter(gateway, _KEY)

    assert [str(write) for write in gateway.writes] == [f"create Secret {_KEY}"]
    assert mark_of(await load_fingerprinter(gateway, _KEY)) == mark_of(first)
    assert len(gateway.writes) == 1
    body = gateway.find("Secret", _KEY.name, _KEY.namespace)
    assert body is not None
    assert len(base64.b64decode(body["data"]["key"])) == 32


async def test_two_that_start_at_once_agree() -> None:
    gateway = FakeGateway()
    theirs = base64.b64encode(b"t" * 32).decode()

    def overtake(verb: str, kind: str) -> None:
        if verb == "create" and kind == "Secret":
            gateway.put(kept(key=theirs))

    gateway.before = overtake

    assert mark_of(await load_fingerprinter(gateway, _KEY)) == mark_of(Fingerprinter(b"t" * 32))


@pytest.mark.parametrize(
    "data",
    [
        pytest.param({}, id="no key"),
        pytest.param({"key": "Y25yeS1zaG9ydA=="}, id="a short one"),
        pytest.param({"key": "cnry-no-base64!"}, id="no base64"),
        pytest.param({"key": "é"}, id="no ASCII"),
        pytest.param({"key": None}, id="null"),
    ],
)
async def test_a_secret_that_holds_no_key_ends_the_start_and_shows_nothing(data: dict[str, object]) -> None:
    gateway = FakeGateway()
    gateway.put(kept(**data))
    with pytest.raises(ConfigurationError) as refused:
        await load_fingerprinter(gateway, _KEY)

    assert (
        str(refused.value)
        == f"Secret {_KEY} holds no fingerprint key; restore it, or delete it and a new one is made: each status "
        "is then written once more"
    )


async def test_a_missing_right_is_told_as_it_is() -> None:
    gateway = FakeGateway()
    gateway.fail("create", "Secret", ForbiddenError("no right to create"))
    with pytest.raises(ForbiddenError):
        await load_fingerprinter(gateway, _KEY)
