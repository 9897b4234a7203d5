"""Which tools have reported a planted fault on this machine, kept in a home: a control takes as long as a candidate."""

import json
import os
import time
from collections.abc import Callable
from pathlib import Path

from kernwright import __version__
from kernwright.core.digest import digest
from kernwright.core.sanitizer import Sanitizer

from .alone import alone
from .workshop import Workshop

LASTS_S = 30 * 86400.0


def misses(home: str, shop: Workshop, tool: Sanitizer, find: Callable[[], str]) -> str:
    """Why a tool cannot be believed here; empty where it reports what is planted, as `find` says or said lately.

    Only that it does is kept; a tool that does not is tried again by the next process.
    """
    path = Path(home) / "cache" / "sanitizers" / f"{_identity(shop, tool)}.json"
    if _holds(path):
        return ""
    with alone(path):
        if _holds(path):
            return ""
        said = find()
        if not said:
            partial = path.with_suffix(".partial")
            partial.write_text(json.dumps({"tool": tool.name, "at": time.time()}))
            partial.replace(path)
        return said


def _holds(path: Path) -> bool:
    try:
        at = float(json.loads(path.read_text())["at"])
    except (OSError, ValueError, KeyError, TypeError):
        return False
    return 0 <= time.time() - at < LASTS_S


def _identity(shop: Workshop, tool: Sanitizer) -> str:
    """Of the tool with what it is started under; another build of it is another one."""
    command = tool.around.command if tool.around else ()
    environment = sorted(tool.environment.items())
    files = [path for path in map(Path, (*command, *tool.environment.values())) if path.is_absolute()]
    stamps = [(str(path), path.stat().st_mtime_ns, path.stat().st_size) for path in files if path.is_file()]
    what = (tool.name, command, environment, tool.reports, tool.control, tool.control_language, stamps)
    return digest((shop.machine, shop.launcher.strongest, os.geteuid(), __version__, what))
