"""Journal, inbox, and the table that says which version they have."""

from sqlalchemy import Boolean, Column, Connection, Double, Index, Integer, MetaData, String, Table, Text


def upgrade(connection: Connection) -> None:
    """Make the tables. They are spelt out here, for `store.tables` follows the newest version."""
    metadata = MetaData()
    Table("meta", metadata, Column("key", String(64), primary_key=True), Column("value", Text, nullable=False))
    Table(
        "events",
        metadata,
        Column("run", String(128), primary_key=True),
        Column("seq", Integer, primary_key=True, autoincrement=False),
        Column("at", Double, nullable=False),
        Column("kind", String(32), nullable=False),
        Column("body", Text, nullable=False),
    )
    Table(
        "inbox",
        metadata,
        Column("id", Integer, primary_key=True),
        Column("run", String(128), nullable=False),
        Column("body", Text, nullable=False),
        Column("taken", Boolean, nullable=False),
        Index("inbox_open", "run", "taken", "id"),
    )
    metadata.create_all(connection, checkfirst=False)
