"""What pods of a cluster log, also those that are gone: a kubelet removes files, but not from whoever reads them."""

from __future__ import annotations

import contextlib
import glob
import re
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Self

from tools.node.cluster import NodeCluster

__all__ = ["PodLogs"]

_TURN_SECONDS = 0.1
# As CRI has it: the moment, the stream, and whether the line goes on.
_LINE = re.compile(r"^\S+ (?:stdout|stderr) ([FP]) (.*)$", re.MULTILINE)


class PodLogs:
    """Follows the pods of a namespace while the block runs.

    Args:
        cluster: whose pods.
        namespace: of the pods.
    """

    def __init__(self, cluster: NodeCluster, namespace: str) -> None:
        self._directories = [node.pod_logs for node in cluster.nodes]
        self._pattern = f"{namespace}_*/*/*.log"
        self._files: dict[Path, IO[str]] = {}
        self._lock = threading.Lock()
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._run, name="pod-logs")

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._thread.join()
        for file in self._files.values():
            file.close()

    def of_pods(self) -> dict[str, str]:
        """What they logged, by the pods' names."""
        found: dict[str, str] = {}
        for path, text in self._texts():
            pod = path.parts[-3].split("_")[1]
            found[pod] = found.get(pod, "") + text
        return found

    def told(self) -> str:
        """What they logged last, for whoever finds them failing."""
        return "\n".join(f"--- {name}\n{text[-1500:]}" for name, text in self.of_pods().items())

    def _texts(self) -> Iterator[tuple[Path, str]]:
        self._look()
        with self._lock:
            for path, file in self._files.items():
                file.seek(0)
                yield (
                    path,
                    "".join(
                        text + ("\n" if whole == "F" else "") for whole, text in _LINE.findall(file.read())
                    ),
                )

    def _run(self) -> None:
        while not self._over.wait(_TURN_SECONDS):
            self._look()

    def _look(self) -> None:
        with self._lock:
            for directory in self._directories:
                # `Path.glob` would end with an error when a folder goes that it was about to read.
                for name in glob.iglob(self._pattern, root_dir=directory):  # noqa: PTH207 - see above
                    path = directory / name
                    if path not in self._files:
                        with contextlib.suppress(FileNotFoundError):  # it went just now, or leads nowhere yet
                            self._files[path] = path.open(errors="replace")
