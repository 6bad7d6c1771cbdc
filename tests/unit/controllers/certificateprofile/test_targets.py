"""keybearer.controllers.certificateprofile.targets."""

from __future__ import annotations

import pytest

from keybearer.controllers.certificateprofile.targets import targets_of
from keybearer.controllers.work import WorkKey
from unit.controllers.fakes.targets import Field

_KEYS = "web.certificate-keys"


@pytest.mark.parametrize(
    ("certificates", "named"),
    [
        pytest.param([{"name": "a", "secretName": "tls"}, {"name": "b"}], [_KEYS, "tls", "b"], id="two"),
        pytest.param(
            [{"name": "a"}, {"name": "b", "secretName": "a"}], [_KEYS, "a"], id="one Secret named twice"
        ),
        pytest.param([{"name": 5}, "nonsense", {}], [_KEYS], id="no names"),
        pytest.param("nonsense", [_KEYS], id="no list"),
        pytest.param(None, [_KEYS], id="no certificates"),
    ],
)
def test_the_secrets_are_found_in_a_spec_that_nobody_has_judged_yet(
    certificates: Field, named: list[str]
) -> None:
    found = targets_of({"certificates": certificates}, WorkKey("CertificateProfile", "team-a", "web"))

    assert [one.name for one in found] == named
    assert {(one.kind, one.namespace) for one in found} == {("Secret", "team-a")}
