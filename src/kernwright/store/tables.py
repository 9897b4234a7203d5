"""The tables at the newest schema version."""

from sqlalchemy import Boolean, Column, Double, Integer, MetaData, String, Table, Text

METADATA = MetaData()

META = Table("meta", METADATA, Column("key", String(64), primary_key=True), Column("value", Text, nullable=False))

EVENTS = Table(
    "events",
    METADATA,
    Column("run", String(128), primary_key=True),
    Column("seq", Integer, primary_key=True, autoincrement=False),
    Column("at", Double, nullable=False),
    Column("kind", String(32), nullable=False),
    Column("body", Text, nullable=False),
)

INBOX = Table(
    "inbox",
    METADATA,
    Column("id", Integer, primary_key=True),
    Column("run", String(128), nullable=False),
    Column("body", Text, nullable=False),
    Column("taken", Boolean, nullable=False),
)
