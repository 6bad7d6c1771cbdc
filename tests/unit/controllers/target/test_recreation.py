"""Recreating a target: at each moment the old one, the new one, or a backup is there."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager

import pytest
from pydantic import JsonValue

from keybearer.controllers.target.backup import (
    backup_key,
    backup_of,
    is_backup,
    original_key,
    restored,
    trial_of,
)
from keybearer.controllers.target.foreign import foreign_metadata_of
from keybearer.controllers.target.recreation import Recreation
from keybearer.kube.errors import (
    AlreadyExistsError,
    ConflictError,
    ForbiddenError,
    InvalidError,
    KubeError,
    LeaseLostError,
    UnavailableError,
)
from keybearer.kube.resources import SECRETS, JsonObject, ObjectKey, Resource
from unit.controllers.fakes.gateway import FakeGateway
from unit.controllers.fakes.targets import Body, b64, desired, new_spec, stored
from unit.controllers.fakes.virtual_loop import in_virtual_time

_KEY = ObjectKey("team-a", "web")
_OLD = stored(desired(new_spec(immutable=True, labels={"app": "web"}), {"A": "cnry-old"}).body, uid="old")
_NEW = desired(new_spec(immutable=True), {"A": "cnry-new"}).body
_BACKUP = backup_key(_KEY, "old")
_REFUSED = InvalidError("create Secret team-a/web: refused fields: data")
_DOWN = UnavailableError("create Secret team-a/web: no connection")
_FULL = ForbiddenError("exceeded quota: small", over_quota_by=1)


class Desk:
    def __init__(self, gateway: FakeGateway | None = None) -> None:
        self.gateway = gateway or FakeGateway()
        self.gateway.put(_OLD)
        self.recreation = Recreation(self.gateway)
        if isinstance(self.gateway, SlowGateway):
            self.gateway.recreation = self.recreation

    async def recreate(self) -> None:
        await self.recreation.recreate(SECRETS, _KEY, _NEW, uid="old")

    @asynccontextmanager
    async def settling(self) -> AsyncIterator[None]:
        """Another process, or this one, takes care of backups for a minute."""
        task = asyncio.create_task(self.recreation.run())
        yield
        await asyncio.sleep(60)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)

    def data(self) -> str | None:
        found = self.gateway.find("Secret", "web")
        return None if found is None else found["data"]["A"]

    def backup(self) -> Body | None:
        return self.gateway.find("Secret", _BACKUP.name)


@pytest.fixture
def desk() -> Desk:
    return Desk()


@in_virtual_time
async def test_the_new_one_takes_the_place_of_the_old_one_and_no_backup_stays() -> None:
    desk = Desk()
    async with desk.settling():
        await desk.recreate()

    assert desk.data() == b64("cnry-new")
    assert [str(write) for write in desk.gateway.writes] == [
        f"create Secret {_BACKUP}",
        "delete Secret team-a/web",
        "create Secret team-a/web",
        f"delete Secret {_BACKUP}",
    ]


_SHOP = {"apiVersion": "v1", "kind": "ConfigMap", "name": "shop", "uid": "shop"}
_THEIRS = {
    "manager": "kubectl-label",
    "operation": "Update",
    "fieldsV1": {
        "f:metadata": {
            "f:labels": {"f:team": {}},
            "f:annotations": {"f:argocd.argoproj.io/sync-options": {}},
        },
        "f:data": {"f:A": {}},
    },
}


def _touched_by_others() -> Body:
    """The old one, with a label, an annotation and an owner that others gave it."""
    meta = _OLD["metadata"]
    return {
        **_OLD,
        "metadata": {
            **meta,
            "labels": {**meta["labels"], "team": "a"},
            "annotations": {"argocd.argoproj.io/sync-options": "Prune=false"},
            "ownerReferences": [_SHOP, *meta["ownerReferences"]],
            "managedFields": [*meta["managedFields"], _THEIRS],
        },
    }


def _is_theirs(found: Body | None) -> bool:
    """Tell whether what others gave is there, and is recorded as theirs and nothing else is."""
    assert found is not None
    meta = found["metadata"]
    assert meta["labels"]["team"] == "a"
    assert meta["annotations"] == {"argocd.argoproj.io/sync-options": "Prune=false"}
    assert _SHOP in meta["ownerReferences"]
    foreign = foreign_metadata_of(meta)
    assert foreign.names["annotations"] == {"argocd.argoproj.io/sync-options"}
    assert [one["manager"] for one in foreign.managers] == ["kubectl-label"]
    return foreign.names["labels"] == {"team"}


@in_virtual_time
async def test_what_others_wrote_goes_with_it_and_stays_theirs() -> None:
    desk = Desk()
    desk.gateway.put(_touched_by_others())
    async with desk.settling():
        await desk.recreate()

    assert desk.data() == b64("cnry-new")
    assert _is_theirs(desk.gateway.find("Secret", "web"))


@in_virtual_time
async def test_a_label_that_is_wanted_by_now_is_ours_whoever_wrote_it_before() -> None:
    desk = Desk()
    desk.gateway.put(_touched_by_others())
    wanted = desired(new_spec(immutable=True, labels={"team": "b"}), {"A": "cnry-new"}).body
    await desk.recreation.recreate(SECRETS, _KEY, wanted, uid="old")

    found = desk.gateway.find("Secret", "web")
    assert found is not None
    assert found["metadata"]["labels"]["team"] == "b"
    assert foreign_metadata_of(found["metadata"]).names["labels"] == frozenset()


@pytest.mark.parametrize("by_another_process", [False, True])
@in_virtual_time
async def test_what_others_wrote_is_put_back_as_theirs(*, by_another_process: bool) -> None:
    desk = Desk()
    desk.gateway.put(_touched_by_others())
    if by_another_process:
        backup: Body = backup_of(desk.gateway.objects["Secret", _KEY])
        backup["metadata"] |= {"namespace": _BACKUP.namespace, "name": _BACKUP.name}
        desk.gateway.put(backup)
        desk.gateway.remove("Secret", "web")
        async with desk.settling():
            desk.recreation.notice("Secret", _BACKUP)
    else:
        desk.gateway.fail("create", "Secret", _REFUSED, after=1)
        with pytest.raises(InvalidError):
            await desk.recreate()

    assert desk.data() == b64("cnry-old")
    assert _is_theirs(desk.gateway.find("Secret", "web"))


@in_virtual_time
async def test_a_record_that_is_refused_fails_nothing() -> None:
    desk = Desk()
    desk.gateway.put(_touched_by_others())
    desk.gateway.fail("merge_patch", "Secret", _REFUSED)
    async with desk.settling():
        await desk.recreate()

    found = desk.gateway.find("Secret", "web")
    assert found is not None
    assert (desk.data(), found["metadata"]["labels"]["team"]) == (b64("cnry-new"), "a")
    assert desk.backup() is None


@pytest.mark.parametrize(
    "refusal",
    [_REFUSED, ForbiddenError("refused by the ValidatingAdmissionPolicy no-c"), _DOWN],
    ids=["invalid", "by a policy", "by nobody"],
)
async def test_nothing_is_touched_where_a_dry_run_is_refused(desk: Desk, refusal: KubeError) -> None:
    desk.gateway.fail("try create", "Secret", refusal)
    with pytest.raises(type(refusal)):
        await desk.recreate()

    assert desk.gateway.writes == []
    assert desk.gateway.find("Secret", "web") is not None


async def test_nothing_is_touched_where_a_quota_would_be_full_after_the_deletion_too(desk: Desk) -> None:
    desk.gateway.fail("try create", "Secret", ForbiddenError("exceeded quota: small", over_quota_by=2))
    with pytest.raises(ForbiddenError):
        await desk.recreate()

    assert desk.gateway.writes == []


@in_virtual_time
async def test_a_full_quota_is_no_refusal_and_is_waited_for_until_it_counts_what_was_deleted() -> None:
    desk = Desk()
    desk.gateway.fail("try create", "Secret", _FULL)
    desk.gateway.fail("create", "Secret", _FULL, times=4)  # the backup, and three times the new one
    async with desk.settling():
        await desk.recreate()

    assert desk.data() == b64("cnry-new")
    assert desk.backup() is None


@in_virtual_time
async def test_a_backup_whose_removal_met_a_conflict_is_removed_all_the_same() -> None:
    desk = Desk()
    desk.gateway.fail("delete", "Secret", ConflictError("delete Secret: conflict"), after=1)
    async with desk.settling():
        await desk.recreate()

    assert desk.backup() is None


@in_virtual_time
async def test_the_old_one_is_put_back_whole_where_the_store_refuses_the_new_one() -> None:
    desk = Desk()
    desk.gateway.fail("create", "Secret", _REFUSED, after=1)
    with pytest.raises(InvalidError):
        await desk.recreate()

    found = desk.gateway.find("Secret", "web")
    assert found is not None
    for name in ("data", "type", "immutable"):
        assert found[name] == _OLD[name]
    for name in ("labels", "ownerReferences"):
        assert found["metadata"][name] == _OLD["metadata"][name]


@in_virtual_time
async def test_what_was_refused_in_spite_of_a_dry_run_is_tried_under_another_name_first() -> None:
    desk = Desk()
    desk.gateway.fail("create", "Secret", _REFUSED, after=1)
    async with desk.settling():
        with pytest.raises(InvalidError):
            await desk.recreate()
    found = desk.gateway.find("Secret", "web")
    assert found is not None
    uid = found["metadata"]["uid"]
    desk.gateway.writes.clear()
    desk.gateway.fail("create", "Secret", _REFUSED)
    async with desk.settling():
        with pytest.raises(InvalidError):
            await desk.recreation.recreate(SECRETS, _KEY, _NEW, uid=uid)
        assert desk.gateway.writes == []

        await desk.recreation.recreate(SECRETS, _KEY, _NEW, uid=uid)
    assert desk.data() == b64("cnry-new")
    assert [key.name for kind, key in desk.gateway.objects if kind == "Secret"] == ["web"]


@in_virtual_time
async def test_the_old_one_is_put_back_from_its_backup_once_that_works_again() -> None:
    desk = Desk()
    desk.gateway.fail("create", "Secret", _DOWN, after=1, times=4)
    async with desk.settling():
        with pytest.raises(UnavailableError):
            await desk.recreate()
        assert desk.data() is None
        assert desk.backup() is not None

    assert desk.data() == b64("cnry-old")
    assert desk.backup() is None


async def test_a_process_that_no_longer_leads_leaves_the_backup_to_the_next_one(desk: Desk) -> None:
    desk.gateway.fail("create", "Secret", LeaseLostError("another replica leads"), after=1, times=2)
    with pytest.raises(LeaseLostError):
        await desk.recreate()

    assert desk.data() is None
    assert desk.backup() is not None


@in_virtual_time
async def test_what_a_process_left_deleted_is_put_back_by_the_next_one() -> None:
    desk = Desk()
    desk.gateway.remove("Secret", "web")
    desk.gateway.put(_stored_backup())
    async with desk.settling():
        desk.recreation.notice("Secret", _BACKUP)

    assert desk.data() == b64("cnry-old")
    assert desk.backup() is None


@in_virtual_time
async def test_a_backup_beside_its_original_goes_and_changes_nothing() -> None:
    desk = Desk()
    desk.gateway.put(_stored_backup("cnry-older"))
    async with desk.settling():
        desk.recreation.notice("Secret", _BACKUP)

    assert desk.data() == b64("cnry-old")
    assert desk.backup() is None


class SlowGateway(FakeGateway):
    """Others get a turn before each write, and hear of the backup as soon as it is there."""

    recreation: Recreation

    async def create(
        self, resource: Resource, key: ObjectKey, body: Mapping[str, JsonValue], *, dry_run: bool = False
    ) -> JsonObject:
        await asyncio.sleep(1)
        answer = await super().create(resource, key, body, dry_run=dry_run)
        if key == _BACKUP:
            self.recreation.notice(resource.kind, key)
        await asyncio.sleep(1)
        return answer


@in_virtual_time
async def test_a_backup_that_is_in_use_is_let_alone() -> None:
    desk = Desk(SlowGateway())
    async with desk.settling():
        await desk.recreate()
        assert [str(write) for write in desk.gateway.writes] == [
            f"create Secret {_BACKUP}",
            "delete Secret team-a/web",
            "create Secret team-a/web",
        ]

    assert desk.data() == b64("cnry-new")
    assert desk.backup() is None


@in_virtual_time
async def test_the_old_one_is_put_back_from_memory_where_a_quota_has_no_room_for_a_backup() -> None:
    desk = Desk()
    desk.gateway.fail("create", "Secret", _FULL)
    desk.gateway.fail("create", "Secret", _DOWN, times=5)
    async with desk.settling():
        with pytest.raises(UnavailableError):
            await desk.recreate()
        assert (desk.data(), desk.backup()) == (None, None)

    assert desk.data() == b64("cnry-old")


@in_virtual_time
async def test_what_is_refused_for_good_when_it_is_put_back_is_given_up() -> None:
    desk = Desk()
    desk.gateway.remove("Secret", "web")
    desk.gateway.put(_stored_backup())
    desk.gateway.fail("create", "Secret", _REFUSED)
    async with desk.settling():
        desk.recreation.notice("Secret", _BACKUP)

    assert desk.data() is None
    assert desk.backup() is not None


@in_virtual_time
async def test_a_trial_that_a_process_left_behind_goes() -> None:
    desk = Desk()
    trial: Body = trial_of(_NEW)
    trial["metadata"] |= {"namespace": _BACKUP.namespace, "name": _BACKUP.name, "uid": "trial"}
    desk.gateway.put(trial)
    async with desk.settling():
        desk.recreation.notice("Secret", _BACKUP)

    assert desk.backup() is None
    assert desk.data() == b64("cnry-old")


async def test_a_backup_of_an_earlier_attempt_is_replaced(desk: Desk) -> None:
    desk.gateway.put(_stored_backup("cnry-older"))
    desk.gateway.fail("create", "Secret", _DOWN, after=2, times=2)
    with pytest.raises(UnavailableError):
        await desk.recreate()

    backup = desk.backup()
    assert backup is not None
    assert backup["data"]["A"] == b64("cnry-old")


async def test_another_object_of_the_name_is_not_touched(desk: Desk) -> None:
    with pytest.raises(ConflictError):
        await desk.recreation.recreate(SECRETS, _KEY, _NEW, uid="another")

    assert desk.gateway.writes == []


async def test_one_that_waits_for_finalizers_is_not_deleted(desk: Desk) -> None:
    desk.gateway.put({**_OLD, "metadata": {**_OLD["metadata"], "finalizers": ["example.com/hold"]}})
    with pytest.raises(InvalidError, match=r"holds it \(example\.com/hold\); remove them"):
        await desk.recreate()

    assert desk.gateway.writes == []


@in_virtual_time
async def test_one_that_somebody_else_creates_meanwhile_stays() -> None:
    desk = Desk()

    def create(verb: str, _: str) -> None:
        if verb == "create" and desk.backup() is not None:
            desk.gateway.put(
                {**_OLD, "metadata": {**_OLD["metadata"], "uid": "theirs"}, "data": {"A": b64("x")}}
            )
            desk.gateway.before = lambda *_: None

    desk.gateway.before = create
    async with desk.settling():
        with pytest.raises(AlreadyExistsError):
            await desk.recreate()

    assert desk.data() == b64("x")
    assert desk.backup() is None


def test_a_backup_is_found_by_no_selector_of_the_original_and_goes_with_its_owner() -> None:
    backup = _stored_backup()

    assert is_backup(backup)
    assert not is_backup(_OLD)
    assert backup["metadata"]["labels"] == {"keybearer.dev/managed": "true"}
    assert backup["metadata"]["ownerReferences"] == _OLD["metadata"]["ownerReferences"]
    assert "immutable" not in backup


@pytest.mark.parametrize(
    "note",
    [
        "",
        "{",
        "[]",
        '{"name": 1}',
        '{"name": "web"}',
        '{"name": "other", "uid": "old"}',
        '{"name": "db", "uid": "u"}',
    ],
)
def test_an_annotation_that_somebody_else_wrote_makes_no_backup(note: str) -> None:
    for name in ("db", _BACKUP.name):
        meta: Body = {"namespace": "team-a", "name": name, "annotations": {"keybearer.dev/backup-of": note}}
        assert not is_backup({"metadata": meta})
        assert original_key({"metadata": meta}) is None


def test_what_kubectl_noted_of_a_manifest_is_not_backed_up() -> None:
    """With it the annotation could be larger than Kubernetes takes."""
    noted = {"kubectl.kubernetes.io/last-applied-configuration": "{}", "theirs": "x"}
    old = {**_OLD, "metadata": {**_OLD["metadata"], "annotations": noted}}
    whole: Body = restored(backup_of(old))
    assert whole["metadata"]["annotations"] == {"theirs": "x"}


@pytest.mark.parametrize("name", ["web", "a" * 253, "a" * 225 + ".b" * 14])
def test_the_name_of_a_backup_is_a_valid_one(name: str) -> None:
    backup = backup_key(ObjectKey("team-a", name), "3f6c2f0e-0000-4000-8000-000000000001")

    assert len(backup.name) <= 253
    assert all(part and part.strip("-") == part for part in backup.name.split("."))


def test_what_is_restored_is_what_was_backed_up() -> None:
    whole: Body = restored(_stored_backup())

    assert original_key(_stored_backup()) == _KEY
    assert whole["data"] == _OLD["data"]
    assert set(whole["metadata"]) == {"labels", "ownerReferences"}


def _stored_backup(value: str = "cnry-old") -> Body:
    old = {**_OLD, "data": {"A": b64(value)}}
    body: Body = backup_of(old)
    body["metadata"] |= {"namespace": _BACKUP.namespace, "name": _BACKUP.name, "uid": "backup"}
    return body
