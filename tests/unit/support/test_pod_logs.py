"""The follower of pod logs, while a kubelet makes and removes folders."""

from __future__ import annotations

import shutil
import threading
from pathlib import Path
from types import SimpleNamespace
from typing import cast

from support.pod_logs import PodLogs
from tools.node.cluster import NodeCluster

_PODS = 500


def test_a_folder_that_goes_while_it_is_read_ends_nothing(tmp_path: Path) -> None:
    cluster = cast("NodeCluster", SimpleNamespace(nodes=[SimpleNamespace(pod_logs=tmp_path)]))
    logs = PodLogs(cluster, "ns")
    over = threading.Event()

    def come_and_go() -> None:
        for number in range(_PODS):
            folder = tmp_path / f"ns_pod-{number}_uid" / "container"
            folder.mkdir(parents=True)
            shutil.rmtree(folder.parent)
        over.set()

    goer = threading.Thread(target=come_and_go)
    with logs:
        goer.start()
        try:
            while not over.is_set():
                assert logs.of_pods() == {}
        finally:
            goer.join()

        last = tmp_path / "ns_web_uid" / "container" / "0.log"
        last.parent.mkdir(parents=True)
        last.write_text("2026-01-01T00:00:00Z stdout F ready\n")
        assert logs.of_pods() == {"web": "ready\n"}
