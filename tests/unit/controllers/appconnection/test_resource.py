"""keybearer.controllers.appconnection.resource."""

from __future__ import annotations

import pytest
from pydantic import ValidationError

from keybearer.controllers.appconnection.resource import AppConnectionSpec
from keybearer.controllers.custom_resource import describe_invalid
from support.corpus import CorpusCase, corpus_cases
from support.rows import each_row

_CASES = list(corpus_cases("appconnection"))


@pytest.mark.parametrize("case", [case for case in _CASES if case.accepted], ids=lambda case: case.name)
def test_the_model_takes_what_the_corpus_accepts(case: CorpusCase) -> None:
    AppConnectionSpec.model_validate(case.spec)


@each_row("case", [case for case in _CASES if not case.accepted], ids=lambda case: case.name)
def test_the_model_refuses_what_the_corpus_refuses_and_says_where_and_why(case: CorpusCase) -> None:
    with pytest.raises(ValidationError) as refusal:
        AppConnectionSpec.model_validate(case.spec)
    said = describe_invalid(refusal.value)

    assert case.field in said
    assert case.because in said
