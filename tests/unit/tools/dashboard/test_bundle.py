"""The committed page is held against its source without Node."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from tools.dashboard import bundle
from tools.dashboard.bundle import PAGE, SOURCE, differences


@pytest.fixture
def page(tmp_path: Path) -> Path:
    return Path(shutil.copytree(PAGE, tmp_path / "page"))


def test_the_committed_page_fits_its_source() -> None:
    assert differences() == []


def test_an_edited_page_is_named(page: Path) -> None:
    (page / "page.js").write_text("alert(1)")
    (page / "more.js").write_text("")
    (page / "page.css").unlink()
    assert differences(page) == [
        f"{page / name} isn't what was built" for name in ("more.js", "page.css", "page.js")
    ]


def test_a_changed_source_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    source = Path(shutil.copytree(SOURCE, tmp_path / "dashboard"))
    (source / "source" / "page.css").write_text("")
    monkeypatch.setattr(bundle, "SOURCE", source)
    assert differences() == [f"{source} has changed since the page was built"]


def test_a_page_without_a_record_is_named(page: Path) -> None:
    (page / "built.json").unlink()
    assert differences(page) == [f"{page / 'built.json'} is missing"]


def test_the_lock_has_a_hash_for_each_package_and_no_address() -> None:
    packages = json.loads((SOURCE / "package-lock.json").read_text())["packages"]
    outside = {name: one for name, one in packages.items() if name}
    assert outside
    for name, one in outside.items():
        assert one["integrity"].startswith("sha512-"), name
        assert "resolved" not in one, name
