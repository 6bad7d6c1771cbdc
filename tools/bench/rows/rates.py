"""What the service answers per second, beside a bare route of the same bytes, in turns."""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import urlencode, urlsplit

import orjson

from tools.bench.bare_route import BareRoute, running_bare_route
from tools.bench.databases import NAMES, DatabaseKind, service_on
from tools.bench.errors import BenchError
from tools.bench.figures import Bar, Figure, RowResult, quantity
from tools.bench.load import NUMBER, request_bytes
from tools.bench.options import ServiceOptions
from tools.bench.process_meter import ProcessMeter
from tools.bench.server_load import WARM_UP_SHARE, LoadedServer, Rounds, load_server
from tools.bench.service import Service
from tools.bench.workload import Dimensions

__all__ = ["run"]

_LOGIN = "/api/v1/auth/universal-auth/login"
_LIST_BAR = Bar("≥ 50 % of a bare route", 0.5, of_ratio=True, at_least=True)
_UNCHANGED_BAR = Bar("≥ 80 % of a bare route", 0.8, of_ratio=True, at_least=True)


@dataclass(frozen=True, slots=True)
class _Question:
    """What the service is asked, and the bare route beside it where there is one."""

    what: str
    ours: LoadedServer
    bare: LoadedServer | None = None
    bar: Bar | None = None


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

    def ours(
        method: str, path: str, headers: dict[str, str], body: object = None, *, status: int = 200
    ) -> LoadedServer:
        content = None if body is None else orjson.dumps(body)
        request = request_bytes(method, path, host, headers, content)
        return LoadedServer(service.url, service.pid, request, status)

    def floor(path: str, headers: dict[str, str], *, status: int = 200) -> LoadedServer:
        # The same headers: reading them is the server's work on both sides.
        request = request_bytes("GET", path, urlsplit(bare.url).netloc, headers)
        return LoadedServer(bare.url, bare.pid, request, status)

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
            ours("GET", list_path, condition, status=304),
            floor("/unchanged", condition, status=304),
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
    ours, bare = Rounds(), None if question.bare is None else Rounds()
    sides = [(question.ours, ours)]
    if question.bare is not None and bare is not None:
        sides.insert(0, (question.bare, bare))
    number = 0
    for server, _ in sides:
        seconds = options.seconds * WARM_UP_SHARE
        number += (await load_server(server, options.connections, seconds, first=number)).load.requests
    for _ in range(options.rounds):
        for server, rounds in sides:
            seen = await load_server(server, options.connections, options.seconds, first=number)
            rounds.seen.append(seen)
            number += seen.load.requests
    if bare is not None and bare.first_bodies != ours.first_bodies:
        msg = f"{question.what}: the bare route answers another number of bytes than the service"
        raise BenchError(msg)
    return _figures(question, ours, bare), _notes(question, ours, bare)


def _figures(question: _Question, ours: Rounds, bare: Rounds | None) -> list[Figure]:
    what = question.what
    floor = None if bare is None else (bare.per_second, bare.p50, bare.p99, bare.cpu_milliseconds)
    rate, middle, slowest, cpu = floor or (None,) * 4
    return [
        Figure(what, "per second", ours.per_second, rate, bar=question.bar),
        Figure(f"{what}: p50", "ms", ours.p50, middle),
        Figure(f"{what}: p99", "ms", ours.p99, slowest),
        Figure(f"{what}: CPU of the server per request", "ms", ours.cpu_milliseconds, cpu),
    ]


def _notes(question: _Question, ours: Rounds, bare: Rounds | None) -> list[str]:
    return [
        f"{question.what}, {name}: {rounds.rates}; the client used {rounds.client_share:.0%} of a processor at most, "
        f"the server {rounds.server_share:.0%}"
        for name, rounds in (("floor", bare), ("ours", ours))
        if rounds is not None
    ]
