"""The corpus: each manifest becomes what is written down, and what is lost is said."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from pydantic import BaseModel, JsonValue

from keybearer.controllers.crds import CUSTOM_RESOURCES
from keybearer.migrate.conversion import Reading, convert
from keybearer.migrate.findings import Verdict
from keybearer.migrate.foreign import ForeignObject, objects_of
from keybearer.migrate.manifests import render_manifests
from keybearer.migrate.registry import _CONVERTERS
from keybearer.migrate.yaml_reading import read_documents
from support.migration import MigrationCase, migrate_text, migration_cases, report_of
from support.rows import each_row

CASES = list(migration_cases())
_MODELS: Mapping[str, type[BaseModel]] = {one.kind: one.spec for one in CUSTOM_RESOURCES}


@each_row("case", CASES, ids=[case.name for case in CASES])
def test_a_manifest_becomes_what_is_written_down_and_what_is_lost_is_said(case: MigrationCase) -> None:
    migration = case.migrated()

    manifests, report = case.expected()
    assert report_of(migration) == report
    assert render_manifests(list(migration.manifests)) == manifests


def _texts(value: JsonValue) -> Iterator[str]:
    if isinstance(value, dict):
        for name, inner in value.items():
            yield name
            yield from _texts(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _texts(inner)
    elif isinstance(value, str):
        yield value


@each_row("case", CASES, ids=[case.name for case in CASES])
def test_our_models_know_every_field_that_is_written(case: MigrationCase) -> None:
    for manifest in case.migrated().manifests:
        spec = manifest.body["spec"]
        assert isinstance(spec, dict)
        read = _MODELS[manifest.kind].model_validate(spec)
        kept = read.model_dump(mode="json", by_alias=True, exclude_unset=True)
        lost = set(_texts(spec)) - set(_texts(kept))
        # A path is kept with a slash before it, an interval in its largest unit.
        assert {text for text in lost if not text.startswith("/") and not text[:1].isdigit()} == set()


def test_the_corpus_has_every_kind_that_is_converted() -> None:
    given = {(one.group, one.kind) for case in CASES for one in _objects(case)}
    assert given >= _CONVERTERS.keys()


def test_no_value_of_a_secret_is_written_or_told() -> None:
    given = "".join(case.given for case in CASES)
    told = "".join(text for case in CASES for text in case.expected())
    assert given.count("cnry-") >= 5
    assert "cnry-" not in told


def test_a_version_of_more_digits_than_python_converts_is_left_out() -> None:
    (case,) = (one for one in CASES if one.name == "external-secrets-of-the-service")
    assert case.given.count('version: "4"') == 1
    migration = migrate_text(case.given.replace('version: "4"', f'version: "{"4" * 5000}"'), case.settings)
    told = [one.field for outcome in migration.outcomes for one in outcome.findings]
    assert any(field.endswith("remoteRef.version") for field in told)


def _objects(case: MigrationCase) -> list[ForeignObject]:
    return [one for document in read_documents(case.given) for one in objects_of(document, "-", 1)]


WRONG: tuple[JsonValue, ...] = (17, "x" * 3000, [], {}, [[1]], {"a": {"b": 1}}, True)


def _damaged(value: JsonValue) -> Iterator[JsonValue]:
    """Yield the value with one part of it, at any depth, exchanged for something else, or taken away."""
    if isinstance(value, dict):
        for name, inner in value.items():
            rest = {key: other for key, other in value.items() if key != name}
            yield rest
            for wrong in (*WRONG, *_damaged(inner)):
                yield {**rest, name: wrong}
    elif isinstance(value, list):
        for index, inner in enumerate(value[:2]):
            for changed in _damaged(inner):
                yield [*value[:index], changed, *value[index + 1 :]]


@each_row("case", CASES, ids=[case.name for case in CASES])
def test_a_manifest_that_is_wrong_anywhere_ends_with_a_verdict_and_writes_nothing_invalid(
    case: MigrationCase,
) -> None:
    objects, settings = _objects(case), case.settings
    seen: set[str] = set()
    for one in objects:
        for number, spec in enumerate(_damaged(dict(one.spec))):
            if (
                number % 3 and one.kind in seen
            ):  # of a kind, all damages of the first, and a third of the others'
                continue
            (damaged,) = objects_of({**one.body, "spec": spec}, "-", 1)
            migration = convert(Reading([damaged]), settings, objects)
            for outcome in migration.outcomes:
                assert (outcome.verdict is Verdict.NOT) <= bool(outcome.findings)
            for manifest in migration.manifests:
                _MODELS[manifest.kind].model_validate(manifest.body["spec"])
        seen.add(one.kind)


def _with_a_stranger(value: JsonValue, path: str) -> Iterator[tuple[str, JsonValue]]:
    """Yield the value with a field that nobody knows in one of its mappings, and where it stands."""
    if isinstance(value, dict):
        yield path, {**value, "somethingNew": "yes"}
        for name, inner in value.items():
            for where, changed in _with_a_stranger(inner, f"{path}.{name}"):
                yield where, {**value, name: changed}
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            for where, changed in _with_a_stranger(inner, f"{path}[{index}]"):
                yield where, [*value[:index], changed, *value[index + 1 :]]


_TEXTS = ("labels", "annotations", "matchLabels", "data")
"""Mappings whose names are the user's own: a further one is carried as the others are."""


@each_row("case", CASES, ids=[case.name for case in CASES])
def test_a_field_that_nobody_knows_is_never_passed_over_in_silence(case: MigrationCase) -> None:
    objects, settings = _objects(case), case.settings
    silent: set[str] = set()
    for one in objects:
        if one.kind == "Ingress":  # it stays as it is
            continue
        for path, spec in _with_a_stranger(dict(one.spec), "spec"):
            (changed,) = objects_of({**one.body, "spec": spec}, "-", 1)
            for outcome in convert(Reading([changed]), settings, objects).outcomes:
                is_told = outcome.verdict is Verdict.NOT or any(
                    finding.field and (f"{path}.somethingNew").startswith(finding.field)
                    for finding in outcome.findings
                )
                if not is_told and path.rpartition(".")[2] not in _TEXTS:
                    silent.add(f"{one.kind} {path}")
    assert silent == set()
