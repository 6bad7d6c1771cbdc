"""Sources that change all the time, and a ledger of everything that was ever committed to them."""

from __future__ import annotations

import random
import threading
from collections.abc import Mapping, Sequence

import httpx

from tools.local.secrets_service import SourceProject
from tools.local.waiting import eventually

__all__ = ["Changer", "ChangingSource"]

_PAUSE_SECONDS = (0.02, 0.2)
"""Between two changes: several fall into each life of an operator."""


class ChangingSource:
    """One folder whose keys change all at once, from revision to revision.

    Attributes:
        path: the folder.
        newest: the revision that was committed last, as far as the service has said.
    """

    def __init__(self, project: SourceProject, number: int, keys: int) -> None:
        self.path = f"/source-{number}"
        self.newest = 0
        self._project = project
        self._number = number
        self._keys = keys
        self._asked = 0
        self._revisions: dict[frozenset[tuple[str, str]], int] = {}
        project.folder(self.path)

    def values(self, revision: int) -> dict[str, str]:
        """What the folder holds in that revision; no value is in two revisions."""
        return {f"KEY_{key}": f"cnry-{self._number}-{key}-r{revision}" for key in range(self._keys)}

    def change(self) -> None:
        """Commit one revision more.

        Raises:
            httpx.HTTPError: the service did not answer; the revision may have been committed all the same.
        """
        self._asked += 1
        revision = self._asked
        values = self.values(revision)
        # Before it is asked for: from then on a reader may see it.
        self._revisions[frozenset(values.items())] = revision
        self._project.store(values, path=self.path)
        self.newest = revision

    def revision_of(self, data: Mapping[str, str]) -> int | None:
        """The revision that is byte for byte this data; None when none is: a mixture, or something else."""
        return self._revisions.get(frozenset(data.items()))


class Changer:
    """Changes sources, one at a time, until it is stopped."""

    def __init__(self, sources: Sequence[ChangingSource], seed: int) -> None:
        self._sources = sources
        self._rng = random.Random(seed)  # noqa: S311 - a storm that can be repeated
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name="changer", daemon=True)
        self._fault: BaseException | None = None

    def start(self) -> None:
        """Changes go on from now on."""
        self._thread.start()

    def stop(self) -> None:
        """Nothing changes any more, and the newest revision of each source is known for certain."""
        self._stop.set()
        self._thread.join()
        if self._fault is not None:
            raise self._fault
        for source in self._sources:
            eventually(lambda source=source: _changed(source), awaited=f"a last change of {source.path}")  # type: ignore[misc] # bound at once

    def _run(self) -> None:
        try:
            while not self._stop.wait(self._rng.uniform(*_PAUSE_SECONDS)):
                _changed(self._rng.choice(self._sources))
        except BaseException as error:  # noqa: BLE001 - raised again where the storm ends
            self._fault = error


def _changed(source: ChangingSource) -> bool:
    try:
        source.change()
    except httpx.TransportError:
        return False  # the service was just killed
    return True
