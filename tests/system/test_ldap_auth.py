"""LDAP auth of the service against a real directory."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from support.canary import Canary
from support.sdks.published import PublishedClient, PublishedError
from support.service_fixtures import Credentials, Service, ServiceProcess, start_service
from support.slapd import Person, Slapd, running_slapd
from support.system_tools import SystemTool

pytestmark = pytest.mark.system

_LOGIN = "/api/v1/auth/ldap-auth/login"
_ALICE = Person("alice", "cnry-alice-password")
_BOB = Person("bob", "cnry-bob-password", place="Basel")
_STAR = Person("a*(b)", "cnry-star-password")
_FAILED = "LDAP authentication failed"


@pytest.fixture(scope="module")
def directory(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Slapd | None]:
    """Yield the directory, None where slapd is not installed."""
    program = shutil.which("slapd")
    if program is None:
        yield None
        return
    with running_slapd(program, tmp_path_factory.mktemp("slapd"), [_ALICE, _BOB, _STAR]) as slapd:
        yield slapd


@pytest.fixture
def slapd(directory: Slapd | None, system_tool: SystemTool) -> Slapd:
    system_tool("slapd")
    assert directory is not None
    return directory


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServiceProcess]:
    """Yield a service that may call loopback, where the directory is."""
    service = start_service(tmp_path_factory.mktemp("service") / "data", "--allow-outbound", "127.0.0.0/8")
    yield service
    service.stop()


@pytest.fixture
def service(running: ServiceProcess, canary: Canary) -> ServiceProcess:
    canary.watch("log of keybearer serve", running.log.read_text)
    return running


def configured(service: Service, config: dict[str, object]) -> Credentials:
    """An identity with this LDAP auth."""
    identity = service.create_identity()
    path = f"/api/v1/auth/ldap-auth/identities/{identity.identity_id}"
    service.admin_client().json("POST", path, json=config)
    return identity


def login(
    service: Service, identity: Credentials, username: str, password: str, status: int
) -> dict[str, Any]:
    body = {"identityId": identity.identity_id, "username": username, "password": password}
    return service.client().json("POST", _LOGIN, status=status, json=body)


def test_a_user_with_the_right_password_logs_in(service: Service, slapd: Slapd) -> None:
    identity = configured(service, slapd.config())
    answer = login(service, identity, _ALICE.uid, _ALICE.password, 200)
    assert set(answer) == {"accessToken", "expiresIn", "accessTokenMaxTTL", "tokenType"}
    assert service.client(answer["accessToken"]).post("/api/v1/auth/checkAuth").status_code == 200


def test_the_published_python_client_logs_in(
    python_process: PublishedClient, service: Service, slapd: Slapd
) -> None:
    identity = configured(service, slapd.config())
    python_process.connect(service.url)
    answer = python_process("auth.ldap_auth.login", identity.identity_id, _ALICE.uid, _ALICE.password)
    assert answer["tokenType"] == "Bearer"
    with pytest.raises(PublishedError, match=_FAILED) as refused:
        python_process("auth.ldap_auth.login", identity.identity_id, _ALICE.uid, "cnry-wrong")
    assert refused.value.status == 401


@pytest.mark.parametrize(
    ("username", "password"),
    [
        pytest.param("alice", "cnry-wrong", id="another password"),
        pytest.param("alice", _BOB.password, id="somebody else's password"),
        pytest.param("nobody", "cnry-wrong", id="a user that doesn't exist"),
        pytest.param("reader", "cnry-reader-password", id="an entry that the filter doesn't find"),
        pytest.param("*", _ALICE.password, id="a wildcard"),
        pytest.param("al*", _ALICE.password, id="a beginning"),
        pytest.param("alice)(uid=*", _ALICE.password, id="a closed parenthesis"),
        pytest.param("x)(|(uid=alice", _ALICE.password, id="another filter"),
        pytest.param("alice\\2a", _ALICE.password, id="an escape"),
        pytest.param("alice,ou=people,dc=example,dc=com", _ALICE.password, id="a name of an entry"),
    ],
)
def test_nobody_else_does(service: Service, slapd: Slapd, username: str, password: str) -> None:
    identity = configured(service, slapd.config())
    answer = login(service, identity, username, password, 401)
    assert (answer["error"], answer["message"]) == ("UnauthorizedError", _FAILED)


def test_a_name_full_of_special_characters_is_just_a_name(service: Service, slapd: Slapd) -> None:
    login(service, configured(service, slapd.config()), _STAR.uid, _STAR.password, 200)


def test_an_empty_password_which_this_directory_would_take_is_refused(service: Service, slapd: Slapd) -> None:
    answer = login(service, configured(service, slapd.config()), "alice", "", 422)
    assert answer["error"] == "ValidationFailure"


@pytest.mark.parametrize(
    ("required", "status"),
    [("Bern", 200), ("Basel, Bern", 200), ("Basel", 401), ("bern", 401)],
)
def test_a_required_field_must_have_one_of_its_values(
    service: Service, slapd: Slapd, required: str, status: int
) -> None:
    identity = configured(service, slapd.config(allowedFields=[{"key": "L", "value": required}]))
    login(service, identity, _ALICE.uid, _ALICE.password, status)


def test_three_wrong_passwords_lock_and_an_admin_unlocks(service: Service, slapd: Slapd) -> None:
    identity = configured(service, slapd.config())
    for _ in range(3):
        login(service, identity, "alice", "cnry-wrong", 401)
    locked = "This identity auth method is temporarily locked, please try again later"
    assert login(service, identity, _ALICE.uid, _ALICE.password, 401)["message"] == locked
    path = f"/api/v1/auth/ldap-auth/identities/{identity.identity_id}/clear-lockouts"
    assert service.admin_client().json("POST", path) == {"deleted": 1}
    login(service, identity, _ALICE.uid, _ALICE.password, 200)


def test_with_a_ca_plain_ldap_turns_to_tls_first(service: Service, slapd: Slapd) -> None:
    identity = configured(service, slapd.config(url=f"ldap://localhost:{slapd.port}"))
    login(service, identity, _ALICE.uid, _ALICE.password, 200)


def test_without_tls_only_a_listed_directory_is_asked(service: Service, slapd: Slapd, tmp_path: Path) -> None:
    plain = slapd.config(url=f"ldap://127.0.0.1:{slapd.port}", ldapCaCertificate="")
    login(service, configured(service, plain), _ALICE.uid, _ALICE.password, 200)
    strict = start_service(tmp_path / "data")
    try:
        assert (
            login(strict, configured(strict, plain), _ALICE.uid, _ALICE.password, 401)["message"] == _FAILED
        )
        assert "--allow-outbound" in strict.log.read_text()
    finally:
        strict.stop()


@pytest.mark.parametrize(
    "changes",
    [
        pytest.param({"ldapCaCertificate": ""}, id="a CA that isn't trusted"),
        pytest.param({"bindPass": "cnry-wrong"}, id="the reader's password is wrong"),
        pytest.param({"searchBase": "dc=elsewhere"}, id="a base that isn't there"),
        pytest.param({"url": "ldaps://localhost:9"}, id="nobody listens"),
        pytest.param(
            {"searchBase": "ou=elsewhere,dc=example,dc=com"}, id="a referral, which is not followed"
        ),
    ],
)
def test_a_directory_that_cannot_be_asked_lets_nobody_in_and_the_log_says_why(
    service: Service, slapd: Slapd, changes: dict[str, object]
) -> None:
    identity = configured(service, slapd.config(**changes))
    assert login(service, identity, _ALICE.uid, _ALICE.password, 401)["message"] == _FAILED
    told = [line for line in service.log.read_text().splitlines() if identity.identity_id in line]
    assert any("ldap_login_failed" in line for line in told)


def test_references_below_the_base_are_passed_over(service: Service, slapd: Slapd) -> None:
    # The tree holds a referral to a server that doesn't exist; whoever followed it would fail or wait.
    login(service, configured(service, slapd.config()), _BOB.uid, _BOB.password, 200)
