"""Every field of every custom resource is changed, to values that its schema takes."""

from __future__ import annotations

import pytest

from keybearer.controllers.crds import CUSTOM_RESOURCES
from tools.explore.field_scenarios import FIELDS
from tools.explore.fields import FieldChange, changes_of


@pytest.mark.parametrize("kind", [one.kind for one in CUSTOM_RESOURCES])
def test_each_change_has_a_name_of_its_own(kind: str) -> None:
    names = [str(one) for one in changes_of(kind)]

    assert len(set(names)) == len(names)
    assert len(set(names) - FIELDS.keys()) <= 1  # what can't be undone


def test_a_change_makes_what_leads_to_its_field() -> None:
    change = FieldChange("SecretSync", ("target", "template", "configMapRef", "name"), "changed", "b")

    assert change.applied_to({"mode": "Apply"}) == {
        "mode": "Apply",
        "target": {"template": {"configMapRef": {"name": "b"}}},
    }


def test_a_change_within_a_list_leaves_the_other_items() -> None:
    change = FieldChange("CertificateProfile", ("certificates", "[]", "secretName"), "changed", "b")

    applied = change.applied_to({"certificates": [{"name": "one"}, {"name": "two"}]})

    assert applied["certificates"] == [{"name": "one", "secretName": "b"}, {"name": "two"}]


def test_an_unset_field_is_not_there() -> None:
    change = FieldChange("SecretSync", ("source", "environment"), "unset", None)

    assert change.applied_to({"source": {"projectId": "a", "environment": "dev"}}) == {
        "source": {"projectId": "a"}
    }
