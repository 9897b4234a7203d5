"""All that is particular to SQLite: how it is opened, when it locks, and what its errors mean."""

import sqlite3
import time
from pathlib import Path
from typing import Any

from sqlalchemy import URL, Connection, Engine, create_engine, event
from sqlalchemy.exc import DBAPIError

from kernwright.core.errors import MachineFault, UserError

from .disk import full

BUSY_S = 30.0
"""How long a writer waits for another one before it gives up."""


def open_engine(path: Path) -> Engine:
    """Connections in WAL mode that survive a kill of the process; a lost power supply may cost the last events."""
    engine = create_engine(URL.create("sqlite", database=str(path)), connect_args={"timeout": BUSY_S})
    event.listen(engine, "connect", _configure)
    event.listen(engine, "begin", _begin)
    return engine


def explained(error: DBAPIError, path: Path, run: str) -> Exception:
    """The error as a sentence for a person: the machine's fault, or the user's where a folder is the reason."""
    name = str(getattr(error.orig, "sqlite_errorname", "SQLITE_ERROR"))
    if name == "SQLITE_FULL":
        return full(path.parent, run)
    if name.startswith("SQLITE_BUSY"):
        return MachineFault(f"The journal {path} was locked by another process for {BUSY_S:g} s; try again.")
    if name.startswith(("SQLITE_READONLY", "SQLITE_CANTOPEN", "SQLITE_PERM")):
        return UserError(
            f"The journal {path} cannot be written ({error.orig}); make the folder writable, or choose "
            "another one with $KERNWRIGHT_HOME."
        )
    if name.startswith(("SQLITE_CORRUPT", "SQLITE_NOTADB")):
        return MachineFault(f"The journal {path} is damaged ({error.orig}); put back a copy, or move it away.")
    return MachineFault(
        f"The journal {path} failed: {error.orig} ({name}). Nothing that was finished is lost; "
        f"once the cause is gone, `kernwright resume {run}`."
    )


def _configure(connection: Any, _record: Any) -> None:
    connection.isolation_level = None  # else sqlite3 begins transactions by itself, and not before DDL
    deadline = time.monotonic() + BUSY_S
    while True:
        try:
            connection.execute("PRAGMA journal_mode=WAL")
            break
        except sqlite3.OperationalError as error:  # two processes that create one database; SQLite does not wait here
            if not error.sqlite_errorname.startswith("SQLITE_BUSY") or time.monotonic() > deadline:
                raise
            time.sleep(0.01)
    connection.execute("PRAGMA synchronous=NORMAL")


def _begin(connection: Connection) -> None:
    # A transaction that reads first and writes later fails at once, without waiting, when another one wrote meanwhile.
    write = connection.get_execution_options().get("write", False)
    connection.exec_driver_sql("BEGIN IMMEDIATE" if write else "BEGIN")
