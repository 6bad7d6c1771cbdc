"""The bill of materials holds what is given to it, is valid, and is the same for the same parts."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from cyclonedx.schema import SchemaVersion

from tools.image.bill import Distribution, Interpreter, InvalidBillError, complete
from tools.image.packages import Package, packages_of

_DEBIAN = Distribution("debian", "12")
_LIBRARY = Package("libc6", "2.36-9+deb12u10", "amd64", "Package: libc6\n")
_ENVIRONMENT: Mapping[str, Any] = {
    "bomFormat": "CycloneDX",
    "specVersion": "1.6",
    "version": 1,
    "metadata": {
        "component": {"bom-ref": "root", "name": "keybearer", "type": "application", "version": "1"}
    },
    "components": [
        {
            "bom-ref": "attrs==26.1.0",
            "licenses": [{"license": {"id": "MIT", "acknowledgement": "declared"}}],
            "name": "attrs",
            "purl": "pkg:pypi/attrs@26.1.0",
            "type": "library",
            "version": "26.1.0",
        }
    ],
    "dependencies": [{"ref": "root", "dependsOn": ["attrs==26.1.0"]}, {"ref": "attrs==26.1.0"}],
}


def _written(interpreter: Interpreter | None = None, *packages: Package) -> str:
    return complete(json.dumps(_ENVIRONMENT), packages, _DEBIAN, interpreter, seconds=1_000_000_000)


def test_it_names_packages_of_the_distribution_beside_those_of_python() -> None:
    from cyclonedx.validation.json import JsonStrictValidator  # noqa: PLC0415 - it takes seconds to load

    written = _written(None, _LIBRARY)
    assert JsonStrictValidator(SchemaVersion.V1_6).validate_str(written) is None
    bill = json.loads(written)
    assert [one["purl"] for one in bill["components"]] == [
        "pkg:pypi/attrs@26.1.0",
        "pkg:deb/debian/libc6@2.36-9%2Bdeb12u10?arch=amd64&distro=debian-12",
    ]
    assert bill["components"][0]["licenses"] == _ENVIRONMENT["components"][0]["licenses"]
    needed = {one["ref"]: one.get("dependsOn", []) for one in bill["dependencies"]}
    assert set(needed["root"]) == {"attrs==26.1.0", bill["components"][1]["bom-ref"]}
    assert bill["metadata"]["timestamp"].startswith("2001-09-09T01:46:40")


def test_a_python_that_no_package_brings_is_named_for_who_looks_for_its_weaknesses() -> None:
    component = json.loads(_written(Interpreter("3.11.9")))["components"][1]
    assert component["purl"] == "pkg:generic/python@3.11.9"
    assert component["cpe"] == "cpe:2.3:a:python:python:3.11.9:*:*:*:*:*:*:*"


def test_the_same_parts_make_the_same_bill_and_others_another() -> None:
    assert _written(None, _LIBRARY) == _written(None, _LIBRARY)
    serials = {json.loads(one)["serialNumber"] for one in (_written(), _written(None, _LIBRARY))}
    assert len(serials) == 2


def test_a_bill_of_nothing_is_refused() -> None:
    nameless = json.dumps({**_ENVIRONMENT, "metadata": {}})
    with pytest.raises(InvalidBillError, match="names no component"):
        complete(nameless, [], _DEBIAN, None, seconds=0)


def test_the_distribution_is_read_from_its_own_file() -> None:
    assert Distribution.read('NAME="Debian GNU/Linux"\nVERSION_ID="12"\nID=debian\n') == _DEBIAN


def test_packages_are_found_by_their_files_past_the_merge_of_usr(tmp_path: Path) -> None:
    (tmp_path / "info").mkdir()
    (tmp_path / "info/libc6:amd64.list").write_text("/.\n/lib/triplet/libc.so.6\n")
    (tmp_path / "info/dash.list").write_text("/bin/dash\n")
    (tmp_path / "status").write_text(
        "\n\n".join(
            f"Package: {name}\nStatus: {status}\nArchitecture: amd64\nVersion: {version}\nDescription: x\n y: z"
            for name, status, version in (
                ("libc6", "install ok installed", "2.36"),
                ("dash", "install ok installed", "0.5"),
                ("ca-certificates", "install ok installed", "2023"),
                ("gone", "deinstall ok config-files", "1"),
            )
        )
    )
    found = packages_of([Path("/usr/lib/triplet/libc.so.6")], ["ca-certificates", "gone"], tmp_path)
    assert [(one.name, one.version) for one in found] == [("ca-certificates", "2023"), ("libc6", "2.36")]
    assert found[1].record.startswith("Package: libc6\nStatus: ")


def test_a_distribution_without_dpkg_has_no_packages(tmp_path: Path) -> None:
    assert packages_of([Path("/usr/lib/libc.so")], ["ca-certificates"], tmp_path) == []
