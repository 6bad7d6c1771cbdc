from __future__ import annotations

import pytest

from keybearer.controllers.effect_budget import EffectBudgets
from keybearer.controllers.objects import TargetKey
from keybearer.controllers.observed_targets import ObservedStore, ObservedTarget
from keybearer.controllers.target.apply import TargetWriter
from keybearer.controllers.target.decisions import (
    ApplyTarget,
    CreateTarget,
    MergeTarget,
    RecreateTarget,
    ReplaceTarget,
    TargetAction,
)
from keybearer.controllers.target.observed import merge_manager, observe_target
from keybearer.controllers.target.recreation import Recreation
from keybearer.kube.errors import AlreadyExistsError, ConflictError
from unit.controllers.fakes.gateway import FakeGateway
from unit.controllers.fakes.hand_clock import HandClock
from unit.controllers.fakes.targets import (
    FINGERPRINTER,
    UID,
    Body,
    b64,
    controlled_by_another,
    desired,
    merged_into,
    new_spec,
    stored,
)

_WEB = TargetKey("Secret", "team-a", "web")
_WANTED = desired(new_spec(), {"A": "cnry-a"})
_DRIFTED = stored(desired(new_spec(), {"A": "cnry-edited", "B": "cnry-b"}).body, uid="u")


class Desk:
    def __init__(self) -> None:
        self.gateway, self.observed = FakeGateway(), ObservedStore()
        self.writer = TargetWriter(
            self.gateway, self.observed, FINGERPRINTER, Recreation(self.gateway), EffectBudgets(HandClock())
        )

    def see(self, body: Body) -> ObservedTarget:
        seen = observe_target("Secret", body, FINGERPRINTER)
        self.observed.put(seen)
        return seen

    def written(self) -> list[str]:
        return [str(write) for write in self.gateway.writes]


@pytest.fixture
def desk() -> Desk:
    return Desk()


class TestLook:
    async def test_a_target_that_looks_as_expected_is_not_read(self, desk: Desk) -> None:
        desk.see(stored(_WANTED.body))
        found = await desk.writer.look(_WEB, UID, expected=_WANTED.fingerprint, thorough=False)

        assert found is not None
        assert (found.fingerprint, found.body) == (_WANTED.fingerprint, {})
        assert desk.gateway.reads == []

    async def test_the_body_that_came_with_the_drift_saves_a_read(self, desk: Desk) -> None:
        desk.see(_DRIFTED)
        desk.observed.keep_body(_WEB, _DRIFTED)
        found = await desk.writer.look(_WEB, UID, expected=_WANTED.fingerprint, thorough=False)

        assert found is not None
        assert found.data["A"] == b64("cnry-edited")
        assert found.owner_uid == UID
        assert desk.gateway.reads == []

    async def test_the_body_of_another_version_does_not(self, desk: Desk) -> None:
        desk.observed.keep_body(_WEB, _DRIFTED)
        body = desk.gateway.put(_DRIFTED)
        desk.see(body)
        await desk.writer.look(_WEB, UID, expected=_WANTED.fingerprint, thorough=False)

        assert desk.gateway.reads == ["Secret team-a/web"]

    async def test_a_thorough_look_asks_the_api_server_whatever_is_known(self, desk: Desk) -> None:
        desk.see(stored(_WANTED.body))
        desk.gateway.put(_DRIFTED)
        found = await desk.writer.look(_WEB, UID, expected=_WANTED.fingerprint, thorough=True)

        assert found is not None
        assert found.data["A"] == b64("cnry-edited")

    async def test_a_target_that_is_gone_is_forgotten(self, desk: Desk) -> None:
        desk.see(_DRIFTED)

        assert await desk.writer.look(_WEB, UID, expected="x", thorough=False) is None
        assert not desk.writer.knows(_WEB)


@pytest.mark.parametrize(
    ("action", "writes"),
    [
        pytest.param(ApplyTarget(_WANTED, "u"), ["apply Secret team-a/web"], id="apply"),
        pytest.param(
            RecreateTarget(_WANTED, "u"),
            [
                "create Secret team-a/web.keybearer-backup-u",
                "delete Secret team-a/web",
                "create Secret team-a/web",
            ],
            id="recreate",
        ),
        pytest.param(
            ReplaceTarget(_WANTED, "u", "100", {"data": {"A": b64("cnry-a"), "B": None}}),
            ["merge_patch Secret team-a/web"],
            id="replace",
        ),
    ],
)
async def test_each_action_is_carried_out_and_its_echo_is_expected(
    desk: Desk, action: TargetAction, writes: list[str]
) -> None:
    desk.see(desk.gateway.put(_DRIFTED))
    await desk.writer.carry_out(action, UID)

    assert desk.written() == writes
    body = desk.gateway.find("Secret", "web")
    assert body is not None
    assert body["data"]["A"] == b64("cnry-a")
    assert desk.observed.is_expected(observe_target("Secret", body, FINGERPRINTER))
    assert desk.observed.is_expected(
        observe_target("Secret", stored(_WANTED.body, version="999"), FINGERPRINTER)
    )


async def test_creating_remembers_the_target_until_the_watch_shows_it(desk: Desk) -> None:
    await desk.writer.carry_out(CreateTarget(_WANTED), UID)

    seen = desk.observed.get(_WEB)
    assert seen is not None
    assert (seen.owner_uid, seen.fingerprint, seen.resource_version) == (UID, _WANTED.fingerprint, "100")


async def test_a_merge_is_under_the_objects_own_manager_and_expects_nothing_of_the_whole(desk: Desk) -> None:
    wanted = desired(new_spec(creationPolicy="Merge"), {"A": "cnry-a"})
    desk.gateway.put(stored({**wanted.body, "data": {"THEIRS": b64("cnry-t")}}, uid="u"))
    await desk.writer.carry_out(MergeTarget(wanted, "u", force=False), UID)

    assert desk.gateway.writes[0].manager == merge_manager(UID)
    seen = desk.observed.get(_WEB)
    assert seen is not None
    assert (seen.owner_uid, seen.fingerprint) == (None, "")
    assert not desk.observed.is_expected(
        observe_target("Secret", stored(wanted.body, version="999"), FINGERPRINTER)
    )


@pytest.mark.parametrize(
    ("action", "error"),
    [
        pytest.param(CreateTarget(_WANTED), AlreadyExistsError, id="create what exists"),
        pytest.param(ApplyTarget(_WANTED, "another"), ConflictError, id="apply to another"),
        pytest.param(ReplaceTarget(_WANTED, "u", "1", {}), ConflictError, id="patch another version"),
        pytest.param(RecreateTarget(_WANTED, "another"), ConflictError, id="delete another"),
    ],
)
async def test_a_target_that_is_not_what_was_planned_upon_is_not_touched(
    desk: Desk, action: TargetAction, error: type[Exception]
) -> None:
    desk.gateway.put(_DRIFTED)
    with pytest.raises(error):
        await desk.writer.carry_out(action, UID)

    assert desk.written() == []
    assert not desk.writer.knows(_WEB)


async def test_the_watch_is_believed_over_the_answer_of_an_older_write(desk: Desk) -> None:
    """Somebody edits right after our write, and the watch shows it before our write is answered."""

    def edit(verb: str, kind: str) -> None:
        if (verb, kind) == ("create", "Secret"):
            desk.see({**_DRIFTED, "metadata": {**_DRIFTED["metadata"], "resourceVersion": "101"}})

    desk.gateway.before = edit
    await desk.writer.carry_out(CreateTarget(_WANTED), UID)

    seen = desk.observed.get(_WEB)
    assert seen is not None
    assert (seen.resource_version, seen.fingerprint != _WANTED.fingerprint) == ("101", True)


class TestRetire:
    async def test_an_owned_target_is_deleted(self, desk: Desk) -> None:
        desk.gateway.put(stored(_WANTED.body))

        assert await desk.writer.retire(_WEB, UID)
        assert desk.written() == ["delete Secret team-a/web"]

    async def test_what_was_written_to_be_retained_stays_and_is_nobodys(self, desk: Desk) -> None:
        """Also where the spec says otherwise by now."""
        body = stored(desired(new_spec(onDelete="Retain"), {"A": "cnry-a"}).body)
        desk.gateway.put(body)

        assert not await desk.writer.retire(_WEB, UID)
        found = desk.gateway.find("Secret", "web")
        assert found is not None
        assert found["data"] == body["data"]
        assert found["metadata"]["labels"] == {"app.kubernetes.io/managed-by": "keybearer"}

    async def test_what_is_to_be_retained_now_stays(self, desk: Desk) -> None:
        desk.gateway.put(stored(_WANTED.body))

        assert not await desk.writer.retire(_WEB, UID, retains=True)
        found = desk.gateway.find("Secret", "web")
        assert found is not None
        assert not found["metadata"].get("ownerReferences"), "it would go with the SecretSync"

    async def test_merged_keys_that_are_to_be_retained_stay(self, desk: Desk) -> None:
        desk.gateway.put(merged_into({"THEIRS": "cnry-t"}, {"A": "cnry-a"}).body)

        assert not await desk.writer.retire(_WEB, UID, retains=True)
        assert desk.written() == []

    async def test_merged_keys_are_let_go_and_others_stay(self, desk: Desk) -> None:
        there = merged_into({"THEIRS": "cnry-t"}, {"A": "cnry-a"})
        desk.gateway.put(there.body)

        assert await desk.writer.retire(_WEB, UID)
        body = desk.gateway.find("Secret", "web")
        assert body is not None
        assert body["data"] == {"THEIRS": b64("cnry-t")}

    @pytest.mark.parametrize(
        "body",
        [
            pytest.param(stored(_WANTED.body), id="another object owns it"),
            pytest.param(merged_into({"THEIRS": "cnry-t"}, {}).body, id="nothing of ours is in it"),
        ],
    )
    async def test_what_is_not_ours_is_left_alone(self, desk: Desk, body: Body) -> None:
        desk.gateway.put(body)

        assert not await desk.writer.retire(_WEB, "another-uid")
        assert desk.written() == []

    async def test_a_target_with_another_controller_is_not_deleted_though_it_bears_our_label(
        self, desk: Desk
    ) -> None:
        body = stored(_WANTED.body)
        controlled_by_another(body)
        desk.gateway.put(body)

        assert not await desk.writer.retire(_WEB, UID)
        assert desk.written() == []

    async def test_what_is_gone_needs_nothing(self, desk: Desk) -> None:
        assert not await desk.writer.retire(_WEB, UID)
