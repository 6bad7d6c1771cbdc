"""Pydantic keeps what it was given in its errors: none of the operator's ways to show one may repeat it."""

from __future__ import annotations

import ast
import importlib
import pkgutil
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, ValidationError

import keybearer
import keybearer.controllers
import keybearer.wire
from keybearer.controllers.custom_resource import describe_invalid
from keybearer.controllers.secretsync.resource import SecretSyncSpec
from keybearer.controllers.secretsync.status import SecretSyncStatus
from keybearer.controllers.settings import OperatorSettings
from keybearer.controllers.shared_identity import SharedGrant

_ROOT = Path(keybearer.__file__).parent
_STRAND = ("base", "cli", "client", "controllers", "kube", "wire")

_leaves = st.sampled_from(
    ["cnry-value", "cnry value\n", ["cnry-value"], {"cnry": "cnry-value"}, 5, True, None]
)
_names = st.sampled_from(
    ["identityRef", "source", "sources", "target", "guard", "mode", "refreshInterval", "deletionDeadline", "name",
     "kind", "type", "labels", "annotations", "keys", "items", "include", "rename", "template", "data",
     "maxDeletions", "environment", "projectId", "secretPath", "conditions", "plan", "lastRefreshTime", "adopt"]
)  # fmt: skip
_specs = st.recursive(
    _leaves, lambda inner: st.dictionaries(_names, inner, max_size=4), max_leaves=12
).filter(lambda spec: isinstance(spec, dict))


@given(spec=_specs)
def test_a_description_of_what_is_wrong_never_repeats_a_value(spec: dict[str, Any]) -> None:
    try:
        SecretSyncSpec.model_validate(spec)
    except ValidationError as error:
        described, whole = describe_invalid(error), str(error)
    else:
        return
    # `cnry` alone may show: it is the name of a field here, which says where the problem is.
    assert "cnry-value" not in described
    assert "cnry value" not in described
    assert "cnry-value" not in whole
    assert "input_value" not in whole


@pytest.mark.parametrize(
    ("model", "given"),
    [
        pytest.param(SecretSyncSpec, {"source": "cnry-value", "mode": "cnry-mode"}, id="a spec"),
        pytest.param(SecretSyncStatus, {"conditions": "cnry-value", "keysTotal": "cnry-x"}, id="a status"),
        pytest.param(SharedGrant, {"environment": ["cnry-value"], "namespaces": "cnry-x"}, id="a grant"),
        pytest.param(
            OperatorSettings,
            {"shared_client_secret": 5, "workers": "cnry-w", "cnry": "cnry-x"},
            id="settings",
        ),
    ],
)
def test_a_models_own_error_shows_no_input(model: type[BaseModel], given: dict[str, Any]) -> None:
    with pytest.raises(ValidationError) as refused:
        model.model_validate(given)

    assert "cnry-" not in str(refused.value)
    assert "input_value" not in repr(refused.value)


def test_a_spec_that_is_no_json_shows_nothing_of_it() -> None:
    with pytest.raises(ValidationError) as refused:
        SecretSyncSpec.model_validate_json(b'{"source": "cnry-value')

    assert "cnry" not in describe_invalid(refused.value)
    assert "cnry" not in str(refused.value)


def test_settings_show_no_credentials() -> None:
    settings = OperatorSettings(
        shared_client_id="cnry-id", shared_client_secret="cnry-secret", service_ca_pem=b"cnry-ca"
    )

    assert "cnry" not in repr(settings)
    assert "cnry" not in str(settings)


def _calls_of_errors(path: Path) -> list[ast.Call]:
    return [
        node
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "errors"
    ]


def test_nobody_asks_pydantic_for_errors_with_their_input() -> None:
    calls = {
        f"{path.relative_to(_ROOT)}:{call.lineno}": call
        for package in _STRAND
        for path in (_ROOT / package).rglob("*.py")
        for call in _calls_of_errors(path)
    }
    with_input = {
        where
        for where, call in calls.items()
        if not any(
            given.arg == "include_input"
            and isinstance(given.value, ast.Constant)
            and given.value.value is False
            for given in call.keywords
        )
    }

    assert calls, "the search finds the calls that there are"
    assert with_input == set()


def _models() -> list[type[BaseModel]]:
    for package in (keybearer.controllers, keybearer.wire):
        for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            importlib.import_module(module.name)
    found: list[type[BaseModel]] = []
    waiting = [BaseModel]
    while waiting:
        for kind in waiting.pop().__subclasses__():
            waiting.append(kind)
            if kind.__module__.startswith(("keybearer.controllers.", "keybearer.wire.")):
                found.append(kind)
    return found


def test_every_model_of_the_operators_strand_hides_what_it_was_given() -> None:
    shows = {kind.__qualname__ for kind in _models() if not kind.model_config.get("hide_input_in_errors")}

    assert SecretSyncSpec in _models()
    assert shows == set()
