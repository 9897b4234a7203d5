"""Triton's file cache, so that it may be moved. Imported by Triton, which the environment tells to."""

import json
from pathlib import Path

from triton.runtime.cache import FileCacheManager


class MovableCache(FileCacheManager):  # type: ignore[misc]
    """A group of files is found by their names beside it, not by the paths that they had when they were written."""

    def get_group(self, filename: str) -> dict[str, str] | None:
        """Paths by name of the files that belong to `filename`; None where it was never written."""
        group = self.get_file(f"__grp__{filename}")
        if group is None:
            return None
        names = json.loads(Path(group).read_text())["child_paths"]
        return {name: path for name in names if (path := self.get_file(name)) is not None}

    def put_group(self, filename: str, group: dict[str, str]) -> str:
        """Write down which files belong to `filename`; returns the path of the list."""
        text = json.dumps({"child_paths": {name: name for name in group}})  # the form that other readers expect
        return str(self.put(text, f"__grp__{filename}", binary=False))
