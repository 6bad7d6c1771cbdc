"""The whole search: what runs undisturbed is learned, then every plan is run, and what was found is written down."""

from __future__ import annotations

import asyncio
import contextlib
import json
import ssl
from collections.abc import AsyncIterator, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import aiohttp

from tools.bench.kube import connect
from tools.bench.service import Admin
from tools.controlplane.controlplane import ControlPlane
from tools.controlplane.process import Launch
from tools.explore.field_scenarios import FIELDS
from tools.explore.lane import Lane, Surroundings, open_lane
from tools.explore.mirror import Mirror
from tools.explore.plans import Plan
from tools.explore.run import Baseline, Outcome, Runs, Verdict
from tools.explore.scenarios import CATALOGUE, Scenario
from tools.explore.scene import REFUSED_KEY
from tools.local.kube_api import KubeApi, RefusedError
from tools.local.operator_cluster import install_operator
from tools.local.parameter_store import ParameterStoreServer
from tools.local.secrets_service import RestartableService
from tools.local.waiting import eventually

__all__ = ["Options", "learn", "learned_for", "open_runs", "run_all", "run_plan", "scenario_of"]

_LEARNED = 4
"""Undisturbed runs of each scenario: what differs between them is not compared."""
_ATTEMPTS = 4
"""A plan whose moment did not come is run once more, up to so many times in all."""

OnOutcome = Callable[[Plan, Outcome], None]


@dataclass(frozen=True, slots=True)
class Options:
    """How the search is made.

    Attributes:
        directory: for logs.
        calm: runs at once that kill nobody.
        mortal: operators that are killed, one run each.
        resync_seconds: list period of the operators.
        program: what runs as the operator; `keybearer` where it is empty.
        launch: what starts it.
    """

    directory: Path
    calm: int = 10
    mortal: int = 3
    resync_seconds: float = 8.0
    program: Sequence[str | Path] = ()
    launch: Launch | None = None


@contextlib.asynccontextmanager
async def open_runs(options: Options) -> AsyncIterator[Runs]:
    """Run control plane, service, store and operators while the block runs."""
    directory = options.directory
    directory.mkdir(parents=True, exist_ok=True)
    async with contextlib.AsyncExitStack() as stack:
        store = stack.enter_context(ParameterStoreServer())
        flags = ["--allow-outbound=127.0.0.0/8", f"--app-endpoint=cloud={store.url}"]
        service = RestartableService(directory, flags=flags)
        await asyncio.to_thread(service.start)
        stack.push_async_callback(asyncio.to_thread, service.stop)
        plane = ControlPlane(log_directory=directory)
        stack.push_async_callback(asyncio.to_thread, plane.stop)
        await asyncio.to_thread(plane.start)
        session = await stack.enter_async_context(_session_to(plane))
        api = await stack.enter_async_context(connect(plane.admin_kubeconfig))
        kube = stack.enter_context(KubeApi(plane.admin_kubeconfig))
        cluster = await asyncio.to_thread(install_operator, plane, kube, {})
        admin, organization = await stack.enter_async_context(_admin_of(service))
        around = Surroundings(
            directory,
            cluster,
            api,
            admin,
            organization,
            service.url,
            session,
            options.resync_seconds,
            options.program,
            options.launch,
        )
        await asyncio.to_thread(_refuse, plane, kube)
        mirror = Mirror()
        await stack.enter_async_context(mirror.following(api))
        calm = await stack.enter_async_context(open_lane(around, "calm", options.calm))
        mortal: asyncio.Queue[Lane] = asyncio.Queue()
        for number in range(options.mortal):
            mortal.put_nowait(await stack.enter_async_context(open_lane(around, f"mortal{number}", 1)))
        yield Runs(around, mirror, store, calm, mortal)


def _refuse(plane: ControlPlane, api: KubeApi) -> None:
    """The API server refuses new Secrets that hold a certain key, whoever makes them."""
    name = "explore-refused"
    registration = "admissionregistration.k8s.io/v1"
    rule = {"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["secrets"]}
    expression = f"!has(object.data) || !('{REFUSED_KEY}' in object.data)"
    policy = {
        "matchConstraints": {"resourceRules": [rule]},
        "validations": [{"expression": expression}],
    }
    binding = {"policyName": name, "validationActions": ["Deny"]}
    items = [
        {"apiVersion": registration, "kind": kind, "metadata": {"name": name}, "spec": spec}
        for kind, spec in (
            ("ValidatingAdmissionPolicy", policy),
            ("ValidatingAdmissionPolicyBinding", binding),
        )
    ]
    plane.kubectl(
        "apply", "--filename=-", input=json.dumps({"apiVersion": "v1", "kind": "List", "items": items})
    )
    probe = {
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": {"namespace": "default", "name": "probe"},
        "stringData": {REFUSED_KEY: ""},
    }

    def is_refused() -> bool:
        try:
            api.create(probe, dry_run=True)
        except RefusedError as error:
            return error.status in (403, 422)
        return False

    eventually(is_refused, awaited=f"the policy {name} at work")


@contextlib.asynccontextmanager
async def _session_to(plane: ControlPlane) -> AsyncIterator[aiohttp.ClientSession]:
    tls = ssl.create_default_context(cadata=plane.ca_pem.decode())
    timeout = aiohttp.ClientTimeout(total=None, sock_connect=10)
    connector = aiohttp.TCPConnector(limit=0, ssl=tls)
    async with aiohttp.ClientSession(timeout=timeout, connector=connector, auto_decompress=False) as session:
        yield session


@contextlib.asynccontextmanager
async def _admin_of(service: RestartableService) -> AsyncIterator[tuple[Admin, str]]:
    written = service.admin_file()
    credentials = {name: written[name] for name in ("clientId", "clientSecret")}
    async with aiohttp.ClientSession(service.url, timeout=aiohttp.ClientTimeout(total=60)) as session:
        async with session.post("/api/v1/auth/universal-auth/login", json=credentials) as answer:
            token = (await answer.json())["accessToken"]
        yield Admin(session, token), written["organizationId"]


async def learn(runs: Runs, scenarios: Iterable[str], on_outcome: OnOutcome) -> dict[str, Baseline]:
    """Return what undisturbed runs of these scenarios have in common.

    Of a scenario that fails undisturbed nothing is returned, and that run is told: there is nothing to compare with.
    """

    async def one(scenario: str) -> tuple[str, Baseline | None]:
        undisturbed = Plan(0, scenario, ())
        outcomes = []
        for _ in range(_LEARNED):
            outcomes.append(await runs.run(CATALOGUE[scenario], undisturbed, None))
            if outcomes[-1].verdict is Verdict.VIOLATED:
                on_outcome(undisturbed, outcomes[-1])
                return scenario, None
        return scenario, Baseline.of(outcomes, CATALOGUE[scenario].most_moments)

    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(one(name), name=f"learn {name}") for name in scenarios]
    learned = (task.result() for task in tasks)
    return {scenario: baseline for scenario, baseline in learned if baseline is not None}


def scenario_of(plan: Plan) -> Scenario:
    """Return the scenario of a plan."""
    return CATALOGUE.get(plan.scenario) or FIELDS[plan.scenario]


def learned_for(plan: Plan) -> str:
    """Return the scenario that a plan is compared with."""
    return scenario_of(plan).like or plan.scenario


async def run_plan(runs: Runs, plan: Plan, baselines: Mapping[str, Baseline]) -> Outcome:
    """Run one plan."""
    return await runs.run(scenario_of(plan), plan, baselines.get(learned_for(plan)))


async def run_all(
    runs: Runs, plans: Sequence[Plan], baselines: Mapping[str, Baseline], on_outcome: OnOutcome
) -> None:
    """Run these plans, as many at once as the lanes take."""

    async def work(rest: list[Plan]) -> None:
        while rest:
            plan = rest.pop(0)
            outcome = await run_plan(runs, plan, baselines)
            for _ in range(_ATTEMPTS - 1):
                if outcome.verdict is not Verdict.NOT_REACHED:
                    break
                outcome = await run_plan(runs, plan, baselines)
            on_outcome(plan, outcome)

    killing = [one for one in plans if one.kills]
    others = [one for one in plans if not one.kills]
    async with asyncio.TaskGroup() as group:
        for rest, workers in ((killing, runs.mortal.qsize()), (others, len(runs.calm.places))):
            for number in range(workers):
                group.create_task(work(rest), name=f"runs {number}")
