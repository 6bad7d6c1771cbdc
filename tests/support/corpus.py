"""The accept/reject corpus of custom resources: the same verdicts from the models and the API server."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

__all__ = ["CorpusCase", "corpus_cases"]

_CORPUS = Path(__file__).resolve().parents[1] / "corpus"


@dataclass(frozen=True, slots=True)
class CorpusCase:
    """A spec and what becomes of it.

    Attributes:
        name: what it is, as a sentence.
        accepted: whether it is taken.
        spec: of the custom resource.
        field: where the refusal points; empty when accepted.
        because: part of the refusal's text; empty where each side has words of its own.
    """

    name: str
    accepted: bool
    spec: dict[str, Any]
    field: str
    because: str


def corpus_cases(kind: str) -> Iterator[CorpusCase]:
    """Yield the cases of a kind (a folder of `tests/corpus`), file by file."""
    for path in sorted((_CORPUS / kind).glob("*.yaml")):
        for case in yaml.safe_load(path.read_text(encoding="utf-8")):
            assert case["verdict"] in ("accepted", "refused"), f"{path}: {case['name']}"
            yield CorpusCase(
                name=f"{path.stem}: {case['name']}",
                accepted=case["verdict"] == "accepted",
                spec=_repeat(case["spec"], case.get("repeat")),
                field=case.get("field", ""),
                because=case.get("because", ""),
            )


def _repeat(spec: dict[str, Any], repeats: dict[str, Any] | list[dict[str, Any]] | None) -> dict[str, Any]:
    """Multiply a text, a list of one item or a mapping of one item, so that bounds needn't be written out."""
    spec = copy.deepcopy(spec)
    for repeat in [repeats] if isinstance(repeats, dict) else repeats or []:
        *way, last = repeat["path"].split(".")
        part = spec
        for step in way:
            part = part[step]
        if isinstance(part[last], dict):
            ((key, value),) = part[last].items()
            part[last] = {f"{key}{number}": value for number in range(repeat["times"])}
        else:
            part[last] = part[last] * repeat["times"]
    return spec
