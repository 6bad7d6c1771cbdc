"""What the canary searches after a test: everything that operator, service and cluster show of secrets."""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import partial

from support.canary import Canary
from tools.local.kube_api import KubeApi
from tools.local.marks import MARK
from tools.local.operator_process import OperatorProcess
from tools.local.secrets_service import RestartableService

__all__ = ["Outlets"]

_SHORTEST = 16
"""Texts under this length are no credentials; blanking them out would hit innocent words."""


@dataclass(frozen=True)
class Outlets:
    """Where values could come to light during one test; made at its start.

    Attributes:
        api: of the cluster.
        operators: those that ran.
        services: those that ran.
        log_starts: sizes of their logs at the start of the test.
        namespaces: of the test.
    """

    api: KubeApi
    operators: tuple[OperatorProcess, ...]
    services: tuple[RestartableService, ...]
    log_starts: tuple[int, ...]
    namespaces: list[str] = field(default_factory=list)

    @classmethod
    def from_now(
        cls, api: KubeApi, operators: Iterable[OperatorProcess], services: Iterable[RestartableService]
    ) -> Outlets:
        """Outlets whose logs count from now on."""
        all_operators, all_services = tuple(operators), tuple(services)
        writers: list[OperatorProcess | RestartableService] = [*all_operators, *all_services]
        return cls(api, all_operators, all_services, tuple(one.log_size() for one in writers))

    def show_to(self, canary: Canary, credentials: Iterable[str]) -> None:
        """Let the canary search all of them as they are now.

        Args:
            canary: of the test.
            credentials: secrets and tokens that carry no mark of their own; they get one.
        """
        marked = [text for text in credentials if len(text) >= _SHORTEST]
        for name, read in self._readers():
            text = read()
            for credential in marked:
                text = text.replace(credential, f"{MARK}credential")
            canary.watch(name, partial(str, text))

    def _readers(self) -> list[tuple[str, Callable[[], str]]]:
        writers: list[OperatorProcess | RestartableService] = [*self.operators, *self.services]
        logs: list[tuple[str, Callable[[], str]]] = [
            (f"log {one.log_file.name}", partial(one.log, start))
            for one, start in zip(writers, self.log_starts, strict=True)
        ]
        metrics: list[tuple[str, Callable[[], str]]] = [
            ("/metrics", one.metrics) for one in self.operators if one.running
        ]
        shown = itertools.product(("Event", "SecretSync"), self.namespaces)
        return [
            *logs,
            *metrics,
            *(
                (f"{kind}s of {namespace}", partial(self._listed, kind, namespace))
                for kind, namespace in shown
            ),
        ]

    def _listed(self, kind: str, namespace: str) -> str:
        return json.dumps(self.api.list(kind, namespace))
