"""keybearer.controllers.certificateprofile.resource."""

from __future__ import annotations

import pytest
from pydantic import ValidationError

from keybearer.controllers.certificateprofile.resource import CertificateProfileSpec
from keybearer.controllers.custom_resource import describe_invalid
from support.corpus import CorpusCase, corpus_cases
from support.rows import each_row

_CASES = list(corpus_cases("certificateprofile"))


@each_row("case", [case for case in _CASES if case.accepted], ids=lambda case: case.name)
def test_the_model_takes_what_the_corpus_accepts(case: CorpusCase) -> None:
    CertificateProfileSpec.model_validate(case.spec)


@each_row("case", [case for case in _CASES if not case.accepted], ids=lambda case: case.name)
def test_the_model_refuses_what_the_corpus_refuses_and_says_where_and_why(case: CorpusCase) -> None:
    with pytest.raises(ValidationError) as refusal:
        CertificateProfileSpec.model_validate(case.spec)
    said = describe_invalid(refusal.value)

    assert case.field in said
    assert case.because in said


def test_at_most_200_certificates_are_taken() -> None:
    spec = {"identityRef": {"name": "login"}, "existing": True}

    def listed(count: int) -> list[dict[str, str]]:
        return [{"name": f"c{number}"} for number in range(count)]

    CertificateProfileSpec.model_validate(spec | {"certificates": listed(200)})
    with pytest.raises(ValidationError, match="certificates"):
        CertificateProfileSpec.model_validate(spec | {"certificates": listed(201)})
