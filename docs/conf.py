"""How the documentation becomes a site: `make docs`. Sources are the Markdown files as a code host shows them.

The root of the repository is the source directory, so that a link means the same here and there. What a code host
has no words for, the navigation, is in `navigation.toml` in this directory.
"""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import TypedDict

from sphinx.application import Sphinx
from sphinx.errors import ExtensionError

from keybearer import __version__

project = "Keybearer"
author = "Keybearer"
html_title = f"Keybearer {__version__}"

extensions = ["myst_parser"]
root_doc = "README"
source_suffix = {".md": "markdown"}
include_patterns = ["*.md", "charts/keybearer/README.md", "docs/**.md", "examples/**.md"]
exclude_patterns = [
    *(
        ".*",
        "**/.*",
        "build",
        "crds",
        "dist",
        "node_modules",
        "operator",
        "requirements",
        "tests",
        "tools",
    ),
    *("charts/keybearer/files", "charts/keybearer/templates", "**/__pycache__", "*.egg-info"),
]

# As code hosts make them, so that `page.md#a-heading` is checked and works in both places.
myst_heading_anchors = 6
myst_enable_extensions: list[str] = []
myst_all_links_external = False
nitpicky = True  # with `sphinx-build -W` a reference that leads nowhere ends the build
suppress_warnings: list[str] = []
highlight_language = "text"
pygments_style = "friendly"
pygments_dark_style = "monokai"

html_theme = "furo"
html_static_path = ["_static"]
html_css_files = ["keybearer.css"]
smartquotes = False  # `--flag` is pasted into shells
html_copy_source = False
html_show_sourcelink = False
html_show_sphinx = False
html_show_copyright = False
html_domain_indices = False
html_use_index = False
html_permalinks_icon = "#"


class _Part(TypedDict):
    """A part of the navigation: its caption, and its pages in order, as `path`, `path*` or `short title: path`.

    Paths begin at the root of the repository.
    """

    caption: str
    pages: list[str]


class _Chapter(TypedDict):
    """Pages that stand below another one."""

    of: str
    pages: list[str]


class _Navigation(TypedDict):
    part: list[_Part]
    chapter: list[_Chapter]


def _navigation(app: Sphinx) -> _Navigation:
    with (Path(app.srcdir) / "docs" / "navigation.toml").open("rb") as file:
        found: _Navigation = tomllib.load(file)  # type: ignore[assignment] # what it must hold, a test says
    return found


def _add_navigation(app: Sphinx, name: str, source: list[str]) -> None:
    """Append what the code host needn't show: to the first page where all stand, to others what is below them."""
    if name == root_doc:
        for part in _navigation(app)["part"]:
            source[0] += _contents(app, part["pages"], f":caption: {part['caption']}\n")
    for chapter in _navigation(app)["chapter"]:
        if name == chapter["of"].removesuffix(".md"):
            source[0] += _contents(app, chapter["pages"])


def _contents(app: Sphinx, pages: list[str], *options: str) -> str:
    """Return a table of contents; a pattern that nothing matches is no fault, a page that isn't there is."""
    lines = []
    for page in pages:
        title, _, path = page.rpartition(": ")
        if "*" in path and not any(Path(app.srcdir).glob(path)):
            continue
        place = f"/{path.removesuffix('.md')}"
        lines.append(f"{title} <{place}>" if title else place)
    named = "\n".join(lines)
    return f"\n\n```{{toctree}}\n:hidden:\n:glob:\n{''.join(options)}\n{named}\n```\n"


def _show_examples(app: Sphinx, name: str, source: list[str]) -> None:
    """Append the manifests themselves to the page that lists them."""
    if name != "examples/README":
        return
    folder = Path(app.srcdir) / "examples"
    for file in sorted(folder.rglob("*.yaml")):
        path = file.relative_to(folder)
        source[0] += f"\n\n## {path}\n\n```{{literalinclude}} {path}\n:language: yaml\n```\n"


def _lead_to_the_first_page(app: Sphinx, failure: Exception | None) -> None:
    """Give the site the first page that web servers look for."""
    if failure is not None or app.builder.name != "html":
        return
    page = f"{root_doc}.html"
    if not (Path(app.outdir) / page).is_file():
        raise ExtensionError(f"{page} is missing in {app.outdir}")
    (Path(app.outdir) / "index.html").write_text(
        '<!doctype html><html lang="en"><meta charset="utf-8"><title>Keybearer</title>'
        f'<meta http-equiv="refresh" content="0; url={page}"><a href="{page}">Keybearer</a></html>\n',
        encoding="utf-8",
    )


def setup(app: Sphinx) -> dict[str, bool]:
    """Take part in the build."""
    app.connect("source-read", _add_navigation)
    app.connect("source-read", _show_examples)
    app.connect("build-finished", _lead_to_the_first_page)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
