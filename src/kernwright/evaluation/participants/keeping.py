"""What confined processes have made, copied to where it stays: plain files alone, and all or nothing."""

import json
import os
import shutil
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from kernwright.core.outcome import BuildFailed
from kernwright.evaluation.ended import Ended

from .scratch import remove, walk
from .workshop import ARTIFACTS

MOST_FILES, MOST_BYTES, DEEPEST = 5000, 512 << 20, 16


def keep(scratch: Path, final: Path, resources: Mapping[str, float], notes: Sequence[str] = ()) -> None:
    """Copy a scratch folder's artefacts to `final`, all or nothing; an older copy stays.

    Raises:
        Ended: they are too many or too large to be artefacts.
    """
    _refuse_excess(scratch / ARTIFACTS)
    final.parent.mkdir(parents=True, exist_ok=True)
    staging = Path(tempfile.mkdtemp(dir=final.parent, prefix=".staging-"))
    try:
        _copy_plain(scratch / ARTIFACTS, staging / ARTIFACTS)
        lines = [f"{name}\t{value!r}\n" for name, value in sorted(resources.items())]
        (staging / "resources.tsv").write_text("".join(lines))
        (staging / "notes.json").write_text(json.dumps(list(notes)))
        staging.chmod(0o755)
        staging.rename(final)
    except OSError:
        if not final.exists():
            raise
    finally:
        remove(staging)


def _copy_plain(source: Path, target: Path) -> None:
    """Copy folders and plain files only: what a build left may hold links to anywhere."""
    target.mkdir()
    for entry in os.scandir(source):
        if entry.is_dir(follow_symlinks=False):
            _copy_plain(Path(entry.path), target / entry.name)
        elif entry.is_file(follow_symlinks=False):
            shutil.copyfile(entry.path, target / entry.name, follow_symlinks=False)


def _refuse_excess(folder: Path) -> None:
    files, size = 0, 0
    try:
        for entry in walk(folder, DEEPEST):
            files += 1
            size += entry.stat(follow_symlinks=False).st_size
            if files > MOST_FILES or size > MOST_BYTES:
                raise OSError(f"more than {MOST_FILES} files or {MOST_BYTES >> 20} MiB")
    except OSError as error:
        raise Ended(BuildFailed(log="", reason=f"what the build left cannot be kept: {error}")) from error
