"""The reference is in step with the code, and the code leaves none of its words unexplained."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from enum import StrEnum
from pathlib import Path

import pytest
import yaml
from pydantic import JsonValue

from keybearer.controllers.appconnection.reasons import Reason as ConnectionReason
from keybearer.controllers.appconnection.remedies import REMEDIES as CONNECTION_REMEDIES
from keybearer.controllers.certificateprofile.reasons import REMEDIES as PROFILE_REMEDIES
from keybearer.controllers.certificateprofile.reasons import Reason as ProfileReason
from keybearer.controllers.remedy import Remedy
from keybearer.controllers.secretsync.reasons import KEY_REMEDIES, KeyProblemReason
from keybearer.controllers.secretsync.reasons import REMEDIES as SYNC_REMEDIES
from keybearer.controllers.secretsync.reasons import Reason as SyncReason
from keybearer.controllers.signers.remedies import REMEDIES as SIGNER_REMEDIES
from keybearer.controllers.target.reasons import TargetReason
from tools.reference.commands import commands
from tools.reference.events import EVENTS
from tools.reference.labels import MARKS, REQUESTS
from tools.reference.metrics import LABELS, families, service_families
from tools.reference.pages import DOCS, out_of_step, pages, with_tables, write
from tools.reference.source import member_docs, string_constants, texts_given_to, trees

ROOT = Path(__file__).parents[3]
A_REASON = re.compile(r"[A-Z][a-z]+([A-Z][A-Za-z]*)?")


@pytest.fixture(scope="module")
def written() -> Mapping[str, str]:
    return pages()


def test_the_reference_is_in_step_with_the_code() -> None:
    assert out_of_step(DOCS) == [], "run: make reference"


def test_what_is_edited_missing_or_left_over_is_out_of_step(tmp_path: Path) -> None:
    page = tmp_path / "destinations.md"
    page.write_text(re.sub(r"^\|.*\n", "", (DOCS / "destinations.md").read_text(), flags=re.MULTILINE))
    write(tmp_path)
    assert out_of_step(tmp_path) == []
    page.write_text(f"{page.read_text().replace('| `gitlab` |', '| `gitlob` |')}More.\n")
    (tmp_path / "reference" / "events.md").write_text("# Events\n")
    (tmp_path / "reference" / "metrics.md").unlink()
    (tmp_path / "pictures" / "old.svg").write_text("<svg/>")
    assert out_of_step(tmp_path) == [
        "destinations.md",
        "pictures/old.svg",
        "reference/events.md",
        "reference/metrics.md",
    ]
    write(tmp_path)
    assert out_of_step(tmp_path) == []
    assert "| `gitlab` |" in page.read_text()
    assert page.read_text().endswith("More.\n")  # what people write stays


@pytest.mark.parametrize("page", ["none", "<!-- a: {} -->\n", "<!-- a: {} -->\n<!-- end of a -->\n" * 2])
def test_a_table_without_its_one_place_is_told(page: str) -> None:
    note = "written by `make reference` from the code; edit that instead"
    with pytest.raises(ValueError, match="there must be one place between <!-- a: "):
        with_tables(page.format(note, note), {"a": "| a |\n"})


@pytest.mark.parametrize(
    ("kind", "remedies"),
    [
        (SyncReason, SYNC_REMEDIES),
        (ConnectionReason, CONNECTION_REMEDIES),
        (ProfileReason, PROFILE_REMEDIES),
    ],
    ids=["SecretSync", "AppConnection", "CertificateProfile"],
)
def test_each_reason_says_what_it_means_and_what_to_do(
    kind: type[StrEnum], remedies: Mapping[str, Remedy]
) -> None:
    assert member_docs(kind).keys() == {str(reason.value) for reason in kind}
    idle = {reason for reason in kind if not remedies[reason].step}
    assert idle <= {"Synced", "Connected", "Issued"}, "an empty remedy says that all is well"


def test_each_reason_of_a_key_says_what_it_means_and_what_to_do() -> None:
    assert KEY_REMEDIES.keys() == set(KeyProblemReason)
    assert all(means and remedy for means, remedy in KEY_REMEDIES.values())


def test_a_reason_that_is_written_out_is_one_that_is_explained() -> None:
    raised = texts_given_to("StalledError", "WaitingError", "SourceFailure")
    known = {reason.value for kind in (SyncReason, ConnectionReason, ProfileReason) for reason in kind}
    assert {text for text in raised if A_REASON.fullmatch(text)} - known == set()
    assert {reason.value for reason in TargetReason} - {reason.value for reason in SyncReason} == set()


def test_each_reason_that_requests_of_others_are_answered_with_is_explained() -> None:
    given = {text for text in texts_given_to("refused", "Verdict", "Flaw") if A_REASON.fullmatch(text)}
    assert len(given) > 10
    assert given - SIGNER_REMEDIES.keys() == set()
    modes = {f"Profile{mode}" for mode in ("Plan", "Suspended")}
    assert SIGNER_REMEDIES.keys() - given == {*modes, "CertificateIssued"}


def calls(tree: ast.Module, *names: str) -> Iterator[ast.Call]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in names:
            yield node


def test_each_event_is_explained() -> None:
    told: set[str] = set()
    for tree in trees():
        for call, place in [
            *((call, 2) for call in calls(tree, "_tell")),
            *((call, 1) for call in calls(tree, "certificate")),
        ]:
            reason = call.args[place] if len(call.args) > place else None
            if isinstance(reason, ast.Constant):
                told.add(str(reason.value))
    assert told == EVENTS.keys()


def test_each_label_annotation_and_finalizer_is_explained() -> None:
    used = {text for text in string_constants() if re.fullmatch(r"keybearer\.dev/[A-Za-z-]+", text)}
    not_on_objects = {
        "keybearer.dev/operator",
        "keybearer.dev/v",
    }  # who tells Events; the beginning of an apiVersion
    assert used - MARKS.keys() - REQUESTS.keys() - not_on_objects == set()


def test_each_metric_and_each_of_its_labels_is_explained(written: Mapping[str, str]) -> None:
    page = written["reference/metrics.md"]
    for name, (family, labels) in (*families().items(), *service_families().items()):
        assert family.documentation
        assert f"| `{name}` | {family.type}" in page
        assert set(labels) <= LABELS.keys(), (
            f"say what the labels of {name} are in tools/reference/metrics.py"
        )


def test_a_metric_is_named_as_a_scrape_names_it(written: Mapping[str, str]) -> None:
    page = written["reference/metrics.md"]
    assert "| `keybearer_target_writes_total` | counter | `kind`, `action` |" in page
    assert (
        "| `keybearer_certificate_ready` | gauge | `namespace`, `profile`, `certificate`, `secret` |" in page
    )


def fields(schema: Mapping[str, JsonValue], path: str) -> Iterator[tuple[str, str]]:
    """Return the section and the name of every field below an object of a schema."""
    properties = schema.get("properties")
    for name, field in properties.items() if isinstance(properties, dict) else ():
        yield path, name
        inner, steps = field, ""
        while isinstance(inner, dict):
            if isinstance(items := inner.get("items"), dict):
                inner, steps = items, f"{steps}[]"
            elif isinstance(entries := inner.get("additionalProperties"), dict):
                inner, steps = entries, f"{steps}.*"
            else:
                yield from fields(inner, f"{path}.{name}{steps}")
                break


@pytest.mark.parametrize("kind", ["secretsync", "appconnection", "certificateprofile"])
def test_each_field_of_a_custom_resource_stands_on_its_page(kind: str, written: Mapping[str, str]) -> None:
    definition = yaml.safe_load((ROOT / "crds" / f"keybearer.dev_{kind}s.yaml").read_text())
    schema = definition["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]
    sections = dict(
        re.findall(r"^##+ (\S+)\n(.*?)(?=^##|\Z)", written[f"reference/{kind}.md"], re.MULTILINE | re.DOTALL)
    )
    expected = [*fields(schema["spec"], "spec"), *fields(schema["status"], "status")]
    assert len(expected) > 20
    for section, name in expected:
        assert f"| `{name}`" in sections[section], f"{section}.{name}"


def rules(schema: object) -> Iterator[str]:
    if isinstance(schema, dict):
        for rule in schema.get("x-kubernetes-validations", ()):
            yield rule["rule"]
        for part in schema.values():
            yield from rules(part)
    elif isinstance(schema, list):
        for part in schema:
            yield from rules(part)


@pytest.mark.parametrize("kind", ["secretsync", "appconnection", "certificateprofile"])
def test_each_rule_of_a_custom_resource_stands_on_its_page(kind: str, written: Mapping[str, str]) -> None:
    definition = yaml.safe_load((ROOT / "crds" / f"keybearer.dev_{kind}s.yaml").read_text())
    expected = list(rules(definition))
    page = written[f"reference/{kind}.md"].replace("\\|", "|")
    assert len(expected) >= 3
    for rule in expected:
        assert page.count(" ".join(rule.split())) >= expected.count(rule), rule


def test_each_command_stands_on_its_page_with_each_option(written: Mapping[str, str]) -> None:
    sections = dict(
        re.findall(
            r"^## ((?:kubectl )?keybearer .*?)\n(.*?)(?=^## |\Z)",
            written["reference/commands.md"],
            re.MULTILINE | re.DOTALL,
        )
    )
    known = commands()
    assert [one.name for one in known] == list(sections)
    for one in known:
        for parameter in one.command.params:
            names = [name for name in parameter.opts if name.startswith("--")]
            assert all(f"`{name}`" in sections[one.name] for name in names), (one.name, names)
