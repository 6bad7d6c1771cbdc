"""`keybearer audit verify`: whether anybody edited the audit log in the database."""

from __future__ import annotations

import os
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import orjson
import typer

from keybearer.base.errors import ConfigurationError
from keybearer.cli.database_options import given_database_url
from keybearer.cli.failures import ExitStatus
from keybearer.cli.output import Output, OutputFormat, note, print_json, print_table
from keybearer.cli.own_credentials import OwnCredential

if TYPE_CHECKING:
    from keybearer.store.audit_chain.register import Fault
    from keybearer.store.audit_chain.verification import AuditVerification, Known

__all__ = ["verify"]

_TEXTS: Mapping[str, str] = {
    "register": "the register of chains was removed or changed",
    "rolled-back": "an earlier state was put back",
    "removed-chain": "the chain was removed",
    "unknown-chain": "the register has no such chain",
    "gap": "lines were removed",
    "changed": "lines were changed, or put in the place of others",
    "inserted": "lines were inserted",
    "moved": "lines are in another place than where they were written",
    "truncated": "lines were removed at the end",
    "changed-end": "the end of the chain was changed",
    "unchained": "lines without a chain were inserted",
}


def verify(
    data_dir: Annotated[
        Path | None,
        typer.Option(
            help="Directory of the service, or of a restored backup, with SQLite's database and root.key."
        ),
    ] = None,
    database_url: Annotated[
        str | None,
        typer.Option(help="postgresql://... without a password, in place of SQLite in the data directory."),
    ] = None,
    database_url_file: Annotated[
        Path | None, typer.Option(help="File with the database's URL, if that holds a password.")
    ] = None,
    root_key_file: Annotated[
        Path | None, typer.Option(help="File with the root key; by default DATA_DIR/root.key.")
    ] = None,
    known: Annotated[
        Path | None,
        typer.Option(
            help="File with what an earlier run printed with --output json, kept elsewhere. With it, the check also "
            "finds that the whole database was put back to an earlier state."
        ),
    ] = None,
    output: Output = OutputFormat.TABLE,
) -> None:
    """Check that nobody edited the audit log in the database.

    Finds lines that were removed, changed, inserted or moved, chains that were removed, and ends that were cut off.
    Reads the database itself, with the root key (KEYBEARER_ROOT_KEY, or a file), and writes nothing; the service may
    run.

    Exits with 1 when something is wrong, and says what and where.
    """
    found = _checked(data_dir, given_database_url(database_url, database_url_file), root_key_file, known)
    if output is OutputFormat.JSON:
        print_json(_json_of(found))
    else:
        _tell(found)
    if found.faults:
        raise typer.Exit(ExitStatus.FAILED)


def _checked(
    data_dir: Path | None, url: str | None, root_key_file: Path | None, known: Path | None
) -> AuditVerification:
    import asyncio

    from keybearer.base.clock import SystemClock
    from keybearer.domain.audit_verification import verify_audit_log
    from keybearer.domain.server_keys import RootKeySource
    from keybearer.store.database import Database
    from keybearer.store.engines import database_url, sqlite_url

    if data_dir is None and url is None:
        raise ConfigurationError("name the database: --data-dir, or --database-url")
    text = os.environ.get(OwnCredential.ROOT_KEY)
    file = root_key_file
    if file is None and data_dir is not None:
        file = data_dir / "root.key"
    if file is None and text is None:
        raise ConfigurationError(
            f"name the root key: --root-key-file, --data-dir, or {OwnCredential.ROOT_KEY}"
        )
    database_file = Path() if data_dir is None else data_dir / "keybearer.db"
    if url is None and not database_file.is_file():
        raise ConfigurationError(
            f"{data_dir} holds no database (keybearer.db); for PostgreSQL give --database-url"
        )
    source = RootKeySource(
        file=file or Path(), text=None if root_key_file is not None else text, may_create=False
    )
    earlier = None if known is None else _known_of(known)

    async def run() -> AuditVerification:
        database = Database(sqlite_url(database_file) if url is None else database_url(url), SystemClock())
        try:
            return await verify_audit_log(database, source, earlier)
        finally:
            await database.close()

    return asyncio.run(run())


def _known_of(file: Path) -> Known:
    from keybearer.store.audit_chain.verification import Known

    try:
        found = orjson.loads(file.read_bytes())
        return Known(
            int(found["revision"]), {int(chain["chain"]): int(chain["last"]) for chain in found["chains"]}
        )
    except OSError as error:
        raise ConfigurationError(f"--known {file} can't be read: {error.strerror}") from error
    except (ValueError, KeyError, TypeError) as error:
        raise ConfigurationError(
            f"--known {file} is not a report; give what keybearer audit verify --output json printed"
        ) from error


def _tell(found: AuditVerification) -> None:
    print_table(
        ("WRITER", "CHAIN", "SINCE", "LINES", "FROM", "TO"),
        [
            (
                chain.writer_id,
                str(chain.number),
                _time(chain.began_at),
                str(chain.lines),
                str(chain.cut + 1),
                str(chain.last),
            )
            for chain in found.chains
            if chain.last
        ],
    )
    if found.began_at is not None:
        note(f"Lines are chained since {_time(found.began_at)}.")
    if found.taken_in:
        note(
            f"{_counted(found.taken_in)} of an earlier version {_were(found.taken_in)} chained later; nobody "
            "can tell whether they were edited before that."
        )
    if found.waiting:
        note(
            f"{_counted(found.waiting)} of an earlier version can't be checked yet. The service chains them while it "
            "works; check again later."
        )
    if found.cut:
        note(f"Retention has removed {_counted(found.cut)}.")
    for fault in found.faults:
        note(f"Wrong: {_sentence(fault)}")
    checked = found.lines - found.waiting
    if found.faults:
        wrong = "1 thing is" if len(found.faults) == 1 else f"{len(found.faults)} things are"
        note(f"{_counted(checked)} {_were(checked)} checked; {wrong} wrong.")
        note("Keep a copy of the database, compare it with a backup, and find out who can write to it.")
    else:
        note(f"{_counted(checked)} {_were(checked)} checked; nothing is wrong.")


def _sentence(fault: Fault) -> str:
    """Return what is wrong, where and when, as a text for people."""
    chain = None if fault.chain is None else f"chain {fault.chain}"
    writer = None if fault.writer_id is None else f"writer {fault.writer_id}"
    noticed = None if fault.noted_at is None else f"the service noticed it at {_time(fault.noted_at)}"
    parts = (
        _TEXTS[fault.kind.value],
        chain,
        writer,
        _lines_of(fault),
        None if fault.lines is None else _counted(fault.lines),
        _times_of(fault),
        noticed,
    )
    return "; ".join(part for part in parts if part is not None)


def _counted(lines: int) -> str:
    return "1 line" if lines == 1 else f"{lines} lines"


def _were(lines: int) -> str:
    return "was" if lines == 1 else "were"


def _lines_of(fault: Fault) -> str | None:
    if fault.last is None:
        return None
    if fault.first is None:
        return f"it had reached at least line {fault.last}"
    return f"line {fault.first}" if fault.first == fault.last else f"lines {fault.first} to {fault.last}"


def _times_of(fault: Fault) -> str | None:
    after, before = fault.after, fault.before
    if after is None:
        return None if before is None else f"before {_time(before)}"
    if before is None:
        return f"after {_time(after)}"
    return f"of {_time(after)}" if after == before else f"between {_time(after)} and {_time(before)}"


def _json_of(found: AuditVerification) -> dict[str, object]:
    return {
        "ok": not found.faults,
        "revision": found.revision,
        "chainedSince": _text_of(found.began_at),
        "lines": found.lines,
        "waiting": found.waiting,
        "takenIn": found.taken_in,
        "cut": found.cut,
        "chains": [
            {
                "chain": chain.number,
                "writer": chain.writer_id,
                "beganAt": _text_of(chain.began_at),
                "lines": chain.lines,
                "cut": chain.cut,
                "cutAt": _text_of(chain.cut_at),
                "cutReason": chain.cut_why or None,
                "last": chain.last,
                "takenIn": chain.is_taken_in,
            }
            for chain in found.chains
        ],
        "faults": [
            {
                "kind": fault.kind.value,
                "chain": fault.chain,
                "writer": fault.writer_id,
                "firstLine": fault.first,
                "lastLine": fault.last,
                "after": _text_of(fault.after),
                "before": _text_of(fault.before),
                "lines": fault.lines,
                "noticedAt": _text_of(fault.noted_at),
                "message": _sentence(fault),
            }
            for fault in found.faults
        ],
    }


def _text_of(instant: datetime | None) -> str | None:
    return None if instant is None else _time(instant)


def _time(instant: datetime) -> str:
    return instant.isoformat(timespec="milliseconds").replace("+00:00", "Z")
