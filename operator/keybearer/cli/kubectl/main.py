"""`kubectl-keybearer`, which kubectl finds on the PATH as `kubectl keybearer`."""

from __future__ import annotations

from keybearer.cli.loading import collector_at_rest

with collector_at_rest():
    from typing import Any

    from typer.core import TyperGroup

    from keybearer.cli.examples import PLUGIN_EXAMPLES, epilog_of
    from keybearer.cli.failures import told_failures
    from keybearer.cli.kubectl.explain import explain
    from keybearer.cli.kubectl.plan import plan
    from keybearer.cli.kubectl.status import status
    from keybearer.cli.kubectl.sync import sync
    from keybearer.cli.on_demand import new_app

__all__ = ["app"]


class _Plugin(TyperGroup):
    """Runs the commands; what ends them is told in one way."""

    def invoke(self, ctx: Any) -> Any:  # noqa: ANN401 - click's own signature
        """Run the command that was asked for."""

        def command() -> str:
            return f"kubectl keybearer {ctx.invoked_subcommand or ''}".rstrip()

        with told_failures(command):
            return super().invoke(ctx)


app = new_app(
    "kubectl keybearer",
    purpose="Look after SecretSyncs, AppConnections and CertificateProfiles.",
    cls=_Plugin,
)


@app.callback()
def main() -> None:
    """Look after SecretSyncs, AppConnections and CertificateProfiles."""


app.command(short_help="Show how all objects of ours stand.", epilog=epilog_of(PLUGIN_EXAMPLES["status"]))(
    status
)
app.command(epilog=epilog_of(PLUGIN_EXAMPLES["plan"]))(plan)
app.command(epilog=epilog_of(PLUGIN_EXAMPLES["sync"]))(sync)
app.command(epilog=epilog_of(PLUGIN_EXAMPLES["explain"]))(explain)
