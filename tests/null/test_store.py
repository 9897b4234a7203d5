"""The stores: the contract for both, then what only one on a disk can get wrong."""

import os
import signal
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import ClauseElement, Dialect, inspect, text
from sqlalchemy.dialects import postgresql

from kernwright.core.digest import digest_bytes
from kernwright.core.errors import MachineFault, NewerJournal, RunLocked, UserError
from kernwright.core.events import RunFinished
from kernwright.core.inbox import Told
from kernwright.core.ports import Inbox, Store
from kernwright.store import sql, sqlite
from kernwright.store.sql import PAGE, SqlStore
from kernwright.store.tables import METADATA
from kernwright.testing.memory_store import MemoryStore
from kernwright.testing.store_contract import StoreContract


class TestMemoryStore(StoreContract):
    @pytest.fixture
    def store(self) -> MemoryStore:
        return MemoryStore()


class TestSqlStore(StoreContract):
    @pytest.fixture
    def store(self, tmp_path: Path) -> Iterator[SqlStore]:
        store = SqlStore(tmp_path / "home")
        yield store
        store.close()


@pytest.fixture
def store(tmp_path: Path) -> Iterator[SqlStore]:
    store = SqlStore(tmp_path)
    yield store
    store.close()


def finished(reason: str) -> RunFinished:
    return RunFinished(reason=reason, champion=None)


def child(code: str, *arguments: object, **options: object) -> "subprocess.Popen[str]":
    """A Python process that runs `code`; its output is readable as text."""
    command = [sys.executable, "-c", code, *map(str, arguments)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stdin=subprocess.PIPE, text=True)


def test_stores_are_what_the_seams_ask_for(store: SqlStore) -> None:
    seams: list[tuple[Store, Inbox]] = [(store, store), (MemoryStore(), MemoryStore())]
    assert len(seams) == 2


def test_a_journal_is_there_after_closing(tmp_path: Path) -> None:
    first = SqlStore(tmp_path)
    entries = [first.append("run", finished(str(i))) for i in range(PAGE + 3)]
    blob = first.put(b"source")
    first.post("run", Told(node=1, candidate=blob))
    first.close()
    second = SqlStore(tmp_path)
    assert list(second.events("run")) == entries
    assert list(second.events("run", PAGE)) == entries[PAGE:]
    assert second.get(blob) == b"source"
    assert [message.candidate for _, message in second.inbox("run")] == [blob]
    assert second.append("run", finished("later")).seq == PAGE + 4
    second.close()


def test_looking_makes_no_files(tmp_path: Path) -> None:
    assert SqlStore.open_existing(tmp_path / "home") is None
    assert list(tmp_path.iterdir()) == []
    SqlStore(tmp_path / "home").close()
    found = SqlStore.open_existing(tmp_path / "home")
    assert found is not None
    found.close()


def set_version(home: Path, version: int) -> None:
    engine = sqlite.open_engine(home / "journal.db")
    with engine.begin() as connection:
        connection.execute(text("UPDATE meta SET value = :version WHERE key = 'schema'"), {"version": str(version)})
    engine.dispose()


def test_a_newer_journal_is_refused_and_left_alone(tmp_path: Path) -> None:
    store = SqlStore(tmp_path)
    store.append("run", finished("kept"))
    store.close()
    set_version(tmp_path, 7)
    for _ in range(2):
        with pytest.raises(NewerJournal, match=r"schema version 7.*up to 1.*[Uu]pgrade"):
            SqlStore(tmp_path)
    set_version(tmp_path, 1)
    store = SqlStore(tmp_path)
    assert [entry.event for entry in store.events("run")] == [finished("kept")]
    store.close()


def test_migrations_lead_to_the_tables_that_the_store_uses(store: SqlStore) -> None:
    made = inspect(store._engine)
    assert sorted(made.get_table_names()) == sorted(METADATA.tables)
    for table in METADATA.tables.values():
        columns = [(column["name"], str(column["type"]), column["nullable"]) for column in made.get_columns(table.name)]
        assert columns == [(column.name, str(column.type), bool(column.nullable)) for column in table.columns]
        assert made.get_pk_constraint(table.name)["constrained_columns"] == [c.name for c in table.primary_key]


@pytest.mark.parametrize("statement", [sql._APPEND, sql._PAGE, sql._RUNS, sql._OPEN])
def test_statements_are_understood_by_another_database(statement: ClauseElement) -> None:
    dialect: Dialect = postgresql.dialect()  # type: ignore[no-untyped-call]
    assert str(statement.compile(dialect=dialect)).startswith(("SELECT", "INSERT"))


def test_processes_that_make_one_journal_at_a_time_all_succeed(tmp_path: Path) -> None:
    code = """
import sys
from pathlib import Path
from kernwright.core.events import RunFinished
from kernwright.store.sql import SqlStore
SqlStore(Path(sys.argv[1]) / "warm").append("run", RunFinished(reason="", champion=None))
print("ready", flush=True)
for line in sys.stdin:
    SqlStore(Path(sys.argv[1]) / line.strip()).append("run", RunFinished(reason="", champion=None))
"""
    children = [child(code, tmp_path) for _ in range(3)]
    for process in children:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
    for process in children:
        assert process.stdin is not None
        process.stdin.write("".join(f"home{i}\n" for i in range(15)))
        process.stdin.flush()
    for process in children:
        process.communicate(timeout=60)
    assert [process.returncode for process in children] == [0, 0, 0]
    for home in ["warm", *(f"home{i}" for i in range(15))]:
        store = SqlStore(tmp_path / home)
        assert [entry.seq for entry in store.events("run")] == [1, 2, 3]
        store.close()


def test_a_journal_that_another_process_is_just_making_is_waited_for(tmp_path: Path) -> None:
    other = sqlite3.connect(tmp_path / "journal.db", isolation_level=None, check_same_thread=False)
    other.execute("BEGIN IMMEDIATE")  # SQLite refuses the change to WAL at once here, whatever the timeout
    threading.Timer(0.2, other.rollback).start()
    SqlStore(tmp_path).close()
    other.close()


def test_a_file_that_is_no_journal_is_named(tmp_path: Path) -> None:
    (tmp_path / "journal.db").write_bytes(b"no database at all" * 1000)
    with pytest.raises(MachineFault, match=r"journal\.db is damaged"):
        SqlStore(tmp_path)


def test_an_event_that_cannot_be_read_is_named(store: SqlStore) -> None:
    store.append("run", finished("fine"))
    with store._engine.begin() as connection:
        connection.execute(text("""UPDATE events SET body = '{"kind": "run_finished", "champion": "x"}'"""))
    with pytest.raises(MachineFault, match="stored Event cannot be read: at run_finished"):
        list(store.events("run"))


def test_a_folder_that_cannot_be_written_is_the_users_to_mend(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(UserError, match=r"cannot be written.*KERNWRIGHT_HOME"):
        SqlStore(tmp_path / "file" / "home")


class TestBlobs:
    def test_damage_is_seen_and_mended_by_putting_again(self, store: SqlStore, tmp_path: Path) -> None:
        id = store.put(b"float x = 1.0f;")
        path = tmp_path / "blobs" / id[:2] / id
        path.write_bytes(b"float x = 2.0f;")
        with pytest.raises(MachineFault, match=f"Blob {id} is damaged"):
            store.get(id)
        assert store.put(b"float x = 1.0f;") == id
        assert store.get(id) == b"float x = 1.0f;"

    def test_an_id_does_not_lead_out_of_the_folder(self, tmp_path: Path) -> None:
        store = SqlStore(tmp_path / "home")
        store.put(b"so that the folder is there")
        (tmp_path / "x").write_bytes(b"secret")
        with pytest.raises(KeyError):
            store.get("../x")
        store.close()

    def test_nothing_else_is_left_in_the_folder(self, store: SqlStore, tmp_path: Path) -> None:
        ids = {store.put(bytes([i])) for i in range(20)}
        assert {path.name for path in (tmp_path / "blobs").rglob("*") if path.is_file()} == ids


class TestRunNames:
    def test_a_name_is_readable_and_new(self, store: SqlStore) -> None:
        names = {store.create_run("Softmax / wide rows!") for _ in range(20)}
        assert len(names) == 20
        assert all(name[8:].startswith("-softmax-wide-rows-") and name[:8].isdigit() for name in names)
        assert "-run-" in store.create_run("???")

    def test_prefixes(self, store: SqlStore) -> None:
        for run in ("20260101-gelu-aaaa", "20260101-gelu-bbbb", "20251231-norm-cccc"):
            store.append(run, finished(""))
        assert store.resolve_run("20251231-norm-cccc") == "20251231-norm-cccc"
        assert store.resolve_run("2025") == "20251231-norm-cccc"
        assert store.resolve_run("latest") == "20251231-norm-cccc"
        with pytest.raises(UserError, match=r"2 runs.*gelu-aaaa, 20260101-gelu-bbbb"):
            store.resolve_run("20260101")
        with pytest.raises(UserError, match="Did you mean '20251231-norm-cccc'"):
            store.resolve_run("20251231-nrom-cccc")
        with pytest.raises(UserError, match="There is no run ''"):
            store.resolve_run("")

    @pytest.mark.parametrize("name", ["latest", "2026"])
    def test_no_runs(self, store: SqlStore, name: str) -> None:
        with pytest.raises(UserError, match=r"no runs in .*kernwright evolve"):
            store.resolve_run(name)

    def test_a_whole_id_wins_over_longer_ones(self, store: SqlStore) -> None:
        for run in ("a", "ab"):
            store.append(run, finished(""))
        assert store.resolve_run("a") == "a"


HOLD = """
import sys
from pathlib import Path
from kernwright.store.sql import SqlStore
with SqlStore(Path(sys.argv[1])).lock("run"):
    print("held", flush=True)
    sys.stdin.readline()
"""

FORKING = """
import os, sys, time
from pathlib import Path
from kernwright.store.sql import SqlStore
with SqlStore(Path(sys.argv[1])).lock("run"):
    pid = os.fork()
    if pid == 0 and sys.argv[2] == "stay":
        print(os.getpid(), flush=True)
        time.sleep(60)
    if pid:
        if sys.argv[2] == "leave":
            print(os.waitpid(pid, 0)[1], flush=True)
        time.sleep(60)
"""


class TestLock:
    def test_another_process_is_named_and_its_death_frees_the_run(self, store: SqlStore, tmp_path: Path) -> None:
        holder = child(HOLD, tmp_path)
        assert holder.stdout is not None
        assert holder.stdout.readline() == "held\n"
        with pytest.raises(RunLocked, match=f"pid {holder.pid};"), store.lock("run"):
            pass
        with store.lock("other"):
            pass
        holder.kill()
        holder.communicate()
        with store.lock("run"):
            pass

    def test_twice_in_one_process(self, store: SqlStore) -> None:
        with store.lock("run"), pytest.raises(RunLocked, match=f"pid {os.getpid()};"), store.lock("run"):
            pass
        with store.lock("run"):
            pass

    def test_a_forked_child_does_not_keep_it_beyond_the_engines_death(self, store: SqlStore, tmp_path: Path) -> None:
        holder = child(FORKING, tmp_path, "stay")
        assert holder.stdout is not None
        orphan = int(holder.stdout.readline())
        holder.kill()
        holder.wait(20)
        try:
            with store.lock("run"):
                os.kill(orphan, 0)
        finally:
            os.kill(orphan, signal.SIGKILL)
            holder.communicate()

    def test_a_forked_child_does_not_give_it_back(self, store: SqlStore, tmp_path: Path) -> None:
        holder = child(FORKING, tmp_path, "leave")
        assert holder.stdout is not None
        assert holder.stdout.readline() == "0\n"
        with pytest.raises(RunLocked, match=f"pid {holder.pid};"), store.lock("run"):
            pass
        holder.kill()
        holder.communicate()


WRITER = """
import sys
from pathlib import Path
from kernwright.core.events import RunFinished
from kernwright.store.sql import SqlStore
store = SqlStore(Path(sys.argv[1]))
for number in range(1_000_000):
    blob = store.put(f"source {number}".encode())
    seq = store.append("run", RunFinished(reason=blob, champion=number)).seq
    print(seq, flush=True)
"""


@pytest.mark.parametrize("lines", [1, 40, 700])
def test_kill_dash_nine_loses_nothing_that_was_appended(tmp_path: Path, lines: int) -> None:
    writer = child(WRITER, tmp_path)
    assert writer.stdout is not None
    reported = [int(writer.stdout.readline()) for _ in range(lines)]
    threading.Timer(0.003, writer.send_signal, [signal.SIGKILL]).start()  # in the midst of it, not after a report
    reported += [int(line) for line in writer.stdout.read().split("\n")[:-1]]
    assert writer.wait(20) == -signal.SIGKILL
    writer.communicate()
    store = SqlStore(tmp_path)
    entries = list(store.events("run"))
    assert reported == list(range(1, len(reported) + 1))
    assert [entry.seq for entry in entries] == list(range(1, len(entries) + 1))
    assert len(entries) in (len(reported), len(reported) + 1)  # the last one may be there and not reported yet
    for entry in entries:
        assert isinstance(entry.event, RunFinished)
        assert store.get(entry.event.reason) == f"source {entry.event.champion}".encode()
        assert digest_bytes(f"source {entry.event.champion}".encode()) == entry.event.reason
    assert store.append("run", finished("resumed")).seq == len(entries) + 1
    store.close()


def test_what_is_appended_together_is_there_at_once_or_never(store: SqlStore) -> None:
    store.append("run", finished("before"))

    def reasons(run: str) -> list[str]:
        return [entry.event.reason for entry in store.events(run)]  # type: ignore[union-attr]

    def interrupted() -> None:
        with store.together():
            store.append("run", finished("never"))
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    with store.together():
        assert [store.append("run", finished(reason)).seq for reason in ("two", "three")] == [2, 3]
        assert store.append("other", finished("another run's")).seq == 1
        assert reasons("run") == ["before"]
    assert reasons("run") == ["before", "two", "three"]
    assert reasons("other") == ["another run's"]
    assert store.append("run", finished("after")).seq == 4
