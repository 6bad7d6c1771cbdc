from __future__ import annotations

from collections.abc import Iterable
from typing import cast

import aiohttp
import kopf

from keybearer.controllers.intake import EventIntake
from keybearer.controllers.kinds import RESOURCES
from keybearer.controllers.shell import kopf_settings, new_registry


def test_it_writes_nothing_keeps_nothing_and_gives_up_never() -> None:
    settings = kopf_settings()

    assert settings.posting.enabled is False
    assert settings.peering.standalone is True
    for storage in (settings.persistence.diffbase_storage, settings.persistence.progress_storage):
        assert type(storage).__module__ == "keybearer.controllers.shell", "kopf's own would annotate"
    waits = iter(cast("Iterable[float]", settings.networking.error_backoffs))
    assert [next(waits) for _ in range(1000)][-1] == 3


async def test_only_event_handlers_are_registered_none_of_which_can_add_a_finalizer() -> None:
    async with aiohttp.ClientSession() as session:
        registry = new_registry(cast("EventIntake", None), session, "https://example.org")

    assert len(registry._watching.get_all_handlers()) == len(RESOURCES)
    assert not registry._changing.get_all_handlers()
    assert not registry._spawning.get_all_handlers()
    assert not registry._indexing.get_all_handlers()
    assert isinstance(registry, kopf.OperatorRegistry)
