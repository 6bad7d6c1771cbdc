"""`kubectl keybearer plan`: what would be done about an object, or if a manifest were applied."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from keybearer.base.errors import ConfigurationError
from keybearer.base.json_reading import mapping_of, text_of
from keybearer.cli.failures import ExitStatus, misused
from keybearer.cli.kubectl.cluster import (
    Cluster,
    Context,
    Kubeconfig,
    Namespace,
    Place,
    Words,
    bodies_of,
    run,
)
from keybearer.cli.kubectl.manifest_files import read_manifests
from keybearer.cli.kubectl.steps import Action, Plan, Step, planned
from keybearer.cli.kubectl.targets import KINDS, one_target_of
from keybearer.cli.output import Output, OutputFormat, Styled, note, print_found

if TYPE_CHECKING:
    from keybearer.kube.resources import JsonObject

__all__ = ["plan"]

_COLOURS = {
    Action.CREATE: "green",
    Action.ADD: "green",
    Action.ISSUE: "green",
    Action.CHANGE: "yellow",
    Action.RESTORE: "yellow",
    Action.PUSH: "yellow",
    Action.REMOVE: "red",
    Action.CONFLICT: "bold yellow",
    Action.REFUSE: "bold red",
    Action.PLAN: "cyan",
}


def plan(
    words: Words = None,
    files: Annotated[
        list[Path] | None,
        typer.Option(
            "--filename",
            "-f",
            help="Manifests: a file, a directory of them, or `-` for standard input; repeatable.",
            metavar="PATH",
        ),
    ] = None,
    namespace: Namespace = None,
    field_manager: Annotated[
        str, typer.Option("--field-manager", help="Whose apply is tried, with --filename.")
    ] = "kubectl",
    kubeconfig: Kubeconfig = None,
    context: Context = None,
    output: Output = OutputFormat.TABLE,
    exit_code: Annotated[
        bool,
        typer.Option(
            "--exit-code", help="End with status 8 if something would change, or if the operator can't plan."
        ),
    ] = False,
) -> None:
    """Show what would be done, without doing it.

    For KIND/NAME it shows the plan that the operator holds back, by mode: Plan or by the guard. For --filename it
    shows the changes of a server-side apply, and what the operator would do then, as far as the cluster alone shows
    it. Only mode: Plan shows which keys change. Names of keys and fields are shown, never values.

    Ends with status 7 if the API server would refuse a manifest.
    """
    if (not files) is (not words):
        raise misused("name one object, or manifests by --filename")
    place = Place(kubeconfig, context, namespace)
    found = _of_manifests(files, place, field_manager) if files else _of_object(words or [], place, output)
    steps = found.steps
    rows = [(step.subject, Styled(step.action, _COLOURS.get(step.action, "")), step.detail) for step in steps]
    if rows or output is OutputFormat.JSON:
        print_found(output, [asdict(step) for step in steps], ("WHAT", "ACTION", "DETAIL"), rows)
    if any(step.detail.startswith(_REFUSED) for step in steps if step.action is Action.REFUSE):
        raise typer.Exit(ExitStatus.REFUSED)
    if exit_code and (found.has_failed or any(step.action.changes_something for step in steps)):
        raise typer.Exit(ExitStatus.NOT_AS_WANTED)


_REFUSED = "the API server refuses: "


def _of_object(words: Sequence[str], place: Place, output: OutputFormat) -> Plan:
    target = one_target_of(words)
    if target.kind == "AppConnection":
        raise misused("an AppConnection has no mode: Plan", "plan -f PATH says what a manifest would change.")

    async def look(cluster: Cluster) -> JsonObject:
        (body,) = await bodies_of(cluster, [target], everywhere=False)
        return body

    found = planned(run(place, look))
    note(found.told)
    if found.next_step and output is OutputFormat.TABLE:
        note(found.next_step)
    return found


def _of_manifests(files: Sequence[Path], place: Place, field_manager: str) -> Plan:
    manifests = read_manifests(files)
    ours = [one for one in manifests if _is_ours(one)]
    if len(ours) < len(manifests):
        note(f"Left out: {len(manifests) - len(ours)} objects of kinds that aren't ours.")
    if not ours:
        which = ", ".join(map(str, files))
        raise ConfigurationError(f"there is no object of ours in {which}: {', '.join(KINDS)}")

    async def look(cluster: Cluster) -> list[Step]:
        from keybearer.cli.kubectl.trial import try_manifest

        beside = {_name(one) for one in manifests if one.get("kind") == "Secret"}
        return [
            step
            for one in ours
            for step in await try_manifest(
                cluster, one, manager=field_manager, beside=beside, refused=_REFUSED
            )
        ]

    return Plan(run(place, look), "")


def _is_ours(manifest: JsonObject) -> bool:
    return manifest.get("kind") in KINDS and str(manifest.get("apiVersion")).startswith("keybearer.dev/")


def _name(manifest: JsonObject) -> str:
    return text_of(mapping_of(manifest.get("metadata")).get("name"))
