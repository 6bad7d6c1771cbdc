"""keybearer.controllers.assembly: the tables that it wires, and who forgets what has gone."""

from __future__ import annotations

from random import Random
from typing import cast

import pytest
from prometheus_client import CollectorRegistry

from keybearer.controllers.appconnection.reconcile import AppConnectionReconciler
from keybearer.controllers.assembly import READINGS, Assembly, Circumstances, assemble
from keybearer.controllers.certificateprofile.parts import CertificateProfiles
from keybearer.controllers.kinds import RESOURCES
from keybearer.controllers.secretsync.reconcile import SecretSyncReconciler
from keybearer.controllers.settings import OperatorSettings
from keybearer.controllers.telemetry import OperatorMetrics
from keybearer.controllers.work import WorkKey
from keybearer.kube.connection import Connection
from keybearer.kube.gateway import Gateway
from unit.controllers.fakes.hand_clock import HandClock
from unit.controllers.fakes.targets import FINGERPRINTER, Body


def test_each_kind_says_how_its_objects_are_read() -> None:
    assert READINGS.keys() == RESOURCES.keys()


def new_assembly() -> Assembly:
    """An operator whose parts are wired; nothing of it runs."""
    return assemble(
        Circumstances(
            settings=OperatorSettings(),
            namespace="keybearer",
            clock=HandClock(),
            rng=Random(1),  # noqa: S311 - jitter
            connection=cast("Connection", None),
            gateway=Gateway(cast("Connection", None), may_write=lambda: None),
            fingerprinter=FINGERPRINTER,
            metrics=OperatorMetrics(CollectorRegistry()),
        )
    )


async def test_whoever_reconciles_an_object_forgets_it_when_a_watch_shows_its_end(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    forgotten: list[tuple[str, WorkKey]] = []
    for kind, owner in (
        ("SecretSync", SecretSyncReconciler),
        ("AppConnection", AppConnectionReconciler),
        ("CertificateProfile", CertificateProfiles),
    ):
        monkeypatch.setattr(owner, "forget", lambda _, key, kind=kind: forgotten.append((kind, key)))
    assembly = new_assembly()

    for kind in RESOURCES:
        meta: Body = {"namespace": "team-a", "name": "web", "uid": kind, "resourceVersion": "1"}
        assembly.intake.custom_resource(kind, "ADDED", {"metadata": meta, "spec": {}})
        assembly.intake.custom_resource(kind, "DELETED", {"metadata": meta, "spec": {}})

    assert forgotten == [(kind, WorkKey(kind, "team-a", "web")) for kind in RESOURCES]
