"""`keybearer crds`: the CustomResourceDefinitions that the operator needs."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from keybearer.base.errors import ConfigurationError

__all__ = ["crds"]


def crds(
    output_dir: Annotated[
        Path | None, typer.Option(help="Write one file per kind into this directory instead of printing.")
    ] = None,
    *,
    check: Annotated[
        bool, typer.Option("--check", help="Write nothing; fail and name the files that are out of step.")
    ] = False,
) -> None:
    """Print the CustomResourceDefinitions as YAML, for kubectl apply -f -."""
    from keybearer.controllers import crds as definitions

    if output_dir is None:
        if check:
            raise typer.BadParameter("--check needs --output-dir, the directory to look into")
        typer.echo(definitions.render_crds(), nl=False)
        return
    if check:
        stale = definitions.out_of_step(output_dir)
        for name in stale:
            typer.echo(
                f"{output_dir / name} is out of step; run: keybearer crds --output-dir {output_dir}", err=True
            )
        raise typer.Exit(1 if stale else 0)
    try:
        output_dir.mkdir(exist_ok=True)  # without parents: a path that was mistyped is no new tree
        for name, content in definitions.crd_files().items():
            (output_dir / name).write_text(content, encoding="utf-8")
    except OSError as error:
        raise ConfigurationError(
            f"--output-dir: {error.filename} can't be written: {error.strerror}"
        ) from error
