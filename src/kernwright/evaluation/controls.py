"""Which tools have reported a planted fault on this machine, kept in a home: a control takes as long as a candidate."""

import json
import os
import time
from collections.abc import Callable
from pathlib import Path

from kernwright import __version__
from kernwright.core.digest import digest
from kernwright.core.sanitizer import Sanitizer

from .alone import alone, put
from .participants.workshop import Workshop

LASTS_S = 30 * 86400.0


def misses(home: str, shop: Workshop, tool: Sanitizer, find: Callable[[], str]) -> str:
    """Why a tool cannot be believed here; empty where it reports what is planted, as `find` says or said lately.

    That it does is kept; a tool that does not is tried again by the next process, though not by those that waited
    meanwhile for what this one would find.
    """
    path, began = Path(home) / "cache" / "sanitizers" / f"{_identity(shop, tool)}.json", time.time()
    if (known := _said(path, began)) is not None:
        return known
    with alone(path):
        if (known := _said(path, began)) is not None:
            return known
        said = find()
        put(path, {"tool": tool.name, "at": time.time(), "said": said})
        return said


def _said(path: Path, since: float) -> str | None:
    """What was found; None where that was nothing good and before `since`, or too long ago."""
    try:
        known = json.loads(path.read_text())
        at, said = float(known["at"]), str(known["said"])
    except (OSError, ValueError, KeyError, TypeError, OverflowError):
        return None
    return said if (at >= since if said else 0 <= time.time() - at < LASTS_S) else None


def _identity(shop: Workshop, tool: Sanitizer) -> str:
    """Of the tool with what it is started under; another build of it is another one."""
    command = tool.around.command if tool.around else ()
    environment = sorted(tool.environment.items())
    files = [path for path in map(Path, (*command, *tool.environment.values())) if path.is_absolute()]
    stamps = [(str(path), path.stat().st_mtime_ns, path.stat().st_size) for path in files if path.is_file()]
    what = (tool.name, command, environment, tool.reports, tool.control, tool.control_language, stamps)
    return digest((shop.machine, shop.launcher.strongest, os.geteuid(), __version__, what))
