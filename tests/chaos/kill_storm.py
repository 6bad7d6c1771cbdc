"""Kills the operator again and again while sources change, and holds every target to what was ever committed.

`PYTHONPATH=tests:. python -m chaos.kill_storm --objects 1000 --kills 20` runs the whole storm and prints a report
as JSON; its status is 1 when anything was wrong. `--seed` repeats an earlier one, as far as processes repeat.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import random
import secrets
import sys
import tempfile
import time
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path

from chaos.storm_population import Population
from chaos.storm_sources import Changer, ChangingSource
from support.preloaded import PRELOADED
from support.tenant import open_tenant
from tools.controlplane.controlplane import ControlPlane
from tools.local.kube_api import KubeApi
from tools.local.operator_cluster import OperatorCluster, install_operator
from tools.local.operator_process import OperatorProcess
from tools.local.secrets_service import RestartableService, ServiceAdmin
from tools.local.waiting import PATIENCE_SECONDS, NotInTimeError, eventually

__all__ = ["Storm", "StormOptions", "StormReport", "main"]

_NAMESPACES = 5
_CHURN = 2
"""Members that leave, come and are renamed after each kill."""
_LIFE_SECONDS = (0.3, 5.0)
"""Of an operator: from its first steps to the middle of its work."""


@dataclass(frozen=True, slots=True)
class StormOptions:
    """How long and how hard.

    Attributes:
        objects: SecretSyncs.
        kills: of the operator, by SIGKILL.
        sources: folders that they share.
        keys: of each source.
        api_server_kills, service_kills: while an operator works.
        seed: of all that is random.
        settle_seconds: how long everything may take to be in its newest revision after the last start.
    """

    objects: int = 1000
    kills: int = 20
    sources: int = 10
    keys: int = 5
    api_server_kills: int = 1
    service_kills: int = 2
    seed: int = 0
    settle_seconds: float = 1.5 * PATIENCE_SECONDS


@dataclass(slots=True)
class StormReport:
    """What happened.

    Attributes:
        first_seconds: until all were in sync for the first time.
        settled_seconds: until all were in their newest revision, after the last change.
        violations: what was wrong, and after which blow.
    """

    options: StormOptions
    first_seconds: float = 0.0
    settled_seconds: float = 0.0
    checks: int = 0
    revisions: int = 0
    violations: list[str] = field(default_factory=list)


class Storm:
    """One storm over a cluster, a service and an operator of its own; used once."""

    def __init__(self, options: StormOptions, directory: Path) -> None:
        self._options = options
        self._directory = directory
        self._rng = random.Random(options.seed)  # noqa: S311 - a storm that can be repeated
        self._report = StormReport(options)

    def run(self) -> StormReport:
        """Start everything, let the storm pass, and report; nothing runs afterwards."""
        with ExitStack() as stack:
            service = stack.enter_context(RestartableService(self._directory, launch=PRELOADED))
            admin = stack.enter_context(ServiceAdmin(service))
            plane = stack.enter_context(ControlPlane())
            api = stack.enter_context(KubeApi(plane.admin_kubeconfig))
            cluster = install_operator(plane, api)
            # Without a Lease: each of these operators would wait 15 s for that of the one before it.
            flags = [f"--service-url={service.url}", f"--lease-namespace={cluster.namespace}"]
            operator = OperatorProcess(
                cluster.kubeconfig, self._directory, [*flags, "--no-leader-election"], launch=PRELOADED
            )
            stack.callback(operator.kill)
            population, sources = self._populate(cluster, admin)
            self._pass(cluster, service, operator, population, sources)
            operator.terminate()
        return self._report

    def _populate(
        self, cluster: OperatorCluster, admin: ServiceAdmin
    ) -> tuple[Population, list[ChangingSource]]:
        project = admin.new_project("kill-storm")
        login = admin.new_login(project.id)
        sources = [
            ChangingSource(project, number, self._options.keys) for number in range(self._options.sources)
        ]
        for source in sources:
            source.change()
        tenants = [
            open_tenant(cluster.api, f"storm-{number}", project, login) for number in range(_NAMESPACES)
        ]
        population = Population(cluster.api, tenants, sources)
        for _ in range(self._options.objects):
            population.add()
        return population, sources

    def _pass(
        self,
        cluster: OperatorCluster,
        service: RestartableService,
        operator: OperatorProcess,
        population: Population,
        sources: list[ChangingSource],
    ) -> None:
        began = time.monotonic()
        operator.start()
        self._settle(population)
        self._report.first_seconds = round(time.monotonic() - began, 1)
        changer = Changer(sources, self._options.seed + 1)
        changer.start()
        for blow in self._blows():
            self._wait_a_moment()
            match blow:
                case "operator":
                    operator.kill()
                    self._check(population, "the operator was killed")
                    self._churn(population)
                    operator.start(wait=False)
                case "API server":
                    cluster.plane.kill_api_server()
                    cluster.plane.start_api_server()
                    operator.check()
                    self._check(population, "the API server was killed")
                case _:
                    service.kill()
                    service.start()
                    operator.check()
                    self._check(population, "the service was killed")
        changer.stop()
        began = time.monotonic()
        self._settle(population)
        self._report.settled_seconds = round(time.monotonic() - began, 1)
        self._report.revisions = sum(source.newest for source in sources)

    def _blows(self) -> list[str]:
        options = self._options
        blows = (
            ["operator"] * options.kills
            + ["API server"] * options.api_server_kills
            + ["service"] * options.service_kills
        )
        self._rng.shuffle(blows)
        return blows

    def _wait_a_moment(self) -> None:
        # A moment chosen at random is the point of it: there is no condition to wait for.
        time.sleep(self._rng.uniform(*_LIFE_SECONDS))

    def _churn(self, population: Population) -> None:
        plain = [one for one in population.members.values() if not one.merges]
        chosen = self._rng.sample(plain, 2 * _CHURN)
        for member in chosen[:_CHURN]:
            population.remove(member)
            population.add()
        for member in chosen[_CHURN:]:
            population.rename(member)

    def _check(self, population: Population, after: str) -> None:
        self._report.checks += 1
        self._report.violations += [f"after {after}: {one}" for one in population.violations(settled=False)]

    def _settle(self, population: Population) -> None:
        try:
            eventually(
                lambda: not population.violations(settled=True),
                awaited="an end of all differences",
                within=self._options.settle_seconds,
            )
        except NotInTimeError:
            self._report.violations += [f"at rest: {one}" for one in population.violations(settled=True)]


def main() -> int:
    """Run a storm as the command line says; status 1 when something was wrong."""
    parser = argparse.ArgumentParser(prog="python -m chaos.kill_storm", description=__doc__)
    for option in dataclasses.fields(StormOptions):
        kind = float if option.name == "settle_seconds" else int
        default = secrets.randbelow(2**31) if option.name == "seed" else option.default
        parser.add_argument(f"--{option.name.replace('_', '-')}", type=kind, default=default)
    options = StormOptions(**vars(parser.parse_args()))
    sys.stderr.write(f"seed {options.seed}\n")
    with tempfile.TemporaryDirectory(prefix="keybearer-storm-") as directory:
        report = Storm(options, Path(directory)).run()
    sys.stdout.write(json.dumps(dataclasses.asdict(report), indent=2) + "\n")
    return 1 if report.violations else 0


if __name__ == "__main__":
    sys.exit(main())
