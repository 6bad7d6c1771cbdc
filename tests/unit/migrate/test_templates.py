"""Templates that can't be translated are marked, and nothing is rendered until somebody has written them anew."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from keybearer.controllers.template.protocol import Failure, Request, TemplateFault
from keybearer.controllers.template.sandbox import render
from keybearer.migrate.findings import Notes
from keybearer.migrate.templates import TODO, marked, translated
from support.migration import migrate_text, settings_of

NO_EQUAL = """\
apiVersion: external-secrets.io/v1
kind: ExternalSecret
metadata: {name: web, namespace: team-a}
spec:
  secretStoreRef: {name: store}
  target:
    template:
      data:
        sum: "{{ .password | sha1sum }}"
  data: [{secretKey: password, remoteRef: {key: password}}]
"""


def test_one_template_without_an_equal_leaves_the_others_as_they_are() -> None:
    notes = Notes()

    found = translated({"user": "{{ .user }}", "sum": "{{ .user | sha1sum }}"}, "spec.data", notes)

    assert found["user"] == "{{ user }}"
    assert "{{ .user | sha1sum }}" in found["sum"]
    assert [one.field for one in notes.findings] == ["spec.data.sum"]


def test_an_object_whose_only_template_has_no_equal_is_written_to_plan_and_renders_nothing() -> None:
    migration = migrate_text(NO_EQUAL, settings_of(["--map-store", "store=webshop/prod"]))

    (outcome,) = migration.outcomes
    (manifest,) = outcome.written
    spec = manifest.body["spec"]
    assert outcome.verdict.value == "part"
    assert isinstance(spec, dict)
    assert spec["mode"] == "Plan"
    target = spec["target"]
    assert isinstance(target, dict)
    template = target["template"]
    assert isinstance(template, dict)
    data = template["data"]
    assert isinstance(data, dict)
    outcome_of_rendering = render(Request({"sum": str(data["sum"])}, {"password": b"cnry-password"}))
    assert isinstance(outcome_of_rendering, Failure)
    assert (outcome_of_rendering.fault, outcome_of_rendering.name) == (TemplateFault.UNDEFINED_VARIABLE, TODO)


@settings(max_examples=300, deadline=None)
@given(original=st.text('{}#%-_ \n"abc', max_size=40))
def test_no_template_ends_the_comment_that_it_is_quoted_in(original: str) -> None:
    failure = render(Request({"key": marked(original)}, {"a": b"1"}))

    assert isinstance(failure, Failure)
    assert (failure.fault, failure.name) == (TemplateFault.UNDEFINED_VARIABLE, TODO)
