"""The cloud on loopback: moto as a process, and in front of it a proxy that is as strict as the vendor.

moto checks signatures and rights once it is told to. What it lets pass is refused by the proxy: bodies that the
vendor's own description doesn't allow, names and sizes that only its manual tells of. Throttling and outages are made
there too.
"""

from __future__ import annotations

import asyncio
import json
import re
import threading
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Self
from urllib.parse import parse_qsl

import aiohttp
import pytest
from aiohttp import web
from yarl import URL

from keybearer.destinations.cloud_credentials import AccessKeyCredentials
from keybearer.destinations.cloud_signing import CloudKey, Scope, sign
from support.remotes.limits import Limit
from tools.local.moto import Moto
from tools.local.waiting import PATIENCE_SECONDS

__all__ = [
    "REGION",
    "THROTTLING",
    "CloudCall",
    "CloudFixture",
    "CloudProxy",
    "Fault",
    "cloud",
    "moto",
    "sign_without_the_body",
]

REGION = "eu-west-1"
PARTITION = "aws"
_SCOPE = re.compile(r"Credential=([^/]+)/\d{8}/([a-z0-9-]+)/([a-z0-9]+)/aws4_request")
_PARAMETER_NAME = re.compile(r"/?([a-zA-Z0-9_.-]+/){0,14}[a-zA-Z0-9_.-]+")
_SECRET_NAME = re.compile(r"[a-zA-Z0-9/_+=.@-]+")
_STANDARD_PARAMETER_BYTES = 4096
_PARAMETER_BYTES = 8192
_PASSED_ON = ("Host", "Authorization", "Content-Type", "X-Amz-Date", "X-Amz-Target", "X-Amz-Security-Token")
_DESCRIBED = ("ssm", "secretsmanager", "sts", "iam")
_JSON = ("ssm", "secretsmanager")
_READS = ("Get", "List", "Describe", "BatchGet", "Assume")


@dataclass(frozen=True)
class CloudCall:
    """A call that was answered; status 0 where the connection was cut."""

    service: str
    operation: str
    region: str
    access_key_id: str
    body: Mapping[str, Any] = field(repr=False)
    status: int = 0

    @property
    def method(self) -> str:
        """What HTTP would call it: all are POST there."""
        return "GET" if self.operation.startswith(_READS) else "POST"


@dataclass(frozen=True)
class Fault:
    """An error as the vendor answers it."""

    status: int
    code: str
    message: str = "no"


THROTTLING = Fault(400, "ThrottlingException", "Rate exceeded")

Matches = Callable[[CloudCall], bool]


@dataclass
class _BadDay:
    matches: Matches
    fault: Fault | None
    left: int
    spared: int

    def takes(self, call: CloudCall) -> bool:
        """Return whether this call meets with it."""
        if not self.left or not self.matches(call):
            return False
        if self.spared:
            self.spared -= 1
            return False
        self.left -= 1
        return True


class CloudProxy:
    """Forwards to moto while the block runs, in a thread with an event loop of its own.

    Attributes:
        calls: what was asked, in order.
        issues: what the vendor's description has against bodies that came.
        limit: of the calls that it takes; None for any number.
    """

    def __init__(self, moto: Moto) -> None:
        self._moto = moto
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="cloud proxy", daemon=True)
        self._session: aiohttp.ClientSession | None = None
        self._runner: web.ServerRunner | None = None
        self._bad_days: list[_BadDay] = []
        self.calls: list[CloudCall] = []
        self.issues: list[str] = []
        self.limit: Limit | None = None
        self.url = ""
        self._passed_on = 0

    def __enter__(self) -> Self:
        self._thread.start()
        asyncio.run_coroutine_threadsafe(self._open(), self._loop).result(PATIENCE_SECONDS)
        return self

    def __exit__(self, *_: object) -> None:
        asyncio.run_coroutine_threadsafe(self._close(), self._loop).result(PATIENCE_SECONDS)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    def answer_instead(
        self, matches: str | Matches, fault: Fault | None, *, times: int = 1, after: int = 0
    ) -> None:
        """Answer so to the next such calls; None hangs up.

        Args:
            matches: an operation, or what picks calls.
            fault: the answer.
            times: how often; -1 for ever.
            after: how many such calls are answered as usual before.
        """
        picks = matches if callable(matches) else _is(matches)
        self._bad_days.append(_BadDay(picks, fault, times, after))

    def get_well(self) -> None:
        """Answer as usual from now on."""
        self._bad_days.clear()

    @property
    def is_at_rest(self) -> bool:
        """Whether all that moto was asked is among the calls: it may do what it has not answered yet."""
        return self._passed_on == 0

    def operations(self, *, since: int = 0) -> list[str]:
        """Return what was asked since so many calls."""
        return [call.operation for call in self.calls[since:]]

    async def _open(self) -> None:
        self._session = aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0, force_close=True))
        self._runner = web.ServerRunner(web.Server(self._handle, access_log=None), shutdown_timeout=0.2)
        await self._runner.setup()
        await web.TCPSite(self._runner, "127.0.0.1", 0).start()
        self.url = f"http://127.0.0.1:{self._runner.addresses[0][1]}"

    async def _close(self) -> None:
        if self._runner is not None:
            await self._runner.cleanup()
        if self._session is not None:
            await self._session.close()

    async def _handle(self, request: web.BaseRequest) -> web.StreamResponse:
        content = await request.read()
        call = _call_of(request, content)
        for day in self._bad_days:
            if day.takes(call):
                if day.fault is None:
                    return self._cut(request, call)
                return self._answer(call, day.fault)
        if self.limit is not None and self.limit.refusal(call.method, request.path) is not None:
            return self._answer(call, THROTTLING)
        fault = await self._refusal(request, call)
        if fault is not None:
            return self._answer(call, fault)
        self._passed_on += 1
        try:
            return await self._pass_on(request, content, call)
        finally:
            self._passed_on -= 1

    async def _pass_on(self, request: web.BaseRequest, content: bytes, call: CloudCall) -> web.Response:
        assert self._session is not None
        headers = {name: request.headers[name] for name in _PASSED_ON if name in request.headers}
        async with self._session.post(
            URL(self._moto.url + request.raw_path, encoded=True), headers=headers, data=content
        ) as answer:
            body = await answer.read()
            self._note(call, answer.status)
            return web.Response(
                status=answer.status, body=body, headers={"Content-Type": answer.content_type}
            )

    async def _refusal(self, request: web.BaseRequest, call: CloudCall) -> Fault | None:
        if call.service not in _DESCRIBED:
            return None
        issues = await asyncio.to_thread(
            self._moto.ask,
            "described",
            service=call.service,
            operation=call.operation,
            body=call.body,
            target=request.headers.get("X-Amz-Target", ""),
            content_type=request.headers.get("Content-Type", ""),
        )
        issues += _by_the_manual(call)
        self.issues += [f"{call.operation}: {issue}" for issue in issues]
        # The vendor repeats what it was sent.
        return Fault(400, "ValidationException", f"{issues} in {json.dumps(call.body)}") if issues else None

    def _cut(self, request: web.BaseRequest, call: CloudCall) -> web.Response:
        self._note(call, 0)
        assert request.transport is not None
        request.transport.abort()
        return web.Response()

    def _answer(self, call: CloudCall, fault: Fault) -> web.Response:
        self._note(call, fault.status)
        if call.service in _JSON:
            told = {"__type": f"com.example#{fault.code}", "message": fault.message}
            return web.json_response(told, status=fault.status, content_type="application/x-amz-json-1.1")
        error = f"<Error><Code>{fault.code}</Code><Message>{fault.message}</Message></Error>"
        text = f"<ErrorResponse>{error}</ErrorResponse>"
        return web.Response(status=fault.status, text=text, content_type="text/xml")

    def _note(self, call: CloudCall, status: int) -> None:
        self.calls.append(
            CloudCall(call.service, call.operation, call.region, call.access_key_id, call.body, status)
        )


def sign_without_the_body(
    method: str,
    url: str,
    headers: Mapping[str, str],
    content: bytes,  # noqa: ARG001 - forgotten
    *,
    key: CloudKey,
    scope: Scope,
    now: datetime,
) -> dict[str, str]:
    """Sign as a driver does that has it wrong."""
    return sign(method, url, headers, b"", key=key, scope=scope, now=now)


def _is(operation: str) -> Matches:
    return lambda call: call.operation == operation


def _call_of(request: web.BaseRequest, content: bytes) -> CloudCall:
    scope = _SCOPE.search(request.headers.get("Authorization", ""))
    key, region, service = scope.groups() if scope else ("", "", "")
    target = request.headers.get("X-Amz-Target")
    body = json.loads(content) if target else dict(parse_qsl(content.decode()))
    operation = target.partition(".")[2] if target else str(body.get("Action", ""))
    return CloudCall(service, operation, region, key, body)


def _by_the_manual(call: CloudCall) -> list[str]:
    """Return what the manual forbids and neither moto nor the description does."""
    body = call.body
    if call.operation == "PutParameter":
        if not _PARAMETER_NAME.fullmatch(body.get("Name", "")):
            return ["the name has other characters, or more than 15 levels"]
        most = _STANDARD_PARAMETER_BYTES if body.get("Tier", "Standard") == "Standard" else _PARAMETER_BYTES
        if len(body.get("Value", "").encode()) > most:
            return [f"such parameters support a maximum parameter value of {most} characters"]
    if call.operation == "CreateSecret" and not _SECRET_NAME.fullmatch(body.get("Name", "")):
        return ["Invalid name"]
    return []


@dataclass
class CloudFixture:
    """An account of the cloud with a user who may do everything.

    Attributes:
        moto: to look behind the API.
        credentials: of the user.
    """

    moto: Moto
    proxy: CloudProxy
    credentials: AccessKeyCredentials = field(repr=False)

    def user(self, name: str, *actions: str, partition: str = PARTITION) -> AccessKeyCredentials:
        """Return the access key of a new user who may do these."""
        key = self.moto.ask("user", name=name, actions=list(actions), partition=partition)
        return AccessKeyCredentials.model_validate(key)

    def role(self, name: str, external_id: str, *actions: str) -> str:
        """Return the ARN of a new role for who names the external id."""
        arn = self.moto.ask(
            "role", name=name, externalId=external_id, actions=list(actions), partition=PARTITION
        )
        return str(arn)

    def parameters(self, region: str = REGION) -> dict[str, dict[str, Any]]:
        """Return what the region's parameter store holds, by whole names."""
        found: dict[str, dict[str, Any]] = self.moto.ask("parameters", region=region)
        return found

    def parameter_values(self, region: str = REGION) -> dict[str, str]:
        """Return the values of `parameters`."""
        return {name: one["value"] for name, one in self.parameters(region).items()}

    def put_parameter(self, name: str, value: str, **more: object) -> None:
        """Store a parameter by hand."""
        self.moto.ask("put_parameter", name=name, value=value, region=REGION, **more)

    def secrets(self, region: str = REGION) -> dict[str, dict[str, Any]]:
        """Return what the region's secrets manager holds."""
        found: dict[str, dict[str, Any]] = self.moto.ask("secrets", region=region)
        return found

    def secret_values(self, region: str = REGION) -> dict[str, str]:
        """Return the values of `secrets`, without those to be deleted."""
        return {name: one["value"] for name, one in self.secrets(region).items() if not one["isToBeDeleted"]}

    def put_secret(
        self, name: str, value: str | None = None, *, region: str = REGION, **more: object
    ) -> None:
        """Store a secret by hand."""
        self.moto.ask("put_secret", name=name, value=value, region=region, **more)

    def schedule_deletion(self, name: str) -> None:
        """Delete a secret by hand, with a week to restore it."""
        self.moto.ask("schedule_deletion", name=name, region=REGION)


@pytest.fixture(scope="session")
def moto() -> Iterator[Moto]:
    """Yield moto."""
    running = Moto()
    yield running
    running.close()


@pytest.fixture
def cloud(moto: Moto) -> Iterator[CloudFixture]:
    """Yield an empty account; all that was asked of it must be as the vendor describes it."""
    moto.ask("fresh")
    with CloudProxy(moto) as proxy:
        key = moto.ask("user", name="keybearer", actions=["*"], partition=PARTITION)
        yield CloudFixture(moto, proxy, AccessKeyCredentials.model_validate(key))
        assert not proxy.issues
