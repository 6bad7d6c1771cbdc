"""`keybearer dashboard`: a page to look at, with the rights of a kubeconfig."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from keybearer.cli.kubectl.cluster import Context, Kubeconfig, Place, run

if TYPE_CHECKING:
    from keybearer.cli.kubectl.cluster import Cluster

__all__ = ["dashboard"]


def dashboard(
    namespaces: Annotated[
        list[str] | None,
        typer.Option(
            "--namespace",
            "-n",
            help="Look in this namespace alone; may be repeated. Default: all.",
            show_default=False,
        ),
    ] = None,
    port: Annotated[
        int, typer.Option(min=0, max=65535, help="The port on loopback. 0 takes one that is free.")
    ] = 0,
    browser: Annotated[
        bool, typer.Option("--browser/--no-browser", help="Open the page in a browser.")
    ] = True,
    kubeconfig: Kubeconfig = None,
    context: Context = None,
) -> None:
    """Serve a page that shows what is not Ready, how fresh Secrets are, and which certificates end soon.

    The page is read-only and shows no values. It listens on this machine alone, and only its address with the token
    opens it. It has your rights: what you may not list isn't shown. It runs until Ctrl-C.
    """

    async def serve_it(cluster: Cluster) -> None:
        from keybearer.cli.dashboard.serving import serve_until_signal

        await serve_until_signal(cluster, namespaces or [], port, opens_browser=browser)

    run(Place(kubeconfig, context), serve_it)
