"""Every model of an app has its app, every model of a destination its driver, and they belong together."""

from __future__ import annotations

import pytest

from keybearer.outbound.apps.registry import APPS
from keybearer.outbound.destinations.registry import DRIVERS
from keybearer.wire.connections.registry import APPS as APP_MODELS
from keybearer.wire.destinations.base import DestinationModel
from keybearer.wire.destinations.catalogue import offered
from keybearer.wire.destinations.registry import DRIVEN


def test_every_model_of_an_app_has_its_app() -> None:
    assert sorted(model.name for model in APP_MODELS) == sorted(APPS)


def test_every_model_of_a_destination_has_its_driver() -> None:
    assert sorted(model.name for model in DRIVEN) == sorted(DRIVERS)


@pytest.mark.parametrize("model", DRIVEN, ids=lambda model: model.name)
def test_a_driven_destination_is_offered_for_an_app_that_there_is(model: DestinationModel) -> None:
    offer = offered(model.name)
    assert offer is not None
    assert offer.app == model.app
    assert model.app in APPS
