"""What the image is built from exists, is locked, and is let through to the build."""

from __future__ import annotations

import fnmatch
import re

import pytest

from support.chart import ROOT

_DOCKERFILE = (ROOT / "Dockerfile").read_text()


def _copied() -> list[str]:
    """Sources of the COPY instructions that come from the repository."""
    found: list[str] = []
    for line in re.findall(r"^COPY (.*)$", _DOCKERFILE, re.MULTILINE):
        if not line.startswith("--from="):
            *sources, _ = line.split()
            found += sources
    return found


def _is_sent_to_the_build(path: str) -> bool:
    """By the rules of .dockerignore: the last line that matches decides."""
    sent = True
    for line in (ROOT / ".dockerignore").read_text().splitlines():
        pattern = line.removeprefix("!").rstrip("/")
        if pattern and not line.startswith("#") and fnmatch.fnmatch(path, pattern):
            sent = line.startswith("!")
    return sent


@pytest.mark.parametrize("source", _copied())
def test_a_copied_file_exists_and_is_sent_to_the_build(source: str) -> None:
    assert (ROOT / source).exists()
    assert _is_sent_to_the_build(source)


@pytest.mark.parametrize("path", [".git", "tests", ".venv", "requirements/dev.txt", "admin.json"])
def test_what_the_image_does_not_need_is_not_sent(path: str) -> None:
    assert not _is_sent_to_the_build(path)


def test_the_build_pins_what_development_pins() -> None:
    pinned = re.compile(r"^[a-z0-9-]+==\S+ \\\n(?:    --hash=\S+(?: \\)?\n)+", re.MULTILINE)
    development = set(pinned.findall((ROOT / "requirements/dev.txt").read_text()))
    build = pinned.findall((ROOT / "requirements/build.txt").read_text())
    assert build
    assert set(build) <= development


def test_every_download_is_checked_against_a_hash() -> None:
    installs = re.findall(r"pip (?:install|wheel) (.*)$", _DOCKERFILE, re.MULTILINE)
    assert installs
    for arguments in installs:
        assert "--require-hashes" in arguments or "--no-deps" in arguments, arguments
        assert (
            "--require-hashes" in arguments
            or "--no-index" in arguments
            or "--no-build-isolation" in arguments
        )


def test_the_image_runs_as_the_user_that_the_chart_names() -> None:
    assert re.findall(r"^USER (.*)$", _DOCKERFILE, re.MULTILINE) == ["65532:65532"]
    assert 'ENTRYPOINT ["keybearer"]' in _DOCKERFILE
