from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from keybearer.controllers.fingerprint import Fingerprinter
from keybearer.controllers.target.desired import (
    MANAGED_LABEL,
    OWNER_LABEL,
    DesiredTarget,
    fingerprint_of_body,
)
from keybearer.controllers.target.observed import merge_manager, observe_target
from keybearer.controllers.work import WorkKey
from support.rows import each_row
from unit.controllers.fakes.targets import (
    FINGERPRINTER,
    SYNC,
    UID,
    Body,
    b64,
    controlled_by_another,
    desired,
    merged_into,
    new_spec,
    present,
    stored,
    there,
)

_DATA = {"A": "cnry-a", "B": ""}


def body_of(wanted: DesiredTarget) -> Body:
    """Return a copy of the manifest, free to be changed."""
    return copy.deepcopy(wanted.body)


class TestManifest:
    def test_an_owned_secret_says_whose_it_is(self) -> None:
        wanted = desired(new_spec(labels={"team": "a"}, annotations={"note": "x"}), _DATA)
        body = body_of(wanted)

        assert (body["apiVersion"], body["kind"], body["type"]) == ("v1", "Secret", "Opaque")
        assert body["data"] == {"A": b64("cnry-a"), "B": ""}
        assert body["metadata"]["labels"] == {
            "app.kubernetes.io/managed-by": "keybearer",
            MANAGED_LABEL: "true",
            OWNER_LABEL: UID,
            "team": "a",
        }
        assert body["metadata"]["annotations"] == {"note": "x"}
        (owner,) = body["metadata"]["ownerReferences"]
        assert (owner["kind"], owner["name"], owner["uid"], owner["controller"]) == (
            "SecretSync",
            "web",
            UID,
            True,
        )
        assert owner["blockOwnerDeletion"] is False
        assert (wanted.key.namespace, wanted.key.name, wanted.keys) == ("team-a", "web", ("A", "B"))
        assert "immutable" not in body

    def test_a_retained_secret_is_labelled_but_not_referred_to(self) -> None:
        meta = body_of(desired(new_spec(onDelete="Retain"), _DATA))["metadata"]

        assert meta["labels"][OWNER_LABEL] == UID
        assert "ownerReferences" not in meta

    def test_a_merge_claims_nothing_but_its_keys(self) -> None:
        body = body_of(desired(new_spec(creationPolicy="Merge", name="theirs"), _DATA))

        assert body["metadata"]["labels"] == {MANAGED_LABEL: "true"}
        assert "ownerReferences" not in body["metadata"]
        assert "type" not in body
        assert body["metadata"]["name"] == "theirs"

    def test_users_labels_win_over_what_is_only_customary_but_not_over_ours(self) -> None:
        labels = body_of(desired(new_spec(labels={"app.kubernetes.io/managed-by": "me"}), _DATA))["metadata"][
            "labels"
        ]

        assert labels["app.kubernetes.io/managed-by"] == "me"
        assert labels[MANAGED_LABEL] == "true"

    def test_a_config_map_keeps_text_and_bytes_apart(self) -> None:
        wanted = desired(new_spec(kind="ConfigMap"), {"A": "cnry-ä", "BIN": b"\xff"})
        body = body_of(wanted)

        assert body["data"] == {"A": "cnry-ä"}
        assert body["binaryData"] == {"BIN": b64(b"\xff")}
        assert "type" not in body
        assert wanted.data == {"A": b64("cnry-ä"), "BIN": b64(b"\xff")}
        assert wanted.keys == ("A", "BIN")

    def test_immutable_is_said_only_of_what_we_own(self) -> None:
        assert desired(new_spec(immutable=True), _DATA).body["immutable"] is True
        assert "immutable" not in desired(new_spec(), _DATA).body


Server = Callable[[Body], None]


def as_ever(body: Body) -> None:
    del body


def untyped(body: Body) -> None:
    body.pop("type", None)


def not_immutable(body: Body) -> None:
    body.setdefault("immutable", False)


def with_foreign_metadata(body: Body) -> None:
    body["metadata"] |= {"finalizers": ["x"], "generateName": "w", "selfLink": "/x"}


def without_empty_maps(body: Body) -> None:
    for section in ("data", "binaryData"):
        if not body.get(section):
            body.pop(section, None)


def with_nulls(body: Body) -> None:
    for section in ("data", "binaryData", "immutable"):
        body.setdefault(section, None)
    body["metadata"].setdefault("annotations", None)
    body["metadata"].setdefault("ownerReferences", None)


def referred_to_by_others(body: Body) -> None:
    body["metadata"].setdefault("ownerReferences", []).append({"kind": "Pod", "name": "x", "uid": "x"})


_fields = st.fixed_dictionaries(
    {
        "kind": st.sampled_from(["Secret", "ConfigMap"]),
        "labels": st.dictionaries(st.sampled_from(["team", "x"]), st.sampled_from(["", "a"])),
        "annotations": st.dictionaries(st.sampled_from(["note", "y"]), st.sampled_from(["", "a b"])),
        "onDelete": st.sampled_from(["Delete", "Retain"]),
        "immutable": st.booleans(),
    }
)
_data = st.dictionaries(st.sampled_from(["A", "B", "c.d"]), st.binary(max_size=5), max_size=3)


class TestFingerprint:
    @pytest.mark.parametrize(
        "server",
        [
            as_ever,
            untyped,
            not_immutable,
            with_foreign_metadata,
            without_empty_maps,
            with_nulls,
            referred_to_by_others,
        ],
    )
    @given(fields=_fields, data=_data)
    def test_what_the_api_server_gives_back_of_what_we_sent_looks_as_planned(
        self, server: Server, fields: dict[str, Any], data: dict[str, bytes]
    ) -> None:
        wanted = desired(new_spec(**fields), data)
        body = stored(wanted.body)
        server(body)

        assert fingerprint_of_body(wanted.key.kind, body, FINGERPRINTER) == wanted.fingerprint

    @each_row(
        "drift",
        [
            pytest.param(lambda body: body["data"].update(A=b64("cnry-x")), id="a value"),
            pytest.param(lambda body: body["data"].update(C=""), id="a key more"),
            pytest.param(lambda body: body["data"].pop("B"), id="a key less"),
            pytest.param(lambda body: body["metadata"]["labels"].update(theirs="x"), id="a label more"),
            pytest.param(lambda body: body["metadata"]["labels"].pop(MANAGED_LABEL), id="a label less"),
            pytest.param(lambda body: body["metadata"].update(annotations={"x": "y"}), id="an annotation"),
            pytest.param(lambda body: body["metadata"].pop("ownerReferences"), id="no owner"),
            pytest.param(controlled_by_another, id="another owner"),
            pytest.param(lambda body: body.update(immutable=True), id="immutable"),
            pytest.param(lambda body: body.update(type="example.org/x"), id="type"),
        ],
    )
    def test_whatever_an_owner_plans_counts(self, drift: Server) -> None:
        wanted = desired(new_spec(), _DATA)
        body = stored(wanted.body)
        drift(body)

        assert fingerprint_of_body("Secret", body, FINGERPRINTER) != wanted.fingerprint

    def test_a_key_that_changes_from_text_to_bytes_counts(self) -> None:
        spec = new_spec(kind="ConfigMap")

        assert desired(spec, {"A": "cnry-a"}).fingerprint != desired(spec, {"A": b"\xff"}).fingerprint

    def test_of_the_data_only_kind_type_keys_and_values_count(self) -> None:
        one = desired(new_spec(), _DATA).data_fingerprint

        assert (
            one
            == desired(
                new_spec(labels={"team": "a"}, name="other", onDelete="Retain"), _DATA
            ).data_fingerprint
        )
        assert one != desired(new_spec(), {**_DATA, "A": "cnry-x"}).data_fingerprint
        assert one != desired(new_spec(type="kubernetes.io/tls"), _DATA).data_fingerprint

    def test_a_fingerprint_is_no_plain_hash(self) -> None:
        body = desired(new_spec(), _DATA).body

        assert fingerprint_of_body("Secret", body, Fingerprinter(b"x" * 32)) != fingerprint_of_body(
            "Secret", body, FINGERPRINTER
        )

    def test_two_objects_never_have_the_same_owned_target(self) -> None:
        other = WorkKey("SecretSync", "team-a", "other")

        assert (
            desired(new_spec(name="web"), _DATA).fingerprint
            != desired(new_spec(name="web"), _DATA, owner=other, uid="another-uid").fingerprint
        )

    @pytest.mark.parametrize(
        "body", [{}, {"metadata": None}, {"metadata": {"labels": []}, "data": "x"}], ids=str
    )
    def test_a_body_of_another_shape_has_one_too(self, body: Body) -> None:
        assert fingerprint_of_body("Secret", body, FINGERPRINTER)


class TestObserved:
    def test_of_a_target_its_identity_version_owner_and_fingerprint_are_kept(self) -> None:
        wanted = desired(new_spec(), _DATA)
        seen = observe_target("Secret", stored(wanted.body, uid="u", version="9"), FINGERPRINTER)

        assert (seen.key, seen.uid, seen.resource_version) == (wanted.key, "u", "9")
        assert (seen.owner_uid, seen.fingerprint) == (UID, wanted.fingerprint)
        assert "cnry" not in repr(seen)

    def test_a_controller_of_our_uid_is_not_foreign(self) -> None:
        assert there(_DATA).foreign_controller(UID) is None
        assert there(_DATA).foreign_controller("another-uid") == "SecretSync web"
        assert there(_DATA, controlled_by_another).foreign_controller(UID) == "Deployment web"

    def test_an_owner_that_does_not_control_is_no_controller(self) -> None:
        def referred(body: Body) -> None:
            body["metadata"]["ownerReferences"] = [{"kind": "Pod", "name": "x", "uid": "x"}, "nonsense"]

        assert there(_DATA, referred).foreign_controller(UID) is None

    def test_merged_keys_are_those_of_our_own_manager_in_both_halves(self) -> None:
        def in_both(body: Body) -> None:
            fields: Body = {"f:data": {"f:A": {}, ".": {}}, "f:binaryData": {"f:B": {}}, "f:type": {}}
            body["metadata"]["managedFields"] = [
                {"manager": merge_manager(UID), "fieldsV1": fields},
                {"manager": merge_manager("another-uid"), "fieldsV1": {"f:data": {"f:C": {}}}},
                {"manager": merge_manager(UID), "fieldsV1": {"f:data": {"f:D": {}}}},
                {"manager": merge_manager(UID)},
                "nonsense",
            ]

        assert merged_into({}, {}, in_both).merged_keys == {"A", "B", "D"}

    def test_a_body_that_was_not_read_says_nothing(self) -> None:
        bare = present(stored(desired(new_spec(), {}).body))
        unread = type(bare)(bare.key, bare.uid, bare.resource_version, bare.owner_uid, bare.fingerprint, {})

        assert (unread.data, unread.merged_keys, unread.immutable, unread.type) == (
            {},
            frozenset(),
            False,
            "Opaque",
        )

    def test_each_object_merges_under_a_manager_of_its_own(self) -> None:
        assert merge_manager(UID) != merge_manager("another-uid")
        assert len(merge_manager(UID)) <= 128, "the API server takes no longer name"


def test_what_holds_values_shows_none() -> None:
    wanted = desired(new_spec(), _DATA)

    assert "Y25yeS" not in repr(wanted)
    assert "Y25yeS" not in repr(there(_DATA))
    assert SYNC.name in repr(wanted.key)
