"""Requests that schemathesis makes from the service's own description, and what each answer is held against.

The making takes a minute of the processor: it is loaded, and done, by the tests that send them and by nobody else.
"""

from __future__ import annotations

import os
import random
import zlib
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any
from urllib.parse import urlencode

import httpx
import schemathesis
from hypothesis import HealthCheck, Phase, settings
from schemathesis import Case
from schemathesis.checks import CheckContext, load_all_checks
from schemathesis.config import SchemathesisConfig
from schemathesis.core.parameters import ParameterLocation
from schemathesis.core.result import Err, Ok
from schemathesis.core.transport import Response
from schemathesis.generation.feedback import FeedbackSources
from schemathesis.generation.meta import TestPhase
from schemathesis.pytest._test_builder import build_operation_test
from schemathesis.schemas import APIOperation

from keybearer.wire.events import EVENT_STREAM_PATH
from support.described import Surroundings, described_here
from support.strict_answers import check_answer
from tools.local.waiting import PATIENCE_SECONDS

__all__ = ["operations", "send_requests"]

Operation = APIOperation[Any, Any, Any, Any]

_EXAMPLES = 4
_ASKED = os.environ.get("KEYBEARER_GENERATED_REQUESTS")  # noqa: TID251 - an option of these tests alone
_IS_LONG = _ASKED is not None
_FREELY = settings(
    suppress_health_check=list(HealthCheck),
    database=None,
    derandomize=not _IS_LONG,
    phases=[Phase.explicit, Phase.generate],
)
_ANY_REFUSAL = {"checks": {"positive_data_acceptance": {"enabled": False}}}
_CONFIG = SchemathesisConfig.from_dict(
    {
        "generation": {"with-security-parameters": False, "max-examples": int(_ASKED or _EXAMPLES)},
        "checks": {
            "unsupported_method": {"enabled": False},
            "positive_data_acceptance": {"expected-statuses": ["2xx", "400", "401", "403", "404"]},
        },
        "operations": [
            {"include-tag": "Grants", **_ANY_REFUSAL},
            {"include-path-regex": "secret-syncs/[a-z]", **_ANY_REFUSAL},
            {"include-path-regex": "(kubernetes|ldap)-auth/identities", **_ANY_REFUSAL},
            {"include-path-regex": "app-connections/(?!idp|options|{)", **_ANY_REFUSAL},
            {
                "include-path-regex": "cert-manager/|pki/subscribers",
                "include-method": ["POST", "PUT", "PATCH"],
                **_ANY_REFUSAL,
            },
        ],
    }
)
_HEAD_MAX = 60_000
"""Heads over 64 KiB are refused by the HTTP server itself, in words of its own."""
_ONE_SENT_OF = 5
_BODY_OF_SHORT_RUNS = 50_000
"""Characters. A batch of a thousand secrets, as bounds ask for, takes seconds."""


@schemathesis.serializer("application/ocsp-request")
def ocsp_request(_: object, drawn: object) -> bytes:
    """Return what was drawn as it is sent: of bytes the document tells no more."""
    return drawn if isinstance(drawn, bytes) else str(drawn).encode("utf-8", "surrogatepass")


@cache
def operations() -> Sequence[Operation]:
    """Return what the description offers, but for the stream of events."""
    load_all_checks()
    described = schemathesis.openapi.from_dict(described_here(), config=_CONFIG)
    found = [*described.exclude(path=EVENT_STREAM_PATH).get_all_operations()]
    broken = [result.err() for result in found if isinstance(result, Err)]
    if broken:
        raise ExceptionGroup("the description can't be read", broken)
    return [result.ok() for result in found if isinstance(result, Ok)]


def send_requests(operation: Operation, url: str, surroundings: Surroundings) -> None:
    """Send generated requests of one operation, right ones and wrong ones, and hold each answer to the description.

    Raises:
        AssertionError, ExceptionGroup: an answer differs; the text has the request as a command.
    """

    @_FREELY
    def send(case: Case[Any]) -> None:
        if not _IS_LONG and _is_left_to_long_runs(case):
            return
        _settle(case, surroundings.known)
        # A query's field without a value counts as left out, which the document has no word for.
        if _head_size(case) > _HEAD_MAX or "" in case.query.values():
            return
        case.call_and_validate(
            base_url=url,
            headers={"Authorization": f"Bearer {surroundings.token}"},
            timeout=PATIENCE_SECONDS,
            additional_checks=[_answers_as_written_down],
        )

    build_operation_test(
        config=operation.schema.config,
        operation=operation,
        test_func=send,
        given_kwargs={},
        feedback=FeedbackSources(),
    )()


def _head_size(case: Case[Any]) -> int:
    """Return about how many bytes its path and query take."""
    return len(case.formatted_path) + len(urlencode(case.query, doseq=True, errors="surrogatepass"))


def _is_left_to_long_runs(case: Case[Any]) -> bool:
    """Return whether it is very large, or among four in five of the systematic requests, always the same ones."""
    if len(repr(case.body)) > _BODY_OF_SHORT_RUNS:
        return True
    if case.meta is None or case.meta.phase.name is not TestPhase.COVERAGE:
        return False
    return _digest(case) % _ONE_SENT_OF != 0


def _settle(case: Case[Any], known: Mapping[str, tuple[Any, ...]]) -> None:
    """Aim most of what was drawn as right at what exists; drawn names lead nowhere."""
    chance = random.Random(_digest(case))  # noqa: S311 - the same choice for the same request
    for location, fields in (
        (ParameterLocation.PATH, case.path_parameters),
        (ParameterLocation.QUERY, case.query),
        (ParameterLocation.BODY, case.body),
    ):
        is_right = case.meta is not None and not case.meta.is_negative_at(location)
        if not is_right or not isinstance(fields, dict):
            continue
        for name, given in fields.items():
            if name in known and given is not None and chance.random() < 0.8:
                fields[name] = chance.choice(known[name])


def _digest(case: Case[Any]) -> int:
    drawn = repr((case.method, case.path, case.path_parameters, case.query, case.body))
    return zlib.crc32(drawn.encode("utf-8", "surrogatepass"))


def _answers_as_written_down(_: CheckContext, response: Response, __: Case[Any]) -> bool | None:
    """Hold an answer of schemathesis' client against the shapes that tests wrote down from the documents."""
    check_answer(
        httpx.Response(
            response.status_code,
            headers={name: ", ".join(values) for name, values in response.headers.items()},
            content=response.content,
            # Without its query: that may be longer than this client lets one be.
            request=httpx.Request(str(response.request.method), str(response.request.url).partition("?")[0]),
        )
    )
    return None
