"""Certificate policies as they are kept (wire.md section 5.5); what they say is in the unit tests of their rules."""

from __future__ import annotations

from typing import Any
from uuid import uuid4

import pytest

from support.pki_house import Pki, pki_of
from support.rows import each_row
from support.service_fixtures import Service

pytestmark = pytest.mark.every_database

RULES: dict[str, Any] = {
    "subject": [
        {"type": "common_name", "allowed": ["*.example.com"], "denied": ["bad.example.com"]},
        {"type": "country", "required": ["DE"]},
        {"type": "domain_component", "allowed": []},
    ],
    "sans": [{"type": "dns_name", "allowed": ["*.example.com"]}, {"type": "upn", "denied": ["*"]}],
    "keyUsages": {"allowed": ["digital_signature"], "required": ["digitalSignature"]},
    "extendedKeyUsages": {"denied": ["code_signing"]},
    "algorithms": {
        "signature": ["SHA256-RSA", "ECDSA-SHA256"],
        "keyAlgorithm": ["RSA-2048", "EC_prime256v1"],
    },
    "validity": {"max": "90d"},
    "basicConstraints": {"isCA": "denied", "maxPathLength": -1},
}


@pytest.fixture
def pki(service: Service) -> Pki:
    return pki_of(service)


def test_a_policy_comes_back_as_it_was_given(pki: Pki) -> None:
    made = pki.policy(name="Web-Servers", description="for the web", **RULES)
    assert made["name"] == "web-servers"
    assert made["description"] == "for the web"
    assert {name: made[name] for name in RULES} == RULES
    assert pki.call("GET", f"/certificate-policies/{made['id']}")["certificatePolicy"] == made


def test_a_rule_that_is_left_out_isnt_there_and_an_empty_one_is(pki: Pki) -> None:
    made = pki.policy(sans=[], keyUsages={}, algorithms=None)
    assert made["sans"] == []
    assert made["keyUsages"] == {}
    assert "subject" not in made
    assert "algorithms" not in made


def test_a_change_leaves_what_it_doesnt_name(pki: Pki) -> None:
    made = pki.policy(**RULES, description="d")
    path = f"/certificate-policies/{made['id']}"
    changed = pki.call("PATCH", path, json={"validity": {"max": "1y"}, "sans": None})["certificatePolicy"]
    assert changed["validity"] == {"max": "1y"}
    assert "sans" not in changed
    assert changed["subject"] == RULES["subject"]
    assert changed["description"] == "d"
    changed = pki.call("PATCH", path, json={"description": None, "name": "other"})["certificatePolicy"]
    assert changed["description"] is None
    assert changed["name"] == "other"


def test_a_name_that_is_taken_gets_a_suffix(pki: Pki) -> None:
    first, second = pki.policy(name="same"), pki.policy(name="same")
    assert first["name"] == "same"
    assert second["name"].startswith("same-")
    refused = pki.call("PATCH", f"/certificate-policies/{second['id']}", status=400, json={"name": "same"})
    assert "already exists" in refused["message"]


def test_lists_come_in_pages(pki: Pki) -> None:
    for name in ("web-b", "web-a", "mail"):
        pki.policy(name=name)
    query = {"projectId": pki.project_id}

    def names(**more: object) -> tuple[list[str], int]:
        found = pki.call("GET", "/certificate-policies", params={**query, **more})
        return [one["name"] for one in found["certificatePolicies"]], found["totalCount"]

    assert names() == (["mail", "web-a", "web-b"], 3)
    assert names(search="WEB") == (["web-a", "web-b"], 2)
    assert names(search="%") == ([], 0)
    assert names(limit=1, offset=1) == (["web-a"], 3)
    for wrong in ({"limit": 0}, {"limit": 101}, {"offset": -1}):
        pki.call("GET", "/certificate-policies", status=422, params={**query, **wrong})
    assert names(limit=100) == names()


def test_deletion_waits_for_profiles(pki: Pki) -> None:
    made = pki.policy()
    profile = pki.profile(certificatePolicyId=made["id"])
    path = f"/certificate-policies/{made['id']}"
    assert "in use" in pki.call("DELETE", path, status=400)["message"]
    pki.call("DELETE", f"/certificate-profiles/{profile['id']}")
    assert pki.call("DELETE", path)["certificatePolicy"] == made
    assert pki.call("GET", path, status=404)["message"] == "Certificate policy not found"


WRONG: dict[str, dict[str, Any]] = {
    "an unknown subject field": {"subject": [{"type": "serial"}]},
    "a subject field twice": {"subject": [{"type": "country"}, {"type": "country"}]},
    "an unknown kind of name": {"sans": [{"type": "DNS"}]},
    "an empty value": {"sans": [{"type": "uri", "allowed": [""]}]},
    "a value of 256": {"sans": [{"type": "uri", "allowed": ["x" * 256]}]},
    "no word for wildcards": {"wildcards": "required"},
    "no time before now": {"validity": {"maxBackdate": "soon"}},
    "many wildcards": {"sans": [{"type": "uri", "allowed": ["*a" * 17]}]},
    "an unknown usage": {"keyUsages": {"allowed": ["sign"]}},
    "an unknown extended usage": {"extendedKeyUsages": {"allowed": ["digital_signature"]}},
    "an unknown algorithm": {"algorithms": {"keyAlgorithm": ["Ed25519"]}},
    "no validity": {"validity": {"max": "long"}},
    "a validity in weeks": {"validity": {"max": "1w"}},
    "a path below any": {"basicConstraints": {"maxPathLength": -2}},
    "an unknown word of a CA": {"basicConstraints": {"isCA": True}},
    "a name of 256": {"name": "x" * 256},
    "no slug": {"name": "with space"},
}


@each_row("fields", WRONG.values(), ids=WRONG)
def test_what_no_policy_holds_is_422(pki: Pki, fields: dict[str, Any]) -> None:
    pki.policy(status=422, **fields)


def test_members_read_policies_and_admins_write_them(service: Service, pki: Pki) -> None:
    made = pki.policy()
    member = Pki(
        service.client(service.login(service.create_identity(roles={pki.project_id: "member"}))),
        pki.project_id,
    )
    path = f"/certificate-policies/{made['id']}"
    assert member.call("GET", path)["certificatePolicy"] == made
    for refused in (
        member.policy(status=403),
        member.call("PATCH", path, status=403, json={}),
        member.call("DELETE", path, status=403),
    ):
        assert refused["details"][0]["subject"] == "certificate-policies"
    stranger = Pki(service.client(service.login(service.create_identity())), pki.project_id)
    stranger.call("GET", path, status=403)


@pytest.mark.parametrize("method", ["GET", "PATCH", "DELETE"])
def test_one_that_isnt_there_is_404_and_no_id_422(pki: Pki, method: str) -> None:
    body: dict[str, Any] | None = {} if method == "PATCH" else None
    pki.call(method, f"/certificate-policies/{uuid4()}", status=404, json=body)
    pki.call(method, "/certificate-policies/nonsense", status=422, json=body)
