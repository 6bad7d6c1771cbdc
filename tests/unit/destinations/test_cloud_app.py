"""Where services of AWS are, what its errors mean, and what is kept beside values; without AWS."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import orjson
import pytest
from pydantic import JsonValue

from keybearer.base.clock import SystemClock
from keybearer.destinations import bounds
from keybearer.destinations.bounds import Bounds
from keybearer.destinations.cloud_answers import ANSWERS, code_of, xml_text
from keybearer.destinations.cloud_app import CLOUD, CloudService
from keybearer.destinations.cloud_credentials import AccessKeyCredentials, AssumeRoleCredentials
from keybearer.destinations.cloud_options import CloudOptions, Extras, tags_of
from keybearer.destinations.cloud_parameter_store import CLOUD_PARAMETER_STORE
from keybearer.destinations.cloud_secrets_manager import CLOUD_SECRETS_MANAGER
from keybearer.destinations.cloud_signing import Scope
from keybearer.destinations.engine import table
from keybearer.destinations.form import DestinationKind
from keybearer.destinations.remote import (
    RemoteAnswer,
    RemoteDeniedError,
    RemoteError,
    RemoteMissingError,
    RemoteRefusedError,
    RemoteRequest,
    RemoteThrottledError,
    RemoteUnavailableError,
)
from keybearer.destinations.session import AppContext, Session
from keybearer.destinations.short_lived import ShortLived
from keybearer.outbound.remote import RemoteHttp
from support.directory import loopback_gate
from support.remotes.driving import read
from support.remotes.opened import check, opened, renew
from support.rows import each_row

CREDENTIALS = AccessKeyCredentials(access_key_id="AKIA0", secret_access_key="cnry-secret")
ROLE = AssumeRoleCredentials(role_arn="arn:aws:iam::123456789012:role/r")
SSM = Scope("ssm", "eu-west-1")
STORE = {"region": "eu-west-1", "path": "/shop/"}
MANAGER = {"region": "eu-west-1", "mappingBehavior": "one-to-one"}
BOTH = pytest.mark.parametrize(
    ("kind", "config"),
    [(CLOUD_PARAMETER_STORE, STORE), (CLOUD_SECRETS_MANAGER, MANAGER)],
    ids=["parameters", "secrets"],
)
SESSION = b"""<r><Credentials><AccessKeyId>ASIA0</AccessKeyId><SecretAccessKey>cnry-s</SecretAccessKey>
<SessionToken>cnry-t&amp;x</SessionToken><Expiration>2100-01-01T00:00:00Z</Expiration></Credentials></r>"""


class Http(RemoteHttp):
    """Answers one after the other, and the last for ever."""

    def __init__(self, *answers: RemoteAnswer) -> None:
        super().__init__(loopback_gate(), SystemClock())
        self._answers = answers
        self.sent: list[RemoteRequest] = []

    async def send(self, request: RemoteRequest, **_: object) -> RemoteAnswer:
        self.sent.append(request)
        return self._answers[min(len(self.sent), len(self._answers)) - 1]


def answered(body: object, status: int = 200, **headers: str) -> RemoteAnswer:
    content = body if isinstance(body, bytes) else orjson.dumps(body)
    return RemoteAnswer(status, {name.replace("_", "-"): value for name, value in headers.items()}, content)


def context(http: Http, **endpoints: str) -> AppContext:
    own = {"cloud": CREDENTIALS}
    return AppContext(http, ShortLived(SystemClock()), "org", endpoints, own_credentials=own)


def service(http: Http, scope: Scope = SSM, **endpoints: str) -> CloudService:
    return CloudService(
        Session(CLOUD, CREDENTIALS, context(http, **endpoints)), scope, "X.", {"Known": "do this"}
    )


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
    await service(http, scope).ask("Y", {}, "do it")
    await service(http, scope, cloud="http://127.0.0.1:5000/aws").ask("Y", {}, "do it")
    assert [request.url for request in http.sent] == [url, "http://127.0.0.1:5000/aws/"]
    for request in http.sent:
        assert f"/{scope.region}/{scope.service}/aws4_request" in request.headers["Authorization"]
        assert sorted(request.headers) == ["Authorization", "Content-Type", "X-Amz-Date", "X-Amz-Target"]
        assert request.headers["X-Amz-Target"] == "X.Y"


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
    assert code_of(answer) == code
    assert ANSWERS.content(answer) == {"code": code, "message": "m"}


@pytest.mark.parametrize(
    "body", [b"", b"[]", b"<html>bad gateway</html>", b"\xff"], ids=["empty", "a list", "a page", "bytes"]
)
def test_an_error_of_somebody_else_has_no_word(body: bytes) -> None:
    assert ANSWERS.content(answered(body, 502)) == {"code": "", "message": ""}
    assert ANSWERS.kind(answered(body, 502)) is None


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
        (302, "", RemoteMissingError),
    ],
)
async def test_errors_are_of_five_kinds(status: int, code: str, kind: type[RemoteError]) -> None:
    http = Http(answered({"__type": code} if code else {}, status))
    with pytest.raises(kind) as caught:
        await service(http).ask("Y", {}, "do it")
    assert "do it" in str(caught.value) or status == 401
    assert (f"({code})" in str(caught.value)) is bool(code)


async def told(code: str, message: str, *, is_write: bool = False, of_role: bool = False) -> str:
    """Return the error of a call, in a session of the role `cnry-t&x` where one is asked for."""
    refusal = answered({"__type": code, "message": message}, 400)
    http = Http(answered(SESSION), refusal) if of_role else Http(refusal)
    made = service(http)
    if of_role:
        made = replace(made, session=Session(CLOUD, ROLE, context(http)))
    call = made.call("Y", {}, "do it", is_write=is_write)
    with pytest.raises(RemoteError) as caught:
        await made.session.ask(call)
    return str(caught.value)


async def test_a_message_is_quoted_where_it_can_hold_no_value_and_not_at_length() -> None:
    assert await told("Bad", "so " * 400) == f"AWS refuses to do it (Bad): {'so ' * 100}"
    assert await told("Bad", "so", is_write=True) == "AWS refuses to do it (Bad)"
    assert await told("Known", "so", is_write=True) == "AWS refuses to do it; do this (Known)"
    assert await told("Known", "so") == "AWS refuses to do it (Known): so"


@pytest.mark.parametrize(
    ("code", "message", "said"),
    [
        ("InvalidSignatureException", "the canonical string was x-amz-security-token:abc", ""),
        ("Bad", "you sent cnry-t&x", ""),
        ("Bad", "you sent cnry-s", ""),
        ("Bad", "you sent nothing", ": you sent nothing"),
    ],
)
async def test_no_message_repeats_what_a_request_was_signed_with(code: str, message: str, said: str) -> None:
    assert (await told(code, message, of_role=True)).endswith(f"({code}){said}")


async def test_a_message_repeats_no_secret_of_a_key_that_lasts() -> None:
    assert (await told("Bad", "you sent cnry-secret")).endswith("(Bad)")


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


@BOTH
@pytest.mark.parametrize("body", [b"[]", b"no", b"7", b""])
async def test_a_good_answer_is_an_object(kind: DestinationKind, config: dict[str, str], body: bytes) -> None:
    with pytest.raises(RemoteUnavailableError):
        await read(opened(kind, config, CREDENTIALS, context(Http(answered(body)))))


@pytest.mark.parametrize("tag", ["AccessKeyId", "SecretAccessKey", "SessionToken", "Expiration"])
async def test_a_session_with_a_part_missing_is_none(tag: str) -> None:
    http = Http(answered(SESSION.replace(tag.encode(), b"Other")))
    with pytest.raises(RemoteUnavailableError, match="AWS assumes the role and answers without"):
        await check(CLOUD, ROLE, context(http))


async def test_a_new_key_without_its_secret_is_none() -> None:
    http = Http(answered(b"<r/>"))
    with pytest.raises(RemoteUnavailableError, match="creates an access key and answers without it"):
        await renew(CLOUD, CREDENTIALS, context(http))


def parameter(name: str) -> dict[str, JsonValue]:
    return {"Name": f"/shop/{name}", "Value": "cnry-1", "Version": 1}


async def test_an_empty_page_may_be_followed_by_others() -> None:
    pages: list[dict[str, JsonValue]] = [
        {"NextToken": "1"},
        {"Parameters": [parameter("A")], "NextToken": "2"},
        {"Parameters": [parameter("B")]},
    ]
    http = Http(*map(answered, pages))
    assert set(await read(opened(CLOUD_PARAMETER_STORE, STORE, CREDENTIALS, context(http)))) == {"A", "B"}
    asked = [orjson.loads(request.content) for request in http.sent]
    assert [body.pop("NextToken", None) for body in asked] == [None, "1", "2"]
    assert asked == [asked[0]] * 3


@BOTH
async def test_pages_without_an_end_are_given_up(
    kind: DestinationKind, config: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(table, "_PAGES_MAX", 3)
    http = Http(answered({"NextToken": "1"}))
    with pytest.raises(RemoteUnavailableError, match="no end to the list of the"):
        await read(opened(kind, config, CREDENTIALS, context(http)))
    assert len(http.sent) == 3


@BOTH
@pytest.mark.parametrize("listed", [{}, ["x"], "x", [{"Name": 1}]], ids=str)
async def test_only_the_forms_that_are_awss_are_read(
    kind: DestinationKind, config: dict[str, str], listed: JsonValue
) -> None:
    http = Http(answered({"Parameters": listed, "SecretList": listed}))
    with pytest.raises(RemoteUnavailableError):
        await read(opened(kind, config, CREDENTIALS, context(http)))


@BOTH
async def test_a_list_that_is_absent_is_empty(kind: DestinationKind, config: dict[str, str]) -> None:
    assert await read(opened(kind, config, CREDENTIALS, context(Http(answered({}))))) == {}


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
    told: JsonValue = {"Tags": [{"Key": "aws:x", "Value": "1"}, {"Key": "a", "Value": "b"}, {"Key": "e"}]}
    assert tags_of(told, "Tags") == {"a": "b", "e": ""}


def test_tags_change_by_what_differs() -> None:
    put, remove = extras(tags=TEAM, syncSecretMetadataAsTags=True).change(
        [("same", "1")], {"same": "1", "old": "x"}
    )
    assert (put, remove) == ([{"Key": "team", "Value": "web"}], ["old"])


def test_tags_of_another_form_are_refused() -> None:
    wrong: list[Mapping[str, JsonValue]] = [{"Tags": "x"}, {"Tags": ["x"]}, {"Tags": [{"Value": "b"}]}]
    for told in wrong:
        with pytest.raises(RemoteUnavailableError):
            tags_of(dict(told), "Tags")


async def test_a_session_of_a_role_is_no_other_organizations() -> None:
    http = Http(answered(SESSION))
    mine = context(http)
    await Session(CLOUD, ROLE, mine).token()
    await Session(CLOUD, ROLE, replace(mine, organization_id="another")).token()
    asked = [dict(pair.split("=") for pair in one.content.decode().split("&")) for one in http.sent]
    assert [one["ExternalId"] for one in asked] == ["org", "another"]
