"""`keybearer explain`: what an object does, in words."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer

from keybearer.cli.cluster import Kubeconfig, default_kubeconfig
from keybearer.cli.failures import CommandError, ExitStatus
from keybearer.cli.output import PIPE_WIDTH, Output, OutputFormat, print_json, printable

if TYPE_CHECKING:
    from pydantic import JsonValue

    from keybearer.cli.explanation import Explanation, SeenObject

__all__ = ["explain"]

explain = typer.Typer(
    help="Say in words how an object of the cluster stands.",
    no_args_is_help=True,
    rich_markup_mode=None,
)


@explain.callback()
def _explain() -> None:
    """Say in words how an object of the cluster stands."""


@explain.command("secretsync")
def explain_secretsync(
    name: Annotated[str, typer.Argument(help="NAMESPACE/NAME.", metavar="NAMESPACE/NAME")],
    kubeconfig: Kubeconfig = None,
    context: Annotated[str | None, typer.Option(help="A context of the kubeconfig.")] = None,
    output: Output = OutputFormat.TABLE,
) -> None:
    """Say what a SecretSync does, and what is wrong.

    What it reads, what it writes, how it stands, and what to do next.

    Reads the object, its target and its identity's Secret with your rights; shows names of keys, never values.
    """
    namespace, slash, own_name = name.partition("/")
    if not (slash and namespace and own_name):
        raise CommandError(f"{name!r} is no NAMESPACE/NAME", ExitStatus.USAGE)
    import asyncio

    from keybearer.base.logs import configure_logging

    configure_logging(log_format="text", level="error")
    told = asyncio.run(_explained(namespace, own_name, kubeconfig or default_kubeconfig(), context))
    if output is OutputFormat.JSON:
        print_json(asdict(told))
        return
    _print(told)


async def _explained(namespace: str, name: str, kubeconfig: str | None, context: str | None) -> Explanation:
    from keybearer.cli.explanation import explain as explained
    from keybearer.kube.connection import Connection
    from keybearer.kube.gateway import Gateway
    from keybearer.kube.resources import CONFIG_MAPS, SECRET_SYNCS, SECRETS, ObjectKey

    async with await Connection.open(kubeconfig=kubeconfig, context=context) as connection:
        gateway = Gateway(connection, may_write=_never)
        body = await gateway.get(SECRET_SYNCS, ObjectKey(namespace, name))
        if body is None:
            raise CommandError(
                f"there is no SecretSync {namespace}/{name}",
                ExitStatus.NOT_FOUND,
                "kubectl get secretsyncs -A lists them; keybearer crds | kubectl apply -f - makes the kind known.",
            )
        spec = body.get("spec")
        target = _part(spec, "target")
        kind = CONFIG_MAPS if target.get("kind") == "ConfigMap" else SECRETS
        target_key = ObjectKey(namespace, str(target.get("name") or name))
        seen_target = _seen(await gateway.get(kind, target_key))
        identity = _part(spec, "identityRef").get("name")
        seen_identity = None
        if isinstance(identity, str):
            seen_identity = _seen(await gateway.get(SECRETS, ObjectKey(namespace, identity)))
        return explained(body, seen_target, seen_identity)


def _never() -> None:
    raise CommandError("this command only reads")


def _part(body: JsonValue, name: str) -> Mapping[str, JsonValue]:
    found = body.get(name) if isinstance(body, dict) else None
    return found if isinstance(found, dict) else {}


def _seen(body: Mapping[str, JsonValue] | None) -> SeenObject | None:
    """Return the names of an object's keys; what they hold is let go of here."""
    from keybearer.cli.explanation import SeenObject
    from keybearer.controllers.secretsync.desired import OWNER_LABEL

    if body is None:
        return None
    labels = _part(body.get("metadata"), "labels")
    owner = labels.get(OWNER_LABEL)
    keys = {**_part(dict(body), "data"), **_part(dict(body), "binaryData")}
    return SeenObject(tuple(sorted(keys)), owner if isinstance(owner, str) else None)


def _print(told: Explanation) -> None:
    from rich.console import Console
    from rich.padding import Padding
    from rich.text import Text

    console = Console(highlight=False, markup=False, emoji=False)
    if not console.is_terminal:
        console.width = PIPE_WIDTH
    sections = (
        ("Reads", told.reads),
        ("Writes", told.writes),
        ("Stands", told.stands),
        ("Wrong", told.wrong or ["Nothing."]),
        ("Next", told.next_steps or ["Nothing to do."]),
    )
    for heading, sentences in sections:
        if sentences:
            console.print(Text(heading, style="bold"))
            for sentence in sentences:
                console.print(Padding(Text(printable(sentence)), (0, 0, 0, 2), expand=False))
