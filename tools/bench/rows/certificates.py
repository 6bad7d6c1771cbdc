"""Certificates: CertificateProfiles exist, then the operator starts; until each certificate is in its Secret.

The floor is bare signing in the same run: as many certificates, built and signed by one process that does nothing
else. The operator has the rights of a plain installation: where trust bundles are enabled, each profile costs one
write more.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from tools.bench.api_counters import ApiCounts
from tools.bench.certificate_load import CertificateLoad, certificates_observed, populate
from tools.bench.coldsync import Window, came_to_rest
from tools.bench.errors import NotInTimeError
from tools.bench.figures import Bar, Figure, RowResult, quantity
from tools.bench.operator_process import running_operator
from tools.bench.options import Options
from tools.bench.pki import Pki, create_issuer, create_pki
from tools.bench.process_meter import Memory
from tools.bench.proxy import Route
from tools.bench.signing import SigningResult, bare_signing
from tools.bench.stage import Stage, open_stage

__all__ = ["run"]

_PER_PROFILE = 50
_WARM_UP_CERTIFICATES = 10
_SECONDS_BAR = 5.0
_CPU_BAR = Bar("≤ 6 ms", 6.0)


@dataclass(frozen=True, slots=True)
class _Shape:
    """How many certificates, and how they are spread.

    Attributes:
        within: bar of the time; None where there is none.
        writes: bar of the writes for each.
    """

    certificates: int
    per_profile: int
    writes: Bar
    within: Bar | None = None

    @property
    def title(self) -> str:
        return f"{self.certificates:,} certificates, {self.per_profile} per profile"


@dataclass(frozen=True, slots=True)
class _Measured:
    seconds: float
    ready_seconds: float
    first_seconds: float
    cpu_seconds: float
    api: ApiCounts
    requests: Counter[Route]
    memory: Memory
    came_to_rest: bool


async def run(options: Options, _earlier: Mapping[str, RowResult]) -> RowResult:
    """Measure each shape on a cluster and a service of its own, beside bare signing."""
    few, many = options.certificates, options.many_certificates
    at_fifty, alone = Bar("≤ 3", 3.0), Bar("≤ 5", 5.0)
    within = Bar(f"≤ {_SECONDS_BAR:g} s (500)", _SECONDS_BAR)
    shapes = (
        _Shape(few, _PER_PROFILE, at_fifty, within),
        _Shape(few, 1, alone, within),
        _Shape(many, _PER_PROFILE, at_fifty),
    )
    figures: list[Figure] = []
    notes: list[str] = []
    for number, shape in enumerate(shapes):
        async with open_stage(options, f"certificates-{number}") as stage:
            pki = await create_pki(stage.service.admin)
            issuer = await create_issuer(stage.service.admin, pki)
            identity = {
                **stage.identity,
                "clientId": issuer.client_id,
                "clientSecret": issuer.client_secret,
            }
            await _measure(stage, _load(stage, "warm-up", _WARM_UP_CERTIFICATES, _PER_PROFILE, pki), identity)
            signing = await bare_signing(options.signing_seconds)
            load = _load(stage, "certificates", shape.certificates, shape.per_profile, pki)
            found = await _measure(stage, load, identity)
        figures += _figures(shape, signing, found)
        notes += _notes(shape, signing, found)
    title = "Certificates on EC P-256, from CertificateProfiles to Secrets"
    return RowResult("certificates", title, tuple(figures), tuple(notes))


def _load(stage: Stage, word: str, certificates: int, per_profile: int, pki: Pki) -> CertificateLoad:
    return CertificateLoad(stage.cluster.fresh_label(word), certificates, per_profile, pki)


async def _measure(stage: Stage, load: CertificateLoad, identity: dict[str, str]) -> _Measured:
    """Return what an operator took that started when all profiles were there."""
    await populate(stage.cluster.api, load, identity)
    window = Window(stage)
    async with (
        certificates_observed(stage.cluster.api, load) as observer,
        running_operator(stage.operator_flags(), stage.next_log()) as operator,
    ):
        try:
            async with asyncio.TaskGroup() as group:
                ready = group.create_task(operator.ready_seconds(), name="readiness of the operator")
                finished = await observer.until_complete(stage.options.deadline_seconds)
                cpu = operator.meter.cpu_seconds()
        except* NotInTimeError as errors:
            errors.add_note(f"the operator's log ends with:\n{operator.log_tail()}")
            raise
        rests = await came_to_rest(stage, operator)
        return _Measured(
            seconds=finished - operator.started_at,
            ready_seconds=ready.result(),
            first_seconds=min(observer.secret_at.values()) - operator.started_at,
            cpu_seconds=cpu,
            api=window.api(),
            requests=window.requests(),
            memory=operator.meter.memory(),
            came_to_rest=rests,
        )


def _figures(shape: _Shape, signing: SigningResult, found: _Measured) -> list[Figure]:
    number, title = shape.certificates, shape.title
    floor = number / signing.per_second
    return [
        Figure(
            f"{title}: operator start to last Secret and status",
            "s",
            found.seconds,
            floor,
            floor_name="bare signing",
            bar=shape.within,
        ),
        Figure(f"{title}: operator ready to last", "s", found.seconds - found.ready_seconds, floor),
        Figure(
            f"{title}: API-server writes per certificate",
            "per sync",
            found.api.writes_total / number,
            bar=shape.writes,
        ),
        Figure(
            f"{title}: operator's CPU per certificate, start-up included",
            "ms",
            found.cpu_seconds * 1000 / number,
            signing.cpu_seconds * 1000 / signing.signed,
            floor_name="bare signing",
            bar=_CPU_BAR,
        ),
        Figure(f"{title}: memory at rest", "MiB", found.memory.resident, peak_mib=found.memory.peak),
    ]


def _notes(shape: _Shape, signing: SigningResult, found: _Measured) -> list[str]:
    writes = ", ".join(f"{count} x {resource}" for resource, count in found.api.writes.most_common())
    requests = ", ".join(f"{count} x {route}" for route, count in found.requests.most_common())
    told = (
        f"{shape.title}: bare signing {quantity(signing.per_second, 'per second')}; ready after "
        f"{quantity(found.ready_seconds, 's')}, first Secret after {quantity(found.first_seconds, 's')}; "
        f"writes: {writes}; requests to the service: {requests}"
    )
    notes = [told]
    if found.api.refused:
        notes.append(f"{shape.title}: writes that the API server refused: {dict(found.api.refused)}")
    if not found.came_to_rest:
        notes.append(f"{shape.title}: the operator did not come to rest within a minute")
    return notes
