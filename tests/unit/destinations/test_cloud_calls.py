"""Where services of the cloud are, what its errors mean, and lists in pages; without a cloud."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import orjson
import pytest
from pydantic import JsonValue

from keybearer.base.clock import SystemClock
from keybearer.destinations import bounds, cloud_extras
from keybearer.destinations.bounds import Bounds
from keybearer.destinations.cloud_app import CLOUD, CloudAccount
from keybearer.destinations.cloud_calls import CloudCalls, CloudFault, fault_of, xml_text
from keybearer.destinations.cloud_credentials import AccessKeyCredentials, AssumeRoleCredentials
from keybearer.destinations.cloud_extras import Extras, objects_of, pages, tags_of, text_of
from keybearer.destinations.cloud_options import CloudOptions
from keybearer.destinations.cloud_signing import CloudKey, Scope
from keybearer.destinations.remote import (
    NO_LIMITS,
    Limits,
    RemoteAnswer,
    RemoteDeniedError,
    RemoteError,
    RemoteMissingError,
    RemoteRefusedError,
    RemoteRequest,
    RemoteThrottledError,
    RemoteUnavailableError,
)
from keybearer.destinations.session import AppContext
from keybearer.destinations.short_lived import ShortLived
from keybearer.outbound.remote import RemoteHttp
from support.directory import loopback_gate
from support.remotes.opened import check, renew
from support.rows import each_row

KEY = CloudKey("AKIA0", "cnry-secret", "cnry-token")
CREDENTIALS = AccessKeyCredentials(access_key_id="AKIA0", secret_access_key="cnry-secret")
SSM = Scope("ssm", "eu-west-1")
SESSION = b"""<r><Credentials><AccessKeyId>ASIA0</AccessKeyId><SecretAccessKey>cnry-s</SecretAccessKey>
<SessionToken>cnry-t&amp;x</SessionToken><Expiration>2100-01-01T00:00:00Z</Expiration></Credentials></r>"""


class Http(RemoteHttp):
    """Answers one after the other, and the last for ever."""

    def __init__(self, *answers: RemoteAnswer) -> None:
        super().__init__(loopback_gate(), SystemClock())
        self._answers = answers
        self.sent: list[RemoteRequest] = []

    async def send(
        self,
        request: RemoteRequest,
        *,
        limits: Limits = NO_LIMITS,  # noqa: ARG002 - the method's signature
        place: str = "",  # noqa: ARG002 - the same
    ) -> RemoteAnswer:
        self.sent.append(request)
        return self._answers[min(len(self.sent), len(self._answers)) - 1]


def answered(body: object, status: int = 200, **headers: str) -> RemoteAnswer:
    content = body if isinstance(body, bytes) else orjson.dumps(body)
    return RemoteAnswer(status, {name.replace("_", "-"): value for name, value in headers.items()}, content)


def context(http: Http) -> AppContext:
    return AppContext(http, ShortLived(SystemClock()), "org", own_credentials={"cloud": CREDENTIALS})


@pytest.mark.parametrize(
    ("scope", "url"),
    [
        (SSM, "https://ssm.eu-west-1.amazonaws.com/"),
        (Scope("secretsmanager", "us-gov-east-1"), "https://secretsmanager.us-gov-east-1.amazonaws.com/"),
        (Scope("sts", "us-gov-west-1"), "https://sts.us-gov-west-1.amazonaws.com/"),
        (Scope("iam", "us-east-1"), "https://iam.amazonaws.com/"),
        (Scope("iam", "us-gov-west-1"), "https://iam.us-gov.amazonaws.com/"),
    ],
)
async def test_each_service_has_its_usual_place(scope: Scope, url: str) -> None:
    http = Http(answered({}))
    await CloudCalls(http, KEY).ask_json(scope, "X.Y", {})
    await CloudCalls(http, KEY, "http://127.0.0.1:5000/aws").ask_json(scope, "X.Y", {})
    assert [request.url for request in http.sent] == [url, "http://127.0.0.1:5000/aws/"]
    assert f"/{scope.region}/{scope.service}/aws4_request" in http.sent[0].headers["Authorization"]


@pytest.mark.parametrize(
    ("arn", "endpoint", "url"),
    [
        ("arn:aws:iam::123456789012:role/r", None, "https://sts.us-east-1.amazonaws.com/"),
        ("arn:aws-us-gov:iam::123456789012:role/r", None, "https://sts.us-gov-west-1.amazonaws.com/"),
        ("arn:aws:iam::123456789012:role/r", "https://vpce-0.sts.eu-west-3.vpce.amazonaws.com", None),
        ("arn:aws:iam::123456789012:role/r", "https://sts.eu-west-3.amazonaws.com", None),
        ("arn:aws:iam::123456789012:role/r", "https://sts.us-east-1.example.com:8443/in", None),
    ],
)
async def test_a_role_is_assumed_in_its_partition_or_where_it_is_said(
    arn: str, endpoint: str | None, url: str | None
) -> None:
    http = Http(answered(SESSION))
    role = AssumeRoleCredentials(role_arn=arn, sts_endpoint=endpoint)
    await check(CLOUD, role, context(http))
    place = url or f"{endpoint}/"
    assert [request.url for request in http.sent] == [place, place]
    region = place.partition("sts.")[2].partition(".")[0]
    assert all(f"/{region}/sts/aws4_request" in request.headers["Authorization"] for request in http.sent)
    assert http.sent[1].headers["X-Amz-Security-Token"] == "cnry-t&x"


@pytest.mark.parametrize(
    ("answer", "code"),
    [
        (
            answered({"__type": "com.amazonaws.ssm#ThrottlingException", "message": "m"}, 400),
            "ThrottlingException",
        ),
        (answered({"__type": "ValidationException", "Message": "m"}, 400), "ValidationException"),
        (answered({"message": "m"}, 400, x_amzn_errortype="Slow:http://x"), "Slow"),
        (
            answered(b"<a><Error><Code>AccessDenied</Code><Message>m</Message></Error></a>", 403),
            "AccessDenied",
        ),
        (answered(b"<a><Message>m</Message></a>", 500), ""),
        (answered({"__type": "a b\nc", "message": "m"}, 400), ""),
    ],
    ids=["a namespace", "a bare word", "a header", "XML", "no code", "no word"],
)
def test_the_vendors_word_is_found(answer: RemoteAnswer, code: str) -> None:
    fault = fault_of(answer)
    assert fault is not None
    assert (fault.status, fault.code, fault.message) == (answer.status, code, "m")


@pytest.mark.parametrize(
    "body", [b"", b"[]", b"<html>bad gateway</html>", b"\xff"], ids=["empty", "a list", "a page", "bytes"]
)
def test_an_error_of_somebody_else_has_no_word(body: bytes) -> None:
    assert fault_of(answered(body, 502)) == CloudFault(502, "", "")


@each_row(
    ("status", "code", "kind"),
    [
        (400, "ThrottlingException", RemoteThrottledError),
        (429, "", RemoteThrottledError),
        (503, "SlowDown", RemoteThrottledError),
        (400, "AccessDeniedException", RemoteDeniedError),
        (400, "UnrecognizedClientException", RemoteDeniedError),
        (403, "Forbidden", RemoteDeniedError),
        (401, "", RemoteDeniedError),
        (400, "ResourceNotFoundException", RemoteMissingError),
        (404, "NoSuchEntity", RemoteMissingError),
        (400, "ValidationException", RemoteRefusedError),
        (413, "", RemoteRefusedError),
        (400, "InternalServerError", RemoteUnavailableError),
        (500, "", RemoteUnavailableError),
        (302, "", RemoteRefusedError),
    ],
)
def test_errors_are_of_five_kinds(status: int, code: str, kind: type[RemoteError]) -> None:
    error = CloudFault(status, code, "").error("PutParameter")
    assert type(error) is kind
    assert str(error) == f"the cloud refuses PutParameter: {code or status}"


def test_a_message_is_quoted_where_it_can_hold_no_value_and_not_at_length() -> None:
    fault = CloudFault(400, "Bad", "x" * 400)
    assert str(fault.error("List")) == f"the cloud refuses List: Bad: {'x' * 300}"
    assert str(fault.error("Put", is_quotable=False)) == "the cloud refuses Put: Bad"
    assert str(fault.error("Put", hint="do this", is_quotable=False)) == "the cloud refuses Put: Bad; do this"
    assert "x" not in repr(fault)


@pytest.mark.parametrize(
    ("code", "message", "told"),
    [
        ("InvalidSignatureException", "the canonical string was x-amz-security-token:abc", ""),
        ("Bad", "you sent cnry-token", ""),
        ("Bad", "you sent cnry-secret", ""),
        ("Bad", "you sent AKIA0", "you sent AKIA0"),
    ],
)
async def test_no_message_repeats_what_a_request_was_signed_with(code: str, message: str, told: str) -> None:
    calls = CloudCalls(Http(answered({"__type": code, "message": message}, 400)), KEY)
    _, fault = await calls.ask_json(SSM, "X.Y", {})
    assert fault == CloudFault(400, code, told)


@pytest.mark.parametrize(
    ("body", "text"),
    [
        (b"<a><Key>v</Key></a>", "v"),
        (b"<Key>\n a&lt;b&amp;c \n</Key><Key>other</Key>", "a<b&c"),
        (b"<Key/>", ""),
        (b"<Key><In>v</In></Key>", ""),
        (b"<KeyId>v</KeyId>", ""),
        (b"<!DOCTYPE x [<!ENTITY e 'boom'>]><Key>&e;</Key>", "&e;"),
    ],
)
def test_of_xml_flat_texts_are_read(body: bytes, text: str) -> None:
    assert xml_text(body, "Key") == text


@pytest.mark.parametrize("body", [b"[]", b"no", b"7"])
async def test_a_good_answer_is_an_object(body: bytes) -> None:
    with pytest.raises(RemoteUnavailableError):
        await CloudCalls(Http(answered(body)), KEY).ask_json(SSM, "X.Y", {})


async def test_an_empty_answer_is_an_empty_object() -> None:
    assert await CloudCalls(Http(answered(b"")), KEY).ask_json(SSM, "X.Y", {}) == ({}, None)


@pytest.mark.parametrize("tag", ["AccessKeyId", "SecretAccessKey", "SessionToken", "Expiration"])
async def test_a_session_with_a_part_missing_is_none(tag: str) -> None:
    http = Http(answered(SESSION.replace(tag.encode(), b"Other")))
    role = AssumeRoleCredentials(role_arn="arn:aws:iam::123456789012:role/r")
    with pytest.raises(RemoteUnavailableError, match="the cloud answers AssumeRole without"):
        await check(CLOUD, role, context(http))


async def test_a_new_key_without_its_secret_is_none() -> None:
    http = Http(answered(b"<r/>"))
    with pytest.raises(RemoteUnavailableError, match="CreateAccessKey without a key"):
        await renew(CLOUD, CREDENTIALS, context(http))


async def listed(http: Http) -> list[Mapping[str, JsonValue]]:
    account = CloudAccount(CREDENTIALS, replace(context(http), own_credentials={}))
    return [page async for page in pages(account, SSM, "AmazonSSM.List", {"MaxResults": 1})]


async def test_an_empty_page_may_be_followed_by_others() -> None:
    http = Http(answered({"NextToken": "1"}), answered({"A": [1], "NextToken": "2"}), answered({"A": [2]}))
    assert [page.get("A") for page in await listed(http)] == [None, [1], [2]]
    bodies = [orjson.loads(request.content) for request in http.sent]
    assert bodies == [{"MaxResults": 1}, *({"MaxResults": 1, "NextToken": token} for token in ("1", "2"))]


async def test_pages_without_an_end_are_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cloud_extras, "_PAGES_MAX", 3)
    http = Http(answered({"NextToken": "1"}))
    with pytest.raises(RemoteUnavailableError, match="more than 3 pages for List"):
        await listed(http)
    assert len(http.sent) == 3


def test_only_the_forms_that_are_the_clouds_are_read() -> None:
    assert objects_of({}, "A") == []
    assert objects_of({"A": [{"B": "c"}]}, "A") == [{"B": "c"}]
    wrong_forms: list[Mapping[str, JsonValue]] = [{"A": {}}, {"A": ["x"]}, {"A": "x"}]
    for wrong in wrong_forms:
        with pytest.raises(RemoteUnavailableError):
            objects_of(wrong, "A")
    with pytest.raises(RemoteUnavailableError):
        text_of({"A": 1}, "A")


def test_what_is_read_is_bounded_in_bytes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bounds, "_BYTES_MAX", 10)
    counted = Bounds()
    counted.add("name", "ключ"[:3])
    with pytest.raises(RemoteRefusedError):
        counted.add("n")


def extras(**options: object) -> Extras:
    return Extras(CloudOptions.model_validate({"initialSyncBehavior": "overwrite-destination", **options}))


TEAM = [{"key": "team", "value": "web"}]


@pytest.mark.parametrize(
    ("options", "wanted"),
    [
        ({}, None),
        ({"syncSecretMetadataAsTags": False}, None),
        ({"tags": []}, {}),
        ({"tags": TEAM}, {"tag:team": "web"}),
        ({"syncSecretMetadataAsTags": True}, {"tag:team": "ops", "tag:a": "b"}),
        ({"tags": TEAM, "syncSecretMetadataAsTags": True}, {"tag:team": "web", "tag:a": "b"}),
        ({"keyId": "k"}, {"keyId": "k"}),
    ],
    ids=["nothing", "switched off", "no tags", "tags", "metadata", "both", "a key"],
)
def test_what_stands_beside_values_is_what_options_manage(
    options: dict[str, object], wanted: dict[str, str] | None
) -> None:
    assert extras(**options).wanted([("team", "ops"), ("a", "b")]) == wanted


@pytest.mark.parametrize(
    ("told", "is_same"),
    [
        ("alias/shop", True),
        ("arn:aws:kms:eu-west-1:1:alias/shop", True),
        ("", False),
        ("alias/other-shop", False),
        ("alias/workshop", False),
    ],
)
def test_a_key_id_is_the_same_by_its_whole_name(told: str, *, is_same: bool) -> None:
    made = extras(keyId="alias/shop")
    assert (made.found(told, {"a": "b"}) == made.wanted(())) is is_same


def test_tags_of_the_cloud_itself_are_nobodys_business() -> None:
    told: Mapping[str, JsonValue] = {
        "Tags": [{"Key": "aws:x", "Value": "1"}, {"Key": "a", "Value": "b"}, {"Key": "e"}]
    }
    assert tags_of(told, "Tags") == {"a": "b", "e": ""}


def test_tags_change_by_what_differs() -> None:
    change = extras(tags=TEAM, syncSecretMetadataAsTags=True).change(
        [("same", "1")], {"same": "1", "old": "x"}
    )
    assert (dict(change.put), change.remove) == ({"team": "web"}, ("old",))
    assert change.listed == [{"Key": "team", "Value": "web"}]
