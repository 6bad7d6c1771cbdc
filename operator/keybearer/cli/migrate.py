"""`keybearer migrate`: manifests of other operators as manifests of ours, and what of them is lost."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from keybearer.cli.failures import CommandError, ExitStatus
from keybearer.cli.output import Output, OutputFormat, print_exactly

__all__ = ["migrate"]


def migrate(
    paths: Annotated[
        list[Path], typer.Argument(help="Files, directories, or - for standard input.", metavar="PATH...")
    ],
    map_store: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=PROJECT/ENV[/PATH]",
            help="Where the contents of a store (of Vault: a mount) are; repeatable. NAME may be NAMESPACE/NAME, "
            "or * for all others. PROJECT is the slug of a project, 5 to 36 characters.",
        ),
    ] = None,
    map_secret: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=PROJECT/ENV[/PATH]",
            help="Where the contents of a Secret are that is pushed elsewhere; repeatable, as above.",
        ),
    ] = None,
    map_issuer: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=[PROJECT/]PROFILE",
            help="The profile that replaces an issuer (of Vault: a role); repeatable, as above.",
        ),
    ] = None,
    identity: Annotated[
        str, typer.Option(help="The Secret for identityRef, if the manifests name no suitable one.")
    ] = "keybearer-identity",
    adopt: Annotated[
        bool, typer.Option("--adopt/--no-adopt", help="Let targets take over Secrets that exist.")
    ] = True,
    connections: Annotated[
        bool,
        typer.Option(
            "--connections",
            help="Write an AppConnection also for a store that is only read, so that the service can import from "
            "it. The service then gets the store's credentials.",
        ),
    ] = False,
    output_dir: Annotated[
        Path | None, typer.Option(help="Write one file per object into this directory instead of printing.")
    ] = None,
    *,
    force: Annotated[bool, typer.Option("--force", help="Replace files that are there.")] = False,
    strict: Annotated[
        bool, typer.Option("--strict", help="End with status 1 unless everything was converted whole.")
    ] = False,
    output: Output = OutputFormat.TABLE,
) -> None:
    """Turn manifests of other operators into Keybearer's.

    Reads External Secrets Operator, the Infisical operator, Vault Secrets Operator and cert-manager.

    Writes manifests to standard output, and a report to standard error. Needs no cluster and no service.
    """
    from keybearer.cli.loading import collector_at_rest

    with collector_at_rest():
        from keybearer.cli.migrate_files import read_files, write_files
        from keybearer.cli.migration_report import print_migration_json, print_migration_tables
        from keybearer.migrate.conversion import convert
        from keybearer.migrate.manifests import render_manifests
        from keybearer.migrate.settings import Settings, read_issuers, read_places

    settings = Settings(
        stores=read_places("--map-store", map_store or ()),
        secrets=read_places("--map-secret", map_secret or ()),
        issuers=read_issuers("--map-issuer", map_issuer or ()),
        identity=identity,
        adopt=adopt,
        connections=connections,
    )
    migration = convert(read_files(paths), settings)
    if not migration.outcomes and not migration.unreadable:
        raise CommandError(
            "there is no object of an operator that is known",
            ExitStatus.NOT_FOUND,
            "Known are External Secrets, Infisical, Vault Secrets Operator and cert-manager; for charts, run helm "
            "template first.",
        )
    files = None if output_dir is None else write_files(output_dir, migration.manifests, force=force)
    if output is OutputFormat.JSON:
        print_migration_json(migration, files)
    else:
        if files is None and migration.manifests:
            print_exactly(render_manifests(list(migration.manifests)))
        print_migration_tables(migration, err=files is None)
    if migration.unreadable:
        raise typer.Exit(ExitStatus.USAGE)
    if strict and not migration.is_whole:
        raise typer.Exit(ExitStatus.FAILED)
