"""The bill of materials of the wheel (CycloneDX): the wheel, its files, and what it asks an installer for."""

from __future__ import annotations

import hashlib
import json
import re
import uuid
import zipfile
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from email.parser import HeaderParser
from pathlib import Path

from cyclonedx.model import HashAlgorithm, HashType, Property
from cyclonedx.model.bom import Bom
from cyclonedx.model.component import Component, ComponentScope, ComponentType
from cyclonedx.model.license import LicenseExpression
from cyclonedx.output import make_outputter
from cyclonedx.schema import OutputFormat, SchemaVersion
from packageurl import PackageURL
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tools.release.errors import ReleaseError

__all__ = ["bill_of_wheel", "locked_versions"]

_VERSION = SchemaVersion.V1_6
# Which releases an installer may take; the version beside it is the one that the lock has, and that was tested.
_ASKED = "keybearer:requirement"
_PAGE = "keybearer/cli/dashboard/page/built.json"
"""What the dashboard's page was built from (tools/dashboard)."""


def locked_versions(lock: str) -> dict[str, str]:
    """Version of each distribution that a file of requirements pins, by its normalized name."""
    pinned = re.findall(r"^([A-Za-z0-9][A-Za-z0-9._-]*)==([^\s;\\]+)", lock, re.MULTILINE)
    return {canonicalize_name(name): version for name, version in pinned}


def bill_of_wheel(wheel: Path, locked: Mapping[str, str], seconds: int) -> str:
    """The whole bill as JSON; the same for the same wheel and lock.

    Args:
        wheel: the archive.
        locked: the versions that were tested, by normalized names.
        seconds: when the bill is said to be written, of the Unix epoch.

    Raises:
        ReleaseError: the wheel asks for something that the lock lacks.
    """
    with zipfile.ZipFile(wheel) as opened:
        files = {name: opened.read(name) for name in sorted(opened.namelist()) if not name.endswith("/")}
    (metadata,) = (content for name, content in files.items() if name.endswith(".dist-info/METADATA"))
    said = HeaderParser().parsestr(metadata.decode())
    purl = PackageURL("pypi", None, canonicalize_name(said["Name"]), said["Version"])
    root = Component(
        name=said["Name"],
        version=said["Version"],
        type=ComponentType.LIBRARY,
        purl=purl,
        bom_ref=purl.to_string(),
        hashes=[_digest(wheel.read_bytes())],
        licenses=[LicenseExpression(said["License-Expression"])],
    )
    asked = _asked(said.get_all("Requires-Dist", []), locked)
    contained = _contained(files)
    bill = Bom(components=[*asked, *contained, *(_file(name, content) for name, content in files.items())])
    bill.metadata.component = root
    bill.metadata.timestamp = datetime.fromtimestamp(seconds, UTC)
    for component in (*asked, *contained):
        bill.register_dependency(component)
    bill.register_dependency(root, [*asked, *contained])
    bill.serial_number = uuid.uuid5(
        uuid.NAMESPACE_URL, f"{purl} {hashlib.sha256(wheel.read_bytes()).hexdigest()}"
    )
    return make_outputter(bill, OutputFormat.JSON, _VERSION).output_as_string(indent=2)


def _asked(lines: Iterable[str], locked: Mapping[str, str]) -> list[Component]:
    """Each distribution that the wheel asks for; those of developers' extras are no part of what runs."""
    found: dict[str, list[Requirement]] = {}
    for line in lines:
        requirement = Requirement(line)
        name = canonicalize_name(requirement.name)
        if not _is_of(requirement, ("dev", "docs")):
            found.setdefault(name, []).append(requirement)
    missing = sorted(found.keys() - locked.keys())
    if missing:
        raise ReleaseError(f"requirements/runtime.txt doesn't lock {', '.join(missing)}: run make lock")
    return [_component(name, requirements, locked[name]) for name, requirements in sorted(found.items())]


def _component(name: str, requirements: list[Requirement], version: str) -> Component:
    purl = PackageURL("pypi", None, name, version)
    is_optional = all(_is_of(one, _extras(one)) for one in requirements)
    return Component(
        name=name,
        version=version,
        type=ComponentType.LIBRARY,
        purl=purl,
        bom_ref=purl.to_string(),
        scope=ComponentScope.OPTIONAL if is_optional else ComponentScope.REQUIRED,
        properties=[Property(name=_ASKED, value=str(one)) for one in requirements],
    )


def _contained(files: Mapping[str, bytes]) -> list[Component]:
    """Each package of npm whose code is in the dashboard's page."""
    record = files.get(_PAGE)
    packages = {} if record is None else json.loads(record)["packages"]
    return [_of_npm(name, version) for name, version in sorted(packages.items())]


def _of_npm(name: str, version: str) -> Component:
    purl = PackageURL("npm", None, name, version)
    return Component(
        name=name, version=version, type=ComponentType.LIBRARY, purl=purl, bom_ref=purl.to_string()
    )


def _file(name: str, content: bytes) -> Component:
    return Component(name=name, type=ComponentType.FILE, bom_ref=f"file:{name}", hashes=[_digest(content)])


def _digest(content: bytes) -> HashType:
    return HashType(alg=HashAlgorithm.SHA_256, content=hashlib.sha256(content).hexdigest())


def _extras(requirement: Requirement) -> tuple[str, ...]:
    """The extras that it belongs to."""
    return tuple(re.findall(r"extra == ['\"]([^'\"]+)['\"]", str(requirement.marker or "")))


def _is_of(requirement: Requirement, extras: tuple[str, ...]) -> bool:
    return bool(set(_extras(requirement)) & set(extras))
