"""Brings a journal to this Kernwright's schema version."""

from sqlalchemy import Connection, Engine, insert, inspect, select, update

from kernwright.core.errors import NewerJournal

from .migrations import STEPS, VERSION
from .tables import META


def migrate(reader: Engine, writer: Engine, name: str) -> None:
    """Apply the steps that the database lacks, all of them or none; `name` is the journal's, for people.

    Raises:
        NewerJournal: the database has a version that this Kernwright does not know.
    """
    with reader.connect() as connection:
        if _version(connection, name) == VERSION:
            return
    with writer.begin() as connection:
        version = _version(connection, name)  # another process may have been here in between
        for step in STEPS[version:]:
            step(connection)
        if version == 0:
            connection.execute(insert(META), {"key": "schema", "value": str(VERSION)})
        else:
            connection.execute(update(META).where(META.c.key == "schema").values(value=str(VERSION)))


def _version(connection: Connection, name: str) -> int:
    if not inspect(connection).has_table(META.name):
        return 0
    version = int(connection.execute(select(META.c.value).where(META.c.key == "schema")).scalar_one())
    if version > VERSION:
        raise NewerJournal(
            f"The journal {name} has schema version {version}, and this Kernwright knows versions up to {VERSION}. "
            "Upgrade with `pip install --upgrade kernwright`, or choose another folder with $KERNWRIGHT_HOME."
        )
    return version
