"""What the pages show is real: manifests that the models take, commands that there are, pictures that can be read."""

from __future__ import annotations

import re
import shlex
import xml.etree.ElementTree as ET
from collections.abc import Iterator, Mapping
from pathlib import Path

import typer
import yaml
from pydantic import ValidationError
from typer.core import TyperGroup

from keybearer.cli.kubectl.main import app as plugin
from keybearer.cli.main import app
from keybearer.controllers.appconnection.reasons import Reason as ConnectionReason
from keybearer.controllers.certificateprofile.reasons import Reason as ProfileReason
from keybearer.controllers.crds import CUSTOM_RESOURCES
from keybearer.controllers.secretsync.reasons import Reason as SyncReason
from support.rows import each_row, listed
from tools.reference.drawing import Picture
from tools.reference.metrics import families, service_families
from tools.reference.pictures import pictures

ROOT = Path(__file__).parents[3]
SVG = "{http://www.w3.org/2000/svg}"
PAGES = sorted(
    page
    for page in [
        *ROOT.glob("*.md"),
        *(ROOT / "docs").rglob("*.md"),
        *(ROOT / "examples").rglob("*.md"),
        *(ROOT / "charts").rglob("*.md"),
    ]
    if "reference" not in page.parts
)
VALUES = ROOT / "charts" / "keybearer" / "values.yaml"
SPECS = {resource.kind: resource.spec for resource in CUSTOM_RESOURCES}


def manifests(page: Path) -> Iterator[tuple[str, object]]:
    for block in re.findall(r"^```yaml\n(.*?)^```", page.read_text(), re.DOTALL | re.MULTILINE):
        for document in yaml.safe_load_all(block):
            if isinstance(document, dict) and document.get("kind") in SPECS:
                yield document["kind"], document["spec"]


def lines(page: Path) -> Iterator[str]:
    """Return what a reader would type: the indented and fenced lines, those that go on joined."""
    text = page.read_text().replace("\\\n", " ")
    fenced = "".join(re.findall(r"^```(?:sh|console)?\n(.*?)^```", text, re.DOTALL | re.MULTILINE))
    yield from (line.strip().removeprefix("$ ") for line in fenced.splitlines())
    yield from (line.strip().removeprefix("$ ") for line in re.findall(r"^ {4,}.*$", text, re.MULTILINE))


def our_commands(page: Path) -> Iterator[str]:
    for line in lines(page):
        for part in re.split(r" \| | && |; ", line):
            found = re.match(r"(?:\.venv/bin/)?((?:kubectl )?keybearer [a-z].*)", part)
            if found:
                yield re.sub(r"\s+#.*|\s&$| > .*|`.*|\s\"?\$\(.*", "", found.group(1))


def said(line: str) -> list[str]:
    try:
        return shlex.split(line)
    except ValueError:
        return line.replace('"', "").replace("'", "").split()  # a part of a longer one in quotes


def named(page: Path) -> str:
    return str(page.relative_to(ROOT))


def test_there_is_something_to_look_at() -> None:
    with_manifests = {named(page) for page in PAGES if any(True for _ in manifests(page))}
    with_commands = {named(page) for page in PAGES if any(True for _ in our_commands(page))}
    assert {"docs/how-to/secretsync.md", "docs/how-to/certificateprofile.md"} <= with_manifests
    assert {"docs/operations.md", "docs/cli.md", "docs/service.md"} <= with_commands


def refusal(kind: str, spec: object) -> str:
    """Return what the model has against a spec; nothing where it takes it."""
    try:
        SPECS[kind].model_validate(spec)
    except ValidationError as error:
        return str(error)
    return ""


def test_manifests_are_what_the_models_take() -> None:
    refused = [
        f"{named(page)}: {kind}: {said_of_it}"
        for page in PAGES
        for kind, spec in manifests(page)
        if (said_of_it := refusal(kind, spec))
    ]
    assert not refused, listed(refused)


def missing_in_command(line: str, programs: Mapping[str, object]) -> str:
    """Return what of a command line there is not; nothing where all is there."""
    name = "kubectl keybearer" if line.startswith("kubectl") else "keybearer"
    words = said(line)[len(name.split()) :]
    command = programs[name]
    while isinstance(command, TyperGroup) and words and re.fullmatch(r"[a-z][a-z-]*", words[0]):
        if words[0] not in command.commands:
            return f"{name} has no command {words[0]}"
        name, command = f"{name} {words[0]}", command.commands[words.pop(0)]
    known = {option for parameter in getattr(command, "params", ()) for option in parameter.opts}
    known |= {option for one in getattr(command, "params", ()) for option in one.secondary_opts}
    own = words[: words.index("--")] if "--" in words else words
    asked = {word.partition("=")[0] for word in own if re.fullmatch(r"--[a-z][a-z-]*(=.*)?|-[a-z]", word)}
    unknown = asked - known - {"--help"}
    is_bare = isinstance(command, TyperGroup) and not command.invoke_without_command
    return "" if is_bare or not unknown else f"{name} has no {sorted(unknown)}"


def test_commands_are_there_with_their_options() -> None:
    programs = {
        "keybearer": typer.main.get_command(app),
        "kubectl keybearer": typer.main.get_command(plugin),
    }
    wrong = [
        f"{named(page)}: {line}: {missing}"
        for page in PAGES
        for line in our_commands(page)
        if (missing := missing_in_command(line, programs))
    ]
    assert not wrong, listed(wrong)


def test_metrics_are_there() -> None:
    known = families() | service_families()
    unknown = [
        f"{named(page)}: {name}"
        for page in PAGES
        for name in re.findall(r"\bkeybearer_[a-z_]+[a-z]\b(?!_?[{*…])", page.read_text())
        if name not in known
    ]
    assert not unknown, listed(unknown)


def has(values: object, name: str) -> bool:
    """Tell whether a value of that name, with dots, is among the chart's."""
    for step in name.split("."):
        if not isinstance(values, dict) or step not in values:
            return False
        values = values[step]
    return True


def test_values_of_the_chart_are_there() -> None:
    values = yaml.safe_load(VALUES.read_text())
    pattern = re.compile(r"`((?:operator|embeddedService|image|crds|rbac)(?:\.[a-zA-Z]+)+)`")
    named_there = [(page, name) for page in PAGES for name in pattern.findall(page.read_text())]
    assert len(named_there) > 50
    unknown = [f"{named(page)}: {name}" for page, name in named_there if not has(values, name)]
    assert not unknown, listed(unknown)


def test_symptoms_lead_from_reasons_that_there_are() -> None:
    page = (ROOT / "docs" / "troubleshooting.md").read_text()
    first = re.findall(r"^\| ([^|]*) \|", page, re.MULTILINE)
    reasons = {word for cell in first for word in re.findall(r"`([A-Z][A-Za-z]+)`", cell)} - {"Ready"}
    known = {str(one) for kind in (SyncReason, ConnectionReason, ProfileReason) for one in kind}
    assert len(reasons) > 20
    assert reasons <= known


def test_sizes_are_those_that_were_measured() -> None:
    measured = (ROOT / "docs" / "performance.md").read_text()
    (sizes,) = re.findall(
        r"^## Sizes\n(.*?)^So:", (ROOT / "docs" / "operations.md").read_text(), re.MULTILINE | re.DOTALL
    )
    figures = re.findall(r"\b[\d.,]*\d(?: (?:MiB|ms|s)|/s)", sizes)
    assert len(figures) > 15
    assert [figure for figure in figures if figure not in measured] == []


@each_row("name", sorted(pictures()))
def test_a_picture_is_told_to_who_cannot_see_it_and_stands_on_a_page(name: str) -> None:
    drawn = ET.fromstring(pictures()[name])  # noqa: S314 - our own
    for part in ("title", "desc"):
        told = drawn.find(f"{SVG}{part}")
        assert told is not None
        assert told.text
    assert any(f"pictures/{name})" in page.read_text() for page in PAGES)


@each_row("name", sorted(pictures()))
def test_a_picture_keeps_what_it_draws_within_its_panel(name: str) -> None:
    drawn = ET.fromstring(pictures()[name])  # noqa: S314 - our own
    width, height = float(drawn.get("width", 0)), float(drawn.get("height", 0))
    for box in drawn.findall(f"{SVG}rect"):
        x, y = float(box.get("x", 0)), float(box.get("y", 0))
        assert x >= 0
        assert y >= 0
        assert x + float(box.get("width", 0)) <= width
        assert y + float(box.get("height", 0)) <= height


def test_a_picture_loads_nothing() -> None:
    loading = [
        name
        for name, picture in pictures().items()
        if re.search(r"href=|url\((?!#)|@import|<script", picture)
    ]
    assert not loading, listed(loading)


def luminance(colour: str) -> float:
    """Return the relative luminance of a colour (WCAG 2.2)."""
    parts = [int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5)]
    red, green, blue = (
        part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts
    )
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def fills(style: str) -> dict[str, str]:
    found: dict[str, str] = {}
    for names, body in re.findall(r"([^{}]+)\{([^{}]*)\}", style):
        colour = re.search(r"fill: (#[0-9a-f]{6})", body)
        for selector in names.split(",") if colour else ():
            found[selector.strip()] = colour.group(1) if colour else ""
    return found


def test_text_can_be_read_on_every_ground_in_light_and_in_dark() -> None:
    drawn = Picture("a title", "a description", 10, 10).svg()
    style = re.findall(r"<style>(.*?)</style>", drawn, re.DOTALL)[0]
    light, dark = re.split(r"@media \(prefers-color-scheme: dark\) \{", style)
    grounds = {".panel", ".group", ".part", ".store", ".key", ".other", ".note"}
    for scheme in (fills(light), fills(dark)):
        assert grounds <= scheme.keys()
        for ground in grounds:
            low, high = sorted((luminance(scheme["text"]), luminance(scheme[ground])))
            assert (high + 0.05) / (low + 0.05) >= 4.5, ground
