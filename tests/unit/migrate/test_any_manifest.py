"""Whatever is given, an object ends with a verdict: nothing crashes, and what is written is valid."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

import yaml
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import JsonValue

from keybearer.controllers.crds import CUSTOM_RESOURCES
from keybearer.migrate import registry
from keybearer.migrate.conversion import Reading, convert
from keybearer.migrate.findings import Effect, Verdict
from keybearer.migrate.foreign import objects_of
from keybearer.migrate.refused import REFUSED
from keybearer.migrate.settings import IssuerPlace, Place, Settings

KINDS = sorted({*registry._CONVERTERS, *REFUSED, ("generators.external-secrets.io", "Password")})
_SOURCES = Path(registry.__file__).parent
NAMES = sorted(
    {
        name
        for source in _SOURCES.rglob("*.py")
        for name in re.findall(r'"([a-z][A-Za-z0-9]{1,30})"', source.read_text(encoding="utf-8"))
    }
)
"""Every word of the converters: names of fields, policies, providers."""

WORDS = st.one_of(
    st.sampled_from(NAMES),
    st.sampled_from(
        ["Merge", "Orphan", "None", "Base64", "1h0m", "0", "a/b", "^x-(.*)$", "{{ .a | b64enc }}", "*", ""]
    ),
    st.text(max_size=8),
)
VALUES = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(-5, 10**12), WORDS),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.dictionaries(st.one_of(st.sampled_from(NAMES), WORDS), inner, max_size=6),
    ),
    max_leaves=12,
)
CHOICES = (
    Settings(),
    Settings(
        stores={"*": Place("shop", "prod")},
        secrets={"*": Place("shop", "prod")},
        issuers={"*": IssuerPlace("web")},
    ),
)


@settings(max_examples=60, deadline=None)
@given(
    whose=st.sampled_from(KINDS),
    spec=st.dictionaries(st.sampled_from(NAMES), VALUES, max_size=8),
    choice=st.sampled_from(CHOICES),
)
def test_a_manifest_of_any_form_ends_with_a_verdict(
    whose: tuple[str, str], spec: Mapping[str, JsonValue], choice: Settings
) -> None:
    group, kind = whose
    document: JsonValue = {
        "apiVersion": f"{group}/v1",
        "kind": kind,
        "metadata": {"name": "case", "namespace": "team-a"},
        "spec": dict(spec),
    }
    migration = convert(Reading(list(objects_of(document, "-", 1))), choice)

    (outcome,) = migration.outcomes
    assert (outcome.verdict is Verdict.NOT) <= bool(outcome.findings)
    assert (outcome.verdict is Verdict.PART) <= any(one.effect is not Effect.STEP for one in outcome.findings)
    models = {one.kind: one.spec for one in CUSTOM_RESOURCES}
    for manifest in migration.manifests:
        models[manifest.kind].model_validate(yaml.safe_load(yaml.safe_dump(manifest.body["spec"])))
