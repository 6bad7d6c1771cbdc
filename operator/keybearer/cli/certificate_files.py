"""Where commands put certificates and keys: into files, keys into ones that their owner alone may read."""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from keybearer.base.errors import ConfigurationError
from keybearer.cli.output import note
from keybearer.cli.private_files import write_private

__all__ = ["CertFile", "CertificateFiles", "Force", "KeyFile", "chain_text", "fresh_key"]

CertFile = Annotated[
    Path | None,
    typer.Option("--cert-file", help="Write the certificate and its chain there.", metavar="FILE"),
]
KeyFile = Annotated[
    Path | None,
    typer.Option("--key-file", help="Write the private key there, for you alone to read.", metavar="FILE"),
]
Force = Annotated[bool, typer.Option("--force", help="Replace files that are there.")]


def chain_text(certificate: str, chain: str | None) -> str:
    """Return a certificate and those that vouch for it as one text; each once."""
    first = certificate.strip()
    rest = (chain or "").strip()
    if not rest or rest.startswith(first):
        return f"{rest or first}\n"
    return f"{first}\n{rest}\n"


@contextmanager
def fresh_key(file: Path | None, key: str | None) -> Iterator[None]:
    """Keep a key beside its file while its certificate is asked for, and put it there once the service took that.

    So a key is not lost where the answer is, and one that is there stays where the service refuses.

    Args:
        file: None for nowhere.
        key: None for no key.

    Raises:
        ConfigurationError: it can't be written.
    """
    if file is None or key is None:
        yield
        return
    from keybearer.client import ServerFailure, ServiceError

    beside = file.with_name(f".{file.name}-{secrets.token_hex(4)}")
    write_private(beside, key, force=False)
    try:
        yield
    except ServiceError as error:
        if isinstance(error, ServerFailure):
            note(f"The key is kept in {beside}: the service may have issued a certificate for it.")
        else:
            beside.unlink()
        raise
    except BaseException:
        note(f"The key is kept in {beside}: the service may have issued a certificate for it.")
        raise
    beside.replace(file)


def _write_public(file: Path, text: str) -> None:
    """Write what anybody may read.

    Raises:
        ConfigurationError: it can't be written.
    """
    try:
        file.write_text(text, encoding="utf-8")
    except OSError as error:
        raise ConfigurationError(f"{file} can't be written: {error.strerror}") from error


@dataclass(frozen=True, slots=True)
class CertificateFiles:
    """Where a certificate and a key that the service made go; None for nowhere."""

    cert_file: Path | None
    key_file: Path | None
    force: bool

    def require_free(self) -> None:
        """Return if they can be made: before anything is asked for that would be lost otherwise.

        Raises:
            ConfigurationError: one is there, its directory isn't, or they are one file.
        """
        files = [file for file in (self.cert_file, self.key_file) if file is not None]
        for file in files:
            if not file.parent.is_dir():
                raise ConfigurationError(f"{file} can't be written: {file.parent} is no directory")
            if not self.force and file.exists():
                raise ConfigurationError(f"{file} exists; say --force to replace it")
        if len({file.resolve() for file in files}) < len(files):
            raise ConfigurationError("--cert-file and --key-file need two files: one would replace the other")

    def write(self, certificate: str, chain: str | None, private_key: str | None) -> None:
        """Write what goes where.

        Raises:
            ConfigurationError: there is no key to be written, or a file can't be.
        """
        if self.key_file is not None:
            if not private_key:
                raise ConfigurationError(
                    f"{self.key_file}: there is no private key to be had, or not for you"
                )
            write_private(self.key_file, private_key, force=self.force)
        if self.cert_file is not None:
            _write_public(self.cert_file, chain_text(certificate, chain))

    def told(self) -> str:
        """Return where things are, as the end of a sentence."""
        return "".join(
            f"; {what} in {file}"
            for what, file in (("it is", self.cert_file), ("its key is", self.key_file))
            if file is not None
        )
