"""The store on a disk: a journal in SQL, blobs and locks in files beside it."""

import re
import secrets
import time
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

from sqlalchemy import Connection, Double, String, Text, bindparam, create_engine, func, insert, select, update
from sqlalchemy.exc import DBAPIError, IntegrityError

from kernwright.core.errors import MachineFault, UserError, unknown_name
from kernwright.core.events import Entry, Event
from kernwright.core.inbox import Message

from . import sqlite
from .blobs import Blobs
from .codec import decode, decode_event, encode, encode_event
from .disk import writing
from .locks import Locks
from .schema import migrate
from .tables import EVENTS, INBOX

PAGE = 2_000
"""Journal entries per query: no read transaction stays open while the caller works on one."""

# One statement numbers and writes, so that no second writer can come between.
_APPEND = (
    insert(EVENTS)
    .from_select(
        ["run", "seq", "at", "kind", "body"],
        select(
            bindparam("run", type_=String),
            func.coalesce(func.max(EVENTS.c.seq), 0) + 1,
            bindparam("at", type_=Double),
            bindparam("kind", type_=String),
            bindparam("body", type_=Text),
        ).where(EVENTS.c.run == bindparam("run", type_=String)),
    )
    .returning(EVENTS.c.seq)
)
_PAGE = (
    select(EVENTS.c.seq, EVENTS.c.at, EVENTS.c.body)
    .where(EVENTS.c.run == bindparam("of"), EVENTS.c.seq > bindparam("after"))
    .order_by(EVENTS.c.seq)
    .limit(PAGE)
)
_FIRST = select(EVENTS.c.at, EVENTS.c.body).where(EVENTS.c.run == bindparam("of"), EVENTS.c.seq == 1)
_RUNS = select(EVENTS.c.run).where(EVENTS.c.seq == 1).order_by(EVENTS.c.at, EVENTS.c.run)
_OPEN = (
    select(INBOX.c.id, INBOX.c.body)
    .where(INBOX.c.run == bindparam("of"), INBOX.c.taken.is_(False))
    .order_by(INBOX.c.id)
)


class SqlStore:
    """`core.ports.Store` and `core.ports.Inbox` in a folder; made where it is not there.

    With `url` (an SQLAlchemy database URL) the journal is in that database instead of `journal.db`.

    Raises:
        NewerJournal: a newer Kernwright wrote the journal.
        UserError: the folder cannot be written.
    """

    def __init__(self, home: Path, url: str | None = None) -> None:
        self.home = home
        self._path = home / "journal.db"
        self._blobs = Blobs(home / "blobs")
        self._locks = Locks(home / "locks")
        with writing(home):
            home.mkdir(parents=True, exist_ok=True)
        self._engine = create_engine(url) if url else sqlite.open_engine(self._path)
        self._writer = self._engine.execution_options(write=True)
        self._together: Connection | None = None
        try:
            with self._explained():
                migrate(self._engine, self._writer, url or str(self._path))
        except BaseException:
            self.close()
            raise

    @classmethod
    def open_existing(cls, home: Path, url: str | None = None) -> "SqlStore | None":
        """The store of this folder, or None, and no new file, where it has none."""
        return cls(home, url) if url or (home / "journal.db").is_file() else None

    def append(self, run: str, event: Event) -> Entry:
        """Durable against a kill of this process once it returns, or once the block of `together` ends.

        Raises:
            MachineFault: the disk is full, or the journal failed; the event is not in it.
        """
        at = time.time()
        row = {"run": run, "at": at, "kind": event.kind, "body": encode_event(event).decode()}
        with self._explained(run):
            if self._together is not None:
                seq = self._together.execute(_APPEND, row).scalar_one()
            else:
                with self._writer.begin() as connection:
                    seq = connection.execute(_APPEND, row).scalar_one()
        return Entry(seq=seq, at=at, event=event)

    @contextmanager
    def together(self) -> Iterator[None]:
        """What is appended in the block is in the journal once it ends, and none of it where it raises or is killed.

        Nobody reads it before, this store neither. Other writers wait, so the block should be short.

        Raises:
            MachineFault: the disk is full, or the journal failed; nothing is in it.
        """
        with self._explained(), self._writer.begin() as connection:
            self._together = connection
            try:
                yield
            finally:
                self._together = None

    def events(self, run: str, after: int = 0) -> Iterator[Entry]:
        """The run's entries with a number above `after`, in order."""
        while True:
            with self._explained(run), self._engine.connect() as connection:
                rows = connection.execute(_PAGE, {"of": run, "after": after}).all()
            for seq, at, body in rows:
                yield Entry(seq=seq, at=at, event=decode_event(body))
            if len(rows) < PAGE:
                return
            after = rows[-1][0]

    def first(self, run: str) -> Entry | None:
        """The run's first entry, without reading the rest; None where there is none."""
        with self._explained(run), self._engine.connect() as connection:
            row = connection.execute(_FIRST, {"of": run}).one_or_none()
        return Entry(seq=1, at=row[0], event=decode_event(row[1])) if row is not None else None

    def runs(self) -> Sequence[str]:
        """Every run that has an event, oldest first."""
        with self._explained(), self._engine.connect() as connection:
            return connection.execute(_RUNS).scalars().all()

    def put(self, data: bytes) -> str:
        """Keeps the bytes; their digest."""
        return self._blobs.put(data)

    def get(self, id: str) -> bytes:
        """The bytes; raises KeyError where there are none, MachineFault where they are damaged."""
        return self._blobs.get(id)

    def create_run(self, name: str) -> str:
        """A new id that begins with the date and the name, for example `20261121-softmax-3f2a`."""
        word = re.sub(r"[^a-z0-9]+", "-", name.lower())[:32].strip("-") or "run"
        taken = set(self.runs())
        while True:
            run = f"{time.strftime('%Y%m%d')}-{word}-{secrets.token_hex(2)}"
            if run not in taken and self._locks.reserve(run):
                return run

    def resolve_run(self, prefix: str) -> str:
        """The one run whose id begins like this, else the one that has it inside; the newest for `latest`.

        Raises:
            UserError: there is none, or more than one.
        """
        runs = self.runs()
        if prefix in runs:
            return prefix
        if not runs:
            raise UserError(f"There are no runs in {self.home}; begin one with `kernwright evolve PROBLEM`.")
        if prefix == "latest":
            return runs[-1]
        found = [run for run in runs if prefix and run.startswith(prefix)]
        found = found or [run for run in runs if prefix and prefix in run]
        if len(found) > 1:
            raise UserError(f"{prefix!r} is in the names of {len(found)} runs; give more of one: {', '.join(found)}.")
        if not found:
            raise unknown_name("run", prefix, runs)
        return found[0]

    def lock(self, run: str, patience_s: float = 0.0) -> AbstractContextManager[None]:
        """Hold the run, so that no other engine writes to it; raises RunLocked where another one does for so long."""
        return self._locks.hold(run, patience_s)

    def post(self, run: str, message: Message) -> None:
        """Leave a message for the run's engine; durable once it returns."""
        with self._explained(run), self._writer.begin() as connection:
            connection.execute(insert(INBOX), {"run": run, "body": encode(message).decode(), "taken": False})

    def inbox(self, run: str) -> list[tuple[int, Message]]:
        """Messages that are not acknowledged, oldest first, each with its id."""
        with self._explained(run), self._engine.connect() as connection:
            rows = connection.execute(_OPEN, {"of": run}).all()
        return [(id, decode(Message, body)) for id, body in rows]  # type: ignore[arg-type]

    def acknowledge(self, run: str, id: int) -> None:
        """The message was acted upon: do not deliver it again."""
        with self._explained(run), self._writer.begin() as connection:
            connection.execute(update(INBOX).where(INBOX.c.run == run, INBOX.c.id == id).values(taken=True))

    def close(self) -> None:
        """Close the connections to the journal."""
        self._engine.dispose()

    @contextmanager
    def _explained(self, run: str = "") -> Iterator[None]:
        try:
            yield
        except IntegrityError as error:
            raise MachineFault(
                f"The journal of run {run!r} was written by two engines at a time; stop one of them."
            ) from error
        except DBAPIError as error:
            if self._engine.dialect.name != "sqlite":
                raise MachineFault(f"The journal's database failed: {error.orig}.") from error
            raise sqlite.explained(error, self._path, run) from error
