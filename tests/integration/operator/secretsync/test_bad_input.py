"""What people get wrong: each with a reason and a message that says what to change, and without a hot loop."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import pytest

from support.operator_fixtures import Installation
from support.secretsync_objects import condition, identity_secret, message_of, reason_of
from support.service_proxy import about_project, listing_of
from support.tenant import IDENTITY, Tenant
from tools.local.kube_api import Body, RefusedError
from tools.local.waiting import eventually

pytestmark = pytest.mark.integration

_HALF_A_MEBIBYTE = 600_000


@dataclass(frozen=True)
class _Mistake:
    """A change of a good SecretSync, and what is told about it.

    Attributes:
        spec: changes of the spec; those of `source` are made to a good source.
        values: secrets that are stored beside it.
        reason: of Ready.
        saying: part of the message: the thing, and what to do.
    """

    reason: str
    saying: str
    spec: Mapping[str, Body] = field(default_factory=dict)
    values: Mapping[str, str] = field(default_factory=dict)


_MISTAKES = {
    "an unknown project": _Mistake(
        "SourceNotFound", "correct project", {"source": {"projectId": "9c1f0000-0000-4000-8000-000000000000"}}
    ),
    "an unknown project slug": _Mistake(
        "SourceNotFound", "correct project", {"source": {"projectId": None, "projectSlug": "no-such-project"}}
    ),
    "an unknown environment": _Mistake(
        "SourceNotFound", "environment", {"source": {"environment": "nowhere"}}
    ),
    "a missing path": _Mistake("SourceNotFound", "/no/such", {"source": {"secretPath": "/no/such"}}),
    "a name that is no key": _Mistake(
        "InvalidKey", "'TWO WORDS' is no valid key", values={"TWO WORDS": "cnry-x"}
    ),
    "more than Kubernetes holds": _Mistake(
        "TooLarge",
        "exclude keys or spread them over several targets",
        values={"BIG": "cnry-" + "x" * _HALF_A_MEBIBYTE, "BIGGER": "cnry-" + "y" * _HALF_A_MEBIBYTE},
    ),
    "a single key that is not there": _Mistake(
        "KeyNotFound",
        "has no secret MISSING; create it",
        {"source": {"keys": {"items": [{"key": "MISSING"}]}}},
    ),
    "a version that never was": _Mistake(
        "KeyNotFound",
        "has no secret KEY in version 99",
        {"source": {"keys": {"items": [{"key": "KEY", "version": 99}]}}},
    ),
    "a value that is not base64": _Mistake(
        "InvalidValue",
        "dev:/KEY",
        {"source": {"keys": {"items": [{"key": "KEY", "decode": "Base64"}]}}},
    ),
    "a value that is not JSON": _Mistake(
        "InvalidValue",
        "dev:/KEY",
        {"source": {"keys": {"items": [{"key": "KEY", "property": "a.b"}]}}},
    ),
    "a pattern that is none": _Mistake("InvalidPattern", "/(/", {"source": {"keys": {"include": ["/(/"]}}}),
    "a selection that takes nothing under a template": _Mistake(
        "NoKeys",
        "holds one secret, and source.keys doesn't take it",
        {"source": {"keys": {"include": ["NOTHING_*"]}}, "target": {"template": {"data": {"a": "b"}}}},
    ),
    "a type without its keys": _Mistake(
        "MissingTypeKey", "needs the key tls.crt", {"target": {"type": "kubernetes.io/tls", "recreate": True}}
    ),
    "a value that its type forbids": _Mistake(
        "InvalidTypeValue",
        "must be a JSON object",
        {
            "target": {
                "type": "kubernetes.io/dockerconfigjson",
                "recreate": True,
                "template": {"data": {".dockerconfigjson": "no JSON"}},
            }
        },
    ),
    "a type that is not allowed": _Mistake(
        "TypeNotAllowed",
        "ask its administrator for --allow-target-type",
        {"target": {"type": "example.com/other"}},
    ),
    "an unknown identity": _Mistake(
        "IdentityNotFound", "correct identityRef.name", {"identityRef": {"name": "nobody"}}
    ),
    "a template that can't be rendered": _Mistake(
        "TemplateFailed", "UNKNOWN", {"target": {"template": {"data": {"a": "{{ UNKNOWN }}"}}}}
    ),
}


@pytest.mark.parametrize("mistake", _MISTAKES.values(), ids=_MISTAKES.keys())
def test_a_mistake_is_told_the_last_good_secret_stays_and_its_correction_heals(
    tenant: Tenant, mistake: _Mistake
) -> None:
    tenant.project.store({"KEY": "cnry-1"})
    good = {
        "source": tenant.source(),
        "target": {"name": "web"},
        "identityRef": {"name": "keybearer-identity"},
    }
    tenant.sync("web", refreshInterval="1h", **good)
    tenant.until_ready("web")
    before = tenant.secret("web")

    if mistake.values:
        tenant.project.store(mistake.values)
    tenant.edit("web", **mistake.spec)
    tenant.request("web")
    told = tenant.until_reason("web", mistake.reason, saying=mistake.saying)

    stalled = condition(told, "Stalled")
    assert stalled is not None
    assert stalled["status"] == "True"
    assert "last good" in message_of(told) or mistake.reason not in {
        "InvalidKey",
        "TooLarge",
        "TemplateFailed",
    }
    assert tenant.secret("web") == before

    if mistake.values:
        tenant.project.remove(list(mistake.values))
    tenant.edit("web", **_reverted(mistake.spec, good))
    tenant.request("web")
    tenant.until_ready("web")
    assert tenant.data("web") == {"KEY": "cnry-1"}


def _reverted(changed: Mapping[str, Body], good: Mapping[str, Body]) -> Body:
    """A merge patch that sets the fields that were changed back to what they were."""
    return {part: {name: good[part].get(name) for name in fields} for part, fields in changed.items()}


@pytest.mark.deep
def test_mistakes_are_not_tried_again_and_again(tenant: Tenant, installation: Installation) -> None:
    tenant.project.store({"KEY": "cnry-1", "TWO WORDS": "cnry-2"})
    good_source = tenant.source(keys={"include": ["KEY"]})
    for number, mistake in enumerate(_MISTAKES.values()):
        changes = {part: dict(fields) for part, fields in mistake.spec.items()}
        source = {**good_source, **changes.pop("source", {})}
        if mistake.values:
            source.pop("keys")
        source = {name: value for name, value in source.items() if value is not None}
        tenant.sync(f"mistake-{number}", source=source, **changes)
    names = [f"mistake-{number}" for number in range(len(_MISTAKES))]
    for name in names:
        tenant.until(name, lambda sync: condition(sync, "Stalled") is not None, "the condition Stalled")
    tenant.sync("good", source=good_source)
    tenant.until_ready("good")
    versions = {name: tenant.get(name)["metadata"]["resourceVersion"] for name in names}
    operator = installation.operator
    before, start = (
        operator.metric('keybearer_reconcile_duration_seconds_count{kind="SecretSync",result="failed"}'),
        installation.proxy.mark(),
    )

    # The interval of all of them: long enough for a hot loop to show.
    eventually(
        lambda: len(_of_root(tenant, installation, start)) >= 1, awaited="a refresh of the good source"
    )

    assert {name: tenant.get(name)["metadata"]["resourceVersion"] for name in names} == versions
    assert {reason_of(tenant.get(name)) for name in names} <= {one.reason for one in _MISTAKES.values()}
    after = operator.metric('keybearer_reconcile_duration_seconds_count{kind="SecretSync",result="failed"}')
    # Backoff: 5 s, then 10 s.
    assert after - before <= 2 * len(names)
    asked = installation.proxy.requests(about_project(tenant.project.id), since=start)
    # Sources that fail: two folders, one environment; each retried after 5 s at the earliest, then 10 s.
    assert len(asked) <= 12


def _of_root(tenant: Tenant, installation: Installation, start: int) -> list[str]:
    listed = installation.proxy.requests(listing_of(tenant.project.id), since=start)
    return [
        one.path for one in listed if one.query.get("secretPath", "/") == "/" and one.status in {200, 304}
    ]


@pytest.mark.parametrize("interval", ["0", 0, "10s", "5m"])
def test_an_interval_that_makes_sense_is_accepted(tenant: Tenant, interval: str | int) -> None:
    tenant.project.store({"KEY": "cnry-1"})

    tenant.sync("web", refreshInterval=interval)

    tenant.until_ready("web")


@pytest.mark.parametrize(
    ("interval", "saying"),
    [
        ("1d", "must be 0, or digits and one unit (s, m or h)"),
        ("-5m", "must be 0, or digits and one unit (s, m or h)"),
        ("5s", "must be at least 10s, or 0"),
    ],
)
def test_an_interval_that_makes_no_sense_is_refused_at_once(
    tenant: Tenant, interval: str, saying: str
) -> None:
    with pytest.raises(RefusedError) as refusal:
        tenant.sync("web", refreshInterval=interval)

    assert "spec.refreshInterval" in str(refusal.value)
    assert saying in str(refusal.value)


@pytest.mark.deep
def test_an_interval_of_zero_reads_on_change_of_the_spec_only(
    tenant: Tenant, installation: Installation
) -> None:
    tenant.project.store({"KEY": "cnry-1"})
    tenant.project.folder("/other")
    tenant.project.store({"KEY": "cnry-2"}, path="/other")
    tenant.sync("never", refreshInterval=0)
    tenant.sync("polled", source=tenant.source(secretPath="/other"))
    for name in ("never", "polled"):
        tenant.until_updates(name)
        tenant.until_ready(name)
    start = installation.proxy.mark()

    def listings(path: str) -> int:
        listed = installation.proxy.requests(listing_of(tenant.project.id), since=start)
        return sum(one.query.get("secretPath", "/") == path for one in listed)

    eventually(lambda: listings("/other") >= 1, awaited="a refresh of the other source")

    assert listings("/") == 0


def test_more_pinned_versions_than_are_read_are_told(tenant: Tenant) -> None:
    tenant.project.store({"KEY": "cnry-1"})
    tenant.sync("web", refreshInterval="1h", sources=[tenant.source()])
    tenant.until_ready("web")
    before = tenant.secret("web")
    items = [{"key": "KEY", "version": number, "as": f"K{number}"} for number in range(1, 101)]

    tenant.edit("web", sources=[tenant.source(keys={"items": items})] * 3)

    told = tenant.until_reason("web", "SpecInvalid", saying="pin 300 versions")
    assert (condition(told, "Stalled") or {})["status"] == "True"
    assert "take version from some items" in message_of(told)
    assert message_of(told).endswith("; the last good target stays")
    assert tenant.secret("web") == before
    tenant.edit("web", sources=[tenant.source()])
    tenant.until_ready("web")


def test_a_target_does_not_take_the_identity_that_reads_its_source(tenant: Tenant) -> None:
    tenant.project.store({"KEY": "cnry-1"})
    before = tenant.secret(IDENTITY)
    tenant.sync("own", target={"name": IDENTITY, "adopt": True})

    told = tenant.until_reason("own", "TargetConflict", saying="is the identity Secret of this object")
    assert (condition(told, "Stalled") or {})["status"] == "True"
    assert "choose another target.name" in message_of(told)
    assert told["status"]["diagnosis"]["about"] == "spec.target.name"
    assert tenant.secret(IDENTITY) == before
    tenant.edit("own", target={"name": "other"})
    tenant.until_ready("own")


def test_a_target_does_not_take_the_identity_of_another_object(tenant: Tenant) -> None:
    taken = {"clientId": "cnry-id", "clientSecret": "cnry-2"}
    tenant.project.store(taken)
    tenant.api.create(identity_secret(tenant.namespace, "second", tenant.data(IDENTITY) or {}))
    tenant.sync("reader", identityRef={"name": "second"})
    tenant.until_ready("reader")
    before = tenant.secret("second")
    tenant.sync("taker", target={"name": "second", "adopt": True})

    told = tenant.until_reason(
        "taker", "TargetConflict", saying="is the identity Secret of SecretSync reader"
    )
    assert "its clientId, clientSecret" in message_of(told)
    assert tenant.secret("second") == before
    tenant.edit("reader", identityRef={"name": IDENTITY})
    tenant.until_ready("taker")
    assert tenant.data("second") == taken
