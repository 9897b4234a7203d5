"""Where Triton keeps what it compiled, as environment variables. Standard library only."""

from collections.abc import Mapping
from pathlib import Path


def variables(artifacts: Path) -> Mapping[str, str]:
    """Environment of a build or a run whose artefacts lie in this folder, wherever it was when they were made."""
    return {
        "TRITON_CACHE_DIR": str(artifacts / "triton"),
        "TRITON_CACHE_MANAGER": "kernwright.languages.triton_files:MovableCache",
    }
