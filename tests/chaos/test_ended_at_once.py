"""An operator that is ended the moment it says that it is ready: it ends in good order all the same."""

from __future__ import annotations

from pathlib import Path

import httpx
import pytest

from chaos.lone_scene import open_scene
from tools.local.plain_http import TRUSTS_NOBODY

pytestmark = [pytest.mark.deep, pytest.mark.integration]

_ROUNDS = 5


def test_an_operator_that_is_ended_when_it_is_ready_drains(tmp_path: Path) -> None:
    with open_scene(tmp_path) as scene:
        operator = scene.operator
        operator.terminate()
        for _ in range(_ROUNDS):
            operator.start(wait=False)
            with httpx.Client(base_url=operator.metrics_url, verify=TRUSTS_NOBODY) as asker:
                # Without a pause: what is looked for lasts some milliseconds.
                while not _is_ready(asker):
                    operator.check()
            operator.terminate()
        operator.start()


def _is_ready(asker: httpx.Client) -> bool:
    try:
        return asker.get("/readyz").is_success
    except httpx.TransportError:  # it doesn't listen yet
        return False
