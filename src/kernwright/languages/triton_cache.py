"""What can be said of Triton without importing it: its environment, its files. Standard library only."""

import re
from collections.abc import Mapping
from pathlib import Path

_GENERATED = re.compile(r"\basync_compile\.triton\(|\btriton_heuristics\b")


def is_generated(text: str) -> bool:
    """Whether Inductor wrote this file, or parts of it."""
    return _GENERATED.search(text) is not None


def variables(artifacts: Path) -> Mapping[str, str]:
    """For a build or a run whose artefacts lie in this folder, wherever it was when they were made."""
    return {
        "TRITON_CACHE_DIR": str(artifacts / "triton"),
        "TRITON_CACHE_MANAGER": "kernwright.languages.triton_files:MovableCache",
    }


def emulation_variables() -> Mapping[str, str]:
    """For a run on the processor; it also needs `triton_emulation.prepare` before the candidate is imported."""
    return {"TRITON_INTERPRET": "1"}
