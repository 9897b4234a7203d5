"""What is found out once for a home: of several processes that miss it one works, and the others wait."""

import fcntl
import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from kernwright.core.lease import take


@contextmanager
def alone(path: Path) -> Iterator[None]:
    """Around finding out what is to be kept in this file; look first whether another process has, by now."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.with_suffix(".lock").open("w") as lock:
        take(lock.fileno(), fcntl.LOCK_EX)
        yield


def put(path: Path, said: Any) -> None:
    """Keep it there as JSON, whole or not at all; for one who is `alone`."""
    partial = path.with_suffix(".partial")
    partial.write_text(json.dumps(said))
    partial.replace(path)
