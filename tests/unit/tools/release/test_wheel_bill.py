"""The wheel's bill of materials names its files and what it asks for, and is the same for the same wheel."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path

import pytest
from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator

from tools.release.errors import ReleaseError
from tools.release.wheel_bill import bill_of_wheel, locked_versions

METADATA = """Metadata-Version: 2.4
Name: keybearer
Version: 1.2.3
License-Expression: Apache-2.0
Requires-Dist: PyJWT>=2.15
Requires-Dist: uvloop>=0.23; sys_platform != "win32"
Provides-Extra: postgres
Requires-Dist: asyncpg>=0.32; extra == "postgres"
Provides-Extra: dev
Requires-Dist: pytest>=9.2; extra == "dev"

About it.
Requires-Dist: nothing
"""
LOCK = """asyncpg==0.32.1 \\
    --hash=sha256:00
pyjwt==2.15.0 \\
    --hash=sha256:00
uvloop==0.23.1 ; sys_platform != 'win32' \\
    --hash=sha256:00
"""


@pytest.fixture
def wheel(tmp_path: Path) -> Path:
    archive = tmp_path / "keybearer-1.2.3-py3-none-any.whl"
    with zipfile.ZipFile(archive, "w") as opened:
        opened.writestr("keybearer-1.2.3.dist-info/METADATA", METADATA)
        opened.writestr("keybearer/__init__.py", "")
    return archive


def test_it_is_a_bill_that_names_files_and_requirements(wheel: Path) -> None:
    written = bill_of_wheel(wheel, locked_versions(LOCK), 1_700_000_000)
    assert JsonStrictValidator(SchemaVersion.V1_6).validate_str(written) is None
    bill = json.loads(written)
    root = bill["metadata"]["component"]
    assert (root["name"], root["version"], root["purl"]) == ("keybearer", "1.2.3", "pkg:pypi/keybearer@1.2.3")
    parts = {one["name"]: one for one in bill["components"]}
    assert {name for name, one in parts.items() if one["type"] == "file"} == {
        "keybearer-1.2.3.dist-info/METADATA",
        "keybearer/__init__.py",
    }
    asked = {name: (one["version"], one["scope"]) for name, one in parts.items() if one["type"] == "library"}
    assert asked == {
        "asyncpg": ("0.32.1", "optional"),
        "pyjwt": ("2.15.0", "required"),
        "uvloop": ("0.23.1", "required"),
    }
    assert parts["pyjwt"]["properties"] == [{"name": "keybearer:requirement", "value": "PyJWT>=2.15"}]
    depends = {one["ref"]: one.get("dependsOn", []) for one in bill["dependencies"]}
    assert len(depends[root["bom-ref"]]) == 3
    assert bill["metadata"]["timestamp"] == "2023-11-14T22:13:20+00:00"


def test_the_same_wheel_has_the_same_bill_and_another_has_another(wheel: Path) -> None:
    first = bill_of_wheel(wheel, locked_versions(LOCK), 7)
    assert bill_of_wheel(wheel, locked_versions(LOCK), 7) == first
    with zipfile.ZipFile(wheel, "a") as opened:
        opened.writestr("keybearer/more.py", "")
    assert json.loads(bill_of_wheel(wheel, locked_versions(LOCK), 7))["serialNumber"] not in first


def test_a_requirement_without_a_locked_version_is_named(wheel: Path) -> None:
    with pytest.raises(ReleaseError, match="doesn't lock asyncpg, uvloop"):
        bill_of_wheel(wheel, {"pyjwt": "2.15.0"}, 7)


def test_packages_whose_code_is_in_the_dashboards_page_are_named(wheel: Path) -> None:
    with zipfile.ZipFile(wheel, "a") as opened:
        opened.writestr("keybearer/cli/dashboard/page/built.json", '{"packages": {"preact": "11.2.0"}}')
    bill = json.loads(bill_of_wheel(wheel, locked_versions(LOCK), 7))
    assert "pkg:npm/preact@11.2.0" in {one.get("purl") for one in bill["components"]}
    root = bill["metadata"]["component"]["bom-ref"]
    depends = {one["ref"]: one.get("dependsOn", []) for one in bill["dependencies"]}
    assert "pkg:npm/preact@11.2.0" in depends[root]
