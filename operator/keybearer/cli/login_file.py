"""The login of a person at a machine: a token in a file that nobody else can read."""

from __future__ import annotations

import contextlib
import os
import secrets
import stat
from dataclasses import asdict, dataclass, field
from pathlib import Path

import orjson

from keybearer.base.errors import ConfigurationError

__all__ = ["Login", "forget_login", "login_path", "read_login", "write_login"]

_MAX_BYTES = 64 * 1024


@dataclass(frozen=True, slots=True)
class Login:
    """Where one is logged in, and as whom.

    Attributes:
        url: the address of the service; the token is sent nowhere else.
        method: `universal-auth` or `user`.
        name: the client id or the email.
        ca_file: what to trust for the address; None for the system's certificates.
        allow_insecure_http: the address may be plain http beyond this machine.
        expires_at: ISO 8601 in UTC; empty where the service doesn't say.
    """

    url: str
    method: str
    name: str
    access_token: str = field(repr=False)
    ca_file: str | None = None
    allow_insecure_http: bool = False
    expires_at: str = ""


def login_path() -> Path:
    """Return where the login is kept (XDG Base Directory Specification)."""
    given = os.environ.get("XDG_CONFIG_HOME", "")
    # Relative ones are to be ignored, says the specification.
    base = Path(given) if given.startswith("/") else Path.home() / ".config"
    return base / "keybearer" / "login.json"


def read_login() -> Login | None:
    """Return the login that is kept, or None.

    Raises:
        ConfigurationError: others may read the file, or it isn't one of ours.
    """
    path = login_path()
    try:
        with path.open("rb") as file:
            mode = os.fstat(file.fileno()).st_mode
            if stat.S_IMODE(mode) & 0o077:
                raise ConfigurationError(
                    f"{path} may be read by others; run: chmod 600 {path} - or log in again: keybearer login"
                )
            content = file.read(_MAX_BYTES)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise ConfigurationError(f"{path} can't be read: {error.strerror}") from error
    try:
        return Login(**orjson.loads(content))
    except (orjson.JSONDecodeError, TypeError):
        pass
    # Outside the handler: the error's text could show the token.
    raise ConfigurationError(f"{path} is damaged; log in again: keybearer login")


def write_login(login: Login) -> Path:
    """Keep the login in place of an older one; at every moment the file is whole and ours alone.

    Raises:
        ConfigurationError: it can't be written.
    """
    path = login_path()
    fresh = path.with_name(f".login-{secrets.token_hex(8)}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        descriptor = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        try:
            with os.fdopen(descriptor, "wb") as file:
                file.write(orjson.dumps(asdict(login), option=orjson.OPT_INDENT_2) + b"\n")
            fresh.replace(path)
        except BaseException:
            fresh.unlink(missing_ok=True)
            raise
    except OSError as error:
        raise ConfigurationError(f"{path} can't be written: {error.strerror}") from error
    return path


def forget_login() -> None:
    """No login is kept any more."""
    with contextlib.suppress(FileNotFoundError):
        login_path().unlink()
