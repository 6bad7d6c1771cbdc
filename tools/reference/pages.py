"""All pages of the reference, tables within other pages, and whether docs holds them as they should be."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path

from keybearer.controllers.crds import CUSTOM_RESOURCES
from tools.reference.commands import commands_page
from tools.reference.destinations import apps_table, destinations_table, places_table
from tools.reference.events import events_page
from tools.reference.labels import labels_page
from tools.reference.markdown import NOTE
from tools.reference.metrics import metrics_page
from tools.reference.pictures import pictures
from tools.reference.reasons import reasons_page
from tools.reference.resources import resource_page

__all__ = ["DOCS", "out_of_step", "pages", "with_tables", "write"]

DOCS = Path(__file__).parents[2] / "docs"
_WRITTEN = ("reference/*.md", "pictures/*.svg")
"""What in docs is ours alone."""
_IN_PAGE = "written by `make reference` from the code; edit that instead"

_INDEX = f"""# Reference

{NOTE}

These pages are written from the code.

| page | lists |
|---|---|
| [SecretSync](secretsync.md), [AppConnection](appconnection.md), [CertificateProfile](certificateprofile.md) | every field, its bounds and its rules |
| [Conditions and reasons](reasons.md) | the meaning of each, and what to do |
| [Events](events.md) | other Events of the operator |
| [Labels and annotations](labels.md) | everything that Keybearer sets, and annotations for requests |
| [Metrics](metrics.md) | every metric with its labels |
| [Commands](commands.md) | every command with its options |
"""


@cache
def pages() -> Mapping[str, str]:
    """Return each page and picture by its path below docs."""
    kinds = {f"{resource.kind.lower()}.md": resource_page(resource) for resource in CUSTOM_RESOURCES}
    others = {
        "README.md": _INDEX,
        "commands.md": commands_page(),
        "events.md": events_page(),
        "labels.md": labels_page(),
        "metrics.md": metrics_page(),
        "reasons.md": reasons_page(),
    }
    told = {f"reference/{name}": text.rstrip("\n") + "\n" for name, text in (kinds | others).items()}
    return told | {f"pictures/{name}": text for name, text in pictures().items()}


@cache
def _tables() -> Mapping[str, Mapping[str, str]]:
    """Return what stands within pages that people write, by the page's path and by the name of its place there."""
    return {
        "destinations.md": {
            "apps": apps_table(),
            "destinations": destinations_table(),
            "places": places_table(),
        }
    }


def with_tables(page: str, tables: Mapping[str, str]) -> str:
    """Return a page with these tables, each in its place.

    Raises:
        ValueError: the page has no place of that name, or several.
    """
    for name, text in tables.items():
        begin, end = f"<!-- {name}: {_IN_PAGE} -->\n", f"<!-- end of {name} -->\n"
        before, *places = page.split(begin)
        if len(places) != 1 or end not in places[0]:
            raise ValueError(f"there must be one place between {begin.strip()} and {end.strip()}")
        page = f"{before}{begin}\n{text}\n{end}{places[0].partition(end)[2]}"
    return page


def _all_of(docs: Path) -> Mapping[str, str]:
    within = {
        path: with_tables((docs / path).read_text(encoding="utf-8"), tables)
        for path, tables in _tables().items()
    }
    return {**pages(), **within}


def out_of_step(docs: Path) -> list[str]:
    """Return the paths of what is missing below docs, differs, or stands for nothing."""
    wanted = _all_of(docs)
    present = {str(path.relative_to(docs)): path for pattern in _WRITTEN for path in docs.glob(pattern)}
    present |= {path: docs / path for path in _tables()}
    stale = [
        path
        for path, text in wanted.items()
        if path not in present or present[path].read_text(encoding="utf-8") != text
    ]
    return sorted([*stale, *(present.keys() - wanted.keys())])


def write(docs: Path) -> None:
    """Bring docs in step."""
    wanted = _all_of(docs)
    for path in out_of_step(docs):
        file = docs / path
        if path in wanted:
            file.parent.mkdir(exist_ok=True)
            file.write_text(wanted[path], encoding="utf-8")
        else:
            file.unlink()
