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
import os
from collections.abc import Iterator
from typing import Any
from urllib.parse import urlencode

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, settings
from schemathesis import Case
from schemathesis.config import SchemathesisConfig

from keybearer.wire.events import EVENT_STREAM_PATH
from support.described import (
    Surroundings,
    answers_as_written_down,
    described_here,
    is_left_to_long_runs,
    surround,
)
from support.hostile_values import hostile_requests
from support.service_fixtures import Service, ServiceProcess, start_service
from tools.local.waiting import PATIENCE_SECONDS

EXAMPLES = 4
ASKED = os.environ.get("KEYBEARER_GENERATED_REQUESTS")  # noqa: TID251 - an option of this file alone
IS_LONG = ASKED is not None
FREELY = settings(
    suppress_health_check=list(HealthCheck),
    database=None,
    derandomize=not IS_LONG,
    phases=[Phase.explicit, Phase.generate],
)
ANY_REFUSAL = {"checks": {"positive_data_acceptance": {"enabled": False}}}
CONFIG = SchemathesisConfig.from_dict(
    {
        "generation": {"with-security-parameters": False, "max-examples": int(ASKED or EXAMPLES)},
        "checks": {
            "unsupported_method": {"enabled": False},
            "positive_data_acceptance": {"expected-statuses": ["2xx", "400", "401", "403", "404"]},
        },
        "operations": [
            {"include-tag": "Grants", **ANY_REFUSAL},
            {"include-path-regex": "secret-syncs/[a-z]", **ANY_REFUSAL},
            {"include-path-regex": "(kubernetes|ldap)-auth/identities", **ANY_REFUSAL},
            {"include-path-regex": "app-connections/(?!idp|options|{)", **ANY_REFUSAL},
            {
                "include-path-regex": "cert-manager/|pki/subscribers",
                "include-method": ["POST", "PUT", "PATCH"],
                **ANY_REFUSAL,
            },
        ],
    }
)
HEAD_MAX = 60_000
"""Heads over 64 KiB are refused by the HTTP server itself, in words of its own."""
DOCUMENT = described_here()
described = schemathesis.openapi.from_dict(DOCUMENT, config=CONFIG).exclude(path=EVENT_STREAM_PATH)


@schemathesis.serializer("application/ocsp-request")
def ocsp_request(_: object, drawn: object) -> bytes:
    """Return what was drawn as it is sent: of bytes the document tells no more."""
    return drawn if isinstance(drawn, bytes) else str(drawn).encode("utf-8", "surrogatepass")


@pytest.fixture(scope="session")
def own_service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServiceProcess]:
    """Yield a service that other tests don't share: these requests delete what they find."""
    directory = tmp_path_factory.mktemp("described") / "data"
    running = start_service(directory, "--allow-outbound", "127.0.0.0/8")
    yield running
    running.stop()


@pytest.fixture(scope="session")
def left_standing() -> list[Surroundings]:
    """Return where the latest surroundings are kept: to make them takes longer than most tests."""
    return []


@pytest.fixture
def surroundings(own_service: ServiceProcess, left_standing: list[Surroundings]) -> Surroundings:
    if not left_standing or not left_standing[-1].stand():
        left_standing[:] = [surround(own_service, calls_itself=True)]
    return left_standing[0]


@described.parametrize()
@FREELY
def test_answers_are_as_described(
    case: Case[Any], own_service: ServiceProcess, surroundings: Surroundings
) -> None:
    if not IS_LONG and is_left_to_long_runs(case):
        return
    surroundings.settle(case)
    # A query's field without a value counts as left out, which the document has no word for.
    if head_size(case) > HEAD_MAX or "" in case.query.values():
        return
    case.call_and_validate(
        base_url=own_service.url,
        headers={"Authorization": f"Bearer {surroundings.token}"},
        timeout=PATIENCE_SECONDS,
        additional_checks=[answers_as_written_down],
    )


def head_size(case: Case[Any]) -> int:
    """Return about how many bytes its path and query take."""
    return len(case.formatted_path) + len(urlencode(case.query, doseq=True, errors="surrogatepass"))


def test_what_is_served_is_what_these_requests_were_made_from(service: Service) -> None:
    assert service.client().json("GET", "/api/docs/json") == DOCUMENT


def test_texts_and_numbers_that_no_database_holds_are_answered_as_described(service: Service) -> None:
    surroundings = surround(service)
    odd = []
    for hostile in hostile_requests(DOCUMENT, surroundings.known):
        if hostile.template == EVENT_STREAM_PATH:
            continue
        content = None if hostile.body is None else json.dumps(hostile.body).encode()
        headers = {"content-type": "application/json"}
        response = surroundings.client.request(
            hostile.method, hostile.target, content=content, headers=headers
        )
        described_statuses = DOCUMENT["paths"][hostile.template][hostile.method.lower()]["responses"]
        if response.status_code >= 500 or str(response.status_code) not in described_statuses:
            odd.append((hostile.method, hostile.template, hostile.place, response.status_code))
    assert odd == []
    assert surroundings.client.post("/api/v1/auth/checkAuth").status_code == 200
