"""AppConnections and CertificateProfiles in words: what is wrong and what to do, for every reason there is."""

from __future__ import annotations

from typing import Any

import pytest

from keybearer.cli.explanation_of_connection import explain_connection, secrets_of_connection
from keybearer.cli.explanation_of_profile import explain_profile, secrets_of_profile
from keybearer.cli.explanation_parts import Explanation, SeenObject
from keybearer.controllers.certificateprofile.reasons import Reason as ProfileReason
from support.rows import each_row

IDENTITY = {"reader": SeenObject(("clientId", "clientSecret"))}
LOGIN = {**IDENTITY, "login": SeenObject(("password", "user"))}


def ready(status: str = "True", reason: str = "Connected", **more: object) -> dict[str, Any]:
    condition = {
        "type": "Ready",
        "status": status,
        "reason": reason,
        "message": "why",
        "lastTransitionTime": "2026-01-02T03:04:05Z",
    }
    return {"observedGeneration": 1, "conditions": [condition], **more}


def connection(status: dict[str, Any] | None = None, generation: int = 1, **spec: object) -> dict[str, Any]:
    from_secret = {"valueFrom": {"secretKeyRef": {"name": "login", "key": "password"}}}
    whole = {
        "identityRef": {"name": "reader"},
        "projectSlug": "shop",
        "app": "idp",
        "method": "client-credentials",
        "credentials": {"clientSecret": from_secret, "domain": {"value": "shop.example"}},
        **spec,
    }
    return {
        "metadata": {"name": "store", "namespace": "team-a", "generation": generation},
        "spec": {key: value for key, value in whole.items() if value is not None},
        "status": status or {"observedGeneration": -1},
    }


def profile(status: dict[str, Any] | None = None, generation: int = 1, **spec: object) -> dict[str, Any]:
    whole = {
        "identityRef": {"name": "reader"},
        "projectSlug": "pki",
        "policyRef": {"name": "web"},
        "caRef": {"name": "issuing"},
        "certificates": [{"name": "front", "revokeOnDelete": True}, {"name": "back", "secretName": "tls"}],
        **spec,
    }
    return {
        "metadata": {"name": "web", "namespace": "team-a", "generation": generation},
        "spec": {key: value for key, value in whole.items() if value is not None},
        "status": status or {"observedGeneration": -1},
    }


def whole(told: Explanation) -> str:
    return "\n".join([*told.reads, *told.writes, *told.stands, *told.wrong, *told.next_steps])


def test_what_the_operator_diagnosed_is_the_next_step() -> None:
    status = ready("False", "ConnectionRefused", diagnosis={"turn": "User", "step": "Correct the address."})
    told = explain_connection(connection(status), LOGIN)
    assert (told.wrong, told.next_steps) == (["ConnectionRefused: why"], ["Correct the address."])
    told = explain_profile(profile(status), IDENTITY)
    assert (told.wrong, told.next_steps) == (["ConnectionRefused: why"], ["Correct the address."])


@each_row("reason", [one for one in ProfileReason if one is not ProfileReason.ISSUED])
def test_each_reason_of_a_single_certificate_has_a_next_step(reason: ProfileReason) -> None:
    entry = {
        "name": "front",
        "secretName": "front",
        "reason": reason,
        "message": "so it is",
        "nextAttemptTime": "2026-02-01T00:00:00Z",
    }
    told = explain_profile(profile(ready(certificateRequests=[entry])), IDENTITY)
    assert told.wrong == [f"Certificate front: {reason}: so it is (asked again 2026-02-01T00:00:00+00:00)"]
    assert len(told.next_steps) == 1
    assert "{" not in told.next_steps[0]


def test_each_stored_certificate_says_until_when_it_is_valid() -> None:
    entries = [
        {
            "name": f"c{number}",
            "secretName": f"tls-{number}",
            "notAfter": f"2026-03-{number + 1:02}T00:00:00Z",
            "renewalTime": f"2026-02-{number + 1:02}T00:00:00Z",
        }
        for number in range(22)
    ]
    entries[0]["revoked"] = True  # type: ignore[assignment] # a truth among texts
    status = ready(
        reason="Issued", issued="22/22", certificateRequests=[{"name": "n", "secretName": "n"}, *entries]
    )
    stands = explain_profile(profile(status), IDENTITY).stands
    ends = [line for line in stands if line.startswith("Certificate ")]
    assert len(ends) == 20
    assert ends[1] == (
        "Certificate c1 in Secret tls-1 is valid until 2026-03-02T00:00:00+00:00, "
        "renewed 2026-02-02T00:00:00+00:00."
    )
    assert ends[0].endswith("; it is revoked.")
    assert stands[-1] == "2 further certificates; the first of them ends 2026-03-21T00:00:00+00:00."


def test_a_healthy_connection_needs_nothing_and_names_no_value() -> None:
    told = explain_connection(connection(ready(id="c1")), LOGIN)
    assert (told.wrong, told.next_steps) == ([], [])
    assert "Credential clientSecret comes from key password of Secret login." in told.reads
    assert "Written in the spec: domain." in told.reads
    assert told.writes == [
        "Connection store of project shop in the service leads to idp by client-credentials."
    ]
    assert "shop.example" not in whole(told)


def test_a_connection_says_what_is_missing_and_what_to_create() -> None:
    told = explain_connection(connection(ready()), {"reader": None, "login": SeenObject(("user",))})
    assert told.wrong == [
        "There is no Secret reader in namespace team-a.",
        "Secret login has no key password, which credential clientSecret comes from.",
    ]
    assert told.next_steps == [
        "Create the Secret reader: keybearer identities create makes a machine identity.",
        "Put the key password into Secret login, or correct spec.credentials.clientSecret.",
    ]
    hidden = SeenObject((), is_hidden=True)
    assert explain_connection(connection(ready()), {"reader": hidden, "login": hidden}).wrong == []
    told = explain_connection(connection(ready()), {**IDENTITY, "login": None})
    assert told.next_steps == ["Create the Secret login."]


def test_a_rotation_is_told_and_one_that_failed_is_wrong() -> None:
    rotation = {"status": "failed", "message": "the app said no", "nextRotationAt": "2026-03-01T00:00:00Z"}
    spec: dict[str, Any] = {
        "rotation": {"rotationInterval": 30, "rotateAtUtc": {"hours": 1, "minutes": 0}},
        "onDelete": "Retain",
    }
    told = explain_connection(connection(ready(rotation=rotation), **spec), LOGIN)
    assert told.wrong == ["The last rotation failed: the app said no"]
    assert "every 30 days" in whole(told)
    assert "stays in the service" in whole(told)
    assert "2026-03-01" in whole(told)


def test_a_healthy_profile_needs_nothing() -> None:
    status = ready(reason="Issued", issued="2/2", nextRenewalTime="2026-03-01T00:00:00Z")
    told = explain_profile(profile(status), IDENTITY)
    assert (told.wrong, told.next_steps) == ([], [])
    assert told.reads[0] == "Profile web of project pki, which it manages: policy web, authority issuing."
    assert told.writes == [
        "2 certificates, issued and renewed: front in Secret front, back in Secret tls.",
        "Revoked when it is deleted: front.",
    ]
    assert "Issued and valid: 2/2; the next one is renewed 2026-03-01T00:00:00+00:00." in told.stands


@pytest.mark.parametrize(
    ("spec", "said"),
    [
        pytest.param({"mode": "Plan"}, "Nothing: mode is Plan. It would issue 2 certificates", id="plan"),
        pytest.param({"mode": "Suspended"}, "Nothing: mode is Suspended.", id="suspended"),
        pytest.param({"mode": "CreateOnce"}, "issued once and left alone", id="once"),
        pytest.param({"certificates": []}, "No certificates of its own", id="none"),
    ],
)
def test_what_a_profile_writes_follows_its_mode(spec: dict[str, Any], said: str) -> None:
    assert said in explain_profile(profile(ready(), **spec), IDENTITY).writes[0]


def test_a_plan_of_certificates_tells_rules_that_stand_against_it() -> None:
    plan = [
        {"name": "front", "action": "Issue", "need": "First"},
        {"name": "back", "action": "Issue", "need": "First", "violations": ["dns_name isn't allowed"]},
    ]
    told = explain_profile(profile(ready("False", "PolicyViolated", plan=plan), mode="Plan"), IDENTITY)
    assert "Planned for front: Issue (First), nothing against it." in told.stands
    assert "Planned for back: Issue (First); against it: dns_name isn't allowed." in told.stands


def test_an_existing_profile_and_a_missing_identity_are_told() -> None:
    spec: dict[str, Any] = {"existing": True, "policyRef": None, "caRef": None, "projectSlug": None}
    told = explain_profile(profile(ready(), **spec), {"reader": None})
    assert "changes nothing of" in told.reads[0]
    assert told.wrong == ["There is no Secret reader in namespace team-a."]
    assert "Create the Secret reader in namespace team-a" in told.next_steps[0]


@pytest.mark.parametrize("explain", [explain_connection, explain_profile])
def test_what_can_not_be_read_names_the_field(explain: Any) -> None:  # noqa: ANN401 - two functions alike
    told = explain({"metadata": {}, "spec": {"identityRef": {"name": "reader"}, "adopt": "cnry-x"}}, {})
    assert "spec.adopt" in told.wrong[0]
    assert "cnry-" not in whole(told)
    assert told.next_steps


def test_one_that_nobody_looked_at_and_an_edit_that_was_not_seen() -> None:
    assert explain_connection(connection(), LOGIN).wrong == ["No operator has looked at it yet."]
    assert "last edit" in explain_profile(profile(ready(), generation=2), IDENTITY).wrong[0]


def test_the_secrets_that_are_looked_at_are_those_that_the_spec_names() -> None:
    assert secrets_of_connection(connection()) == ("login", "reader")
    assert secrets_of_profile(profile()) == ("reader",)
    assert secrets_of_connection({"spec": {}}) == secrets_of_profile({"spec": {}}) == ()
