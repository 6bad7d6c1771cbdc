from __future__ import annotations

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from keybearer.kube.answers import error_of_answer
from keybearer.kube.errors import (
    AlreadyExistsError,
    ConflictError,
    FieldConflict,
    ForbiddenError,
    GoneError,
    InvalidError,
    KubeError,
    NotFoundError,
    TooManyRequestsError,
    UnauthorizedError,
    UnavailableError,
)
from support.rows import each_row
from tools.local.marks import find_mark


def status_body(reason: str, message: str = "", /, **details: object) -> bytes:
    return orjson.dumps(
        {
            "kind": "Status",
            "apiVersion": "v1",
            "status": "Failure",
            "reason": reason,
            "message": message,
            "details": details,
        }
    )


@each_row(
    ("status", "reason", "kind", "is_retryable"),
    [
        pytest.param(400, "BadRequest", InvalidError, False, id="400 is invalid"),
        pytest.param(401, "Unauthorized", UnauthorizedError, True, id="401 is unauthorized"),
        pytest.param(403, "Forbidden", ForbiddenError, False, id="403 is forbidden"),
        pytest.param(404, "NotFound", NotFoundError, False, id="404 is not found"),
        pytest.param(409, "AlreadyExists", AlreadyExistsError, False, id="409 on create is exists already"),
        pytest.param(409, "Conflict", ConflictError, True, id="409 otherwise is a conflict"),
        pytest.param(410, "Expired", GoneError, True, id="410 is gone"),
        pytest.param(413, "RequestEntityTooLarge", InvalidError, False, id="413 is invalid"),
        pytest.param(
            415, "UnsupportedMediaType", KubeError, False, id="an unforeseen 4xx is the general kind"
        ),
        pytest.param(422, "Invalid", InvalidError, False, id="422 is invalid"),
        pytest.param(429, "TooManyRequests", TooManyRequestsError, True, id="429 is too many requests"),
        pytest.param(500, "InternalError", UnavailableError, True, id="500 is unavailable"),
        pytest.param(503, "ServiceUnavailable", UnavailableError, True, id="503 is unavailable"),
        pytest.param(504, "Timeout", UnavailableError, True, id="504 is unavailable"),
    ],
)
def test_each_status_has_its_error(
    status: int, reason: str, kind: type[KubeError], *, is_retryable: bool
) -> None:
    error = error_of_answer("apply Secret team-a/db", status, status_body(reason))

    assert type(error) is kind
    assert (error.status, error.reason, error.is_retryable) == (status, reason, is_retryable)
    assert str(error).startswith("apply Secret team-a/db: ")


def test_a_refused_secret_is_told_by_field_and_never_by_value() -> None:
    body = status_body(
        "Invalid",
        'Secret "db" is invalid: data[bad key]: Invalid value: "cnry-password"',
        causes=[
            {
                "reason": "FieldValueInvalid",
                "message": 'Invalid value: "cnry-password"',
                "field": "data[bad key]",
            },
            {"reason": "FieldValueRequired", "message": "Required value: cnry-x", "field": "data[tls.crt]"},
        ],
    )

    error = error_of_answer("apply Secret team-a/db", 422, body)

    assert isinstance(error, InvalidError)
    assert error.fields == ("data[bad key]", "data[tls.crt]")
    assert str(error) == "apply Secret team-a/db: refused fields: data[bad key], data[tls.crt]"
    assert find_mark(repr(vars(error)) + str(error)) is None


def test_the_text_of_an_undecodable_body_does_not_come_back() -> None:
    body = status_body("BadRequest", 'json: cannot unmarshal string "cnry-token" into Go struct field')

    error = error_of_answer("create Secret team-a/db", 400, body)

    assert str(error) == "create Secret team-a/db: the API server does not accept it (BadRequest)"


def test_a_field_conflict_names_the_other_managers_and_their_fields() -> None:
    body = status_body(
        "Conflict",
        "Apply failed with 2 conflicts",
        causes=[
            {
                "reason": "FieldManagerConflict",
                "message": 'conflict with "kubectl-client-side-apply" using v1',
                "field": ".data.password",
            },
            {
                "reason": "FieldManagerConflict",
                "message": 'conflict with "helm" with subresource "status" using v1 at 2026-01-01T00:00:00Z',
                "field": ".type",
            },
        ],
    )

    error = error_of_answer("apply Secret team-a/db", 409, body)

    assert isinstance(error, ConflictError)
    assert error.causes == (
        FieldConflict("kubectl-client-side-apply", ".data.password"),
        FieldConflict("helm", ".type"),
    )
    assert error.managers == ("helm", "kubectl-client-side-apply")
    assert ".data.password (by kubectl-client-side-apply)" in str(error)


def test_the_uid_of_another_object_is_a_conflict_though_the_server_says_invalid() -> None:
    refusal = {"reason": "FieldValueInvalid", "message": "field is immutable", "field": "metadata.uid"}
    body = status_body("Invalid", "", causes=[refusal, refusal])

    error = error_of_answer("apply Secret team-a/db", 422, body)

    assert isinstance(error, ConflictError)
    assert str(error) == "apply Secret team-a/db: it is another object of the same name"


@pytest.mark.parametrize(
    ("message", "fields"),
    [
        pytest.param(
            "failed to create typed patch object (team-a/db; /v1, Kind=Secret): .stringData.k: expected string, "
            'got &value.valueUnstructured{Value:[]interface {}{"cnry-value"}}',
            (".stringData.k",),
            id="of another type",
        ),
        pytest.param(
            "failed to create typed patch object (team-a/web; keybearer.dev/v1alpha1, Kind=SecretSync): .spec.bogus: "
            "field not declared in schema",
            (".spec.bogus",),
            id="not there",
        ),
        pytest.param(
            "failed to convert new object (team-a/db; /v1, Kind=Secret) to proper version: unable to convert "
            "unstructured object to /v1, Kind=Secret: error decoding from json: illegal base64 data: cnry-value",
            (),
            id="not decodable",
        ),
    ],
)
def test_an_applied_body_that_does_not_fit_is_invalid_though_the_server_says_500(
    message: str, fields: tuple[str, ...]
) -> None:
    error = error_of_answer("apply Secret team-a/db", 500, status_body("", message))

    assert isinstance(error, InvalidError)
    assert not error.is_retryable
    assert error.fields == fields
    assert find_mark(str(error)) is None


def test_a_webhook_that_is_down_is_named_and_nothing_else_of_the_answer() -> None:
    message = (
        'Internal error occurred: failed calling webhook "policies.example.com": failed to call webhook: Post '
        '"https://policies.example.com/?token=cnry-token": dial tcp 127.0.0.1:9: connect: connection refused'
    )

    error = error_of_answer("apply Secret team-a/db", 500, status_body("InternalError", message))

    assert isinstance(error, UnavailableError)
    assert str(error) == "apply Secret team-a/db: the admission webhook policies.example.com does not answer"


def test_a_failed_precondition_is_a_conflict_without_managers() -> None:
    body = status_body("Conflict", "Precondition failed: UID in precondition: a, UID in object meta: b")

    error = error_of_answer("delete Secret team-a/db", 409, body)

    assert isinstance(error, ConflictError)
    assert error.managers == ()


@pytest.mark.parametrize(
    ("message", "told"),
    [
        pytest.param(
            'secrets "db" is forbidden: User "system:serviceaccount:kb:operator" cannot patch resource '
            '"secrets" in API group "" in the namespace "team-a": cnry-extra',
            'User "system:serviceaccount:kb:operator" cannot patch resource "secrets" in API group "" '
            'in the namespace "team-a"',
            id="a missing right is told as RBAC tells it",
        ),
        pytest.param(
            'secrets "db" is forbidden: exceeded quota: small, requested: secrets=1, used: secrets=5',
            "exceeded quota: small",
            id="a used-up quota is told by name",
        ),
        pytest.param(
            'admission webhook "policy.example.com" denied the request: value cnry-password is weak',
            "refused by the admission webhook policy.example.com",
            id="a webhook is told by name and not by what it says",
        ),
        pytest.param(
            "secrets \"db\" is forbidden: ValidatingAdmissionPolicy 'no-weak' with binding 'b' denied: cnry-x",
            "refused by the ValidatingAdmissionPolicy no-weak",
            id="an admission policy is told by name",
        ),
        pytest.param(
            "something new about cnry-password",
            "forbidden; the API server's audit log says why",
            id="an unknown message is not told",
        ),
    ],
)
def test_a_forbidden_request_says_why_where_that_is_safe(message: str, told: str) -> None:
    error = error_of_answer("apply Secret team-a/db", 403, status_body("Forbidden", message))

    assert str(error) == f"apply Secret team-a/db: {told}"


@pytest.mark.parametrize(
    ("counts", "over"),
    [
        ("requested: secrets=1, used: secrets=5, limited: secrets=5", 1),
        ("requested: secrets=1, used: secrets=7, limited: secrets=5", 3),
        (
            "requested: pods=1,secrets=1, used: pods=5,secrets=9, limited: pods=5,secrets=8",
            2,
        ),
        ("requested: secrets=1, used: secrets=1k, limited: secrets=1k", 1),
        ("requested: requests.storage=1Gi, used: requests.storage=5Gi, limited: requests.storage=5Gi", None),
    ],
)
def test_how_many_objects_a_quota_lacks_is_told(counts: str, over: int | None) -> None:
    message = f'secrets "db" is forbidden: exceeded quota: small, {counts}'
    error = error_of_answer("create Secret team-a/db", 403, status_body("Forbidden", message))

    assert isinstance(error, ForbiddenError)
    assert error.over_quota_by == over


def test_a_namespace_that_is_being_deleted_can_be_told_apart() -> None:
    body = status_body("Forbidden", "...", causes=[{"reason": "NamespaceTerminating", "message": "..."}])

    error = error_of_answer("create Secret team-a/db", 403, body)

    assert isinstance(error, ForbiddenError)
    assert error.namespace_terminating


@pytest.mark.parametrize(
    ("header", "details", "seconds"),
    [
        pytest.param(2.0, {"retryAfterSeconds": 7}, 2.0, id="the header comes first"),
        pytest.param(None, {"retryAfterSeconds": 7}, 7.0, id="then the body"),
        pytest.param(None, {}, 1.0, id="a second where neither says"),
    ],
)
def test_shed_load_says_how_long_to_wait(
    header: float | None, details: dict[str, object], seconds: float
) -> None:
    error = error_of_answer("read Secret a/b", 429, status_body("TooManyRequests", **details), header)

    assert isinstance(error, TooManyRequestsError)
    assert error.retry_after == seconds


@each_row(
    "body",
    [
        pytest.param(b"<html>cnry-page</html>", id="a proxy's page"),
        pytest.param(b"", id="nothing"),
        pytest.param(b"[]", id="a list"),
        pytest.param(
            b'{"kind":"Secret","reason":"cnry-x","message":"cnry-y"}', id="an object that is no Status"
        ),
        pytest.param(b'{"kind":"Status","details":{"causes":{"a":1}},"reason":5}', id="wrong types"),
        pytest.param(b'{"kind":"Status","details":[],"message":null}', id="other wrong types"),
    ],
)
@each_row("status", [400, 403, 404, 409, 418, 422, 429, 502])
def test_a_body_that_is_no_status_is_no_obstacle_and_no_leak(body: bytes, status: int) -> None:
    error = error_of_answer("read Secret a/b", status, body)

    assert find_mark(str(error) + repr(vars(error))) is None


marked = st.text(max_size=20).map(lambda text: f"cnry-{text}")


@given(
    status=st.sampled_from([400, 401, 403, 404, 409, 410, 413, 422, 429, 500]),
    reason=st.sampled_from(["Invalid", "Conflict", "Forbidden", "AlreadyExists", ""]),
    message=marked,
    causes=st.lists(
        st.fixed_dictionaries({"reason": st.just("x"), "message": marked, "field": st.just("data[a]")})
    ),
)
def test_no_message_of_a_server_comes_through(
    status: int, reason: str, message: str, causes: list[dict[str, str]]
) -> None:
    error = error_of_answer("apply Secret a/b", status, status_body(reason, message, causes=causes))

    assert find_mark(str(error) + repr(vars(error))) is None
    assert len(str(error)) <= 1000
