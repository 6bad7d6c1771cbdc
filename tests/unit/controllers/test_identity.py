from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from pydantic import JsonValue

from keybearer.base.errors import ConfigurationError
from keybearer.controllers.assembly import _policy
from keybearer.controllers.fingerprint import Fingerprinter
from keybearer.controllers.identity import (
    ServiceIdentity,
    ServicePolicy,
    normalized_url,
    parse_identity_secret,
    trim_secret,
)
from keybearer.controllers.outcome import StalledError
from keybearer.controllers.settings import OperatorSettings
from support.rows import each_row
from unit.controllers.fakes.targets import FINGERPRINTER, b64

_DEFAULT = "https://keybearer.example.com"
_OTHER = "https://other.example.com:8443/secrets"
_CA = "-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n"
_OWN_CA = b"-----BEGIN CERTIFICATE-----\nDEFAULT\n-----END CERTIFICATE-----\n"
_POLICY = ServicePolicy(
    default_url=_DEFAULT,
    allowed_urls=frozenset({_OTHER, "http://plain.example.com", "http://127.0.0.1:8080"}),
    default_ca_pem=_OWN_CA,
    api_audiences=frozenset({"https://kubernetes.default.svc"}),
)
_UNIVERSAL = {"clientId": "cnry-id", "clientSecret": "cnry-secret"}
_LDAP = {"identityId": "cnry-id", "username": "cnry-user", "password": "cnry-password"}
_KUBERNETES = {"identityId": "cnry-id", "serviceAccountName": "web", "audience": "keybearer"}
_TOKEN = {"accessToken": "cnry-token"}


def parse(values: dict[str, str], policy: ServicePolicy = _POLICY) -> ServiceIdentity:
    return parse_identity_secret(
        {key: b64(value) for key, value in values.items()}, namespace="team-a", name="login", policy=policy
    )


def refusal(values: dict[str, str], policy: ServicePolicy = _POLICY) -> StalledError:
    with pytest.raises(StalledError) as refused:
        parse(values, policy)
    assert "cnry" not in str(refused.value), "no message repeats what the Secret holds"
    assert "identity Secret team-a/login" in refused.value.message
    return refused.value


_ONE_SET = "give it one of the sets of keys that the message names, and no keys of another set"
_RENAME = "rename CLIENT-SECRET to clientSecret, rename client_id to clientId"


class TestMethods:
    @pytest.mark.parametrize(
        ("values", "method", "namespace"),
        [
            pytest.param(_UNIVERSAL, "UniversalAuth", "", id="universal"),
            pytest.param(_LDAP, "Ldap", "", id="ldap"),
            pytest.param(_KUBERNETES, "Kubernetes", "team-a", id="kubernetes, which is one per namespace"),
            pytest.param(_TOKEN, "AccessToken", "", id="a token"),
        ],
    )
    def test_each_set_of_keys_is_a_method(self, values: dict[str, str], method: str, namespace: str) -> None:
        identity = parse(values)

        assert identity.method == method
        assert dict(identity.credentials) == values
        assert identity.url == _DEFAULT
        assert identity.namespace == namespace

    def test_other_keys_of_the_secret_are_not_looked_at(self) -> None:
        data: dict[str, JsonValue] = {"note": "%%% no base64", "other": 5}
        data |= {key: b64(value) for key, value in _UNIVERSAL.items()}
        identity = parse_identity_secret(data, namespace="team-a", name="login", policy=_POLICY)

        assert dict(identity.credentials) == _UNIVERSAL

    def test_space_around_values_is_cut_as_editors_and_shells_leave_it(self) -> None:
        identity = parse(
            {"clientId": " cnry-id\n", "clientSecret": "cnry-secret\r\n", "url": f" {_DEFAULT}/\n"}
        )

        assert dict(identity.credentials) == _UNIVERSAL
        assert identity.url == _DEFAULT

    @pytest.mark.parametrize(
        "values",
        [
            pytest.param({}, id="nothing"),
            pytest.param({"url": _DEFAULT}, id="only a url"),
            pytest.param({"clientId": "cnry-id"}, id="half of one"),
            pytest.param({"clientId": "cnry-id", "password": "cnry-p"}, id="halves of two"),
            pytest.param({**_UNIVERSAL, **_TOKEN}, id="two methods"),
            pytest.param({**_UNIVERSAL, "username": "cnry-u"}, id="one method and a half"),
            pytest.param({**_LDAP, **_KUBERNETES}, id="two that share a key"),
            pytest.param({**_KUBERNETES, "password": "cnry-p"}, id="a key too many"),
            pytest.param(
                {"serviceAccountName": "web", "identityId": "cnry-id"}, id="kubernetes without audience"
            ),
        ],
    )
    def test_anything_but_exactly_one_method_is_refused_with_the_choices(
        self, values: dict[str, str]
    ) -> None:
        error = refusal(values)

        assert error.reason == "IdentityInvalid"
        assert "clientId+clientSecret" in error.message
        assert f"Found: {', '.join(sorted(values)) or 'no keys'}" in error.message

    @each_row(
        ("values", "step"),
        [
            (
                {"client_id": "a", "CLIENT-SECRET": "b"},
                _RENAME,
            ),
            ({"clientId": "a"}, "add clientSecret"),
            ({"serviceAccountName": "web", "identityId": "a"}, "add audience"),
            ({"password": "cnry-p"}, "add identityId and username"),
            (
                {**_UNIVERSAL, **_TOKEN},
                _ONE_SET,
            ),
        ],
    )
    def test_a_key_that_was_meant_is_named_in_the_next_step(self, values: dict[str, str], step: str) -> None:
        error = refusal(values)

        assert error.remedy is not None
        assert error.remedy.step == f"Correct Secret {{identity}}: {step}."
        assert error.remedy.command == "kubectl -n {namespace} describe secret {identity}"

    def test_of_a_secret_with_many_keys_some_are_named(self) -> None:
        error = refusal({f"k{number:02}": "cnry-x" for number in range(30)})

        assert error.message.endswith("Found: k00, k01, k02, k03, k04, k05, k06, k07, k08, k09 and more")

    def test_an_audience_of_the_api_server_is_refused(self) -> None:
        error = refusal({**_KUBERNETES, "audience": " https://kubernetes.default.svc\n"})

        assert "the audience is one of the API server's" in error.message


class TestValues:
    @each_row(
        "encoded",
        [
            pytest.param("cnry-secret!", id="no base64"),
            pytest.param("Y25yeS1", id="base64 without its end"),
            pytest.param("Y25y eS1h", id="base64 with a blank"),
            pytest.param("Y25yeS1hé", id="base64 with what is no ASCII"),
            pytest.param("/w==", id="no UTF-8"),
            pytest.param(None, id="null"),
            pytest.param(5, id="a number"),
            pytest.param(["Y25yeS1h"], id="a list"),
            pytest.param("", id="empty"),
            pytest.param("ICAK", id="only space"),
        ],
    )
    def test_a_value_that_is_no_text_is_refused_by_its_key_alone(
        self, encoded: str | int | list[str] | None
    ) -> None:
        data = {"clientId": b64("cnry-id"), "clientSecret": encoded}
        with pytest.raises(StalledError) as refused:
            parse_identity_secret(data, namespace="team-a", name="login", policy=_POLICY)  # type: ignore[arg-type]

        assert refused.value.reason == "IdentityInvalid"
        assert "clientSecret is" in refused.value.message
        assert "cnry" not in refused.value.message
        assert refused.value.__cause__ is None

    @pytest.mark.parametrize(("key", "limit"), [("clientSecret", 16384), ("caBundle", 262144)])
    def test_a_value_of_which_only_the_length_was_kept_is_refused_alike(self, key: str, limit: int) -> None:
        data = {**{name: b64(value) for name, value in _UNIVERSAL.items()}, key: b64("c" * 900_000)}
        kept = trim_secret(data)

        assert kept == {**{name: data[name] for name in _UNIVERSAL}, key: 1_200_000}
        with pytest.raises(StalledError, match=f"{key} is longer than {limit} characters"):
            parse_identity_secret(kept, namespace="team-a", name="login", policy=_POLICY)

    def test_a_value_of_just_the_length_that_is_allowed_stays_whatever_its_characters_take(self) -> None:
        data = {"clientId": b64("i"), "clientSecret": b64("\N{GRINNING FACE}" * 16384)}

        assert trim_secret(data) == data

    def test_a_value_that_is_too_long_is_refused(self) -> None:
        assert (
            "clientSecret is longer than 16384"
            in refusal({**_UNIVERSAL, "clientSecret": "cnry-" * 4000}).message
        )
        assert "caBundle is longer than 262144" in refusal({**_UNIVERSAL, "caBundle": _CA * 5000}).message

    def test_a_bundle_without_certificate_is_refused(self) -> None:
        assert "caBundle holds no PEM" in refusal({**_UNIVERSAL, "caBundle": "cnry-no-pem"}).message

    @given(
        st.dictionaries(
            st.sampled_from([*_UNIVERSAL, *_LDAP, *_KUBERNETES, *_TOKEN, "url", "caBundle"]), st.text()
        )
    )
    def test_whatever_a_secret_holds_it_is_an_identity_or_a_stall(self, values: dict[str, str]) -> None:
        try:
            identity = parse(values)
        except StalledError:
            return
        assert identity.url in {_DEFAULT, _OTHER, "http://127.0.0.1:8080"}


class TestTrust:
    def test_the_own_bundle_is_the_only_trust(self) -> None:
        assert parse({**_UNIVERSAL, "caBundle": _CA}).ca_pem == _CA.strip().encode()

    def test_the_operators_certificates_are_for_its_own_service_only(self) -> None:
        assert parse(_UNIVERSAL).ca_pem == _OWN_CA
        assert parse({**_UNIVERSAL, "url": f"{_DEFAULT}/api/"}).ca_pem == _OWN_CA
        assert parse({**_UNIVERSAL, "url": _OTHER}).ca_pem is None


class TestUrls:
    @pytest.mark.parametrize(
        ("given", "asked"),
        [
            pytest.param(_DEFAULT, _DEFAULT, id="the default itself"),
            pytest.param("https://keybearer.example.com/", _DEFAULT, id="a slash"),
            pytest.param(
                "https://keybearer.example.com/api", _DEFAULT, id="/api, as published clients take it"
            ),
            pytest.param("https://keybearer.example.com/api///", _DEFAULT, id="/api and slashes"),
            pytest.param("HTTPS://Keybearer.Example.COM", _DEFAULT, id="another case"),
            pytest.param("https://other.example.com:8443/secrets/api", _OTHER, id="a path, and /api"),
            pytest.param("https://key\nbearer.example.com", _DEFAULT, id="a line break that parsers drop"),
            pytest.param("https://\u212aeybearer.example.com", _DEFAULT, id="the Kelvin sign is a k"),
            pytest.param("http://127.0.0.1:8080", "http://127.0.0.1:8080", id="plain http on loopback"),
        ],
    )
    def test_what_is_allowed_leads_exactly_to_a_listed_service(self, given: str, asked: str) -> None:
        assert parse({**_UNIVERSAL, "url": given}).url == asked

    @each_row(
        "given",
        [
            pytest.param("https://keybearer.example.com@evil.example", id="the allowed host as a user"),
            pytest.param("https://keybearer.example.com:pw@evil.example", id="with a password"),
            pytest.param("https://keybearer.example.com%40evil.example", id="encoded"),
            pytest.param("https://keybearer.example.com#@evil.example", id="another host in a fragment"),
            pytest.param("https://keybearer.example.com?@evil.example", id="another host in a query"),
            pytest.param("https://evil.example#@keybearer.example.com", id="the allowed host in a fragment"),
            pytest.param("https://evil.example/?https://keybearer.example.com", id="in a query"),
            pytest.param("https://evil.example\\@keybearer.example.com", id="behind a backslash"),
            pytest.param("https://user@keybearer.example.com", id="credentials for the allowed host"),
            pytest.param("https://keybearer.example.com.evil.example", id="as a subdomain"),
            pytest.param("https://keybearer.example.com.", id="a final dot, which is another name"),
            pytest.param("https://keybearer.example.com:443", id="a port that the list doesn't name"),
            pytest.param("https://keybearer.example.com:8443", id="another port"),
            pytest.param("http://keybearer.example.com", id="another scheme"),
            pytest.param("https://keybearer.example.com/..", id="dots"),
            pytest.param("https://keybearer.example.com/api/v1", id="a path"),
            pytest.param("https://other.example.com:8443", id="without the path that the list names"),
            pytest.param("https://other.example.com:8443/SECRETS", id="paths have a case"),
            pytest.param(
                "https://other.example.com:8443/secrets/../admin", id="out of the path that is listed"
            ),
            pytest.param("https://keybearer%2eexample.com", id="an encoded dot"),
            pytest.param("https://keybearer.ex\u00e4mple.com", id="another letter"),
            pytest.param("https://keybearer\u3002example\u3002com", id="dots of another script"),
            pytest.param("https:/\\keybearer.example.com", id="a slash the other way"),
            pytest.param("https:keybearer.example.com", id="no slashes"),
            pytest.param("//keybearer.example.com", id="no scheme"),
            pytest.param("keybearer.example.com", id="a bare host"),
            pytest.param("https://", id="no host"),
            pytest.param("https://[::1", id="half a bracket"),
            pytest.param("https://keybearer.example.com:port", id="no port"),
            pytest.param("https://keybearer.example.com:99999", id="no such port"),
            pytest.param("https://a\uff0fb", id="what unicode normalization would turn into a slash"),
            pytest.param("file:///etc/passwd", id="a file"),
            pytest.param("https://127.0.0.1:8080", id="loopback over https, which is not listed"),
            pytest.param("http://127.0.0.1:8080@evil.example", id="loopback as a user"),
            pytest.param("http://localhost:8080", id="another name of loopback"),
        ],
    )
    def test_every_other_address_is_refused(self, given: str) -> None:
        assert refusal({**_UNIVERSAL, "url": given}).reason in {"UrlNotAllowed", "IdentityInvalid"}

    @given(
        st.lists(
            st.sampled_from(
                ["https:", "http:", "//", "/", "\\", "@", ":", "#", "?", "%40", ".", "..", "/api", "443", "8443",
                 "keybearer.example.com", "KEYBEARER.example.com", "evil.example", "other.example.com", "secrets",
                 "plain.example.com", "127.0.0.1", "[::1]", "\t", "\n", " ", "\u3002", "user", "\u2100"]
            ),
            max_size=9,
        ).map("".join)
    )  # fmt: skip
    @example("https://keybearer.example.com/api#https://evil.example")
    def test_no_address_leads_anywhere_but_to_a_listed_service(self, given: str) -> None:
        try:
            url = parse({**_UNIVERSAL, "url": given}).url
        except StalledError:
            return
        assert url in {_DEFAULT, _OTHER, "http://127.0.0.1:8080"}

    def test_a_refused_url_is_told_by_its_host_and_by_nothing_else_of_it(self) -> None:
        error = refusal({**_UNIVERSAL, "url": "https://evil.example:8443/cnry-path"})

        assert error.reason == "UrlNotAllowed"
        assert "leads to evil.example, which is not on the operator's list" in error.message
        assert "8443" not in error.message

    def test_plain_http_beyond_loopback_is_refused_even_when_listed(self) -> None:
        error = refusal({**_UNIVERSAL, "url": "http://plain.example.com"})

        assert (error.reason, "plain http" in error.message) == ("UrlNotAllowed", True)
        lenient = replace(_POLICY, allow_insecure_http=True)
        assert (
            parse({**_UNIVERSAL, "url": "http://plain.example.com"}, lenient).url
            == "http://plain.example.com"
        )

    @pytest.mark.parametrize(
        "url",
        ["http://localhost", "http://127.0.0.1:80", "http://127.8.7.6", "http://[::1]:8080"],
    )
    def test_plain_http_on_loopback_is_fine(self, url: str) -> None:
        assert parse(_UNIVERSAL, ServicePolicy(url)).url == url

    @pytest.mark.parametrize(
        "url",
        [
            "http://localhost.evil.example",
            "http://127.0.0.1.evil.example",
            "http://0.0.0.0",
            "http://2130706433",
        ],
    )
    def test_what_only_looks_like_loopback_is_not(self, url: str) -> None:
        policy = ServicePolicy(_DEFAULT, allowed_urls=frozenset({url}))

        assert refusal({**_UNIVERSAL, "url": url}, policy).reason == "UrlNotAllowed"

    def test_without_a_default_each_identity_names_its_service(self) -> None:
        policy = ServicePolicy(None, allowed_urls=frozenset({_OTHER}))

        assert "names no url" in refusal(_UNIVERSAL, policy).message
        assert parse({**_UNIVERSAL, "url": _OTHER}, policy).url == _OTHER


class TestPolicy:
    @each_row(
        "url",
        [
            "keybearer.example.com",
            "keybearer:8080",
            "ftp://x",
            "https://",
            "https://[::1",
            "https://h:port",
            "https://u:p@h",
            "",
        ],
        ids=repr,
    )
    @each_row("option", ["--service-url", "--allow-service-url"])
    def test_an_address_that_is_none_ends_the_start(self, option: str, url: str) -> None:
        default, allowed = (url, "https://x") if option == "--service-url" else (_DEFAULT, url)
        with pytest.raises(ConfigurationError, match=option):
            ServicePolicy(default, allowed_urls=frozenset({allowed}))

    def test_a_default_over_plain_http_must_be_wanted(self) -> None:
        with pytest.raises(ConfigurationError, match="--allow-insecure-http"):
            ServicePolicy("http://keybearer.example.com")
        policy = ServicePolicy("http://keybearer.example.com", allow_insecure_http=True)
        assert parse(_UNIVERSAL, policy).url == "http://keybearer.example.com"


class TestSessions:
    def test_the_same_credentials_share_a_session_from_any_namespace(self) -> None:
        here = parse(_UNIVERSAL)
        there = parse_identity_secret(
            {key: b64(value) for key, value in _UNIVERSAL.items()},
            namespace="team-b",
            name="x",
            policy=_POLICY,
        )

        assert here.session_id(FINGERPRINTER) == there.session_id(FINGERPRINTER)

    def test_whatever_differs_makes_another_session(self) -> None:
        kubernetes = {key: b64(value) for key, value in _KUBERNETES.items()}
        identities = [
            parse(_UNIVERSAL),
            parse({**_UNIVERSAL, "clientSecret": "cnry-rotated"}),
            parse({**_UNIVERSAL, "url": _OTHER}),
            parse({**_UNIVERSAL, "caBundle": _CA}),
            parse(_LDAP),
            parse(_TOKEN),
            parse(_KUBERNETES),
            parse_identity_secret(kubernetes, namespace="team-b", name="x", policy=_POLICY),
        ]
        ids = {identity.session_id(FINGERPRINTER) for identity in identities}

        assert len(ids) == len(identities)

    def test_a_session_id_tells_nothing_without_the_key(self) -> None:
        assert parse(_TOKEN).session_id(FINGERPRINTER) != parse(_TOKEN).session_id(Fingerprinter(b"x" * 32))

    def test_an_identity_shows_no_credential(self) -> None:
        assert "cnry" not in repr(parse({**_LDAP, "caBundle": _CA}))


@given(
    st.sampled_from([_DEFAULT, _OTHER, "http://[::1]:8080"]),
    st.sampled_from(["", "/", "/api", "/api/", "//"]),
)
def test_normalizing_twice_is_normalizing_once(url: str, tail: str) -> None:
    assert normalized_url(url + tail) == normalized_url(normalized_url(url + tail)) == url


def test_no_token_is_minted_while_the_api_servers_audiences_are_unknown() -> None:
    refused = refusal(_KUBERNETES, replace(_POLICY, api_audiences=frozenset()))

    assert "--api-audience" in refused.message


@pytest.mark.parametrize(
    "audience", ["https://kubernetes.default.svc.cluster.local", "kubernetes.default.svc"]
)
def test_usual_audiences_of_api_servers_are_refused_whatever_else_is_known(audience: str) -> None:
    policy = replace(_POLICY, api_audiences=frozenset({"https://api.example.com"}))

    assert "good for the cluster itself" in refusal({**_KUBERNETES, "audience": audience}, policy).message


def test_the_operators_settings_reach_the_judgement_of_identities() -> None:
    policy = _policy(
        OperatorSettings(service_url=_DEFAULT, api_audiences=frozenset({"https://api.example.com"}))
    )

    assert parse(_KUBERNETES, policy).method == "Kubernetes"
    assert "audience" in refusal({**_KUBERNETES, "audience": "https://api.example.com"}, policy).message
