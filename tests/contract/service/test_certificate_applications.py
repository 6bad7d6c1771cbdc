"""Applications, and the profiles attached to them (wire.md section 5.7)."""

from __future__ import annotations

from typing import Any
from uuid import uuid4

import pytest

from support.pki_house import Pki, pki_of
from support.service_fixtures import Service

pytestmark = pytest.mark.every_database

CONFIGS: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "api": ({"autoRenew": True, "renewBeforeDays": 5}, {"autoRenew": True, "renewBeforeDays": 5}),
    "est": (
        {"passphrase": "cnry-pass", "caChain": "PEM"},
        {"disableBootstrapCaValidation": False, "caChain": "PEM"},
    ),
    "acme": ({}, {"skipDnsOwnershipVerification": False, "skipEabBinding": False}),
    "scep": (
        {"challengePassword": "cnry-challenge", "includeCaCertInResponse": False},
        {"includeCaCertInResponse": False, "allowCertBasedRenewal": True},
    ),
}


@pytest.fixture
def pki(service: Service) -> Pki:
    return pki_of(service)


def test_an_application_is_made_found_changed_and_deleted(pki: Pki) -> None:
    made = pki.application(name="Shop", description="sells")
    assert made["name"] == "shop"
    path, query = f"/applications/{made['id']}", {"projectId": pki.project_id}
    assert pki.call("GET", path)["application"] == made
    assert pki.call("GET", "/applications/by-name/shop", params=query)["application"] == made
    listed = pki.call("GET", "/applications", params=query)
    assert listed == {"applications": [made], "totalCount": 1}
    changed = pki.call("PATCH", path, json={"description": None})["application"]
    assert changed["description"] is None
    assert changed["name"] == "shop"
    assert pki.call("DELETE", path)["application"] == changed
    pki.call("GET", path, status=404)
    pki.call("GET", "/applications/by-name/shop", status=404, params=query)


def test_a_name_is_taken_once(pki: Pki) -> None:
    pki.application(name="same")
    body = {"projectId": pki.project_id, "name": "same"}
    assert "already exists" in pki.call("POST", "/applications", status=400, json=body)["message"]
    other = pki.application()
    pki.call("PATCH", f"/applications/{other['id']}", status=400, json={"name": "same"})


def test_profiles_are_attached_and_detached(pki: Pki) -> None:
    web, mail = pki.profile(slug="web", description="d"), pki.profile(slug="mail")
    made = pki.application(web["id"])
    path = f"/applications/{made['id']}/profiles"
    attached = pki.call("POST", path, json={"profileIds": [mail["id"], web["id"]]})["profiles"]
    assert [(one["profileSlug"], one["profileDescription"]) for one in attached] == [
        ("mail", None),
        ("web", "d"),
    ]
    assert pki.call("GET", path)["profiles"] == attached
    gone = pki.call("DELETE", f"{path}/{web['id']}")
    assert gone == {"applicationId": made["id"], "profileId": web["id"]}
    pki.call("DELETE", f"{path}/{web['id']}", status=404)
    assert [one["profileSlug"] for one in pki.call("GET", path)["profiles"]] == ["mail"]
    pki.call("POST", path, status=404, json={"profileIds": [str(uuid4())]})
    pki.call("POST", path, status=422, json={"profileIds": []})


def test_profiles_of_other_projects_arent_attached(service: Service, pki: Pki) -> None:
    elsewhere = pki_of(service).profile()
    body = {"projectId": pki.project_id, "name": "x", "profileIds": [elsewhere["id"]]}
    assert (
        pki.call("POST", "/applications", status=404, json=body)["message"] == "Certificate profile not found"
    )


@pytest.mark.parametrize("kind", CONFIGS)
def test_each_way_of_enrollment_is_set_shown_and_taken_away(pki: Pki, kind: str) -> None:
    given, shown = CONFIGS[kind]
    profile = pki.profile()
    made = pki.application(profile["id"])
    path = f"/applications/{made['id']}/profiles/{profile['id']}/enrollment"
    pair = {"applicationId": made["id"], "profileId": profile["id"]}
    before = pki.call("GET", path)
    assert before == {
        **pair,
        **dict.fromkeys(CONFIGS),
        "estConfigured": False,
        "acmeConfigured": False,
        "scepConfigured": False,
    }
    answer = pki.call("PUT", f"{path}/{kind}", json=given)
    assert answer[kind] == {"id": answer[kind]["id"], **shown}
    again = pki.call("PUT", f"{path}/{kind}", json=given)
    assert again == answer
    set_now = pki.call("GET", path)
    assert set_now[kind] == answer[kind]
    assert set_now.get(f"{kind}Configured", True) is True
    attached = pki.call("GET", f"/applications/{made['id']}/profiles")["profiles"][0]
    assert attached[f"{kind}ConfigId"] == answer[kind]["id"]
    assert pki.call("DELETE", f"{path}/{kind}") == {**pair, kind: None}
    assert pki.call("GET", path) == before


def test_enrollment_is_of_what_is_attached(pki: Pki) -> None:
    profile, made = pki.profile(), pki.application()
    path = f"/applications/{made['id']}/profiles/{profile['id']}/enrollment"
    assert "not attached" in pki.call("GET", path, status=404)["message"]
    pki.call("PUT", f"{path}/api", status=404, json={})
    pki.call("PUT", f"{path}/api", status=422, json={"renewBeforeDays": 31})
    pki.call("DELETE", f"{path}/cmp", status=422)


def test_certificates_are_issued_for_an_application(pki: Pki) -> None:
    profile, other = pki.profile(), pki.profile()
    made = pki.application(profile["id"])
    issued = pki.issue(profile["id"], applicationId=made["id"])["certificate"]
    found = pki.call("GET", f"/certificates/{issued['certificateId']}")["certificate"]
    assert found["applicationId"] == made["id"]
    assert "not attached" in pki.issue(other["id"], status=400, applicationId=made["id"])["message"]
    pki.call("DELETE", f"/applications/{made['id']}")
    assert pki.call("GET", f"/certificates/{issued['certificateId']}")["certificate"]["applicationId"] is None


def test_viewers_change_nothing(service: Service, pki: Pki) -> None:
    profile = pki.profile()
    made = pki.application(profile["id"])
    identity = service.create_identity(roles={pki.project_id: "viewer"})
    viewer = Pki(service.client(service.login(identity)), pki.project_id)
    path = f"/applications/{made['id']}"
    assert viewer.call("GET", path)["application"] == made
    for method, at, body in (
        ("POST", "/applications", {"name": "x", "projectId": pki.project_id}),
        ("PATCH", path, {}),
        ("DELETE", path, None),
        ("POST", f"{path}/profiles", {"profileIds": [profile["id"]]}),
        ("DELETE", f"{path}/profiles/{profile['id']}", None),
        ("PUT", f"{path}/profiles/{profile['id']}/enrollment/api", {}),
        ("DELETE", f"{path}/profiles/{profile['id']}/enrollment/api", None),
    ):
        refused = viewer.call(method, at, status=403, json=body)
        assert refused["details"][0]["subject"] == "certificate-applications"
