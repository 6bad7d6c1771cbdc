"""Secret syncs of two replicas, to a remote that takes its time."""

from __future__ import annotations

import itertools

from chaos.replica_scene import ReplicaScene
from tools.local.parameter_store import ParameterStoreServer
from tools.local.secrets_service import SourceProject
from tools.local.waiting import PATIENCE_SECONDS, eventually

__all__ = ["ReplicaSyncs"]

_SYNCS = "/api/v1/secret-syncs/cloud-parameter-store"
_NUMBER = 20
"""What two replicas run at once by default."""
_CONNECTIONS = 4
_LEASE_SECONDS = 60


class ReplicaSyncs:
    """As many as two replicas run at once, each from a folder to a path of its own.

    Args:
        scene: whose replicas reach the remote.
        store: the remote.
    """

    def __init__(self, scene: ReplicaScene, store: ParameterStoreServer) -> None:
        self._scene = scene
        self._store = store
        self._serial = itertools.count(1)
        self._value = ""
        admin = scene.admin
        self._project = admin.new_project("replica-syncs")
        connections = [
            admin.send(
                "POST",
                "/api/v1/app-connections/cloud",
                {
                    "name": f"connection-{number}",
                    "method": "access-key",
                    "projectId": self._project.id,
                    "credentials": {
                        "accessKeyId": f"AKIA{number:016d}",
                        "secretAccessKey": f"cnry-key-{number}",
                    },
                },
            )["appConnection"]["id"]
            for number in range(_CONNECTIONS)
        ]
        for number in range(_NUMBER):
            self._project.folder(f"/f{number}")
        self.change()
        for number in range(_NUMBER):
            sync = {
                "name": f"sync-{number}",
                "projectId": self._project.id,
                "connectionId": connections[number % _CONNECTIONS],
                "environment": "dev",
                "secretPath": f"/f{number}",
                "syncOptions": {"initialSyncBehavior": "overwrite-destination"},
                "destinationConfig": {"region": "eu-west-1", "path": f"/s{number}/"},
            }
            admin.send("POST", _SYNCS, sync)
        self.until_done()

    def change(self) -> None:
        """Every folder has a new value, and every sync a job."""
        self._value = f"cnry-{next(self._serial)}"
        with self._scene.new_admin() as admin:
            project = SourceProject(admin, self._project.id, self._project.slug)
            for number in range(_NUMBER):
                project.store({"KEY": self._value}, path=f"/f{number}")

    def until_both_run(self) -> None:
        """Each replica is in the middle of runs."""
        eventually(
            lambda: (
                self._scene.count("SELECT count(DISTINCT claimed_by) FROM sync_jobs WHERE is_running") == 2
            ),
            awaited="runs of both",
        )

    def until_done(self) -> None:
        """No job is left."""
        eventually(
            lambda: self._scene.count("SELECT count(*) FROM sync_jobs") == 0,
            awaited="an end of all jobs",
            within=2 * _LEASE_SECONDS + PATIENCE_SECONDS,
        )

    def wrong(self) -> list[str]:
        """Where the remote differs from its folder, and what two runs did at once."""
        behind = [
            f"/s{number}/ is behind its folder"
            for number in range(_NUMBER)
            if self._store.below(f"/s{number}/") != {"KEY": self._value}
        ]
        return [*behind, *(f"two runs were in {path} at once" for path in sorted(set(self._store.overlaps)))]
