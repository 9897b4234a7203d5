"""Where builds find what was compiled for all of them, and leave what should be. Standard library only."""

import os
from pathlib import Path

from .digest import digest_bytes

VARIABLE = "KERNWRIGHT_COMMON"
"""Set for a build: a folder that it may read."""
FOLDER = "common"
"""Among a build's artefacts: texts, a file each, that its language's `compile_common` makes something for others of."""


def place_of(text: str) -> str:
    """Of what was made of a text: a folder of its own, so that whoever looks for it finds what was made of nothing
    else."""
    return digest_bytes(text.encode())


def found(text: str) -> Path | None:
    """Artefacts that were made of this text; None where there are none."""
    if not (common := os.environ.get(VARIABLE)):
        return None
    there = Path(common) / place_of(text) / "artifacts"
    return there if there.is_dir() else None


def leave(artifacts: Path, name: str, text: str) -> None:
    """Have this compiled for later builds."""
    (artifacts / FOLDER).mkdir(exist_ok=True)
    (artifacts / FOLDER / name).write_text(text)
