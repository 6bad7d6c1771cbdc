"""The bill of materials (CycloneDX): what cyclonedx-py says of the environment, and what the image holds besides."""

from __future__ import annotations

import json
import uuid
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime

from cyclonedx.model.bom import Bom
from cyclonedx.model.component import Component, ComponentType
from cyclonedx.output import make_outputter
from cyclonedx.schema import OutputFormat, SchemaVersion
from packageurl import PackageURL

from tools.image.packages import Package

__all__ = ["Distribution", "Interpreter", "InvalidBillError", "complete"]

_VERSION = SchemaVersion.V1_6


class InvalidBillError(Exception):
    """The bill is not what the schema of CycloneDX asks for; the text says where."""


@dataclass(frozen=True, slots=True)
class Distribution:
    """Where packages come from, in the words of os-release(5): `debian`, `12`."""

    name: str
    release: str

    @classmethod
    def read(cls, os_release: str) -> Distribution:
        """What the file says."""
        lines = (line.partition("=") for line in os_release.splitlines())
        said = {name: value.strip("\"'") for name, _, value in lines}
        return cls(said["ID"], said["VERSION_ID"])


@dataclass(frozen=True, slots=True)
class Interpreter:
    """A Python that no package of the distribution brings."""

    version: str


def complete(
    of_environment: str,
    packages: Iterable[Package],
    distribution: Distribution,
    interpreter: Interpreter | None,
    *,
    seconds: int,
) -> str:
    """The whole bill as JSON; the same for the same parts.

    Args:
        of_environment: what cyclonedx-py wrote of the Python environment, in JSON.
        packages: of the distribution.
        distribution: theirs.
        interpreter: where none of the packages is Python.
        seconds: when the bill is said to be written, of the Unix epoch.

    Raises:
        InvalidBillError: this would be no bill of CycloneDX.
    """
    from cyclonedx.validation.json import JsonStrictValidator  # noqa: PLC0415 - it takes seconds to load

    data: Mapping[str, object] = json.loads(of_environment)
    bill = Bom.from_json(data)  # type: ignore[attr-defined] # py-serializable adds it
    root = bill.metadata.component if isinstance(bill, Bom) else None
    if root is None:
        raise InvalidBillError("the bill of the environment names no component that it is of")
    others = [_component_of(package, distribution) for package in packages]
    if interpreter is not None:
        others.append(_component_of_interpreter(interpreter))
    bill.components.update(others)
    for other in others:
        bill.register_dependency(other)
    known = [bill.get_component_by_purl(one.purl) for one in others if one.purl is not None]
    bill.register_dependency(root, [one for one in known if one is not None])
    bill.metadata.timestamp = datetime.fromtimestamp(seconds, UTC)
    bill.serial_number = uuid.uuid5(uuid.NAMESPACE_URL, "\n".join(sorted(map(_identity, bill.components))))
    written = make_outputter(bill, OutputFormat.JSON, _VERSION).output_as_string(indent=2)
    fault = JsonStrictValidator(_VERSION).validate_str(written)
    if fault is not None:
        raise InvalidBillError(str(fault))
    return written


def _component_of(package: Package, distribution: Distribution) -> Component:
    purl = PackageURL(
        type="deb",
        namespace=distribution.name,
        name=package.name,
        version=package.version,
        qualifiers={"arch": package.architecture, "distro": f"{distribution.name}-{distribution.release}"},
    )
    return Component(
        name=package.name,
        version=package.version,
        type=ComponentType.LIBRARY,
        purl=purl,
        bom_ref=purl.to_string(),
    )


def _component_of_interpreter(interpreter: Interpreter) -> Component:
    purl = PackageURL(type="generic", name="python", version=interpreter.version)
    return Component(
        name="python",
        version=interpreter.version,
        type=ComponentType.PLATFORM,
        purl=purl,
        bom_ref=purl.to_string(),
        cpe=f"cpe:2.3:a:python:python:{interpreter.version}:*:*:*:*:*:*:*",
    )


def _identity(component: Component) -> str:
    return f"{component.name} {component.version} {component.purl}"
