"""Policies are made of patterns, profiles of names, and whose agreement is needed is said in one step."""

from __future__ import annotations

from pathlib import Path

import pytest

from keybearer.base.errors import ConfigurationError
from keybearer.cli.failures import ExitStatus
from keybearer.cli.policies import name_rules
from keybearer.client import NameRule
from support.scripted_server import Reply
from unit.cli.certificate_replies import AUTHORITIES, AUTHORITY, BY_SLUG, POLICY, PROFILE, run


async def test_a_second_policy_of_a_name_is_refused_before_the_service_makes_it_under_another(
    tmp_path: Path,
) -> None:
    there = Reply(body={"certificatePolicies": [POLICY], "totalCount": 1})
    asks = await run(tmp_path, "policies", "create", "web", replies=(there,))
    assert asks.answer.status == 7
    assert "there is a policy web already\n  keybearer policies show web" in asks.answer.stderr
    assert [line for line in asks.lines if line.startswith("POST")] == []


async def test_a_policy_is_made_of_patterns(tmp_path: Path) -> None:
    asks = await run(
        tmp_path,
        *("policies", "create", "web", "--allow", "dns_name=*.example.com", "--deny", "common_name=root"),
        *("--usage", "server_auth", "--key-algorithm", "EC_prime256v1", "--max-ttl", "90d"),
        *("--max-backdate", "1d", "--max-postdate", "2h", "--wildcards", "allowed"),
        replies=(
            Reply(body={"certificatePolicies": [], "totalCount": 0}),
            Reply(body={"certificatePolicy": POLICY}),
        ),
    )
    assert asks.answer.status == 0, asks.answer.stderr
    assert asks.bodies[-1] == {
        "name": "web",
        "subject": [{"type": "common_name", "denied": ["root"]}],
        "sans": [{"type": "dns_name", "allowed": ["*.example.com"]}],
        "extendedKeyUsages": {"allowed": ["server_auth"]},
        "algorithms": {"keyAlgorithm": ["ECDSA-P256"]},
        "validity": {"max": "90d", "maxBackdate": "1d", "maxPostdate": "2h"},
        "wildcards": "allowed",
        "basicConstraints": {"isCA": "denied"},
    }


async def test_a_change_of_a_policy_keeps_what_it_does_not_name(tmp_path: Path) -> None:
    mail = {"type": "email", "allowed": ["*@example.com"]}
    present = {
        **POLICY,
        "subject": [{"type": "common_name", "allowed": ["*"]}],
        "sans": [
            {"type": "dns_name", "allowed": ["*.example.com"], "denied": ["old.example.com"]},
            mail,
        ],
        "extendedKeyUsages": {"allowed": ["client_auth"], "denied": ["code_signing"]},
        "validity": {"max": "90d", "maxBackdate": "1d"},
    }
    changed = {**present, "sans": [{"type": "dns_name", "allowed": ["*.example.org"]}, mail]}
    replies = (
        Reply(body={"certificatePolicies": [present], "totalCount": 1}),
        Reply(body={"certificatePolicy": changed}),
    )
    asks = await run(
        tmp_path,
        *("policies", "update", "web", "--allow", "dns_name=*.example.org", "--usage", "server_auth"),
        *("--max-ttl", "47d", "--description", ""),
        replies=replies,
    )
    assert asks.answer.status == 0, asks.answer.stderr
    assert asks.lines[-1] == f"PATCH certificate-policies/{POLICY['id']}"
    assert asks.bodies[-1] == {
        "description": None,
        "sans": [
            {"type": "email", "allowed": ["*@example.com"]},
            {"type": "dns_name", "allowed": ["*.example.org"]},
        ],
        "extendedKeyUsages": {"allowed": ["server_auth"], "denied": ["code_signing"]},
        "validity": {"max": "47d", "maxBackdate": "1d"},
    }
    assert (
        asks.answer.stderr == "Policy web is changed.\nBefore: dns_name *.example.com; not: old.example.com\n"
    )
    nothing = await run(tmp_path, "policies", "update", "web", replies=replies)
    assert (nothing.answer.status, nothing.lines) == (ExitStatus.USAGE, [])


async def test_a_profile_is_made_of_names(tmp_path: Path) -> None:
    policies = Reply(body={"certificatePolicies": [POLICY], "totalCount": 1})
    asks = await run(
        tmp_path,
        *("profiles", "create", "web", "--policy", "web", "--ca", "issuing", "--ttl-days", "30"),
        *("--auto-renew", "10"),
        replies=(policies, AUTHORITIES, BY_SLUG),
    )
    assert asks.answer.status == 0, asks.answer.stderr
    assert asks.bodies[-1] == {
        "certificatePolicyId": POLICY["id"],
        "caId": AUTHORITY["id"],
        "slug": "web",
        "issuerType": "ca",
        "apiConfig": {"autoRenew": True, "renewBeforeDays": 10},
        "defaults": {"ttlDays": 30},
    }
    neither = await run(tmp_path, "profiles", "create", "web", "--policy", "web", replies=(policies,))
    assert (neither.answer.status, neither.lines) == (ExitStatus.USAGE, [])


AGREEMENT = {"id": "g-1", "profileId": PROFILE["id"], "requiredApprovals": 2}


@pytest.mark.parametrize(
    ("present", "asked", "sent"),
    [
        pytest.param([], "POST approval-policies", {"profileId": PROFILE["id"]}, id="of nobody before"),
        pytest.param([AGREEMENT], "PATCH approval-policies/g-1", {"enabled": True}, id="of others before"),
    ],
)
async def test_whose_agreement_is_needed_is_said_in_one_step(
    tmp_path: Path, present: list[dict[str, object]], asked: str, sent: dict[str, object]
) -> None:
    asks = await run(
        tmp_path,
        *("profiles", "approval", "web", "--required", "2", "--approver", "u-1", "--request-ttl", "7d"),
        replies=(
            BY_SLUG,
            Reply(body={"certificateProfile": PROFILE, "certificatePolicy": {**POLICY, "projectId": "p-1"}}),
            Reply(body={"approvalPolicies": present}),
            Reply(body={"approvalPolicy": AGREEMENT}),
        ),
    )
    assert asks.answer.status == 0, asks.answer.stderr
    assert asks.lines[2:] == [f"GET approval-policies?projectId=p-1&profileId={PROFILE['id']}", asked]
    assert asks.bodies[-1] == {
        "requiredApprovals": 2,
        "approverIds": ["u-1"],
        "bypassIdentityIds": [],
        "allowSelfApproval": False,
        "requestTtl": "7d",
        **sent,
    }


async def test_agreement_that_is_refused_leaves_what_was_agreed_before(tmp_path: Path) -> None:
    refused = Reply(
        status=400, body={"message": "too few", "error": "BadRequest", "statusCode": 400, "reqId": "x"}
    )
    asks = await run(
        tmp_path,
        *("profiles", "approval", "web", "--required", "2", "--approver", "u-1"),
        replies=(
            BY_SLUG,
            Reply(body={"certificateProfile": PROFILE}),
            Reply(body={"approvalPolicies": [AGREEMENT]}),
            refused,
        ),
    )
    assert asks.answer.status == ExitStatus.REFUSED
    assert asks.lines[3:] == ["PATCH approval-policies/g-1"]
    assert asks.bodies[-1]["requestTtl"] is None


def test_rules_are_sorted_by_where_names_stand() -> None:
    subject, others = name_rules(
        ["dns_name=*.a.example", "dns_name=*.b.example", "common_name=*"],
        ["organization=Shop"],
        ["dns_name=x=y"],
    )
    assert subject == [
        NameRule(type="common_name", allowed=["*"]),
        NameRule(type="organization", required=["Shop"]),
    ]
    assert others == [NameRule(type="dns_name", allowed=["*.a.example", "*.b.example"], denied=["x=y"])]
    for word in ("dns_name", "dns_name=", "host=a", "=a"):
        with pytest.raises(ConfigurationError, match="TYPE=PATTERN"):
            name_rules([word], None, None)


async def test_who_binds_profiles_to_a_policy_is_said_and_which_authorities_are_its_own(
    tmp_path: Path,
) -> None:
    policies = Reply(body={"certificatePolicies": [POLICY], "totalCount": 1})
    bound = Reply(body={"binding": {"profilesBoundBy": "members", "caIds": [AUTHORITY["id"]]}})
    asks = await run(
        tmp_path,
        *("policies", "bind", "web", "--profiles-by", "members", "--authority", "issuing"),
        replies=(policies, AUTHORITIES, bound),
    )
    assert asks.answer.status == 0, asks.answer.stderr
    assert asks.bodies[-1] == {"profilesBoundBy": "members", "caIds": [AUTHORITY["id"]]}
    assert "members" in asks.answer.stdout


async def test_a_policy_is_shown_with_who_binds_profiles_to_it(tmp_path: Path) -> None:
    policies = Reply(body={"certificatePolicies": [POLICY], "totalCount": 1})
    bound = Reply(body={"binding": {"profilesBoundBy": "admins", "caIds": []}})
    asks = await run(tmp_path, "policies", "show", "web", replies=(policies, bound))
    assert asks.answer.status == 0, asks.answer.stderr
    assert "profiles bound by" in asks.answer.stdout
