"""What the service answers per second, beside a bare route of the same bytes, in turns."""

from __future__ import annotations

from dataclasses import dataclass, replace
from urllib.parse import urlencode, urlsplit

import orjson

from bench.bare_route import BareRoute, running_bare_route
from bench.databases import NAMES, DatabaseKind, service_on
from bench.errors import BenchError
from bench.figures import Bar, Figure, RowResult, quantity
from bench.load import NUMBER, Load, LoadResult, load, request_bytes
from bench.options import ServiceOptions
from bench.process_meter import ProcessMeter
from bench.samples import median
from bench.service import Service
from bench.workload import Dimensions

__all__ = ["run"]

_LOGIN = "/api/v1/auth/universal-auth/login"
_WARM_UP_SHARE = 0.25
_LIST_BAR = Bar("≥ 50 % of a bare route", 0.5, of_ratio=True, at_least=True)
_UNCHANGED_BAR = Bar("≥ 80 % of a bare route", 0.8, of_ratio=True, at_least=True)


@dataclass(frozen=True, slots=True)
class _Side:
    """One server, and what it is asked."""

    url: str
    pid: int
    request: bytes


@dataclass(frozen=True, slots=True)
class _Question:
    """What the service is asked, and the bare route beside it where there is one."""

    what: str
    ours: _Side
    bare: _Side | None = None
    status: int = 200
    bar: Bar | None = None


@dataclass(frozen=True, slots=True)
class _Half:
    """One server under load."""

    load: LoadResult
    server_cpu_seconds: float

    @property
    def cpu_milliseconds(self) -> float:
        """Return the server's processor time for each request."""
        return self.server_cpu_seconds * 1000 / self.load.requests


async def run(kind: DatabaseKind, options: ServiceOptions) -> RowResult:
    """Measure lists beside the floor, and other requests by themselves."""
    directory = options.directory / kind
    # The first source is listed; what is created goes into the second.
    dimensions = Dimensions(sources=2, keys=options.secrets)
    figures: list[Figure] = []
    notes: list[str] = []
    async with service_on(kind, directory, dimensions) as service:
        listed = await _listed(service)
        async with running_bare_route(directory, listed.body, listed.tag) as bare:
            for question in _questions(options, service, bare, listed):
                found_figures, found_notes = await _measured(question, options)
                figures += found_figures
                notes += found_notes
        memory = ProcessMeter(service.pid).memory()
    notes.append(f"the list is {len(listed.body):,} bytes long")
    notes.append(
        f"the service's memory afterwards: {quantity(memory.resident, 'MiB')}, "
        f"at its peak {quantity(memory.peak, 'MiB')}"
    )
    title = f"The service on {NAMES[kind]}: answers per second over {options.connections} connections"
    return RowResult(kind, title, tuple(figures), tuple(notes))


@dataclass(frozen=True, slots=True)
class _Listed:
    """A list as the service answers it, and how it is asked for."""

    path: str
    query: str
    token: str
    body: bytes
    tag: str


async def _listed(service: Service) -> _Listed:
    source, session = service.sources[0], service.admin.session
    async with session.post(_LOGIN, json=_credentials(service)) as answer:
        token = (await answer.json())["accessToken"]
    query = urlencode(
        {"projectId": source.project_id, "environment": source.environment, "secretPath": source.path}
    )
    headers = {"authorization": f"Bearer {token}"}
    async with session.get(f"/api/v4/secrets?{query}", headers=headers) as answer:
        body, tag = await answer.read(), answer.headers["etag"]
    if len(orjson.loads(body)["secrets"]) != len(source.values):
        msg = f"the service's list of {source.path} is not what was stored there"
        raise BenchError(msg)
    return _Listed("/api/v4/secrets", query, token, body, tag)


def _credentials(service: Service) -> dict[str, str]:
    return {"clientId": service.viewer.client_id, "clientSecret": service.viewer.client_secret}


def _questions(
    options: ServiceOptions, service: Service, bare: BareRoute, listed: _Listed
) -> list[_Question]:
    host = urlsplit(service.url).netloc
    who = {"authorization": f"Bearer {listed.token}"}
    condition = {**who, "if-none-match": listed.tag}
    list_path = f"{listed.path}?{listed.query}"

    def ours(method: str, path: str, headers: dict[str, str], body: object = None) -> _Side:
        content = None if body is None else orjson.dumps(body)
        return _Side(service.url, service.pid, request_bytes(method, path, host, headers, content))

    def floor(path: str, headers: dict[str, str]) -> _Side:
        # The same headers: reading them is the server's work on both sides.
        return _Side(bare.url, bare.pid, request_bytes("GET", path, urlsplit(bare.url).netloc, headers))

    second = service.sources[1]
    new = {
        "projectId": second.project_id,
        "environment": second.environment,
        "secretPath": second.path,
        "secretValue": "a value",
    }
    return [
        _Question(
            f"list of {options.secrets} secrets",
            ours("GET", list_path, who),
            floor("/list", who),
            bar=_LIST_BAR,
        ),
        _Question(
            "the same unchanged (304)",
            ours("GET", list_path, condition),
            floor("/unchanged", condition),
            status=304,
            bar=_UNCHANGED_BAR,
        ),
        # An unknown key of a query is ignored, but what was answered before is looked up under the whole query.
        _Question(
            f"list of {options.secrets} secrets, read and opened anew each time",
            ours("GET", f"{list_path}&number={NUMBER}", who),
        ),
        _Question("one secret", ours("GET", f"{listed.path}/KEY_0?{listed.query}", who)),
        _Question(
            "create a secret",
            ours("POST", f"{listed.path}/NEW_{NUMBER}", service.admin.headers, new),
        ),
        _Question("login", ours("POST", _LOGIN, {}, _credentials(service))),
    ]


async def _measured(question: _Question, options: ServiceOptions) -> tuple[list[Figure], list[str]]:
    """Return figures and notes: floor and service in turns, each warmed up before."""
    sides = [question.ours] if question.bare is None else [question.bare, question.ours]
    halves: dict[int, list[_Half]] = {side.pid: [] for side in sides}
    number = 0
    warm_up = replace(options, seconds=options.seconds * _WARM_UP_SHARE)
    for side in sides:
        number += (await _half(question, side, warm_up, number)).load.requests
    for _ in range(options.rounds):
        for side in sides:
            half = await _half(question, side, options, number)
            halves[side.pid].append(half)
            number += half.load.requests
    ours = halves[question.ours.pid]
    bare = None if question.bare is None else halves[question.bare.pid]
    if bare is not None and {half.load.first_body for half in bare} != {
        half.load.first_body for half in ours
    }:
        msg = f"{question.what}: the bare route answers another number of bytes than the service"
        raise BenchError(msg)
    return _figures(question, ours, bare), _notes(question, ours, bare)


async def _half(question: _Question, side: _Side, options: ServiceOptions, number: int) -> _Half:
    meter, address = ProcessMeter(side.pid), urlsplit(side.url)
    before = meter.cpu_seconds()
    found = await load(
        Load(
            host=address.hostname or "",
            port=address.port or 0,
            request=side.request,
            status=question.status,
            connections=options.connections,
            seconds=options.seconds,
            first=number,
        )
    )
    return _Half(found, meter.cpu_seconds() - before)


def _figures(question: _Question, ours: list[_Half], bare: list[_Half] | None) -> list[Figure]:
    def rate(halves: list[_Half]) -> float:
        return median([half.load.per_second for half in halves])

    def middle(halves: list[_Half]) -> float:
        return median([half.load.milliseconds.p50 for half in halves])

    def slowest(halves: list[_Half]) -> float:
        return median([half.load.milliseconds.p99 for half in halves])

    def cpu(halves: list[_Half]) -> float:
        return median([half.cpu_milliseconds for half in halves])

    what = question.what
    figures = [Figure(what, "per second", rate(ours), None if bare is None else rate(bare), bar=question.bar)]
    for name, found in (("p50", middle), ("p99", slowest), ("CPU of the server per request", cpu)):
        figures.append(Figure(f"{what}: {name}", "ms", found(ours), None if bare is None else found(bare)))
    return figures


def _notes(question: _Question, ours: list[_Half], bare: list[_Half] | None) -> list[str]:
    notes = []
    for name, halves in (("floor", bare), ("ours", ours)):
        if halves is None:
            continue
        rates = ", ".join(quantity(half.load.per_second, "per second") for half in halves)
        client = max(half.load.cpu_seconds / half.load.seconds for half in halves)
        server = median([half.server_cpu_seconds / half.load.seconds for half in halves])
        notes.append(
            f"{question.what}, {name}: {rates}; the client used {client:.0%} of a processor at most, "
            f"the server {server:.0%}"
        )
    return notes
