"""The CustomResourceDefinitions of Keybearer, as objects and as YAML."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml

from keybearer.controllers.appconnection.resource import APP_CONNECTION
from keybearer.controllers.certificateprofile.resource import CERTIFICATE_PROFILE
from keybearer.controllers.custom_resource import NEVER_OBSERVED, CustomResource, PrinterColumn
from keybearer.controllers.schema import structural_schema
from keybearer.controllers.secretsync.resource import SECRET_SYNC

__all__ = ["CUSTOM_RESOURCES", "build_crd", "crd_files", "out_of_step", "render_crds"]

CUSTOM_RESOURCES: tuple[CustomResource, ...] = (SECRET_SYNC, APP_CONNECTION, CERTIFICATE_PROFILE)
"""Every kind, in the order they are printed."""

_HEADER = "# Generated from the models in operator/keybearer/controllers; written by: keybearer crds\n"


def build_crd(resource: CustomResource) -> dict[str, Any]:
    """Return the CustomResourceDefinition (apiextensions.k8s.io/v1) of a kind."""
    text = {"type": "string"}
    schema = {
        "type": "object",
        "description": resource.description,
        "required": ["spec"],
        "properties": {
            "apiVersion": text,
            "kind": text,
            "metadata": {"type": "object"},
            "spec": structural_schema(resource.spec),
            "status": {
                **structural_schema(resource.status, with_defaults=False),
                "default": {"observedGeneration": NEVER_OBSERVED},
            },
        },
    }
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": resource.name},
        "spec": {
            "group": resource.group,
            "scope": resource.scope,
            "names": {
                "kind": resource.kind,
                "listKind": f"{resource.kind}List",
                "plural": resource.plural,
                "singular": resource.singular,
                "shortNames": list(resource.short_names),
                "categories": list(resource.categories),
            },
            "versions": [
                {
                    "name": resource.version,
                    "served": True,
                    "storage": True,
                    "additionalPrinterColumns": [_column(column) for column in resource.columns],
                    "subresources": {"status": {}},
                    "schema": {"openAPIV3Schema": schema},
                }
            ],
        },
    }


def _column(column: PrinterColumn) -> dict[str, Any]:
    written: dict[str, Any] = {"name": column.name, "type": column.type, "jsonPath": column.json_path}
    if column.description:
        written["description"] = column.description
    if column.priority:
        written["priority"] = column.priority
    return written


class _PlainDumper(yaml.SafeDumper):
    """Writes a repeated part again: kubectl reads anchors, people who review a diff shouldn't have to."""

    def ignore_aliases(self, data: object) -> bool:  # noqa: ARG002 - the signature of the base class
        return True


def _render(resource: CustomResource) -> str:
    return yaml.dump(build_crd(resource), Dumper=_PlainDumper, sort_keys=False, width=110, allow_unicode=True)


def render_crds() -> str:
    """Return all CRDs as one YAML stream."""
    return _HEADER + "".join(f"---\n{_render(resource)}" for resource in CUSTOM_RESOURCES)


def crd_files() -> dict[str, str]:
    """Return file names, as controller-gen gives them, and their contents."""
    return {
        f"{resource.group}_{resource.plural}.yaml": f"{_HEADER}---\n{_render(resource)}"
        for resource in CUSTOM_RESOURCES
    }


def out_of_step(directory: Path) -> list[str]:
    """Return the names of CRD files in the directory that are missing, differ, or stand for no kind."""
    wanted = crd_files()
    present = {path.name for path in directory.glob("keybearer.dev_*.yaml")}
    stale = [
        name
        for name, content in wanted.items()
        if name not in present or (directory / name).read_text(encoding="utf-8") != content
    ]
    return sorted([*stale, *(present - wanted.keys())])
