"""What every benchmark prints beside its figures."""

import os
import platform
from pathlib import Path


def environment() -> str:
    """One line: processor, cores, load, Python."""
    lines = Path("/proc/cpuinfo").read_text().splitlines()
    model = next((line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")), platform.machine())
    load = os.getloadavg()[0]
    return f"{model}, {os.cpu_count()} cores, load {load:.1f}, Python {platform.python_version()}"
