"""Kills operator and service while certificates are issued: each is asked for once, and kept."""

from __future__ import annotations

import random
import secrets
import sys
import time
from collections import Counter
from pathlib import Path

import pytest

from chaos.lone_scene import open_scene
from support.certificate_objects import Certificates, certificate, certificates_of
from tools.local.marks import find_mark

pytestmark = [pytest.mark.deep, pytest.mark.integration]

_PROFILES = ("first", "second")
_EACH = 25
_OPERATOR_KILLS = 5
_SERVICE_KILLS = 1
_LIFE_SECONDS = (0.5, 3.0)
"""Of an operator: from its first steps to the middle of its work."""


def test_whatever_is_killed_each_certificate_is_issued_once(tmp_path: Path) -> None:
    seed = secrets.randbelow(2**31)
    sys.stdout.write(f"seed {seed}\n")
    rng = random.Random(seed)  # noqa: S311 - a storm that can be repeated
    # Without a Lease: each of these operators would wait 15 s for that of the one before it.
    with open_scene(tmp_path) as scene:
        service, operator = scene.service, scene.operator
        certificates = certificates_of(scene.tenant, scene.admin)
        for profile in _PROFILES:
            certificates.create(profile, *(certificate(f"{profile}{number}") for number in range(_EACH)))

        blows = ["operator"] * _OPERATOR_KILLS + ["service"] * _SERVICE_KILLS
        rng.shuffle(blows)
        for blow in blows:
            # A moment chosen at random is the point of it: there is no condition to wait for.
            time.sleep(rng.uniform(*_LIFE_SECONDS))
            if blow == "operator":
                operator.kill()
                operator.start(wait=False)
            else:
                service.kill()
                service.start()
        operator.wait_ready()
        _settle(certificates)
    assert find_mark("".join(log.read_text() for log in tmp_path.glob("*.log"))) is None


def _settle(certificates: Certificates) -> None:
    for profile in _PROFILES:
        certificates.until(
            profile,
            lambda found: found.get("status", {}).get("issued") == f"{_EACH}/{_EACH}",
            "all certificates",
        )
    requests = certificates.requests()
    asked = Counter(request["commonName"] for request in requests)
    assert len(asked) == len(_PROFILES) * _EACH
    assert {name: count for name, count in asked.items() if count != 1} == {}
    by_name = {request["commonName"]: request["certificate"]["serialNumber"] for request in requests}
    for profile in _PROFILES:
        for number in range(_EACH):
            name = f"{profile}{number}"
            assert certificates.stored(name)[0].serial == by_name[f"{name}.example.com"]
