"""What breaks the site, and what it never loads."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from tools.local.waiting import PATIENCE_SECONDS

ROOT = Path(__file__).parents[3]
NAVIGATION = """\
[[part]]
caption = "Start"
pages = ["docs/page.md", "docs/none*.md"]

[[chapter]]
of = "docs/page.md"
pages = ["docs/below/*.md"]
"""
GOOD = {
    "README.md": "# Home\n\n[a page](docs/page.md#a-heading-with-code), [a file](LICENSE)\n",
    "docs/page.md": "# Page\n\n## A heading, with `code`\n\n![a picture](picture.svg)\n\n    some code\n",
    "docs/below/first.md": "# First\n\n[home](../../README.md)\n",
    "docs/picture.svg": '<svg xmlns="http://www.w3.org/2000/svg" width="1" height="1"/>\n',
    "docs/navigation.toml": NAVIGATION,
    "LICENSE": "as you like\n",
}


def build(folder: Path, files: dict[str, str]) -> subprocess.CompletedProcess[str]:
    """Build a site of these files as `make docs` does."""
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    (folder / "docs" / "_static").mkdir(exist_ok=True)
    (command,) = re.findall(r"\$\(BIN\)/(sphinx-build .*)", (ROOT / "Makefile").read_text())
    options = command.split()[1 : command.split().index("-c")]
    return subprocess.run(
        [
            sys.executable,
            "-m",
            "sphinx",
            *options,
            "-c",
            str(ROOT / "docs"),
            str(folder),
            str(folder / "out"),
        ],
        capture_output=True,
        text=True,
        timeout=PATIENCE_SECONDS,
        check=False,
    )


@pytest.fixture(scope="module")
def good(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("good")
    done = build(folder, GOOD)
    assert done.returncode == 0, done.stderr
    return folder / "out"


def test_a_site_without_faults_has_its_pages_and_a_first_one(good: Path) -> None:
    assert "README.html" in (good / "index.html").read_text()
    first = (good / "README.html").read_text()
    assert 'href="docs/page.html#a-heading-with-code"' in first
    assert "docs/below/first.html" in first, "in the navigation"


def test_a_site_loads_nothing_from_elsewhere(good: Path) -> None:
    for page in good.rglob("*.html"):
        text = page.read_text()
        assert not re.search(r"""<(script|img|iframe)[^>]* src=["']?(https?:)?//""", text)
        assert not re.search(r"""<link[^>]* href=["']?(https?:)?//""", text)
    for sheet in good.rglob("*.css"):
        assert not re.search(r"""(@import|url\()\s*["']?(https?:)?//""", sheet.read_text())


def test_each_fault_ends_the_build_and_is_named(tmp_path: Path) -> None:
    faults = {
        "docs/page.md": "# Page\n\n[a](gone.md) [b](../README.md#gone)\n"
        "[c](gone.yaml) [d](#gone-too)\n\n![e](gone.svg)\n",
        "docs/alone.md": "# Alone\n",
        "docs/navigation.toml": NAVIGATION.replace('"docs/page.md", ', '"docs/page.md", "docs/missing.md", '),
    }
    done = build(tmp_path, GOOD | faults)
    assert done.returncode == 1
    for fault in (
        "'gone.md'",
        "doc 'README': 'gone'",
        "'gone.yaml'",
        "'gone-too'",
        "gone.svg",
        "alone.md: WARNING: document isn't included in any toctree",
        "nonexisting document 'docs/missing'",
    ):
        assert fault in done.stderr, f"{fault} in {done.stderr}"
