"""Every limit of the service at its edges: one below, the least, the greatest, one above.

The tables are in `support/limits_of_contents.py` and `support/limits_of_administration.py`; here are the limits that
are no field's, and the checks that nothing is missing in the tables.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

from keybearer.base.certificate_terms import NameType, SubjectField
from keybearer.base.errors import ConfigurationError
from keybearer.server.rate_limits import parse_rate_limits
from keybearer.wire import limits
from support.issuing_house import IssuingHouse
from support.limit_cases import KEY_SIGN, Limit, World
from support.limits_of_administration import LIMITS_OF_ADMINISTRATION, strong_password
from support.limits_of_certificates import LIMITS_OF_CERTIFICATES
from support.limits_of_connections import LIMITS_OF_CONNECTIONS
from support.limits_of_contents import LIMITS_OF_CONTENTS
from support.limits_of_syncs import LIMITS_OF_SYNCS
from support.pki_house import Pki, pki_of
from support.rows import every_row
from support.service_fixtures import Client, Project, ProjectSecrets, Service, start_service
from tools.local.waiting import eventually

# Fields whose zero counts as absent (wire/bodies.py), by the beginning of their limits' names.
OPTIONAL = (
    "name of PATCH v1/identities/",
    "name of PATCH v1/projects/",
    "name of PATCH v1/cert-manager/ca/",
    "name of PATCH v1/cert-manager/applications/",
    "name of PATCH v1/pki/subscribers/",
    "commonName of PATCH v1/pki/subscribers/",
    "slug of PATCH v1/cert-manager/certificate-profiles/",
    "position of ",
    "secretReminderRepeatDays of ",
    "domainComponents of ",
    "subjectAlternativeNames of ",
    "friendlyName of POST v1/cert-manager/certificates/import-certificate",
    "eabKid of ",
    "eabHmacKey of ",
    "ttlDays of ",
    "renewBeforeDays of P",
    "gitHubAppId of ",
    "privateKey of POST v1/app-connections/codehost",
)


def _marked(limits_of_area: Iterable[Limit]) -> tuple[Limit, ...]:
    return tuple(replace(limit, is_optional=limit.name.startswith(OPTIONAL)) for limit in limits_of_area)


AREAS = {
    "contents": _marked(LIMITS_OF_CONTENTS),
    "administration": _marked(LIMITS_OF_ADMINISTRATION),
    "connections": _marked(LIMITS_OF_CONNECTIONS),
    "syncs": _marked(LIMITS_OF_SYNCS),
    "certificates": _marked(LIMITS_OF_CERTIFICATES),
}
LIMITS = tuple(limit for area in AREAS.values() for limit in area)
# Limits that no single field has, and which test has them.
ELSEWHERE = {
    "CONNECTION_PROJECTS_MAX": "test_what_connections_and_policies_name_is_bounded",
    "CONNECTION_PLACES_MAX": "test_what_connections_and_policies_name_is_bounded",
    "CONNECTION_PLACE_MAX": "test_what_connections_and_policies_name_is_bounded",
    "POLICY_AUTHORITIES_MAX": "test_what_connections_and_policies_name_is_bounded",
    "REQUEST_BODY_MAX_BYTES": "test_a_request_body_is_bounded",
    "OPEN_BODY_MAX_BYTES": "test_a_body_that_anybody_may_send_is_bounded",
    "REQUEST_HEAD_MAX_BYTES": "test_a_head_is_bounded_to_the_byte (server/test_bounded_protocol.py)",
    "REQUEST_HEAD_MAX_LINES": "test_a_head_has_only_so_many_fields (server/test_bounded_protocol.py)",
    "LIST_DEPTH_MAX": "test_a_recursive_list_ends_at_its_depth",
    "REFERENCE_DEPTH_MAX": "test_references_are_followed_to_their_depth",
    "IMPORT_DEPTH_MAX": "test_imports_are_followed_to_their_depth",
    "IMPORT_STEPS_MAX": "test_a_list_whose_imports_meet_again_and_again_is_refused (domain/test_many_imports.py)",
    "ACME_TOKEN_MAX": "test_what_is_no_token_is_refused (test_acme_authorities.py)",
    "CERTIFICATE_OBJECTS_MAX": "test_a_project_has_only_so_many_objects_of_certificates (test_limits_of_number.py)",
    "CERTIFICATE_PAGE_DEFAULT": "test_a_page_of_certificates_holds_twenty_unless_it_is_told",
    "APP_CONNECTIONS_MAX": "test_there_are_only_so_many (app_connections/test_kept_connections.py)",
    "SECRET_SYNCS_MAX": "test_a_project_has_only_so_many (test_secret_syncs.py)",
    "IMPORTS_PER_FOLDER_MAX": "test_there_are_only_so_many_of_a_kind (test_limits_of_number.py)",
    "VERSIONS_MAX_ITEMS": "test_no_more_versions_are_shown_at_once",
    "EVENT_REGISTRATIONS_MAX": "test_a_stream_has_only_so_many_registrations",
    "EVENT_STREAMS_MAX": "TestConnections.test_an_identity_has_at_most_five_streams_of_a_project (test_events.py)",
    "REFERENCE_PASSES_MAX": "test_ten_passes_build_references_and_the_eleventh_does_not (domain/test_references.py)",
    "HIDDEN_VALUE": "no limit: test_the_mask_of_a_hidden_value_is_never_stored (test_writing_secrets.py)",
}
OPEN_ROUTES = (
    "/api/v1/auth/universal-auth/login",
    "/api/v1/auth/kubernetes-auth/login",
    "/api/v1/auth/ldap-auth/login",
    "/api/v1/auth/token/renew",
    "/api/v1/auth/token/revoke",
    "/api/v3/auth/login",
)
# Fields that the admin's requests don't reach, and which test has them.
OTHER_FIELDS = {
    ("projectIds", 1000): "test_what_connections_and_policies_name_is_bounded",
    ("places", 100): "test_what_connections_and_policies_name_is_bounded",
    ("places", 1024): "test_what_connections_and_policies_name_is_bounded",
    ("caIds", 100): "test_what_connections_and_policies_name_is_bounded",
    ("currentPassword", 1024): "test_a_changed_password_is_bounded",
    ("newPassword", 256): "test_a_changed_password_is_bounded",
    ("newSecretName", 512): "test_a_name_in_a_path_is_counted_in_characters",
    ("secretKey", 512): "test_a_name_in_a_path_is_counted_in_characters",
    ("organization", 64): "test_the_name_of_a_new_organization_is_bounded",
    ("roleArn", 2048): "never reached: test_what_is_no_role_is_refused (wire/test_cloud_models.py)",
    ("subject", 20): "test_a_policy_has_only_so_many_rules",
    ("sans", 20): "test_a_policy_has_only_so_many_rules",
    ("register", 10): "test_a_stream_has_only_so_many_registrations",
}
# Lists of certificates that come in pages.
PAGES = {
    "/certificates": "certificates",
    "/certificates/certificate-requests": "certificateRequests",
    "/certificate-policies": "certificatePolicies",
    "/certificate-profiles": "certificateProfiles",
    "/certificate-profiles/{profile_id}/certificates": "certificates",
    "/applications": "applications",
}


@pytest.fixture(scope="module")
def worlds() -> dict[str, World]:
    """Return what the tests of each service share."""
    return {}


@pytest.fixture
def world(service: Service, worlds: dict[str, World]) -> World:
    return worlds.setdefault(service.url, World(service))


@pytest.mark.parametrize("area", AREAS)
def test_a_limit_holds_at_its_edges(world: World, area: str) -> None:
    with every_row() as row:
        for limit in AREAS[area]:
            for measure in limit.inside:
                with row(f"{limit.name}: {measure} is taken"):
                    limit.check_taken(limit.send(world, measure))
            for measure, told in limit.outside:
                with row(f"{limit.name}: {measure} is refused"):
                    limit.check_refused(limit.send(world, measure), told)


def test_every_constant_of_the_wire_is_tested() -> None:
    tested: dict[str, set[int]] = {}
    for limit in LIMITS:
        for constant in limit.constants:
            edge = limit.low if constant.endswith("_MIN") else limit.high
            tested.setdefault(constant, set()).add(edge or 0)
    assert tested.keys() | ELSEWHERE.keys() == set(limits.__all__)
    assert not tested.keys() & ELSEWHERE.keys()
    for constant, edges in tested.items():
        assert edges == {getattr(limits, constant)}, constant
    named = [*ELSEWHERE.values(), *OTHER_FIELDS.values()]
    ours = [test for test in named if " " not in test]
    assert all(test in globals() or any(test in vars(kind) for kind in CLASSES) for test in ours)


def bounds(schema: dict[str, Any], name: str) -> Iterator[tuple[str, int, int]]:
    """Yield the bounds that a schema of a field speaks of, as measures of the field."""
    for part in (schema, *schema.get("anyOf", ())):
        low = part.get("minLength", part.get("minItems", part.get("minimum", 0)))
        high = part.get("maxLength", part.get("maxItems", part.get("maximum", 0)))
        # The length of a whole request stands for texts without a limit of their own.
        if (
            (low or high)
            and high != limits.REQUEST_BODY_MAX_BYTES
            and (high or part.get("type") == "integer")
        ):
            yield name, low, high
        if "items" in part:
            yield from bounds(part["items"], name)


def test_every_bound_of_the_document_is_tested(service: Service) -> None:
    document = service.client().json("GET", "/api/docs/json")
    asked = [
        bound
        for schema in document["components"]["schemas"].values()
        for name, field in schema.get("properties", {}).items()
        for bound in bounds(field, name)
    ]
    asked += [
        bound
        for operations in document["paths"].values()
        for operation in operations.values()
        for parameter in operation.get("parameters", ())
        if parameter["in"] == "query"
        for bound in bounds(parameter["schema"], parameter["name"])
    ]
    tested = {(limit.field, limit.high or 0) for limit in LIMITS}
    missing = {(name, high) for name, _, high in asked} - tested - OTHER_FIELDS.keys()
    assert missing == set()


def test_what_connections_and_policies_name_is_bounded(service: Service) -> None:
    admin, unknown = service.admin_client(), str(uuid4())
    use = f"/api/v1/app-connections/cloud/{unknown}/allowed-use"
    binding = f"/api/v1/cert-manager/certificate-policies/{unknown}/binding"
    for path, field, one, most in (
        (use, "projectIds", unknown, limits.CONNECTION_PROJECTS_MAX),
        (use, "places", "a", limits.CONNECTION_PLACES_MAX),
        (binding, "caIds", unknown, limits.POLICY_AUTHORITIES_MAX),
    ):
        admin.json("PATCH", path, json={field: [one] * most}, status=404)
        admin.json("PATCH", path, json={field: [one] * (most + 1)}, status=422)
    for length, status in (
        (0, 422),
        (limits.CONNECTION_PLACE_MAX, 404),
        (limits.CONNECTION_PLACE_MAX + 1, 422),
    ):
        admin.json("PATCH", use, json={"places": ["a" * length]}, status=status)


class TestCharacters:
    """Texts are counted in characters, values of secrets in bytes."""

    def test_a_value_is_counted_in_bytes(self, secrets: ProjectSecrets) -> None:
        most = limits.SECRET_VALUE_MAX_BYTES // 4
        secrets.create("FITS", KEY_SIGN * most)
        assert secrets.get("FITS")["secretValue"] == KEY_SIGN * most
        refusal = secrets.create("TOO_LONG", KEY_SIGN * most + "b", status=422)
        assert refusal["message"] == [
            {
                "code": "custom",
                "path": ["secretValue"],
                "message": f"Secret value has at most {limits.SECRET_VALUE_MAX_BYTES} bytes.",
            }
        ]

    def test_a_name_in_a_path_is_counted_in_characters(self, secrets: ProjectSecrets) -> None:
        longest = KEY_SIGN * limits.SECRET_NAME_MAX
        assert secrets.create(longest, "cnry-v")["secretKey"] == longest
        assert secrets.get(longest)["secretValue"] == "cnry-v"
        assert secrets.update(longest, newSecretName="B" * 512)["secretKey"] == "B" * 512
        refusal = secrets.update("B" * 512, newSecretName=longest + KEY_SIGN, status=422)
        assert refusal["message"][0]["path"] == ["newSecretName"]
        assert "at most 512 characters" in refusal["message"][0]["message"]
        assert "at most 512" in str(secrets.create(longest + KEY_SIGN, "cnry-v", status=422)["message"])
        assert (
            secrets.update("B" * 512, newSecretName="", status=400)["message"]
            == "New secret name cannot be empty"
        )

    def test_what_is_at_the_limit_comes_back_whole(self, admin: Client, secrets: ProjectSecrets) -> None:
        comment, note = KEY_SIGN * limits.SECRET_COMMENT_MAX, KEY_SIGN * limits.REMINDER_NOTE_MAX
        secrets.create("WHOLE", "cnry-v", secretComment=comment, secretReminderNote=note)
        found = secrets.get("WHOLE")
        assert (found["secretComment"], found["secretReminderNote"]) == (comment, note)
        body = {"name": KEY_SIGN * 64, "description": KEY_SIGN * 1024}
        project = admin.json("PATCH", f"/api/v1/projects/{secrets.project.id}", json=body)["project"]
        assert (project["name"], project["description"]) == (body["name"], body["description"])


class TestWholeRequests:
    def test_a_request_body_is_bounded(self, admin: Client) -> None:
        most = limits.REQUEST_BODY_MAX_BYTES
        for length, status in ((most - 1, 422), (most, 422), (most + 1, 413)):
            body = b"{}".ljust(length)
            headers = {"content-type": "application/json"}
            answer = admin.post("/api/v1/projects", content=body, headers=headers)
            assert answer.status_code == status, length
            assert status == 422 or answer.json()["message"] == f"The body has more than {most} bytes"

    @pytest.mark.parametrize("is_announced", [True, False], ids=["announced", "in chunks"])
    @pytest.mark.parametrize("path", OPEN_ROUTES)
    def test_a_body_that_anybody_may_send_is_bounded(
        self, service: Service, path: str, *, is_announced: bool
    ) -> None:
        most = limits.OPEN_BODY_MAX_BYTES
        for length, status in ((most - 1, 422), (most, 422), (most + 1, 413)):
            body = b"{}".ljust(length)
            pieces = body if is_announced else iter([body[:1000], body[1000:]])
            headers = {"content-type": "application/json"}
            answer = service.client().post(path, content=pieces, headers=headers)
            assert answer.status_code == status, length
            assert status == 422 or answer.json()["message"] == f"The body has more than {most} bytes"

    @pytest.mark.parametrize(("count", "status"), [(99, 200), (100, 200), (101, 400)])
    def test_a_query_has_only_so_many_fields(self, admin: Client, count: int, status: int) -> None:
        query = "&".join(f"k{number}=v" for number in range(count))
        answer = admin.get(f"/api/v1/projects?{query}")
        assert answer.status_code == status
        assert status == 200 or "100" in answer.json()["message"]

    @pytest.mark.parametrize(("count", "status"), [(1, 200), (10, 200), (11, 400)])
    def test_a_metadata_filter_has_only_so_many_pairs(
        self, admin: Client, project: Project, count: int, status: int
    ) -> None:
        pairs = "|".join(f"key=k{number}" for number in range(count))
        query = {"projectId": project.id, "environment": "dev", "metadataFilter": pairs}
        answer = admin.get("/api/v4/secrets", params=query)
        assert answer.status_code == status
        assert status == 200 or answer.json()["message"] == "metadataFilter holds at most 10 pairs"

    @pytest.mark.parametrize(("count", "status"), [(0, 422), (1, 200), (10, 200), (11, 422)])
    def test_a_stream_has_only_so_many_registrations(
        self, admin: Client, project: Project, count: int, status: int
    ) -> None:
        body = {"projectId": project.id, "register": [{"event": "secret:create"}] * count}
        path = "/api/v1/events/subscribe/project-events"
        with admin.stream("POST", path, json=body) as answer:
            assert answer.status_code == status
            if status != 200:
                issue = answer.json()["message"][0]
                assert issue["path"] == ["register"]
                assert str(min(max(count, 1), 10)) in issue["message"]


class TestPeople:
    @pytest.mark.parametrize(("length", "status"), [(11, 422), (12, 200), (256, 200), (257, 422)])
    def test_a_changed_password_is_bounded(self, service: Service, length: int, status: int) -> None:
        person = service.create_user()
        client = service.client(service.login_user(person))
        path = "/api/v1/user/password"
        new = strong_password(length)
        for old in ("", "x" * 1025):
            refusal = client.json("POST", path, status=422, json={"currentPassword": old, "newPassword": new})
            assert refusal["message"][0]["path"] == ["currentPassword"]
        body = {"currentPassword": "x" * 1024, "newPassword": "cnry-long-enough"}
        assert "password" in client.json("POST", path, status=400, json=body)["message"].lower()
        body = {"currentPassword": person.password, "newPassword": new}
        answer = client.json("POST", path, status=status, json=body)
        if status == 422:
            assert answer["message"][0]["path"] == ["newPassword"]
            assert str(12 if length < 12 else 256) in answer["message"][0]["message"]
        else:
            service.login_user(replace(person, password=new))

    @pytest.mark.parametrize("length", [1, 64])
    def test_the_name_of_a_new_organization_is_bounded(self, tmp_path: Path, length: int) -> None:
        running = start_service(tmp_path / "data", "--bootstrap", "api")
        written = eventually(
            lambda: re.search(r'Bearer ([^"]+)"', running.log.read_text()), awaited="the token on stderr"
        )
        client = running.client(written.group(1))
        body = {"email": "a@example.com", "password": "cnry-long-enough"}
        path = "/api/v1/admin/bootstrap"
        for refused in (0, 65):
            answer = client.json("POST", path, status=422, json={**body, "organization": KEY_SIGN * refused})
            assert answer["message"][0]["path"] == ["organization"]
        made = client.json("POST", path, json={**body, "organization": KEY_SIGN * length})
        assert made["organization"]["name"] == KEY_SIGN * length
        running.stop()


class TestDepths:
    @pytest.mark.parametrize(("depth", "shown"), [(19, True), (20, True), (21, False)])
    def test_a_recursive_list_ends_at_its_depth(
        self, secrets: ProjectSecrets, depth: int, *, shown: bool
    ) -> None:
        path = "/d" * depth
        secrets.folder(path)
        secrets.create("DEEP", "cnry-v", path=path)
        assert bool(secrets.list(recursive="true")) is shown
        assert secrets.list(path="/d", recursive="true"), "counted from the folder that is asked for"

    @pytest.mark.parametrize(("length", "resolved"), [(9, True), (10, True), (11, False)])
    def test_references_are_followed_to_their_depth(
        self, secrets: ProjectSecrets, length: int, *, resolved: bool
    ) -> None:
        secrets.create("K0", "cnry-end")
        for number in range(1, length + 1):
            secrets.create(f"K{number}", f"${{K{number - 1}}}")
        assert secrets.get(f"K{length}")["secretValue"] == ("cnry-end" if resolved else "${K0}")

    @pytest.mark.parametrize(("length", "shown"), [(1, True), (9, True), (10, True), (11, False)])
    def test_imports_are_followed_to_their_depth(
        self, secrets: ProjectSecrets, length: int, *, shown: bool
    ) -> None:
        for number in range(length + 1):
            secrets.folder(f"/f{number}")
        secrets.create("FAR", "cnry-v", path=f"/f{length}")
        for number in range(length):
            source = {"environment": "dev", "path": f"/f{number + 1}"}
            body = {**secrets.at(), "path": f"/f{number}", "import": source}
            secrets.client.json("POST", "/api/v2/secret-imports", json=body)
        params = {**secrets.at(path="/f0"), "includeImports": "true"}
        (block,) = secrets.client.json("GET", "/api/v4/secrets", params=params)["imports"]
        assert bool(block["secrets"]) is shown

    def test_a_folder_may_not_be_renamed_beyond_the_longest_path(self, secrets: ProjectSecrets) -> None:
        top = secrets.folder("/t")
        secrets.folder("/t" + "/" + "/".join(["f" * 99] * 20) + "/" + "g" * 44)
        path = f"/api/v2/folders/{top['id']}"
        secrets.client.json("PATCH", path, json={**secrets.at(), "name": "tt"})
        refusal = secrets.client.json("PATCH", path, status=400, json={**secrets.at(), "name": "ttt"})
        assert "2048" in refusal["message"]


class TestLists:
    @pytest.mark.parametrize("asked", [49, 50, 51])
    def test_no_more_versions_are_shown_at_once(
        self, admin: Client, secrets: ProjectSecrets, asked: int
    ) -> None:
        secret = secrets.create("MANY", "cnry-0")
        for number in range(1, 51):
            secrets.update("MANY", secretValue=f"cnry-{number}")
        path = f"/api/v1/secret/{secret['id']}/secret-versions"
        found = admin.json("GET", path, params={"limit": str(asked)})["secretVersions"]
        assert [version["version"] for version in found] == list(range(51, 51 - min(asked, 50), -1))

    @pytest.mark.parametrize(("count", "shown"), [(19, 19), (20, 20), (21, 20)])
    def test_a_page_of_certificates_holds_twenty_unless_it_is_told(
        self, service: Service, count: int, shown: int
    ) -> None:
        house = IssuingHouse.build(service, issuerType="self-signed", caId=None)
        pki = Pki(house.client, house.project_id)
        for number in range(1, count):
            pki.policy(name=f"p{number}")
            pki.profile(slug=f"s{number}", issuerType="self-signed", certificatePolicyId=house.policy_id)
        for number in range(count):
            pki.application(name=f"a{number}")
            pki.issue(house.profile_id)
        params = {"projectId": house.project_id}
        for path, name in PAGES.items():
            found = pki.call("GET", path.format_map(vars(house)), params=params)
            assert (len(found[name]), found["totalCount"]) == (shown, count), path
        found = house.search()
        assert (len(found["certificateRequests"]), found["totalCount"]) == (shown, count)

    @pytest.mark.parametrize("field", ["subject", "sans"])
    def test_a_policy_has_only_so_many_rules(self, service: Service, field: str) -> None:
        pki = pki_of(service)
        kinds = {"subject": SubjectField, "sans": NameType}[field]
        every = [{"type": kind.value} for kind in kinds]
        # There are fewer types than rules may be, and one of each at most.
        repeated = (every * 20)[:20]

        def make(rules: list[dict[str, str]], status: int) -> Any:  # noqa: ANN401 - JSON
            body = {"projectId": pki.project_id, "name": "p", field: rules}
            return pki.call("POST", "/certificate-policies", status=status, json=body)

        make([], 200)
        make(every, 200)
        (issue,) = make(repeated, 422)["message"]
        assert f"{field} holds more than one rule of a type" in issue["message"]
        (issue,) = make([*repeated, every[0]], 422)["message"]
        assert issue["path"] == [field]
        assert "at most 20" in issue["message"]


class TestSettings:
    @pytest.mark.parametrize("given", ["auth=1/1s", "auth=1000000/1h", "auth=1000000/3600s", "auth=1/60m"])
    def test_a_rate_limit_within_its_bounds_is_taken(self, given: str) -> None:
        limit, *_ = parse_rate_limits([given])
        assert 1 <= limit.requests <= 1_000_000

    @pytest.mark.parametrize(
        "given", ["auth=0/1s", "auth=1000001/1s", "auth=1/0s", "auth=1/3601s", "auth=1/61m", "auth=1/2h"]
    )
    def test_a_rate_limit_beyond_its_bounds_is_refused_with_them(self, given: str) -> None:
        with pytest.raises(ConfigurationError, match="N is 1 to 1000000, and the window 1s to 1h"):
            parse_rate_limits([given])


CLASSES = (TestCharacters, TestWholeRequests, TestPeople, TestDepths, TestLists, TestSettings)
