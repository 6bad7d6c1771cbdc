"""Requests made from the service's own description: every answer is one that it describes.

`KEYBEARER_GENERATED_REQUESTS=200 pytest tests/contract/service/test_described_requests.py` is a long run: as many
random requests for each operation, others in every run, and all the systematic ones instead of each fourth.

Checks that are left out, of all that schemathesis has:
- unsupported_method: a known path under another method is an unknown route and answers 404, as in the published
  service (wire.md section 8.2); the shape of that answer is checked.
- positive_data_acceptance for the making and changing of grants: how many names a pattern of paths may have, and that
  `**` stands alone, is beyond a schema; for Kubernetes and LDAP auth, whose URLs, certificates and filters are; and
  for app connections but those of the identity provider, whose URLs are and which fields go with each other; and for
  secret syncs to single destinations, likewise; and for what is written about certificates: lifetimes have bounds in
  several units, and fields and dates go with each other.
- 400 passes for an answer to what was described as right: it stands for rules between fields, or about what exists,
  that a schema can't tell. What a schema can tell is answered 422, and fails here.
The event stream has tests of its own (test_events.py). The description has no links to follow from one operation to
another, so checks over several requests find nothing to do here.
"""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest

from keybearer.wire.events import EVENT_STREAM_PATH
from support.described import Surroundings, described_here, surround
from support.hostile_values import hostile_requests
from support.service_fixtures import Service, ServiceProcess, start_service

pytestmark = pytest.mark.deep

PARTS = 12
"""Of the operations, so that processes share them."""


@pytest.fixture(scope="session")
def own_service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServiceProcess]:
    """Yield a service that other tests don't share: these requests delete what they find."""
    directory = tmp_path_factory.mktemp("described") / "data"
    running = start_service(directory, "--allow-outbound", "127.0.0.0/8")
    yield running
    running.stop()


@pytest.mark.parametrize("part", range(PARTS))
def test_answers_are_as_described(own_service: ServiceProcess, part: int) -> None:
    from support.generated_requests import operations, send_requests  # noqa: PLC0415 - no other test pays for it

    failed: list[Exception] = []
    surroundings: Surroundings | None = None
    for operation in operations()[part::PARTS]:
        # To make them takes longer than most requests.
        if surroundings is None or not surroundings.stand():
            surroundings = surround(own_service, calls_itself=True)
        try:
            send_requests(operation, own_service.url, surroundings)
        except Exception as error:  # noqa: BLE001 - all operations are shown that failed
            error.add_note(f"operation: {operation.label}")
            failed.append(error)
    if failed:
        raise ExceptionGroup("answers differ from their description", failed)


def test_what_is_served_is_what_these_requests_were_made_from(service: Service) -> None:
    assert service.client().json("GET", "/api/docs/json") == described_here()


@pytest.mark.every_database
def test_texts_and_numbers_that_no_database_holds_are_answered_as_described(service: Service) -> None:
    document, surroundings = described_here(), surround(service)
    odd = []
    for hostile in hostile_requests(document, surroundings.known):
        if hostile.template == EVENT_STREAM_PATH:
            continue
        content = None if hostile.body is None else json.dumps(hostile.body).encode()
        headers = {"content-type": "application/json"}
        response = surroundings.client.request(
            hostile.method, hostile.target, content=content, headers=headers
        )
        described_statuses = document["paths"][hostile.template][hostile.method.lower()]["responses"]
        if response.status_code >= 500 or str(response.status_code) not in described_statuses:
            odd.append((hostile.method, hostile.template, hostile.place, response.status_code))
    assert odd == []
    assert surroundings.client.post("/api/v1/auth/checkAuth").status_code == 200
