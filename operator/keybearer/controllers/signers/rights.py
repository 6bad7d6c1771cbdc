"""Whether we may publish trust bundles: asked beforehand, as everybody may list them, whatever the chart grants."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Awaitable, Callable, Mapping
from datetime import timedelta
from typing import Final

from pydantic import JsonValue

from keybearer.base.backoff import jittered
from keybearer.base.logs import get_logger
from keybearer.controllers.signers.naming import SIGNER_DOMAIN
from keybearer.kube.errors import KubeError
from keybearer.kube.resources import CLUSTER_TRUST_BUNDLES

__all__ = ["BundleRights"]

_log = get_logger(__name__)

_EVERY: Final = timedelta(minutes=1)
_SOON: Final = timedelta(seconds=5)
_NEEDED: Final[tuple[Mapping[str, JsonValue], ...]] = (
    {"group": CLUSTER_TRUST_BUNDLES.group, "resource": CLUSTER_TRUST_BUNDLES.plural, "verb": "create"},
    # Who writes a bundle of a signer attests for it (ClusterTrustBundleAttest of the API server).
    {
        "group": CLUSTER_TRUST_BUNDLES.group,
        "resource": "signers",
        "name": f"{SIGNER_DOMAIN}/*",
        "verb": "attest",
    },
)


class BundleRights:
    """Asks until the rights are there, and again when they were lost.

    Args:
        ask: whether we may do what these attributes of a SelfSubjectAccessReview say.
        rng: spreads the questions.
        on_granted: called when the rights have come.

    Attributes:
        granted: whether they are there, as far as is known.
    """

    def __init__(
        self,
        ask: Callable[[Mapping[str, JsonValue]], Awaitable[bool]],
        rng: random.Random,
        on_granted: Callable[[], None],
    ) -> None:
        self._ask = ask
        self._rng = rng
        self._on_granted = on_granted
        self.granted = False

    def lost(self) -> None:
        """Take note that the API server refused to let us publish: nobody tries again before the next question."""
        self.granted = False

    async def run(self) -> None:
        """Ask until cancelled; nothing while the rights are there."""
        while True:
            pause = _EVERY if self.granted else await self._look()
            await asyncio.sleep(jittered(pause, self._rng).total_seconds())

    async def _look(self) -> timedelta:
        try:
            for needed in _NEEDED:
                if not await self._ask(needed):
                    return _EVERY
        except KubeError as error:
            _log.debug("rights_not_known", error=str(error))  # whatever serves tells of an outage louder
            return _SOON
        self.granted = True
        self._on_granted()
        return _EVERY
