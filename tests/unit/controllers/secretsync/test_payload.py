from __future__ import annotations

import pytest

from keybearer.controllers.secretsync.payload import judge_payload
from keybearer.controllers.secretsync.reasons import KeyProblemReason
from keybearer.controllers.target.size import VALUES_MAX_BYTES
from keybearer.controllers.target.spec import TargetKind
from support.rows import each_row


def test_what_fits_is_written_as_it_is() -> None:
    payload = judge_payload(TargetKind.SECRET, "Opaque", {"A": b"cnry-a", "B": b"\xff"})

    assert payload.data == {"A": b"cnry-a", "B": b"\xff"}
    assert (payload.text, payload.problems) == ({}, ())


def test_a_key_that_kubernetes_refuses_is_named_with_its_source_and_left_out() -> None:
    payload = judge_payload(
        TargetKind.SECRET, "Opaque", {"MY KEY": b"cnry-a", "B": b"cnry-b"}, {"MY KEY": "dev:/MY KEY"}
    )

    (problem,) = payload.problems
    assert (problem.key, problem.reason, problem.source_ref) == (
        "MY KEY",
        KeyProblemReason.INVALID_KEY,
        "dev:/MY KEY",
    )
    assert problem.blocking
    assert payload.data == {"B": b"cnry-b"}


@pytest.mark.parametrize(("extra", "problems"), [(0, 0), (1, 1)], ids=["at the limit", "over the limit"])
@pytest.mark.parametrize("kind", TargetKind)
def test_the_sum_of_values_is_held_to_the_limit_of_kubernetes(
    kind: TargetKind, extra: int, problems: int
) -> None:
    data = {"A": b"c" * 10, "LARGE": b"c" * (VALUES_MAX_BYTES - 10 + extra)}

    payload = judge_payload(kind, "Opaque", data)

    assert [problem.key for problem in payload.problems] == ["LARGE"] * problems
    assert all(problem.reason is KeyProblemReason.TOO_LARGE for problem in payload.problems)


@pytest.mark.parametrize("mark", ["\x01", "<"])
def test_a_config_map_that_is_too_large_as_json_is_refused_with_a_remedy(mark: str) -> None:
    data = {"A": b"c", "LARGE": (mark * 900_000).encode()}
    payload = judge_payload(TargetKind.CONFIG_MAP, "Opaque", data, {"LARGE": "dev:/LARGE"})

    (problem,) = payload.problems
    assert (problem.key, problem.reason, problem.source_ref) == (
        "LARGE",
        KeyProblemReason.TOO_LARGE,
        "dev:/LARGE",
    )
    assert "the values take 5400001 bytes as JSON" in problem.message
    assert "b64encode" in problem.message
    assert judge_payload(TargetKind.SECRET, "Opaque", data).problems == (), "a Secret is written in Base64"


@pytest.mark.parametrize("mark", ["\n", '"', "\\", "\t", "\N{LATIN SMALL LETTER O WITH DIAERESIS}", "a"])
def test_other_characters_never_make_a_config_map_too_large(mark: str) -> None:
    text = (mark * VALUES_MAX_BYTES).encode()[:VALUES_MAX_BYTES]

    assert judge_payload(TargetKind.CONFIG_MAP, "Opaque", {"A": text}).problems == ()


@each_row(
    ("secret_type", "data", "problems"),
    [
        ("kubernetes.io/tls", {"tls.crt": b"", "tls.key": b""}, []),
        ("kubernetes.io/tls", {"tls.crt": b""}, [("tls.key", KeyProblemReason.MISSING_TYPE_KEY)]),
        ("kubernetes.io/basic-auth", {"password": b"cnry"}, []),
        ("kubernetes.io/basic-auth", {"user": b"cnry"}, [("username", KeyProblemReason.MISSING_TYPE_KEY)]),
        ("kubernetes.io/ssh-auth", {"ssh-privatekey": b"cnry"}, []),
        ("kubernetes.io/ssh-auth", {}, [("ssh-privatekey", KeyProblemReason.MISSING_TYPE_KEY)]),
        ("kubernetes.io/dockerconfigjson", {".dockerconfigjson": b'{"auths": {}}'}, []),
        (
            "kubernetes.io/dockerconfigjson",
            {".dockerconfigjson": b"cnry"},
            [(".dockerconfigjson", KeyProblemReason.INVALID_TYPE_VALUE)],
        ),
        (
            "kubernetes.io/dockerconfigjson",
            {".dockerconfigjson": b"[" * 100_000},
            [(".dockerconfigjson", KeyProblemReason.INVALID_TYPE_VALUE)],
        ),
        (
            "kubernetes.io/dockerconfigjson",
            {".dockerconfigjson": b"[]"},
            [(".dockerconfigjson", KeyProblemReason.INVALID_TYPE_VALUE)],
        ),
        ("example.com/own", {}, []),
    ],
)
def test_a_type_demands_its_keys(
    secret_type: str, data: dict[str, bytes], problems: list[tuple[str, KeyProblemReason]]
) -> None:
    payload = judge_payload(TargetKind.SECRET, secret_type, data)

    assert [(problem.key, problem.reason) for problem in payload.problems] == problems
    assert all("cnry" not in problem.message for problem in payload.problems)


def test_a_config_map_takes_text_as_text_and_the_rest_as_bytes() -> None:
    payload = judge_payload(TargetKind.CONFIG_MAP, "Opaque", {"A": "cnry-ä".encode(), "B": b"cnry-\xff"})

    assert payload.text == {"A": "cnry-ä"}
    assert payload.data == {"B": b"cnry-\xff"}


def test_a_config_map_has_no_type_to_demand_keys() -> None:
    assert judge_payload(TargetKind.CONFIG_MAP, "kubernetes.io/tls", {}).problems == ()


def test_a_payload_shows_no_value() -> None:
    payload = judge_payload(TargetKind.CONFIG_MAP, "Opaque", {"A": b"cnry-a", "B": b"cnry-\xff"})

    assert "cnry" not in repr(payload)
