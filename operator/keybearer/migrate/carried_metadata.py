"""Labels and annotations that come along, and those that don't.

What speaks to the other operator is for nobody once that is gone. A mark by which another tool knows its own would be
a false one: Argo CD, Flux, Helm and kubectl prune what bears theirs and is not in their source, and neither the new
object nor what it writes is.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from keybearer.migrate.findings import Notes

__all__ = ["carried_metadata"]

_OF_THE_OTHERS = ("external-secrets.io", "infisical.com", "hashicorp.com", "cert-manager.io", "keybearer.dev")
_MARKS: Final[Mapping[str, str]] = {
    "meta.helm.sh": "Helm",
    "argocd.argoproj.io": "Argo CD",
    "kustomize.toolkit.fluxcd.io": "Flux",
    "helm.toolkit.fluxcd.io": "Flux",
    "kapp.k14s.io": "kapp",
    "applyset.kubernetes.io": "kubectl apply --applyset",
}
"""Tools by the domain of their marks."""
_MANAGED_BY: Final = "app.kubernetes.io/managed-by"
"""The tool that manages an object, by Kubernetes' recommended labels; Helm goes by it."""


def carried_metadata(given: Mapping[str, str], field: str, notes: Notes) -> dict[str, str]:
    """Return the labels or annotations that come along, and note the marks of other tools that don't.

    Args:
        given: labels or annotations.
        field: where they stand in the manifest that was read.
        notes: of the object.
    """
    kept = {}
    for name, value in given.items():
        domain = name.partition("/")[0] if "/" in name else ""
        tool = "the tool that it names" if name == _MANAGED_BY else _MARKS.get(domain)
        if tool is not None:
            notes.noted(
                f"{field}.{name[:80]}",
                f"is left out: {tool} would take for its own, and could prune, what it has not made",
                "Nothing is lost. Whoever applies the new manifests by such a tool has it set its marks anew.",
            )
        elif not any(domain == one or domain.endswith(f".{one}") for one in _OF_THE_OTHERS):
            kept[name] = value
    return kept
