"""Content-addressed bytes on disk."""

import os
import tempfile
from contextlib import suppress
from pathlib import Path

from kernwright.core.digest import digest_bytes
from kernwright.core.errors import MachineFault

from .disk import Writing, writing


class Blobs:
    """Files named by the digest of what they hold, in folders named by its first two digits.

    A file appears whole or not at all where a process is killed. It is not flushed to the disk, which costs
    more than all else in a step; after a loss of power `get` sees from the digest that it is damaged.
    """

    def __init__(self, folder: Path, writing: Writing = writing) -> None:
        """`writing` turns an OSError of the folder into the sentence for it."""
        self._folder = folder
        self._writing = writing

    def put(self, data: bytes) -> str:
        """Keeps the bytes, replacing a damaged copy; their digest."""
        id = digest_bytes(data)
        path = self._path(id)
        with self._writing(self._folder):
            with suppress(FileNotFoundError):
                if path.read_bytes() == data:
                    return id
            path.parent.mkdir(parents=True, exist_ok=True)
            descriptor, name = tempfile.mkstemp(dir=path.parent, prefix=".")
            try:
                with os.fdopen(descriptor, "wb") as file:
                    file.write(data)
                Path(name).replace(path)
            except BaseException:
                Path(name).unlink(missing_ok=True)
                raise
        return id

    def get(self, id: str) -> bytes:
        """The bytes.

        Raises:
            KeyError: there is no such blob.
            MachineFault: the file is damaged.
        """
        if not (len(id) == 32 and set(id) <= set("0123456789abcdef")):
            raise KeyError(id)
        path = self._path(id)
        try:
            data = path.read_bytes()
        except FileNotFoundError:
            raise KeyError(id) from None
        except OSError as error:
            raise MachineFault(f"Blob {id} cannot be read: {error.strerror} ({path}).") from error
        if digest_bytes(data) != id:
            raise MachineFault(
                f"Blob {id} is damaged: what {path} holds has another digest. Put back a copy of the file, "
                "or delete it and submit its content again."
            )
        return data

    def _path(self, id: str) -> Path:
        return self._folder / id[:2] / id
