"""What the image is built from exists, is locked, and is let through to the build."""

from __future__ import annotations

import fnmatch
import re
import tomllib

import pytest

from tools.chart.rendering import ROOT, pods_of, render

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
    joined = _DOCKERFILE.replace("\\\n", " ")
    installs = re.findall(r"pip(?: --python \S+)? (?:install|wheel) ([^&\n]*)", joined)
    assert len(installs) == 4
    for arguments in installs:
        offline = "--no-deps" in arguments and re.search("--no-index|--no-build-isolation", arguments)
        assert "--require-hashes" in arguments or offline, arguments


def test_the_image_starts_from_nothing_and_is_built_on_one_base_that_can_be_pinned() -> None:
    assert re.findall(r"^FROM (.*)$", _DOCKERFILE, re.MULTILINE) == ["${PYTHON_IMAGE} AS build", "scratch"]
    assert "# syntax" not in _DOCKERFILE, "a frontend is one more image that nobody pins"


def test_the_images_version_is_the_projects() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert re.findall(r"^ARG VERSION=(.*)$", _DOCKERFILE, re.MULTILINE) == [project["version"]]


def test_the_image_runs_as_the_user_that_the_chart_names() -> None:
    assert re.findall(r"^USER (.*)$", _DOCKERFILE, re.MULTILINE) == ["65532:65532"]
    assert 'ENTRYPOINT ["keybearer"]' in _DOCKERFILE


def test_the_image_has_the_programs_that_the_charts_pods_start() -> None:
    started = {str(pod.at("spec", "containers", 0, "command")) for pod in pods_of(render())}
    assert started == {"['keybearer']", "['python']"}
    # A virtual environment brings both, and nothing else is looked for.
    assert "python3 -m venv --without-pip /opt/keybearer " in _DOCKERFILE
    assert "ENV PATH=/opt/keybearer/bin " in _DOCKERFILE
