"""keybearer.controllers.secretsync.reconcile: what can't be done as a spec is."""

from __future__ import annotations

import pytest

from keybearer.controllers.requests import PendingRequest
from keybearer.controllers.secretsync.reconcile import why_refused
from keybearer.controllers.secretsync.resource import SecretSyncSpec

_DESTINATION = {
    "identityRef": {"name": "login"},
    "source": {"projectId": "shop", "environment": "dev"},
    "destination": "hashicorp-vault",
    "connectionRef": {"name": "store"},
    "destinationConfig": {"mount": "kv", "path": "app"},
}
_REMOVAL = PendingRequest("1", "remove-foreign")
_KEEPS = {"initialSyncBehavior": "overwrite-destination", "disableSecretDeletion": True}


@pytest.mark.parametrize(
    ("spec", "saying"),
    [
        pytest.param(_DESTINATION, None, id="a destination"),
        pytest.param({**_DESTINATION, "mode": "Plan"}, None, id="a plan, which the run looks at"),
        pytest.param({"source": _DESTINATION["source"]}, "no spec.destination", id="no destination"),
        pytest.param({**_DESTINATION, "mode": "Suspended"}, "mode is Suspended", id="suspended"),
        pytest.param({**_DESTINATION, "mode": "CreateOnce"}, "mode is CreateOnce", id="written once"),
        pytest.param(
            {**_DESTINATION, "syncOptions": _KEEPS}, "disableSecretDeletion", id="nothing is removed"
        ),
    ],
)
def test_a_removal_of_others_names_says_what_stands_against_it(
    spec: dict[str, object], saying: str | None
) -> None:
    why = why_refused(_REMOVAL, SecretSyncSpec.model_validate(spec))
    assert (why is None) == (saying is None)
    assert saying is None or saying in (why or "")


@pytest.mark.parametrize("kind", ["sync", "release-guard", "approve-plan", "nonsense"])
def test_other_requests_are_never_refused(kind: str) -> None:
    spec = SecretSyncSpec.model_validate({"source": _DESTINATION["source"]})
    assert why_refused(PendingRequest("1", kind), spec) is None


def test_an_import_without_a_destination_is_refused() -> None:
    spec = SecretSyncSpec.model_validate({"source": _DESTINATION["source"]})
    why = why_refused(PendingRequest("1", "import"), spec)
    assert why == "there is no spec.destination to import from; nothing was imported"
