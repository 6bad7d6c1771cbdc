"""Our signatures against the vendor's own signer."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime

from hypothesis import given
from hypothesis import strategies as st

from keybearer.destinations.cloud_signing import CloudKey, Scope, sign
from tools.local.moto import Moto

_TEXT = st.text(st.characters(min_codepoint=0x20, max_codepoint=0x7E), max_size=40)
_WORD = st.text(st.sampled_from("abcXYZ019-._~"), min_size=1, max_size=12)
_SEGMENT = st.one_of(_WORD, st.sampled_from(["", ".", "..", "%20", "a%2Fb", "~x", "a+b", "a=b", "%C3%A4"]))
_QUERY = st.lists(st.tuples(_WORD, st.one_of(st.none(), _WORD)), max_size=4)
_HOST = st.sampled_from(
    [
        "ssm.eu-west-1.amazonaws.com",
        "Example.COM",
        "127.0.0.1:8080",
        "[::1]:9",
        "x.example:443",
        "x.example:80",
    ]
)
_HEADER = st.text(st.sampled_from("abcXYZ-"), min_size=2, max_size=8).map(lambda name: f"X-T-{name}")
_HEADERS = st.dictionaries(_HEADER, _TEXT, max_size=4).filter(
    lambda headers: len({name.lower() for name in headers}) == len(headers)
)


@st.composite
def urls(draw: st.DrawFn) -> str:
    query = "&".join(name if value is None else f"{name}={value}" for name, value in draw(_QUERY))
    path = "/".join(draw(st.lists(_SEGMENT, max_size=5)))
    scheme = draw(st.sampled_from(["http", "https"]))
    return f"{scheme}://{draw(_HOST)}/{path}{'?' if query else ''}{query}"


@dataclass(frozen=True)
class Request:
    method: str
    url: str
    headers: dict[str, str]
    content: str
    key: CloudKey
    scope: Scope
    now: datetime = field(default_factory=lambda: datetime.now(UTC))


REQUESTS = st.builds(
    Request,
    method=st.sampled_from(["GET", "POST", "PUT", "DELETE"]),
    url=urls(),
    headers=_HEADERS,
    content=st.text(max_size=100),
    key=st.builds(
        CloudKey,
        st.just("AKIA0"),
        st.text(st.characters(min_codepoint=0x21, max_codepoint=0x7E), min_size=1, max_size=60),
        st.one_of(st.none(), st.text(st.sampled_from("abc/+=019"), min_size=1, max_size=60)),
    ),
    scope=st.builds(
        Scope,
        st.sampled_from(["ssm", "secretsmanager", "sts", "iam"]),
        st.sampled_from(["us-east-1", "eu-central-2", "us-gov-west-1"]),
    ),
    now=st.datetimes(datetime(2000, 1, 1), datetime(2100, 1, 1), timezones=st.just(UTC)),  # noqa: DTZ001 - bounds
)


@given(request=REQUESTS)
def test_a_request_is_signed_as_the_vendor_signs_it(moto: Moto, request: Request) -> None:
    signed = sign(
        request.method,
        request.url,
        request.headers,
        request.content.encode(),
        key=request.key,
        scope=request.scope,
        now=request.now,
    )
    vendors = moto.ask(
        "sign",
        method=request.method,
        url=request.url,
        headers=request.headers,
        content=request.content,
        accessKeyId=request.key.access_key_id,
        secretAccessKey=request.key.secret_access_key,
        sessionToken=request.key.session_token,
        service=request.scope.service,
        region=request.scope.region,
        at=request.now.strftime("%Y%m%dT%H%M%SZ"),
    )
    assert signed == vendors
