"""Where compilers for GPUs keep their output, so that it travels with a candidate's artefacts."""

from pathlib import Path


def compiler_caches(artifacts: Path) -> dict[str, str]:
    """Environment variables for Inductor and Triton; the folder may have lain elsewhere when it was filled."""
    return {
        "TORCHINDUCTOR_CACHE_DIR": str(artifacts / "inductor"),
        "TRITON_CACHE_DIR": str(artifacts / "triton"),
        "TRITON_CACHE_MANAGER": "kernwright.languages.triton_files:MovableCache",
    }
