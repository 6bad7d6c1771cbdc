"""Who writes a text has judged what it leads to: only values that lead on are opened for that."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from pathlib import Path

import pytest

from keybearer.domain.secrets.changes import NewSecret
from keybearer.store import secret_rows
from keybearer.store.records import Project
from keybearer.store.sealing.envelope import KeyName, SealingKey
from keybearer.store.secret_codec import Sealed, open_value
from support.service_domain import ServiceDomain, at, service_domain


@pytest.fixture
async def domain(tmp_path: Path) -> AsyncIterator[ServiceDomain]:
    async with service_domain(tmp_path) as made:
        yield made


@pytest.fixture
async def project(domain: ServiceDomain) -> Project:
    """Have plain values and texts in two folders; the texts lead to a third one."""
    project = await domain.project("judged")
    for path in ("/one", "/two", "/end"):
        await domain.folder(project, path)
    await _put(domain, project, "/end", {"LAST": "v"})
    for path in ("/one", "/two"):
        await _put(domain, project, path, {"PLAIN": "v", "LEADS": "${dev.end.LAST}"})
    return project


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return the keys of the secrets whose values are opened."""
    keys: list[str] = []

    def noted(known: Mapping[KeyName, SealingKey], sealed: Sealed, envelope: bytes) -> str:
        keys.append(sealed.key)
        return open_value(known, sealed, envelope)

    monkeypatch.setattr(secret_rows, "open_value", noted)
    return keys


async def _put(domain: ServiceDomain, project: Project, path: str, values: Mapping[str, str]) -> None:
    new = [NewSecret(key, value) for key, value in values.items()]
    await domain.writing.create(domain.admin, at(project, path), new)


@pytest.mark.parametrize(
    ("text", "leading"),
    [
        pytest.param("${dev.one.PLAIN} ${dev.end.LAST} ${dev.one.NONE}", [], id="plain values"),
        pytest.param("${dev.one.PLAIN} ${dev.one.LEADS}", ["LEADS"], id="one that leads on, in one folder"),
        pytest.param(
            "${dev.one.PLAIN} ${dev.one.LEADS} ${dev.two.PLAIN} ${dev.two.LEADS}",
            ["LEADS", "LEADS"],
            id="one that leads on in each of two folders",
        ),
    ],
)
async def test_plain_values_stay_sealed_while_a_text_that_names_them_is_written(
    domain: ServiceDomain, project: Project, opened: list[str], text: str, leading: list[str]
) -> None:
    await _put(domain, project, "/", {"TEXT": text})
    assert opened == leading
