"""How many certificates the service issues per second, beside bare signing by `cryptography` in one process."""

from __future__ import annotations

from urllib.parse import urlsplit

import orjson

from tools.bench.databases import NAMES, DatabaseKind, service_on
from tools.bench.figures import Bar, Figure, RowResult, quantity
from tools.bench.load import request_bytes
from tools.bench.options import ServiceOptions
from tools.bench.pki import create_pki
from tools.bench.process_meter import ProcessMeter
from tools.bench.samples import median
from tools.bench.server_load import WARM_UP_SHARE, LoadedServer, Rounds, load_server
from tools.bench.service import Service
from tools.bench.signing import SigningResult, bare_signing, signing_request
from tools.bench.workload import Dimensions

__all__ = ["run"]

_PATH = "/api/v1/cert-manager/certificates"
_PROFILES = "/api/v1/cert-manager/certificate-profiles"
_WHAT = "issue a certificate on EC P-256 for a signing request"
_BAR = Bar("≥ 50 % of bare signing", 0.5, of_ratio=True, at_least=True)
_FLOOR = "bare signing"
_MANY = 64
"""Connections that ask at once for the rate that has a bar: two operators' workers. The others show what few get."""


async def run(kind: DatabaseKind, options: ServiceOptions) -> RowResult:
    """Measure service and bare signing in turns; the median of each counts."""
    directory = options.directory / f"issuance-{kind}"
    async with service_on(kind, directory, Dimensions(sources=1, keys=1)) as service:
        server = LoadedServer(service.url, service.pid, await _request(service))
        await load_server(server, _MANY, options.seconds * WARM_UP_SHARE)
        floors: list[SigningResult] = []
        many, few = Rounds(), Rounds()
        for _ in range(options.rounds):
            floors.append(await bare_signing(options.seconds))
            many.seen.append(await load_server(server, _MANY, options.seconds))
            few.seen.append(await load_server(server, options.connections, options.seconds))
        memory = ProcessMeter(service.pid).memory()
    bare = ", ".join(quantity(floor.per_second, "per second") for floor in floors)
    used = (
        f"the service's memory afterwards: {quantity(memory.resident, 'MiB')}, "
        f"at its peak {quantity(memory.peak, 'MiB')}"
    )
    notes = (f"ours, each round: {many.rates}; bare signing: {bare}", used)
    title = f"Issuance on {NAMES[kind]}: certificates per second over {_MANY} connections"
    figures = (*_figures(floors, many), *_figures_of_few(few, options.connections))
    return RowResult(f"issuance-{kind}", title, figures, notes)


async def _request(service: Service) -> bytes:
    """Return the request that is sent again and again: each is answered with a new certificate."""
    admin = service.admin
    pki = await create_pki(admin)
    described = {
        "projectId": pki.project_id,
        "slug": "bench",
        "certificatePolicyId": pki.policy_id,
        "caId": pki.ca_id,
        "defaults": {"ttlDays": 30, "extendedKeyUsages": ["server_auth"]},
    }
    profile = (await admin.ask("POST", _PROFILES, described))["certificateProfile"]
    body = {"profileId": profile["id"], "csr": signing_request()}
    return request_bytes("POST", _PATH, urlsplit(service.url).netloc, admin.headers, orjson.dumps(body))


def _figures(floors: list[SigningResult], many: Rounds) -> list[Figure]:
    bare = median([floor.per_second for floor in floors])
    bare_cpu = median([floor.cpu_seconds * 1000 / floor.signed for floor in floors])
    cpu = f"{_WHAT}: CPU of the server"
    return [
        Figure(_WHAT, "per second", many.per_second, bare, floor_name=_FLOOR, bar=_BAR),
        Figure(f"{_WHAT}: p50", "ms", many.p50),
        Figure(f"{_WHAT}: p99", "ms", many.p99),
        Figure(cpu, "ms", many.cpu_milliseconds, bare_cpu, floor_name=_FLOOR),
    ]


def _figures_of_few(few: Rounds, connections: int) -> list[Figure]:
    what = f"the same over {connections} connections"
    return [
        Figure(what, "per second", few.per_second),
        Figure(f"{what}: p50", "ms", few.p50),
        Figure(f"{what}: p99", "ms", few.p99),
    ]
