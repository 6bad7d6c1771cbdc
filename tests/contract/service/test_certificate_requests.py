"""Certificate requests over HTTP: one, pages of them, and their end (interface.md 2.5 and 4.6, wire.md 5.2)."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any
from uuid import uuid4

import pytest

from support.issuing_house import PKI, REQUESTS, IssuingHouse, csr_of
from support.rows import each_row
from support.service_fixtures import Service

pytestmark = pytest.mark.every_database


@pytest.fixture
def house(service: Service) -> IssuingHouse:
    return IssuingHouse.build(service)


def _ids(page: dict[str, Any]) -> list[str]:
    return [one["id"] for one in page["certificateRequests"]]


def test_a_request_is_told_flat_with_its_certificate(house: IssuingHouse) -> None:
    answer = house.issue({"commonName": "a", "organization": "O", "country": "DE"})
    request = house.request(answer["certificateRequestId"])
    issued = answer["certificate"]
    assert request["status"] == "issued"
    assert request["certificate"] == issued["certificate"]
    assert request["privateKey"] == issued["privateKey"]
    assert request["certificateChain"] == issued["certificateChain"]
    assert request["issuingCaCertificate"] == issued["issuingCaCertificate"]
    assert request["serialNumber"] == issued["serialNumber"]
    assert (request["commonName"], request["organization"], request["country"]) == ("a", "O", "DE")
    assert (request["state"], request["errorMessage"]) == (None, None)


def test_who_may_not_read_keys_sees_requests_without_them(service: Service, house: IssuingHouse) -> None:
    issued = house.issue({"commonName": "a"})
    viewer = service.client(service.login(service.create_identity(roles={house.project_id: "viewer"})))
    request = viewer.json("GET", f"{REQUESTS}/{issued['certificateRequestId']}")
    assert request["privateKey"] is None
    assert request["certificate"] == issued["certificate"]["certificate"]
    viewer.json("POST", f"{REQUESTS}/{issued['certificateRequestId']}/cancel", status=403)


def test_a_list_tells_each_request_as_the_interface_has_it(house: IssuingHouse) -> None:
    answer = house.issue({"commonName": "a", "altNames": [{"value": "a.example.com"}, {"value": "10.0.0.1"}]})
    [listed] = house.search()["certificateRequests"]
    profile = house.client.json("GET", f"{PKI}/certificate-profiles/{house.profile_id}")
    expected = {
        "id": answer["certificateRequestId"],
        "status": "issued",
        "commonName": "a",
        "altNames": "a.example.com,10.0.0.1",
        "profileId": house.profile_id,
        "profileName": profile["certificateProfile"]["slug"],
        "caId": house.authority_id,
        "certificateId": answer["certificate"]["certificateId"],
    }
    assert {name: listed[name] for name in expected} == expected
    assert listed["certificate"] == {
        "id": expected["certificateId"],
        "serialNumber": answer["certificate"]["serialNumber"],
        "status": "active",
    }
    assert {"approvalRequestId", "errorMessage", "pendingMessage"}.isdisjoint(listed)


def test_requests_are_found_by_all_of_their_metadata(house: IssuingHouse) -> None:
    def metadata(**pairs: str) -> list[dict[str, str]]:
        return [{"key": key, "value": value} for key, value in pairs.items()]

    first = house.issue({"commonName": "a"}, metadata=metadata(uid="1", revision="1"))
    second = house.issue({"commonName": "b"}, metadata=metadata(uid="1", revision="2"))
    house.issue({"commonName": "c"}, metadata=[{"key": "uid"}])
    found = house.search(metadata=metadata(uid="1", revision="2"))
    assert _ids(found) == [second["certificateRequestId"]]
    both = house.search(metadata=metadata(uid="1"), sortOrder="asc")
    assert _ids(both) == [first["certificateRequestId"], second["certificateRequestId"]]
    assert house.search(metadata=metadata(uid="")).get("totalCount") == 1
    assert house.search(metadata=metadata(uid="2"))["totalCount"] == 0


def test_the_same_metadata_twice_is_two_requests_and_each_is_found_at_once(house: IssuingHouse) -> None:
    mark = [{"key": "uid", "value": uuid4().hex}]
    csr = csr_of("a.example.com")

    def ask(_: int) -> str:
        answer = house.issue({"ttl": "1d"}, csr=csr, metadata=mark)
        assert answer["certificateRequestId"] in _ids(house.search(metadata=mark))
        return str(answer["certificateRequestId"])

    with ThreadPoolExecutor(2) as pool:
        asked = set(pool.map(ask, range(2)))
    assert set(_ids(house.search(metadata=mark))) == asked
    assert len(asked) == 2


@pytest.mark.parametrize(
    ("wanted", "names"),
    [
        pytest.param({"search": "ALPHA"}, ["alpha"], id="part of the common name"),
        pytest.param({"search": "beta.example"}, ["beta"], id="part of an alternative name"),
        pytest.param({"search": "%"}, [], id="no wildcard"),
        pytest.param(
            {"status": "issued", "sortBy": "commonName", "sortOrder": "asc"}, ["alpha", "beta"], id="status"
        ),
        pytest.param({"status": "failed"}, [], id="another status"),
        pytest.param({"sortBy": "commonName"}, ["beta", "alpha"], id="descending unless told"),
        pytest.param({"fromDate": "2999-01-01T00:00:00Z"}, [], id="from then on"),
        pytest.param({"toDate": "1999-01-01T00:00:00.000Z"}, [], id="until then"),
        pytest.param({"offset": 1, "sortBy": "commonName", "sortOrder": "asc"}, ["beta"], id="offset"),
        pytest.param({"limit": 1, "sortBy": "commonName", "sortOrder": "asc"}, ["alpha"], id="limit"),
        pytest.param({"profileIds": [str(uuid4())]}, [], id="other profiles"),
        pytest.param({"profileIds": []}, [], id="no profiles at all"),
    ],
)
def test_each_filter_holds(house: IssuingHouse, wanted: dict[str, Any], names: list[str]) -> None:
    for name in ("alpha", "beta"):
        house.issue({"commonName": name, "altNames": [{"value": f"{name}.example.com"}]})
    found = house.search(**wanted)["certificateRequests"]
    assert [one["commonName"] for one in found] == names
    query = {name: ",".join(value) if isinstance(value, list) else value for name, value in wanted.items()}
    if wanted.get("profileIds") != []:
        older = house.client.json("GET", REQUESTS, params={"projectId": house.project_id, **query})
        assert [one["commonName"] for one in older["certificateRequests"]] == names


def test_requests_of_an_application_are_those_of_its_profiles(house: IssuingHouse) -> None:
    other = house.profile(defaults={"ttlDays": 1, "keyAlgorithm": "EC_prime256v1"})
    mine = house.issue({"commonName": "a"})
    house.issue({"commonName": "b"}, profileId=other)
    body = {"name": f"app-{uuid4().hex[:8]}", "projectId": house.project_id, "profileIds": [house.profile_id]}
    application = house.client.json("POST", f"{PKI}/applications", json=body)["application"]["id"]
    assert _ids(house.search(applicationId=application)) == [mine["certificateRequestId"]]


@each_row(
    ("body", "answered"),
    [
        pytest.param({"limit": 0}, 422, id="limit below"),
        pytest.param({"limit": 1}, 200, id="least limit"),
        pytest.param({"limit": 100}, 200, id="greatest limit"),
        pytest.param({"limit": 101}, 422, id="limit above"),
        pytest.param({"offset": -1}, 422, id="offset below"),
        pytest.param({"offset": 0}, 200, id="least offset"),
        pytest.param({"limit": "20"}, 422, id="a text is no number"),
        pytest.param({"limit": 1.5}, 422, id="no whole number"),
        pytest.param({"fromDate": "yesterday"}, 422, id="no date"),
        pytest.param({"status": "done"}, 422, id="no status"),
        pytest.param({"sortBy": "id"}, 422, id="no such column"),
        pytest.param({"sortOrder": "up"}, 422, id="no such order"),
        pytest.param({"profileIds": ["web"]}, 422, id="no uuid"),
        pytest.param({"applicationId": "app"}, 422, id="no uuid either"),
        pytest.param({"unheardOf": 1}, 200, id="an unknown key is ignored"),
    ],
)
def test_bounds_of_a_search(house: IssuingHouse, body: dict[str, Any], answered: int) -> None:
    house.search(answered=answered, **body)


def test_the_older_list_takes_the_projects_slug(service: Service, house: IssuingHouse) -> None:
    issued = house.issue({"commonName": "a"})["certificateRequestId"]
    slug = house.client.json("GET", f"/api/v1/projects/{house.project_id}")["project"]["slug"]
    assert _ids(house.client.json("GET", REQUESTS, params={"projectSlug": slug})) == [issued]
    house.client.json("GET", REQUESTS, params={"projectSlug": "unheard-of"}, status=404)
    stranger = service.client(service.login(service.create_identity()))
    stranger.json("GET", REQUESTS, params={"projectSlug": slug}, status=403)


def test_what_is_over_is_not_cancelled(house: IssuingHouse) -> None:
    issued = house.issue({"commonName": "a"})["certificateRequestId"]
    answer = house.client.json("POST", f"{REQUESTS}/{issued}/cancel")
    assert answer == {"status": "issued", "cancelled": False}
    house.client.json("POST", f"{REQUESTS}/{uuid4()}/cancel", status=404)
