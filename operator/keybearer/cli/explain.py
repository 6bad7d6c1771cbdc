"""`keybearer explain`: what an object does, in words."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

import typer

from keybearer.cli.failures import CommandError, ExitStatus
from keybearer.cli.kubectl.cluster import Context, Kubeconfig
from keybearer.cli.kubectl.explain import explain as explain_there
from keybearer.cli.output import Output, OutputFormat

__all__ = ["explain"]


def explain(
    words: Annotated[
        list[str],
        typer.Argument(
            help="KIND NAMESPACE/NAME; with --namespace KIND/NAME. A kind is secretsync, appconnection or "
            "certificateprofile.",
            metavar="KIND NAMESPACE/NAME",
        ),
    ],
    namespace: Annotated[
        str | None,
        typer.Option("--namespace", "-n", help="The namespace, if the name doesn't have it."),
    ] = None,
    kubeconfig: Kubeconfig = None,
    context: Context = None,
    output: Output = OutputFormat.TABLE,
) -> None:
    """Say why an object of the cluster is in its state, and what to do.

    Says what the object reads and writes, its state, what is wrong, and what to do next.

    Reads the object and the Secrets that it names with your rights; shows names of keys, never values.
    """
    where, named = _placed(words, namespace)
    explain_there(named, where, kubeconfig, context, output)


def _placed(words: Sequence[str], namespace: str | None) -> tuple[str, list[str]]:
    """Return the namespace, and the object in it as the plugin takes it.

    Raises:
        CommandError: no namespace is said, or two.
    """
    if len(words) == 2 and "/" in words[1]:
        said, _, name = words[1].partition("/")
        if not (said and name) or "/" in name:
            raise CommandError(f"{words[1]!r} is no NAMESPACE/NAME", ExitStatus.USAGE)
        if namespace not in (None, said):
            raise CommandError(f"two namespaces are said: {namespace} and {said}", ExitStatus.USAGE)
        return said, [words[0], name]
    if namespace is None:
        raise CommandError(
            "no namespace is said", ExitStatus.USAGE, "Say KIND NAMESPACE/NAME, or -n NAMESPACE KIND/NAME."
        )
    return namespace, list(words)
